"""Distances and norms."""

import math
import torch

from calque import broadcast_shapes, dtype_name, operator, result_type, wrap_dims
from aten.common import real_form


def unitary_part(a):
    """The matrix [.., m, n] with the singular vectors of a and singular values of 1, except for
    very small ones, which stay near 0."""
    x = a / (a * a).sum([-2, -1], True).sqrt().clamp(min=1e-30)
    for i in range(45):
        x = x * 1.5 - x @ (x.transpose(-2, -1) @ x) * 0.5
    return x


def greatest_square(a):
    """The square of the greatest singular value. Repeated squaring of a' a converges to a
    projection onto its singular vectors."""
    g = a.transpose(-2, -1) @ a
    p = g
    for i in range(40):
        p = p / p.diagonal(0, -2, -1).sum([-1]).unsqueeze(-1).unsqueeze(-1).clamp(min=1e-30)
        p = p @ p
    d = p.diagonal(0, -2, -1).sum([-1])
    return (g * p).sum([-2, -1]) / d.clamp(min=1e-30)


def singular_norm(x, dims, keepdim, total):
    """The sum of the singular values (total), or the greatest one."""
    a = x.movedim(dims, [-2, -1])
    copies = 1
    if x.is_complex():  # the real form has every singular value twice
        a = real_form(a)
        copies = 2
    result_dtype = a.dtype
    a = a.to(torch.float64)
    y = (unitary_part(a) * a).sum([-2, -1]) / copies if total else greatest_square(a).sqrt()
    y = y.to(result_dtype)
    return y.unsqueeze(min(dims)).unsqueeze(max(dims)) if keepdim else y


def matrix_dims(dim, rank):
    assert len(dim) == 2, f"expected two dimensions of matrices, got {len(dim)}"
    dims = wrap_dims(dim, rank)
    assert dims[0] != dims[1], f"expected two different dimensions, got {dim}"
    return dims


def converted(x, dtype):
    return x if dtype is None else x.to(dtype)


@operator("aten::dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", complex=True)
def dist(self, other, p):
    """The p-norm of the difference."""
    return torch.ops.aten.norm(self - other, p)


@operator(
    "aten::pairwise_distance(Tensor x1, Tensor x2, float p=2., "
    "float eps=9.9999999999999995e-07, bool keepdim=False) -> Tensor",
    complex=True,
)
def pairwise_distance(x1, x2, p, eps, keepdim):
    """Distances of vectors along the last dimension.

    Eps is part of the distance; it keeps the gradient finite at zero.
    """
    return torch.ops.aten.norm(x1 - x2 + eps, p, -1, keepdim)


@operator(
    "aten::cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor",
    autocast="float32",
)
def cdist(x1, x2, p, compute_mode):
    """Distances of all pairs of rows.

    For p = 2 PyTorch may use a matrix product (compute_mode). The direct sum used here is more
    exact.
    """
    assert x1.ndim > 1 and x2.ndim > 1, "expected at least 2 dimensions"
    assert p >= 0, f"expected p of at least 0, got {p}"
    assert x1.shape[-1] == x2.shape[-1], f"rows have {x1.shape[-1]} and {x2.shape[-1]} elements"
    return torch.ops.aten.norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1)


@operator("aten::_euclidean_dist(Tensor x1, Tensor x2) -> Tensor")
def _euclidean_dist(x1, x2):
    """Distances of all pairs of rows."""
    return torch.ops.aten.cdist(x1, x2, 2.0)


@operator("aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor")
def cosine_similarity(x1, x2, dim, eps):
    """Cosines of the angles of vectors."""
    dtype = result_type(x1, x2)
    assert dtype.is_floating_point, f"expected floats, got {dtype_name(dtype)}"
    shape = broadcast_shapes(x1, x2)
    x1 = x1.to(dtype).expand(shape)
    x2 = x2.to(dtype).expand(shape)
    n1 = torch.ops.aten.norm(x1, 2, dim, True).clamp_min(eps)
    n2 = torch.ops.aten.norm(x2, 2, dim, True).clamp_min(eps)
    return (x1 / n1 * (x2 / n2)).sum(dim)


@operator("aten::frobenius_norm(Tensor self) -> Tensor")
def frobenius_norm(self):
    """The square root of the sum of squares."""
    return torch.ops.aten.norm(self, 2, [])


@operator("aten::frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor")
def frobenius_norm_dim(self, dim, keepdim):
    """The square root of the sum of squares."""
    return torch.ops.aten.norm(self, 2, dim, keepdim)


@operator(
    "aten::linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], "
    "bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    complex=True,
)
def linalg_matrix_norm(self, ord, dim, keepdim, dtype):
    """Norms of matrices.

    Order 1 is the greatest sum of absolute values of a column, infinity that of a row; negative
    orders are the least sums.
    """
    if ord not in [1, -1, 2, math.inf, -math.inf]:
        raise NotImplementedError(f"norm {ord}, the least singular value, is not supported")
    dims = matrix_dims(dim, self.ndim)
    x = converted(self, dtype)
    if ord == 2:
        return singular_norm(x, dims, keepdim, False)
    t = x.abs().sum(dims[0] if abs(ord) == 1 else dims[1], True)
    pick = dims[1] if abs(ord) == 1 else dims[0]
    t = t.amax(pick, True) if ord > 0 else t.amin(pick, True)
    return t if keepdim else t.squeeze(max(dims)).squeeze(min(dims))


@operator(
    'aten::linalg_matrix_norm.str_ord(Tensor self, str ord="fro", int[] dim=[-2, -1], '
    "bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    complex=True,
)
def linalg_matrix_norm_str_ord(self, ord, dim, keepdim, dtype):
    """Norms of matrices."""
    assert ord in ["fro", "nuc"], f"unknown norm {ord}"
    dims = matrix_dims(dim, self.ndim)
    x = converted(self, dtype)
    if ord == "nuc":
        return singular_norm(x, dims, keepdim, True)
    return torch.ops.aten.norm(x, 2, dims, keepdim)


@operator("aten::nuclear_norm(Tensor self, bool keepdim=False) -> Tensor")
def nuclear_norm(self, keepdim):
    """The sum of singular values."""
    return torch.ops.aten.linalg_matrix_norm.str_ord(self, "nuc", [-2, -1], keepdim)


@operator("aten::nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor")
def nuclear_norm_dim(self, dim, keepdim):
    """The sum of singular values."""
    return torch.ops.aten.linalg_matrix_norm.str_ord(self, "nuc", dim, keepdim)


@operator(
    "aten::linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, "
    "*, ScalarType? dtype=None) -> Tensor",
    complex=True,
)
def linalg_norm(self, ord, dim, keepdim, dtype):
    """Norms of vectors or matrices.

    A matrix norm if there are two dimensions and an order, otherwise a vector norm.
    """
    n = self.ndim if dim is None else len(dim)
    if ord is not None and n == 2:
        return torch.ops.aten.linalg_matrix_norm(
            self, ord, [0, 1] if dim is None else dim, keepdim, dtype=dtype
        )
    assert ord is None or n == 1, f"norm {ord} expects one or two dimensions, got {n}"
    return torch.ops.aten.linalg_vector_norm(
        self, 2 if ord is None else ord, dim, keepdim, dtype=dtype
    )


@operator(
    "aten::linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, "
    "*, ScalarType? dtype=None) -> Tensor"
)
def linalg_norm_ord_str(self, ord, dim, keepdim, dtype):
    """Norms of matrices."""
    n = self.ndim if dim is None else len(dim)
    assert n == 2, f"norm {ord} expects two dimensions, got {n}"
    return torch.ops.aten.linalg_matrix_norm(
        self, ord, [0, 1] if dim is None else dim, keepdim, dtype=dtype
    )
