/* Prints fields of any message from the tables of fields.h. Notes consist of such fields. */
#include "onnx/text/text.h"

#include "base/pytext.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The NaNs that are written `nan` and `-nan`; the bits of others would be lost. */
static const uint32_t plain_nan_f32 = 0x7fc00000;
static const uint64_t plain_nan_f64 = 0x7ff8000000000000;

bool cq_text_is_exact_f32(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return !isnan(value) || (bits & INT32_MAX) == plain_nan_f32;
}

bool cq_text_is_exact_f64(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return !isnan(value) || (bits & INT64_MAX) == plain_nan_f64;
}

void cq_text_add_f32(cq_str *s, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    if (!cq_text_is_exact_f32(value))
        cq_str_printf(s, "0x%08" PRIx32, bits);
    else if (isnan(value))
        cq_str_add(s, signbit(value) ? "-nan" : "nan");
    else
        cq_str_add_py_float32(s, value);
}

void cq_text_add_f64(cq_str *s, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    if (!cq_text_is_exact_f64(value))
        cq_str_printf(s, "0x%016" PRIx64, bits);
    else if (isnan(value))
        cq_str_add(s, signbit(value) ? "-nan" : "nan");
    else
        cq_str_add_py_float(s, value);
}

/* Appends any bytes on one line; UTF-8 is copied. */
static void add_escaped(cq_str *s, const void *data, size_t size)
{
    const char *bytes = data;

    cq_str_add_char(s, '"');
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];
        uint32_t      point;
        size_t        n;

        if (c == '"' || c == '\\') {
            cq_str_add_char(s, '\\');
            cq_str_add_char(s, (char)c);
        } else if (c >= 0x80 && (n = cq_utf8_next(bytes + i, size - i, &point)) > 1) {
            cq_str_add_n(s, bytes + i, n);
            i += n - 1;
        } else if (c < 0x20 || c >= 0x7f) {
            cq_str_printf(s, "\\x%02x", c);
        } else {
            cq_str_add_char(s, (char)c);
        }
    }
    cq_str_add_char(s, '"');
}

/* The raw_data of a tensor message: its bytes, or the elements of a tensor that replaces them. */
static void add_raw(cq_str *s, const void *from)
{
    cq_onnx_bytes bytes;
    void         *copy;

    if (cq_text_raw_bytes(&bytes, &copy, from) != CQ_OK)
        s->status = CQ_E_NO_MEMORY;
    else
        add_escaped(s, bytes.data, bytes.size);
    cq_free(copy);
}

void cq_text_add_value(cq_str *s, const cq_onnx_field *field, const void *from, const void *at)
{
    union {
        int64_t       i64;
        int32_t       i32;
        uint64_t      u64;
        float         f32;
        double        f64;
        const void   *pointer;
        cq_onnx_bytes bytes;
    } v;

    if (field->kind == CQ_ONNX_KIND_RAW) {
        add_raw(s, from);
        return;
    }
    memcpy(&v, at, cq_onnx_kind_size(field->kind));
    switch (field->kind) {
    case CQ_ONNX_KIND_I64: cq_str_printf(s, "%" PRId64, v.i64); break;
    case CQ_ONNX_KIND_I32: cq_str_printf(s, "%" PRId32, v.i32); break;
    case CQ_ONNX_KIND_U64: cq_str_printf(s, "%" PRIu64, v.u64); break;
    case CQ_ONNX_KIND_F32: cq_text_add_f32(s, v.f32); break;
    case CQ_ONNX_KIND_F64: cq_text_add_f64(s, v.f64); break;
    case CQ_ONNX_KIND_TEXT: add_escaped(s, v.pointer, strlen(v.pointer)); break;
    case CQ_ONNX_KIND_BYTES: add_escaped(s, v.bytes.data, v.bytes.size); break;
    default: cq_text_add_message(s, field->message, v.pointer);
    }
}

bool cq_text_has(const cq_onnx_message *message, const void *from, uint32_t number)
{
    const cq_onnx_field *field = &message->fields[number];
    const char          *at    = (const char *)from + field->offset;
    cq_onnx_any_list     list;
    const void          *pointer;

    if (number >= message->n_fields || field->kind == CQ_ONNX_KIND_NONE)
        return false;
    if (field->repeated) {
        memcpy(&list, at, sizeof list);
        return list.n != 0;
    }
    if (cq_onnx_kind_wire(field->kind) != CQ_ONNX_WIRE_BYTES)
        return cq_onnx_has((const cq_onnx_any *)from, number);
    memcpy(&pointer, at, sizeof pointer); /* strings, bytes and messages begin with a pointer */
    if (field->kind == CQ_ONNX_KIND_RAW)
        return pointer || ((const cq_onnx_tensor *)from)->tensor;
    return pointer != NULL;
}

/* Appends `name: value`, or `name { … }`; lists repeat the name. */
static void add_field(cq_str *s, const cq_onnx_field *field, const void *from)
{
    const char      *at   = (const char *)from + field->offset;
    size_t           size = cq_onnx_kind_size(field->kind);
    cq_onnx_any_list list = { (void *)at, 1, 0 };

    if (field->repeated)
        memcpy(&list, at, sizeof list);
    for (uint32_t i = 0; i < list.n; i++) {
        cq_str_add_char(s, ' ');
        cq_str_add(s, field->name);
        cq_str_add(s, field->kind == CQ_ONNX_KIND_MESSAGE ? " " : ": ");
        cq_text_add_value(s, field, from, (char *)list.items + i * size);
    }
}

static void add_unknown(cq_str *s, const cq_onnx_any *from)
{
    const cq_onnx_unknown *last = from->unknown;

    for (const cq_onnx_unknown *u = last ? last->next : NULL; u; u = u == last ? NULL : u->next) {
        cq_str_add(s, " unknown: ");
        add_escaped(s, u->bytes.data, u->bytes.size);
    }
}

void cq_text_add_message(cq_str *s, const cq_onnx_message *message, const void *from)
{
    cq_str_add_char(s, '{');
    for (uint32_t i = 1; i < message->n_fields; i++)
        if (cq_text_has(message, from, i))
            add_field(s, &message->fields[i], from);
    add_unknown(s, from);
    cq_str_add(s, " }");
}

bool cq_text_add_note(cq_str *s, cq_text_kind kind, const void *from, uint32_t carried,
                      uint32_t implied, const char *flag)
{
    const cq_onnx_message *message = cq_text_kinds[kind].message;
    size_t                 before  = s->len;

    cq_str_printf(s, "#@ %s%s%s", cq_text_kinds[kind].word, flag ? " " : "", flag ? flag : "");
    if (!flag)
        flag = ((const cq_onnx_any *)from)->unknown ? "" : NULL;
    for (uint32_t i = 1; i < message->n_fields; i++) {
        bool is_there = cq_text_has(message, from, i);

        if (is_there ? carried >> i & 1 : !(implied >> i & 1))
            continue;
        if (is_there)
            add_field(s, &message->fields[i], from);
        else
            cq_str_printf(s, " !%s", message->fields[i].name);
        flag = "";
    }
    add_unknown(s, (const cq_onnx_any *)from);
    if (flag || s->status != CQ_OK)
        return true;
    s->len          = before;
    s->text[before] = '\0';
    return false;
}
