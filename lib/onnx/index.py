"""Indexing with tensors, and slices along one dimension by index.

x[a, :, b] moves the indexed dimensions to the front, where GatherND reads, and ScatterND writes,
at tuples of indices; the dimensions of the indices are then moved to their position in PyTorch. A
mask is replaced by the indices of its true elements (NonZero). Before opset 11 the indexed
dimensions are flattened and the indices are single numbers, for Gather and Scatter.
"""

import math
import torch

from calque.onnx import *
from onnx.common import common_shape, inverse

unsupported("aten::index_put", "writing elements requires opset 9", opset=7)
unsupported("aten::_index_put_impl", "writing elements requires opset 9", opset=7)


# ---- dimensions ----


def front_order(x, axes):
    return axes + [i for i in range(x.ndim) if i not in axes]


def to_front(x, axes):
    """x with these axes first, in order."""
    order = front_order(x, axes)
    return x if order == list(range(x.ndim)) else Transpose(x, perm=order)


def from_front(x, axes):
    """x, whose first axes are these, with all axes in ascending order."""
    order = front_order(x, axes)
    return x if order == list(range(x.ndim)) else Transpose(x, perm=inverse(order))


# ---- the indices ----


def is_mask(index):
    return index.dtype in (torch.bool, torch.uint8)


def true_elements(mask):
    """Indices of the true elements, for each dimension of the mask."""
    if opset() < 9:
        return unsupported("a mask as an index needs NonZero, of opset 9", 9)
    rows = NonZero(cast(mask, torch.bool))
    return [Gather(rows, i, axis=0) for i in range(mask.ndim)]


def indices_of(x, indices):
    """The indexed dimensions of x; an index for each; the shape to which the indices broadcast,
    which is None with a mask, because its size is data-dependent; their rank; and the mask, if it
    is the only index."""
    dims = []
    each = []
    shape = []
    rank = 0
    has_mask = False
    dim = 0
    for index in indices:
        if index is None:
            dim = dim + 1
        elif is_mask(index):
            each = each + true_elements(index)
            dims = dims + list(range(dim, dim + index.ndim))
            dim = dim + index.ndim
            rank = max(rank, 1)
            has_mask = True
        else:
            each = each + [cast(index, torch.int64)]
            dims = dims + [dim]
            dim = dim + 1
            rank = max(rank, index.ndim)
            shape = common_shape(shape, index.shape)
    given = [index for index in indices if index is not None]
    mask = given[0] if has_mask and len(given) == 1 else None
    return dims, each, None if has_mask else shape, rank, mask


def first_dim(dims):
    """The position of the dimensions of the indices in the result."""
    is_run = len(dims) > 0 and dims == list(range(dims[0], dims[0] + len(dims)))
    return dims[0] if is_run else 0


def broadcast_indices(each, shape, mask):
    if shape is not None:
        return [expand(index, shape) for index in each]
    if mask is not None or len(each) == 1:
        return each
    size = Shape(sum(each))
    return [Expand(index, size) for index in each]


def tuples(each, rank):
    """[indices…, n]: a tuple of n for each index."""
    columns = [Unsqueeze(index, [rank]) for index in each]
    return columns[0] if len(columns) == 1 else Concat(columns, axis=rank)


def joined_indices(x, dims, each):
    """Indices into the indexed dimensions, which are flattened."""
    joined = non_negative(each[0], x.size(dims[0]))
    for i in range(1, len(dims)):
        n = x.size(dims[i])
        joined = joined * n + non_negative(each[i], n)
    return joined


def joined_front(x, dims):
    """x with the indexed dimensions in front, flattened."""
    y = to_front(x, dims)
    n = len(dims)
    return y if n == 1 else Reshape(y, [math.prod(y.shape[:n])] + y.shape[n:])


def order_of_result(x, dims, rank):
    """The axes of x[…], if those of the indices come first."""
    first = first_dim(dims)
    end = rank + x.ndim - len(dims)
    return list(range(rank, rank + first)) + list(range(rank)) + list(range(rank + first, end))


# ---- reading ----


def compress(self, mask, first):
    """The masked dimensions, flattened."""
    behind = first + mask.ndim
    x = without_bfloat16(self)
    m = cast(mask, torch.bool)
    if mask.ndim > 1:
        n = math.prod(self.shape[first:behind])
        x = Reshape(x, self.shape[:first] + [n] + self.shape[behind:])
        m = Reshape(m, [n])
    return cast(Compress(x, m, axis=first), self.dtype)


@symbolic("aten::index", opset=7)
def index(self, indices):
    dims, each, shape, rank, mask = indices_of(self, indices)
    if mask is not None:
        return compress(self, mask, first_dim(dims))
    if len(dims) == 1:
        return Gather(self, non_negative(each[0], self.size(dims[0])), axis=dims[0])
    if opset() >= 11:
        x = to_front(self, dims)
        y = GatherND(x, tuples(broadcast_indices(each, shape, mask), rank))
    else:
        x = joined_front(self, dims)
        y = Gather(x, joined_indices(self, dims, each), axis=0)
    if first_dim(dims) == 0:
        return y
    return Transpose(y, perm=order_of_result(self, dims, rank))


# ---- writing ----


def values_in_front(x, values, dims, each, shape, rank):
    """The values in the shape of x[…], with the dimensions of the indices in front."""
    first = first_dim(dims)
    others = [x.size(i) for i in range(x.ndim) if i not in dims]
    if shape is not None:
        y = expand(values, others[:first] + shape + others[first:])
    else:
        before = [cast(others[:first], torch.int64)] if first > 0 else []
        behind = [cast(others[first:], torch.int64)] if len(others) > first else []
        parts = before + [Shape(each[0])] + behind
        y = Expand(values, parts[0] if len(parts) == 1 else Concat(parts, axis=0))
    if first == 0:
        return y
    return Transpose(y, perm=inverse(order_of_result(x, dims, rank)))


def where_mask(x, mask, first, value):
    """The same value at all true elements."""
    m = cast(mask, torch.bool)
    behind = first + mask.ndim
    if behind < x.ndim:
        m = Reshape(m, x.shape[first:behind] + [1] * (x.ndim - behind))
    return with_shape(Where(m, value, x), x)


def add_by_table(x, index, rows):
    """Without reductions of Scatter: x plus a product that sums the values of equal indices.
    Column p of the table is 1 where an index is p."""
    if not is_float(x) and opset() < 9:
        return unsupported("products of integers require opset 9", 9)
    table = Equal(Unsqueeze(index, [1]), iota(x.size(0)))
    total = MatMul(cast(Transpose(table, perm=[1, 0]), x.dtype), rows)
    rest = math.prod(x.shape[1:])
    return with_shape(x + Reshape(with_shape(total, [x.size(0), rest]), x.shape), x)


def write_joined(x, index, values, accumulate):
    """x with the slices that index names replaced by values, or summed with them."""
    rest = math.prod(x.shape[1:])
    row = Reshape(index, [-1])
    rows = Reshape(values, [-1, rest])
    if accumulate:
        return add_by_table(x, row, rows)
    column = Expand(Unsqueeze(row, [1]), Shape(rows))
    table = Reshape(x, [x.size(0), rest])
    return Reshape(with_shape(ScatterElements(table, column, rows, axis=0), table), x.shape)


@symbolic("aten::index_put", opset=9)
@symbolic("aten::_index_put_impl", opset=9)
def index_put(self, indices, values, accumulate):
    dims, each, shape, rank, mask = indices_of(self, indices)
    x = widen(self) if accumulate else self  # ONNX Runtime adds no halves while it scatters
    values = widen(values) if accumulate else values
    if mask is not None and not accumulate and values.ndim == 0:
        return where_mask(x, mask, first_dim(dims), values)
    each = broadcast_indices(each, shape, mask)
    if opset() >= (16 if accumulate else 11):
        at = tuples(each, rank)
        front = to_front(x, dims)
        source = values_in_front(x, values, dims, each, shape, rank)
        y = ScatterND(front, at, source, reduction="add" if accumulate else None)
    else:
        source = values_in_front(x, values, dims, each, shape, rank)
        y = write_joined(joined_front(x, dims), joined_indices(x, dims, each), source, accumulate)
        front = to_front(x, dims)
        y = Reshape(y, front.shape) if len(dims) > 1 else y
    return from_front(with_shape(y, front), dims)


# ---- along one dimension ----


def as_wide_as(source, x, at):
    """The source in the sizes of x, except along the axis."""
    lack = x.ndim - source.ndim
    y = Unsqueeze(source, list(range(at + 1, at + 1 + lack))) if lack > 0 else source
    sizes = [y.size(i) if i == at else x.size(i) for i in range(x.ndim)]
    is_wider = len([i for i in range(x.ndim) if y.size(i) == 1 and sizes[i] != 1]) > 0
    return expand(y, sizes) if is_wider else y


@symbolic("aten::index_add", opset=7)
def index_add(self, dim, index, source, alpha):
    x = widen(self)
    y = widen(source)
    rows = cast(at_least_1d(index), torch.int64)
    if x.ndim == 0:
        return with_shape(x + Reshape(y * alpha, []), x)
    at = axis_of(dim, x)
    y = as_wide_as(y, x, at) if y.ndim > 1 and x.ndim > 1 else y
    y = y * alpha
    front = to_front(x, [at])
    y = to_front(y, [at])
    if opset() >= 16:
        total = ScatterND(front, Unsqueeze(rows, [1]), y, reduction="add")
    else:
        rest = math.prod(front.shape[1:])
        many = -1 if is_known(rest) else rows.size(0)
        total = add_by_table(front, rows, Reshape(y, [many, rest]))
    return from_front(with_shape(total, front), [at])


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
