/* Distances between vectors and norms of matrices, composed of reductions. */
#include "aten/op.h"

const cq_op_def cq_ops_distance[] = {
    CQ_BODY("aten::dist(Tensor self, Tensor other, Scalar p=2) -> Tensor",
            "p-norm of the difference", "norm(self - other, p)"),
    /* eps keeps the gradient away from zero; it is part of the distance. */
    CQ_BODY("aten::pairwise_distance(Tensor x1, Tensor x2, float p=2., "
            "float eps=9.9999999999999995e-07, bool keepdim=False) -> Tensor",
            "distances of vectors along the last dimension", "norm(x1 - x2 + eps, p, -1, keepdim)"),
    /* PyTorch may take a shortcut over a matrix product for p = 2 (compute_mode); the distances are
     * the same up to rounding, and the direct way is exact. */
    CQ_BODY("aten::cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor",
            "distances of all pairs of rows",
            "assert x1.ndim > 1 and x2.ndim > 1, 'both tensors need at least 2 dimensions'\n"
            "assert p >= 0, 'p should not be negative'\n"
            "assert x1.shape[-1] == x2.shape[-1], 'rows have {x1.shape[-1]} and {x2.shape[-1]} "
            "elements'\n"
            "return norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1)"),
    CQ_BODY("aten::_euclidean_dist(Tensor x1, Tensor x2) -> Tensor",
            "distances of all pairs of rows", "cdist(x1, x2, 2.)"),
    CQ_BODY("aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
            "cosines of the angles of vectors",
            "dtype = result_type(x1, x2)\n"
            "assert dtype.is_floating_point, 'works on floats only, not on {dtype_name(dtype)}'\n"
            "shape = broadcast_shapes(x1, x2)\n"
            "x1 = x1.to(dtype).expand(shape)\n"
            "x2 = x2.to(dtype).expand(shape)\n"
            "n1 = norm(x1, 2, dim, True).clamp_min(eps)\n"
            "n2 = norm(x2, 2, dim, True).clamp_min(eps)\n"
            "return (x1 / n1 * (x2 / n2)).sum(dim)"),
    CQ_BODY("aten::frobenius_norm(Tensor self) -> Tensor", "root of the sum of squares",
            "norm(self, 2, [])"),
    CQ_BODY("aten::frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
            "root of the sum of squares", "norm(self, 2, dim, keepdim)"),
    /* The greatest (or, for negative orders, least) sum of the absolute values of a column (order
     * 1) or row (infinite order). */
    CQ_BODY(
        "aten::linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, "
        "*, "
        "ScalarType? dtype=None) -> Tensor",
        "norms of matrices",
        "if ord not in [1, -1, 2, math.inf, -math.inf]: "
        "raise NotImplementedError('the least singular value (norm {ord}) cannot be exported')\n"
        "dims = matrix_dims(dim, self.ndim)\n"
        "x = converted(self, dtype)\n"
        "if ord == 2: return singular_norm(x, dims, keepdim, False)\n"
        "t = x.abs().sum(dims[0] if abs(ord) == 1 else dims[1], True)\n"
        "pick = dims[1] if abs(ord) == 1 else dims[0]\n"
        "t = t.amax(pick, True) if ord > 0 else t.amin(pick, True)\n"
        "return t if keepdim else t.squeeze(max(dims)).squeeze(min(dims))"),
    CQ_BODY("aten::linalg_matrix_norm.str_ord(Tensor self, str ord=\"fro\", int[] dim=[-2, -1], "
            "bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
            "norms of matrices",
            "assert ord in ['fro', 'nuc'], 'there is no norm {ord}'\n"
            "dims = matrix_dims(dim, self.ndim)\n"
            "x = converted(self, dtype)\n"
            "if ord == 'nuc': return singular_norm(x, dims, keepdim, True)\n"
            "return norm(x, 2, dims, keepdim)"),
    CQ_BODY("aten::nuclear_norm(Tensor self, bool keepdim=False) -> Tensor",
            "the sum of singular values",
            "linalg_matrix_norm.str_ord(self, 'nuc', [-2, -1], keepdim)"),
    CQ_BODY("aten::nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor",
            "the sum of singular values", "linalg_matrix_norm.str_ord(self, 'nuc', dim, keepdim)"),
    /* A vector norm, or a matrix norm when two dimensions meet an order. */
    CQ_BODY(
        "aten::linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, "
        "ScalarType? dtype=None) -> Tensor",
        "norms of vectors or matrices",
        "n = self.ndim if dim is None else len(dim)\n"
        "if ord is not None and n == 2: "
        "return linalg_matrix_norm(self, ord, [0, 1] if dim is None else dim, keepdim, "
        "dtype=dtype)\n"
        "assert ord is None or n == 1, 'this order wants one or two dimensions, not {n}'\n"
        "return linalg_vector_norm(self, 2 if ord is None else ord, dim, keepdim, dtype=dtype)"),
    CQ_BODY(
        "aten::linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, "
        "ScalarType? dtype=None) -> Tensor",
        "norms of matrices",
        "n = self.ndim if dim is None else len(dim)\n"
        "assert n == 2, 'this order wants two dimensions, not {n}'\n"
        "return linalg_matrix_norm(self, ord, [0, 1] if dim is None else dim, keepdim, "
        "dtype=dtype)"),
    { 0 }
};
