/* Prints attributes in ONNX's text syntax: name: type = value. */
#include "onnx/text/text.h"

#include <inttypes.h>
#include <string.h>

#define BIT(number) (1u << (number))

static const cq_onnx_field *field_of(int32_t type)
{
    return &cq_onnx_attribute_message.fields[cq_text_attributes[type].field];
}

static bool has_value(const cq_onnx_attribute *a, int32_t type)
{
    return cq_text_has(&cq_onnx_attribute_message, a, cq_text_attributes[type].field);
}

/* The printed type: the declared type, or the type of the value if none is declared. */
static int32_t type_of(const cq_onnx_attribute *a)
{
    if (a->type > 0 && a->type < CQ_ONNX_ATTR_COUNT)
        return a->type;
    for (int32_t type = 1; type < CQ_ONNX_ATTR_COUNT; type++)
        if (has_value(a, type))
            return type;
    return CQ_ONNX_ATTR_INT;
}

/* Whether the text of all floats reads back as the same value. */
static bool is_exact(const cq_onnx_attribute *a, int32_t type)
{
    bool exact = type != CQ_ONNX_ATTR_FLOAT || cq_text_is_exact_f32(a->f);

    for (uint32_t i = 0; type == CQ_ONNX_ATTR_FLOATS && i < a->floats.n; i++)
        exact &= cq_text_is_exact_f32(a->floats.items[i]);
    return exact;
}

static cq_status add_graph(cq_text_printer *p, const cq_onnx_graph *graph)
{
    cq_status status;

    p->indent += 6;
    status = cq_text_add_graph(p, graph, true);
    p->indent -= 6;
    return status;
}

/* Appends a value of a type that is not a list, at `at`. Messages are pointers; a message that is
 * missing, or that the syntax cannot express, is written by its fields. */
static cq_status add_value(cq_text_printer *p, int32_t type, const void *at)
{
    const cq_onnx_field *field   = field_of(type);
    const void          *message = NULL;
    cq_onnx_bytes        bytes;
    int64_t              i;
    float                f;

    if (field->kind == CQ_ONNX_KIND_MESSAGE)
        memcpy(&message, at, sizeof message);
    switch (type) {
    case CQ_ONNX_ATTR_FLOAT:
        memcpy(&f, at, sizeof f);
        cq_text_add_f32(&p->s, cq_text_is_exact_f32(f) ? f : 0);
        return CQ_OK;
    case CQ_ONNX_ATTR_INT:
        memcpy(&i, at, sizeof i);
        cq_str_printf(&p->s, "%" PRId64, i);
        return CQ_OK;
    case CQ_ONNX_ATTR_STRING:
        memcpy(&bytes, at, sizeof bytes);
        cq_text_add_quoted(&p->s, bytes.data, bytes.size);
        return CQ_OK;
    case CQ_ONNX_ATTR_GRAPH:
        if (message)
            return add_graph(p, message);
        break;
    case CQ_ONNX_ATTR_TENSOR:
        if (message && cq_text_can_say_tensor(message))
            return cq_text_add_tensor(p, message, false);
        break;
    case CQ_ONNX_ATTR_TYPE_PROTO:
        if (message && cq_text_can_say_type(message)) {
            cq_text_add_type(&p->s, message);
            return CQ_OK;
        }
        break;
    default: break;
    }
    if (message)
        cq_text_add_message(&p->s, field->message, message);
    else
        cq_str_add(&p->s, "{}");
    return CQ_OK;
}

static cq_status add_values(cq_text_printer *p, const cq_onnx_attribute *a, int32_t type)
{
    int32_t              single = cq_text_attributes[type].single;
    const cq_onnx_field *field  = field_of(type);
    const char          *at     = (const char *)a + field->offset;
    size_t               size   = cq_onnx_kind_size(field->kind);
    const bool           exact  = is_exact(a, type);
    cq_onnx_any_list     list;

    if (!single)
        return add_value(p, type, at);
    memcpy(&list, at, sizeof list);
    cq_str_add_char(&p->s, '[');
    for (uint32_t i = 0; i < list.n && exact; i++) {
        cq_str_add(&p->s, i ? ", " : "");
        CQ_TRY(add_value(p, single, (char *)list.items + i * size));
        CQ_TRY(cq_text_flush(p));
    }
    cq_str_add_char(&p->s, ']');
    return CQ_OK;
}

static cq_status add_attribute(cq_text_printer *p, const cq_onnx_attribute *a)
{
    int32_t  type    = type_of(a);
    uint32_t carried = BIT(1), implied = BIT(1) | BIT(20);

    if (a->type == type)
        carried |= BIT(20);
    cq_text_add_id(&p->s, a->name ? a->name : "");
    cq_str_printf(&p->s, ": %s = ", cq_text_attributes[type].word);
    if (a->ref_attr_name) {
        cq_str_add_char(&p->s, '@');
        cq_text_add_id(&p->s, a->ref_attr_name);
        carried |= BIT(21);
    } else {
        uint32_t field = BIT(cq_text_attributes[type].field);

        CQ_TRY(add_values(p, a, type));
        carried |= is_exact(a, type) ? field : 0;
        implied |= cq_text_attributes[type].single ? 0 : field; /* [] sets no field */
    }
    cq_str_add_char(&p->s, ' ');
    if (cq_text_add_note(&p->s, CQ_TEXT_ATTRIBUTE, a, carried, implied, NULL))
        cq_text_new_line(p);
    else
        p->s.len--; /* removes the space */
    return cq_text_flush(p);
}

cq_status cq_text_add_attributes(cq_text_printer *p, const cq_onnx_attributes *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        cq_str_add(&p->s, i ? ", " : "");
        CQ_TRY(add_attribute(p, list->items[i]));
    }
    return CQ_OK;
}
