"""Views, and functions that write a change of a view back into its base."""

import math
import torch

from calque import (
    derived,
    gradient,
    operator,
    size_hint,
    torch_export,
    traits,
    unview,
    wrap_dim,
    wrap_dims,
)


@unview("aten::t")
def t_unview(changed):
    return changed.t()


@operator("aten::numpy_T(Tensor(a) self) -> Tensor(a)", of_views=True, vmap="turned")
def numpy_T(self):
    """All dimensions in reverse order."""
    return self.permute(list(reversed(range(self.ndim))))


@operator("aten::mT(Tensor(a) self) -> Tensor(a)", of_views=True, vmap="last")
def mT(self):
    """The last two dimensions swapped."""
    assert self.ndim >= 2, f"expected at least 2 dimensions, got {self.ndim}"
    return self.transpose(-2, -1)


@unview("aten::transpose.int")
def transpose_int_unview(changed, dim0, dim1):
    return changed.transpose(dim0, dim1)


@operator("aten::swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)", of_views=True)
def swapaxes(self, axis0, axis1):
    """Two dimensions swapped."""
    return torch.transpose(self, axis0, axis1)


@operator("aten::swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", of_views=True)
def swapdims(self, dim0, dim1):
    """Two dimensions swapped."""
    return torch.transpose(self, dim0, dim1)


@unview("aten::permute")
def permute_unview(base, changed, dims):
    d = wrap_dims(dims, base.ndim)
    r = range(base.ndim)
    return changed.permute([[k for k in r if d[k] == i][0] for i in r])


@operator(
    "aten::movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
    of_views=True,
)
def movedim_intlist(self, source, destination):
    """Moves some dimensions to other positions."""
    if self.ndim == 0:
        return self.permute([])
    source = wrap_dims(source, self.ndim)
    destination = wrap_dims(destination, self.ndim)
    assert len(source) == len(destination), "expected as many sources as destinations"
    assert len([d for d in range(self.ndim) if d in destination]) == len(
        destination
    ), f"expected different dimensions below {self.ndim}"
    rest = [d for d in range(self.ndim) if d not in source]
    dims = []
    for d in range(self.ndim):
        moved = [source[i] for i in range(len(source)) if destination[i] == d]
        dims = dims + (moved if len(moved) > 0 else rest[:1])
        rest = rest if len(moved) > 0 else rest[1:]
    return self.permute(dims)


@operator(
    "aten::movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
    of_views=True,
    vmap="by_axes",
)
@operator(
    "aten::moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
    of_views=True,
)
def movedim_int(self, source, destination):
    """Moves a dimension to another position."""
    return torch.movedim(self, [source], [destination])


@operator(
    "aten::moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
    of_views=True,
)
def moveaxis_intlist(self, source, destination):
    """Moves some dimensions to other positions."""
    return torch.movedim(self, source, destination)


@unview("aten::view")
@unview("aten::_unsafe_view")
@unview("aten::_reshape_alias")
@unview("aten::flatten.using_ints")
@unview("aten::squeeze")
@unview("aten::squeeze.dim")
@unview("aten::unsqueeze")
def view_unview(base, changed):
    return changed.reshape(base.shape)


@unview("aten::view.dtype")
def view_dtype_unview(base, changed, dtype):
    return torch.ops.aten.view.dtype(changed, base.dtype)


@unview("aten::reshape")
def reshape_unview(base, changed, shape):
    return changed.reshape(base.shape)


@operator("aten::_reshape_from_tensor(Tensor self, Tensor shape) -> Tensor", of_views=True)
def _reshape_from_tensor(self, shape):
    """The same elements in sizes given by a tensor.

    Torch.onnx.operators.reshape_from_tensor_shape: sizes that were read from another tensor stay
    symbolic.
    """
    if shape.ndim != 1 or shape.dtype != torch.int64:
        raise TypeError("expected a shape of int64 with one dimension")
    return self.reshape(shape.tolist())


@operator("aten::view_as(Tensor(a) self, Tensor other) -> Tensor(a)", of_views=True)
def view_as(self, other):
    """The same elements in another tensor's sizes."""
    return self.view(other.shape)


@operator("aten::reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)", of_views=True)
def reshape_as(self, other):
    """The same elements in another tensor's sizes, copied if no view is possible."""
    return self.reshape(other.shape)


@operator("aten::unflatten.int(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)", of_views=True)
def unflatten_int(self, dim, sizes):
    """A dimension split into several."""
    assert self.ndim > 0, "expected at least one dimension"
    assert len(sizes) > 0, "expected at least one size"
    d = wrap_dim(dim, self.ndim)
    n = self.shape[d]
    known = math.prod([s for s in sizes if s != -1])
    parts = [n // known if s == -1 else s for s in sizes]
    assert math.prod(parts) == n, f"the sizes have product {known}, expected {n}"
    return self.view(list(self.shape[:d]) + parts + list(self.shape[d + 1 :]))


@operator("aten::ravel(Tensor(a) self) -> Tensor(a)", of_views=True)
def ravel(self):
    """All elements in one dimension."""
    return self.reshape([-1])


@operator(
    "aten::squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", of_views=True,
    vmap="by_axes",
)
def squeeze_dims(self, dim):
    """Removes the dimensions of size 1 among the given ones.

    Begins with the last one, so that the indices of the others stay valid.
    """
    dims = wrap_dims(dim, self.ndim)
    if len(dims) == 0 or self.ndim == 0:
        return torch.ops.aten.alias(self)
    for i in reversed(range(self.ndim)):
        if i in dims:
            self = self.squeeze(i)
    return self


@unview("aten::expand")
def expand_unview(base, changed):
    if size_hint(base.numel()) != size_hint(changed.numel()):
        raise ValueError(
            "in-place change of a tensor with overlapping elements; clone it first"
        )
    return changed.reshape(base.shape)


@operator("aten::expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", of_views=True)
def expand_as(self, other):
    """Expanded to another tensor's sizes."""
    return self.expand(other.shape)


@operator("aten::broadcast_to(Tensor(a) self, int[] size) -> Tensor(a)", of_views=True)
def broadcast_to(self, size):
    """Expanded to sizes."""
    return self.expand(size)


@gradient("aten::expand")
def expand_gradient(grad):
    return {"self": grad}


# ---- traits of operators whose rows are in C ----

traits("aten::unsqueeze", complex_pairs=True, vmap="by_axes")
traits("aten::squeeze.dim", complex_pairs=True, vmap="by_axes")
traits("aten::transpose.int", complex_pairs=True, vmap="by_axes")
traits("aten::permute", complex_pairs=True, vmap="by_axes")
traits("aten::flatten.using_ints", complex_pairs=True, quantized="keep", vmap="by_axes")
traits("aten::view", complex_pairs=True, vmap="by_shape")
traits("aten::reshape", complex_pairs=True, quantized="keep", vmap="by_shape")
traits("aten::expand", complex_pairs=True, vmap="by_shape")
traits("aten::t", vmap="turned")
traits("aten::_unsafe_view", complex_pairs=True, quantized="keep")
traits("aten::squeeze", complex_pairs=True)
traits("aten::_reshape_alias", quantized="keep")
traits("aten::reshape_as", quantized="keep")
traits("aten::unflatten.int", quantized="keep")
traits("aten::expand_as", quantized="keep")


# view_copy also accepts shapes that no view can have.
derived("aten::view_copy", of="aten::reshape")


# A view in a file of torch.export becomes a reshape: calque's tensors may have another layout
# (results of attention have), and then the elements are copied.
torch_export("aten::view", call="aten::reshape")

# In-place changes of the shape: the program uses the result, which shares the memory.
torch_export("aten::squeeze_", call="aten::squeeze")
torch_export("aten::squeeze_.dim", call="aten::squeeze.dim")
torch_export("aten::squeeze_.dims", call="aten::squeeze.dims")
torch_export("aten::swapaxes_", call="aten::swapaxes")
torch_export("aten::swapdims_", call="aten::swapdims")
torch_export("aten::t_", call="aten::t")
torch_export("aten::transpose_", call="aten::transpose.int")
torch_export("aten::unsqueeze_", call="aten::unsqueeze")
