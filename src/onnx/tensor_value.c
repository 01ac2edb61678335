/* Converts tensor messages that cq_tensor does not support to values: strings, and sparse
 * tensors. */
#include "onnx/tensor.h"

#include <inttypes.h>

static cq_status texts_of(cq_val *out, const cq_onnx_tensor *tensor)
{
    int64_t   numel;
    cq_texts *t;

    CQ_TRY(cq_onnx_tensor_numel(&numel, tensor));
    if (numel != (int64_t)tensor->string_data.n)
        return cq_fail(CQ_E_FORMAT, tensor->name, NULL,
                       "the data has %u strings, its dimensions need %" PRId64,
                       tensor->string_data.n, numel);
    CQ_TRY(cq_texts_new(&t, tensor->dims.n, tensor->dims.items));
    for (uint32_t i = 0; i < tensor->string_data.n; i++) {
        const cq_onnx_bytes *s      = &tensor->string_data.items[i];
        cq_status            status = cq_texts_set(t, i, s->data ? s->data : "", s->size);

        if (status != CQ_OK) {
            cq_val_release(cq_val_of_texts(t));
            return status;
        }
    }
    *out = cq_val_of_texts(t);
    return CQ_OK;
}

cq_status cq_onnx_tensor_to_value(cq_val *out, const cq_onnx_model *m, const cq_onnx_tensor *tensor)
{
    cq_tensor *t;

    *out = CQ_NONE;
    if (tensor->data_type == CQ_ONNX_STRING)
        return texts_of(out, tensor);
    CQ_TRY(cq_onnx_tensor_to_tensor(&t, m, tensor));
    *out = cq_val_of_tensor(t);
    return CQ_OK;
}

/* ---- sparse tensors ---- */

/* The linear index of value i, in row-major order; indices are linear, or rows of coordinates. */
static cq_status place_of(int64_t *out, const cq_onnx_sparse_tensor *sparse,
                          const cq_tensor *indices, int64_t i, int64_t numel)
{
    uint32_t rank = sparse->dims.n;
    int64_t  at   = 0;

    if (indices->rank == 1) {
        at = cq_tensor_get_i64(indices, i);
    } else {
        for (uint32_t d = 0; d < rank; d++) {
            int64_t index = cq_tensor_get_i64(indices, i * rank + d);

            if (index < 0 || index >= sparse->dims.items[d])
                return cq_fail(CQ_E_FORMAT, NULL, NULL,
                               "index %" PRId64 " of a sparse tensor is outside of %" PRId64, index,
                               sparse->dims.items[d]);
            at = at * sparse->dims.items[d] + index;
        }
    }
    if (at < 0 || at >= numel)
        return cq_fail(CQ_E_FORMAT, NULL, NULL,
                       "index %" PRId64 " of a sparse tensor is outside of %" PRId64 " elements",
                       at, numel);
    *out = at;
    return CQ_OK;
}

static cq_status fill(cq_tensor *dense, const cq_onnx_sparse_tensor *sparse,
                      const cq_tensor *values, const cq_tensor *indices)
{
    size_t  size  = cq_dtype_size(dense->dtype);
    int64_t n     = cq_tensor_numel(values);
    int64_t numel = cq_tensor_numel(dense);
    bool    flat  = indices->rank == 1;

    if (values->rank != 1 || indices->rank < 1 || indices->rank > 2 ||
        indices->sizes[0].value != n || (!flat && indices->sizes[1].value != sparse->dims.n) ||
        indices->dtype != CQ_DTYPE_I64)
        return cq_fail(CQ_E_FORMAT, NULL, NULL,
                       "the numbers of values and indices of a sparse tensor differ");
    for (int64_t i = 0; i < n; i++) {
        int64_t at;

        CQ_TRY(place_of(&at, sparse, indices, i, numel));
        memcpy(cq_tensor_bytes(dense) + (size_t)at * size,
               cq_tensor_bytes(values) + (size_t)i * size, size);
    }
    return CQ_OK;
}

cq_status cq_onnx_sparse_to_value(cq_val *out, const cq_onnx_model *m,
                                  const cq_onnx_sparse_tensor *sparse)
{
    cq_tensor     *values = NULL, *indices = NULL, *dense = NULL;
    cq_onnx_tensor shape = { .dims = sparse->dims };
    int64_t        numel;
    cq_status      status;

    *out = CQ_NONE;
    if (!sparse->values || !sparse->indices)
        return cq_fail(CQ_E_FORMAT, NULL, NULL, "a sparse tensor lacks its values or indices");
    CQ_TRY_OR_DONE(cq_onnx_tensor_numel(&numel, &shape));
    CQ_TRY_OR_DONE(cq_onnx_tensor_to_tensor(&values, m, sparse->values));
    CQ_TRY_OR_DONE(cq_onnx_tensor_to_tensor(&indices, m, sparse->indices));
    CQ_TRY_OR_DONE(cq_tensor_new(&dense, values->dtype, sparse->dims.n, sparse->dims.items, NULL));
    CQ_TRY_OR_DONE(fill(dense, sparse, values, indices));
    *out  = cq_val_of_tensor(dense);
    dense = NULL;
done:
    cq_tensor_release(values);
    cq_tensor_release(indices);
    cq_tensor_release(dense);
    return status;
}
