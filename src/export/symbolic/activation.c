/* Activations and dropout. Where ONNX Runtime has a function only in float32, doubles are
 * computed from its parts. */
#include "export/arith.h"

#include <math.h>

static cq_value *self_of(cq_sym *s)
{
    return cq_sym_operand(s, "self");
}

static cq_value *plus(cq_sym *s, cq_value *x, double n)
{
    return CQ_2("Add", x, cq_sym_num(s, x, n));
}

static cq_value *times(cq_sym *s, cq_value *x, double n)
{
    return n == 1 ? x : CQ_2("Mul", x, cq_sym_num(s, x, n));
}

static cq_value *between(cq_sym *s, cq_value *x, double low, double high)
{
    return cq_sym_bounded(s, x, cq_sym_num(s, x, low), cq_sym_num(s, x, high));
}

/* An operator with an attribute that takes the dtype, or one that may be rounded to float32. */
static bool is_double(cq_sym *s, const char *op, cq_value *x)
{
    return cq_sym_dtype(s, x) == CQ_DTYPE_F64 && !cq_sym_fits(s, op, CQ_DTYPE_F64);
}

static cq_value *with_alpha(cq_sym *s, const char *op, cq_value *x, double alpha)
{
    return cq_sym_apply(s, op, CQ_IN(x), CQ_ATTR(cq_attr_f("alpha", alpha)));
}

static cq_status relu(cq_sym *s)
{
    cq_value *x = self_of(s);

    if (cq_dtype_is_float(cq_sym_dtype(s, x)) || cq_sym_fits(s, "Relu", cq_sym_dtype(s, x)))
        return cq_sym_done(s, CQ_1("Relu", x));
    return cq_sym_done(s, cq_sym_bounded(s, x, cq_sym_num(s, x, 0), NULL));
}

static cq_status hardtanh(cq_sym *s)
{
    return cq_sym_done(s,
                       between(s, self_of(s), cq_sym_f64(s, "min_val"), cq_sym_f64(s, "max_val")));
}

static cq_status leaky_relu(cq_sym *s)
{
    cq_value *x     = self_of(s);
    double    slope = cq_sym_f64(s, "negative_slope");

    if (!is_double(s, "LeakyRelu", x) || cq_sym_opset(s) < 9)
        return cq_sym_done(s, with_alpha(s, "LeakyRelu", x, slope));
    return cq_sym_done(
        s, cq_sym_where(s, CQ_2("Greater", x, cq_sym_num(s, x, 0)), x, times(s, x, slope)));
}

/* One slope, or one per channel, which is axis 1; PRelu lines them up from the right. */
static cq_status prelu(cq_sym *s)
{
    cq_value *x = self_of(s), *w = cq_sym_operand(s, "weight");
    int       rank = cq_sym_rank(s, x);
    cq_int    sizes[CQ_MAX_RANK];
    cq_int    n = cq_sym_rank(s, w) ? cq_sym_size(s, w, -1) : cq_i(1);

    if (rank > 2 && !cq_int_is(n, 1)) {
        for (int i = 0; i < rank - 1; i++)
            sizes[i] = i ? cq_i(1) : n;
        w = cq_sym_reshape(s, w, sizes, (size_t)rank - 1);
    } else if (rank == 0) {
        w = cq_sym_reshape(s, w, NULL, 0);
    }
    if (!is_double(s, "PRelu", x) || cq_sym_opset(s) < 9)
        return cq_sym_done(s, CQ_2("PRelu", x, w));
    return cq_sym_done(
        s, cq_sym_where(s, CQ_2("Greater", x, cq_sym_num(s, x, 0)), x, CQ_2("Mul", x, w)));
}

/* scale * (max(x, 0) + alpha * (exp(input_scale * min(x, 0)) - 1)) */
static cq_status elu(cq_sym *s)
{
    cq_value *x     = self_of(s), *below;
    double    alpha = cq_sym_f64(s, "alpha"), scale = cq_sym_f64(s, "scale");
    double    inner = cq_sym_f64(s, "input_scale");

    if (scale == 1 && inner == 1 && !is_double(s, "Elu", x))
        return cq_sym_done(s, with_alpha(s, "Elu", x, alpha));
    below = CQ_1("Neg", CQ_1("Relu", CQ_1("Neg", x)));
    below = plus(s, CQ_1("Exp", times(s, below, inner)), -1);
    below = times(s, below, alpha * scale);
    return cq_sym_done(s, CQ_2("Add", times(s, CQ_1("Relu", x), scale), below));
}

/* Those that are composed decline what they cannot, and are taken apart. */
static cq_status selu(cq_sym *s)
{
    cq_value *x = self_of(s);

    if (is_double(s, "Selu", x))
        return cq_sym_no(s, 0, "ONNX Runtime has no Selu of doubles");
    return cq_sym_done(s, CQ_1("Selu", x));
}

static cq_status celu(cq_sym *s)
{
    cq_value *x = self_of(s);

    if (is_double(s, "Celu", x) || cq_sym_opset(s) < 12)
        return cq_sym_no(s, 12, "Celu came with opset 12");
    return cq_sym_done(s, with_alpha(s, "Celu", x, cq_sym_f64(s, "alpha")));
}

static cq_status gelu(cq_sym *s)
{
    cq_value *x     = self_of(s), *y;
    bool      exact = strcmp(cq_sym_str(s, "approximate", "none"), "none") == 0;

    if (exact) {
        y = CQ_1("Erf", CQ_2("Div", x, cq_sym_num(s, x, 1.41421356237309504880)));
    } else {
        y = times(s, CQ_2("Mul", x, CQ_2("Mul", x, x)), 0.044715);
        y = CQ_1("Tanh", times(s, CQ_2("Add", x, y), 0.79788456080286535588));
    }
    return cq_sym_done(s, times(s, CQ_2("Mul", x, plus(s, y, 1)), 0.5));
}

/* One node, for what ONNX Runtime has it for. */
static cq_status gelu_20(cq_sym *s)
{
    cq_value *x = self_of(s), *y;

    if (cq_sym_dtype(s, x) != CQ_DTYPE_F32)
        return gelu(s);
    y = cq_sym_op(s, "Gelu", CQ_IN(x),
                  CQ_ATTR(cq_attr_s("approximate", cq_sym_str(s, "approximate", "none"))));
    cq_sym_set_type_of(y, x);
    return cq_sym_done(s, y);
}

static cq_status silu(cq_sym *s)
{
    cq_value *x = self_of(s);

    return cq_sym_done(s, CQ_2("Mul", x, CQ_1("Sigmoid", x)));
}

static cq_status silu_24(cq_sym *s)
{
    cq_value *x = self_of(s), *y;

    if (cq_sym_dtype(s, x) != CQ_DTYPE_F32)
        return silu(s);
    y = cq_sym_op(s, "Swish", CQ_IN(x), CQ_NO_ATTR);
    cq_sym_set_type_of(y, x);
    return cq_sym_done(s, y);
}

/* log(1 + exp(x)) without overflow: max(x, 0) + log(1 + exp(-|x|)) */
static cq_value *soft_plus(cq_sym *s, cq_value *x)
{
    cq_value *rest;

    if (!is_double(s, "Softplus", x))
        return CQ_1("Softplus", x);
    rest = CQ_1("Log", plus(s, CQ_1("Exp", CQ_1("Neg", CQ_1("Abs", x))), 1));
    return CQ_2("Add", CQ_1("Relu", x), rest);
}

static cq_status mish(cq_sym *s)
{
    cq_value *x = self_of(s);

    return cq_sym_done(s, CQ_2("Mul", x, CQ_1("Tanh", soft_plus(s, x))));
}

/* Past the threshold it is x. At the usual one, 20, the difference is below rounding. */
static cq_status softplus(cq_sym *s)
{
    cq_value *x    = self_of(s), *inner, *y;
    double    beta = cq_sym_f64(s, "beta"), threshold = cq_sym_f64(s, "threshold");

    inner = times(s, x, beta);
    y     = soft_plus(s, inner);
    if (beta != 1)
        y = CQ_2("Div", y, cq_sym_num(s, x, beta));
    if (threshold < 20)
        y = cq_sym_where(s, CQ_2("Greater", inner, cq_sym_num(s, x, threshold)), x, y);
    return cq_sym_done(s, y);
}

static cq_status log_sigmoid(cq_sym *s)
{
    return cq_sym_done(s, CQ_1("Neg", soft_plus(s, CQ_1("Neg", self_of(s)))));
}

static cq_value *hard_sigmoid(cq_sym *s, cq_value *x)
{
    if (is_double(s, "HardSigmoid", x))
        return times(s, between(s, plus(s, x, 3), 0, 6), 1.0 / 6);
    return cq_sym_apply(s, "HardSigmoid", CQ_IN(x),
                        CQ_ATTR(cq_attr_f("alpha", 1.0 / 6), cq_attr_f("beta", 0.5)));
}

static cq_status hardsigmoid(cq_sym *s)
{
    return cq_sym_done(s, hard_sigmoid(s, self_of(s)));
}

static cq_status hardswish(cq_sym *s)
{
    cq_value *x = self_of(s);

    if (cq_sym_opset(s) >= 14 && !is_double(s, "HardSwish", x))
        return cq_sym_done(s, CQ_1("HardSwish", x));
    return cq_sym_done(s, CQ_2("Mul", x, hard_sigmoid(s, x)));
}

static cq_status threshold(cq_sym *s)
{
    cq_value *x = self_of(s), *limit = cq_sym_operand(s, "threshold");

    return cq_sym_done(s,
                       cq_sym_where(s, cq_sym_at_most(s, x, limit), cq_sym_operand(s, "value"), x));
}

/* max(x - lambd, 0) - max(-x - lambd, 0) */
static cq_status softshrink(cq_sym *s)
{
    cq_value *x     = self_of(s), *y;
    double    lambd = cq_sym_f64(s, "lambd");

    if (cq_sym_opset(s) >= 9)
        return cq_sym_done(
            s, cq_sym_apply(s, "Shrink", CQ_IN(x),
                            CQ_ATTR(cq_attr_f("lambd", lambd), cq_attr_f("bias", lambd))));
    y = CQ_2("Sub", CQ_1("Relu", plus(s, x, -lambd)),
             CQ_1("Relu", plus(s, CQ_1("Neg", x), -lambd)));
    /* NaN becomes 0. */
    return cq_sym_done(s, cq_sym_where(s, cq_sym_is_nan(s, x), cq_sym_num(s, x, 0), y));
}

static cq_status hardshrink(cq_sym *s)
{
    cq_value *x = self_of(s), *limit = cq_sym_operand(s, "lambd");

    return cq_sym_done(
        s, cq_sym_where(s, cq_sym_at_most(s, CQ_1("Abs", x), limit), cq_sym_num(s, x, 0), x));
}

/* In training. Until opset 11 ONNX has no other than the one for inference, which is the
 * identity; that a model was exported for training is then seen by its being there. */
static cq_status dropout(cq_sym *s)
{
    cq_value *x     = cq_sym_operand(s, "input"), *ratio;
    double    p     = cq_sym_f64(s, "p");
    cq_dtype  dtype = cq_sym_dtype(s, x), used = dtype == CQ_DTYPE_BF16 ? CQ_DTYPE_F32 : dtype;

    if (!cq_sym_bool(s, "train") || p == 0)
        return cq_sym_done(s, x);
    if (p == 1)
        return cq_sym_no(s, 0, "a ratio of 1 is more than ONNX allows");
    x = cq_sym_cast(s, x, used);
    if (cq_sym_opset(s) < 12)
        return cq_sym_done(s, cq_sym_op(s, "Dropout", CQ_IN(x), CQ_ATTR(cq_attr_f("ratio", p))));
    ratio = cq_sym_const_f64(s, CQ_DTYPE_F32, p);
    return cq_sym_done(s, cq_sym_op(s, "Dropout",
                                    CQ_IN(x, ratio, cq_sym_const_f64(s, CQ_DTYPE_BOOL, 1)),
                                    CQ_NO_ATTR));
}

const cq_symbolic cq_symbolics_activation[] = {
    { "aten::relu", 7, .fn = relu },
    { "aten::hardtanh", 7, .fn = hardtanh },
    { "aten::leaky_relu", 7, .fn = leaky_relu },
    { "aten::prelu", 7, .fn = prelu },
    { "aten::elu", 7, .fn = elu },
    { "aten::selu", 7, .fn = selu },
    { "aten::celu", 7, .fn = celu },
    { "aten::gelu", 7, .fn = gelu },
    { "aten::gelu", 20, .fn = gelu_20 },
    { "aten::silu", 7, .fn = silu },
    { "aten::silu", 24, .fn = silu_24 },
    { "aten::mish", 7, .fn = mish },
    { "aten::softplus", 7, .fn = softplus },
    { "aten::log_sigmoid", 7, .fn = log_sigmoid },
    { "aten::hardsigmoid", 7, .fn = hardsigmoid },
    { "aten::hardswish", 7, .fn = hardswish },
    { "aten::threshold", 7, .fn = threshold },
    { "aten::softshrink", 7, .fn = softshrink },
    { "aten::hardshrink", 7, .fn = hardshrink },
    { "aten::dropout", 7, .fn = dropout },
    { 0 },
};
