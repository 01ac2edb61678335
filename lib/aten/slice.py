"""Slices, and writing them back."""

import torch

from calque import gradient, operator, size_hint, torch_export, traits, unview, wrap_dim


@unview("aten::slice.Tensor")
def slice_Tensor_unview(base, changed, dim, start, end, step):
    return torch.slice_scatter(base, changed, dim, start, end, step)


@operator(
    "aten::narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a)",
    of_views=True,
    vmap="by_axes",
)
def narrow(self, dim, start, length):
    """length elements from start along a dimension."""
    assert self.ndim > 0, "expected at least one dimension"
    d = wrap_dim(dim, self.ndim)
    n = self.shape[d]
    if size_hint(start) < 0:
        start = start + n
    assert (
        length >= 0 and start >= 0 and (start <= n) and (length <= n - start)
    ), f"{length} elements from {start} exceed the size {n}"
    return torch.ops.aten.slice(self, d, start, start + length)


@operator(
    "aten::narrow.Tensor(Tensor(a) self, int dim, Tensor start, int length) -> Tensor(a)",
    of_views=True,
)
def narrow_Tensor(self, dim, start, length):
    """length elements from start along a dimension."""
    return torch.narrow(self, dim, torch.ops.aten.Int(start), length)


@operator(
    "aten::narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor",
    of_views=True,
)
def narrow_copy(self, dim, start, length):
    """A copy of length elements from start along a dimension."""
    return torch.narrow(self, dim, start, length).clone()


@unview("aten::select.int")
def select_int_unview(base, changed, dim, index):
    return torch.select_scatter(base, changed, dim, index)


@unview("aten::unbind.int")
def unbind_int_unview(base, changed, part, dim):
    return torch.select_scatter(base, changed, dim, part)


@unview("aten::diagonal")
def diagonal_unview(base, changed, offset, dim1, dim2):
    return torch.diagonal_scatter(base, changed, offset, dim1, dim2)


@unview("aten::unfold")
def unfold_unview(base, changed, dimension, size, step):
    d = wrap_dim(dimension, base.ndim)
    n = changed.shape[d]
    if size > step and size_hint(n) > 1:
        raise ValueError(
            "in-place change of a tensor with overlapping elements; clone it first"
        )
    x = changed.select(0, 0) if base.ndim == 0 else base
    for k in range(0 if base.ndim == 0 else size):
        x = x.slice_scatter(changed.select(-1, k), d, k, (n - 1) * step + 1 + k, step)
    return x


@unview("aten::as_strided")
def as_strided_unview(base, changed, size, stride, storage_offset):
    return torch.as_strided_scatter(base, changed, size, stride, storage_offset)


@gradient("aten::slice_scatter")
def slice_scatter_gradient(grad, src, dim, start, end, step):
    return {
        "self": torch.slice_scatter(grad, torch.zeros_like(src), dim, start, end, step),
        "src": torch.ops.aten.slice(grad, dim, start, end, step),
    }


@gradient("aten::select_scatter")
def select_scatter_gradient(grad, src, dim, index):
    return {
        "self": torch.select_scatter(grad, torch.zeros_like(src), dim, index),
        "src": torch.select(grad, dim, index),
    }


@gradient("aten::diagonal_scatter")
def diagonal_scatter_gradient(grad, src, offset, dim1, dim2):
    return {
        "self": torch.diagonal_scatter(grad, torch.zeros_like(src), offset, dim1, dim2),
        "src": torch.diagonal(grad, offset, dim1, dim2),
    }


# ---- traits of operators whose rows are in C ----

traits("aten::select.int", complex_pairs=True, vmap="by_axes")
traits("aten::slice.Tensor", complex_pairs=True, vmap="by_axes")
traits("aten::unbind.int", complex_pairs=True, vmap="by_axes")
traits("aten::select_scatter", complex_pairs=True)
traits("aten::slice_scatter", complex_pairs=True)
traits("aten::narrow.*", quantized="keep")

torch_export("aten::as_strided_", call="aten::as_strided")
