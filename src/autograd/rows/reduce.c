/* Reductions. Their gradients have fewer dimensions than the argument, so the first thing is to
 * get those back. */
#include "autograd/gradient.h"

#include <math.h>

/* Whether the call reduces all of its argument. */
static bool reduces_all(const cq_grad *g)
{
    const cq_schema *s = g->call.op->schema;
    cq_val           v;

    if (cq_schema_find(s, "dim") < 0)
        return true;
    v = cq_arg_val(&g->call, "dim");
    return v.kind == CQ_VAL_NONE || (v.kind == CQ_VAL_LIST && v.u.list->n == 0);
}

/* The dimensions that are reduced, as a mask. */
static uint64_t reduced(const cq_grad *g)
{
    size_t rank = cq_grad_arg(g, "self")->rank;

    if (reduces_all(g))
        return ~(uint64_t)0;
    if (cq_arg_val(&g->call, "dim").kind == CQ_VAL_LIST)
        return cq_arg_dims(&g->call, "dim", rank);
    return (uint64_t)1 << cq_arg_dim(&g->call, "dim", rank);
}

/* t, which has the sizes of a result, with size 1 where self was reduced. */
static cq_tensor *kept(cq_grad *g, cq_tensor *t)
{
    const cq_tensor *self = cq_grad_arg(g, "self");
    uint64_t         mask = reduced(g);
    int64_t          sizes[CQ_MAX_RANK];

    for (size_t i = 0; i < self->rank; i++)
        sizes[i] = mask >> i & 1 ? 1 : self->sizes[i].value;
    return t ? CQ_OP(g->cx, "aten::reshape", T(t), cq_i64s(g->cx, sizes, self->rank)) : NULL;
}

static cq_tensor *kept_grad(cq_grad *g, size_t index)
{
    return kept(g, cq_grad_of(g, index));
}

/* How many elements go into one. */
static double count(const cq_grad *g)
{
    const cq_tensor *self = cq_grad_arg(g, "self");
    uint64_t         mask = reduced(g);
    double           n    = 1;

    for (size_t i = 0; i < self->rank; i++)
        n *= mask >> i & 1 ? (double)self->sizes[i].value : 1;
    return n;
}

static cq_tensor *spread(cq_grad *g, cq_tensor *t)
{
    return CQ_OP(g->cx, "aten::expand", T(t), cq_sizes_of(g->cx, cq_grad_arg(g, "self")));
}

static cq_status sum(cq_grad *g)
{
    return cq_grad_set(g, "self", spread(g, kept_grad(g, 0)));
}

static cq_status nansum(cq_grad *g)
{
    cq_ctx    *cx = g->cx;
    cq_tensor *is = CQ_OP(cx, "aten::isnan", T(cq_grad_arg(g, "self")));

    is = CQ_OP(cx, "aten::logical_not", T(is));
    return cq_grad_set(g, "self", CQ_OP(cx, "aten::mul.Tensor", T(kept_grad(g, 0)), T(is)));
}

static cq_status mean(cq_grad *g)
{
    cq_tensor *t = CQ_OP(g->cx, "aten::div.Scalar", T(kept_grad(g, 0)), F(count(g)));

    return cq_grad_set(g, "self", spread(g, t));
}

/* ---- products ---- */

/* Along dim: the product of all elements before each one. */
static cq_tensor *before(cq_ctx *cx, cq_tensor *t, int64_t dim)
{
    cq_tensor *first = CQ_OP(cx, "aten::slice.Tensor", T(t), I(dim), I(0), I(1));
    cq_tensor *rest  = CQ_OP(cx, "aten::slice.Tensor", T(t), I(dim), I(0), I(-1));
    cq_tensor *both[2];

    both[0] = CQ_OP(cx, "aten::ones_like", T(first));
    both[1] = rest;
    t       = CQ_OP(cx, "aten::cat", cq_tensors(cx, both, 2), I(dim));
    return CQ_OP(cx, "aten::cumprod", T(t), I(dim));
}

/* Division by an element would not do where it is zero: what counts is the product of the others.
 */
static cq_status prod(cq_grad *g)
{
    cq_ctx    *cx   = g->cx;
    cq_tensor *self = cq_grad_arg(g, "self"), *x = self, *others, *after;
    bool       all = reduces_all(g);
    int64_t    dim = all ? 0 : cq_arg_dim(&g->call, "dim", self->rank);
    cq_val     dims;

    if (cq_tensor_numel(self) == 0)
        return cq_grad_zeros(g);
    if (all || self->rank == 0)
        x = CQ_OP(cx, "aten::reshape", T(self), cq_i64s(cx, &(int64_t){ -1 }, 1));
    dims   = cq_i64s(cx, &dim, 1);
    after  = CQ_OP(cx, "aten::flip", T(x), dims);
    after  = CQ_OP(cx, "aten::flip", T(before(cx, after, dim)), dims);
    others = CQ_OP(cx, "aten::mul.Tensor", T(before(cx, x, dim)), T(after));
    others = CQ_OP(cx, "aten::reshape", T(others), cq_sizes_of(cx, self));
    return cq_grad_set(g, "self", CQ_OP(cx, "aten::mul.Tensor", T(kept_grad(g, 0)), T(others)));
}

/* ---- variance ---- */

static double correction(const cq_grad *g)
{
    const cq_schema *s = g->call.op->schema;

    if (cq_schema_find(s, "correction") >= 0)
        return cq_arg_is_none(&g->call, "correction") ? 1 : cq_arg_f64(&g->call, "correction");
    return cq_arg_bool(&g->call, "unbiased");
}

enum { OF_STD = 1, WITH_MEAN = 2 };

/* d var = 2 (x - mean) / (n - correction); d std = d var / (2 std). */
static cq_status variance(cq_grad *g)
{
    cq_ctx    *cx   = g->cx;
    cq_tensor *self = cq_grad_arg(g, "self"), *t = kept_grad(g, 0), *off, *std, *zero, *mean_;
    double     n = count(g), rest = n - correction(g);

    if (g->row->variant & OF_STD) {
        std  = kept(g, cq_grad_result(g, 0));
        zero = CQ_OP(cx, "aten::eq.Scalar", T(std), I(0));
        t    = CQ_OP(cx, "aten::div.Tensor", T(t), T(CQ_OP(cx, "aten::mul.Scalar", T(std), I(2))));
        t    = CQ_OP(cx, "aten::masked_fill.Scalar", T(t), T(zero), I(0));
    }
    CQ_TRY(cx->status);
    mean_ = reduces_all(g)
                ? CQ_OP(cx, "aten::mean", T(self))
                : CQ_OP(cx, "aten::mean.dim", T(self), cq_arg_val(&g->call, "dim"), B(true));
    if (rest <= 0) { /* there is no variance: PyTorch says so in this way */
        off  = CQ_OP(cx, "aten::eq.Tensor", T(self), T(mean_));
        off  = CQ_OP(cx, "aten::where.Scalar", T(off), F(INFINITY), F(NAN));
        rest = 2;
    } else {
        off = CQ_OP(cx, "aten::sub.Tensor", T(self), T(mean_));
    }
    t = CQ_OP(cx, "aten::mul.Tensor", T(CQ_OP(cx, "aten::mul.Scalar", T(t), F(2 / rest))), T(off));
    if (g->row->variant & WITH_MEAN) {
        cq_tensor *m = CQ_OP(cx, "aten::div.Scalar", T(kept_grad(g, 1)), F(n));

        t = CQ_OP(cx, "aten::add.Tensor", T(t), T(m));
    }
    return cq_grad_set(g, "self", t);
}

/* ---- extremes ---- */

enum { NAN_COUNTS = 1 };

/* Everything that is as large shares the gradient. */
static cq_tensor *shared(cq_grad *g, size_t result)
{
    cq_ctx    *cx   = g->cx;
    cq_tensor *self = cq_grad_arg(g, "self"), *best = kept(g, cq_grad_result(g, result)), *same, *n;
    cq_val     dim = reduces_all(g) ? CQ_NONE : cq_arg_val(&g->call, "dim");

    same = CQ_OP(cx, "aten::eq.Tensor", T(self), T(best));
    if (g->row->variant == NAN_COUNTS) {
        n    = CQ_OP(cx, "aten::logical_and", T(CQ_OP(cx, "aten::isnan", T(self))),
                     T(CQ_OP(cx, "aten::isnan", T(best))));
        same = CQ_OP(cx, "aten::logical_or", T(same), T(n));
    }
    n = CQ_OP(cx, "aten::sum.dim_IntList", T(same), dim, B(true));
    n = CQ_OP(cx, "aten::div.Tensor", T(kept_grad(g, result)), T(n));
    return g->row->variant == NAN_COUNTS ? CQ_OP(cx, "aten::where.ScalarOther", T(same), T(n), I(0))
                                         : CQ_OP(cx, "aten::mul.Tensor", T(n), T(same));
}

static cq_status extreme(cq_grad *g)
{
    return cq_grad_set(g, "self", shared(g, 0));
}

static cq_status extremes(cq_grad *g)
{
    CQ_TRY(cq_grad_set(g, "self", shared(g, 0)));
    return cq_grad_set(g, "self", shared(g, 1));
}

/* The gradient goes where the second result says the first one came from. */
static cq_status selected(cq_grad *g)
{
    cq_ctx    *cx   = g->cx;
    cq_tensor *self = cq_grad_arg(g, "self"), *zeros = CQ_OP(cx, "aten::zeros_like", T(self));
    cq_tensor *at  = kept(g, cq_grad_result(g, 1));
    cq_val     dim = I(cq_arg_dim(&g->call, "dim", self->rank));

    return cq_grad_set(g, "self",
                       CQ_OP(cx, "aten::scatter_add", T(zeros), dim, T(at), T(kept_grad(g, 0))));
}

static cq_status logsumexp(cq_grad *g)
{
    cq_ctx    *cx = g->cx;
    cq_tensor *t =
        CQ_OP(cx, "aten::sub.Tensor", T(cq_grad_arg(g, "self")), T(kept(g, cq_grad_result(g, 0))));

    t = CQ_OP(cx, "aten::exp", T(t));
    return cq_grad_set(g, "self", CQ_OP(cx, "aten::mul.Tensor", T(kept_grad(g, 0)), T(t)));
}

/* ---- norms ---- */

static double order(const cq_grad *g)
{
    const char *name = cq_schema_find(g->call.op->schema, "p") >= 0 ? "p" : "ord";

    return cq_arg_is_none(&g->call, name) ? 2 : cq_arg_f64(&g->call, name);
}

/* x |x|^(p-2) / norm^(p-1), and nothing where the norm is zero. */
static cq_tensor *slope_of_norm(cq_ctx *cx, cq_tensor *self, cq_tensor *norm, double p)
{
    cq_tensor *x = self, *zero = CQ_OP(cx, "aten::eq.Scalar", T(norm), I(0)), *flat;

    if (p == 2)
        return CQ_OP(cx, "aten::masked_fill.Scalar",
                     T(CQ_OP(cx, "aten::div.Tensor", T(self), T(norm))), T(zero), I(0));
    if (p == 1)
        return CQ_OP(cx, "aten::sign", T(self));
    x    = CQ_OP(cx, "aten::pow.Tensor_Scalar", T(CQ_OP(cx, "aten::abs", T(self))), F(p - 1));
    x    = CQ_OP(cx, "aten::mul.Tensor", T(x), T(CQ_OP(cx, "aten::sign", T(self))));
    flat = CQ_OP(cx, "aten::eq.Scalar", T(self), I(0));
    x    = CQ_OP(cx, "aten::masked_fill.Scalar", T(x), T(flat), I(0));
    norm = CQ_OP(cx, "aten::pow.Tensor_Scalar", T(norm), F(p - 1));
    x    = CQ_OP(cx, "aten::div.Tensor", T(x), T(norm));
    return CQ_OP(cx, "aten::masked_fill.Scalar", T(x), T(zero), I(0));
}

static cq_status norm(cq_grad *g)
{
    cq_ctx    *cx   = g->cx;
    cq_tensor *self = cq_grad_arg(g, "self"), *n = kept(g, cq_grad_result(g, 0)), *t, *same, *many;
    double     p   = order(g);
    cq_val     dim = reduces_all(g) ? CQ_NONE : cq_arg_val(&g->call, "dim");

    if (p == 0)
        return cq_grad_zeros(g);
    if (!isinf(p)) {
        t = slope_of_norm(cx, self, n, p);
        return cq_grad_set(g, "self", CQ_OP(cx, "aten::mul.Tensor", T(kept_grad(g, 0)), T(t)));
    }
    same = CQ_OP(cx, "aten::eq.Tensor", T(CQ_OP(cx, "aten::abs", T(self))), T(n));
    many = CQ_OP(cx, "aten::sum.dim_IntList", T(same), dim, B(true));
    t    = CQ_OP(cx, "aten::div.Tensor", T(kept_grad(g, 0)), T(many));
    t    = CQ_OP(cx, "aten::mul.Tensor", T(t), T(same));
    return cq_grad_set(g, "self",
                       CQ_OP(cx, "aten::mul.Tensor", T(t), T(CQ_OP(cx, "aten::sign", T(self)))));
}

const cq_gradient cq_gradients_reduce[] = {
    { "aten::sum.dim_IntList", .fn = sum },
    { "aten::sum", .fn = sum },
    { "aten::nansum", .fn = nansum },
    { "aten::mean", .fn = mean },
    { "aten::mean.dim", .fn = mean },
    { "aten::prod", .fn = prod },
    { "aten::prod.dim_int", .fn = prod },
    { "aten::var", .fn = variance },
    { "aten::var.dim", .fn = variance },
    { "aten::var.correction", .fn = variance },
    { "aten::std", .fn = variance, .variant = OF_STD },
    { "aten::std.dim", .fn = variance, .variant = OF_STD },
    { "aten::std.correction", .fn = variance, .variant = OF_STD },
    { "aten::var_mean", .fn = variance, .variant = WITH_MEAN },
    { "aten::var_mean.dim", .fn = variance, .variant = WITH_MEAN },
    { "aten::var_mean.correction", .fn = variance, .variant = WITH_MEAN },
    { "aten::std_mean", .fn = variance, .variant = OF_STD | WITH_MEAN },
    { "aten::std_mean.dim", .fn = variance, .variant = OF_STD | WITH_MEAN },
    { "aten::std_mean.correction", .fn = variance, .variant = OF_STD | WITH_MEAN },
    { "aten::max", .fn = extreme, .variant = NAN_COUNTS },
    { "aten::max.dim", .fn = selected },
    { "aten::min", .fn = extreme, .variant = NAN_COUNTS },
    { "aten::min.dim", .fn = selected },
    { "aten::amax", .fn = extreme },
    { "aten::amin", .fn = extreme },
    { "aten::aminmax", .fn = extremes },
    { "aten::median", .fn = extreme, .variant = NAN_COUNTS },
    { "aten::median.dim", .fn = selected },
    { "aten::nanmedian", .fn = extreme, .variant = NAN_COUNTS },
    { "aten::nanmedian.dim", .fn = selected },
    { "aten::kthvalue", .fn = selected },
    { "aten::mode", .fn = selected },
    { "aten::logsumexp", .fn = logsumexp },
    { "aten::norm.Scalar", .fn = norm },
    { "aten::norm.ScalarOpt_dim", .fn = norm },
    { "aten::norm.ScalarOpt_dim_dtype", .fn = norm },
    { "aten::norm.ScalarOpt_dtype", .fn = norm },
    { "aten::linalg_vector_norm", .fn = norm },
    { 0 },
};
