/* Decodes protobuf messages, driven by the tables of fields.h. Fields may come in any order and
 * repeatedly: the last number or string counts, and messages are merged, as protobuf prescribes. A
 * field that is not in the table, or whose wire type does not match it, is kept as unknown. */
#include "onnx/file/wire.h"

#include <inttypes.h>
#include <string.h>

typedef struct decoder {
    cq_onnx_model *m;
    const uint8_t *begin;
    size_t         memory; /* limit for the bytes of m's arena */
    const char    *where;
} decoder;

/* A range of the input that is being read. */
typedef struct span {
    const uint8_t *p, *end;
} span;

static cq_status decode_message(decoder *d, const cq_onnx_message *message, void *into, span s,
                                int depth);

static cq_status bad(const decoder *d, const uint8_t *p, const char *what)
{
    return cq_fail(CQ_E_FORMAT, d->where, "the file is truncated, or it is not an ONNX file",
                   "at byte %zu: %s", (size_t)(p - d->begin), what);
}

static cq_status read_varint(const decoder *d, span *s, uint64_t *out)
{
    const uint8_t *start = s->p;
    uint64_t       value = 0;

    for (int shift = 0; shift < 64; shift += 7) {
        if (s->p == s->end)
            return bad(d, start, "a number exceeds the message that contains it");
        value |= (uint64_t)(*s->p & 0x7f) << shift;
        if (!(*s->p++ & 0x80)) {
            *out = value;
            return CQ_OK;
        }
    }
    return bad(d, start, "a number is longer than 10 bytes");
}

static cq_status read_tag(const decoder *d, span *s, uint32_t *number, int *wire)
{
    const uint8_t *start = s->p;
    uint64_t       tag;

    CQ_TRY(read_varint(d, s, &tag));
    if (tag > UINT32_MAX || tag >> 3 == 0)
        return bad(d, start, "a field number is out of range");
    *number = (uint32_t)(tag >> 3);
    *wire   = (int)(tag & 7);
    return CQ_OK;
}

/* Takes size bytes from the front of s. */
static cq_status take(const decoder *d, span *s, uint64_t size, span *out)
{
    if (size > (uint64_t)(s->end - s->p))
        return cq_fail(CQ_E_FORMAT, d->where, "the file is truncated, or it is not an ONNX file",
                       "at byte %zu: a field needs %" PRIu64 " bytes but %zu are left",
                       (size_t)(s->p - d->begin), size, (size_t)(s->end - s->p));
    *out = (span){ s->p, s->p + size };
    s->p += size;
    return CQ_OK;
}

static cq_status take_delimited(const decoder *d, span *s, span *out)
{
    uint64_t size;

    CQ_TRY(read_varint(d, s, &size));
    return take(d, s, size, out);
}

/* Skips the value of a field. Groups are older than ONNX, which never uses them, but they are
 * legal; a group is skipped to its end, however many it contains. */
static cq_status skip_value(const decoder *d, span *s, uint32_t number, int wire)
{
    uint32_t open[CQ_ONNX_MAX_DEPTH];
    int      n_open = 0;
    uint64_t value;
    span     skipped;

    for (;;) {
        switch (wire) {
        case CQ_ONNX_WIRE_VARINT: CQ_TRY(read_varint(d, s, &value)); break;
        case CQ_ONNX_WIRE_64: CQ_TRY(take(d, s, 8, &skipped)); break;
        case CQ_ONNX_WIRE_32: CQ_TRY(take(d, s, 4, &skipped)); break;
        case CQ_ONNX_WIRE_BYTES: CQ_TRY(take_delimited(d, s, &skipped)); break;
        case CQ_ONNX_WIRE_GROUP:
            if (n_open == CQ_ONNX_MAX_DEPTH)
                return bad(d, s->p, "groups are nested too deep");
            open[n_open++] = number;
            break;
        case CQ_ONNX_WIRE_END:
            if (n_open == 0 || open[--n_open] != number)
                return bad(d, s->p, "the end of a group does not match a beginning");
            break;
        default: return bad(d, s->p, "a field has an unknown wire type");
        }
        if (n_open == 0)
            return CQ_OK;
        CQ_TRY(read_tag(d, s, &number, &wire));
    }
}

/* Unknown fields form a ring, referenced by its last element, so that appending is fast even if a
 * message is merged from many pieces. Adjacent fields are merged. */
static cq_status keep_unknown(decoder *d, cq_onnx_any *any, const uint8_t *p, const uint8_t *end)
{
    cq_onnx_unknown *last = any->unknown, *u;

    if (last && (const uint8_t *)last->bytes.data + last->bytes.size == p) {
        last->bytes.size += (size_t)(end - p);
        return CQ_OK;
    }
    u = cq_onnx_alloc(d->m, sizeof *u);
    if (!u)
        return CQ_E_NO_MEMORY;
    u->bytes     = (cq_onnx_bytes){ p, (size_t)(end - p) };
    u->next      = last ? last->next : u;
    any->unknown = u;
    if (last)
        last->next = u;
    return CQ_OK;
}

/* Reads a number whose wire type matches its kind. */
static cq_status read_number(const decoder *d, span *s, int kind, void *to)
{
    size_t   size = cq_onnx_kind_size(kind);
    uint64_t value;
    span     bits;

    if (cq_onnx_kind_wire(kind) == CQ_ONNX_WIRE_VARINT) {
        CQ_TRY(read_varint(d, s, &value));
        if (kind == CQ_ONNX_KIND_I32) {
            uint32_t low = (uint32_t)value; /* as in protobuf, higher bits are ignored */

            memcpy(to, &low, size);
        } else {
            memcpy(to, &value, size);
        }
        return CQ_OK;
    }
    CQ_TRY(take(d, s, size, &bits));
    memcpy(to, bits.p, size); /* little-endian machines only */
    return CQ_OK;
}

static size_t count_numbers(int kind, span s)
{
    size_t n = 0;

    if (cq_onnx_kind_wire(kind) != CQ_ONNX_WIRE_VARINT)
        return (size_t)(s.end - s.p) / cq_onnx_kind_size(kind);
    for (; s.p < s.end; s.p++)
        n += !(*s.p & 0x80);
    return n;
}

/* Float elements of a tensor have the layout of raw_data and are not copied from the file: cap 0
 * marks the list as read-only. Short lists are copied, for locality. */
static bool can_stay(const cq_onnx_message *message, int kind, size_t n)
{
    enum { FEW = 1024 };

    return message == &cq_onnx_tensor_message && n > FEW && n <= UINT32_MAX &&
           (kind == CQ_ONNX_KIND_F32 || kind == CQ_ONNX_KIND_F64);
}

/* Appends the numbers up to the end of s to a list. */
static cq_status read_numbers(decoder *d, const cq_onnx_message *message, int kind, void *to,
                              span s)
{
    size_t           size = cq_onnx_kind_size(kind), n = count_numbers(kind, s);
    cq_onnx_any_list list;

    memcpy(&list, to, sizeof list);
    if (!list.n && can_stay(message, kind, n) && n * size == (size_t)(s.end - s.p)) {
        list = (cq_onnx_any_list){ .items = (void *)s.p, .n = (uint32_t)n };
        memcpy(to, &list, sizeof list);
        return CQ_OK;
    }
    if (!cq_onnx_list_reserve(d->m, to, list.n + n, size))
        return d->m->status;
    memcpy(&list, to, sizeof list);
    for (; s.p < s.end && n; n--) {
        CQ_TRY(read_number(d, &s, kind, (char *)list.items + list.n * size));
        list.n++;
    }
    memcpy(to, &list, sizeof list);
    return s.p == s.end ? CQ_OK : bad(d, s.p, "the last number of a list is truncated");
}

static cq_status read_text(decoder *d, span s, const char **out)
{
    size_t len = (size_t)(s.end - s.p);
    char  *copy;

    if (memchr(s.p, '\0', len))
        return bad(d, s.p, "a string contains a zero byte");
    *out = "";
    if (!len)
        return CQ_OK;
    copy = cq_onnx_alloc(d->m, len + 1);
    if (!copy)
        return d->m->status;
    memcpy(copy, s.p, len);
    *out = copy;
    return CQ_OK;
}

/* Reads a length-delimited field: a string, bytes or a message. */
static cq_status read_delimited(decoder *d, const cq_onnx_field *field, void *to, span s, int depth)
{
    cq_onnx_bytes bytes = { s.p, (size_t)(s.end - s.p) };
    const char   *text;
    void         *message;

    switch (field->kind) {
    case CQ_ONNX_KIND_TEXT:
        CQ_TRY(read_text(d, s, &text));
        memcpy(to, &text, sizeof text);
        return CQ_OK;
    case CQ_ONNX_KIND_MESSAGE:
        memcpy(&message, to, sizeof message);
        if (!message) {
            message = cq_onnx_alloc(d->m, field->message->size);
            if (!message)
                return d->m->status;
            memcpy(to, &message, sizeof message);
        }
        return decode_message(d, field->message, message, s, depth + 1);
    default: memcpy(to, &bytes, sizeof bytes); return CQ_OK;
    }
}

static void unset_others(const cq_onnx_message *message, cq_onnx_any *any, uint32_t number)
{
    for (uint32_t i = 1; i < message->n_fields; i++) {
        const cq_onnx_field *field = &message->fields[i];

        if (!field->oneof || i == number)
            continue;
        any->has &= ~(1u << i);
        memset((char *)any + field->offset, 0, cq_onnx_kind_size(field->kind));
    }
}

/* Reads the value of a field that is in the table and has a matching wire type. */
static cq_status read_field(decoder *d, const cq_onnx_message *message, uint32_t number, int wire,
                            cq_onnx_any *any, span *s, int depth)
{
    const cq_onnx_field *field     = &message->fields[number];
    void                *to        = (char *)any + field->offset;
    bool                 is_number = cq_onnx_kind_wire(field->kind) != CQ_ONNX_WIRE_BYTES;
    span                 part;

    if (field->oneof)
        unset_others(message, any, number);
    if (wire == CQ_ONNX_WIRE_BYTES)
        CQ_TRY(take_delimited(d, s, &part));
    if (is_number && wire == CQ_ONNX_WIRE_BYTES)
        return read_numbers(d, message, field->kind, to, part);
    if (field->repeated) {
        to = cq_onnx_list_grow(d->m, to, cq_onnx_kind_size(field->kind));
        if (!to)
            return d->m->status;
    } else if (is_number) {
        any->has |= 1u << number;
    }
    return is_number ? read_number(d, s, field->kind, to)
                     : read_delimited(d, field, to, part, depth);
}

/* Whether the field is in the table and its wire type matches; packed numbers are encoded as
 * bytes. */
static bool is_known(const cq_onnx_message *message, uint32_t number, int wire)
{
    const cq_onnx_field *field;

    if (number >= message->n_fields || message->fields[number].kind == CQ_ONNX_KIND_NONE)
        return false;
    field = &message->fields[number];
    return wire == cq_onnx_kind_wire(field->kind) ||
           (wire == CQ_ONNX_WIRE_BYTES && field->repeated);
}

static cq_status decode_message(decoder *d, const cq_onnx_message *message, void *into, span s,
                                int depth)
{
    if (depth > CQ_ONNX_MAX_DEPTH)
        return cq_fail(CQ_E_FORMAT, d->where, NULL,
                       "at byte %zu: messages are nested deeper than the limit of %d",
                       (size_t)(s.p - d->begin), CQ_ONNX_MAX_DEPTH);
    while (s.p < s.end) {
        const uint8_t *start = s.p;
        uint32_t       number;
        int            wire;

        CQ_TRY(read_tag(d, &s, &number, &wire));
        if (is_known(message, number, wire)) {
            cq_status status = read_field(d, message, number, wire, into, &s, depth);

            if (status == CQ_E_FORMAT)
                return cq_error_add_excerpt(status, "%s field %u", message->name, number);
            CQ_TRY(status);
        } else {
            CQ_TRY(skip_value(d, &s, number, wire));
            CQ_TRY(keep_unknown(d, into, start, s.p));
        }
        if (cq_arena_used(d->m->arena) > d->memory)
            return cq_fail(CQ_E_FORMAT, d->where, NULL,
                           "at byte %zu: decoding needs more than %d times the memory of the "
                           "file, which no real model does",
                           (size_t)(s.p - d->begin), CQ_ONNX_MEMORY_FACTOR);
    }
    return CQ_OK;
}

cq_status cq_onnx_decode(cq_onnx_model *m, const cq_onnx_message *message, void *into,
                         const void *data, size_t size, const char *where)
{
    decoder d = { .m = m, .begin = data, .where = where };

    if (__builtin_mul_overflow(size, (size_t)CQ_ONNX_MEMORY_FACTOR, &d.memory) ||
        __builtin_add_overflow(d.memory, cq_arena_used(m->arena) + CQ_ONNX_MEMORY_FLOOR, &d.memory))
        d.memory = SIZE_MAX;
    if (!size)
        return CQ_OK; /* data may be NULL, to which no offset may be added */
    return decode_message(&d, message, into, (span){ d.begin, d.begin + size }, 1);
}
