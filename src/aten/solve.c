/* Systems of linear equations, by elimination: solutions, inverses; and the factors of matrices, as
 * LAPACK gives them: Cholesky's, triangles and pivots (LU), Householder's reflectors (QR). ONNX has
 * nothing of it, so the steps are written out, one for each row; sizes are baked in. A matrix that
 * has no solution gives infinities or NaN, where PyTorch raises an error. */
#include "aten/op.h"

const cq_op_def cq_ops_solve[] = {
    CQ_BODY(
        "aten::linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
        "solutions of linear equations",
        "vectors = B.ndim == 1 or B.ndim + 1 == A.ndim and B.shape == A.shape[:-1]\n"
        "assert left or not vectors, 'vectors stand on the right side'\n"
        "return solved(A, B.unsqueeze(-1), True).squeeze(-1) if vectors else solved(A, B, left)"),
    CQ_BODY(
        "aten::linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> "
        "(Tensor result, "
        "Tensor info)",
        "solutions of linear equations",
        "return linalg_solve(A, B, left=left), zeros(A.shape[:-2], dtype=torch.int32)"),
    CQ_BODY("aten::linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor "
            "info)",
            "inverses of matrices", "return linalg_inv(A), zeros(A.shape[:-2], dtype=torch.int32)"),
    CQ_BODY(
        "aten::linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool "
        "unitriangular=False) -> Tensor",
        "solutions of triangular equations",
        "solved(triangle(self, upper, unitriangular), B, left)"),
    CQ_BODY(
        "aten::triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool "
        "unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
        "solutions of triangular equations",
        "t = triangle(A, upper, unitriangular)\n"
        "x = solved(t.transpose(-2, -1) if transpose else t, self, True)\n"
        "return x, batched(A, self).clone()"),
    /* Column i of the factor is what is left of column i of A, divided by the root of its first
     * number; its product with itself is taken off A. */
    CQ_BODY("aten::linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor",
            "Cholesky's factors",
            "n = rows_of(self)\n"
            "if n == 0: return self.clone()\n"
            "rows = arange(n, dtype=torch.int64).unsqueeze(-1)\n"
            "a = self.transpose(-2, -1) if upper else self\n"
            "columns = []\n"
            "for i in range(n): "
            "t = a.slice(-1, i, i + 1); "
            "t = where(rows >= i, t / t.slice(-2, i, i + 1).sqrt(), 0.); "
            "a = a - t * t.transpose(-2, -1); "
            "columns = columns + [t]\n"
            "factor = cat(columns, -1)\n"
            "return factor.transpose(-2, -1) if upper else factor"),
    CQ_BODY("aten::linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) "
            "-> (Tensor "
            "L, Tensor "
            "info)",
            "Cholesky's factors",
            "return linalg_cholesky(self, upper=upper), zeros(self.shape[:-2], dtype=torch.int32)"),
    CQ_BODY("aten::cholesky(Tensor self, bool upper=False) -> Tensor", "Cholesky's factors",
            "linalg_cholesky(self, upper=upper)"),
    CQ_BODY("aten::cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
            "solutions of equations whose Cholesky factor is known",
            "by_factor(input2, self, upper)"),
    CQ_BODY("aten::cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
            "inverses of matrices whose Cholesky factor is known",
            "n = rows_of(self)\n"
            "return by_factor(self, identity_like(self), upper)"),
    /* ---- triangles ---- */
    CQ_BODY("aten::linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> "
            "(Tensor LU, "
            "Tensor pivots, Tensor info)",
            "triangular factors in one matrix, and which rows changed places",
            "lu, pivots, order = triangles(A, pivot)\n"
            "return lu, pivots, zeros(A.shape[:-2], dtype=torch.int32)"),
    CQ_BODY("aten::linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
            "triangular factors in one matrix, and which rows changed places",
            "lu, pivots, order = triangles(A, pivot)\nreturn lu, pivots"),
    CQ_BODY("aten::_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor "
            "LU, Tensor "
            "pivots, Tensor info)",
            "linalg_lu_factor_ex under its older name",
            "return linalg_lu_factor_ex(self, pivot=pivot)"),
    CQ_BODY("aten::linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
            "a permutation and triangular factors",
            "lu, pivots, order = triangles(A, pivot)\n"
            "p = permutation(order, A.dtype) if pivot else A.new_empty([0])\n"
            "return p, lower_part(lu), upper_part(lu)"),
    CQ_BODY(
        "aten::lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool "
        "unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)",
        "a permutation and triangular factors, of those in one matrix",
        "nothing = LU_data.new_empty([0])\n"
        "p = permutation(order_of(LU_pivots, LU_data.shape[-2]), LU_data.dtype) if unpack_pivots "
        "else nothing\n"
        "return p, lower_part(LU_data) if unpack_data else nothing,"
        " upper_part(LU_data) if unpack_data else nothing"),
    CQ_BODY(
        "aten::linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool "
        "adjoint=False) -> Tensor",
        "solutions of equations whose triangular factors are known",
        "if not left: return linalg_lu_solve(LU, pivots, B.transpose(-2, -1), adjoint=not "
        "adjoint).transpose(-2, -1)\n"
        "p = permutation(order_of(pivots, LU.shape[-2]), LU.dtype)\n"
        "low = lower_part(LU); high = upper_part(LU)\n"
        "if adjoint: return p @ solved(low.transpose(-2, -1), solved(high.transpose(-2, -1), B, "
        "True), True)\n"
        "return solved(high, solved(low, p.transpose(-2, -1) @ B, True), True)"),
    CQ_BODY("aten::lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor",
            "solutions of equations whose triangular factors are known",
            "linalg_lu_solve(LU_data, LU_pivots, self)"),
    /* PyTorch factors the transpose of a matrix whose rows lie one after another. */
    CQ_BODY("aten::_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)",
            "determinants, and the triangular factors",
            "lu, pivots, order = triangles(A.transpose(-2, -1), True)\n"
            "return linalg_det(A), lu, pivots"),
    CQ_BODY("aten::_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor "
            "pivots)",
            "signs and logarithms of determinants, and the triangular factors",
            "sign, log = linalg_slogdet(A)\n"
            "lu, pivots, order = triangles(A.transpose(-2, -1), True)\n"
            "return sign, log, lu, pivots"),
    CQ_BODY(
        "aten::_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> "
        "(Tensor result, Tensor LU, Tensor pivots, Tensor info)",
        "solutions of linear equations, and the triangular factors",
        "lu, pivots, order = triangles(A, True)\n"
        "return linalg_solve(A, B, left=left), lu, pivots,"
        " zeros(A.shape[:-2], dtype=torch.int32)"),
    /* ---- reflectors ---- */
    CQ_BODY("aten::geqrf(Tensor self) -> (Tensor a, Tensor tau)",
            "Householder's reflectors below a triangle", "return reflectors(self)"),
    CQ_BODY(
        "aten::linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
        "the first columns of a product of reflectors",
        "reflected_by(input, tau, eye(input.shape[-2], input.shape[-1], dtype=input.dtype), True, "
        "False)"),
    CQ_BODY("aten::orgqr(Tensor self, Tensor input2) -> Tensor",
            "the first columns of a product of reflectors",
            "linalg_householder_product(self, input2)"),
    CQ_BODY("aten::ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool "
            "transpose=False) -> "
            "Tensor",
            "a product with reflectors", "reflected_by(self, input2, input3, left, transpose)"),
    CQ_BODY("aten::linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)",
            "orthogonal and triangular factors",
            "assert mode in ['reduced', 'complete', 'r'], 'there is no mode {mode}'\n"
            "rows = A.shape[-2]; k = min(rows, A.shape[-1])\n"
            "a, tau = reflectors(A)\n"
            "if mode == 'r': return A.new_empty([0]), a.slice(-2, 0, k).triu()\n"
            "n = rows if mode == 'complete' else k\n"
            "q = reflected_by(a, tau, eye(rows, n, dtype=A.dtype), True, False)\n"
            "return q, a.slice(-2, 0, n).triu()"),
    CQ_BODY("aten::qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)",
            "orthogonal and triangular factors",
            "return linalg_qr(self, 'reduced' if some else 'complete')"),
    /* ---- with other shapes ---- */
    CQ_BODY("aten::linalg_tensorinv(Tensor self, int ind=2) -> Tensor",
            "inverses of tensors as matrices",
            "assert ind > 0, 'ind should be above 0, not {ind}'\n"
            "n = prod(self.shape[:ind])\n"
            "return linalg_inv(self.reshape([n, n])).reshape(self.shape[ind:] + self.shape[:ind])"),
    CQ_BODY("aten::linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
            "solutions of equations of tensors",
            "a = self if dims is None else self.movedim(dims, range(self.ndim - len(dims), "
            "self.ndim))\n"
            "n = other.numel()\n"
            "x = linalg_solve(a.reshape([n, n]), other.reshape([n]))\n"
            "return x.reshape(a.shape[other.ndim:])"),
    /* By squaring: exp(A) = exp(A / 2^s)^(2^s), with s such that the series is short. */
    CQ_BODY("aten::linalg_matrix_exp(Tensor self) -> Tensor",
            "the exponential function of matrices",
            "n = self.shape[-1]\n"
            "assert self.ndim >= 2 and self.shape[-2] == n, 'wants square matrices'\n"
            "if size_hint(self.numel()) == 0: return self.clone()\n"
            "a = self.to(torch.float64)\n"
            "norm = a.abs().sum([-2], True).amax([-1], True)\n"
            "s = (norm.log2().ceil() + 1).clamp(0, 20)\n"
            "x = a / pow(2., s); one = identity_like(a); y = batched(one, a)\n"
            "for k in reversed(range(1, 19)): y = one + (x @ y) / k\n"
            "for k in range(20): y = where(s > k, y @ y, y)\n"
            "return y.to(self.dtype)"),
    CQ_SAME_AS("aten::matrix_exp(Tensor self) -> Tensor", "aten::linalg_matrix_exp"),
    { 0 }
};
