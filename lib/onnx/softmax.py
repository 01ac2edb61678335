"""Softmax and its logarithm."""

import math

from calque.onnx import *


def as_row(x):
    """A 0-d tensor as a vector of one element."""
    return Unsqueeze(x, [0]) if x.ndim == 0 else x


def without_row(y, x):
    return Squeeze(y, [0]) if x.ndim == 0 else y


def softmax_of(row, dim):
    """Until opset 12 Softmax flattens x to a matrix at axis; since 13 it works on axis alone.

    They agree on the last axis, so dim is moved there and back.
    """
    if opset() >= 13:
        return Softmax(row, axis=axis_of(dim, row))
    return swap_dims(Softmax(swap_dims(row, dim, -1), axis=row.ndim - 1), dim, -1)


@symbolic("aten::softmax.int", opset=7, promote=True)
def softmax(self, dim):
    return without_row(softmax_of(as_row(self), dim), self)


@symbolic("aten::log_softmax.int", opset=7, promote=True)
def log_softmax(self, dim):
    row = as_row(self)
    if opset() >= 13:
        return without_row(LogSoftmax(row, axis=axis_of(dim, row)), self)
    y = swap_dims(LogSoftmax(swap_dims(row, dim, -1), axis=row.ndim - 1), dim, -1)
    return without_row(y, self)


@symbolic("aten::_safe_softmax", opset=7, promote=True)
def safe_softmax(self, dim):
    """Rows of -inf become 0.

    Both maximum and sum of such a row are -inf. The maximum alone is not enough: ONNX Runtime's
    maximum ignores NaN.
    """
    row = as_row(self)
    axes = [axis_of(dim, row)]
    is_lowest = Equal(ReduceMax(row, axes, keepdims=1), -math.inf)
    is_empty = And(is_lowest, Equal(ReduceSum(row, axes, keepdims=1), -math.inf))
    return without_row(Where(is_empty, 0, softmax_of(row, dim)), self)
