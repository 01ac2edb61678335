/* Losses: how far a prediction is from its target, composed of other operators. */
#include "aten/ctx.h"

#include <math.h>

#define TWO_PI 6.283185307179586

enum { REDUCE_NONE = 0, REDUCE_MEAN = 1, REDUCE_SUM = 2 };

/* Operators by what they mean here; all take and give tensors of the context. */

static cq_tensor *op1(cq_ctx *cx, const char *name, cq_tensor *a)
{
    return CQ_OP(cx, name, T(a));
}

static cq_tensor *op2(cq_ctx *cx, const char *name, cq_tensor *a, cq_tensor *b)
{
    return CQ_OP(cx, name, T(a), T(b));
}

static cq_tensor *add(cq_ctx *cx, cq_tensor *a, cq_tensor *b)
{
    return op2(cx, "aten::add.Tensor", a, b);
}

static cq_tensor *sub(cq_ctx *cx, cq_tensor *a, cq_tensor *b)
{
    return op2(cx, "aten::sub.Tensor", a, b);
}

static cq_tensor *mul(cq_ctx *cx, cq_tensor *a, cq_tensor *b)
{
    return op2(cx, "aten::mul.Tensor", a, b);
}

static cq_tensor *scale(cq_ctx *cx, cq_tensor *a, double by)
{
    return by == 1 ? a : CQ_OP(cx, "aten::mul.Scalar", T(a), F(by));
}

static cq_tensor *shift(cq_ctx *cx, cq_tensor *a, double by)
{
    return by == 0 ? a : CQ_OP(cx, "aten::add.Scalar", T(a), F(by));
}

/* 1 - a */
static cq_tensor *rest_of(cq_ctx *cx, cq_tensor *a)
{
    return CQ_OP(cx, "aten::rsub.Scalar", T(a), I(1));
}

static cq_tensor *at_least(cq_ctx *cx, cq_tensor *a, double least)
{
    return CQ_OP(cx, "aten::clamp_min", T(a), F(least));
}

static cq_tensor *where(cq_ctx *cx, cq_tensor *condition, cq_tensor *yes, cq_tensor *no)
{
    return CQ_OP(cx, "aten::where.self", T(condition), T(yes), T(no));
}

static cq_tensor *zero_where(cq_ctx *cx, cq_tensor *a, cq_tensor *mask)
{
    return CQ_OP(cx, "aten::masked_fill.Scalar", T(a), T(mask), I(0));
}

static cq_tensor *weighted(cq_opcall *c, cq_tensor *loss)
{
    cq_tensor *w = cq_arg_tensor(c, "weight");

    return w ? mul(c->cx, loss, w) : loss;
}

/* The end of every loss: as it is, its mean or its sum. */
static cq_status reduced(cq_opcall *c, cq_tensor *loss)
{
    int64_t how = cq_arg_i64(c, "reduction");

    if (how < REDUCE_NONE || how > REDUCE_SUM)
        return cq_call_fail(c, CQ_E_ARGUMENT, "there is no reduction %lld", (long long)how);
    if (how == REDUCE_MEAN)
        loss = op1(c->cx, "aten::mean", loss);
    else if (how == REDUCE_SUM)
        loss = op1(c->cx, "aten::sum", loss);
    cq_result_set_tensor(c, 0, loss);
    return c->cx->status;
}

/* ---- differences ---- */

static cq_tensor *difference(cq_opcall *c)
{
    return sub(c->cx, c->args[0].u.tensor, c->args[1].u.tensor);
}

static cq_status mse_loss(cq_opcall *c)
{
    cq_tensor *d = difference(c);

    return reduced(c, mul(c->cx, d, d));
}

static cq_status l1_loss(cq_opcall *c)
{
    return reduced(c, op1(c->cx, "aten::abs", difference(c)));
}

/* A parabola up to limit, then a line: 0.5 * d * d / divisor, slope * (|d| - limit / 2). */
static cq_status bent(cq_opcall *c, const char *compare, double limit, double divisor, double slope)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *d = difference(c), *size = op1(cx, "aten::abs", d);
    cq_tensor *near = scale(cx, mul(cx, d, d), 0.5 / divisor);
    cq_tensor *far  = scale(cx, shift(cx, size, -0.5 * limit), slope);

    return reduced(c, where(cx, CQ_OP(cx, compare, T(size), F(limit)), near, far));
}

static cq_status smooth_l1_loss(cq_opcall *c)
{
    double beta = cq_arg_f64(c, "beta");

    if (beta < 0)
        return cq_call_fail(c, CQ_E_ARGUMENT, "beta should not be negative");
    return beta == 0 ? l1_loss(c) : bent(c, "aten::lt.Scalar", beta, beta, 1);
}

static cq_status huber_loss(cq_opcall *c)
{
    double delta = cq_arg_f64(c, "delta");

    if (!(delta > 0))
        return cq_call_fail(c, CQ_E_ARGUMENT, "delta should be positive");
    return bent(c, "aten::le.Scalar", delta, 1, delta);
}

/* ---- probabilities ---- */

/* Logarithms are cut off at -100, so that a sure but wrong prediction costs a finite sum. */
static cq_status binary_cross_entropy(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *x = c->args[0].u.tensor, *target = c->args[1].u.tensor;
    cq_tensor *yes  = at_least(cx, op1(cx, "aten::log", x), -100);
    cq_tensor *no   = at_least(cx, op1(cx, "aten::log", rest_of(cx, x)), -100);
    cq_tensor *loss = add(cx, mul(cx, target, yes), mul(cx, rest_of(cx, target), no));

    return reduced(c, weighted(c, op1(cx, "aten::neg", loss)));
}

/* (1 - t) * x + (1 + (pos_weight - 1) * t) * log(1 + e^-x), the logarithm taken so that no
 * exponential overflows. */
static cq_status bce_with_logits(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *x = c->args[0].u.tensor, *target = c->args[1].u.tensor;
    cq_tensor *pos_weight = cq_arg_tensor(c, "pos_weight"), *log_part;

    log_part = op1(cx, "aten::neg", op1(cx, "aten::log_sigmoid", x));
    if (pos_weight)
        log_part = mul(cx, log_part, shift(cx, mul(cx, shift(cx, pos_weight, -1), target), 1));
    return reduced(c, weighted(c, add(cx, mul(cx, rest_of(cx, target), x), log_part)));
}

static cq_status kl_div(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *x = c->args[0].u.tensor, *target = c->args[1].u.tensor;

    if (cq_arg_bool(c, "log_target"))
        return reduced(c, mul(cx, op1(cx, "aten::exp", target), sub(cx, target, x)));
    return reduced(c, sub(cx, op2(cx, "aten::xlogy.Tensor", target, target), mul(cx, target, x)));
}

static cq_status poisson_nll_loss(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *x = c->args[0].u.tensor, *target = c->args[1].u.tensor, *loss, *full;

    if (cq_arg_bool(c, "log_input"))
        loss = sub(cx, op1(cx, "aten::exp", x), mul(cx, target, x));
    else
        loss =
            sub(cx, x, mul(cx, target, op1(cx, "aten::log", shift(cx, x, cq_arg_f64(c, "eps")))));
    if (cq_arg_bool(c, "full")) { /* Stirling's approximation of log(target!) */
        full = sub(cx, mul(cx, target, op1(cx, "aten::log", target)), target);
        full = add(cx, full, scale(cx, op1(cx, "aten::log", scale(cx, target, TWO_PI)), 0.5));
        full = zero_where(cx, full, CQ_OP(cx, "aten::le.Scalar", T(target), I(1)));
        loss = add(cx, loss, full);
    }
    return reduced(c, loss);
}

/* ---- classes ---- */

static int64_t class_dim(const cq_tensor *x)
{
    return x->rank == 1 ? 0 : 1;
}

/* The weight of each target's class, 1 without weights, 0 where the target is ignored. */
static cq_tensor *class_weights(cq_ctx *cx, cq_tensor *weight, cq_tensor *target,
                                cq_tensor *ignored, cq_dtype dtype)
{
    cq_tensor *w;

    if (!weight) {
        w = CQ_OP(cx, "aten::logical_not", T(ignored));
        return CQ_OP(cx, "aten::to.dtype", T(w), DTYPE(dtype));
    }
    w = CQ_OP(cx, "aten::index_select", T(weight), I(0),
              T(CQ_OP(cx, "aten::reshape", T(target), I(-1))));
    if (!w || !target)
        return NULL;
    w = CQ_OP(cx, "aten::reshape", T(w), cq_ints(cx, target->sizes, target->rank));
    return zero_where(cx, w, ignored);
}

/* Minus the log-probability of the target class, weighted. The mean is by weight. */
static cq_status nll_loss(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *x = c->args[0].u.tensor, *target = c->args[1].u.tensor;
    cq_tensor *ignored, *safe, *loss, *w;
    cq_val     dim = I(class_dim(x));

    if (!x->rank || target->rank + 1 != x->rank)
        return cq_call_fail(c, CQ_E_TYPE, "a target of %u dimensions does not fit an input of %u",
                            target->rank, x->rank);
    ignored = CQ_OP(cx, "aten::eq.Scalar", T(target), cq_arg_val(c, "ignore_index"));
    safe    = zero_where(cx, target, ignored);
    loss    = CQ_OP(cx, "aten::gather", T(x), dim, T(CQ_OP(cx, "aten::unsqueeze", T(safe), dim)));
    loss    = CQ_OP(cx, "aten::squeeze.dim", T(loss), dim);
    loss    = zero_where(cx, op1(cx, "aten::neg", loss), ignored);
    w       = class_weights(cx, cq_arg_tensor(c, "weight"), safe, ignored, x->dtype);
    loss    = mul(cx, loss, w);
    if (cq_arg_i64(c, "reduction") != REDUCE_MEAN)
        return reduced(c, loss);
    loss = op2(cx, "aten::div.Tensor", op1(cx, "aten::sum", loss), op1(cx, "aten::sum", w));
    cq_result_set_tensor(c, 0, loss);
    return cx->status;
}

/* part / classes in the dtype of t, where the number of classes may be a symbol. */
static cq_tensor *share(cq_ctx *cx, double part, cq_int classes, const cq_tensor *t)
{
    cq_tensor *n = CQ_OP(cx, "aten::scalar_tensor", N(classes), DTYPE(t->dtype));

    return scale(cx, op1(cx, "aten::reciprocal", n), part);
}

/* Minus the sum over all classes, each by its weight. */
static cq_tensor *sum_classes(cq_opcall *c, cq_tensor *t, int64_t dim)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *w  = cq_arg_tensor(c, "weight");
    cq_int     sizes[CQ_MAX_RANK];

    if (w && t) {
        for (size_t i = 0; i < t->rank; i++)
            sizes[i] = (int64_t)i == dim ? t->sizes[i] : cq_i(1);
        t = mul(cx, t, CQ_OP(cx, "aten::reshape", T(w), cq_ints(cx, sizes, t->rank)));
    }
    return op1(cx, "aten::neg", CQ_OP(cx, "aten::sum.dim_IntList", T(t), I(dim)));
}

/* Targets that are probabilities of every class. */
static cq_status cross_entropy_of_probabilities(cq_opcall *c, cq_tensor *log_p)
{
    cq_ctx    *cx        = c->cx;
    cq_tensor *target    = c->args[1].u.tensor;
    double     smoothing = cq_arg_f64(c, "label_smoothing");
    int64_t    dim       = class_dim(log_p);

    if (smoothing > 0)
        target = add(cx, scale(cx, target, 1 - smoothing),
                     share(cx, smoothing, log_p->sizes[dim], log_p));
    return reduced(c, sum_classes(c, mul(cx, log_p, target), dim));
}

/* A part of the loss is spread over all classes. */
static cq_status add_smoothing(cq_opcall *c, cq_tensor *log_p, cq_tensor *nll)
{
    cq_ctx    *cx        = c->cx;
    cq_tensor *target    = c->args[1].u.tensor, *even, *ignored, *n;
    double     smoothing = cq_arg_f64(c, "label_smoothing");
    int64_t    dim = class_dim(log_p), how = cq_arg_i64(c, "reduction");
    ignored = CQ_OP(cx, "aten::eq.Scalar", T(target), cq_arg_val(c, "ignore_index"));
    even    = zero_where(cx, sum_classes(c, log_p, dim), ignored);
    if (how != REDUCE_NONE)
        even = op1(cx, "aten::sum", even);
    if (how == REDUCE_MEAN) {
        n = class_weights(cx, cq_arg_tensor(c, "weight"), zero_where(cx, target, ignored), ignored,
                          log_p->dtype);
        even = op2(cx, "aten::div.Tensor", even, op1(cx, "aten::sum", n));
    }
    even = mul(cx, even, share(cx, smoothing, log_p->sizes[dim], log_p));
    nll  = add(cx, scale(cx, nll, 1 - smoothing), even);
    cq_result_set_tensor(c, 0, nll);
    return cx->status;
}

static cq_status cross_entropy_loss(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *x = c->args[0].u.tensor, *target = c->args[1].u.tensor, *log_p, *nll;

    if (!x->rank)
        return cq_call_fail(c, CQ_E_TYPE, "the input needs at least one dimension");
    log_p = CQ_OP(cx, "aten::log_softmax.int", T(x), I(class_dim(x)));
    CQ_TRY(cx->status);
    if (target->rank == x->rank && cq_dtype_is_float(target->dtype))
        return cross_entropy_of_probabilities(c, log_p);
    nll = CQ_OP(cx, "aten::nll_loss_nd", T(log_p), T(target), cq_arg_val(c, "weight"),
                cq_arg_val(c, "reduction"), cq_arg_val(c, "ignore_index"));
    if (cq_arg_f64(c, "label_smoothing") > 0)
        return add_smoothing(c, log_p, nll);
    cq_result_set_tensor(c, 0, nll);
    return cx->status;
}

/* ---- margins ---- */

static cq_status soft_margin_loss(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *d  = mul(cx, c->args[0].u.tensor, c->args[1].u.tensor);

    return reduced(c, op1(cx, "aten::neg", op1(cx, "aten::log_sigmoid", d)));
}

static cq_status margin_ranking_loss(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *d  = op1(cx, "aten::neg", mul(cx, cq_arg_tensor(c, "target"), difference(c)));

    return reduced(c, at_least(cx, shift(cx, d, cq_arg_f64(c, "margin")), 0));
}

static cq_tensor *target_is_not(cq_opcall *c, int64_t label)
{
    return CQ_OP(c->cx, "aten::ne.Scalar", cq_arg_val(c, "target"), I(label));
}

static cq_status hinge_embedding_loss(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *x  = c->args[0].u.tensor;
    cq_tensor *margin =
        at_least(cx, CQ_OP(cx, "aten::rsub.Scalar", T(x), cq_arg_val(c, "margin")), 0);

    margin = zero_where(cx, margin, CQ_OP(cx, "aten::eq.Scalar", cq_arg_val(c, "target"), I(1)));
    x      = zero_where(cx, x, CQ_OP(cx, "aten::eq.Scalar", cq_arg_val(c, "target"), I(-1)));
    return reduced(c, add(cx, margin, x));
}

static cq_status cosine_embedding_loss(cq_opcall *c)
{
    const double epsilon = 1e-12;
    cq_ctx      *cx      = c->cx;
    cq_tensor   *a = c->args[0].u.tensor, *b = c->args[1].u.tensor, *size_a, *size_b, *cosine, *far;
    cq_val       dim = I(a->rank > b->rank ? (int64_t)a->rank - 1 : (int64_t)b->rank - 1);

    size_a = shift(cx, CQ_OP(cx, "aten::sum.dim_IntList", T(mul(cx, a, a)), dim), epsilon);
    size_b = shift(cx, CQ_OP(cx, "aten::sum.dim_IntList", T(mul(cx, b, b)), dim), epsilon);
    cosine = CQ_OP(cx, "aten::sum.dim_IntList", T(mul(cx, a, b)), dim);
    cosine = op2(cx, "aten::div.Tensor", cosine, op1(cx, "aten::sqrt", mul(cx, size_a, size_b)));
    far    = at_least(cx, shift(cx, cosine, -cq_arg_f64(c, "margin")), 0);
    return reduced(c, add(cx, zero_where(cx, rest_of(cx, cosine), target_is_not(c, 1)),
                          zero_where(cx, far, target_is_not(c, -1))));
}

static cq_tensor *distance(cq_opcall *c, const char *a, const char *b)
{
    return CQ_OP(c->cx, "aten::pairwise_distance", cq_arg_val(c, a), cq_arg_val(c, b),
                 cq_arg_val(c, "p"), cq_arg_val(c, "eps"));
}

static cq_status triplet_margin_loss(cq_opcall *c)
{
    cq_ctx    *cx   = c->cx;
    cq_tensor *near = distance(c, "anchor", "positive"), *far = distance(c, "anchor", "negative");

    if (cq_arg_bool(c, "swap"))
        far = op2(cx, "aten::minimum", far, distance(c, "positive", "negative"));
    near = shift(cx, sub(cx, near, far), cq_arg_f64(c, "margin"));
    return reduced(c, at_least(cx, near, 0));
}

/* Every other class should score less than the target's, by a margin. */
static cq_status multi_margin_loss(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *x = c->args[0].u.tensor, *target = c->args[1].u.tensor,
              *weight = cq_arg_tensor(c, "weight");
    cq_tensor *t, *others;
    double     p   = cq_arg_f64(c, "p");
    bool       row = x->rank < 2;

    if (x->rank > 2 || (p != 1 && p != 2))
        return cq_call_fail(c, CQ_E_ARGUMENT, "wants at most two dimensions, and p of 1 or 2");
    if (row)
        x = CQ_OP(cx, "aten::reshape", T(x), cq_i64s(cx, (int64_t[]){ 1, -1 }, 2));
    target = CQ_OP(cx, "aten::reshape", T(target), cq_i64s(cx, (int64_t[]){ -1, 1 }, 2));
    CQ_TRY(cx->status);
    t = sub(cx, x, CQ_OP(cx, "aten::gather", T(x), I(1), T(target)));
    t = at_least(cx, CQ_OP(cx, "aten::add.Scalar", T(t), cq_arg_val(c, "margin")), 0);
    if (p == 2)
        t = mul(cx, t, t);
    if (weight)
        t = mul(cx, t,
                CQ_OP(cx, "aten::unsqueeze",
                      T(CQ_OP(cx, "aten::index_select", T(weight), I(0),
                              T(CQ_OP(cx, "aten::reshape", T(target), I(-1))))),
                      I(1)));
    others = CQ_OP(cx, "aten::arange", N(x->sizes[1]), DTYPE(CQ_DTYPE_I64));
    t      = zero_where(cx, t, CQ_OP(cx, "aten::eq.Tensor", T(target), T(others)));
    t      = CQ_OP(cx, "aten::div.Scalar", T(CQ_OP(cx, "aten::sum.dim_IntList", T(t), I(1))),
                   N(x->sizes[1]));
    if (row && c->args[1].u.tensor->rank == 0)
        t = CQ_OP(cx, "aten::squeeze.dim", T(t), I(0));
    return reduced(c, t);
}

#define ROW(schema_text, about_text, fn)                                                           \
    {                                                                                              \
        .schema = "aten::" schema_text " -> Tensor", .about = about_text, .compose = fn            \
    }
#define NLL_ARGS                                                                                   \
    "(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, int ignore_index=-100)"

const cq_op_def cq_ops_loss[] = {
    ROW("mse_loss(Tensor self, Tensor target, int reduction=1)", "squared differences", mse_loss),
    ROW("l1_loss(Tensor self, Tensor target, int reduction=1)", "absolute differences", l1_loss),
    ROW("smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.)",
        "differences, squared where they are small", smooth_l1_loss),
    ROW("huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.)",
        "differences, squared where they are small", huber_loss),
    ROW("cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
        "int ignore_index=-100, float label_smoothing=0.)",
        "log_softmax, then nll_loss", cross_entropy_loss),
    ROW("nll_loss_nd" NLL_ARGS, "minus the log-probabilities of target classes", nll_loss),
    ROW("nll_loss" NLL_ARGS, "minus the log-probabilities of target classes", nll_loss),
    ROW("nll_loss2d" NLL_ARGS, "nll_loss on images", nll_loss),
    ROW("binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1)",
        "cross entropy of two classes", binary_cross_entropy),
    ROW("binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, "
        "Tensor? pos_weight=None, int reduction=1)",
        "sigmoid, then binary_cross_entropy", bce_with_logits),
    ROW("kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False)",
        "divergence of two distributions", kl_div),
    ROW("poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, "
        "int reduction)",
        "minus the log-likelihood of counts", poisson_nll_loss),
    ROW("multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? "
        "weight=None, "
        "int reduction=1)",
        "whether a class scores above all others, by a margin", multi_margin_loss),
    ROW("soft_margin_loss(Tensor self, Tensor target, int reduction=1)",
        "logistic loss of labels 1 and -1", soft_margin_loss),
    ROW("margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., "
        "int reduction=1)",
        "whether one input ranks above the other", margin_ranking_loss),
    ROW("hinge_embedding_loss(Tensor self, Tensor target, float margin=1., int reduction=1)",
        "distances of like and unlike pairs", hinge_embedding_loss),
    ROW("cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., "
        "int reduction=1)",
        "cosines of like and unlike pairs", cosine_embedding_loss),
    ROW("triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1., "
        "float p=2., float eps=9.9999999999999995e-07, bool swap=False, int reduction=1)",
        "an anchor should be nearer to the positive than to the negative", triplet_margin_loss),
    { 0 }
};
