"""Parts of tensors, and tensors with a part replaced."""

from calque.onnx import *
from onnx.common import all_known, given, inverse


def clamp_to_zero(n):
    return n - min(n, 0)


def first_index(start, n):
    """The first index of a slice, counted from the beginning.

    The example decides whether start counts from the end.
    """
    first = start + n if hint(start) < 0 else start
    if hint(start) < 0 and not is_known(first) and opset() >= 9:
        return clamp_to_zero(first)
    return 0 if hint(first) < 0 else min(first, n)


def replaced(x, part, at, first, n, step):
    """x with part at n indices: the slice before it, the part, the slice behind it."""
    if step != 1:
        return write_slices(x, at, iota(n, first, step), part)
    before = [] if first == 0 else [slice(x, at, 0, first)]
    behind = first + n
    after = [] if behind == x.size(at) else [slice(x, at, behind, None)]
    return part if len(before + after) == 0 else Concat(before + [part] + after, axis=at)


def item_at(x, at, index):
    """One slice, without its axis.

    Gather accepts negative indices since opset 11; before, a Slice of one element is used.
    """
    n = x.size(at)
    is_behind = opset() < 11 and hint(index) < 0
    if is_behind and is_known(index) and not is_known(n):
        return Squeeze(slice(x, at, index, None if index == -1 else index + 1), [at])
    return Gather(x, index + n if is_behind else index, axis=at)


@symbolic("aten::slice.Tensor", opset=7)
def aten_slice(self, dim, start, end, step):
    """Before opset 10 Slice has static bounds and no steps; Gather replaces it."""
    at = axis_of(dim, self)
    first = given(start, 0)
    if step == 1 and result_shape() == self.shape:
        return self
    is_static = step == 1 and is_known(first) and (end is None or is_known(end))
    if opset() >= 10 or is_static:
        return slice(self, at, first, end, step)
    return Gather(
        self, iota(result_shape()[at], first_index(first, self.size(at)), step), axis=at
    )


@symbolic("aten::slice_scatter", opset=7)
def slice_scatter(self, src, dim, start, step):
    at = axis_of(dim, self)
    part = cast(src, self.dtype)
    n = self.size(at)
    first = first_index(given(start, 0), n)
    m = part.size(at)
    if not is_known(n) and is_known(m) and hint(given(start, 0)) < 0:
        most = n - first
        return replaced(self, slice(part, at, 0, most), at, first, min(m, most), step)
    return replaced(self, part, at, first, m if is_known(m) else clamp_to_zero(m), step)


@symbolic("aten::select.int", opset=7)
def select(self, dim, index):
    return item_at(self, axis_of(dim, self), index)


@symbolic("aten::select_scatter", opset=7)
def select_scatter(self, src, dim, index):
    at = axis_of(dim, self)
    part = Unsqueeze(cast(src, self.dtype), [at])
    return replaced(self, part, at, first_index(index, self.size(at)), 1, 1)


@symbolic("aten::unbind.int", opset=7)
def unbind(self, dim):
    at = axis_of(dim, self)
    if n_results() == 1:
        return Squeeze(self, [at])
    return [item_at(self, at, i) for i in range(n_results())]


@symbolic("aten::split", opset=7)
@symbolic("aten::split_with_sizes", opset=7)
def split(self, dim):
    """Split where all sizes are known or may be an input, slices otherwise."""
    at = axis_of(dim, self)
    sizes = [result_shape(i)[at] for i in range(n_results())]
    if len(sizes) == 1:
        return [self]
    if all_known(sizes):
        return split_sizes(self, at, sizes)
    if opset() >= 13 and len(sizes) <= 64:
        return list(Split(self, sizes, axis=at, outputs=len(sizes)))
    parts = []
    start = 0
    for n in sizes:
        if opset() >= 10:
            parts += [slice(self, at, start, start + n)]
        else:
            parts += [Gather(self, iota(n, start, 1), axis=at)]
        start = start + n
    return parts


# ---- diagonals ----


def diagonal_order(x, dim1, dim2):
    """The permutation that moves both dimensions to the end."""
    a = axis_of(dim1, x)
    b = axis_of(dim2, x)
    return [i for i in range(x.ndim) if i != a and i != b] + [a, b]


def joined_diagonal(x, order):
    """Both dimensions flattened into one; elements of the diagonal are columns + 1 apart."""
    n = x.ndim
    moved = [x.size(i) for i in order]
    return Reshape(
        Transpose(x, perm=order),
        [moved[i] for i in range(n - 2)] + [moved[n - 2] * moved[n - 1]],
    )


def diagonal_indices(x, offset, dim2, m):
    columns = x.size(dim2)
    start = offset if offset >= 0 else -offset * columns
    if is_known(columns):
        return iota(m, start, columns + 1)
    return with_shape(iota(m) * (columns + 1) + start, [m])


@symbolic("aten::diagonal", opset=7)
def diagonal(self, offset, dim1, dim2):
    joined = joined_diagonal(self, diagonal_order(self, dim1, dim2))
    index = diagonal_indices(self, offset, dim2, result_shape()[-1])
    return Gather(joined, index, axis=self.ndim - 2)


@symbolic("aten::diagonal_scatter", opset=7)
def diagonal_scatter(self, src, offset, dim1, dim2):
    n = self.ndim
    order = diagonal_order(self, dim1, dim2)
    joined = joined_diagonal(self, order)
    part = cast(src, self.dtype)
    index = diagonal_indices(self, offset, dim2, part.size(-1))
    y = Reshape(write_slices(joined, n - 2, index, part), [self.size(i) for i in order])
    return Transpose(y, perm=inverse(order))


@symbolic("aten::unfold", opset=7)
def unfold(self, dimension, size, step):
    """Windows by Gather with a table of indices, whose second dimension is moved to the end.

    A 0-d tensor has one window of at most one element.
    """
    n = self.ndim
    if n == 0:
        row = Reshape(self, [1])
        return row if size > 0 else slice(row, 0, 0, 0)
    at = axis_of(dimension, self)
    many = result_shape()[at]
    starts = Unsqueeze(iota(many, 0, step), [1])
    table = with_shape(starts + iota(size, 0, 1), [many, size])
    order = [i if i <= at else at + 1 if i == n else i + 1 for i in range(n + 1)]
    return Transpose(Gather(self, table, axis=at), perm=order)
