"""Reductions.

ONNX Runtime reduces float32, float64, int32 and int64; other dtypes are converted and back.
Variances are computed by their definition; a dynamic number of elements is read from the shape.
"""

import math
import torch

from calque.onnx import *
from onnx.common import as_list, given, reduce_dims, reduced_axes


def in_result_dtype(x):
    return computable(cast(x, result_dtype()))


def count(x, dim, keepdim):
    """How many elements of a bool tensor are true."""
    return reduce_dims("ReduceSum", cast(x, torch.int64), dim, keepdim)


def reduced_count(x, dim):
    """The number of elements that are reduced to one."""
    return math.prod([x.size(i) for i in reduced_axes(x, dim)])


def comparable(x):
    """ReduceMax supports 8-bit integers since opset 12; before, int32 represents all smaller
    integers."""
    return widen(x) if is_float(x) or x.dtype == torch.int64 else cast(x, torch.int32)


# ---- sums, products, means ----


@symbolic("aten::sum", opset=7)
def sum(self, dim=None, keepdim=False):
    return reduce_dims("ReduceSum", in_result_dtype(self), dim, keepdim)


@symbolic("aten::mean", opset=7)
def mean(self, dim=None, keepdim=False):
    """The mean of no elements is NaN; ONNX Runtime returns 0."""
    if reduced_count(self, dim) != 0:
        return reduce_dims("ReduceMean", in_result_dtype(self), dim, keepdim)
    return Div(reduce_dims("ReduceSum", widen(cast(self, result_dtype())), dim, keepdim), 0)


@symbolic("aten::prod", opset=7)
def prod(self, dim=None, keepdim=False):
    return reduce_dims("ReduceProd", in_result_dtype(self), dim, keepdim)


# ---- variances ----


def variance(x, mean, n, dim, keepdim, correction):
    """The sum of squares divided by max(n - correction, 0).

    0 / 0 is NaN, as in PyTorch, and so is the mean of no elements.
    """
    difference = with_shape(x - mean, x)
    square = difference * difference
    if correction == 0 and n != 0:
        return reduce_dims("ReduceMean", square, dim, keepdim)
    total = reduce_dims("ReduceSum", square, dim, keepdim)
    if is_known(n):
        return total / (n - correction if n > correction else 0)
    return total / Max(cast(n, x.dtype) - correction, 0)


def mean_beside(x, mean, n, dim, keepdim):
    if n == 0:
        return reduce_dims("ReduceSum", x, dim, keepdim) / 0
    return mean if keepdim else Squeeze(mean, reduced_axes(x, dim))


@symbolic("aten::var", opset=7)
def var(self, dim=None, keepdim=False, unbiased=None, correction=None):
    x = widen(self)
    n = reduced_count(self, dim)
    mean = reduce_dims("ReduceMean", x, dim, True)
    return variance(x, mean, n, dim, keepdim, given(correction, given(unbiased, 1)))


@symbolic("aten::std", opset=7)
def std(self, dim=None, keepdim=False, unbiased=None, correction=None):
    return Sqrt(var(self, dim, keepdim, unbiased, correction))


@symbolic("aten::var_mean", opset=7)
def var_mean(self, dim=None, keepdim=False, unbiased=None, correction=None):
    x = widen(self)
    n = reduced_count(self, dim)
    mean = reduce_dims("ReduceMean", x, dim, True)
    y = variance(x, mean, n, dim, keepdim, given(correction, given(unbiased, 1)))
    return y, mean_beside(x, mean, n, dim, keepdim)


@symbolic("aten::std_mean", opset=7)
def std_mean(self, dim=None, keepdim=False, unbiased=None, correction=None):
    x = widen(self)
    n = reduced_count(self, dim)
    mean = reduce_dims("ReduceMean", x, dim, True)
    y = variance(x, mean, n, dim, keepdim, given(correction, given(unbiased, 1)))
    return Sqrt(y), mean_beside(x, mean, n, dim, keepdim)


# ---- extremes ----


@symbolic("aten::max", opset=7)
@symbolic("aten::amax", opset=7)
def amax(self, dim=None, keepdim=False):
    return reduce_dims("ReduceMax", comparable(self), dim, keepdim)


@symbolic("aten::min", opset=7)
@symbolic("aten::amin", opset=7)
def amin(self, dim=None, keepdim=False):
    return reduce_dims("ReduceMin", comparable(self), dim, keepdim)


@symbolic("aten::aminmax", opset=7)
def aminmax(self, dim=None, keepdim=False):
    """A 0-d tensor reduced along dimension 0 with keepdim becomes a vector of one element."""
    x = comparable(self)
    least = as_result(reduce_dims("ReduceMin", x, dim, keepdim))
    return least, as_result(reduce_dims("ReduceMax", x, dim, keepdim), 1)


def arg_operand(x):
    """ArgMax and ArgMin have floats and int32 everywhere."""
    return cast(x, torch.float64) if x.dtype == torch.int64 else x


@symbolic("aten::max.dim", opset=7)
def max_dim(self, dim, keepdim):
    """A tensor without dimensions is its own maximum, at index 0."""
    if self.ndim == 0:
        return self, cast(0, torch.int64)
    x = comparable(self)
    values = reduce_dims("ReduceMax", x, dim, keepdim) if is_used(0) else None
    return values, ArgMax(arg_operand(x), axis=axis_of(dim, self), keepdims=keepdim)


@symbolic("aten::min.dim", opset=7)
def min_dim(self, dim, keepdim):
    if self.ndim == 0:
        return self, cast(0, torch.int64)
    x = comparable(self)
    values = reduce_dims("ReduceMin", x, dim, keepdim) if is_used(0) else None
    return values, ArgMin(arg_operand(x), axis=axis_of(dim, self), keepdims=keepdim)


@symbolic("aten::argmax", opset=7)
def argmax(self, dim, keepdim):
    if self.ndim == 0:
        return cast(0, torch.int64)
    x = comparable(self)
    if dim is not None:
        return ArgMax(arg_operand(x), axis=axis_of(dim, self), keepdims=keepdim)
    first = ArgMax(arg_operand(Reshape(x, [-1])), axis=0, keepdims=0)
    return as_result(first) if keepdim else first


@symbolic("aten::argmin", opset=7)
def argmin(self, dim, keepdim):
    if self.ndim == 0:
        return cast(0, torch.int64)
    x = comparable(self)
    if dim is not None:
        return ArgMin(arg_operand(x), axis=axis_of(dim, self), keepdims=keepdim)
    first = ArgMin(arg_operand(Reshape(x, [-1])), axis=0, keepdims=0)
    return as_result(first) if keepdim else first


# ---- truth ----


def is_empty(dim):
    """Whether no dimension is reduced; None stands for all of them."""
    return dim is not None and len(as_list(dim)) == 0


@symbolic("aten::all", opset=7)
def all(self, dim=None, keepdim=False):
    if is_empty(dim):
        return cast(self, torch.bool)
    return Equal(count(Not(cast(self, torch.bool)), dim, keepdim), 0)


@symbolic("aten::any", opset=7)
def any(self, dim=None, keepdim=False):
    if is_empty(dim):
        return cast(self, torch.bool)
    return Not(Equal(count(cast(self, torch.bool), dim, keepdim), 0))


@symbolic("aten::count_nonzero", opset=7)
def count_nonzero(self, dim=None):
    return count(cast(self, torch.bool), dim, False)


# ---- logarithms and norms ----


@symbolic("aten::logsumexp", opset=7)
def logsumexp(self, dim, keepdim):
    """The maximum is subtracted first, so that nothing overflows.

    It must not be infinite: inf - inf would be NaN.
    """
    x = widen(cast(self, result_dtype()))
    top = Clip(reduce_dims("ReduceMax", x, dim, True), -3e38, 3e38)
    y = Log(reduce_dims("ReduceSum", Exp(x - top), dim, True)) + top
    return y if keepdim else Squeeze(y, reduced_axes(x, dim))


def norm_of(self, p, dim, keepdim):
    x = widen(cast(self, result_dtype()))
    if p == 0:
        return cast(count(cast(x, torch.bool), dim, keepdim), x.dtype)
    if x.ndim == 0:
        return Abs(x)
    if p == math.inf:
        return reduce_dims("ReduceMax", Abs(x), dim, keepdim)
    if p == -math.inf:
        return reduce_dims("ReduceMin", Abs(x), dim, keepdim)
    if p == 1:
        return reduce_dims("ReduceL1", x, dim, keepdim)
    if p == 2:
        return reduce_dims("ReduceL2", x, dim, keepdim)
    return Pow(reduce_dims("ReduceSum", Pow(Abs(x), p), dim, keepdim), 1 / p)


@symbolic("aten::norm", opset=7)
def norm(self, p=None, dim=None, keepdim=False):
    return norm_of(self, given(p, 2), dim, keepdim)


@symbolic("aten::linalg_vector_norm", opset=7)
def linalg_vector_norm(self, ord=None, dim=None, keepdim=False):
    return norm_of(self, given(ord, 2), dim, keepdim)
