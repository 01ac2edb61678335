/* Systems of linear equations, by elimination: solutions, inverses, Cholesky's factors. ONNX has
 * nothing of it, so the steps are written out, one for each row; sizes are baked in. A matrix that
 * has no solution gives infinities or NaN, where PyTorch raises an error. */
#include "aten/ctx.h"

enum { MAX_ROWS = 64 };

static cq_status done(cq_opcall *c, cq_tensor *t)
{
    cq_result_set_tensor(c, 0, t);
    return c->cx->status;
}

static cq_tensor *slice(cq_ctx *cx, cq_tensor *t, int64_t dim, int64_t from, int64_t to)
{
    return CQ_OP(cx, "aten::slice.Tensor", T(t), I(dim), I(from), I(to));
}

static cq_tensor *turned(cq_ctx *cx, cq_tensor *t)
{
    return CQ_OP(cx, "aten::transpose.int", T(t), I(-2), I(-1));
}

static cq_tensor *column(cq_ctx *cx, cq_tensor *t)
{
    return CQ_OP(cx, "aten::unsqueeze", T(t), I(-1));
}

/* The number of rows, which must be that of columns. */
static cq_status rows_of(cq_opcall *c, const cq_tensor *a, int64_t *n)
{
    if (a->rank < 2 || a->sizes[a->rank - 1].value != a->sizes[a->rank - 2].value)
        return cq_call_fail(c, CQ_E_TYPE, "wants square matrices");
    if (a->dtype != CQ_DTYPE_F32 && a->dtype != CQ_DTYPE_F64)
        return cq_call_fail(c, CQ_E_TYPE, "wants float32 or float64, not %s",
                            cq_dtype_name(a->dtype));
    *n = cq_size_baked(c, a->sizes[a->rank - 1], "the size of a matrix");
    if (*n > MAX_ROWS)
        return cq_fail(CQ_E_UNSUPPORTED, c->op->schema->full, NULL,
                       "matrices of %lld rows: equations are known up to %d", (long long)*n,
                       MAX_ROWS);
    return CQ_OK;
}

/* ---- elimination ---- */

/* m is [.., n, n + k], equations beside their right sides. In step i the row with the largest
 * number in column i, of those that were not taken yet, changes places with row i, and goes off all
 * others so often that column i becomes that of an identity. */
static cq_tensor *eliminated(cq_ctx *cx, cq_tensor *m, int64_t n)
{
    cq_tensor *rows = CQ_OP(cx, "aten::arange", I(n), DTYPE(CQ_DTYPE_I64)), *chosen, *pivot, *here;

    for (int64_t i = 0; i < n && cx->status == CQ_OK; i++) {
        chosen = CQ_OP(cx, "aten::abs", T(CQ_OP(cx, "aten::select.int", T(m), I(-1), I(i))));
        chosen = CQ_OP(cx, "aten::masked_fill.Scalar", T(chosen),
                       T(CQ_OP(cx, "aten::lt.Scalar", T(rows), I(i))), I(-1));
        chosen = CQ_OP(cx, "aten::argmax", T(chosen), I(-1), B(true));
        chosen = column(cx, CQ_OP(cx, "aten::eq.Tensor", T(rows), T(chosen)));
        pivot  = CQ_OP(cx, "aten::where.ScalarOther", T(chosen), T(m), F(0));
        pivot  = CQ_OP(cx, "aten::sum.dim_IntList", T(pivot), I(-2), B(true));
        m      = CQ_OP(cx, "aten::where.self", T(chosen), T(slice(cx, m, -2, i, i + 1)), T(m));
        pivot  = CQ_OP(cx, "aten::div.Tensor", T(pivot), T(slice(cx, pivot, -1, i, i + 1)));
        here   = column(cx, CQ_OP(cx, "aten::eq.Scalar", T(rows), I(i)));
        m      = CQ_OP(cx, "aten::sub.Tensor", T(m),
                       T(CQ_OP(cx, "aten::mul.Tensor", T(slice(cx, m, -1, i, i + 1)), T(pivot))));
        m      = CQ_OP(cx, "aten::where.self", T(here), T(pivot), T(m));
    }
    return slice(cx, m, -1, n, INT64_MAX);
}

/* t with the batch dimensions of other before its matrices. */
static cq_tensor *batched(cq_opcall *c, cq_tensor *t, const cq_tensor *other)
{
    cq_int sizes[CQ_MAX_RANK];
    size_t rank = 0;

    if (cq_broadcast(c, &rank, sizes, t->rank - 2u, t->sizes, other->rank - 2u, other->sizes) !=
            CQ_OK ||
        rank + 2 > CQ_MAX_RANK)
        return NULL;
    sizes[rank]     = t->sizes[t->rank - 2];
    sizes[rank + 1] = t->sizes[t->rank - 1];
    return CQ_OP(c->cx, "aten::expand", T(t), cq_ints(c->cx, sizes, rank + 2));
}

/* X of A X = B, or of X A = B. */
static cq_status solved(cq_opcall *c, cq_tensor *a, cq_tensor *b, bool left, cq_tensor **out)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *sides[2];
    int64_t    n;

    CQ_TRY(cx->status);
    CQ_TRY(rows_of(c, a, &n));
    if (!left) {
        a = turned(cx, a);
        b = turned(cx, b);
    }
    CQ_TRY(cx->status);
    if (b->rank < 2 || b->sizes[b->rank - 2].value != n || b->dtype != a->dtype)
        return cq_call_fail(c, CQ_E_TYPE, "the right sides do not fit matrices of %lld rows",
                            (long long)n);
    sides[0] = batched(c, a, b);
    sides[1] = batched(c, b, a);
    CQ_TRY(cx->status);
    *out = eliminated(cx, CQ_OP(cx, "aten::cat", cq_tensors(cx, sides, 2), I(-1)), n);
    if (!left)
        *out = turned(cx, *out);
    return cx->status;
}

/* The right sides are vectors, if they have one dimension or all but the last of A. */
static bool has_vectors(const cq_tensor *a, const cq_tensor *b)
{
    if (b->rank == 1)
        return true;
    if (b->rank + 1u != a->rank)
        return false;
    for (size_t i = 0; i < b->rank; i++)
        if (a->sizes[i].value != b->sizes[i].value)
            return false;
    return true;
}

/* Nothing went wrong: a zero for each matrix. */
static cq_tensor *no_errors(cq_ctx *cx, const cq_tensor *a)
{
    return CQ_OP(cx, "aten::zeros", cq_ints(cx, a->sizes, a->rank - 2u), DTYPE(CQ_DTYPE_I32));
}

static void set_no_errors(cq_opcall *c, const cq_tensor *a)
{
    if (c->op->schema->n_results == 2)
        cq_result_set_tensor(c, 1, no_errors(c->cx, a));
}

static cq_status linalg_solve(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *a = c->args[0].u.tensor, *b = c->args[1].u.tensor, *x;
    bool       vectors = has_vectors(a, b), left = cq_arg_bool(c, "left");

    if (vectors && !left)
        return cq_call_fail(c, CQ_E_ARGUMENT, "vectors stand on the right side");
    if (vectors)
        b = column(cx, b);
    CQ_TRY(solved(c, a, b, left, &x));
    set_no_errors(c, a);
    return done(c, vectors ? CQ_OP(cx, "aten::squeeze.dim", T(x), I(-1)) : x);
}

static cq_tensor *identity(cq_ctx *cx, const cq_tensor *a)
{
    return CQ_OP(cx, "aten::eye", N(a->sizes[a->rank - 1]), DTYPE(a->dtype));
}

static cq_status inverse_and_info(cq_opcall *c)
{
    set_no_errors(c, c->args[0].u.tensor);
    return done(c, CQ_OP(c->cx, "aten::linalg_inv", c->args[0]));
}

/* ---- triangles ---- */

/* What counts of a triangular matrix. */
static cq_tensor *triangle(cq_ctx *cx, cq_tensor *a, bool upper, bool ones)
{
    cq_tensor *t = CQ_OP(cx, upper ? "aten::triu" : "aten::tril", T(a),
                         I(!ones   ? 0
                           : upper ? 1
                                   : -1));

    return ones ? CQ_OP(cx, "aten::add.Tensor", T(t), T(identity(cx, a))) : t;
}

static cq_status need_matrices(cq_opcall *c, const cq_tensor *a)
{
    int64_t n;

    return rows_of(c, a, &n);
}

static cq_status solve_triangular(cq_opcall *c)
{
    cq_tensor *a = c->args[0].u.tensor, *x;

    CQ_TRY(need_matrices(c, a));
    a = triangle(c->cx, a, cq_arg_bool(c, "upper"), cq_arg_bool(c, "unitriangular"));
    CQ_TRY(solved(c, a, c->args[1].u.tensor, cq_arg_bool(c, "left"), &x));
    return done(c, x);
}

static cq_status triangular_solve(cq_opcall *c)
{
    cq_tensor *a = cq_arg_tensor(c, "A"), *t, *x;

    CQ_TRY(need_matrices(c, a));
    t = triangle(c->cx, a, cq_arg_bool(c, "upper"), cq_arg_bool(c, "unitriangular"));
    if (cq_arg_bool(c, "transpose"))
        t = turned(c->cx, t);
    CQ_TRY(solved(c, t, c->args[0].u.tensor, true, &x));
    t = batched(c, a, c->args[0].u.tensor);
    CQ_TRY(c->cx->status);
    cq_result_set_tensor(c, 1, CQ_OP(c->cx, "aten::clone", T(t)));
    return done(c, x);
}

/* Column i of the factor is what is left of column i of A, divided by the root of its first number;
 * its product with itself is taken off A. */
static cq_status cholesky(cq_opcall *c)
{
    cq_ctx    *cx    = c->cx;
    cq_tensor *a     = c->args[0].u.tensor, *columns[MAX_ROWS], *rows;
    bool       upper = cq_arg_bool(c, "upper");
    int64_t    n;

    CQ_TRY(rows_of(c, a, &n));
    set_no_errors(c, a);
    if (n == 0)
        return done(c, CQ_OP(cx, "aten::clone", T(a)));
    rows = column(cx, CQ_OP(cx, "aten::arange", I(n), DTYPE(CQ_DTYPE_I64)));
    if (upper)
        a = turned(cx, a);
    for (int64_t i = 0; i < n && cx->status == CQ_OK; i++) {
        cq_tensor *t = slice(cx, a, -1, i, i + 1);

        t = CQ_OP(cx, "aten::div.Tensor", T(t),
                  T(CQ_OP(cx, "aten::sqrt", T(slice(cx, t, -2, i, i + 1)))));
        t = CQ_OP(cx, "aten::where.ScalarOther", T(CQ_OP(cx, "aten::ge.Scalar", T(rows), I(i))),
                  T(t), F(0));
        a = CQ_OP(cx, "aten::sub.Tensor", T(a),
                  T(CQ_OP(cx, "aten::mul.Tensor", T(t), T(turned(cx, t)))));
        columns[i] = t;
    }
    CQ_TRY(cx->status);
    a = CQ_OP(cx, "aten::cat", cq_tensors(cx, columns, (size_t)n), I(-1));
    return done(c, upper ? turned(cx, a) : a);
}

/* The solution for L L' (or U' U), whose factor is known: two triangles. */
static cq_status by_factor(cq_opcall *c, cq_tensor *factor, cq_tensor *b)
{
    bool       upper = cq_arg_bool(c, "upper");
    cq_tensor *low, *x;

    CQ_TRY(need_matrices(c, factor));
    low = triangle(c->cx, factor, upper, false);
    if (upper)
        low = turned(c->cx, low);
    CQ_TRY(solved(c, low, b, true, &x));
    CQ_TRY(solved(c, turned(c->cx, low), x, true, &x));
    return done(c, x);
}

static cq_status cholesky_solve(cq_opcall *c)
{
    return by_factor(c, c->args[1].u.tensor, c->args[0].u.tensor);
}

static cq_status cholesky_inverse(cq_opcall *c)
{
    CQ_TRY(need_matrices(c, c->args[0].u.tensor));
    return by_factor(c, c->args[0].u.tensor, identity(c->cx, c->args[0].u.tensor));
}

#define ROW(text_of_schema, text, function)                                                        \
    {                                                                                              \
        .schema = "aten::" text_of_schema, .about = text, .compose = function                      \
    }

const cq_op_def cq_ops_solve[] = {
    ROW("linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
        "solutions of linear equations", linalg_solve),
    ROW("linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> "
        "(Tensor result, "
        "Tensor info)",
        "solutions of linear equations", linalg_solve),
    ROW("linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
        "inverses of matrices", inverse_and_info),
    ROW("linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool "
        "unitriangular=False) -> Tensor",
        "solutions of triangular equations", solve_triangular),
    ROW("triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool "
        "unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
        "solutions of triangular equations", triangular_solve),
    ROW("linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor", "Cholesky's factors",
        cholesky),
    ROW("linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor "
        "L, Tensor "
        "info)",
        "Cholesky's factors", cholesky),
    ROW("cholesky(Tensor self, bool upper=False) -> Tensor", "Cholesky's factors", cholesky),
    ROW("cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
        "solutions of equations whose Cholesky factor is known", cholesky_solve),
    ROW("cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
        "inverses of matrices whose Cholesky factor is known", cholesky_inverse),
    { 0 }
};
