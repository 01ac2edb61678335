/* Reductions. ONNX Runtime reduces float32, float64, int32 and int64; others are converted
 * and back. Variances are computed by their definition, with the number of elements read off
 * the shape when it is not fixed. */
#include "export/symbolic/common.h"

#include <math.h>

/* ---- the dimensions ---- */

typedef struct reduction {
    cq_value *x;
    int64_t   axes[CQ_MAX_RANK]; /* all that go, ascending */
    size_t    n;
    bool      keep;
} reduction;

static reduction read_reduction(cq_sym *s)
{
    reduction r    = { .x = cq_sym_in(s, s->op->schema->args[0].name) };
    int       rank = cq_sym_rank(s, r.x);
    int64_t   given[CQ_MAX_RANK];
    size_t    n                 = 0;
    bool      goes[CQ_MAX_RANK] = { false };

    if (cq_sym_has_arg(s, "dim") && !cq_sym_is_none(s, "dim"))
        n = cq_sym_i64s(s, "dim", given, CQ_MAX_RANK);
    for (size_t i = 0; i < n && rank; i++)
        goes[given[i] < 0 ? given[i] + rank : given[i]] = true;
    for (int i = 0; i < rank; i++)
        if (n == 0 || goes[i])
            r.axes[r.n++] = i;
    r.keep = cq_sym_has_arg(s, "keepdim") && cq_sym_bool(s, "keepdim");
    return r;
}

/* A tensor without dimensions is its own sum. All dimensions need no list of them. */
static cq_value *reduce(cq_sym *s, const reduction *r, const char *op, cq_value *x, bool keep)
{
    int rank = cq_sym_rank(s, r->x);

    if (rank == 0 || s->status != CQ_OK)
        return x;
    return cq_sym_reduce(s, op, x, r->axes, r->n == (size_t)rank ? 0 : r->n, keep);
}

/* How many elements become one. */
static cq_int count_of(cq_sym *s, const reduction *r)
{
    cq_int n = cq_i(1);

    for (size_t i = 0; i < r->n; i++)
        n = cq_sym_int_mul(s, n, cq_sym_size(s, r->x, (int)r->axes[i]));
    return n;
}

static cq_value *computable(cq_sym *s, cq_value *x)
{
    return cq_sym_computable(s, x, 7);
}

/* ---- sums ---- */

static cq_status sum_like(cq_sym *s, const char *op)
{
    reduction r = read_reduction(s);

    return cq_sym_done(s, reduce(s, &r, op,
                                 computable(s, cq_sym_cast(s, r.x, cq_sym_result_type(s, 0).dtype)),
                                 r.keep));
}

static cq_status sum(cq_sym *s)
{
    return sum_like(s, "ReduceSum");
}

static cq_status prod(cq_sym *s)
{
    return sum_like(s, "ReduceProd");
}

/* The mean of nothing is no number; ONNX Runtime says 0. */
static cq_status mean(cq_sym *s)
{
    reduction r = read_reduction(s);
    cq_value *x;

    if (!cq_int_is(count_of(s, &r), 0))
        return sum_like(s, "ReduceMean");
    x = cq_sym_widen(s, cq_sym_cast(s, r.x, cq_sym_result_type(s, 0).dtype));
    x = reduce(s, &r, "ReduceSum", x, r.keep);
    return cq_sym_done(s, cq_sym_binary(s, "Div", x, cq_sym_const_f64(s, cq_sym_dtype(s, x), 0)));
}

/* How many elements are true, as int64. */
static cq_value *count_true(cq_sym *s, const reduction *r, cq_value *truth)
{
    return reduce(s, r, "ReduceSum", cq_sym_cast(s, truth, CQ_DTYPE_I64), r->keep);
}

static cq_status count_nonzero(cq_sym *s)
{
    reduction r = read_reduction(s);

    return cq_sym_done(s, count_true(s, &r, cq_sym_cast(s, r.x, CQ_DTYPE_BOOL)));
}

static cq_value *is_zero(cq_sym *s, cq_value *count)
{
    cq_value *v = cq_sym_binary(s, "Equal", count, cq_sym_const_i64(s, 0));

    cq_sym_set_dtype(s, v, CQ_DTYPE_BOOL);
    return v;
}

static cq_status any(cq_sym *s)
{
    reduction r = read_reduction(s);
    cq_value *n = count_true(s, &r, cq_sym_cast(s, r.x, CQ_DTYPE_BOOL));

    return cq_sym_done(s, cq_sym_unary(s, "Not", is_zero(s, n)));
}

static cq_status all(cq_sym *s)
{
    reduction r      = read_reduction(s);
    cq_value *false_ = cq_sym_unary(s, "Not", cq_sym_cast(s, r.x, CQ_DTYPE_BOOL));

    return cq_sym_done(s, is_zero(s, count_true(s, &r, false_)));
}

/* With the greatest element taken out first, so that nothing overflows. It is no infinity
 * then: inf - inf would be no number. */
static cq_status logsumexp(cq_sym *s)
{
    reduction r = read_reduction(s);
    cq_value *x = cq_sym_widen(s, cq_sym_cast(s, r.x, cq_sym_result_type(s, 0).dtype)), *top, *v;

    top = reduce(s, &r, "ReduceMax", x, true);
    top = cq_sym_clip(s, top, cq_sym_const_f64(s, cq_sym_dtype(s, x), -3e38),
                      cq_sym_const_f64(s, cq_sym_dtype(s, x), 3e38));
    v   = cq_sym_unary(s, "Exp", cq_sym_binary(s, "Sub", x, top));
    v   = cq_sym_unary(s, "Log", reduce(s, &r, "ReduceSum", v, true));
    cq_sym_set_dtype(s, v, cq_sym_dtype(s, x));
    v = cq_sym_binary(s, "Add", v, top);
    cq_sym_set_type_of(v, top);
    if (!r.keep && r.n)
        v = cq_sym_squeeze(s, v, r.axes, r.n);
    return cq_sym_done(s, v);
}

/* ---- variances ---- */

static double correction_of(cq_sym *s)
{
    if (cq_sym_has_arg(s, "unbiased"))
        return cq_sym_bool(s, "unbiased") ? 1 : 0;
    return cq_sym_is_none(s, "correction") ? 1 : cq_sym_f64(s, "correction");
}

/* The sum of squares by max(n - correction, 0): 0 by 0 is no number, as in PyTorch. */
static cq_value *divide_by_count(cq_sym *s, const reduction *r, cq_value *sum_of_squares,
                                 double correction)
{
    cq_dtype  d = cq_sym_dtype(s, sum_of_squares);
    cq_int    n = count_of(s, r);
    cq_value *divisor;

    if (!n.expr) {
        divisor = cq_sym_const_f64(s, d, fmax((double)n.value - correction, 0));
    } else {
        divisor = cq_sym_cast(s, cq_sym_of_int(s, n), d);
        divisor = cq_sym_plus(s, divisor, -correction);
        divisor = cq_sym_clip(s, divisor, cq_sym_const_f64(s, d, 0), NULL);
    }
    return cq_sym_binary(s, "Div", sum_of_squares, divisor);
}

/* results: the variance (or its root), and the mean if the operator gives both. */
static cq_status variance(cq_sym *s, bool root)
{
    reduction r          = read_reduction(s);
    double    correction = correction_of(s);
    cq_value *x = cq_sym_widen(s, r.x), *mean_ = reduce(s, &r, "ReduceMean", x, true);
    cq_value *d = cq_sym_binary(s, "Sub", x, mean_), *results[2];

    cq_sym_set_type_of(d, x);
    d = cq_sym_binary(s, "Mul", d, d);
    if (correction == 0 && !cq_int_is(count_of(s, &r), 0)) /* of nothing it is NaN */
        results[0] = reduce(s, &r, "ReduceMean", d, r.keep);
    else
        results[0] = divide_by_count(s, &r, reduce(s, &r, "ReduceSum", d, r.keep), correction);
    if (root)
        results[0] = cq_sym_unary(s, "Sqrt", results[0]);
    results[1] = r.keep || !r.n ? mean_ : cq_sym_squeeze(s, mean_, r.axes, r.n);
    if (cq_int_is(count_of(s, &r), 0))
        results[1] = divide_by_count(s, &r, reduce(s, &r, "ReduceSum", x, r.keep), 0);
    return cq_sym_done_n(s, results, cq_sym_n_results(s));
}

static cq_status var(cq_sym *s)
{
    return variance(s, false);
}

static cq_status std(cq_sym *s)
{
    return variance(s, true);
}

/* ---- extremes ---- */

/* Bytes came to ReduceMax with opset 12; int32 holds all that is smaller. */
static cq_value *comparable(cq_sym *s, cq_value *x)
{
    cq_dtype d = cq_sym_dtype(s, x);

    if (cq_dtype_is_float(d) || d == CQ_DTYPE_I64)
        return cq_sym_widen(s, x);
    return cq_sym_cast(s, x, CQ_DTYPE_I32);
}

static cq_status extreme(cq_sym *s, const char *op)
{
    reduction r = read_reduction(s);

    return cq_sym_done(s, reduce(s, &r, op, comparable(s, r.x), r.keep));
}

static cq_status greatest(cq_sym *s)
{
    return extreme(s, "ReduceMax");
}

static cq_status least(cq_sym *s)
{
    return extreme(s, "ReduceMin");
}

/* A number along its dimension 0, kept, is a row of one. */
static cq_value *kept(cq_sym *s, cq_value *x)
{
    return cq_sym_result_type(s, 0).rank == 1 && cq_sym_rank(s, cq_sym_in(s, "self")) == 0
               ? cq_sym_unsqueeze(s, x, (int64_t[]){ 0 }, 1)
               : x;
}

static cq_status aminmax(cq_sym *s)
{
    reduction r = read_reduction(s);
    cq_value *x = comparable(s, r.x);

    return cq_sym_done_n(s,
                         (cq_value *[]){ kept(s, reduce(s, &r, "ReduceMin", x, r.keep)),
                                         kept(s, reduce(s, &r, "ReduceMax", x, r.keep)) },
                         2);
}

/* Where the extreme is, along one axis; int64. Only floats and int32 are sure to be there. */
static cq_value *place(cq_sym *s, const char *op, cq_value *x, int axis, bool keep)
{
    if (cq_sym_dtype(s, x) == CQ_DTYPE_I64)
        x = cq_sym_cast(s, x, CQ_DTYPE_F64);
    x = cq_sym_op(s, op, CQ_IN(x), CQ_ATTR(cq_attr_i("axis", axis), cq_attr_i("keepdims", keep)));
    cq_sym_set_dtype(s, x, CQ_DTYPE_I64);
    return x;
}

static cq_status with_place(cq_sym *s, const char *op, const char *arg_op)
{
    reduction r = read_reduction(s);
    cq_value *x = comparable(s, r.x), *results[2];

    if (cq_sym_rank(s, r.x) == 0) {
        results[0] = r.x;
        results[1] = cq_sym_const_i64(s, 0);
    } else {
        results[0] = cq_sym_result_used(s, 0) ? reduce(s, &r, op, x, r.keep) : NULL;
        results[1] = cq_sym_result_used(s, 1) ? place(s, arg_op, x, (int)r.axes[0], r.keep) : NULL;
    }
    return cq_sym_done_n(s, results, 2);
}

static cq_status max_dim(cq_sym *s)
{
    return with_place(s, "ReduceMax", "ArgMax");
}

static cq_status min_dim(cq_sym *s)
{
    return with_place(s, "ReduceMin", "ArgMin");
}

static cq_status arg(cq_sym *s, const char *op)
{
    reduction r    = read_reduction(s);
    int       rank = cq_sym_rank(s, r.x);
    cq_value *x    = comparable(s, r.x);
    cq_int    ones[CQ_MAX_RANK];

    if (rank == 0)
        return cq_sym_done(s, cq_sym_const_i64(s, 0));
    if (!cq_sym_is_none(s, "dim"))
        return cq_sym_done(s, place(s, op, x, (int)r.axes[0], r.keep));
    x = place(s, op, cq_sym_reshape_i64(s, x, (int64_t[]){ -1 }, 1), 0, false);
    for (int i = 0; i < rank; i++)
        ones[i] = cq_i(1);
    return cq_sym_done(s, r.keep ? cq_sym_reshape(s, x, ones, (size_t)rank) : x);
}

static cq_status argmax(cq_sym *s)
{
    return arg(s, "ArgMax");
}

static cq_status argmin(cq_sym *s)
{
    return arg(s, "ArgMin");
}

/* ---- norms ---- */

static cq_value *sum_of_powers(cq_sym *s, const reduction *r, cq_value *x, double p)
{
    cq_value *v = cq_sym_binary(s, "Pow", cq_sym_unary(s, "Abs", x),
                                cq_sym_const_f64(s, cq_sym_dtype(s, x), p));

    v = reduce(s, r, "ReduceSum", v, r->keep);
    return cq_sym_binary(s, "Pow", v, cq_sym_const_f64(s, cq_sym_dtype(s, x), 1 / p));
}

static cq_status norm(cq_sym *s)
{
    reduction   r    = read_reduction(s);
    const char *name = cq_sym_has_arg(s, "ord") ? "ord" : "p";
    double      p    = cq_sym_is_none(s, name) ? 2 : cq_sym_f64(s, name);
    cq_value   *x    = cq_sym_widen(s, cq_sym_cast(s, r.x, cq_sym_result_type(s, 0).dtype)), *v;

    if (p == 0)
        v = cq_sym_cast(s, count_true(s, &r, cq_sym_cast(s, x, CQ_DTYPE_BOOL)), cq_sym_dtype(s, x));
    else if (cq_sym_rank(s, x) == 0)
        v = cq_sym_unary(s, "Abs", x);
    else if (isinf(p))
        v = reduce(s, &r, p > 0 ? "ReduceMax" : "ReduceMin", cq_sym_unary(s, "Abs", x), r.keep);
    else if (p == 1)
        v = reduce(s, &r, "ReduceL1", x, r.keep);
    else if (p == 2)
        v = reduce(s, &r, "ReduceL2", x, r.keep);
    else
        v = sum_of_powers(s, &r, x, p);
    return cq_sym_done(s, v);
}

const cq_symbolic cq_symbolics_reduce[] = {
    { "aten::sum", 7, .fn = sum },
    { "aten::mean", 7, .fn = mean },
    { "aten::prod", 7, .fn = prod },
    { "aten::var", 7, .fn = var },
    { "aten::std", 7, .fn = std },
    { "aten::var_mean", 7, .fn = var },
    { "aten::std_mean", 7, .fn = std },
    { "aten::max", 7, .fn = greatest },
    { "aten::max.dim", 7, .fn = max_dim },
    { "aten::min", 7, .fn = least },
    { "aten::min.dim", 7, .fn = min_dim },
    { "aten::amax", 7, .fn = greatest },
    { "aten::amin", 7, .fn = least },
    { "aten::aminmax", 7, .fn = aminmax },
    { "aten::argmax", 7, .fn = argmax },
    { "aten::argmin", 7, .fn = argmin },
    { "aten::all", 7, .fn = all },
    { "aten::any", 7, .fn = any },
    { "aten::count_nonzero", 7, .fn = count_nonzero },
    { "aten::logsumexp", 7, .fn = logsumexp },
    { "aten::norm", 7, .fn = norm },
    { "aten::linalg_vector_norm", 7, .fn = norm },
    { 0 },
};
