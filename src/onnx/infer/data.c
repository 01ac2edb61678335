/* Reads elements of initializers and constants for rules that need values. Only small tensors are
 * read: shapes, axes, scales. */
#include "onnx/infer/internal.h"
#include "onnx/tensor.h"
#include "tensor/dtype.h"

#include <math.h>

/* Whether x is an integer in the range where doubles are exact. */
static bool is_whole(double x)
{
    return x == floor(x) && fabs(x) <= 9007199254740992.0;
}

static cq_ielem read_element(const cq_tensor *t, int64_t i)
{
    double real;

    if (!cq_dtype_is_float(cq_tensor_dtype(t)))
        return (cq_ielem){ .kind = CQ_INUM_INT, .i = cq_i(cq_tensor_get_i64(t, i)) };
    real = cq_tensor_get_f64(t, i);
    if (is_whole(real))
        return (cq_ielem){ .kind = CQ_INUM_INT, .i = cq_i((int64_t)real) };
    return (cq_ielem){ .kind = CQ_INUM_REAL, .r = real };
}

static bool is_readable(cq_dtype d)
{
    return d == CQ_DTYPE_BOOL || cq_dtype_is_integer(d) || cq_dtype_is_float(d);
}

cq_status cq_idata_read(const cq_idata **out, cq_infer *in, const cq_onnx_tensor *tensor)
{
    cq_tensor *t = NULL;
    cq_idata  *data;
    int64_t    n;

    *out = NULL;
    if (!is_readable(cq_dtype_from_onnx(tensor->data_type)))
        return CQ_OK;
    CQ_TRY(cq_onnx_tensor_numel(&n, tensor));
    if (n > CQ_ONNX_INFER_MAX_ELEMENTS)
        return CQ_OK;
    CQ_TRY(cq_onnx_tensor_to_tensor(&t, in->model, tensor));
    data = cq_arena_zalloc(in->arena, sizeof *data + (size_t)n * sizeof *data->items);
    if (data) {
        data->n = (size_t)n;
        for (int64_t i = 0; i < n; i++)
            data->items[i] = read_element(t, i);
    }
    *out = data;
    cq_tensor_release(t);
    return data ? CQ_OK : CQ_E_NO_MEMORY;
}
