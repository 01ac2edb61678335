/* Along one dimension: differences, areas, quantiles; and what counts elements by value. All of it
 * is composed of other operators. Spectra are fft.c's. */
#include "aten/ctx.h"

#include <math.h>

static cq_status done(cq_opcall *c, cq_tensor *t)
{
    cq_result_set_tensor(c, 0, t);
    return c->cx->status;
}

/* ---- neighbours ---- */

/* x without its first or its last element along dim. */
static cq_tensor *without(cq_ctx *cx, cq_tensor *x, int64_t dim, bool first)
{
    return CQ_OP(cx, "aten::slice.Tensor", T(x), I(dim), I(first ? 1 : 0),
                 first ? I(INT64_MAX) : I(-1));
}

static cq_tensor *neighbours(cq_ctx *cx, const char *op, cq_tensor *x, int64_t dim)
{
    return CQ_OP(cx, op, T(without(cx, x, dim, true)), T(without(cx, x, dim, false)));
}

static cq_status diff(cq_opcall *c)
{
    enum { MAX_TIMES = 64 };
    cq_ctx    *cx = c->cx;
    cq_tensor *x  = c->args[0].u.tensor, *parts[3];
    int64_t    dim, n = cq_arg_i64(c, "n");
    size_t     k = 0;

    if (!x->rank)
        return cq_call_fail(c, CQ_E_TYPE, "wants at least one dimension");
    dim = cq_arg_dim(c, "dim", x->rank);
    if (n < 0 || n > MAX_TIMES)
        return cq_call_fail(c, CQ_E_ARGUMENT, "differences %lld times", (long long)n);
    if (n == 0) /* and nothing is put before or behind it */
        return done(c, CQ_OP(cx, "aten::clone", T(x)));
    if (!cq_arg_is_none(c, "prepend"))
        parts[k++] = cq_arg_tensor(c, "prepend");
    parts[k++] = x;
    if (!cq_arg_is_none(c, "append"))
        parts[k++] = cq_arg_tensor(c, "append");
    if (k > 1)
        x = CQ_OP(cx, "aten::cat", cq_tensors(cx, parts, k), I(dim));
    for (int64_t i = 0; i < n && x; i++)
        x = neighbours(cx, x->dtype == CQ_DTYPE_BOOL ? "aten::logical_xor" : "aten::sub.Tensor", x,
                       dim);
    return done(c, x);
}

/* Means of neighbours times their distance, one for each gap. */
static cq_tensor *areas(cq_opcall *c, int64_t *dim)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *y  = cq_arg_tensor(c, "y"), *x, *t;
    int64_t    sizes[CQ_MAX_RANK];

    *dim = cq_arg_dim(c, "dim", y->rank);
    t    = neighbours(cx, "aten::add.Tensor", y, *dim);
    if (cq_schema_find(c->op->schema, "x") < 0)
        return CQ_OP(cx, "aten::mul.Scalar", T(t), F(cq_arg_f64(c, "dx") / 2));
    x = cq_arg_tensor(c, "x");
    if (x->rank == 1 && y->rank > 1) {
        for (size_t i = 0; i < y->rank; i++)
            sizes[i] = (int64_t)i == *dim ? -1 : 1;
        x = CQ_OP(cx, "aten::reshape", T(x), cq_i64s(cx, sizes, y->rank));
    }
    x = neighbours(cx, "aten::sub.Tensor", x, *dim);
    return CQ_OP(cx, "aten::div.Scalar", T(CQ_OP(cx, "aten::mul.Tensor", T(t), T(x))), F(2));
}

static cq_status trapezoid(cq_opcall *c)
{
    int64_t    dim;
    cq_tensor *t = areas(c, &dim);

    return done(c, CQ_OP(c->cx, "aten::sum.dim_IntList", T(t), I(dim)));
}

static cq_status cumulative_trapezoid(cq_opcall *c)
{
    int64_t    dim;
    cq_tensor *t = areas(c, &dim);

    return done(c, CQ_OP(c->cx, "aten::cumsum", T(t), I(dim)));
}

/* ---- quantiles ---- */

/* The elements of each lane of sorted: at places of its own [.., n of q], or at the same ones [n of
 * q]. */
static cq_tensor *element_at(cq_ctx *cx, cq_tensor *sorted, cq_tensor *at)
{
    at = CQ_OP(cx, "aten::to.dtype", T(at), DTYPE(CQ_DTYPE_I64));
    if (!at || at->rank == 1)
        return CQ_OP(cx, "aten::index_select", T(sorted), I(-1), T(at));
    return CQ_OP(cx, "aten::gather", T(sorted), I(-1), T(at));
}

/* The shares q as places among all elements, or among those of each lane that are no NaN. */
static cq_tensor *places_of(cq_opcall *c, cq_tensor *x, cq_tensor *q, bool numbers)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *n;

    q = CQ_OP(cx, "aten::reshape", T(q), I(-1));
    if (!numbers)
        return CQ_OP(cx, "aten::mul.Scalar", T(q),
                     N(cq_size_sub(c, x->sizes[x->rank - 1], cq_i(1))));
    n = CQ_OP(cx, "aten::logical_not", T(CQ_OP(cx, "aten::isnan", T(x))));
    n = CQ_OP(cx, "aten::sum.dim_IntList", T(n), I(-1), B(true), DTYPE(x->dtype));
    n = CQ_OP(cx, "aten::clamp_min", T(CQ_OP(cx, "aten::sub.Scalar", T(n), I(1))), I(0));
    return CQ_OP(cx, "aten::mul.Tensor", T(q), T(n));
}

/* Of the last dimension of x, at the shares q (0-d or a row): [.., n of q]. How it goes between two
 * elements is said by a word. Where there is NaN, everything is, unless only numbers count. */
static cq_tensor *quantiles_of_last(cq_opcall *c, cq_tensor *x, cq_tensor *q, bool numbers)
{
    cq_ctx     *cx     = c->cx;
    const char *word   = cq_arg_str(c, "interpolation", "linear");
    bool        linear = strcmp(word, "linear") == 0, middle = strcmp(word, "midpoint") == 0;
    cq_tensor  *sorted[2], *at, *low, *high, *share, *spoilt;

    at     = places_of(c, x, q, numbers);
    spoilt = CQ_OP(cx, "aten::isnan", T(x));
    if (numbers) /* NaN goes behind them; ONNX does not say where it would */
        x = CQ_OP(cx, "aten::masked_fill.Scalar", T(x), T(spoilt), F(INFINITY));
    cq_op_tensors(cx, "aten::sort", (cq_val[]){ T(x), I(-1), B(false) }, 3, sorted, 2);
    low   = strcmp(word, "higher") == 0    ? CQ_OP(cx, "aten::ceil", T(at))
            : strcmp(word, "nearest") == 0 ? CQ_OP(cx, "aten::round", T(at))
                                           : CQ_OP(cx, "aten::floor", T(at));
    high  = element_at(cx, sorted[0], CQ_OP(cx, "aten::ceil", T(at)));
    share = CQ_OP(cx, "aten::sub.Tensor", T(at), T(low));
    low   = element_at(cx, sorted[0], low);
    if (linear)
        low = CQ_OP(cx, "aten::lerp.Tensor", T(low), T(high), T(share));
    else if (middle)
        low = CQ_OP(cx, "aten::lerp.Scalar", T(low), T(high), F(0.5));
    spoilt = CQ_OP(cx, numbers ? "aten::all.dim" : "aten::any.dim", T(spoilt), I(-1), B(true));
    return CQ_OP(cx, "aten::masked_fill.Scalar", T(low), T(spoilt), F(NAN));
}

static bool is_interpolation(const char *word)
{
    static const char *const known[] = { "linear", "lower", "higher", "nearest", "midpoint" };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(word, known[i]) == 0)
            return true;
    return false;
}

static cq_status quantile(cq_opcall *c)
{
    cq_ctx    *cx   = c->cx;
    cq_tensor *x    = c->args[0].u.tensor, *q, *t;
    bool       flat = cq_arg_is_none(c, "dim"), keep = cq_arg_bool(c, "keepdim"), many;
    int64_t    dim  = flat ? 0 : cq_arg_dim(c, "dim", x->rank), ones[CQ_MAX_RANK];
    size_t     rank = x->rank;

    if (!is_interpolation(cq_arg_str(c, "interpolation", "linear")))
        return cq_call_fail(c, CQ_E_ARGUMENT, "there is no interpolation \"%s\"",
                            cq_arg_str(c, "interpolation", "linear"));
    if (x->dtype != CQ_DTYPE_F32 && x->dtype != CQ_DTYPE_F64)
        return cq_call_fail(c, CQ_E_TYPE, "wants float32 or float64, not %s",
                            cq_dtype_name(x->dtype));
    q = cq_arg_val(c, "q").kind == CQ_VAL_TENSOR
            ? cq_arg_tensor(c, "q")
            : CQ_OP(cx, "aten::scalar_tensor", F(cq_arg_f64(c, "q")), DTYPE(x->dtype));
    CQ_TRY(cx->status);
    many = q->rank > 0;
    x    = flat || !rank ? CQ_OP(cx, "aten::reshape", T(x), I(-1))
                         : CQ_OP(cx, "aten::movedim.int", T(x), I(dim), I(-1));
    CQ_TRY(cx->status);
    t = quantiles_of_last(c, x, q, c->op->def->variant);
    if (flat && keep && rank) {
        for (size_t i = 0; i < rank; i++)
            ones[i] = 1;
        t = CQ_OP(cx, "aten::reshape", T(t), cq_i64s(cx, (int64_t[]){ -1 }, 1));
        for (size_t i = 0; i < rank; i++)
            t = CQ_OP(cx, "aten::unsqueeze", T(t), I(i ? 1 : 0));
        t = CQ_OP(cx, "aten::movedim.int", T(t), I(-1), I(0));
        return done(c, many ? t : CQ_OP(cx, "aten::reshape", T(t), cq_i64s(cx, ones, rank)));
    }
    t = CQ_OP(cx, "aten::movedim.int", T(t), I(-1), I(0));
    if (keep && rank)
        t = CQ_OP(cx, "aten::unsqueeze", T(t), I(dim + 1));
    return done(c, many ? t : CQ_OP(cx, "aten::squeeze.dim", T(t), I(0)));
}

/* ---- norms of slices ---- */

static cq_status renorm(cq_opcall *c)
{
    cq_ctx    *cx  = c->cx;
    cq_tensor *x   = c->args[0].u.tensor, *norm, *factor, *one;
    double     max = cq_arg_f64(c, "maxnorm");
    int64_t    dims[CQ_MAX_RANK];
    int        dim;
    size_t     n = 0;

    if (x->rank < 2)
        return cq_call_fail(c, CQ_E_TYPE, "wants at least 2 dimensions, not %u", x->rank);
    dim = cq_arg_dim(c, "dim", x->rank);
    for (size_t i = 0; i < x->rank; i++)
        if ((int)i != dim)
            dims[n++] = (int64_t)i;
    norm   = CQ_OP(cx, "aten::norm.ScalarOpt_dim", T(x), cq_arg_val(c, "p"), cq_i64s(cx, dims, n),
                   B(true));
    one    = CQ_OP(cx, "aten::ones_like", T(norm));
    factor = CQ_OP(cx, "aten::reciprocal", T(CQ_OP(cx, "aten::add.Scalar", T(norm), F(1e-7))));
    factor = CQ_OP(cx, "aten::mul.Scalar", T(factor), F(max));
    factor = CQ_OP(cx, "aten::where.self", T(CQ_OP(cx, "aten::gt.Scalar", T(norm), F(max))),
                   T(factor), T(one));
    return done(c, CQ_OP(cx, "aten::mul.Tensor", T(x), T(factor)));
}

static cq_status pdist(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *x  = c->args[0].u.tensor, *pairs, *side[2];

    if (x->rank != 2)
        return cq_call_fail(c, CQ_E_TYPE, "wants a matrix");
    pairs = CQ_OP(cx, "aten::triu_indices", N(x->sizes[0]), N(x->sizes[0]), I(1));
    for (int i = 0; i < 2; i++)
        side[i] = CQ_OP(cx, "aten::index_select", T(x), I(0),
                        T(CQ_OP(cx, "aten::select.int", T(pairs), I(0), I(i))));
    x = CQ_OP(cx, "aten::sub.Tensor", T(side[0]), T(side[1]));
    return done(c, CQ_OP(cx, "aten::norm.ScalarOpt_dim", T(x), cq_arg_val(c, "p"), I(1), B(false)));
}

/* ---- elements by their value ---- */

static cq_status isin(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *t;

    if (c->args[0].kind != CQ_VAL_TENSOR) {
        t = CQ_OP(cx, "aten::any", T(CQ_OP(cx, "aten::eq.Scalar", c->args[1], c->args[0])));
    } else if (c->args[1].kind != CQ_VAL_TENSOR) {
        t = CQ_OP(cx, "aten::eq.Scalar", c->args[0], c->args[1]);
    } else {
        t = CQ_OP(cx, "aten::reshape", c->args[1], I(-1));
        t = CQ_OP(cx, "aten::eq.Tensor", T(CQ_OP(cx, "aten::unsqueeze", c->args[0], I(-1))), T(t));
        t = CQ_OP(cx, "aten::any.dim", T(t), I(-1));
    }
    return done(c, cq_arg_bool(c, "invert") ? CQ_OP(cx, "aten::logical_not", T(t)) : t);
}

/* Bins of equal width; the last one includes its end. Without bounds, those of the elements. */
static cq_status histc(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *x  = CQ_OP(cx, "aten::reshape", c->args[0], I(-1)), *at, *in, *low, *high, *width,
              *flat;
    int64_t bins = cq_arg_i64(c, "bins");
    double  from = cq_arg_f64(c, "min"), to = cq_arg_f64(c, "max");

    CQ_TRY(cx->status);
    if (!cq_dtype_is_float(x->dtype) || bins < 1 || to < from)
        return cq_call_fail(c, CQ_E_ARGUMENT,
                            "wants floats, bins, and a maximum above the minimum");
    low  = from == to ? CQ_OP(cx, "aten::min", T(x))
                      : CQ_OP(cx, "aten::scalar_tensor", F(from), DTYPE(x->dtype));
    high = from == to ? CQ_OP(cx, "aten::max", T(x))
                      : CQ_OP(cx, "aten::scalar_tensor", F(to), DTYPE(x->dtype));
    if (from == to) { /* all elements equal: a bin around them */
        flat = CQ_OP(cx, "aten::to.dtype", T(CQ_OP(cx, "aten::eq.Tensor", T(low), T(high))),
                     DTYPE(x->dtype));
        low  = CQ_OP(cx, "aten::sub.Tensor", T(low), T(flat));
        high = CQ_OP(cx, "aten::add.Tensor", T(high), T(flat));
    }
    width = CQ_OP(cx, "aten::sub.Tensor", T(high), T(low));
    at    = CQ_OP(cx, "aten::mul.Scalar", T(CQ_OP(cx, "aten::sub.Tensor", T(x), T(low))), I(bins));
    at    = CQ_OP(cx, "aten::floor", T(CQ_OP(cx, "aten::div.Tensor", T(at), T(width))));
    at    = CQ_OP(cx, "aten::clamp_max", T(at), I(bins - 1));
    in    = CQ_OP(cx, "aten::logical_and", T(CQ_OP(cx, "aten::ge.Tensor", T(x), T(low))),
                  T(CQ_OP(cx, "aten::le.Tensor", T(x), T(high))));
    at    = CQ_OP(cx, "aten::where.ScalarOther", T(in), T(at), F(-1));
    at    = CQ_OP(cx, "aten::eq.Tensor", T(CQ_OP(cx, "aten::unsqueeze", T(at), I(-1))),
                  T(CQ_OP(cx, "aten::arange", I(bins), DTYPE(x->dtype))));
    return done(c, CQ_OP(cx, "aten::sum.dim_IntList", T(at), I(0), B(false), DTYPE(x->dtype)));
}

#define ROW(text_of_schema, text, function)                                                        \
    {                                                                                              \
        .schema = "aten::" text_of_schema, .about = text, .compose = function                      \
    }
#define AREA(name, number, function)                                                               \
    ROW(name ".x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", "the area under a curve",          \
        function),                                                                                 \
        ROW(name ".dx(Tensor y, *, " number ", int dim=-1) -> Tensor", "the area under a curve",   \
            function)
#define SHARE ", int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor"
#define NUMBERS(text_of_schema)                                                                    \
    {                                                                                              \
        .schema = "aten::" text_of_schema,                                                         \
        .about = "what a share of the numbers is below, NaN aside", .compose = quantile,           \
        .variant = 1                                                                               \
    }
#define IN ", *, bool assume_unique=False, bool invert=False) -> Tensor"

const cq_op_def cq_ops_series[] = {
    ROW("diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> "
        "Tensor",
        "differences of neighbours, n times", diff),
    AREA("trapezoid", "Scalar dx=1", trapezoid),
    AREA("trapz", "float dx=1.", trapezoid),
    AREA("cumulative_trapezoid", "Scalar dx=1", cumulative_trapezoid),
    ROW("quantile(Tensor self, Tensor q" SHARE, "what a share of the elements is below", quantile),
    ROW("quantile.scalar(Tensor self, float q" SHARE, "what a share of the elements is below",
        quantile),
    NUMBERS("nanquantile(Tensor self, Tensor q" SHARE),
    NUMBERS("nanquantile.scalar(Tensor self, float q" SHARE),
    ROW("renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
        "slices scaled down to a norm that they exceed", renorm),
    ROW("pdist(Tensor self, float p=2.) -> Tensor", "the distances of all pairs of rows", pdist),
    ROW("isin.Tensor_Tensor(Tensor elements, Tensor test_elements" IN,
        "which elements are among others", isin),
    ROW("isin.Tensor_Scalar(Tensor elements, Scalar test_element" IN, "which elements are a number",
        isin),
    ROW("isin.Scalar_Tensor(Scalar element, Tensor test_elements" IN,
        "whether a number is among elements", isin),
    ROW("histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
        "how many elements fall into each bin", histc),
    { 0 }
};
