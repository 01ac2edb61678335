/* Encodes messages as protobuf, driven by the tables of fields.h. The same walk runs twice. The
 * first run only counts, and records the length of every message and packed list in the order in
 * which they begin. The second run writes and reads these lengths in the same order, so nothing is
 * buffered and no weight is copied. Fields are written by number, unknown fields last: the same
 * model always gives the same bytes. */
#include "onnx/file/wire.h"
#include "tensor/tensor.h"

#include <string.h>

struct cq_onnx_encoding {
    const cq_onnx_message *message;
    const void            *from;
    const cq_ptr_map      *instead;
    cq_out                *out; /* NULL while counting */
    uint64_t               size;
    cq_status              status;
    CQ_VEC(uint64_t) lengths;
    size_t next; /* index of the next length to read */
};

static void put_message(cq_onnx_encoding *e, const cq_onnx_message *message, const void *from);

static void put(cq_onnx_encoding *e, const void *data, size_t size)
{
    if (e->out)
        cq_out_write(e->out, data, size);
    else
        e->size += size;
}

static void put_varint(cq_onnx_encoding *e, uint64_t value)
{
    uint8_t bytes[10];
    size_t  n = 0;

    do {
        bytes[n++] = (uint8_t)(value & 0x7f) | (value > 0x7f ? 0x80 : 0);
        value >>= 7;
    } while (value);
    put(e, bytes, n);
}

static void put_tag(cq_onnx_encoding *e, uint32_t number, int wire)
{
    put_varint(e, (uint64_t)number << 3 | (unsigned)wire);
}

/* The length of the following message. During the count it is unknown: begin returns its index, and
 * end stores it there. */
static size_t begin_length(cq_onnx_encoding *e)
{
    size_t slot = e->next++;

    if (e->out) {
        put_varint(e, e->lengths.items[slot]);
    } else if (e->status == CQ_OK) {
        e->status = cq_vec_push(&e->lengths, e->size);
    }
    return slot;
}

static void end_length(cq_onnx_encoding *e, size_t slot)
{
    if (e->out || e->status != CQ_OK)
        return;
    e->lengths.items[slot] = e->size - e->lengths.items[slot];
    put_varint(e, e->lengths.items[slot]);
}

static void put_bytes(cq_onnx_encoding *e, const void *data, size_t size)
{
    put_varint(e, size);
    put(e, data, size);
}

static void put_number(cq_onnx_encoding *e, int kind, const void *from)
{
    size_t   size = cq_onnx_kind_size(kind);
    uint64_t value;
    int32_t  narrow;

    if (cq_onnx_kind_wire(kind) != CQ_ONNX_WIRE_VARINT) {
        put(e, from, size);
    } else if (kind == CQ_ONNX_KIND_I32) { /* negative numbers take ten bytes */
        memcpy(&narrow, from, size);
        put_varint(e, (uint64_t)(int64_t)narrow);
    } else {
        memcpy(&value, from, size);
        put_varint(e, value);
    }
}

static void put_raw(cq_onnx_encoding *e, const cq_onnx_tensor *tensor)
{
    size_t size;

    if (!tensor->tensor) {
        put_bytes(e, tensor->raw_data.data, tensor->raw_data.size);
        return;
    }
    size = cq_onnx_elements_size(tensor->tensor);
    put_varint(e, size);
    if (e->out)
        cq_onnx_write_elements(e->out, tensor->tensor);
    else
        e->size += size;
}

/* Writes a value with its tag. from points to the member of the struct or the item of the list. */
static void put_value(cq_onnx_encoding *e, const cq_onnx_field *field, uint32_t number,
                      const void *from)
{
    cq_onnx_bytes bytes;
    const void   *pointer;
    size_t        slot;

    put_tag(e, number, cq_onnx_kind_wire(field->kind));
    switch (field->kind) {
    case CQ_ONNX_KIND_TEXT:
        memcpy(&pointer, from, sizeof pointer);
        put_bytes(e, pointer, strlen(pointer));
        return;
    case CQ_ONNX_KIND_BYTES:
        memcpy(&bytes, from, sizeof bytes);
        put_bytes(e, bytes.data, bytes.size);
        return;
    case CQ_ONNX_KIND_RAW:
        put_raw(e, (const cq_onnx_tensor *)((const char *)from - field->offset));
        return;
    case CQ_ONNX_KIND_MESSAGE:
        memcpy(&pointer, from, sizeof pointer);
        slot = begin_length(e);
        put_message(e, field->message, pointer);
        end_length(e, slot);
        return;
    default: put_number(e, field->kind, from);
    }
}

static void put_list(cq_onnx_encoding *e, const cq_onnx_field *field, uint32_t number,
                     const void *from)
{
    size_t           size = cq_onnx_kind_size(field->kind), slot;
    cq_onnx_any_list list;

    memcpy(&list, from, sizeof list);
    if (!list.n)
        return;
    if (!field->packed) {
        for (uint32_t i = 0; i < list.n; i++)
            put_value(e, field, number, (const char *)list.items + i * size);
        return;
    }
    put_tag(e, number, CQ_ONNX_WIRE_BYTES);
    slot = begin_length(e);
    if (cq_onnx_kind_wire(field->kind) == CQ_ONNX_WIRE_VARINT)
        for (uint32_t i = 0; i < list.n; i++)
            put_number(e, field->kind, (const char *)list.items + i * size);
    else
        put(e, list.items, list.n * size);
    end_length(e, slot);
}

static bool is_set(const cq_onnx_field *field, uint32_t number, const cq_onnx_any *any)
{
    const void *from = (const char *)any + field->offset, *pointer;

    if (cq_onnx_kind_wire(field->kind) != CQ_ONNX_WIRE_BYTES)
        return cq_onnx_has(any, number);
    if (field->kind == CQ_ONNX_KIND_RAW && ((const cq_onnx_tensor *)any)->tensor)
        return true;
    memcpy(&pointer, from, sizeof pointer); /* a string, a message, or the address of bytes */
    return pointer != NULL;
}

static void put_message(cq_onnx_encoding *e, const cq_onnx_message *message, const void *from)
{
    const cq_onnx_any     *any  = from;
    const cq_onnx_unknown *last = NULL;

    if (message == &cq_onnx_tensor_message && e->instead) {
        const void *other = cq_ptr_map_get(e->instead, from);

        any = other ? other : from;
    }
    for (uint32_t i = 1; i < message->n_fields && e->status == CQ_OK; i++) {
        const cq_onnx_field *field = &message->fields[i];
        const void          *value = (const char *)any + field->offset;

        if (field->kind == CQ_ONNX_KIND_NONE)
            continue;
        if (field->repeated)
            put_list(e, field, i, value);
        else if (is_set(field, i, any))
            put_value(e, field, i, value);
    }
    last = any->unknown;
    for (const cq_onnx_unknown *u = last ? last->next : NULL; u; u = u == last ? NULL : u->next)
        put(e, u->bytes.data, u->bytes.size);
}

cq_status cq_onnx_encoding_new(cq_onnx_encoding **out, const cq_onnx_message *message,
                               const void *from, const cq_ptr_map *instead)
{
    cq_onnx_encoding *e = *out = cq_zalloc(sizeof *e);
    cq_status         status;

    if (!e)
        return CQ_E_NO_MEMORY;
    e->message = message;
    e->from    = from;
    e->instead = instead;
    put_message(e, message, from);
    status = e->status;
    if (status != CQ_OK) {
        cq_onnx_encoding_free(e);
        *out = NULL;
    }
    return status;
}

uint64_t cq_onnx_encoding_size(const cq_onnx_encoding *e)
{
    return e->size;
}

void cq_onnx_encoding_write(cq_onnx_encoding *e, cq_out *out)
{
    e->out  = out;
    e->next = 0;
    put_message(e, e->message, e->from);
    e->out = NULL;
}

void cq_onnx_encoding_free(cq_onnx_encoding *e)
{
    if (!e)
        return;
    cq_vec_clear(&e->lengths);
    cq_free(e);
}

size_t cq_onnx_elements_size(const cq_tensor *t)
{
    cq_dtype dtype = cq_tensor_dtype(t);
    unsigned bits  = cq_dtype_bits(dtype);
    size_t   numel = (size_t)cq_tensor_numel(t);

    return bits < 8 ? (numel * bits + 7) / 8 : numel * cq_dtype_size(dtype);
}

/* Packs elements that take a byte each, several per byte, the first in the low bits. All calls
 * except the last pass enough elements to fill whole bytes. */
static size_t pack(char *bytes, size_t n, unsigned bits)
{
    unsigned per_byte = 8 / bits, mask = (1u << bits) - 1;
    size_t   n_packed = 0;

    for (size_t i = 0; i < n; i += per_byte) {
        unsigned byte = 0;

        for (unsigned k = 0; k < per_byte && i + k < n; k++)
            byte |= ((uint8_t)bytes[i + k] & mask) << k * bits;
        bytes[n_packed++] = (char)byte;
    }
    return n_packed;
}

/* ---- transposed matrices ---- */

enum {
    TURN_TILE  = 32,       /* columns per tile: a cache line of each row */
    TURN_BYTES = 4 << 20,  /* size of a buffer of rows: the whole matrix is read once per buffer, */
    TURN_PART  = 8,        /* so the buffer is this fraction of a large matrix, */
    TURN_MOST  = 16 << 20, /* but never more than this */
    TURN_READ  = 16 << 20, /* bytes read from a mapped file before its pages are released */
    TURN_LEAST = 1 << 16   /* number of elements from which tiling pays off */
};

/* A matrix that is stored in column-major order, like the weights of most layers. */
typedef struct turned {
    const char *data;
    size_t      size, rows, columns, column_bytes; /* size: bytes per element */
} turned;

static bool is_turned(const cq_tensor *t, turned *out)
{
    if (cq_tensor_rank(t) != 2 || cq_tensor_numel(t) < TURN_LEAST || cq_tensor_stride(t, 0) != 1 ||
        cq_tensor_stride(t, 1) < cq_tensor_size(t, 0))
        return false;
    *out              = (turned){ cq_tensor_data(t), cq_dtype_size(cq_tensor_dtype(t)),
                                  (size_t)cq_tensor_size(t, 0), (size_t)cq_tensor_size(t, 1), 0 };
    out->column_bytes = (size_t)cq_tensor_stride(t, 1) * out->size;
    return true;
}

static inline void turn_of_size(char *to, const char *from, size_t rows, size_t columns,
                                const turned *m, size_t size)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < columns; k++)
            memcpy(to + (i * m->columns + k) * size, from + i * size + k * m->column_bytes, size);
}

static void turn(char *to, const char *from, size_t rows, size_t columns, const turned *m)
{
    if (m->size == 2)
        turn_of_size(to, from, rows, columns, m, 2);
    else if (m->size == 4)
        turn_of_size(to, from, rows, columns, m, 4);
    else
        turn_of_size(to, from, rows, columns, m, m->size);
}

/* Transposes a block of rows at a time, so that reads are local. Returns false if memory is
 * exhausted. */
static bool write_turned(cq_out *out, const turned *m)
{
    const size_t row  = m->columns * m->size;
    const size_t part = m->rows * row / TURN_PART;
    const size_t room = part < TURN_BYTES ? TURN_BYTES : part > TURN_MOST ? TURN_MOST : part;
    const size_t many = row < room ? room / row : 1;
    char        *rows = cq_alloc((many < m->rows ? many : m->rows) * row);

    for (size_t i = 0; rows && i < m->rows; i += many) {
        const size_t n    = m->rows - i < many ? m->rows - i : many;
        const char  *read = m->data, *from = m->data;

        for (size_t k = 0; k < m->columns; k += TURN_TILE) {
            from = m->data + k * m->column_bytes;
            turn(rows + k * m->size, from + i * m->size, n,
                 m->columns - k < TURN_TILE ? m->columns - k : TURN_TILE, m);
            if ((size_t)(from - read) >= TURN_READ) {
                cq_mapping_drop(read, (size_t)(from - read));
                read = from;
            }
        }
        cq_mapping_drop(read, (size_t)(from - read) + m->rows * m->size);
        cq_out_write(out, rows, n * row);
    }
    cq_free(rows);
    return rows != NULL;
}

/* Writes a lazy tensor of less than 8 bits per element in pieces: in memory an element takes a
 * byte. */
static bool write_packed(cq_out *out, const cq_tensor *t, unsigned bits)
{
    enum { PIECE = 1 << 18 };
    const cq_maker *maker = &t->storage->maker;
    const size_t    numel = (size_t)cq_tensor_numel(t);
    char           *piece = cq_alloc(PIECE);

    for (size_t at = 0; piece && at < numel; at += PIECE) {
        const size_t n = numel - at < PIECE ? numel - at : PIECE;

        maker->make(maker->user, piece, (size_t)t->offset + at, n);
        cq_out_write(out, piece, pack(piece, n, bits));
    }
    cq_free(piece);
    return piece != NULL;
}

/* Elements are gathered in a buffer, in row-major order of the axes. */
void cq_onnx_write_elements(cq_out *out, const cq_tensor *t)
{
    char     buffer[1 << 12];
    size_t   size = cq_dtype_size(cq_tensor_dtype(t)), rank = cq_tensor_rank(t), n = 0;
    int64_t  index[CQ_MAX_RANK] = { 0 }, numel = cq_tensor_numel(t);
    unsigned bits = cq_dtype_bits(cq_tensor_dtype(t));
    turned   m;

    if (bits >= 8 && t->storage && t->storage->zeros) {
        cq_out_zeros(out, (uint64_t)numel * size);
        return;
    }
    if (bits >= 8 && t->storage && atomic_load(&t->storage->is_pending) &&
        cq_tensor_is_contiguous(t)) {
        const char *copied = t->storage->maker.copied;

        if (copied) {
            cq_out_write(out, copied + (size_t)t->offset * size, (size_t)numel * size);
            return;
        }
        cq_out_write_computed(out, t->storage->maker.make, t->storage->maker.user,
                              (size_t)t->offset * size, (size_t)numel * size);
        return;
    }
    if (bits < 8 && t->storage && atomic_load(&t->storage->is_pending) &&
        cq_tensor_is_contiguous(t) && write_packed(out, t, bits))
        return;
    if (bits >= 8 && is_turned(t, &m) && write_turned(out, &m))
        return;
    if (cq_tensor_is_contiguous(t) && bits >= 8) {
        cq_out_write(out, cq_tensor_data(t), (size_t)numel * size);
        return;
    }
    for (const char *p = cq_tensor_data(t); numel; numel--) {
        memcpy(buffer + n, p, size);
        n += size;
        if (n == sizeof buffer || numel == 1) {
            cq_out_write(out, buffer, bits < 8 ? pack(buffer, n, bits) : n);
            n = 0;
        }
        for (size_t axis = rank; axis-- > 0;) {
            p += cq_tensor_stride(t, axis) * (int64_t)size;
            if (++index[axis] < cq_tensor_size(t, axis))
                break;
            p -= cq_tensor_stride(t, axis) * cq_tensor_size(t, axis) * (int64_t)size;
            index[axis] = 0;
        }
    }
}
