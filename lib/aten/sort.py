"""Sorting, medians and quantiles."""

import math
import torch

from calque import gradient, operator, traits
from aten.gradients import kept, shared_all


@operator("aten::argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor")
def argsort(self, dim, descending):
    """Indices that sort the elements."""
    return torch.sort(self, stable=True, dim=dim, descending=descending)[1]


@operator(
    "aten::argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) "
    "-> Tensor"
)
def argsort_stable(self, stable, dim, descending):
    """Indices that sort the elements."""
    return torch.sort(self, stable=True, dim=dim, descending=descending)[1]


@operator("aten::msort(Tensor self) -> Tensor")
def msort(self):
    """Elements sorted along the first dimension."""
    return torch.sort(self, 0, False)[0]


@operator(
    "aten::bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, "
    "bool right=False) -> Tensor"
)
@operator(
    "aten::bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, "
    "bool right=False) -> Tensor"
)
def bucketize_Tensor(self, boundaries, out_int32, right):
    """Index of the bucket that each element falls into."""
    assert boundaries.ndim == 1, f"expected boundaries of one dimension, got {boundaries.ndim}"
    return torch.searchsorted(boundaries, self, out_int32=out_int32, right=right)


@gradient("aten::median")
@gradient("aten::nanmedian")
def median_gradient(grad, result, self):
    return {"self": shared_all(grad, result, self)}


@gradient("aten::median.dim")
@gradient("aten::nanmedian.dim")
@gradient("aten::kthvalue")
@gradient("aten::mode")
def median_dim_gradient(grad, result1, self, dim):
    return {
        "self": torch.scatter_add(
            torch.zeros_like(self), dim, kept(result1, self, [dim]), kept(grad, self, [dim])
        )
    }


@gradient("aten::sort")
@gradient("aten::sort.stable")
@gradient("aten::topk")
@gradient("aten::cummax")
@gradient("aten::cummin")
def sort_gradient(grad, result1, self, dim):
    return {"self": torch.scatter_add(torch.zeros_like(self), dim, result1, grad)}


@gradient("aten::cumsum")
def cumsum_gradient(grad, dim):
    return {"self": torch.flip(torch.cumsum(torch.flip(grad, [dim]), dim), [dim])}


@gradient("aten::cumprod")
def cumprod_gradient(grad, result, self, dim, dtype):
    """Each element contributes to all products from its index on. Division by the element gives its
    factor; where the element is zero, the product of the others is computed, one index after
    another."""
    zero = bool(torch.any(self == 0))
    part = grad
    for i in range(self.shape[dim] if zero and self.ndim > 0 else 0):
        one = torch.ones_like(torch.select(grad, dim, i), dtype=self.dtype)
        x = torch.cumprod(torch.select_scatter(self, one, dim, i), dim) * grad
        part = torch.select_scatter(part, torch.ops.aten.slice(x, dim, i).sum(dim), dim, i)
    return {
        "self": part
        if zero
        else torch.flip(torch.cumsum(torch.flip(grad * result, [dim]), dim), [dim]) / self
    }


@gradient("aten::logcumsumexp")
def logcumsumexp_gradient(grad, result, self, dim):
    return {
        "self": torch.exp(
            torch.flip(
                torch.logcumsumexp(
                    torch.flip(torch.where(grad > 0, torch.log(grad), -math.inf) - result, [dim]),
                    dim,
                ),
                [dim],
            )
            + self
        )
        - torch.exp(
            torch.flip(
                torch.logcumsumexp(
                    torch.flip(torch.where(-grad > 0, torch.log(-grad), -math.inf) - result, [dim]),
                    dim,
                ),
                [dim],
            )
            + self
        )
    }


# ---- traits of operators whose rows are in C ----

traits("aten::sort.*", cost="sorted", quantized="keep")
traits("aten::median.*", cost="sorted")
traits("aten::nanmedian.*", cost="sorted")
traits("aten::searchsorted.*", cost="sorted")
traits("aten::cumsum", cost="fetched", vmap="by_axes")
traits("aten::cumprod", cost="fetched", vmap="by_axes")
traits("aten::sort", vmap="by_axes")
traits("aten::topk", cost="sorted", quantized="keep", vmap="by_axes")
traits("aten::kthvalue", cost="sorted")
traits("aten::mode", cost="sorted")
traits("aten::cummax", cost="fetched")
traits("aten::cummin", cost="fetched")
traits("aten::logcumsumexp", cost="function")
