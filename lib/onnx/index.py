"""Slices along one dimension by index."""

import torch

from calque.onnx import *

unsupported("aten::index_put", "elements can be set since opset 9", opset=7)
unsupported("aten::_index_put_impl", "elements can be set since opset 9", opset=7)


@symbolic("aten::index_select", opset=7)
def index_select(self, dim, index):
    if self.ndim == 0:
        return self
    return Gather(self, at_least_1d(index), axis=axis_of(dim, self))


@symbolic("aten::index_fill", opset=7)
def index_fill(self, dim, index, value):
    x = at_least_1d(self)
    at = axis_of(dim, x)
    rows = at_least_1d(cast(index, torch.int64))
    sizes = [rows.size(0) if i == at else x.size(i) for i in range(x.ndim)]
    return as_result(write_slices(x, at, rows, expand(cast(value, x.dtype), sizes)))


@symbolic("aten::index_copy", opset=7)
def index_copy(self, dim, index, source):
    x = at_least_1d(self)
    at = axis_of(dim, x)
    rows = at_least_1d(cast(index, torch.int64))
    return as_result(write_slices(x, at, rows, at_least_1d(source)))


@symbolic("aten::take", opset=7)
def take(self, index):
    row = flatten(self)
    return Gather(row, non_negative(index, self.numel()), axis=0)


@symbolic("aten::embedding", opset=7)
def embedding(weight, indices):
    return Gather(weight, indices)
