"""Selection by value:

masks, unique elements, searching. Sizes of results are data-dependent, so they are read at run time
where they are needed.
"""

import torch

from calque.onnx import *
from onnx.common import broadcast, given

unsupported("aten::nonzero", "NonZero requires opset 9", opset=7)
unsupported("aten::masked_select", "selection by a mask requires opset 9", opset=7)
unsupported("aten::masked_scatter", "writing elements requires opset 9", opset=7)
unsupported("aten::_unique", "Unique requires opset 11", opset=7)
unsupported("aten::_unique2", "Unique requires opset 11", opset=7)
unsupported("aten::unique_dim", "Unique requires opset 11", opset=7)
unsupported("aten::unique_consecutive", "it requires CumSum, of opset 11", opset=7)
unsupported("aten::unique_dim_consecutive", "comparing whole slices is not supported", opset=7)


def comparable(x):
    """A dtype whose elements ONNX Runtime compares."""
    return widen(x) if is_float(x) else cast(x, torch.int64)


@symbolic("aten::nonzero", opset=9, decompose=True)
def nonzero(self):
    """A 0-d tensor becomes a vector of one element; its indices have no dimensions."""
    if self.ndim == 0:
        return unsupported("unsupported for 0-d tensors")
    return Transpose(NonZero(cast(self, torch.bool)), perm=[1, 0])


@symbolic("aten::masked_select", opset=9)
def masked_select(self, mask):
    x, m = broadcast(without_bfloat16(self), mask)
    return Compress(flatten(x), flatten(m), axis=0)


@symbolic("aten::masked_scatter", opset=9)
def masked_scatter(self, mask, source):
    """The k-th true element of the mask gets the k-th of source."""
    x, m = broadcast(self, mask)
    row = flatten(x)
    index = Reshape(NonZero(flatten(m)), [-1])
    values = flatten(source)
    many = iota(Gather(Shape(index), 0, axis=0))
    return as_result(ScatterElements(row, index, Gather(values, many), axis=0))


@symbolic("aten::bincount", opset=7)
def bincount(self, weights, minlength):
    """Sums a table of which number each element equals."""
    has_weights = weights is not None
    x = cast(self, torch.int64)
    column = Unsqueeze(x, [1])
    least = [minlength - 1 if minlength > 0 else -1]
    depth = ReduceMax(Concat(x, least, axis=0), [0], keepdims=0) + 1
    table = cast(Equal(column, iota(depth)), result_dtype())
    if has_weights:
        table = table * Unsqueeze(cast(weights, result_dtype()), [1])
    return ReduceSum(table, [0], keepdims=0)


@symbolic("aten::repeat_interleave.Tensor", opset=7)
def repeat_interleave(repeats):
    """Output j is the number of cumulative sums of repeats that are at most j."""
    n = cast(repeats, torch.int64)
    total = iota(ReduceSum(n, [0], keepdims=0))
    table = Not(Less(Unsqueeze(total, [1]), CumSum(n, 0)))
    return ReduceSum(cast(table, torch.int64), [1], keepdims=0)


@symbolic("aten::searchsorted", opset=7)
def searchsorted(sorted_sequence, self, right, side=None, sorter=None):
    """The number of elements of the sequence that are not greater (right), or less.

    NaN sorts last, so the condition is a negated comparison.
    """
    if opset() < 9 and not is_float(sorted_sequence):
        return unsupported("comparing integers requires opset 9", 9)
    n = sorted_sequence.ndim
    line = sorted_sequence
    if sorter is not None:
        if opset() < 11:
            return unsupported("sorter requires GatherElements, of opset 11", 11)
        line = with_shape(
            GatherElements(sorted_sequence, sorter, axis=n - 1), sorted_sequence
        )
    # A float wins over integers, as in PyTorch; a number takes float64, which holds both.
    line = comparable(line)
    if is_tensor(self):
        x = comparable(self)
    else:
        keeps = is_float(line) or isinstance(self, int)
        x = cast(self, line.dtype if keeps else torch.float64)
    if is_float(line) and x.dtype != torch.float64:
        x = cast(x, line.dtype)
    elif x.dtype != line.dtype:
        line = cast(line, x.dtype)
    row = Unsqueeze(line, [n - 1]) if n > 1 else line
    each = Unsqueeze(x, [x.ndim])
    is_past = Greater(row, each)
    if not right and given(side, "left") != "right":
        if is_float(row) and opset() < 11:
            is_past = Or(is_past, Not(Less(row, each)))
        else:
            is_past = Or(is_past, Equal(row, each))
    counted = cast(Not(is_past), torch.float32 if opset() < 9 else torch.int64)
    return ReduceSum(counted, [x.ndim], keepdims=0)


# ---- unique elements ----


def no_indices():
    return cast([], torch.int64)


def unique_of(x, at):
    """Values, the inverse and the counts."""
    y, first, inverse, counts = Unique(comparable(x), axis=at, sorted=1, outputs=4)
    return cast(y, x.dtype), inverse, counts


@symbolic("aten::_unique2", opset=11)
def unique2(self, return_inverse, return_counts):
    y, inverse, counts = unique_of(self, None)
    if not return_inverse:
        inverse = no_indices()
    elif self.ndim != 1:
        inverse = Reshape(inverse, self.shape)
    return y, inverse, counts if return_counts else no_indices()


@symbolic("aten::_unique", opset=11)
def unique(self, return_inverse):
    y, inverse, counts = unique2(self, return_inverse, True)
    return y, inverse


@symbolic("aten::unique_dim", opset=11)
def unique_dim(self, dim):
    return unique_of(self, axis_of(dim, self))


@symbolic("aten::unique_consecutive", opset=11, decompose=True)
def unique_consecutive(self, return_inverse, return_counts, dim):
    """A new element begins where it differs from the one before it."""
    if dim is not None:
        return unsupported("comparing whole slices is not supported")
    x = flatten(self)
    if x.numel() == 0:
        inverse = cast(self, torch.int64) if return_inverse else no_indices()
        return x, inverse, no_indices()
    values = without_bfloat16(x)
    first = cast([1], torch.bool)
    key = comparable(x)
    differs = Not(Equal(slice(key, 0, 1, None), slice(key, 0, 0, -1)))
    begins = Concat(first, differs, axis=0)
    y = Compress(values, begins, axis=0)
    inverse = no_indices()
    if return_inverse:
        inverse = Reshape(CumSum(cast(begins, torch.int64), 0) - 1, self.shape)
    if not return_counts:
        return y, inverse, no_indices()
    at = Reshape(NonZero(begins), [-1])
    ends = Concat(slice(at, 0, 1, None), [x.numel()], axis=0)
    return y, inverse, ends - at
