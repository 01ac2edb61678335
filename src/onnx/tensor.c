/* Converts TensorProto to cq_tensor. Elements are in raw_data, in an external file, or in the typed
 * field that the specification assigns to their data type. */
#include "onnx/tensor.h"

#include "onnx/file/external.h"
#include "onnx/file/fields.h"

#include <inttypes.h>
#include <string.h>

/* A row per data type: bits of an element in raw_data, and the typed field with its item size and
 * the number of items per element. */
#define IN(field, type, n) offsetof(cq_onnx_tensor, field), sizeof(type), n

static const struct {
    const char *name;
    uint8_t     bits;
    uint16_t    offset;
    uint8_t     number_size, per_element;
} rows[CQ_ONNX_DATA_TYPE_COUNT] = {
    [CQ_ONNX_UNDEFINED]      = { "UNDEFINED", 0, 0, 0, 0 },
    [CQ_ONNX_FLOAT]          = { "FLOAT", 32, IN(float_data, float, 1) },
    [CQ_ONNX_UINT8]          = { "UINT8", 8, IN(int32_data, int32_t, 1) },
    [CQ_ONNX_INT8]           = { "INT8", 8, IN(int32_data, int32_t, 1) },
    [CQ_ONNX_UINT16]         = { "UINT16", 16, IN(int32_data, int32_t, 1) },
    [CQ_ONNX_INT16]          = { "INT16", 16, IN(int32_data, int32_t, 1) },
    [CQ_ONNX_INT32]          = { "INT32", 32, IN(int32_data, int32_t, 1) },
    [CQ_ONNX_INT64]          = { "INT64", 64, IN(int64_data, int64_t, 1) },
    [CQ_ONNX_STRING]         = { "STRING", 0, IN(string_data, cq_onnx_bytes, 1) },
    [CQ_ONNX_BOOL]           = { "BOOL", 8, IN(int32_data, int32_t, 1) },
    [CQ_ONNX_FLOAT16]        = { "FLOAT16", 16, IN(int32_data, int32_t, 1) },
    [CQ_ONNX_DOUBLE]         = { "DOUBLE", 64, IN(double_data, double, 1) },
    [CQ_ONNX_UINT32]         = { "UINT32", 32, IN(uint64_data, uint64_t, 1) },
    [CQ_ONNX_UINT64]         = { "UINT64", 64, IN(uint64_data, uint64_t, 1) },
    [CQ_ONNX_COMPLEX64]      = { "COMPLEX64", 64, IN(float_data, float, 2) },
    [CQ_ONNX_COMPLEX128]     = { "COMPLEX128", 128, IN(double_data, double, 2) },
    [CQ_ONNX_BFLOAT16]       = { "BFLOAT16", 16, IN(int32_data, int32_t, 1) },
    [CQ_ONNX_FLOAT8E4M3FN]   = { "FLOAT8E4M3FN", 8, IN(int32_data, int32_t, 1) },
    [CQ_ONNX_FLOAT8E4M3FNUZ] = { "FLOAT8E4M3FNUZ", 8, IN(int32_data, int32_t, 1) },
    [CQ_ONNX_FLOAT8E5M2]     = { "FLOAT8E5M2", 8, IN(int32_data, int32_t, 1) },
    [CQ_ONNX_FLOAT8E5M2FNUZ] = { "FLOAT8E5M2FNUZ", 8, IN(int32_data, int32_t, 1) },
    /* Elements of 4 (or 2) bits are packed 2 (or 4) per byte, and so in each number of the field;
     * see unpacked. */
    [CQ_ONNX_UINT4]      = { "UINT4", 4, IN(int32_data, int32_t, 1) },
    [CQ_ONNX_INT4]       = { "INT4", 4, IN(int32_data, int32_t, 1) },
    [CQ_ONNX_FLOAT4E2M1] = { "FLOAT4E2M1", 4, IN(int32_data, int32_t, 1) },
    [CQ_ONNX_FLOAT8E8M0] = { "FLOAT8E8M0", 8, IN(int32_data, int32_t, 1) },
    [CQ_ONNX_UINT2]      = { "UINT2", 2, IN(int32_data, int32_t, 1) },
    [CQ_ONNX_INT2]       = { "INT2", 2, IN(int32_data, int32_t, 1) },
};

const char *cq_onnx_data_type_name(int32_t data_type)
{
    return data_type >= 0 && data_type < CQ_ONNX_DATA_TYPE_COUNT ? rows[data_type].name : NULL;
}

const char *cq_onnx_data_field_name(int32_t data_type)
{
    for (uint32_t i = 1; i < cq_onnx_tensor_message.n_fields; i++) {
        const cq_onnx_field *field = &cq_onnx_tensor_message.fields[i];

        if (cq_onnx_data_type_name(data_type) && field->offset == rows[data_type].offset)
            return field->name;
    }
    return NULL;
}

unsigned cq_onnx_numbers_per_element(int32_t data_type)
{
    return cq_onnx_data_type_name(data_type) ? rows[data_type].per_element : 0;
}

cq_status cq_onnx_tensor_numel(int64_t *out, const cq_onnx_tensor *tensor)
{
    int64_t n = 16; /* size of the largest element, so that the number of bytes cannot
                     * overflow either */
    bool is_empty = false, overflow = false;

    for (uint32_t i = 0; i < tensor->dims.n; i++) {
        int64_t size = tensor->dims.items[i];

        if (size < 0)
            return cq_fail(CQ_E_FORMAT, tensor->name, NULL,
                           "size %" PRId64 " of dimension %u is negative", size, i);
        is_empty |= size == 0;
        overflow |= __builtin_mul_overflow(n, size ? size : 1, &n);
    }
    if (overflow)
        return cq_fail(CQ_E_FORMAT, tensor->name, NULL,
                       "a tensor of these dimensions does not fit in memory");
    *out = is_empty ? 0 : n / 16;
    return CQ_OK;
}

cq_status cq_onnx_tensor_raw_size(size_t *out, const cq_onnx_tensor *tensor)
{
    const char *name = cq_onnx_data_type_name(tensor->data_type);
    size_t      bits = name ? rows[tensor->data_type].bits : 0;
    int64_t     numel;

    if (!bits)
        return cq_fail(CQ_E_FORMAT, tensor->name, NULL,
                       "elements of type %s (%d) cannot be stored as plain bytes",
                       name ? name : "unknown", tensor->data_type);
    CQ_TRY(cq_onnx_tensor_numel(&numel, tensor));
    *out = bits < 8 ? ((size_t)numel * bits + 7) / 8 : (size_t)numel * (bits / 8);
    return CQ_OK;
}

/* Whether a number of a wider type fits in size bytes, as signed or unsigned. */
static bool fits(const char *number, size_t number_size, size_t size)
{
    int64_t value, limit;

    if (size >= number_size)
        return true;
    limit = (int64_t)1 << (8 * size);
    if (number_size == 4) {
        int32_t narrow;

        memcpy(&narrow, number, 4);
        value = narrow;
    } else {
        memcpy(&value, number, 8);
    }
    return value >= -limit / 2 && value < limit;
}

/* Copies elements from their typed field. Integers of fewer bytes than the field's items are their
 * low bytes, on a little-endian machine. */
static cq_status from_typed(cq_tensor **out, const cq_onnx_tensor *tensor, cq_dtype dtype,
                            int64_t numel)
{
    size_t           wide = rows[tensor->data_type].number_size;
    size_t           per  = rows[tensor->data_type].per_element;
    size_t           size = cq_dtype_size(dtype) / per;
    cq_onnx_any_list list;
    char            *to;

    /* Check the number first: dims may promise more than memory can hold. */
    memcpy(&list, (const char *)tensor + rows[tensor->data_type].offset, sizeof list);
    if (numel && list.n != (uint64_t)numel * per)
        return cq_fail(CQ_E_FORMAT, tensor->name, NULL,
                       "the data of type %s has %u numbers, its dimensions need %" PRIu64,
                       rows[tensor->data_type].name, list.n, (uint64_t)numel * per);
    CQ_TRY(cq_tensor_new_uninit(out, dtype, tensor->dims.n, tensor->dims.items));
    to = cq_tensor_data(*out);
    for (uint32_t i = 0; numel && i < list.n; i++, to += size) {
        const char *number = (const char *)list.items + i * wide;

        if (!fits(number, wide, size)) {
            cq_tensor_release(*out);
            *out = NULL;
            return cq_fail(CQ_E_FORMAT, tensor->name, NULL,
                           "number %u of the data is too large for type %s", i,
                           rows[tensor->data_type].name);
        }
        memcpy(to, number, size);
        if (tensor->data_type == CQ_ONNX_BOOL)
            *to = *to != 0;
    }
    return CQ_OK;
}

/* Unpacks elements of four or two bits, the first in the low bits of a byte, to a byte each. packs
 * are bytes that are step apart. */
static cq_status unpacked(cq_tensor **out, const cq_onnx_tensor *tensor, cq_dtype dtype,
                          const char *packs, size_t step, int64_t numel)
{
    unsigned bits = cq_dtype_bits(dtype), per_byte = 8 / bits, mask = (1u << bits) - 1;
    bool     is_signed = cq_dtype_is_integer(dtype) && cq_dtype_is_signed(dtype);
    unsigned sign      = is_signed ? 1u << (bits - 1) : 0;
    uint8_t *to;

    CQ_TRY(cq_tensor_new_uninit(out, dtype, tensor->dims.n, tensor->dims.items));
    to = cq_tensor_data(*out);
    for (int64_t i = 0; i < numel; i++) {
        unsigned pack = (uint8_t)packs[(size_t)i / per_byte * step];

        to[i] = (uint8_t)(((pack >> (size_t)i % per_byte * bits & mask) ^ sign) - sign);
    }
    return CQ_OK;
}

static cq_status from_typed_packs(cq_tensor **out, const cq_onnx_tensor *tensor, cq_dtype dtype,
                                  int64_t numel)
{
    unsigned per_byte = 8 / cq_dtype_bits(dtype);
    uint64_t want     = ((uint64_t)numel + per_byte - 1) / per_byte;

    if (tensor->int32_data.n != want)
        return cq_fail(CQ_E_FORMAT, tensor->name, NULL,
                       "the data of type %s has %u numbers, its dimensions need %" PRIu64,
                       rows[tensor->data_type].name, tensor->int32_data.n, want);
    return unpacked(out, tensor, dtype, (const char *)tensor->int32_data.items, sizeof(int32_t),
                    numel);
}

static void release_storage(void *user)
{
    cq_storage_release(user);
}

/* Whether raw_data points into the mapped file, which can be retained beyond the model's
 * lifetime. */
static bool is_in_source(const cq_onnx_model *m, const cq_onnx_bytes *raw)
{
    uintptr_t at = (uintptr_t)raw->data, begin = m->source ? (uintptr_t)m->source->data : 0;

    return m->source && at >= begin && at - begin < m->source->size;
}

/* The bytes of a tensor, if they are contiguous in raw_data or in a file; otherwise *out is
 * NULL. */
static cq_status find_bytes(cq_storage **out, const cq_onnx_model *m, const cq_onnx_tensor *tensor)
{
    const cq_onnx_bytes *raw = &tensor->raw_data;
    size_t               want;

    *out = NULL;
    if (!cq_onnx_is_external(tensor) && !raw->data)
        return CQ_OK;
    CQ_TRY(cq_onnx_tensor_raw_size(&want, tensor));
    if (cq_onnx_is_external(tensor))
        return cq_onnx_external_storage(out, m, tensor, want);
    if (raw->size != want)
        return cq_fail(CQ_E_FORMAT, tensor->name, NULL,
                       "raw_data has %zu bytes, its type and dimensions need %zu", raw->size, want);
    m = cq_onnx_tensor_home(m, tensor);
    if (is_in_source(m, raw)) {
        CQ_TRY(cq_storage_wrap(out, (void *)raw->data, want, m->source->mapped, release_storage,
                               m->source));
        cq_storage_retain(m->source);
        return CQ_OK;
    }
    CQ_TRY(cq_storage_new(out, want));
    memcpy((*out)->data, raw->data, want);
    return CQ_OK;
}

static cq_status on_bytes(cq_tensor **out, cq_storage *bytes, cq_dtype dtype,
                          const cq_onnx_tensor *tensor, bool anywhere)
{
    size_t  element = cq_dtype_size(dtype), align = element < 8 ? element : 8;
    int64_t strides[CQ_MAX_RANK];
    cq_int  sizes[CQ_MAX_RANK];

    for (uint32_t i = 0; i < tensor->dims.n; i++)
        sizes[i] = cq_i(tensor->dims.items[i]);
    cq_contiguous_strides(strides, tensor->dims.n, sizes);
    if (anywhere || (uintptr_t)bytes->data % align == 0)
        return cq_tensor_new_on(out, bytes, dtype, tensor->dims.n, tensor->dims.items, strides, 0);
    CQ_TRY(cq_tensor_new(out, dtype, tensor->dims.n, tensor->dims.items, bytes->data));
    if (bytes->mapped) /* the copy is in memory, so the file's pages can be released */
        cq_mapping_read(bytes->data, bytes->size);
    return CQ_OK;
}

/* anywhere: elements may be unaligned. */
static cq_status to_tensor(cq_tensor **out, const cq_onnx_model *m, const cq_onnx_tensor *tensor,
                           bool anywhere)
{
    const char *type  = cq_onnx_data_type_name(tensor->data_type);
    cq_dtype    dtype = cq_dtype_from_onnx(tensor->data_type);
    cq_storage *bytes = NULL;
    cq_status   status;
    int64_t     numel;

    *out = NULL;
    if (tensor->tensor) {
        *out = cq_tensor_retain(tensor->tensor);
        return CQ_OK;
    }
    if (dtype == CQ_DTYPE_NONE)
        return cq_fail(CQ_E_UNSUPPORTED, tensor->name, NULL,
                       "unsupported data type %s (%d) of a tensor", type ? type : "unknown",
                       tensor->data_type);
    if (tensor->segment)
        return cq_fail(CQ_E_UNSUPPORTED, tensor->name, NULL,
                       "a tensor is stored in segments, which is not supported");
    if (tensor->dims.n > CQ_MAX_RANK)
        return cq_fail(CQ_E_UNSUPPORTED, tensor->name, NULL,
                       "a tensor has %u dimensions, at most %d are supported", tensor->dims.n,
                       CQ_MAX_RANK);
    CQ_TRY(cq_onnx_tensor_numel(&numel, tensor));
    if (numel)
        CQ_TRY(find_bytes(&bytes, m, tensor));
    if (!bytes && cq_dtype_bits(dtype) < 8)
        return from_typed_packs(out, tensor, dtype, numel);
    if (!bytes)
        return from_typed(out, tensor, dtype, numel);
    if (cq_dtype_bits(dtype) < 8)
        status = unpacked(out, tensor, dtype, bytes->data, 1, numel);
    else
        status = on_bytes(out, bytes, dtype, tensor, anywhere);
    cq_storage_release(bytes);
    return status;
}

cq_status cq_onnx_tensor_to_tensor(cq_tensor **out, const cq_onnx_model *m,
                                   const cq_onnx_tensor *tensor)
{
    return to_tensor(out, m, tensor, false);
}

CQ_API cq_status cq_onnx_tensor_in_place(cq_tensor **out, const cq_onnx_model *m,
                                         const cq_onnx_tensor *tensor)
{
    CQ_NEED_OUT(out, m && tensor);
    return to_tensor(out, m, tensor, true);
}
