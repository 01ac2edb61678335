/* Diagonals, powers, determinants and inverses of matrices, and statistics that are matrices;
 * composed of products and reductions. */
#include "aten/ctx.h"
#include "kernel/det.h"

/* ---- determinants ---- */

static cq_status det_shape(cq_opcall *c)
{
    cq_tensor *x = c->args[0].u.tensor;

    if (x->rank < 2 || x->sizes[x->rank - 1].value != x->sizes[x->rank - 2].value)
        return cq_call_fail(c, CQ_E_TYPE, "wants square matrices");
    if (x->dtype != CQ_DTYPE_F32 && x->dtype != CQ_DTYPE_F64)
        return cq_call_fail(c, CQ_E_TYPE, "wants float32 or float64, not %s",
                            cq_dtype_name(x->dtype));
    return cq_result(c, 0, x->dtype, x->rank - 2, x->sizes);
}

static cq_status det_run(cq_opcall *c)
{
    return cq_kernel_det(cq_result_tensor(c, 0), c->args[0].u.tensor);
}

const cq_op_def cq_ops_matrix[] = {
    CQ_BODY("aten::diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
            "matrices with these diagonals",
            "assert self.ndim > 0, 'wants at least one dimension'\n"
            "rank = self.ndim + 1\n"
            "a = wrap_dim(dim1, rank)\n"
            "b = wrap_dim(dim2, rank)\n"
            "assert a != b, 'both dimensions are {a}'\n"
            "t = embedded(self, offset)\n"
            "return t if a == rank - 2 and b == rank - 1 else t.movedim([-2, -1], [a, b])"),
    CQ_BODY("aten::diag(Tensor self, int diagonal=0) -> Tensor",
            "a diagonal, or a matrix that has it",
            "if self.ndim == 1: return embedded(self, diagonal)\n"
            "assert self.ndim == 2, 'wants a vector or a matrix, not {self.ndim} dimensions'\n"
            "return self.diagonal(diagonal).clone()"),
    CQ_BODY("aten::diagflat(Tensor self, int offset=0) -> Tensor",
            "a matrix with all elements as its diagonal", "embedded(self.reshape([-1]), offset)"),
    CQ_PARTS("aten::linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> "
             "Tensor(a)",
             "diagonal of the last dimensions", "diagonal(A, offset, dim1, dim2)"),
    CQ_BODY("aten::trace(Tensor self) -> Tensor", "the sum of the diagonal",
            "assert self.ndim == 2, 'wants a matrix'\n"
            "return self.diagonal().sum()"),
    CQ_PARTS("aten::adjoint(Tensor(a) self) -> Tensor(a)", "matrices transposed, and conjugated",
             "assert self.ndim >= 2, 'wants matrices'\n"
             "return self.transpose(-2, -1).conj()"),
    CQ_SAME_AS("aten::mH(Tensor(a) self) -> Tensor(a)", "aten::adjoint"),
    CQ_SAME_AS("aten::matrix_H(Tensor(a) self) -> Tensor(a)", "aten::adjoint"),
    CQ_BODY("aten::linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
            "inner products of vectors", "(x * y).sum(dim)"),
    CQ_BODY("aten::matrix_power(Tensor self, int n) -> Tensor", "a matrix times itself, n times",
            "power_of(square_matrix(self), n)"),
    CQ_BODY("aten::linalg_matrix_power(Tensor self, int n) -> Tensor",
            "a matrix times itself, n times", "power_of(square_matrix(self), n)"),
    CQ_KERNEL("aten::linalg_det(Tensor A) -> Tensor", "determinants", det_shape, det_run),
    CQ_SAME_AS("aten::det(Tensor self) -> Tensor", "aten::linalg_det"),
    CQ_BODY("aten::logdet(Tensor self) -> Tensor", "logarithms of determinants",
            "linalg_det(self).log()"),
    CQ_BODY("aten::slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)",
            "signs and logarithms of determinants", "linalg_slogdet(self)"),
    CQ_BODY("aten::linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
            "signs and logarithms of determinants",
            "d = linalg_det(A)\n"
            "return d.sign(), d.abs().log()"),
    /* Small ones by their cofactors; larger ones are solve.c's. */
    CQ_BODY("aten::linalg_inv(Tensor A) -> Tensor", "inverses of matrices",
            "if not square_matrix(A).is_floating_point(): raise TypeError('wants floats')\n"
            "n = int(A.shape[-1])\n"
            "if n == 0: return A.clone()\n"
            "if n > 4: return linalg_solve(A, eye(n, dtype=A.dtype))\n"
            "e = [[A.select(-2, i).select(-1, k) for k in range(n)] for i in range(n)]\n"
            "rows = [stack([cofactor(e, n, i, k) for k in range(n)], -1) for i in range(n)]\n"
            "d = minor(e, range(n), range(n)).unsqueeze(-1).unsqueeze(-1)\n"
            "return stack(rows, -2) / d"),
    CQ_SAME_AS("aten::inverse(Tensor self) -> Tensor", "aten::linalg_inv"),
    CQ_BODY("aten::cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? "
            "aweights=None) -> "
            "Tensor",
            "covariances of rows",
            "number_if_one(covariance(self, correction, fweights, aweights))"),
    CQ_BODY("aten::corrcoef(Tensor self) -> Tensor", "correlations of rows",
            "x = covariance(self, 1, None, None)\n"
            "deviation = x.diagonal().sqrt()\n"
            "return number_if_one((x / deviation.unsqueeze(1) / deviation).clamp(-1, 1))"),
    /* Powers of each element: 0, 1, … N - 1. */
    CQ_BODY("aten::vander(Tensor x, int? N=None, bool increasing=False) -> Tensor",
            "powers of each element",
            "assert x.ndim == 1, 'wants a vector'\n"
            "powers = arange(x.shape[0] if N is None else N, dtype=x.dtype)\n"
            "return pow(x.unsqueeze(-1), powers if increasing else powers.flip([0]))"),
    CQ_BODY("aten::linalg_vander(Tensor x, *, int? N=None) -> Tensor", "powers of each element",
            "assert x.ndim > 0 or N is not None, 'wants a vector'\n"
            "if x.ndim == 0: x = x.reshape([1])\n"
            "if not x.is_floating_point() and not x.is_complex() and x.dtype != torch.bool: x = "
            "x.to(torch.int64)\n"
            "return pow(x.unsqueeze(-1), arange(x.shape[-1] if N is None else N, dtype=x.dtype))"),
    { 0 }
};
