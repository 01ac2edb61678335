/* Softmax and its logarithm along one dimension. */
#include "aten/ctx.h"
#include "kernel/reduce.h"

/* With a dtype, the input is converted to it first. */
static cq_status softmax_shape(cq_opcall *c)
{
    cq_tensor *x = c->args[0].u.tensor;
    cq_dtype   d = cq_arg_dtype(c, "dtype", x->dtype);

    cq_arg_dim(c, "dim", x->rank);
    if (!cq_dtype_is_float(d))
        return cq_call_fail(c, CQ_E_TYPE, "works on floats only, not on %s", cq_dtype_name(d));
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
    CQ_BODY("aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
            "softmax under its inner name",
            "softmax(self, dim, torch.float32 if half_to_float else None)"),
    CQ_BODY("aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
            "log_softmax under its inner name",
            "log_softmax(self, dim, torch.float32 if half_to_float else None)"),
    /* The rows that are -inf throughout are taken out before, so that nothing is NaN on the way
     * there and on the way back. */
    CQ_BODY("aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
            "softmax, but 0 where all along the dimension is -inf",
            "hidden = (self == -math.inf).all(dim, True)\n"
            "return self.masked_fill(hidden, 0).softmax(dim, dtype).masked_fill(hidden, 0)"),
    CQ_BODY("aten::_softmax_backward_data(Tensor grad_output, Tensor output, int dim, "
            "ScalarType input_dtype) -> Tensor",
            "what reaches the argument of a softmax of a gradient of its result",
            "y = grad_output * output\n"
            "return (y - output * y.sum(dim, True)).to(input_dtype)"),
    CQ_BODY("aten::_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, "
            "ScalarType input_dtype) -> Tensor",
            "what reaches the argument of a log_softmax of a gradient of its result",
            "(grad_output - output.exp() * grad_output.sum(dim, True)).to(input_dtype)"),
    { 0 }
};
