/* Systems of linear equations, by elimination: solutions, inverses, Cholesky's factors. ONNX has
 * nothing of it, so the steps are written out, one for each row; sizes are baked in. A matrix that
 * has no solution gives infinities or NaN, where PyTorch raises an error. */
#include "aten/op.h"

#define ROW(text_of_schema, text, code)                                                            \
    {                                                                                              \
        .schema = "aten::" text_of_schema, .about = text, .body = code                             \
    }

const cq_op_def cq_ops_solve[] = {
    ROW("linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
        "solutions of linear equations",
        "vectors = B.ndim == 1 or B.ndim + 1 == A.ndim and B.shape == A.shape[:-1]\n"
        "assert left or not vectors, 'vectors stand on the right side'\n"
        "return solved(A, B.unsqueeze(-1), True).squeeze(-1) if vectors else solved(A, B, left)"),
    ROW("linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> "
        "(Tensor result, "
        "Tensor info)",
        "solutions of linear equations",
        "return linalg_solve(A, B, left=left), zeros(A.shape[:-2], dtype=torch.int32)"),
    ROW("linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
        "inverses of matrices", "return linalg_inv(A), zeros(A.shape[:-2], dtype=torch.int32)"),
    ROW("linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool "
        "unitriangular=False) -> Tensor",
        "solutions of triangular equations",
        "solved(triangle(self, upper, unitriangular), B, left)"),
    ROW("triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool "
        "unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
        "solutions of triangular equations",
        "t = triangle(A, upper, unitriangular)\n"
        "x = solved(t.transpose(-2, -1) if transpose else t, self, True)\n"
        "return x, batched(A, self).clone()"),
    /* Column i of the factor is what is left of column i of A, divided by the root of its first
     * number; its product with itself is taken off A. */
    ROW("linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor", "Cholesky's factors",
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
    ROW("linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor "
        "L, Tensor "
        "info)",
        "Cholesky's factors",
        "return linalg_cholesky(self, upper=upper), zeros(self.shape[:-2], dtype=torch.int32)"),
    ROW("cholesky(Tensor self, bool upper=False) -> Tensor", "Cholesky's factors",
        "linalg_cholesky(self, upper=upper)"),
    ROW("cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
        "solutions of equations whose Cholesky factor is known", "by_factor(input2, self, upper)"),
    ROW("cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
        "inverses of matrices whose Cholesky factor is known",
        "n = rows_of(self)\n"
        "return by_factor(self, identity_like(self), upper)"),
    { 0 }
};
