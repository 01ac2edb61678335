/* Parses types, values and tensors. */
#include "onnx/text/text.h"

#include "onnx/file/wire.h"

#include <string.h>

/* ---- types ---- */

bool cq_text_next_is_type(const cq_text_parser *p)
{
    return cq_text_is_type_word(cq_text_next(p), cq_text_id_len(p));
}

static cq_status want_data_type(cq_text_parser *p, int32_t *out)
{
    const char *word;
    size_t      len;

    CQ_TRY(cq_text_want_id(p, &word, &len));
    *out = cq_text_data_type(word, len);
    return *out ? CQ_OK : cq_text_fail(p, word, "'%.*s' is not an element type", (int)len, word);
}

/* Parses ?, a name or a number. */
static cq_status parse_dim(cq_text_parser *p, cq_onnx_dim *dim)
{
    if (cq_text_take(p, '?'))
        return CQ_OK;
    if (cq_text_peek(p) == '"' || cq_text_id_len(p))
        return cq_text_want_name(p, &dim->dim_param);
    cq_onnx_set_has(dim, CQ_ONNX_DIM_VALUE);
    return cq_text_want_i64(p, &dim->dim_value);
}

/* float is a scalar, float[] has any rank, float[2,n,?] has three axes. */
static cq_status parse_tensor_type(cq_text_parser *p, cq_onnx_tensor_type *type)
{
    CQ_TRY(want_data_type(p, &type->elem_type));
    cq_onnx_set_has(type, CQ_ONNX_TENSOR_TYPE_ELEM_TYPE);
    if (!cq_text_take(p, '[')) {
        type->shape = cq_onnx_alloc(p->m, sizeof *type->shape);
        return p->m->status;
    }
    if (cq_text_take(p, ']'))
        return CQ_OK;
    type->shape = cq_onnx_alloc(p->m, sizeof *type->shape);
    do {
        cq_onnx_dim *dim = cq_onnx_alloc(p->m, sizeof *dim);

        CQ_TRY(p->m->status);
        CQ_TRY(parse_dim(p, dim));
        cq_onnx_list_push(p->m, &type->shape->dim, dim);
    } while (cq_text_take(p, ','));
    CQ_TRY(p->m->status);
    return cq_text_want(p, ']');
}

/* Parses a.b.c, or a quoted string. */
static cq_status want_qualified(cq_text_parser *p, const char **out)
{
    cq_str    name   = { 0 };
    cq_status status = CQ_OK;

    do {
        const char *part;

        status = cq_text_want_name(p, &part);
        if (status != CQ_OK)
            break;
        cq_str_add(&name, name.len ? "." : "");
        cq_str_add(&name, part);
        status = name.status;
    } while (status == CQ_OK && cq_text_take(p, '.'));
    if (status == CQ_OK)
        *out = cq_onnx_text(p->m, cq_str_text(&name));
    cq_str_clear(&name);
    return status == CQ_OK ? p->m->status : status;
}

/* opaque(), opaque(name), opaque(domain, name) */
static cq_status parse_opaque(cq_text_parser *p, cq_onnx_opaque_type *type)
{
    CQ_TRY(cq_text_want(p, '('));
    if (cq_text_take(p, ')'))
        return CQ_OK;
    CQ_TRY(want_qualified(p, &type->name));
    if (cq_text_take(p, ',')) {
        type->domain = type->name;
        CQ_TRY(want_qualified(p, &type->name));
    }
    return cq_text_want(p, ')');
}

/* Parses the (type) of a sequence or an optional. */
static cq_status parse_element(cq_text_parser *p, cq_onnx_element_type **out, int depth)
{
    cq_onnx_element_type *element = *out = cq_onnx_alloc(p->m, sizeof *element);

    CQ_TRY(p->m->status);
    element->elem_type = cq_onnx_alloc(p->m, sizeof *element->elem_type);
    CQ_TRY(p->m->status);
    CQ_TRY(cq_text_want(p, '('));
    CQ_TRY(cq_text_parse_type(p, element->elem_type, depth + 2));
    return cq_text_want(p, ')');
}

static cq_status parse_map(cq_text_parser *p, cq_onnx_map_type **out, int depth)
{
    cq_onnx_map_type *map = *out = cq_onnx_alloc(p->m, sizeof *map);

    CQ_TRY(p->m->status);
    map->value_type = cq_onnx_alloc(p->m, sizeof *map->value_type);
    CQ_TRY(p->m->status);
    CQ_TRY(cq_text_want(p, '('));
    CQ_TRY(want_data_type(p, &map->key_type));
    cq_onnx_set_has(map, CQ_ONNX_MAP_TYPE_KEY_TYPE);
    CQ_TRY(cq_text_want(p, ','));
    CQ_TRY(cq_text_parse_type(p, map->value_type, depth + 2));
    return cq_text_want(p, ')');
}

cq_status cq_text_parse_type(cq_text_parser *p, cq_onnx_type *type, int depth)
{
    if (depth + 3 > CQ_ONNX_MAX_DEPTH) /* a tensor type, its shape, a dimension */
        return cq_text_fail(p, cq_text_next(p), "messages are nested more than %d deep",
                            CQ_ONNX_MAX_DEPTH);
    if (cq_text_take_word(p, "seq"))
        return parse_element(p, &type->sequence_type, depth);
    if (cq_text_take_word(p, "optional"))
        return parse_element(p, &type->optional_type, depth);
    if (cq_text_take_word(p, "map"))
        return parse_map(p, &type->map_type, depth);
    if (cq_text_take_word(p, "opaque")) {
        type->opaque_type = cq_onnx_alloc(p->m, sizeof *type->opaque_type);
        CQ_TRY(p->m->status);
        return parse_opaque(p, type->opaque_type);
    }
    if (cq_text_take_word(p, "sparse_tensor")) {
        type->sparse_tensor_type = cq_onnx_alloc(p->m, sizeof *type->sparse_tensor_type);
        CQ_TRY(p->m->status);
        CQ_TRY(cq_text_want(p, '('));
        CQ_TRY(parse_tensor_type(p, type->sparse_tensor_type));
        return cq_text_want(p, ')');
    }
    type->tensor_type = cq_onnx_alloc(p->m, sizeof *type->tensor_type);
    CQ_TRY(p->m->status);
    return parse_tensor_type(p, type->tensor_type);
}

cq_status cq_text_parse_value(cq_text_parser *p, cq_onnx_value_info *value, int depth)
{
    if (cq_text_next_is_type(p)) {
        value->type = cq_onnx_alloc(p->m, sizeof *value->type);
        CQ_TRY(p->m->status);
        CQ_TRY(cq_text_parse_type(p, value->type, depth + 1));
    }
    CQ_TRY(cq_text_want_name(p, &value->name));
    return cq_text_take_note(p, CQ_TEXT_VALUE, value, depth);
}

/* ---- tensors ---- */

/* ["key": "value", …] */
cq_status cq_text_parse_entries(cq_text_parser *p, cq_onnx_entries *entries)
{
    CQ_TRY(cq_text_want(p, '['));
    if (cq_text_take(p, ']'))
        return CQ_OK;
    do {
        cq_onnx_entry *entry = cq_onnx_alloc(p->m, sizeof *entry);

        CQ_TRY(p->m->status);
        CQ_TRY(cq_text_want_string(p, &entry->key));
        CQ_TRY(cq_text_want(p, ':'));
        CQ_TRY(cq_text_want_string(p, &entry->value));
        cq_onnx_list_push(p->m, entries, entry);
    } while (cq_text_take(p, ','));
    CQ_TRY(p->m->status);
    return cq_text_want(p, ']');
}

/* Sets type and sizes of a tensor; sizes must be numbers. */
static cq_status set_type(cq_text_parser *p, cq_onnx_tensor *tensor, const cq_onnx_type *type)
{
    const cq_onnx_tensor_type *t = type ? type->tensor_type : NULL;

    if (!t || !t->shape)
        return cq_text_fail(p, p->at, "the tensor needs %s", t ? "a shape" : "a tensor type");
    tensor->data_type = t->elem_type;
    cq_onnx_set_has(tensor, CQ_ONNX_TENSOR_DATA_TYPE);
    for (uint32_t i = 0; i < t->shape->dim.n; i++) {
        if (!cq_onnx_has(t->shape->dim.items[i], CQ_ONNX_DIM_VALUE))
            return cq_text_fail(p, p->at, "size %u of the tensor is not a number", i);
        cq_onnx_list_push(p->m, &tensor->dims, t->shape->dim.items[i]->dim_value);
    }
    return p->m->status;
}

/* The numbers between braces, stored contiguously with the width of the typed field. */
typedef struct number_list {
    CQ_VEC(char) bytes;
} number_list;

static cq_status add_number(number_list *list, const void *number, size_t size)
{
    CQ_TRY(cq_vec_reserve(&list->bytes, list->bytes.n + size));
    memcpy(list->bytes.items + list->bytes.n, number, size);
    list->bytes.n += size;
    return CQ_OK;
}

static cq_status parse_number(cq_text_parser *p, number_list *list, cq_text_number_row row)
{
    const char *from = cq_text_next(p);
    uint64_t    u64;
    int64_t     i64;
    int32_t     i32;
    double      f64;
    float       f32;

    if (row.form == 'f') {
        CQ_TRY(cq_text_want_f32(p, &f32));
        return add_number(list, &f32, sizeof f32);
    }
    if (row.form == 'd') {
        CQ_TRY(cq_text_want_f64(p, &f64));
        return add_number(list, &f64, sizeof f64);
    }
    if (cq_onnx_tensor_message.fields[row.field].kind == CQ_ONNX_KIND_U64) {
        CQ_TRY(cq_text_want_u64(p, &u64));
        return add_number(list, &u64, sizeof u64);
    }
    CQ_TRY(cq_text_want_i64(p, &i64));
    if (cq_onnx_tensor_message.fields[row.field].kind == CQ_ONNX_KIND_I64)
        return add_number(list, &i64, sizeof i64);
    i32 = (int32_t)i64;
    if (i32 != i64)
        return cq_text_fail(p, from, "this number does not fit in 32 bits");
    return add_number(list, &i32, sizeof i32);
}

/* Elements that are strings. */
static cq_status parse_strings(cq_text_parser *p, cq_onnx_bytes_list *list)
{
    do {
        cq_text_literal literal;
        char           *copy;

        CQ_TRY(cq_text_want_literal(p, &literal));
        if (literal.kind != CQ_TEXT_STRING)
            return cq_text_fail(p, literal.from, "expected a text in quotes");
        copy = cq_onnx_alloc(p->m, literal.len + 1);
        if (!copy)
            return p->m->status;
        memcpy(copy, literal.text, literal.len);
        cq_onnx_list_push(p->m, list, (cq_onnx_bytes){ copy, literal.len });
    } while (cq_text_take(p, ','));
    return p->m->status;
}

/* Whether an integer fits in that many bytes, as signed or unsigned. */
static bool fits(const char *number, size_t size, size_t raw_size)
{
    int64_t limit, value = 0;
    int32_t narrow;

    if (raw_size >= size)
        return true;
    if (size == sizeof narrow) {
        memcpy(&narrow, number, sizeof narrow);
        value = narrow;
    } else {
        memcpy(&value, number, sizeof value);
    }
    limit = (int64_t)1 << (8 * raw_size);
    return value >= -limit / 2 && value < limit;
}

/* Stores numbers in raw_data, with raw_size bytes each: the low bytes, on a little-endian
 * machine. */
static cq_status set_raw(cq_text_parser *p, cq_onnx_tensor *tensor, const number_list *list,
                         size_t size, size_t raw_size)
{
    size_t n    = list->bytes.n / size;
    char  *data = cq_onnx_alloc(p->m, n * raw_size);

    if (!data)
        return p->m->status;
    for (size_t i = 0; i < n; i++) {
        const char *number = list->bytes.items + i * size;

        if (!fits(number, size, raw_size))
            return cq_text_fail(p, p->at, "number %zu of the tensor does not fit its type", i);
        memcpy(data + i * raw_size, number, raw_size);
    }
    tensor->raw_data = (cq_onnx_bytes){ data, n * raw_size };
    return CQ_OK;
}

static cq_status set_typed(cq_text_parser *p, cq_onnx_tensor *tensor, const number_list *list,
                           const cq_onnx_field *field)
{
    size_t           size = cq_onnx_kind_size(field->kind), n = list->bytes.n / size;
    char            *at = (char *)tensor + field->offset;
    cq_onnx_any_list to;

    if (!n)
        return CQ_OK;
    if (!cq_onnx_list_reserve(p->m, at, n, size))
        return p->m->status;
    memcpy(&to, at, sizeof to);
    memcpy(to.items, list->bytes.items, list->bytes.n);
    to.n = (uint32_t)n;
    memcpy(at, &to, sizeof to);
    return CQ_OK;
}

/* Stores the elements as raw_data or typed; the note after the elements determines which. */
static cq_status finish(cq_text_parser *p, cq_onnx_tensor *tensor, const number_list *list,
                        cq_text_number_row row, int depth)
{
    const cq_onnx_field *field = &cq_onnx_tensor_message.fields[row.field];

    if (row.raw_size && cq_text_is_raw_here(p))
        CQ_TRY(set_raw(p, tensor, list, cq_onnx_kind_size(field->kind), row.raw_size));
    else if (row.form != 's')
        CQ_TRY(set_typed(p, tensor, list, field));
    return cq_text_take_note(p, CQ_TEXT_TENSOR, tensor, depth);
}

cq_status cq_text_parse_tensor(cq_text_parser *p, cq_onnx_tensor *tensor, const cq_onnx_type *type,
                               int depth)
{
    number_list        list = { 0 };
    cq_text_number_row row;
    cq_status          status = CQ_OK;

    CQ_TRY(set_type(p, tensor, type));
    row = cq_text_numbers[tensor->data_type];
    if (cq_text_peek(p) == '[') {
        tensor->data_location = CQ_ONNX_LOCATION_EXTERNAL;
        cq_onnx_set_has(tensor, CQ_ONNX_TENSOR_DATA_LOCATION);
        CQ_TRY(cq_text_parse_entries(p, &tensor->external_data));
        return cq_text_take_note(p, CQ_TEXT_TENSOR, tensor, depth);
    }
    CQ_TRY(cq_text_want(p, '{'));
    if (!cq_text_take(p, '}')) {
        if (row.form == 's') {
            status = parse_strings(p, &tensor->string_data);
        } else {
            do
                status = parse_number(p, &list, row);
            while (status == CQ_OK && cq_text_take(p, ','));
        }
        if (status == CQ_OK)
            status = cq_text_want(p, '}');
    }
    if (status == CQ_OK)
        status = finish(p, tensor, &list, row, depth);
    cq_vec_clear(&list.bytes);
    return status;
}
