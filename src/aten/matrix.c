/* Diagonals, powers, determinants and inverses of matrices, and statistics that are matrices;
 * composed of products and reductions. */
#include "aten/ctx.h"
#include "kernel/det.h"

static cq_status done(cq_opcall *c, cq_tensor *t)
{
    cq_result_set_tensor(c, 0, t);
    return c->cx->status;
}

static cq_tensor *square(cq_opcall *c)
{
    cq_tensor *t = c->args[0].u.tensor;

    if (t->rank >= 2 && t->sizes[t->rank - 1].value == t->sizes[t->rank - 2].value)
        return t;
    cq_ctx_fail(c->cx, cq_call_fail(c, CQ_E_TYPE, "wants square matrices"));
    return NULL;
}

/* ---- diagonals ---- */

/* Whether column - row is k, for all places of a matrix of m by m. */
static cq_tensor *on_diagonal(cq_ctx *cx, cq_int m, int64_t k)
{
    cq_tensor *count = CQ_OP(cx, "aten::arange", N(m));
    cq_tensor *t =
        CQ_OP(cx, "aten::sub.Tensor", T(count), T(CQ_OP(cx, "aten::unsqueeze", T(count), I(1))));

    return CQ_OP(cx, "aten::eq.Scalar", T(t), I(k));
}

/* The last dimension as the k-th diagonal of a matrix of zeros. Its elements are named by their row
 * above the main diagonal, by their column below it. */
static cq_tensor *embed(cq_opcall *c, cq_tensor *x, int64_t k)
{
    cq_ctx    *cx   = c->cx;
    int64_t    more = k < -INT64_MAX ? INT64_MAX : k < 0 ? -k : k;
    cq_int     m    = cq_size_add(c, x->sizes[x->rank - 1], cq_i(more));
    cq_tensor *mask = on_diagonal(cx, m, k), *zero;

    if (more)
        x = CQ_OP(cx, "aten::constant_pad_nd", T(x), cq_i64s(cx, (int64_t[]){ 0, more }, 2), I(0));
    if (!x || !mask)
        return NULL;
    zero = CQ_OP(cx, "aten::zeros", cq_ints(cx, NULL, 0), DTYPE(x->dtype));
    return CQ_OP(cx, "aten::where.self", T(mask),
                 T(CQ_OP(cx, "aten::unsqueeze", T(x), I(k < 0 ? -2 : -1))), T(zero));
}

static cq_status diag_embed(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *x  = c->args[0].u.tensor, *t;
    int        rank, a, b;

    if (!x->rank)
        return cq_call_fail(c, CQ_E_TYPE, "wants at least one dimension");
    rank = (int)x->rank + 1;
    a    = cq_arg_dim(c, "dim1", (size_t)rank);
    b    = cq_arg_dim(c, "dim2", (size_t)rank);
    CQ_TRY(cx->status);
    if (a == b)
        return cq_call_fail(c, CQ_E_ARGUMENT, "both dimensions are %d", a);
    t = embed(c, x, cq_arg_i64(c, "offset"));
    if (a != rank - 2 || b != rank - 1)
        t = CQ_OP(cx, "aten::movedim.intlist", T(t), cq_i64s(cx, (int64_t[]){ -2, -1 }, 2),
                  cq_i64s(cx, (int64_t[]){ a, b }, 2));
    return done(c, t);
}

static cq_status diag(cq_opcall *c)
{
    cq_tensor *x = c->args[0].u.tensor;

    if (x->rank == 1)
        return done(c, embed(c, x, cq_arg_i64(c, "diagonal")));
    if (x->rank != 2)
        return cq_call_fail(c, CQ_E_TYPE, "wants a vector or a matrix, not %u dimensions", x->rank);
    return done(c, CQ_OP(c->cx, "aten::clone",
                         T(CQ_OP(c->cx, "aten::diagonal", T(x), cq_arg_val(c, "diagonal")))));
}

static cq_status diagflat(cq_opcall *c)
{
    cq_tensor *row = CQ_OP(c->cx, "aten::reshape", c->args[0], I(-1));

    return row ? done(c, embed(c, row, cq_arg_i64(c, "offset"))) : c->cx->status;
}

static cq_status linalg_diagonal(cq_opcall *c)
{
    return done(c, CQ_OP(c->cx, "aten::diagonal", c->args[0], cq_arg_val(c, "offset"),
                         cq_arg_val(c, "dim1"), cq_arg_val(c, "dim2")));
}

static cq_status trace(cq_opcall *c)
{
    if (c->args[0].u.tensor->rank != 2)
        return cq_call_fail(c, CQ_E_TYPE, "wants a matrix");
    return done(c, CQ_OP(c->cx, "aten::sum", T(CQ_OP(c->cx, "aten::diagonal", c->args[0]))));
}

static cq_status adjoint(cq_opcall *c)
{
    cq_tensor *x = c->args[0].u.tensor;

    if (x->rank < 2)
        return cq_call_fail(c, CQ_E_TYPE, "wants matrices");
    return done(
        c, CQ_OP(c->cx, "aten::conj", T(CQ_OP(c->cx, "aten::transpose.int", T(x), I(-2), I(-1)))));
}

/* ---- products ---- */

static cq_status vecdot(cq_opcall *c)
{
    cq_tensor *t = CQ_OP(c->cx, "aten::mul.Tensor", c->args[0], c->args[1]);

    return done(c, CQ_OP(c->cx, "aten::sum.dim_IntList", T(t), cq_arg_val(c, "dim")));
}

/* By squaring: the binary digits of n say which squares count. */
static cq_status matrix_power(cq_opcall *c)
{
    enum { MAX_POWER = 1 << 20 };
    cq_ctx    *cx = c->cx;
    cq_tensor *x = square(c), *out = NULL;
    int64_t    n = cq_arg_i64(c, "n");

    CQ_TRY(cx->status);
    if (n > MAX_POWER || n < -MAX_POWER)
        return cq_call_fail(c, CQ_E_ARGUMENT, "the power %lld is out of bounds", (long long)n);
    if (n == 0) {
        out = CQ_OP(cx, "aten::eye", N(x->sizes[x->rank - 1]), DTYPE(x->dtype));
        return done(c, CQ_OP(cx, "aten::clone", T(CQ_OP(cx, "aten::expand_as", T(out), T(x)))));
    }
    if (n < 0) {
        x = CQ_OP(cx, "aten::linalg_inv", T(x));
        n = -n;
    }
    for (; n; n >>= 1) {
        if (n & 1)
            out = out ? CQ_OP(cx, "aten::matmul", T(out), T(x)) : x;
        x = n > 1 ? CQ_OP(cx, "aten::matmul", T(x), T(x)) : x;
    }
    return done(c, out == c->args[0].u.tensor ? CQ_OP(cx, "aten::clone", T(out)) : out);
}

/* ---- determinants ---- */

static cq_status det_shape(cq_opcall *c)
{
    cq_tensor *x = square(c);

    CQ_TRY(c->cx->status);
    if (x->dtype != CQ_DTYPE_F32 && x->dtype != CQ_DTYPE_F64)
        return cq_call_fail(c, CQ_E_TYPE, "wants float32 or float64, not %s",
                            cq_dtype_name(x->dtype));
    cq_result(c, 0, x->dtype, x->rank - 2, x->sizes);
    return c->cx->status;
}

static cq_status det_run(cq_opcall *c)
{
    return cq_kernel_det(cq_result_tensor(c, 0), c->args[0].u.tensor);
}

static cq_status logdet(cq_opcall *c)
{
    return done(c, CQ_OP(c->cx, "aten::log", T(CQ_OP(c->cx, "aten::linalg_det", c->args[0]))));
}

static cq_status slogdet(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *d  = CQ_OP(cx, "aten::linalg_det", c->args[0]);

    cq_result_set_tensor(c, 0, CQ_OP(cx, "aten::sign", T(d)));
    cq_result_set_tensor(c, 1, CQ_OP(cx, "aten::log", T(CQ_OP(cx, "aten::abs", T(d)))));
    return cx->status;
}

/* ---- inverses of small matrices, by their cofactors; larger ones are solve.c's ---- */

enum { MAX_INVERSE = 4 };

/* a * b - c * d, where what is NULL counts as 1 or leaves the product out. */
static cq_tensor *cross_difference(cq_ctx *cx, cq_tensor *a, cq_tensor *b, cq_tensor *m,
                                   cq_tensor *n)
{
    return CQ_OP(cx, "aten::sub.Tensor", T(CQ_OP(cx, "aten::mul.Tensor", T(a), T(b))),
                 T(CQ_OP(cx, "aten::mul.Tensor", T(m), T(n))));
}

/* The determinant of the rows and columns that are left, by the first row. */
static cq_tensor *minor(cq_ctx *cx, cq_tensor *(*e)[MAX_INVERSE], const int *rows, const int *cols,
                        int n)
{
    cq_tensor *sum = NULL, *t;
    int        left[MAX_INVERSE];

    if (n == 1)
        return e[rows[0]][cols[0]];
    if (n == 2)
        return cross_difference(cx, e[rows[0]][cols[0]], e[rows[1]][cols[1]], e[rows[0]][cols[1]],
                                e[rows[1]][cols[0]]);
    for (int i = 0; i < n; i++) {
        for (int k = 0, at = 0; k < n; k++)
            if (k != i)
                left[at++] = cols[k];
        t   = CQ_OP(cx, "aten::mul.Tensor", T(e[rows[0]][cols[i]]),
                    T(minor(cx, e, rows + 1, left, n - 1)));
        sum = !sum ? t : CQ_OP(cx, i % 2 ? "aten::sub.Tensor" : "aten::add.Tensor", T(sum), T(t));
    }
    return sum;
}

/* Row i of the adjugate: cofactors of column i. */
static cq_tensor *adjugate_row(cq_ctx *cx, cq_tensor *(*e)[MAX_INVERSE], int i, int n)
{
    cq_tensor *items[MAX_INVERSE];
    int        rows[MAX_INVERSE], cols[MAX_INVERSE];

    for (int k = 0; k < n; k++) {
        for (int r = 0, at = 0; r < n; r++)
            if (r != k)
                rows[at++] = r;
        for (int r = 0, at = 0; r < n; r++)
            if (r != i)
                cols[at++] = r;
        items[k] =
            n == 1 ? CQ_OP(cx, "aten::ones_like", T(e[0][0])) : minor(cx, e, rows, cols, n - 1);
        if ((i + k) % 2)
            items[k] = CQ_OP(cx, "aten::neg", T(items[k]));
    }
    return CQ_OP(cx, "aten::stack", cq_tensors(cx, items, (size_t)n), I(-1));
}

static cq_status inverse(cq_opcall *c)
{
    static const int all[MAX_INVERSE] = { 0, 1, 2, 3 };
    cq_ctx          *cx               = c->cx;
    cq_tensor       *x = square(c), *e[MAX_INVERSE][MAX_INVERSE], *rows[MAX_INVERSE], *d;
    int64_t          n;

    CQ_TRY(cx->status);
    if (!cq_dtype_is_float(x->dtype))
        return cq_call_fail(c, CQ_E_TYPE, "wants floats");
    n = cq_size_baked(c, x->sizes[x->rank - 1], "the size of a matrix");
    if (n == 0)
        return done(c, CQ_OP(cx, "aten::clone", T(x)));
    if (n > MAX_INVERSE)
        return done(c, CQ_OP(cx, "aten::linalg_solve", T(x),
                             T(CQ_OP(cx, "aten::eye", I(n), DTYPE(x->dtype)))));
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            e[i][k] = CQ_OP(cx, "aten::select.int",
                            T(CQ_OP(cx, "aten::select.int", T(x), I(-2), I(i))), I(-1), I(k));
    for (int i = 0; i < n; i++)
        rows[i] = adjugate_row(cx, e, i, (int)n);
    CQ_TRY(cx->status);
    d = minor(cx, e, all, all, (int)n);
    d = CQ_OP(cx, "aten::unsqueeze", T(CQ_OP(cx, "aten::unsqueeze", T(d), I(-1))), I(-1));
    x = CQ_OP(cx, "aten::stack", cq_tensors(cx, rows, (size_t)n), I(-2));
    return done(c, CQ_OP(cx, "aten::div.Tensor", T(x), T(d)));
}

/* ---- statistics ---- */

/* The weight of each observation: how often it is there, times how much it counts; NULL: all
 * the same. */
static cq_tensor *weights_of(cq_opcall *c)
{
    cq_tensor *often = cq_arg_tensor(c, "fweights"), *much = cq_arg_tensor(c, "aweights");

    return often && much ? CQ_OP(c->cx, "aten::mul.Tensor", T(often), T(much))
           : often       ? often
                         : much;
}

/* What the products are divided by: n - correction, n being the sum of the weights; if
 * observations count more or less, the correction is their mean weight. Never below 0. */
static cq_tensor *divisor_of(cq_opcall *c, cq_tensor *w, int64_t correction)
{
    cq_ctx    *cx   = c->cx;
    cq_tensor *much = cq_arg_tensor(c, "aweights"), *sum = CQ_OP(cx, "aten::sum", T(w)), *t;

    if (!much || !correction) {
        t = CQ_OP(cx, "aten::sub.Scalar", T(sum), I(correction));
    } else {
        t = CQ_OP(cx, "aten::sum", T(CQ_OP(cx, "aten::mul.Tensor", T(w), T(much))));
        t = CQ_OP(cx, "aten::mul.Scalar", T(CQ_OP(cx, "aten::div.Tensor", T(t), T(sum))),
                  I(correction));
        t = CQ_OP(cx, "aten::sub.Tensor", T(sum), T(t));
    }
    return CQ_OP(cx, "aten::clamp_min", T(t), I(0));
}

static cq_tensor *covariance(cq_opcall *c, cq_tensor *x, int64_t correction, bool weighted)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *w  = NULL, *scaled, *mean;

    if (x->rank < 2)
        x = CQ_OP(cx, "aten::reshape", T(x), cq_i64s(cx, (int64_t[]){ 1, -1 }, 2));
    if (x && !cq_dtype_is_float(x->dtype))
        x = CQ_OP(cx, "aten::to.dtype", T(x), DTYPE(CQ_DTYPE_F32));
    if (!x)
        return NULL;
    if (weighted)
        w = weights_of(c);
    scaled = w ? CQ_OP(cx, "aten::mul.Tensor", T(x), T(w)) : x;
    mean   = w ? CQ_OP(cx, "aten::div.Tensor",
                       T(CQ_OP(cx, "aten::sum.dim_IntList", T(scaled), I(1), B(true))),
                       T(CQ_OP(cx, "aten::sum", T(w))))
               : CQ_OP(cx, "aten::mean.dim", T(x), I(1), B(true));
    x      = CQ_OP(cx, "aten::sub.Tensor", T(x), T(mean));
    scaled = CQ_OP(cx, "aten::t", T(w ? CQ_OP(cx, "aten::mul.Tensor", T(x), T(w)) : x));
    if (!x)
        return NULL;
    x = CQ_OP(cx, "aten::matmul", T(x), T(scaled));
    if (w)
        return CQ_OP(cx, "aten::div.Tensor", T(x), T(divisor_of(c, w, correction)));
    return CQ_OP(cx, "aten::div.Scalar", T(x),
                 N(cq_size_sub(c, scaled ? scaled->sizes[0] : cq_i(1), cq_i(correction))));
}

/* The variance of one row is a number. */
static cq_status done_squeezed(cq_opcall *c, cq_tensor *x)
{
    if (x && x->sizes[0].value == 1)
        x = CQ_OP(c->cx, "aten::squeeze", T(x));
    return done(c, x);
}

static cq_status need_matrix(cq_opcall *c)
{
    if (c->args[0].u.tensor->rank > 2)
        return cq_call_fail(c, CQ_E_TYPE, "wants at most 2 dimensions, not %u",
                            c->args[0].u.tensor->rank);
    return CQ_OK;
}

static cq_status cov(cq_opcall *c)
{
    CQ_TRY(need_matrix(c));
    return done_squeezed(c, covariance(c, c->args[0].u.tensor, cq_arg_i64(c, "correction"), true));
}

static cq_status corrcoef(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *x, *deviation;

    CQ_TRY(need_matrix(c));
    x         = covariance(c, c->args[0].u.tensor, 1, false);
    deviation = CQ_OP(cx, "aten::sqrt", T(CQ_OP(cx, "aten::diagonal", T(x))));
    x = CQ_OP(cx, "aten::div.Tensor", T(x), T(CQ_OP(cx, "aten::unsqueeze", T(deviation), I(1))));
    x = CQ_OP(cx, "aten::div.Tensor", T(x), T(deviation));
    return done_squeezed(c, CQ_OP(cx, "aten::clamp", T(x), I(-1), I(1)));
}

/* Powers of each element: 0, 1, … N - 1. */
static cq_status vander(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *x  = c->args[0].u.tensor, *t;
    cq_int     n;

    if (x->rank < 1 || (x->rank > 1 && cq_schema_find(c->op->schema, "increasing") >= 0))
        return cq_call_fail(c, CQ_E_TYPE, "wants a vector");
    n = cq_arg_is_none(c, "N") ? x->sizes[x->rank - 1] : cq_arg_int(c, "N");
    if (cq_dtype_is_integer(x->dtype) && cq_schema_find(c->op->schema, "increasing") < 0)
        x = CQ_OP(cx, "aten::to.dtype", T(x), DTYPE(CQ_DTYPE_I64));
    CQ_TRY(cx->status);
    t = CQ_OP(cx, "aten::arange", N(n), DTYPE(x->dtype));
    if (cq_schema_find(c->op->schema, "increasing") >= 0 && !cq_arg_bool(c, "increasing"))
        t = CQ_OP(cx, "aten::flip", T(t), I(0));
    return done(c, CQ_OP(cx, "aten::pow.Tensor_Tensor",
                         T(CQ_OP(cx, "aten::unsqueeze", T(x), I(-1))), T(t)));
}

#define ROW(text_of_schema, text, function)                                                        \
    {                                                                                              \
        .schema = "aten::" text_of_schema, .about = text, .compose = function                      \
    }
#define VIEWS(text_of_schema, text, function)                                                      \
    {                                                                                              \
        .schema = "aten::" text_of_schema, .about = text, .compose = function,                     \
        .flags = CQ_OP_PARTS                                                                       \
    }

const cq_op_def cq_ops_matrix[] = {
    ROW("diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
        "matrices with these diagonals", diag_embed),
    ROW("diag(Tensor self, int diagonal=0) -> Tensor", "a diagonal, or a matrix that has it", diag),
    ROW("diagflat(Tensor self, int offset=0) -> Tensor",
        "a matrix with all elements as its diagonal", diagflat),
    VIEWS("linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)",
          "diagonal of the last dimensions", linalg_diagonal),
    ROW("trace(Tensor self) -> Tensor", "the sum of the diagonal", trace),
    VIEWS("adjoint(Tensor(a) self) -> Tensor(a)", "matrices transposed, and conjugated", adjoint),
    CQ_SAME_AS("aten::mH(Tensor(a) self) -> Tensor(a)", "aten::adjoint"),
    CQ_SAME_AS("aten::matrix_H(Tensor(a) self) -> Tensor(a)", "aten::adjoint"),
    ROW("linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", "inner products of vectors",
        vecdot),
    ROW("matrix_power(Tensor self, int n) -> Tensor", "a matrix times itself, n times",
        matrix_power),
    ROW("linalg_matrix_power(Tensor self, int n) -> Tensor", "a matrix times itself, n times",
        matrix_power),
    { .schema = "aten::linalg_det(Tensor A) -> Tensor",
      .about  = "determinants",
      .shape  = det_shape,
      .run    = det_run },
    CQ_SAME_AS("aten::det(Tensor self) -> Tensor", "aten::linalg_det"),
    ROW("logdet(Tensor self) -> Tensor", "logarithms of determinants", logdet),
    ROW("slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)",
        "signs and logarithms of determinants", slogdet),
    ROW("linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
        "signs and logarithms of determinants", slogdet),
    ROW("linalg_inv(Tensor A) -> Tensor", "inverses of matrices", inverse),
    CQ_SAME_AS("aten::inverse(Tensor self) -> Tensor", "aten::linalg_inv"),
    ROW("cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> "
        "Tensor",
        "covariances of rows", cov),
    ROW("corrcoef(Tensor self) -> Tensor", "correlations of rows", corrcoef),
    ROW("vander(Tensor x, int? N=None, bool increasing=False) -> Tensor", "powers of each element",
        vander),
    ROW("linalg_vander(Tensor x, *, int? N=None) -> Tensor", "powers of each element", vander),
    { 0 }
};
