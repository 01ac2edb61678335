"""Filled tensors, ranges, triangles."""

import torch

from calque.onnx import *


@symbolic("aten::zeros", opset=7)
@symbolic("aten::empty", opset=7)
@symbolic("aten::zeros_like", opset=7)
@symbolic("aten::empty_like", opset=7)
@symbolic("aten::new_zeros", opset=7)
@symbolic("aten::new_empty", opset=7)
@symbolic("aten::zero", opset=7)
def zeros():
    return full(0)


@symbolic("aten::ones", opset=7)
@symbolic("aten::ones_like", opset=7)
@symbolic("aten::new_ones", opset=7)
def ones():
    return full(1)


@symbolic("aten::full", opset=7, promote=True)
@symbolic("aten::full_like", opset=7, promote=True)
@symbolic("aten::new_full", opset=7, promote=True)
def aten_full(fill_value):
    return full(fill_value)


@symbolic("aten::fill", opset=7, promote=True)
def fill(value):
    return full(value)


@symbolic("aten::scalar_tensor", opset=7, promote=True)
def scalar_tensor(s):
    return s


@symbolic("aten::tensor.float", opset=7, promote=True)
@symbolic("aten::tensor.int", opset=7, promote=True)
@symbolic("aten::tensor.bool", opset=7, promote=True)
@symbolic("aten::as_tensor.float", opset=7, promote=True)
@symbolic("aten::as_tensor.int", opset=7, promote=True)
@symbolic("aten::as_tensor.bool", opset=7, promote=True)
def tensor(t):
    return t


@symbolic("aten::range", opset=7)
def aten_range():
    y = computed()
    if y is None:
        return unsupported("its arguments must be known when the model is exported")
    return y


@symbolic("aten::linspace", opset=7)
def linspace(start, end):
    """start + i * (end - start) / (steps - 1)"""
    y = computed()
    if y is not None:
        return y
    n = result_shape()[0]
    position = cast(iota(n), torch.float64)
    last = cast(end, torch.float64)
    first = cast(start, torch.float64)
    width = last - first
    gaps = Max(cast(cast(n, torch.int64), torch.float64) - 1, 1)
    return position * (width / gaps) + first


# ---- triangles ----


def columns_past_row(x):
    """For matrices x, column index minus row index: [rows, columns]."""
    columns = iota(x.size(-1))
    return columns - Unsqueeze(iota(x.size(-2)), [1])


@symbolic("aten::tril", opset=7)
def tril(self, diagonal):
    return Where(Less(columns_past_row(self), diagonal + 1), self, 0)


@symbolic("aten::tril", opset=14, promote=True)
def tril_14(self, diagonal):
    return Trilu(fit("Trilu", self), cast(diagonal, torch.int64), upper=0)


@symbolic("aten::triu", opset=7)
def triu(self, diagonal):
    return Where(Greater(columns_past_row(self), diagonal - 1), self, 0)


@symbolic("aten::triu", opset=14, promote=True)
def triu_14(self, diagonal):
    return Trilu(fit("Trilu", self), cast(diagonal, torch.int64), upper=1)


# ---- classes ----


@symbolic("aten::one_hot", opset=7)
def one_hot(self, num_classes):
    """Without a number of classes, it is one more than the highest."""
    if opset() < 9:
        return unsupported("OneHot requires opset 9", 9)
    if self.ndim == 0:
        return unsupported("OneHot does not support single numbers")
    if is_known(num_classes) and num_classes < 0:
        n = Unsqueeze(ReduceMax(self, keepdims=0) + 1, [0])
    else:
        n = [num_classes]
    return OneHot(self, n, [0, 1], axis=-1)
