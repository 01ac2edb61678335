"""Normalization layers."""

import torch

from calque import gradient, operator, traits, wrap_dim
from aten.attention import in_float32


def inverse_root(x, n, eps):
    """1 over the root of the mean of squares along the last n dimensions."""
    least = 2.220446049250313e-16 if x.dtype == torch.float64 else 1.1920928955078125e-07
    e = least if eps is None else eps
    return (x.square().mean([i - n for i in range(n)], True) + e).rsqrt()


def normed_by_root(x, weight, inverse):
    return x * inverse if weight is None else x * inverse * weight


def normalised(x, dims, mean, var, eps):
    """The normalized x and 1 / deviation, from statistics over dims or from given ones."""
    if dims is not None:
        mean = x.mean(dims, True)
    d = x - mean
    if dims is not None:
        var = (d * d).mean(dims, True)
    rstd = (var + eps).rsqrt()
    return (d * rstd, rstd)


def norm_back(d, hat, rstd, dims):
    if dims is not None:
        d = d - d.mean(dims, True) - hat * (d * hat).mean(dims, True)
    return d * rstd


@operator("aten::norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor")
def norm_except_dim(v, pow, dim):
    """Norms of the slices along one dimension."""
    if dim == -1:
        return torch.ops.aten.norm(v, pow)
    axes = [i for i in range(v.ndim) if i != wrap_dim(dim, v.ndim)]
    return torch.ops.aten.norm(v, pow, axes, True) if len(axes) > 0 else v.abs()


@operator("aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor")
def _weight_norm(v, g, dim):
    """A weight from direction and length."""
    return v * (g / torch.norm_except_dim(v, 2, dim))


@operator(
    "aten::rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, "
    "float? eps=None) -> Tensor",
    vmap="layer",
)
def rms_norm(input, normalized_shape, weight, eps):
    """Normalization by the root mean square.

    Half precision is computed in float32, including eps.
    """
    n = len(normalized_shape)
    assert (
        input.ndim >= n and input.shape[input.ndim - n :] == normalized_shape
    ), f"expected the last sizes {normalized_shape}"
    x = in_float32(input)
    return normed_by_root(x, weight, inverse_root(x, n, eps)).to(input.dtype)


@operator(
    "aten::_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) "
    "-> (Tensor, Tensor)"
)
def _fused_rms_norm(input, normalized_shape, weight, eps):
    """Rms_norm, and the inverse root mean squares."""
    x = in_float32(input)
    return (
        torch.ops.aten.rms_norm(input, normalized_shape, weight, eps),
        inverse_root(x, len(normalized_shape), eps),
    )


@gradient("aten::layer_norm")
@gradient("aten::native_layer_norm", first_only=True)
def layer_norm_gradient(grad, input, normalized_shape, weight, bias, eps):
    n = input.ndim - len(normalized_shape)
    x = input.to(torch.float64)
    g = grad.to(torch.float64)
    dims = range(n, input.ndim)
    sizes = [input.shape[i] if i >= n else 1 for i in range(input.ndim)]
    hat, rstd = normalised(x, dims, None, None, eps)
    d = g if weight is None else g * weight.reshape(sizes)
    return {
        "weight": (g * hat.reshape(input.shape)).sum_to_size(sizes).reshape(weight.shape),
        "bias": g.sum_to_size(sizes).reshape(bias.shape),
        "input": norm_back(d.reshape(x.shape), hat, rstd, dims).reshape(input.shape),
    }


@gradient("aten::group_norm")
def group_norm_gradient(grad, input, num_groups, weight, bias, eps):
    x = input.reshape([input.shape[0], num_groups, -1]).to(torch.float64)
    g = grad.to(torch.float64)
    dims = [2]
    sizes = [input.shape[i] if i == 1 else 1 for i in range(input.ndim)]
    hat, rstd = normalised(x, dims, None, None, eps)
    d = g if weight is None else g * weight.reshape(sizes)
    return {
        "weight": (g * hat.reshape(input.shape)).sum_to_size(sizes).reshape(weight.shape),
        "bias": g.sum_to_size(sizes).reshape(bias.shape),
        "input": norm_back(d.reshape(x.shape), hat, rstd, dims).reshape(input.shape),
    }


@gradient("aten::native_group_norm")
def native_group_norm_gradient(grad, grad1, grad2, input, weight, bias, group, eps):
    x = input.reshape([input.shape[0], group, -1]).to(torch.float64)
    g = grad.to(torch.float64)
    dims = [2]
    sizes = [input.shape[i] if i == 1 else 1 for i in range(input.ndim)]
    hat, rstd = normalised(x, dims, None, None, eps)
    d = g if weight is None else g * weight.reshape(sizes)
    return {
        "weight": (g * hat.reshape(input.shape)).sum_to_size(sizes).reshape(weight.shape),
        "bias": g.sum_to_size(sizes).reshape(bias.shape),
        "input": (
            norm_back(d.reshape(x.shape), hat, rstd, dims)
            + (grad1.reshape(rstd.shape) - grad2.reshape(rstd.shape) * hat * (rstd * rstd))
            / (x.numel() / rstd.numel())
        ).reshape(input.shape),
    }


# ---- traits of operators whose rows are in C ----

traits("aten::layer_norm", vmap="layer")
