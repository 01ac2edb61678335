/* Softmax and its logarithm along one dimension. */
#include "aten/core/ctx.h"
#include "kernel/reduce.h"

/* With a dtype, the input is converted to it first. */
static cq_status softmax_shape(cq_opcall *c)
{
    cq_tensor *x = c->args[0].u.tensor;
    cq_dtype   d = cq_arg_dtype(c, "dtype", x->dtype);

    cq_arg_dim(c, "dim", x->rank);
    if (!cq_dtype_is_float(d))
        return cq_call_fail(c, CQ_E_TYPE, "expected floats, got %s", cq_dtype_name(d));
    return cq_result_like(c, 0, x, d);
}

typedef cq_status kernel_fn(cq_tensor *out, const cq_tensor *x, uint32_t dim);

static cq_status run(cq_opcall *c, kernel_fn *kernel)
{
    cq_tensor *x = c->args[0].u.tensor, *out = cq_result_tensor(c, 0);

    if (!x->rank) /* one element: its share is all */
        return kernel == cq_kernel_softmax ? cq_kernel_fill_f64(out, 1)
                                           : cq_kernel_fill_f64(out, 0);
    return kernel(out, x, (uint32_t)cq_arg_dim(c, "dim", x->rank));
}

static cq_status softmax_run(cq_opcall *c)
{
    return run(c, cq_kernel_softmax);
}

static cq_status log_softmax_run(cq_opcall *c)
{
    return run(c, cq_kernel_log_softmax);
}

const cq_op_def cq_ops_softmax[] = {
    CQ_KERNEL("aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
              "exponentials along a dimension, divided by their sum", softmax_shape, softmax_run),
    CQ_KERNEL("aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
              "logarithm of softmax", softmax_shape, log_softmax_run),
    { 0 },
};
