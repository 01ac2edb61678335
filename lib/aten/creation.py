"""Tensors that are made of numbers and sizes."""

import torch

from calque import derived, gradient, operator, traits


def line_between(start, end, steps, dtype):
    """Computes from both ends to the middle, as PyTorch does."""
    assert steps >= 0, f"expected at least 0 steps, got {steps}"
    a = start.to(torch.float64)
    b = end.to(torch.float64)
    i = torch.arange(steps)
    step = (b - a) / max(steps - 1, 1)
    y = torch.where(i < max(steps // 2, 1), a + step * i, b + step * (i - (steps - 1)))
    return y.to(torch.float32 if dtype is None else dtype)


@operator("aten::less.Tensor(Tensor self, Tensor other) -> Tensor", of_views=True)
def less_Tensor(self, other):
    """The same as aten::lt.Tensor."""
    return torch.ops.aten.lt.Tensor(self, other)


@operator("aten::less.Scalar(Tensor self, Scalar other) -> Tensor", of_views=True)
def less_Scalar(self, other):
    """The same as aten::lt.Scalar."""
    return torch.ops.aten.lt.Scalar(self, other)


@operator("aten::_dim_arange(Tensor like, int dim) -> Tensor")
def _dim_arange(like, dim):
    """0, 1, … up to a size of a tensor."""
    return torch.arange(like.shape[dim] if like.ndim > 0 else 1)


@operator(
    "aten::logspace(Scalar start, Scalar end, int steps, float base=10., *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    of_views=True,
)
def logspace(start, end, steps, base, dtype, layout, device, pin_memory):
    """Powers of base whose exponents are in equal steps."""
    t = torch.pow(base, torch.linspace(start, end, steps, dtype=torch.float64))
    return t.to(torch.float32 if dtype is None else dtype)


@operator(
    "aten::linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def linspace_Tensor_Tensor(start, end, steps, dtype, layout, device, pin_memory):
    """Numbers in equal steps, with the end."""
    return line_between(start, end, steps, dtype)


@operator(
    "aten::logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float base=10., *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def logspace_Tensor_Tensor(start, end, steps, base, dtype, layout, device, pin_memory):
    """Powers whose exponents are in equal steps."""
    return torch.pow(base, line_between(start, end, steps, torch.float64)).to(
        torch.float32 if dtype is None else dtype
    )


@operator(
    "aten::linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def linspace_Tensor_Scalar(start, end, steps, dtype, layout, device, pin_memory):
    """Numbers in equal steps, with the end."""
    return line_between(start, torch.scalar_tensor(end, dtype=torch.float64), steps, dtype)


@operator(
    "aten::logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10., *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def logspace_Tensor_Scalar(start, end, steps, base, dtype, layout, device, pin_memory):
    """Powers whose exponents are in equal steps."""
    return torch.pow(
        base,
        line_between(start, torch.scalar_tensor(end, dtype=torch.float64), steps, torch.float64),
    ).to(torch.float32 if dtype is None else dtype)


@operator(
    "aten::linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def linspace_Scalar_Tensor(start, end, steps, dtype, layout, device, pin_memory):
    """Numbers in equal steps, with the end."""
    return line_between(torch.scalar_tensor(start, dtype=torch.float64), end, steps, dtype)


@operator(
    "aten::logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10., *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def logspace_Scalar_Tensor(start, end, steps, base, dtype, layout, device, pin_memory):
    """Powers whose exponents are in equal steps."""
    return torch.pow(
        base,
        line_between(torch.scalar_tensor(start, dtype=torch.float64), end, steps, torch.float64),
    ).to(torch.float32 if dtype is None else dtype)


@gradient("aten::fill.Tensor")
def fill_Tensor_gradient(grad, self):
    return {"self": torch.zeros_like(self), "value": torch.sum(grad)}


@gradient("aten::copy")
def copy_gradient(grad, self):
    return {"self": torch.zeros_like(self), "src": grad}


@gradient("aten::tril")
def tril_gradient(grad, diagonal):
    return {"self": torch.tril(grad, diagonal)}


@gradient("aten::triu")
def triu_gradient(grad, diagonal):
    return {"self": torch.triu(grad, diagonal)}


traits("aten::copy", quantized="round")
traits("aten::linspace.*", until=7, upgrade="optional_steps")
traits("aten::logspace.*", until=8, upgrade="optional_steps")
traits("aten::full", until=4, upgrade="float_fill")

derived("aten::copy_.Tensor", of="aten::copy")
derived("aten::copy_.int", of="aten::fill.Scalar")
derived("aten::copy_.float", of="aten::fill.Scalar")
