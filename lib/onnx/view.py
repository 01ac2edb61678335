"""Views of whole tensors.

ONNX has no views: a view becomes a separate tensor. The sizes of the result are known, so a view or
flatten is one Reshape.
"""

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
