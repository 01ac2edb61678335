/* Activations, and dropout, which is the identity unless a model is being trained. */
#include "aten/ops/elementwise.h"

#define SAME cq_shape_of_operands

/* The shape rule of operators that accept only floats. */
static cq_status real_shape(cq_opcall *c)
{
    cq_dtype dtype = c->args[0].u.tensor->dtype;

    if (!cq_dtype_is_float(dtype))
        return cq_call_fail(c, CQ_E_TYPE, "expected floats, got %s", cq_dtype_name(dtype));
    return cq_shape_of_self(c);
}

static cq_status gelu_shape(cq_opcall *c)
{
    const char *how = cq_arg_str(c, "approximate", "none");

    if (strcmp(how, "none") != 0 && strcmp(how, "tanh") != 0)
        return cq_call_fail(c, CQ_E_ARGUMENT, "approximate is \"%s\", not none or tanh", how);
    return real_shape(c);
}

static cq_status gelu_run(cq_opcall *c)
{
    bool       exact = strcmp(cq_arg_str(c, "approximate", "none"), "none") == 0;
    cq_tensor *out   = cq_result_tensor(c, 0);

    return cq_apply1(out, exact ? CQ_EW_GELU : CQ_EW_GELU_TANH, NULL, out->dtype,
                     c->args[0].u.tensor);
}

/* One slope for all, or one per channel along dimension 1. */
static cq_status prelu_shape(cq_opcall *c)
{
    cq_tensor *x = c->args[0].u.tensor, *w = c->args[1].u.tensor;
    cq_int     channels = x->rank > 1 ? x->sizes[1] : cq_i(1);

    if (cq_tensor_numel(w) != 1 && cq_tensor_numel(w) != channels.value)
        return cq_call_fail(c, CQ_E_ARGUMENT, "there are %lld slopes for %lld channels",
                            (long long)cq_tensor_numel(w), (long long)channels.value);
    return real_shape(c);
}

static cq_status prelu_run(cq_opcall *c)
{
    cq_tensor *x = c->args[0].u.tensor, *w = c->args[1].u.tensor, *along;
    cq_int     sizes[CQ_MAX_RANK];
    int64_t    strides[CQ_MAX_RANK];
    cq_status  status;

    for (size_t i = 0; i < x->rank; i++) {
        bool channels = i == 1 && cq_tensor_numel(w) > 1;

        sizes[i]   = cq_i(channels ? cq_tensor_numel(w) : 1);
        strides[i] = channels && w->rank ? w->strides[w->rank - 1] : 0;
    }
    CQ_TRY(cq_tensor_new_view(&along, w, w->dtype, x->rank, sizes, strides, w->offset));
    status = cq_apply2(cq_result_tensor(c, 0), CQ_EW_PRELU, NULL, x->dtype, x, along);
    cq_tensor_release(along);
    return status;
}

static cq_status shrink_shape(cq_opcall *c)
{
    if (cq_arg_f64(c, "lambd") < 0)
        return cq_call_fail(c, CQ_E_ARGUMENT, "lambd is %g, which is below 0",
                            cq_arg_f64(c, "lambd"));
    return real_shape(c);
}

#define ROW  CQ_EW_ROW
#define ROW1 CQ_EW_ROW1

const cq_op_def cq_ops_activation[] = {
    ROW1("relu", RELU, SAME, "max(x, 0)"),
    ROW("aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor", LEAKY_RELU,
        real_shape, "x, multiplied by a slope where it is negative"),
    CQ_KERNEL("aten::prelu(Tensor self, Tensor weight) -> Tensor",
              "x, multiplied by a learned slope where it is negative", prelu_shape, prelu_run),
    ROW("aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
        ELU, real_shape, "x, or alpha * (exp(x) - 1) where it is negative"),
    CQ_KERNEL("aten::gelu(Tensor self, *, str approximate=\"none\") -> Tensor",
              "x times the normal distribution function", gelu_shape, gelu_run),
    ROW1("silu", SILU, real_shape, "x * sigmoid(x)"),
    ROW1("mish", MISH, real_shape, "x * tanh(softplus(x))"),
    ROW("aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor", CLAMP, SAME,
        "the elements limited to min_val … max_val"),
    ROW1("hardswish", HARDSWISH, real_shape, "x * relu6(x + 3) / 6"),
    ROW1("hardsigmoid", HARDSIGMOID, real_shape, "relu6(x + 3) / 6"),
    ROW("aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor", SOFTPLUS,
        real_shape, "log(1 + exp(beta * x)) / beta"),
    ROW("aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor", THRESHOLD, SAME,
        "x where it exceeds the threshold, value elsewhere"),
    ROW1("log_sigmoid", LOG_SIGMOID, real_shape, "log(sigmoid(x))"),
    ROW("aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", SOFTSHRINK, shrink_shape,
        "x moved towards 0 by lambd"),
    ROW("aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor", HARDSHRINK, real_shape,
        "x, or 0 where its absolute value is at most lambd"),
    { 0 },
};
