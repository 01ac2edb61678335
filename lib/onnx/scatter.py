"""Elements read and written one by one along a dimension.

GatherElements and ScatterElements are PyTorch's gather and scatter since opset 11. Before, reads
use indices into the flattened tensor. Writes with sums require opset 16, with extremes 18; before,
a table of sources and destinations is reduced.
"""

import math
import torch

from calque.onnx import *
from onnx.common import corner

unsupported("aten::scatter", "Scatter requires opset 9", opset=7)
unsupported("aten::scatter.reduce", "it requires Where, of opset 9", opset=7)
unsupported("aten::scatter.value_reduce", "it requires Where, of opset 9", opset=7)
unsupported("aten::scatter_add", "it requires Where, of opset 9", opset=7)
unsupported("aten::scatter_reduce.two", "it requires Where, of opset 9", opset=7)


def flat_indices(x, index, at):
    """The index of element [i…, index, k…] in the flat x: each index times its stride."""
    n = x.ndim
    parts = [
        (
            index
            if i == at
            else Reshape(iota(index.size(i)), [index.size(i) if k == i else 1 for k in range(n)])
        )
        * math.prod([x.size(k) for k in range(i + 1, n)])
        for i in range(n)
    ]
    return sum(parts)


@symbolic("aten::gather", opset=7)
def gather(self, dim, index):
    x = at_least_1d(self)
    if opset() < 11:
        row = flatten(x)
        index = at_least_1d(index)
        y = Gather(row, flat_indices(x, index, axis_of(dim, x)), axis=0)
    else:
        index = at_least_1d(index)
        y = GatherElements(x, index, axis=axis_of(dim, x))
    return as_result(with_shape(y, index))


# ---- writing ----


def source_of(x, index, src):
    """The part of src that index covers."""
    return corner(at_least_1d(cast(src, x.dtype)), index)


def values_of(x, index, value):
    return expand(cast(value, x.dtype), index.shape)


@symbolic("aten::scatter.src", opset=9)
def scatter_src(self, dim, index, src):
    x = at_least_1d(self)
    index = at_least_1d(index)
    return as_result(
        ScatterElements(x, index, source_of(self, index, src), axis=axis_of(dim, x))
    )


@symbolic("aten::scatter.value", opset=9)
def scatter_value(self, dim, index, value):
    x = at_least_1d(self)
    index = at_least_1d(index)
    return as_result(
        ScatterElements(x, index, values_of(self, index, value), axis=axis_of(dim, x))
    )


# ---- writing with a reduction ----


def neutral(kind, x):
    """The neutral number of the reduction; for integers, the least or greatest instead of
    infinity."""
    if kind == "add":
        return 0
    if kind == "mul":
        return 1
    if is_float(x):
        return -math.inf if kind == "max" else math.inf
    if x.dtype == torch.int32:
        return -2147483648 if kind == "max" else 2147483647
    return -9223372036854775807 - 1 if kind == "max" else 9223372036854775807


def reducible(x, like):
    """The dtypes that ONNX, and ONNX Runtime, reduce.

    ReduceSum and ReduceProd of int32 do not wrap around.
    """
    if like.dtype in (torch.float32, torch.float64, torch.int64):
        return x
    return cast(x, torch.float32 if is_float(like) else torch.int64)


def combined(kind, x, y):
    if kind == "add":
        return x + y
    if kind == "mul":
        return x * y
    if is_float(x) or opset() >= 12:
        return Max(x, y) if kind == "max" else Min(x, y)
    return Where(Greater(x, y) if kind == "max" else Less(x, y), x, y)


def divided(x, n):
    return x / n if is_float(x) else x // n


def reduction_of(kind):
    if kind == "add":
        return "ReduceSum"
    if kind == "mul":
        return "ReduceProd"
    return "ReduceMax" if kind == "max" else "ReduceMin"


def destinations(x, index, at, last):
    """[lanes…, sources, indices]: which source goes to which index.

    The axis is last in the lanes.
    """
    index = Unsqueeze(swap_dims(index, at, last), [last + 1])
    return Equal(index, iota(x.size(at)))


def reduced_sources(x, src, goes, at, last, kind):
    source = Unsqueeze(swap_dims(src, at, last), [last + 1])
    return reduce(
        reduction_of(kind), Where(goes, source, neutral(kind, x)), [last], False
    )


def reduced_by_table(x, index, src, at, kind, is_mean, with_self):
    """For opsets in which ScatterElements has no reductions."""
    last = x.ndim - 1
    if with_self:
        y = swap_dims(x, at, last)
        goes = destinations(x, index, at, last)
        total = combined(kind, y, reduced_sources(x, src, goes, at, last, kind))
        if is_mean:
            count = ReduceSum(cast(goes, torch.float32), [last], keepdims=0)
            total = divided(total, cast(count + 1, x.dtype))
    else:
        goes = destinations(x, index, at, last)
        count = ReduceSum(cast(goes, torch.float32), [last], keepdims=0)
        is_written = Greater(count, 0)
        total = reduced_sources(x, src, goes, at, last, kind)
        if is_mean:
            total = divided(total, cast(Max(count, 1), x.dtype))
        y = swap_dims(x, at, last)
        total = Where(is_written, total, y)
    return swap_dims(with_shape(total, y), at, last)


def without_written(y, index, at, kind):
    """y with the neutral number at every index that is written."""
    return ScatterElements(y, index, expand(like(neutral(kind, y), y), index.shape), axis=at)


def first_opset_of(kind, is_mean):
    """The first opset whose ScatterElements has the reduction; 0: none."""
    if is_mean:
        return 0
    return 16 if kind in ("add", "mul") else 18


def scatter_reduced(self, dim, index, src, value, reduction, with_self):
    """Writes src, or value where src is None."""
    is_mean = reduction == "mean"
    kind = "add" if is_mean else reduction
    x = at_least_1d(self)
    if is_mean and not is_float(x):
        return unsupported("means of integers: their sums may wrap around")
    at = axis_of(dim, x)
    first = first_opset_of(kind, is_mean)
    if first > 0 and opset() >= first:
        y = reducible(x, x)
        index = at_least_1d(index)
        y = y if with_self else without_written(y, index, at, kind)
        source = values_of(self, index, value) if src is None else source_of(self, index, src)
        return as_result(
            ScatterElements(y, index, reducible(source, x), axis=at, reduction=kind)
        )
    # The index must have the sizes of x in all dimensions but the axis, which the table requires.
    index = at_least_1d(index)
    others = [i for i in range(x.ndim) if i != at]
    if [x.size(i) for i in others] != [index.size(i) for i in others]:
        return unsupported("index is smaller than self in a dimension other than dim", first)
    y = reducible(x, x)
    source = values_of(self, index, value) if src is None else source_of(self, index, src)
    z = reducible(source, x)
    return as_result(reduced_by_table(y, index, z, at, kind, is_mean, with_self))


def reduction_named(name):
    """ONNX's name of a reduction of PyTorch."""
    if name in ("add", "sum"):
        return "add"
    if name in ("multiply", "prod"):
        return "mul"
    if name == "amax":
        return "max"
    if name == "amin":
        return "min"
    return "mean" if name == "mean" else unsupported("unknown reduction")


@symbolic("aten::scatter.reduce", opset=9)
def scatter_reduce(self, dim, index, src, reduce):
    return scatter_reduced(self, dim, index, src, None, reduction_named(reduce), True)


@symbolic("aten::scatter.value_reduce", opset=9)
def scatter_value_reduce(self, dim, index, value, reduce):
    return scatter_reduced(self, dim, index, None, value, reduction_named(reduce), True)


@symbolic("aten::scatter_add", opset=9)
def scatter_add(self, dim, index, src):
    return scatter_reduced(self, dim, index, src, None, "add", True)


@symbolic("aten::scatter_reduce.two", opset=9, decompose=True)
def scatter_reduce_two(self, dim, index, src, reduce, include_self):
    return scatter_reduced(self, dim, index, src, None, reduction_named(reduce), include_self)
