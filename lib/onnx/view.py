"""Views of whole tensors.

ONNX has no views: a view becomes a separate tensor. The sizes of the result are known, so a view or
flatten is one Reshape.
"""

import torch
import warnings

from calque.onnx import *

unsupported(
    "aten::view.dtype", "ONNX cannot read the bytes of a tensor as another type", opset=7
)


@symbolic("aten::t", opset=7)
def t(self):
    return swap_dims(self, 0, 1) if self.ndim == 2 else self


@symbolic("aten::transpose.int", opset=7)
def transpose(self, dim0, dim1):
    return swap_dims(self, dim0, dim1)


@symbolic("aten::permute", opset=7)
def permute(self, dims):
    return Transpose(self, perm=dims)


@symbolic("aten::view", opset=7)
@symbolic("aten::reshape", opset=7)
@symbolic("aten::_unsafe_view", opset=7)
@symbolic("aten::_reshape_alias", opset=7)
def view(self):
    return as_result(self)


@symbolic("aten::flatten", opset=7)
def aten_flatten(self, start_dim, end_dim):
    """Flatten always returns two dimensions, so it is used if all dimensions but the batch are
    merged."""
    if (
        self.ndim > 2
        and axis_of(start_dim, self) == 1
        and axis_of(end_dim, self) == self.ndim - 1
        and (opset() >= 9 or is_float(self))
    ):
        return Flatten(self, axis=1)
    return as_result(self)


@symbolic("aten::expand", opset=7)
def aten_expand(self):
    return expand(self, result_shape())


@symbolic("aten::_shape_as_tensor", opset=7)
def shape_as_tensor(self):
    return Shape(self)


# ---- dimensions of size 1 ----


def data_dependent_dim(dim, n):
    """A dimension of n, counted from the front. It can depend on data where axes are an input."""
    if not is_known(dim) and opset() < 13:
        warnings.warn(
            f"dim is fixed to its value {hint(dim)} on the example; since opset 13 it can depend "
            "on data"
        )
        dim = hint(dim)
    return dim + n if is_known(dim) and dim < 0 else dim


def row_of(dim):
    return [dim] if is_known(dim) else cast([dim], torch.int64)


def of_varying_rank(y):
    """The rank of the result depends on data. The following nodes are built for the example."""
    return varying_rank(with_shape(y, result_shape()))


def squeeze_if_one(x, dim):
    """x without dimension dim if its size is 1."""
    if opset() < 11:
        return unsupported("until opset 11 both branches of an If must have the same rank", 11)
    size = cast(x.size(dim), torch.int64) if is_known(dim) else Gather(Shape(x), dim, axis=0)
    y = If(
        Equal(size, 1),
        then_branch=lambda: varying_rank(Squeeze(x, row_of(dim))),
        else_branch=lambda: varying_rank(Identity(x)),
    )
    return of_varying_rank(with_dtype(y, x.dtype))


@symbolic("aten::squeeze.dim", opset=7)
def squeeze_dim(self, dim):
    at = data_dependent_dim(dim, self.ndim)
    if not is_known(at) or (self.ndim > 0 and not is_known(self.size(at))):
        return squeeze_if_one(self, at)
    return Squeeze(self, [at]) if self.ndim > 0 and self.size(at) == 1 else self


@symbolic("aten::squeeze", opset=7)
def squeeze(self):
    if len([n for n in self.shape if not is_known(n)]) > 0:
        return of_varying_rank(Squeeze(self))
    return Squeeze(self, [i for i in range(self.ndim) if self.size(i) == 1])


@symbolic("aten::unsqueeze", opset=7)
def unsqueeze(self, dim):
    return Unsqueeze(self, row_of(data_dependent_dim(dim, self.ndim + 1)))
