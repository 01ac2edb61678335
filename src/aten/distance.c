/* Distances between vectors and norms of matrices, composed of reductions. */
#include "aten/ctx.h"

#include <math.h>

static cq_status done(cq_opcall *c, cq_tensor *t)
{
    cq_result_set_tensor(c, 0, t);
    return c->cx->status;
}

static cq_tensor *norm_along(cq_ctx *cx, cq_tensor *t, cq_val p, cq_val dim, bool keep)
{
    return CQ_OP(cx, "aten::norm.ScalarOpt_dim", T(t), p, dim, B(keep));
}

/* ---- distances ---- */

static cq_status dist(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *d  = CQ_OP(cx, "aten::sub.Tensor", c->args[0], c->args[1]);

    return done(c, CQ_OP(cx, "aten::norm.Scalar", T(d), c->args[2]));
}

/* eps keeps the gradient away from zero; it is part of the distance. */
static cq_status pairwise_distance(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *d  = CQ_OP(cx, "aten::sub.Tensor", c->args[0], c->args[1]);

    d = CQ_OP(cx, "aten::add.Scalar", T(d), cq_arg_val(c, "eps"));
    return done(c, norm_along(cx, d, cq_arg_val(c, "p"), I(-1), cq_arg_bool(c, "keepdim")));
}

/* All pairs of rows. PyTorch may take a shortcut over a matrix product for p = 2
 * (compute_mode); the distances are the same up to rounding, and the direct way is exact. */
static cq_status cdist(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *a = c->args[0].u.tensor, *b = c->args[1].u.tensor;

    if (a->rank < 2 || b->rank < 2)
        return cq_call_fail(c, CQ_E_TYPE, "both tensors need at least 2 dimensions");
    if (cq_arg_f64(c, "p") < 0)
        return cq_call_fail(c, CQ_E_ARGUMENT, "p should not be negative");
    if (a->sizes[a->rank - 1].value != b->sizes[b->rank - 1].value)
        return cq_call_fail(c, CQ_E_TYPE, "rows have %lld and %lld elements",
                            (long long)a->sizes[a->rank - 1].value,
                            (long long)b->sizes[b->rank - 1].value);
    a = CQ_OP(cx, "aten::unsqueeze", T(a), I(-2));
    b = CQ_OP(cx, "aten::unsqueeze", T(b), I(-3));
    a = CQ_OP(cx, "aten::sub.Tensor", T(a), T(b));
    return done(c, norm_along(cx, a, cq_arg_val(c, "p"), I(-1), false));
}

static cq_status euclidean_dist(cq_opcall *c)
{
    return done(c, CQ_OP(c->cx, "aten::cdist", c->args[0], c->args[1], F(2)));
}

static cq_status cosine_similarity(cq_opcall *c)
{
    cq_ctx    *cx  = c->cx;
    cq_val     dim = cq_arg_val(c, "dim"), eps = cq_arg_val(c, "eps");
    cq_tensor *x1 = c->args[0].u.tensor, *x2 = c->args[1].u.tensor, *n1, *n2;
    cq_dtype   d = cq_result_type_of(c, "x1", "x2");
    cq_int     sizes[CQ_MAX_RANK];
    size_t     rank;
    cq_val     shape;

    if (!cq_dtype_is_float(d))
        return cq_call_fail(c, CQ_E_TYPE, "works on floats only, not on %s", cq_dtype_name(d));
    CQ_TRY(cq_broadcast(c, &rank, sizes, x1->rank, x1->sizes, x2->rank, x2->sizes));
    shape = cq_ints(cx, sizes, rank);
    x1    = CQ_OP(cx, "aten::expand", T(CQ_OP(cx, "aten::to.dtype", T(x1), DTYPE(d))), shape);
    x2    = CQ_OP(cx, "aten::expand", T(CQ_OP(cx, "aten::to.dtype", T(x2), DTYPE(d))), shape);
    n1    = CQ_OP(cx, "aten::clamp_min", T(norm_along(cx, x1, I(2), dim, true)), eps);
    n2    = CQ_OP(cx, "aten::clamp_min", T(norm_along(cx, x2, I(2), dim, true)), eps);
    x1    = CQ_OP(cx, "aten::div.Tensor", T(x1), T(n1));
    x2    = CQ_OP(cx, "aten::div.Tensor", T(x2), T(n2));
    x1    = CQ_OP(cx, "aten::mul.Tensor", T(x1), T(x2));
    return done(c, CQ_OP(cx, "aten::sum.dim_IntList", T(x1), dim));
}

/* ---- norms of matrices ---- */

static cq_tensor *converted(cq_opcall *c)
{
    cq_tensor *t = c->args[0].u.tensor;
    cq_dtype   d = cq_arg_dtype(c, "dtype", t->dtype);

    return d == t->dtype ? t : CQ_OP(c->cx, "aten::to.dtype", T(t), DTYPE(d));
}

static cq_status frobenius_norm(cq_opcall *c)
{
    cq_val all = cq_i64s(c->cx, NULL, 0);

    return done(c, norm_along(c->cx, c->args[0].u.tensor, I(2),
                              c->op->schema->n_args > 1 ? c->args[1] : all,
                              c->op->schema->n_args > 1 && cq_arg_bool(c, "keepdim")));
}

/* The greatest (or, for negative orders, least) sum of the absolute values of a column
 * (order 1) or row (infinite order) of the matrices along dims. */
static cq_status sum_norm(cq_opcall *c, double order, const int64_t dims[2], bool keep)
{
    cq_ctx    *cx  = c->cx;
    cq_tensor *t   = CQ_OP(cx, "aten::abs", T(converted(c)));
    int64_t    sum = isinf(order) ? dims[1] : dims[0], pick = isinf(order) ? dims[0] : dims[1];

    t = CQ_OP(cx, "aten::sum.dim_IntList", T(t), I(sum), B(true));
    t = CQ_OP(cx, order > 0 ? "aten::amax" : "aten::amin", T(t), I(pick), B(true));
    if (!keep && t) {
        int64_t last = dims[0] > dims[1] ? dims[0] : dims[1], first = dims[0] + dims[1] - last;

        t = CQ_OP(cx, "aten::squeeze.dim", T(t), I(last));
        t = CQ_OP(cx, "aten::squeeze.dim", T(t), I(first));
    }
    return done(c, t);
}

static cq_status matrix_norm(cq_opcall *c, const char *word, double order)
{
    cq_tensor *t = c->args[0].u.tensor;
    int64_t    dims[2];

    if (cq_arg_i64s(c, "dim", dims, 2) != 2)
        return cq_call_fail(c, CQ_E_ARGUMENT, "a matrix has two dimensions");
    for (size_t i = 0; i < 2; i++)
        dims[i] += dims[i] < 0 ? (int64_t)t->rank : 0;
    cq_arg_dims(c, "dim", t->rank); /* checks them */
    CQ_TRY(c->cx->status);
    if (dims[0] == dims[1])
        return cq_call_fail(c, CQ_E_ARGUMENT, "the dimensions of a matrix should be different");
    if (word && strcmp(word, "fro") == 0)
        return done(c, norm_along(c->cx, converted(c), I(2), cq_i64s(c->cx, dims, 2),
                                  cq_arg_bool(c, "keepdim")));
    if (word || (fabs(order) != 1 && !isinf(order)))
        return cq_call_fail(c, CQ_E_UNSUPPORTED,
                            "norms of singular values (2, -2, \"nuc\") are not there");
    return sum_norm(c, order, dims, cq_arg_bool(c, "keepdim"));
}

static cq_status linalg_matrix_norm(cq_opcall *c)
{
    return matrix_norm(c, NULL, cq_arg_f64(c, "ord"));
}

static cq_status linalg_matrix_norm_word(cq_opcall *c)
{
    return matrix_norm(c, cq_arg_str(c, "ord", "fro"), 0);
}

/* A vector norm, or a matrix norm when two dimensions meet an order. */
static cq_status linalg_norm(cq_opcall *c)
{
    cq_tensor *t = c->args[0].u.tensor;
    int64_t    dims[CQ_MAX_RANK];
    size_t     n   = cq_arg_is_none(c, "dim") ? t->rank : cq_arg_i64s(c, "dim", dims, CQ_MAX_RANK);
    cq_val     ord = cq_arg_val(c, "ord");

    if (ord.kind != CQ_VAL_NONE && n == 2) {
        cq_val      dim  = cq_arg_is_none(c, "dim") ? cq_i64s(c->cx, (int64_t[]){ 0, 1 }, 2)
                                                    : cq_arg_val(c, "dim");
        const char *name = ord.kind == CQ_VAL_STR ? "aten::linalg_matrix_norm.str_ord"
                                                  : "aten::linalg_matrix_norm";

        return done(c, CQ_OP(c->cx, name, c->args[0], ord, dim, cq_arg_val(c, "keepdim"),
                             cq_arg_val(c, "dtype")));
    }
    if (ord.kind == CQ_VAL_STR || (ord.kind != CQ_VAL_NONE && n != 1))
        return cq_call_fail(c, CQ_E_ARGUMENT, "this order wants one or two dimensions, not %zu", n);
    return done(c, CQ_OP(c->cx, "aten::linalg_vector_norm", c->args[0],
                         ord.kind == CQ_VAL_NONE ? I(2) : ord, cq_arg_val(c, "dim"),
                         cq_arg_val(c, "keepdim"), cq_arg_val(c, "dtype")));
}

#define ROW(schema_text, about_text, fn)                                                           \
    {                                                                                              \
        .schema = "aten::" schema_text, .about = about_text, .compose = fn                         \
    }

const cq_op_def cq_ops_distance[] = {
    ROW("dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", "p-norm of the difference", dist),
    ROW("pairwise_distance(Tensor x1, Tensor x2, float p=2., "
        "float eps=9.9999999999999995e-07, bool keepdim=False) -> Tensor",
        "distances of vectors along the last dimension", pairwise_distance),
    ROW("cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor",
        "distances of all pairs of rows", cdist),
    ROW("_euclidean_dist(Tensor x1, Tensor x2) -> Tensor", "distances of all pairs of rows",
        euclidean_dist),
    ROW("cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
        "cosines of the angles of vectors", cosine_similarity),
    ROW("frobenius_norm(Tensor self) -> Tensor", "root of the sum of squares", frobenius_norm),
    ROW("frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
        "root of the sum of squares", frobenius_norm),
    ROW("linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, "
        "ScalarType? dtype=None) -> Tensor",
        "norms of matrices", linalg_matrix_norm),
    ROW("linalg_matrix_norm.str_ord(Tensor self, str ord=\"fro\", int[] dim=[-2, -1], "
        "bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        "norms of matrices", linalg_matrix_norm_word),
    ROW("linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, "
        "ScalarType? dtype=None) -> Tensor",
        "norms of vectors or matrices", linalg_norm),
    ROW("linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, "
        "ScalarType? dtype=None) -> Tensor",
        "norms of matrices", linalg_norm),
    { 0 }
};
