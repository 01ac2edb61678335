"""Order along a dimension and running sums.

Sorting uses TopK, which also returns indices and orders equal elements by index, like PyTorch's
stable sort. ONNX does not specify the position of NaN, which PyTorch sorts as the greatest. Running
operators that ONNX lacks (all but CumSum) reduce a table whose row i has the elements up to i.
"""

import math
import torch

from calque.onnx import *
from onnx.common import summable

unsupported("aten::mode", "it requires Where, of opset 9", opset=7)
unsupported("aten::cumprod", "it requires Where, of opset 9", opset=7)
unsupported("aten::logcumsumexp", "it requires Where, of opset 9", opset=7)
unsupported(
    "aten::cummax", "the last of equal extremes requires opset 12", opset=7
)
unsupported(
    "aten::cummin", "the last of equal extremes requires opset 12", opset=7
)


def orderable(x):
    """x in a dtype that TopK orders."""
    if x.dtype in (torch.float32, torch.float64):
        return x
    if is_float(x):
        return cast(x, torch.float32)
    if opset() < 11:
        if x.dtype == torch.int64:
            return unsupported("integers of 64 bits can be ordered since opset 11", 11)
        return cast(x, torch.float64)
    return cast(x, torch.int64 if x.dtype == torch.int64 else torch.int32)


def sort(x, k, axis, largest):
    """The k greatest or least elements along an axis, in order, and their indices."""
    if k == 0:
        none = slice(x, axis, 0, 0)
        return none, cast(none, torch.int64)
    values, indices = TopK(orderable(x), [k], axis=axis, largest=largest, outputs=2)
    return cast(values, x.dtype), indices


def as_results(values, indices):
    first = as_result(values) if is_used(0) else None
    return first, as_result(indices, 1)


@symbolic("aten::sort", opset=7)
def aten_sort(self, dim, descending):
    x = at_least_1d(self)
    at = axis_of(dim, x)
    values, indices = sort(x, x.size(at), at, descending)
    return as_results(values, indices)


@symbolic("aten::topk", opset=7)
def topk(self, k, dim, largest):
    x = at_least_1d(self)
    values, indices = sort(x, k, axis_of(dim, x), largest)
    return as_results(values, indices)


def kth(x, k, at):
    """The k-th smallest element along an axis, and its index."""
    values, indices = sort(x, k, at, False)
    value = Gather(values, [k - 1], axis=at)
    return value, Gather(indices, [k - 1], axis=at)


@symbolic("aten::kthvalue", opset=7)
def kthvalue(self, k, dim):
    x = at_least_1d(self)
    values, indices = kth(x, k, axis_of(dim, x))
    return as_results(values, indices)


# ---- medians ----


def median_along(x, at):
    """The lower median; NaN if there is one, which ONNX can detect since opset 9."""
    k = (x.size(at) + 1) // 2
    if not is_float(x) or opset() < 9:
        return kth(x, k, at)
    is_nan = cast(IsNaN(cast(x, torch.float32)), torch.float32)
    has_nan = cast(ReduceMax(is_nan, [at]), torch.bool)
    y, index = kth(x, k, at)
    return Where(has_nan, math.nan, y), index


def median_of_numbers(x, at):
    """The median of the elements that are not NaN. NaN come last."""
    if not is_float(x):
        return median_along(x, at)
    if opset() < 11:
        return unsupported("it requires GatherElements, of opset 11", 11)
    y = widen(x)
    is_nan = IsNaN(y)
    count = ReduceSum(cast(Not(is_nan), torch.int64), [at])
    is_empty = Equal(count, 0)
    values, indices = sort(Where(is_nan, math.inf, y), x.size(at), at, False)
    half = (count - 1) / 2
    value = Where(is_empty, math.nan, GatherElements(values, half, axis=at))
    return value, GatherElements(indices, half, axis=at)


@symbolic("aten::median", opset=7)
def median(self):
    if self.numel() == 0:
        return like(math.nan, self)
    return as_result(median_along(flatten(self), 0)[0])


@symbolic("aten::median.dim", opset=7)
def median_dim(self, dim):
    x = at_least_1d(self)
    values, indices = median_along(x, axis_of(dim, x))
    return as_results(values, indices)


@symbolic("aten::nanmedian", opset=7)
def nanmedian(self):
    if self.numel() == 0:
        return like(math.nan, self)
    return as_result(median_of_numbers(flatten(self), 0)[0])


@symbolic("aten::nanmedian.dim", opset=7)
def nanmedian_dim(self, dim):
    x = at_least_1d(self)
    values, indices = median_of_numbers(x, axis_of(dim, x))
    return as_results(values, indices)


# ---- cumulative sums and extremes ----


def up_to(n):
    """[n, n]: whether index j is not after index i."""
    i = iota(n)
    return Not(Greater(i, Unsqueeze(i, [1])))


def running(x, neutral):
    """[lanes…, i, j]: element j of the lane where it is not after i, else neutral.

    The axis is last in the lanes.
    """
    return Where(up_to(x.size(-1)), Unsqueeze(x, [x.ndim - 1]), neutral)


@symbolic("aten::cumsum", opset=7)
def cumsum(self, dim):
    x = at_least_1d(cast(self, result_dtype()))
    return as_result(CumSum(summable(x), axis_of(dim, x)))


def run_along(op, x, dim, neutral):
    x = at_least_1d(cast(x, result_dtype()))
    at = axis_of(dim, x)
    last = x.ndim - 1
    y = swap_dims(summable(x), at, last)
    y = reduce(op, running(y, neutral), [last + 1], False)
    return as_result(swap_dims(y, at, last))


@symbolic("aten::cumprod", opset=9)
def cumprod(self, dim):
    return run_along("ReduceProd", self, dim, 1)


@symbolic("aten::logcumsumexp", opset=9)
def logcumsumexp(self, dim):
    return run_along("ReduceLogSumExp", self, dim, -math.inf)


def running_extreme(x, dim, is_max):
    """Of equal extremes, the last index is returned."""
    x = at_least_1d(x)
    at = axis_of(dim, x)
    last = x.ndim - 1
    y = swap_dims(summable(x), at, last)
    if is_float(y):
        worst = -math.inf if is_max else math.inf
    elif y.dtype == torch.int32:
        worst = -2147483648 if is_max else 2147483647
    else:
        worst = -9200000000000000000 if is_max else 9200000000000000000
    table = running(y, worst)
    values = reduce("ReduceMax" if is_max else "ReduceMin", table, [last + 1], False)
    values = as_result(swap_dims(values, at, last))
    if is_max:
        index = ArgMax(table, axis=last + 1, keepdims=0, select_last_index=1)
    else:
        index = ArgMin(table, axis=last + 1, keepdims=0, select_last_index=1)
    return values, as_result(swap_dims(with_shape(index, y), at, last), 1)


@symbolic("aten::cummax", opset=12)
def cummax(self, dim):
    return running_extreme(self, dim, True)


@symbolic("aten::cummin", opset=12)
def cummin(self, dim):
    return running_extreme(self, dim, False)


@symbolic("aten::mode", opset=9)
def mode(self, dim):
    """Compares all pairs of elements.

    Of the most frequent elements the smallest is returned, with its last index.
    """
    if self.numel() == 0:
        return unsupported("an empty tensor")
    x = at_least_1d(self)
    at = axis_of(dim, x)
    last = x.ndim - 1
    y = swap_dims(summable(x), at, last)
    left = Unsqueeze(y, [last + 1])
    is_equal = Equal(left, Unsqueeze(y, [last]))
    count = ReduceSum(cast(is_equal, torch.float32), [last + 1], keepdims=0)
    is_most = Equal(count, ReduceMax(count, [last]))
    if is_float(y):
        past = math.inf
    else:
        past = 2147483647 if y.dtype == torch.int32 else 9223372036854774784
    value = ReduceMin(Where(is_most, y, past), [last])
    values = as_result(swap_dims(value, at, last))
    is_value = Equal(y, value)
    index = ReduceMax(Where(is_value, iota(y.size(last)), -1), [last])
    return values, as_result(swap_dims(index, at, last), 1)
