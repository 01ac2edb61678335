/* Prints types and tensors in ONNX's text syntax, and tests whether the syntax can express them. */
#include "onnx/text/text.h"

#include "onnx/schema.h"
#include "onnx/tensor.h"
#include "onnx/file/wire.h"

#include <inttypes.h>
#include <string.h>

#define BIT(number) (1u << (number))

/* ---- types ---- */

static bool is_whole_shape(const cq_onnx_shape *shape)
{
    if (!shape)
        return true;
    for (uint32_t i = 0; i < shape->dim.n; i++)
        if (shape->dim.items[i]->denotation || shape->dim.items[i]->unknown)
            return false;
    return !shape->unknown;
}

static bool can_say_tensor_type(const cq_onnx_tensor_type *type)
{
    return !type->unknown && cq_onnx_element_name(type->elem_type) && is_whole_shape(type->shape);
}

static bool can_say_opaque(const cq_onnx_opaque_type *type)
{
    return !type->unknown && (!type->domain || (*type->domain && type->name)) &&
           (!type->name || *type->name);
}

/* The recursion is bounded by the decoder and by the builders of models. */
bool cq_text_can_say_type(const cq_onnx_type *type)
{
    const cq_onnx_element_type *element;

    if (!type || type->denotation || type->unknown)
        return false;
    if (type->tensor_type)
        return can_say_tensor_type(type->tensor_type);
    if (type->sparse_tensor_type)
        return can_say_tensor_type(type->sparse_tensor_type);
    if (type->map_type)
        return !type->map_type->unknown && cq_onnx_element_name(type->map_type->key_type) &&
               cq_text_can_say_type(type->map_type->value_type);
    if (type->opaque_type)
        return can_say_opaque(type->opaque_type);
    element = type->sequence_type ? type->sequence_type : type->optional_type;
    return element && !element->unknown && cq_text_can_say_type(element->elem_type);
}

static void add_tensor_type(cq_str *s, const cq_onnx_tensor_type *type)
{
    cq_str_add(s, cq_onnx_element_name(type->elem_type));
    if (!type->shape)
        cq_str_add(s, "[]");
    for (uint32_t i = 0; type->shape && i < type->shape->dim.n; i++) {
        const cq_onnx_dim *dim = type->shape->dim.items[i];

        cq_str_add_char(s, i ? ',' : '[');
        if (cq_onnx_has(dim, CQ_ONNX_DIM_VALUE))
            cq_str_printf(s, "%" PRId64, dim->dim_value);
        else if (dim->dim_param)
            cq_text_add_id(s, dim->dim_param);
        else
            cq_str_add_char(s, '?');
    }
    if (type->shape && type->shape->dim.n)
        cq_str_add_char(s, ']');
}

void cq_text_add_type(cq_str *s, const cq_onnx_type *type)
{
    if (type->tensor_type) {
        add_tensor_type(s, type->tensor_type);
    } else if (type->sparse_tensor_type) {
        cq_str_add(s, "sparse_tensor(");
        add_tensor_type(s, type->sparse_tensor_type);
        cq_str_add_char(s, ')');
    } else if (type->map_type) {
        cq_str_printf(s, "map(%s, ", cq_onnx_element_name(type->map_type->key_type));
        cq_text_add_type(s, type->map_type->value_type);
        cq_str_add_char(s, ')');
    } else if (type->opaque_type) {
        const cq_onnx_opaque_type *opaque = type->opaque_type;

        cq_str_add(s, "opaque(");
        if (opaque->domain)
            cq_text_add_qualified(s, opaque->domain);
        cq_str_add(s, opaque->domain ? "," : "");
        if (opaque->name)
            cq_text_add_qualified(s, opaque->name);
        cq_str_add_char(s, ')');
    } else {
        cq_str_add(s, type->sequence_type ? "seq(" : "optional(");
        cq_text_add_type(s, type->sequence_type ? type->sequence_type->elem_type
                                                : type->optional_type->elem_type);
        cq_str_add_char(s, ')');
    }
}

/* ---- elements ---- */

cq_status cq_text_raw_bytes(cq_onnx_bytes *out, void **copy, const cq_onnx_tensor *tensor)
{
    cq_out *memory;
    size_t  size;

    *copy = NULL;
    *out  = tensor->raw_data;
    if (!tensor->tensor)
        return CQ_OK;
    CQ_TRY(cq_out_open_memory(&memory));
    cq_onnx_write_elements(memory, tensor->tensor);
    CQ_TRY(cq_out_take_memory(memory, copy, &size));
    *out = (cq_onnx_bytes){ *copy, size };
    return CQ_OK;
}

bool cq_text_is_raw(const cq_onnx_tensor *tensor)
{
    return tensor->tensor || tensor->raw_data.data;
}

bool cq_text_can_say_tensor(const cq_onnx_tensor *tensor)
{
    return cq_onnx_has(tensor, CQ_ONNX_TENSOR_DATA_TYPE) && cq_onnx_element_name(tensor->data_type);
}

static void add_whole(cq_str *s, char form, const char *at, size_t size)
{
    uint64_t bits = 0;
    unsigned gone = (unsigned)(64 - 8 * size);

    memcpy(&bits, at, size); /* the low bytes, on a little-endian machine */
    if (form == 'u')
        cq_str_printf(s, "%" PRIu64, bits);
    else
        cq_str_printf(s, "%" PRId64, (int64_t)(bits << gone) >> gone);
}

static void add_number(cq_str *s, char form, const char *at, size_t size)
{
    cq_onnx_bytes bytes;
    double        f64;
    float         f32;

    switch (form) {
    case 'f':
        memcpy(&f32, at, sizeof f32);
        cq_text_add_f32(s, f32);
        break;
    case 'd':
        memcpy(&f64, at, sizeof f64);
        cq_text_add_f64(s, f64);
        break;
    case 's':
        memcpy(&bytes, at, sizeof bytes);
        cq_text_add_quoted(s, bytes.data, bytes.size);
        break;
    default: add_whole(s, form, at, size);
    }
}

static cq_status add_numbers(cq_text_printer *p, char form, const void *items, size_t n,
                             size_t size)
{
    for (size_t i = 0; i < n; i++) {
        cq_str_add(&p->s, i ? ", " : "");
        add_number(&p->s, form, (const char *)items + i * size, size);
        CQ_TRY(cq_text_flush(p));
    }
    return CQ_OK;
}

/* Whether the text of all numbers reads back as the same value: the bits of some NaNs are not
 * printed. */
static bool all_exact(char form, const void *items, size_t n)
{
    for (size_t i = 0; i < n && (form == 'f' || form == 'd'); i++) {
        double f64 = 0;
        float  f32 = 0;

        if (form == 'f')
            memcpy(&f32, (const char *)items + i * sizeof f32, sizeof f32);
        else
            memcpy(&f64, (const char *)items + i * sizeof f64, sizeof f64);
        if (!cq_text_is_exact_f32(f32) || !cq_text_is_exact_f64(f64))
            return false;
    }
    return true;
}

/* Appends raw_data as numbers if its size is a multiple of the element size; otherwise nothing. */
static cq_status add_raw(cq_text_printer *p, const cq_onnx_tensor *tensor, uint32_t *carried)
{
    cq_text_number_row row = cq_text_numbers[tensor->data_type];
    cq_onnx_bytes      bytes;
    void              *copy;
    cq_status          status = cq_text_raw_bytes(&bytes, &copy, tensor);

    if (status == CQ_OK && row.raw_size && bytes.size % row.raw_size == 0 &&
        all_exact(row.form, bytes.data, bytes.size / row.raw_size)) {
        *carried |= BIT(9);
        status = add_numbers(p, row.form, bytes.data, bytes.size / row.raw_size, row.raw_size);
    }
    cq_free(copy);
    return status;
}

static cq_status add_typed(cq_text_printer *p, const cq_onnx_tensor *tensor, uint32_t *carried)
{
    cq_text_number_row   row   = cq_text_numbers[tensor->data_type];
    const cq_onnx_field *field = &cq_onnx_tensor_message.fields[row.field];
    char                 form  = row.form == 'u' && row.field == 5 ? 'i' : row.form;
    cq_onnx_any_list     list;

    memcpy(&list, (const char *)tensor + field->offset, sizeof list);
    if (!all_exact(form, list.items, list.n))
        return CQ_OK;
    *carried |= BIT(row.field);
    return add_numbers(p, form, list.items, list.n, cq_onnx_kind_size(field->kind));
}

/* ["location": "weights", "offset": "0"] */
static bool add_external(cq_str *s, const cq_onnx_tensor *tensor)
{
    const cq_onnx_entries *entries = &tensor->external_data;

    if (!cq_onnx_has(tensor, CQ_ONNX_TENSOR_DATA_LOCATION) || !entries->n ||
        tensor->data_location != CQ_ONNX_LOCATION_EXTERNAL || !cq_text_can_say_entries(entries))
        return false;
    cq_text_add_entries(s, entries);
    return true;
}

/* ---- tensors ---- */

cq_status cq_text_add_tensor(cq_text_printer *p, const cq_onnx_tensor *tensor, bool is_initializer)
{
    bool        has_name = is_initializer || (tensor->name && *tensor->name);
    uint32_t    carried = BIT(1) | BIT(2) | (has_name ? BIT(8) : 0), implied = 0;
    const char *flag = NULL;

    cq_str_add(&p->s, cq_onnx_element_name(tensor->data_type));
    for (uint32_t i = 0; i < tensor->dims.n; i++)
        cq_str_printf(&p->s, "%c%" PRId64, i ? ',' : '[', tensor->dims.items[i]);
    cq_str_add(&p->s, tensor->dims.n ? "] " : " ");
    if (has_name) {
        cq_text_add_id(&p->s, tensor->name ? tensor->name : "");
        implied |= BIT(8);
        cq_str_add(&p->s, is_initializer ? " = " : " ");
    }
    if (add_external(&p->s, tensor)) {
        carried |= BIT(13) | BIT(14);
    } else {
        cq_str_add_char(&p->s, '{');
        CQ_TRY(cq_text_is_raw(tensor) ? add_raw(p, tensor, &carried)
                                      : add_typed(p, tensor, &carried));
        cq_str_add_char(&p->s, '}');
        if (cq_text_is_raw(tensor) != p->is_raw)
            flag = p->is_raw ? "typed" : "raw";
        /* An empty list implies raw_data: "" for a raw tensor. */
        implied |= cq_text_is_raw(tensor) ? BIT(9) : 0;
    }
    cq_str_add_char(&p->s, ' ');
    if (cq_text_add_note(&p->s, CQ_TEXT_TENSOR, tensor, carried, implied, flag))
        cq_text_new_line(p);
    else
        p->s.len--; /* removes the space */
    return CQ_OK;
}
