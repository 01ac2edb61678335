"""Products of matrices and vectors."""

import math
import torch

from calque import gradient, is_known, operator, traits, wrap_dim
from aten.quantized_layers import on_grid


def factor_in(x, dtype):
    """A factor converted to the dtype: 0.6 becomes 0 for integers, and 3 becomes true for bools. A
    data-dependent factor is a tensor."""
    if isinstance(x, torch.Tensor) or dtype.is_floating_point or dtype.is_complex:
        return x
    if dtype == torch.bool:
        return int(x != 0)
    return int(x) if isinstance(x, float) else x


def times(x, factor):
    return x if is_known(factor) and factor == 1 else x * factor


def add_scaled(self, product, beta, alpha):
    """beta * self + alpha * product. If beta is 0, self is not read, so its NaNs are ignored."""
    scale = factor_in(beta, product.dtype)
    product = times(product, factor_in(alpha, product.dtype))
    return product if is_known(scale) and scale == 0 else times(self, scale) + product


def as_rows(t):
    return t.reshape([math.prod(t.shape[:-1]), t.shape[-1]])


@operator("aten::vdot(Tensor self, Tensor other) -> Tensor")
def vdot(self, other):
    """Inner product of two real vectors."""
    return torch.dot(self, other)


@operator("aten::linalg_matmul(Tensor self, Tensor other) -> Tensor", autocast="lower")
def linalg_matmul(self, other):
    """The same as aten::matmul."""
    return torch.matmul(self, other)


@operator(
    "aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, "
    "Scalar alpha=1) -> Tensor",
    complex=True,
    autocast="lower",
)
def addbmm(self, batch1, batch2, beta, alpha):
    """beta * self + alpha * the sum of a batch of products."""
    return add_scaled(self, torch.bmm(batch1, batch2).sum(0, dtype=batch1.dtype), beta, alpha)


@operator(
    "aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) "
    "-> Tensor",
    complex=True,
)
def addmv(self, mat, vec, beta, alpha):
    """Beta * self + alpha * mat @ vec."""
    return add_scaled(self, torch.mv(mat, vec), beta, alpha)


@operator(
    "aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) "
    "-> Tensor",
    complex=True,
)
def addr(self, vec1, vec2, beta, alpha):
    """Beta * self + alpha * outer(vec1, vec2)."""
    return add_scaled(self, torch.outer(vec1, vec2), beta, alpha)


@operator("aten::outer(Tensor self, Tensor vec2) -> Tensor", complex=True)
def outer(self, vec2):
    """The outer product of two vectors."""
    assert self.ndim == 1 and vec2.ndim == 1, "expected two vectors"
    return self.unsqueeze(1) * vec2


@operator("aten::ger(Tensor self, Tensor vec2) -> Tensor")
def ger(self, vec2):
    """The same as aten::outer."""
    return torch.outer(self, vec2)


@operator("aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor", complex=True)
def linalg_cross(self, other, dim):
    """The cross product of vectors of three elements.

    C[i] = a[i + 1] * b[i + 2] - a[i + 2] * b[i + 1], with indices modulo 3.
    """
    assert (
        self.ndim == other.ndim
    ), f"expected the same number of dimensions, got {self.ndim} and {other.ndim}"
    d = wrap_dim(dim, self.ndim)
    assert self.shape[d] == 3 and other.shape[d] == 3, "expected a dimension of size 3"
    return self.roll(-1, d) * other.roll(-2, d) - self.roll(-2, d) * other.roll(-1, d)


@operator("aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor", complex=True)
def cross(self, other, dim):
    """The cross product of vectors of three elements."""
    for i in range(self.ndim):
        if dim is None and self.shape[i] == 3:
            dim = i
    assert dim is not None, "expected a dimension of size 3"
    return torch.ops.aten.linalg_cross(self, other, dim=dim)


@operator("aten::chain_matmul(Tensor[] matrices) -> Tensor")
def chain_matmul(matrices):
    """Product of several matrices.

    Multiplies from left to right. PyTorch chooses the cheapest order; the product is the same.
    """
    assert len(matrices) > 0, "expected at least one matrix"
    t = matrices[0]
    for m in matrices[1:]:
        t = t @ m
    return t


@operator("aten::linalg_multi_dot(Tensor[] tensors) -> Tensor", complex=True, autocast="lower")
def linalg_multi_dot(tensors):
    """Product of several matrices."""
    assert len(tensors) > 0, "expected at least one matrix"
    t = tensors[0]
    for m in tensors[1:]:
        t = t @ m
    return t


@operator(
    "quantized::matmul(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
    of_views=True,
    cost="matrix_product",
)
def quantized_matmul(qa, qb, scale, zero_point):
    """Quantized product of matrices."""
    return on_grid(qa, qa @ qb, scale, zero_point)


@gradient("aten::mm")
def mm_gradient(grad, self, mat2):
    return {"self": torch.mm(grad, torch.t(mat2)), "mat2": torch.mm(torch.t(self), grad)}


@gradient("aten::bmm")
def bmm_gradient(grad, self, mat2):
    return {
        "self": torch.bmm(grad, torch.transpose(mat2, 1, 2)),
        "mat2": torch.bmm(torch.transpose(self, 1, 2), grad),
    }


@gradient("aten::mv")
def mv_gradient(grad, self, vec):
    return {"self": torch.outer(grad, vec), "vec": torch.mv(torch.t(self), grad)}


@gradient("aten::dot")
def dot_gradient(grad, self, tensor):
    return {"self": grad * tensor, "tensor": grad * self}


@gradient("aten::matmul")
def matmul_gradient(grad, self, other):
    """A vector is a row on the left, a column on the right. cq_grad_set sums batch dimensions that
    were broadcast, after the added dimensions of vectors have been removed."""
    a = self.unsqueeze(0) if self.ndim == 1 else self
    b = other.unsqueeze(1) if other.ndim == 1 else other
    d = grad.unsqueeze(-1) if other.ndim == 1 else grad
    d = d.unsqueeze(-2) if self.ndim == 1 else d
    return {
        "self": (d @ b.transpose(-2, -1)).squeeze(-2)
        if self.ndim == 1
        else d @ b.transpose(-2, -1),
        "other": (a.transpose(-2, -1) @ d).squeeze(-1)
        if other.ndim == 1
        else a.transpose(-2, -1) @ d,
    }


@gradient("aten::addmm")
def addmm_gradient(grad, mat1, mat2, beta, alpha):
    return {
        "self": grad * beta,
        "mat1": torch.mm(grad, torch.t(mat2)) * alpha,
        "mat2": torch.mm(torch.t(mat1), grad) * alpha,
    }


@gradient("aten::baddbmm")
def baddbmm_gradient(grad, batch1, batch2, beta, alpha):
    return {
        "self": grad * beta,
        "batch1": torch.bmm(grad, torch.transpose(batch2, 1, 2)) * alpha,
        "batch2": torch.bmm(torch.transpose(batch1, 1, 2), grad) * alpha,
    }


@gradient("aten::linear")
def linear_gradient(grad, input, weight):
    """A weight of one dimension gives one result, without a separate dimension."""
    vector = weight.ndim == 1
    return {
        "input": grad.unsqueeze(-1) * weight if vector else grad @ weight,
        "weight": grad.unsqueeze(-1) * input
        if vector
        else torch.mm(as_rows(grad).t(), as_rows(input)),
        "bias": grad,
    }


# ---- traits of operators whose rows are in C ----

traits("aten::matmul", autocast="lower", cost="matrix_product", vmap="product")
traits("aten::mm", autocast="lower", cost="matrix_product", vmap="product")
traits("aten::bmm", autocast="lower", cost="matrix_product", vmap="product")
traits("aten::mv", autocast="lower", cost="matrix_product", vmap="product")
traits("aten::dot", cost="matrix_product", vmap="product")
traits("aten::linear", autocast="lower", cost="matrix_product", vmap="linear")
traits("aten::baddbmm", autocast="lower", cost="matrix_product")
traits("aten::addmm", autocast="lower", cost="matrix_product")
