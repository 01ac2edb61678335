/* Functions under the names of torch.special, a few that only it has, and those that do nothing to
 * real numbers. */
#include "aten/ctx.h"

#include <math.h>

#define PI 3.14159265358979323846

static cq_status done(cq_opcall *c, cq_tensor *t)
{
    cq_result_set_tensor(c, 0, t);
    return c->cx->status;
}

static cq_tensor *in_float(cq_ctx *cx, cq_tensor *x)
{
    return cq_dtype_is_float(x->dtype) ? x : CQ_OP(cx, "aten::to.dtype", T(x), DTYPE(CQ_DTYPE_F32));
}

static cq_tensor *number_like(cq_ctx *cx, const cq_tensor *x, double number)
{
    return x ? CQ_OP(cx, "aten::scalar_tensor", F(number), DTYPE(x->dtype)) : NULL;
}

static cq_tensor *where(cq_ctx *cx, cq_tensor *condition, cq_tensor *a, cq_tensor *b)
{
    return CQ_OP(cx, "aten::where.self", T(condition), T(a), T(b));
}

/* sin(pi x) / (pi x) */
static cq_status sinc(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *x  = in_float(cx, c->args[0].u.tensor), *t, *zero;

    t    = CQ_OP(cx, "aten::mul.Scalar", T(x), F(PI));
    zero = CQ_OP(cx, "aten::eq.Scalar", T(x), I(0));
    t    = CQ_OP(cx, "aten::div.Tensor", T(CQ_OP(cx, "aten::sin", T(t))), T(t));
    return done(c, where(cx, zero, number_like(cx, x, 1), t));
}

/* -x log(x): 0 at 0, -inf below. */
static cq_status entr(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *x  = in_float(cx, c->args[0].u.tensor), *t;

    t = CQ_OP(cx, "aten::neg", T(CQ_OP(cx, "aten::xlogy.Tensor", T(x), T(x))));
    return done(
        c, where(cx, CQ_OP(cx, "aten::lt.Scalar", T(x), I(0)), number_like(cx, x, -INFINITY), t));
}

/* The share of a normal distribution that is below x. */
static cq_status ndtr(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *t =
        CQ_OP(cx, "aten::mul.Scalar", T(in_float(cx, c->args[0].u.tensor)), F(-sqrt(0.5)));

    return done(c, CQ_OP(cx, "aten::mul.Scalar", T(CQ_OP(cx, "aten::erfc", T(t))), F(0.5)));
}

/* x log(1 + y), 0 where x is. */
static cq_status xlog1py(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *x = in_float(cx, c->args[0].u.tensor), *y = in_float(cx, c->args[1].u.tensor), *t,
              *zero;

    t    = CQ_OP(cx, "aten::mul.Tensor", T(x), T(CQ_OP(cx, "aten::log1p", T(y))));
    zero = CQ_OP(cx, "aten::logical_and", T(CQ_OP(cx, "aten::eq.Scalar", T(x), I(0))),
                 T(CQ_OP(cx, "aten::logical_not", T(CQ_OP(cx, "aten::isnan", T(y))))));
    return done(c, where(cx, zero, number_like(cx, t, 0), t));
}

/* x times two to the power of y. */
static cq_status ldexp_of(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *y  = in_float(cx, c->args[1].u.tensor);

    return done(
        c, CQ_OP(cx, "aten::mul.Tensor", c->args[0], T(CQ_OP(cx, "aten::pow.Scalar", F(2), T(y)))));
}

/* The logarithm of the gamma function of p dimensions: a sum of p ordinary ones. */
static cq_status mvlgamma(cq_opcall *c)
{
    enum { MAX_DIMENSIONS = 64 };
    cq_ctx    *cx = c->cx;
    cq_tensor *x = in_float(cx, c->args[0].u.tensor), *sum = NULL;
    int64_t    p = cq_arg_i64(c, "p");

    if (p < 1 || p > MAX_DIMENSIONS)
        return cq_call_fail(c, CQ_E_ARGUMENT, "p should be 1 to %d, not %lld", MAX_DIMENSIONS,
                            (long long)p);
    for (int64_t i = 0; i < p; i++) {
        cq_tensor *t =
            CQ_OP(cx, "aten::lgamma", T(CQ_OP(cx, "aten::add.Scalar", T(x), F(-0.5 * (double)i))));

        sum = sum ? CQ_OP(cx, "aten::add.Tensor", T(sum), T(t)) : t;
    }
    return done(c, CQ_OP(cx, "aten::add.Scalar", T(sum), F((double)(p * (p - 1)) / 4 * log(PI))));
}

/* pi for negative numbers, 0 for others. */
static cq_status angle(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *x  = c->args[0].u.tensor, *t;

    x = in_float(cx, x);
    t = where(cx, CQ_OP(cx, "aten::lt.Scalar", T(x), I(0)), number_like(cx, x, PI),
              number_like(cx, x, 0));
    return done(c, where(cx, CQ_OP(cx, "aten::isnan", T(x)), x, t));
}

/* What real numbers are already. */
static cq_status itself(cq_opcall *c)
{
    if (cq_dtype_is_complex(c->args[0].u.tensor->dtype))
        return cq_fail(CQ_E_UNSUPPORTED, c->op->schema->full, NULL,
                       "complex numbers are not known here");
    return done(c, c->args[0].u.tensor);
}

static cq_status isreal(cq_opcall *c)
{
    return done(c, CQ_OP(c->cx, "aten::ones_like", c->args[0], DTYPE(CQ_DTYPE_BOOL)));
}

#define ROW(text_of_schema, text, function)                                                        \
    {                                                                                              \
        .schema = "aten::" text_of_schema " -> Tensor", .about = text, .compose = function         \
    }
#define ITSELF(name)                                                                               \
    {                                                                                              \
        .schema = "aten::" name "(Tensor(a) self) -> Tensor(a)",                                   \
        .about = "itself, for real numbers", .compose = itself, .flags = CQ_OP_PARTS               \
    }
#define ALIAS(name, other)                                                                         \
    CQ_SAME_AS("aten::special_" name "(Tensor self) -> Tensor", "aten::" other)

const cq_op_def cq_ops_special[] = {
    ROW("sinc(Tensor self)", "sin(pi x) / (pi x)", sinc),
    ROW("special_sinc(Tensor self)", "sin(pi x) / (pi x)", sinc),
    ROW("special_entr(Tensor self)", "-x log(x)", entr),
    ROW("special_ndtr(Tensor self)", "the share of a normal distribution below x", ndtr),
    ROW("special_xlog1py(Tensor self, Tensor other)", "x log(1 + y)", xlog1py),
    ROW("ldexp.Tensor(Tensor self, Tensor other)", "x times two to the power of y", ldexp_of),
    ROW("mvlgamma(Tensor self, int p)", "logarithm of the gamma function of p dimensions",
        mvlgamma),
    ROW("special_multigammaln(Tensor self, int p)",
        "logarithm of the gamma function of p dimensions", mvlgamma),
    ROW("angle(Tensor self)", "pi for negative numbers, 0 for others", angle),
    ROW("isreal(Tensor self)", "true, for real numbers", isreal),
    { .schema  = "aten::conj_physical(Tensor self) -> Tensor",
      .about   = "itself, for real numbers",
      .compose = itself,
      .flags   = CQ_OP_PARTS },
    ITSELF("conj"),
    ITSELF("_conj"),
    ITSELF("real"),
    ALIAS("erf", "erf"),
    ALIAS("erfc", "erfc"),
    ALIAS("erfinv", "erfinv"),
    ALIAS("exp2", "exp2"),
    ALIAS("expm1", "expm1"),
    ALIAS("log1p", "log1p"),
    ALIAS("gammaln", "lgamma"),
    ALIAS("digamma", "digamma"),
    ALIAS("psi", "digamma"),
    CQ_SAME_AS("aten::special_logit(Tensor self, float? eps=None) -> Tensor", "aten::logit"),
    CQ_SAME_AS("aten::special_round(Tensor self, *, int decimals=0) -> Tensor",
               "aten::round.decimals"),
    CQ_SAME_AS("aten::special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
               "aten::logsumexp"),
    CQ_SAME_AS("aten::special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
               "aten::softmax.int"),
    CQ_SAME_AS(
        "aten::special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
        "aten::log_softmax.int"),
    CQ_SAME_AS("aten::special_xlogy(Tensor self, Tensor other) -> Tensor", "aten::xlogy.Tensor"),
    { 0 }
};
