"""Reductions."""

import math
import torch

from calque import gradient, operator, size_hint, traits, wrap_dims
from aten.gradients import is_reduced, kept, shared_all


def reduced_size(x, dim):
    return math.prod([x.shape[i] for i in range(x.ndim) if is_reduced(i, dim, x.ndim)])


def tested(x, dim, keepdim, test):
    """One dimension after another; None stands for all, and an empty list for none."""
    dims = range(x.ndim) if dim is None else wrap_dims(dim, x.ndim)
    if len(dims) == 0:
        is_set = x != 0
        return is_set.to(torch.uint8) if x.dtype == torch.uint8 else is_set
    for d in dims:
        x = torch.all(x, d, True) if test == "all" else torch.any(x, d, True)
    return x if keepdim else x.squeeze(dims)


@operator(
    "aten::all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
    complex=True,
)
def all_dims(self, dim, keepdim):
    """Whether all elements are nonzero, along some dimensions."""
    return tested(self, dim, keepdim, "all")


@operator(
    "aten::any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
    complex=True,
)
def any_dims(self, dim, keepdim):
    """Whether any element is nonzero, along some dimensions."""
    return tested(self, dim, keepdim, "any")


def shared(grad, best, x, dim):
    """Equal extreme elements share the gradient."""
    same = x == kept(best, x, dim)
    return kept(grad, x, dim) / same.sum(dim, True) * same


def of_variance(grad, x, dim, correction):
    """d var = 2 (x - mean) / (n - correction). Where the variance is undefined PyTorch returns
    infinity or NaN."""
    rest = reduced_size(x, dim) - correction
    mean = x.mean(dim, True)
    if rest > 0:
        return kept(grad, x, dim) * (2 / rest) * (x - mean)
    return kept(grad, x, dim) * torch.where(x == mean, math.inf, math.nan)


def of_deviation(grad, std, x, dim, correction):
    """d std = d var / (2 std)."""
    return of_variance((grad / (std * 2)).masked_fill(std == 0, 0), x, dim, correction)


def of_mean(grad, x, dim):
    return kept(grad, x, dim) / torch.scalar_tensor(reduced_size(x, dim), dtype=grad.dtype)


def of_norm(grad, norm, x, ord, dim):
    """x |x|^(p-2) / norm^(p-1), and 0 where the norm is zero."""
    p = 2.0 if ord is None else float(ord)
    n = kept(norm, x, dim)
    d = kept(grad, x, dim)
    if p == 0:
        return torch.zeros_like(x)
    if p == 1:
        return d * x.sign()
    if p == 2:
        return d * (x / n).masked_fill(n == 0, 0)
    same = x.abs() == n
    if abs(p) == math.inf:
        return d / same.sum(dim, True) * same * x.sign()
    slope = (x.abs() ** (p - 1) * x.sign()).masked_fill(x == 0, 0)
    return d * (slope / n ** (p - 1)).masked_fill(n == 0, 0)


def product_before(x, dim):
    """Along dim: the product of all elements before each one."""
    return torch.cat(
        [torch.ones_like(torch.ops.aten.slice(x, dim, 0, 1)), torch.ops.aten.slice(x, dim, 0, -1)],
        dim,
    ).cumprod(dim)


def product_of_others(x, dim):
    """The gradient of a product: the product of all other elements. It avoids division, because
    elements may be zero."""
    return product_before(x, dim) * product_before(x.flip([dim]), dim).flip([dim])


@operator("aten::sum_to_size(Tensor self, int[] size) -> Tensor", complex=True)
def sum_to_size(self, size):
    """Sums broadcast dimensions back to these sizes.

    Integers become int64 even if there is only one.
    """
    lead = self.ndim - len(size)
    assert lead >= 0, "size does not broadcast to the tensor"
    if len(size) == 0:
        return self.sum()
    own = self.shape[lead:]
    for i in range(len(size)):
        assert size[i] == own[i] or size[i] == 1, "size does not broadcast to the tensor"
    dims = list(range(lead)) + [
        lead + i for i in range(len(size)) if size_hint(size[i]) != size_hint(own[i])
    ]
    x = self.sum(dims, True) if len(dims) > 0 else self
    return x.reshape(size) if lead > 0 else x


@operator(
    "aten::nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor"
)
def nansum(self, dim, keepdim, dtype):
    """Sum of the elements other than NaN."""
    x = self.masked_fill(self.isnan(), 0) if self.is_floating_point() else self
    return x.sum(dim, keepdim, dtype=dtype)


@operator(
    "aten::nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor"
)
def nanmean(self, dim, keepdim, dtype):
    """Mean of the elements other than NaN."""
    n = self.isnan().logical_not().sum(dim, keepdim)
    return torch.nansum(self, dim, keepdim, dtype=dtype) / n


@gradient("aten::sum.dim_IntList")
def sum_dim_IntList_gradient(grad, self, dim):
    return {"self": kept(grad, self, dim).expand(self.shape)}


@gradient("aten::sum")
def sum_gradient(grad, self):
    return {"self": kept(grad, self, None).expand(self.shape)}


@gradient("aten::nansum")
def nansum_gradient(grad, self, dim):
    return {"self": kept(grad, self, dim) * self.isnan().logical_not()}


@gradient("aten::mean")
def mean_gradient(grad, self):
    return {"self": of_mean(grad, self, None).expand(self.shape)}


@gradient("aten::mean.dim")
def mean_dim_gradient(grad, self, dim):
    return {"self": of_mean(grad, self, dim).expand(self.shape)}


@gradient("aten::prod")
def prod_gradient(grad, self):
    return {
        "self": kept(grad, self, None)
        * product_of_others(self.reshape([-1]), 0).reshape(self.shape)
    }


@gradient("aten::prod.dim_int")
def prod_dim_int_gradient(grad, self, dim):
    return {
        "self": grad if self.ndim == 0 else kept(grad, self, [dim]) * product_of_others(self, dim)
    }


@gradient("aten::var")
def var_gradient(grad, self, unbiased):
    return {"self": of_variance(grad, self, None, float(unbiased))}


@gradient("aten::std")
def std_gradient(grad, result, self, unbiased):
    return {"self": of_deviation(grad, result, self, None, float(unbiased))}


@gradient("aten::var_mean")
def var_mean_gradient(grad, grad1, self, unbiased):
    return {"self": of_variance(grad, self, None, float(unbiased)) + of_mean(grad1, self, None)}


@gradient("aten::std_mean")
def std_mean_gradient(grad, grad1, result, self, unbiased):
    return {
        "self": of_deviation(grad, result, self, None, float(unbiased)) + of_mean(grad1, self, None)
    }


@gradient("aten::var.dim")
def var_dim_gradient(grad, self, dim, unbiased):
    return {"self": of_variance(grad, self, dim, float(unbiased))}


@gradient("aten::std.dim")
def std_dim_gradient(grad, result, self, dim, unbiased):
    return {"self": of_deviation(grad, result, self, dim, float(unbiased))}


@gradient("aten::var_mean.dim")
def var_mean_dim_gradient(grad, grad1, self, dim, unbiased):
    return {"self": of_variance(grad, self, dim, float(unbiased)) + of_mean(grad1, self, dim)}


@gradient("aten::std_mean.dim")
def std_mean_dim_gradient(grad, grad1, result, self, dim, unbiased):
    return {
        "self": of_deviation(grad, result, self, dim, float(unbiased)) + of_mean(grad1, self, dim)
    }


@gradient("aten::var.correction")
def var_correction_gradient(grad, self, dim, correction):
    return {"self": of_variance(grad, self, dim, 1.0 if correction is None else float(correction))}


@gradient("aten::std.correction")
def std_correction_gradient(grad, result, self, dim, correction):
    return {
        "self": of_deviation(
            grad, result, self, dim, 1.0 if correction is None else float(correction)
        )
    }


@gradient("aten::var_mean.correction")
def var_mean_correction_gradient(grad, grad1, self, dim, correction):
    return {
        "self": of_variance(grad, self, dim, 1.0 if correction is None else float(correction))
        + of_mean(grad1, self, dim)
    }


@gradient("aten::std_mean.correction")
def std_mean_correction_gradient(grad, grad1, result, self, dim, correction):
    return {
        "self": of_deviation(
            grad, result, self, dim, 1.0 if correction is None else float(correction)
        )
        + of_mean(grad1, self, dim)
    }


@gradient("aten::max")
@gradient("aten::min")
def max_gradient(grad, result, self):
    return {"self": shared_all(grad, result, self)}


@gradient("aten::max.dim")
@gradient("aten::min.dim")
def max_dim_gradient(grad, result1, self, dim):
    return {
        "self": torch.scatter_add(
            torch.zeros_like(self), dim, kept(result1, self, [dim]), kept(grad, self, [dim])
        )
    }


@gradient("aten::amax")
@gradient("aten::amin")
def amax_gradient(grad, result, self, dim):
    return {"self": shared(grad, result, self, dim)}


@gradient("aten::aminmax")
def aminmax_gradient(grad, grad1, result, result1, self, dim):
    dims = None if dim is None else [dim]
    return {"self": shared(grad, result, self, dims) + shared(grad1, result1, self, dims)}


@gradient("aten::logsumexp")
def logsumexp_gradient(grad, result, self, dim):
    return {"self": kept(grad, self, dim) * (self - kept(result, self, dim)).exp()}


@gradient("aten::norm.Scalar")
@gradient("aten::norm.ScalarOpt_dtype")
def norm_Scalar_gradient(grad, result, self, p):
    return {"self": of_norm(grad, result, self, p, None)}


@gradient("aten::norm.ScalarOpt_dim")
@gradient("aten::norm.ScalarOpt_dim_dtype")
def norm_ScalarOpt_dim_gradient(grad, result, self, p, dim):
    return {"self": of_norm(grad, result, self, p, dim)}


@gradient("aten::linalg_vector_norm")
def linalg_vector_norm_gradient(grad, result, self, ord, dim):
    return {"self": of_norm(grad, result, self, ord, dim)}


# ---- traits of operators whose rows are in C ----

traits("aten::prod.*", autocast="float32")
traits("aten::sum.dim_IntList", vmap="by_axes")
traits("aten::mean.dim", vmap="by_axes")
traits("aten::amax", vmap="by_axes")
traits("aten::amin", vmap="by_axes")
traits("aten::argmax", vmap="by_axes")
traits("aten::argmin", vmap="by_axes")
traits("aten::var.correction", vmap="by_axes")
traits("aten::std.correction", vmap="by_axes")
traits("aten::logsumexp", cost="function", vmap="by_axes")
traits("aten::mean.*", quantized="round")
