/* Activations, and dropout, which is the identity unless a model is being trained. */
#include "aten/elementwise.h"

#include <math.h>

#define SAME cq_shape_of_operands

static cq_status return_tensor(cq_opcall *c, cq_tensor *t)
{
    cq_result_set_tensor(c, 0, t);
    return c->cx->status;
}

/* An operator that only floats have. */
static cq_status real_shape(cq_opcall *c)
{
    cq_dtype dtype = c->args[0].u.tensor->dtype;

    if (!cq_dtype_is_float(dtype))
        return cq_call_fail(c, CQ_E_TYPE, "works on floats, not on %s", cq_dtype_name(dtype));
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

/* One slope for all, or one per channel: those lie along dimension 1. */
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

/* The first half times the sigmoid of the second. */
static cq_status glu(cq_opcall *c)
{
    cq_tensor *x   = c->args[0].u.tensor, *a, *b;
    int        dim = cq_arg_dim(c, "dim", x->rank);
    cq_int     half;

    CQ_TRY(c->cx->status);
    if (x->rank == 0 || x->sizes[dim].value % 2)
        return cq_call_fail(c, CQ_E_ARGUMENT, "dimension %d cannot be halved", dim);
    half = cq_size_floordiv(c, x->sizes[dim], cq_i(2));
    a    = CQ_OP(c->cx, "aten::slice.Tensor", T(x), I(dim), I(0), N(half));
    b    = CQ_OP(c->cx, "aten::slice.Tensor", T(x), I(dim), N(half), N(x->sizes[dim]));
    b    = CQ_OP(c->cx, "aten::sigmoid", T(b));
    return return_tensor(c, CQ_OP(c->cx, "aten::mul.Tensor", T(a), T(b)));
}

static cq_status shrink_shape(cq_opcall *c)
{
    if (cq_arg_f64(c, "lambd") < 0)
        return cq_call_fail(c, CQ_E_ARGUMENT, "lambd is %g, which is below 0",
                            cq_arg_f64(c, "lambd"));
    return real_shape(c);
}

/* ---- what is random in training ---- */

/* Slopes between lower and upper for negative numbers; their middle when not training. */
static cq_status rrelu(cq_opcall *c)
{
    double     lower = cq_arg_f64(c, "lower"), upper = cq_arg_f64(c, "upper");
    cq_tensor *x = c->args[0].u.tensor, *slopes, *below;

    if (!cq_arg_bool(c, "training"))
        return return_tensor(c, CQ_OP(c->cx, "aten::leaky_relu", T(x), F((lower + upper) / 2)));
    slopes = CQ_OP(c->cx, "aten::uniform", T(x), F(lower), F(upper));
    slopes = CQ_OP(c->cx, "aten::mul.Tensor", T(x), T(slopes));
    below  = CQ_OP(c->cx, "aten::le.Scalar", T(x), I(0));
    return return_tensor(c, CQ_OP(c->cx, "aten::where.self", T(below), T(slopes), T(x)));
}

static cq_status check_p(const cq_opcall *c, double p)
{
    if (p < 0 || p > 1 || isnan(p))
        return cq_call_fail(c, CQ_E_ARGUMENT, "p is %g, not between 0 and 1", p);
    return CQ_OK;
}

/* 1 with probability keep, else 0: for every element, or (feature dropout) one for each
 * sample and channel, alike along the other dimensions. */
static cq_tensor *mask_of(cq_opcall *c, cq_tensor *x, bool features, double keep)
{
    cq_int sizes[CQ_MAX_RANK];

    for (size_t i = 0; i < x->rank; i++)
        sizes[i] = features && i >= 2 ? cq_i(1) : x->sizes[i];
    x = CQ_OP(c->cx, "aten::new_empty", T(x), cq_ints(c->cx, sizes, x->rank));
    return CQ_OP(c->cx, "aten::bernoulli.p", T(x), F(keep));
}

enum { FEATURES = 1, ALPHA = 2 };

/* Zeroes some and scales the others so that the mean stays. Alpha dropout puts the lowest
 * value of SELU instead of 0, and keeps the variance too. */
static cq_status dropout(cq_opcall *c)
{
    const double lowest = -1.7580993408473766; /* -scale * alpha of SELU */
    double       p      = cq_arg_f64(c, "p"), a;
    cq_tensor   *x      = c->args[0].u.tensor, *mask;
    int          kind   = c->op->def->variant;

    CQ_TRY(check_p(c, p));
    if (p == 0 || !cq_arg_bool(c, "train") || cq_tensor_numel(x) == 0)
        return return_tensor(c, x);
    if (kind & FEATURES && x->rank < 2)
        return cq_call_fail(c, CQ_E_ARGUMENT, "features need 2 dimensions or more, not %u",
                            (unsigned)x->rank);
    if (p == 1)
        return return_tensor(c, CQ_OP(c->cx, "aten::mul.Scalar", T(x), I(0)));
    mask = mask_of(c, x, kind & FEATURES, 1 - p);
    if (!(kind & ALPHA)) {
        mask = CQ_OP(c->cx, "aten::div.Scalar", T(mask), F(1 - p));
        return return_tensor(c, CQ_OP(c->cx, "aten::mul.Tensor", T(x), T(mask)));
    }
    a    = 1 / sqrt((lowest * lowest * p + 1) * (1 - p));
    x    = CQ_OP(c->cx, "aten::mul.Tensor", T(x), T(mask));
    mask = CQ_OP(c->cx, "aten::rsub.Scalar", T(mask), I(1));
    x    = CQ_OP(c->cx, "aten::add.Tensor", T(x), T(mask), F(lowest));
    x    = CQ_OP(c->cx, "aten::mul.Scalar", T(x), F(a));
    return return_tensor(c, CQ_OP(c->cx, "aten::add.Scalar", T(x), F(-lowest * p * a)));
}

#define ROW  CQ_EW_ROW
#define ROW1 CQ_EW_ROW1
#define DROPOUT(name, kind, text)                                                                  \
    {                                                                                              \
        .schema = "aten::" name "(Tensor input, float p, bool train) -> Tensor", .about = text,    \
        .compose = dropout, .variant = kind, .flags = CQ_OP_RANDOM                                 \
    }

const cq_op_def cq_ops_activation[] = {
    ROW1("relu", RELU, SAME, "max(x, 0)"),
    { .schema = "aten::relu6(Tensor self) -> Tensor",
      .about  = "min(max(x, 0), 6)",
      .body   = "hardtanh(self, 0, 6)",
      .flags  = CQ_OP_PARTS },
    ROW("aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor", LEAKY_RELU,
        real_shape, "x, times a slope below 0"),
    { .schema = "aten::prelu(Tensor self, Tensor weight) -> Tensor",
      .about  = "x, times a learned slope below 0",
      .shape  = prelu_shape,
      .run    = prelu_run },
    ROW("aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
        ELU, real_shape, "x, bent to -alpha below 0"),
    /* The constants of Klambauer et al., 2017, with the digits that PyTorch uses. */
    { .schema = "aten::selu(Tensor self) -> Tensor",
      .about  = "elu with the constants that keep mean and variance",
      .body   = "elu(self, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946)" },
    { .schema = "aten::celu(Tensor self, Scalar alpha=1.) -> Tensor",
      .about  = "elu with a smooth bend for every alpha",
      .body   = "assert alpha != 0, 'alpha must not be 0'\n"
                "return elu(self, float(alpha), 1., 1 / alpha)" },
    { .schema = "aten::gelu(Tensor self, *, str approximate=\"none\") -> Tensor",
      .about  = "x times the normal distribution function",
      .shape  = gelu_shape,
      .run    = gelu_run },
    ROW1("silu", SILU, real_shape, "x * sigmoid(x)"),
    ROW1("mish", MISH, real_shape, "x * tanh(softplus(x))"),
    ROW("aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor", CLAMP, SAME,
        "no less than min_val, no more than max_val"),
    ROW1("hardswish", HARDSWISH, real_shape, "x * relu6(x + 3) / 6"),
    ROW1("hardsigmoid", HARDSIGMOID, real_shape, "relu6(x + 3) / 6"),
    ROW("aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor", SOFTPLUS,
        real_shape, "log(1 + exp(beta * x)) / beta"),
    ROW("aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor", THRESHOLD, SAME,
        "value where x does not pass the threshold"),
    { .schema  = "aten::glu(Tensor self, int dim=-1) -> Tensor",
      .about   = "one half times the sigmoid of the other",
      .compose = glu },
    ROW1("log_sigmoid", LOG_SIGMOID, real_shape, "log(sigmoid(x))"),
    ROW("aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", SOFTSHRINK, shrink_shape,
        "x, nearer to 0 by lambd"),
    ROW("aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor", HARDSHRINK, real_shape,
        "0 within lambd of it"),
    { .schema =
          "aten::rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool "
          "training=False, Generator? generator=None) -> Tensor",
      .about   = "x, times a random slope below 0",
      .compose = rrelu,
      .flags   = CQ_OP_RANDOM },
    DROPOUT("dropout", 0, "some elements set to 0 in training"),
    DROPOUT("feature_dropout", FEATURES, "some channels set to 0 in training"),
    DROPOUT("alpha_dropout", ALPHA, "dropout for SELU"),
    DROPOUT("feature_alpha_dropout", FEATURES | ALPHA, "channel dropout for SELU"),
    { 0 }
};
