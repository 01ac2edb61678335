/* Parses attributes: name, or name: type, = a value or a list of values. */
#include "onnx/text/text.h"

#include <string.h>

static void set_type(cq_onnx_attribute *a, int32_t type)
{
    a->type = type;
    cq_onnx_set_has(a, CQ_ONNX_ATTRIBUTE_TYPE);
}

static cq_status want_type(cq_text_parser *p, cq_onnx_attribute *a)
{
    const char *word;
    size_t      len;

    CQ_TRY(cq_text_want_id(p, &word, &len));
    for (int32_t i = 1; i < CQ_ONNX_ATTR_COUNT; i++)
        if (strlen(cq_text_attributes[i].word) == len &&
            memcmp(cq_text_attributes[i].word, word, len) == 0) {
            set_type(a, i);
            return CQ_OK;
        }
    return cq_text_fail(p, word, "'%.*s' is not an attribute type", (int)len, word);
}

/* ---- single values ---- */

/* Parses a type, or a tensor of that type if elements follow. */
static cq_status parse_type_or_tensor(cq_text_parser *p, cq_onnx_attribute *a, int depth)
{
    cq_onnx_type *type = cq_onnx_alloc(p->m, sizeof *type);
    char          next;

    CQ_TRY(p->m->status);
    CQ_TRY(cq_text_parse_type(p, type, depth + 1));
    next = cq_text_peek(p);
    if (next != '{' && next != '=' && next != '"' && !cq_text_id_len(p) &&
        !(next == '[' && a->type == CQ_ONNX_ATTR_TENSOR)) {
        a->tp = type;
        set_type(a, CQ_ONNX_ATTR_TYPE_PROTO);
        return CQ_OK;
    }
    a->t = cq_onnx_alloc(p->m, sizeof *a->t);
    CQ_TRY(p->m->status);
    set_type(a, CQ_ONNX_ATTR_TENSOR);
    if (next == '"' || cq_text_id_len(p))
        CQ_TRY(cq_text_want_name(p, &a->t->name));
    else if (!p->is_exact)
        a->t->name = "";
    cq_text_take(p, '=');
    return cq_text_parse_tensor(p, a->t, type, depth + 1);
}

static cq_status parse_graph(cq_text_parser *p, cq_onnx_attribute *a, const char *name, int depth)
{
    a->g = cq_onnx_alloc(p->m, sizeof *a->g);
    CQ_TRY(p->m->status);
    set_type(a, CQ_ONNX_ATTR_GRAPH);
    return cq_text_parse_graph(p, a->g, name, depth + 1);
}

/* Parses { fields } of the message for the attribute's type. */
static cq_status parse_by_fields(cq_text_parser *p, cq_onnx_attribute *a, int depth)
{
    const cq_onnx_field *field =
        &cq_onnx_attribute_message.fields[cq_text_attributes[a->type].field];
    void *message;

    if (field->kind != CQ_ONNX_KIND_MESSAGE)
        return cq_text_fail(p, cq_text_next(p), "expected a value");
    message = cq_onnx_alloc(p->m, field->message->size);
    if (!message)
        return p->m->status;
    memcpy((char *)a + field->offset, &message, sizeof message);
    return cq_text_parse_message(p, field->message, message, depth + 1);
}

/* Parses a number or a string; an identifier before a parenthesis is the name of a graph. */
static cq_status parse_literal(cq_text_parser *p, cq_onnx_attribute *a, int depth)
{
    cq_text_literal literal;
    char           *copy;

    CQ_TRY(cq_text_want_literal(p, &literal));
    if (literal.kind == CQ_TEXT_INT) {
        set_type(a, CQ_ONNX_ATTR_INT);
        cq_onnx_set_has(a, CQ_ONNX_ATTRIBUTE_I);
        return cq_text_literal_i64(p, &literal, &a->i);
    }
    if (literal.kind == CQ_TEXT_FLOAT) {
        set_type(a, CQ_ONNX_ATTR_FLOAT);
        cq_onnx_set_has(a, CQ_ONNX_ATTRIBUTE_F);
        return cq_text_literal_f32(p, &literal, &a->f);
    }
    copy = cq_onnx_alloc(p->m, literal.len + 1);
    if (!copy)
        return p->m->status;
    memcpy(copy, literal.text, literal.len);
    if (cq_text_peek(p) == '(') {
        if (strlen(copy) != literal.len)
            return cq_text_fail(p, literal.from, "the string contains a zero byte");
        return parse_graph(p, a, copy, depth);
    }
    set_type(a, CQ_ONNX_ATTR_STRING);
    a->s = (cq_onnx_bytes){ copy, literal.len };
    return CQ_OK;
}

/* An integer is accepted for a float; there are no other conversions. */
static cq_status check_type(cq_text_parser *p, cq_onnx_attribute *a, int32_t want, const char *from)
{
    if (!want || a->type == want)
        return CQ_OK;
    if (want != CQ_ONNX_ATTR_FLOAT || a->type != CQ_ONNX_ATTR_INT)
        return cq_text_fail(p, from, "expected a value of type %s, got %s",
                            cq_text_attributes[want].word, cq_text_attributes[a->type].word);
    a->f   = (float)a->i;
    a->i   = 0;
    a->has = 1u << CQ_ONNX_ATTRIBUTE_F;
    set_type(a, want);
    return CQ_OK;
}

static cq_status parse_single(cq_text_parser *p, cq_onnx_attribute *a, int32_t want, int depth)
{
    const char *from = cq_text_next(p);
    const char *name;

    a->type = want;
    if (cq_text_peek(p) == '{' && want) {
        set_type(a, want);
        return parse_by_fields(p, a, depth);
    }
    if (cq_text_next_is_type(p)) {
        CQ_TRY(parse_type_or_tensor(p, a, depth));
    } else if (cq_text_id_len(p) && !cq_text_next_is_number_word(p)) {
        CQ_TRY(cq_text_want_name(p, &name));
        CQ_TRY(parse_graph(p, a, name, depth));
    } else {
        CQ_TRY(parse_literal(p, a, depth));
    }
    return check_type(p, a, want, from);
}

/* ---- attributes ---- */

/* Appends the value of one to the list field for its type. */
static cq_status append(cq_text_parser *p, cq_onnx_attribute *a, const cq_onnx_attribute *one)
{
    const cq_onnx_field *from =
        &cq_onnx_attribute_message.fields[cq_text_attributes[one->type].field];
    const cq_onnx_field *to = &cq_onnx_attribute_message.fields[cq_text_attributes[a->type].field];
    size_t               size = cq_onnx_kind_size(to->kind);
    char                *at   = (char *)a + to->offset;
    cq_onnx_any_list     list;

    memcpy(&list, at, sizeof list);
    if (!cq_onnx_list_reserve(p->m, at, (size_t)list.n + 1, size))
        return p->m->status;
    memcpy(&list, at, sizeof list);
    memcpy((char *)list.items + list.n++ * size, (const char *)one + from->offset, size);
    memcpy(at, &list, sizeof list);
    return CQ_OK;
}

/* Without an explicit type, the first value determines the type. */
static cq_status parse_list(cq_text_parser *p, cq_onnx_attribute *a, int depth)
{
    const char *from = cq_text_next(p);

    CQ_TRY(cq_text_want(p, '['));
    if (a->type && !cq_text_attributes[a->type].single)
        return cq_text_fail(p, from, "attributes of type %s cannot be lists",
                            cq_text_attributes[a->type].word);
    if (cq_text_take(p, ']'))
        return a->type ? CQ_OK
                       : cq_text_fail(p, from, "an empty list needs a type, name: ints = []");
    do {
        cq_onnx_attribute one = { 0 };

        CQ_TRY(parse_single(p, &one, cq_text_attributes[a->type].single, depth));
        for (int32_t i = 1; !a->type && i < CQ_ONNX_ATTR_COUNT; i++)
            if (cq_text_attributes[i].single == one.type)
                set_type(a, i);
        CQ_TRY(append(p, a, &one));
    } while (cq_text_take(p, ','));
    return cq_text_want(p, ']');
}

cq_status cq_text_parse_attribute(cq_text_parser *p, cq_onnx_attribute *a, const char *name,
                                  int depth)
{
    int32_t type;

    a->name = name;
    if (cq_text_take(p, ':'))
        CQ_TRY(want_type(p, a));
    CQ_TRY(cq_text_want(p, '='));
    type = a->type;
    if (cq_text_take(p, '@'))
        CQ_TRY(cq_text_want_name(p, &a->ref_attr_name));
    else if (cq_text_peek(p) == '[')
        CQ_TRY(parse_list(p, a, depth));
    else if (type && cq_text_attributes[type].single)
        return cq_text_fail(p, cq_text_next(p), "expected a list for an attribute of type %s",
                            cq_text_attributes[type].word);
    else
        CQ_TRY(parse_single(p, a, type, depth));
    return cq_text_take_note(p, CQ_TEXT_ATTRIBUTE, a, depth);
}
