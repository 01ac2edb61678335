/* Diagonals, powers, determinants and inverses of matrices, and statistics that are matrices;
 * composed of products and reductions. */
#include "aten/ctx.h"
#include "kernel/det.h"

static cq_status done(cq_opcall *c, cq_tensor *t)
{
    return cq_result_set_tensor(c, 0, t);
}

static cq_tensor *square(cq_opcall *c)
{
    cq_tensor *t = c->args[0].u.tensor;

    if (t->rank >= 2 && t->sizes[t->rank - 1].value == t->sizes[t->rank - 2].value)
        return t;
    cq_ctx_fail(c->cx, cq_call_fail(c, CQ_E_TYPE, "wants square matrices"));
    return NULL;
}

/* ---- products ---- */

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
        out = CQ_OP(cx, "aten::eye", SIZE(x->sizes[x->rank - 1]), DTYPE(x->dtype));
        return done(c, CQ_OP(cx, "aten::clone",
                             TENSOR(CQ_OP(cx, "aten::expand_as", TENSOR(out), TENSOR(x)))));
    }
    if (n < 0) {
        x = CQ_OP(cx, "aten::linalg_inv", TENSOR(x));
        n = -n;
    }
    for (; n; n >>= 1) {
        if (n & 1)
            out = out ? CQ_OP(cx, "aten::matmul", TENSOR(out), TENSOR(x)) : x;
        x = n > 1 ? CQ_OP(cx, "aten::matmul", TENSOR(x), TENSOR(x)) : x;
    }
    return done(c, out == c->args[0].u.tensor ? CQ_OP(cx, "aten::clone", TENSOR(out)) : out);
}

/* ---- determinants ---- */

static cq_status det_shape(cq_opcall *c)
{
    cq_tensor *x = square(c);

    CQ_TRY(c->cx->status);
    if (x->dtype != CQ_DTYPE_F32 && x->dtype != CQ_DTYPE_F64)
        return cq_call_fail(c, CQ_E_TYPE, "wants float32 or float64, not %s",
                            cq_dtype_name(x->dtype));
    return cq_result(c, 0, x->dtype, x->rank - 2, x->sizes);
}

static cq_status det_run(cq_opcall *c)
{
    return cq_kernel_det(cq_result_tensor(c, 0), c->args[0].u.tensor);
}

/* ---- inverses of small matrices, by their cofactors; larger ones are solve.c's ---- */

enum { MAX_INVERSE = 4 };

/* a * b - c * d, where what is NULL counts as 1 or leaves the product out. */
static cq_tensor *cross_difference(cq_ctx *cx, cq_tensor *a, cq_tensor *b, cq_tensor *m,
                                   cq_tensor *n)
{
    return CQ_OP(cx, "aten::sub.Tensor",
                 TENSOR(CQ_OP(cx, "aten::mul.Tensor", TENSOR(a), TENSOR(b))),
                 TENSOR(CQ_OP(cx, "aten::mul.Tensor", TENSOR(m), TENSOR(n))));
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
        t   = CQ_OP(cx, "aten::mul.Tensor", TENSOR(e[rows[0]][cols[i]]),
                    TENSOR(minor(cx, e, rows + 1, left, n - 1)));
        sum = !sum ? t
                   : CQ_OP(cx, i % 2 ? "aten::sub.Tensor" : "aten::add.Tensor", TENSOR(sum),
                           TENSOR(t));
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
        items[k] = n == 1 ? CQ_OP(cx, "aten::ones_like", TENSOR(e[0][0]))
                          : minor(cx, e, rows, cols, n - 1);
        if ((i + k) % 2)
            items[k] = CQ_OP(cx, "aten::neg", TENSOR(items[k]));
    }
    return CQ_OP(cx, "aten::stack", cq_tensors(cx, items, (size_t)n), INT(-1));
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
        return done(c, CQ_OP(cx, "aten::clone", TENSOR(x)));
    if (n > MAX_INVERSE)
        return done(c, CQ_OP(cx, "aten::linalg_solve", TENSOR(x),
                             TENSOR(CQ_OP(cx, "aten::eye", INT(n), DTYPE(x->dtype)))));
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            e[i][k] = CQ_OP(cx, "aten::select.int",
                            TENSOR(CQ_OP(cx, "aten::select.int", TENSOR(x), INT(-2), INT(i))),
                            INT(-1), INT(k));
    for (int i = 0; i < n; i++)
        rows[i] = adjugate_row(cx, e, i, (int)n);
    CQ_TRY(cx->status);
    d = minor(cx, e, all, all, (int)n);
    d = CQ_OP(cx, "aten::unsqueeze", TENSOR(CQ_OP(cx, "aten::unsqueeze", TENSOR(d), INT(-1))),
              INT(-1));
    x = CQ_OP(cx, "aten::stack", cq_tensors(cx, rows, (size_t)n), INT(-2));
    return done(c, CQ_OP(cx, "aten::div.Tensor", TENSOR(x), TENSOR(d)));
}

#define ROW(text_of_schema, text, code)                                                            \
    {                                                                                              \
        .schema = "aten::" text_of_schema, .about = text, .body = code                             \
    }
#define VIEWS(text_of_schema, text, code)                                                          \
    {                                                                                              \
        .schema = "aten::" text_of_schema, .about = text, .body = code, .flags = CQ_OP_PARTS       \
    }

const cq_op_def cq_ops_matrix[] = {
    ROW("diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
        "matrices with these diagonals",
        "assert self.ndim > 0, 'wants at least one dimension'\n"
        "rank = self.ndim + 1\n"
        "a = wrap_dim(dim1, rank)\n"
        "b = wrap_dim(dim2, rank)\n"
        "assert a != b, 'both dimensions are {a}'\n"
        "t = embedded(self, offset)\n"
        "return t if a == rank - 2 and b == rank - 1 else t.movedim([-2, -1], [a, b])"),
    ROW("diag(Tensor self, int diagonal=0) -> Tensor", "a diagonal, or a matrix that has it",
        "if self.ndim == 1: return embedded(self, diagonal)\n"
        "assert self.ndim == 2, 'wants a vector or a matrix, not {self.ndim} dimensions'\n"
        "return self.diagonal(diagonal).clone()"),
    ROW("diagflat(Tensor self, int offset=0) -> Tensor",
        "a matrix with all elements as its diagonal", "embedded(self.reshape([-1]), offset)"),
    VIEWS("linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)",
          "diagonal of the last dimensions", "diagonal(A, offset, dim1, dim2)"),
    ROW("trace(Tensor self) -> Tensor", "the sum of the diagonal",
        "assert self.ndim == 2, 'wants a matrix'\n"
        "return self.diagonal().sum()"),
    VIEWS("adjoint(Tensor(a) self) -> Tensor(a)", "matrices transposed, and conjugated",
          "assert self.ndim >= 2, 'wants matrices'\n"
          "return self.transpose(-2, -1).conj()"),
    CQ_SAME_AS("aten::mH(Tensor(a) self) -> Tensor(a)", "aten::adjoint"),
    CQ_SAME_AS("aten::matrix_H(Tensor(a) self) -> Tensor(a)", "aten::adjoint"),
    ROW("linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", "inner products of vectors",
        "(x * y).sum(dim)"),
    { .schema  = "aten::matrix_power(Tensor self, int n) -> Tensor",
      .about   = "a matrix times itself, n times",
      .compose = matrix_power },
    { .schema  = "aten::linalg_matrix_power(Tensor self, int n) -> Tensor",
      .about   = "a matrix times itself, n times",
      .compose = matrix_power },
    { .schema = "aten::linalg_det(Tensor A) -> Tensor",
      .about  = "determinants",
      .shape  = det_shape,
      .run    = det_run },
    CQ_SAME_AS("aten::det(Tensor self) -> Tensor", "aten::linalg_det"),
    ROW("logdet(Tensor self) -> Tensor", "logarithms of determinants", "linalg_det(self).log()"),
    ROW("slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)",
        "signs and logarithms of determinants", "linalg_slogdet(self)"),
    ROW("linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
        "signs and logarithms of determinants",
        "d = linalg_det(A)\n"
        "return d.sign(), d.abs().log()"),
    { .schema  = "aten::linalg_inv(Tensor A) -> Tensor",
      .about   = "inverses of matrices",
      .compose = inverse },
    CQ_SAME_AS("aten::inverse(Tensor self) -> Tensor", "aten::linalg_inv"),
    ROW("cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> "
        "Tensor",
        "covariances of rows", "number_if_one(covariance(self, correction, fweights, aweights))"),
    ROW("corrcoef(Tensor self) -> Tensor", "correlations of rows",
        "x = covariance(self, 1, None, None)\n"
        "deviation = x.diagonal().sqrt()\n"
        "return number_if_one((x / deviation.unsqueeze(1) / deviation).clamp(-1, 1))"),
    /* Powers of each element: 0, 1, … N - 1. */
    ROW("vander(Tensor x, int? N=None, bool increasing=False) -> Tensor", "powers of each element",
        "assert x.ndim == 1, 'wants a vector'\n"
        "powers = arange(x.shape[0] if N is None else N, dtype=x.dtype)\n"
        "return pow(x.unsqueeze(-1), powers if increasing else powers.flip([0]))"),
    ROW("linalg_vander(Tensor x, *, int? N=None) -> Tensor", "powers of each element",
        "assert x.ndim > 0 or N is not None, 'wants a vector'\n"
        "if x.ndim == 0: x = x.reshape([1])\n"
        "if not x.is_floating_point() and not x.is_complex() and x.dtype != torch.bool: x = "
        "x.to(torch.int64)\n"
        "return pow(x.unsqueeze(-1), arange(x.shape[-1] if N is None else N, dtype=x.dtype))"),
    { 0 }
};
