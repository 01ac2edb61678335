"""Reductions by segment."""

import math
import torch

from calque import operator, wrap_dim


@operator(
    "aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, "
    "bool include_self=True) -> Tensor"
)
def index_reduce(self, dim, index, source, reduce, include_self):
    """The tensor with slices of source reduced into the slices at index."""
    assert reduce in [
        "prod",
        "mean",
        "amax",
        "amin",
    ], f"expected reduce prod, mean, amax or amin, got {reduce}"
    assert index.ndim <= 1, f"expected an index of one dimension, got {index.ndim}"
    d = wrap_dim(dim, self.ndim)
    sizes = [index.numel() if i == d else 1 for i in range(source.ndim)]
    at = index.reshape(sizes).expand(source.shape)
    return torch.scatter_reduce(self, d, at, source, reduce, include_self=include_self)


@operator(
    "aten::segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, "
    "Tensor? indices=None, Tensor? offsets=None, int axis=0, bool unsafe=False, "
    "Scalar? initial=None) -> Tensor"
)
def segment_reduce(data, reduce, lengths, indices, offsets, axis, unsafe, initial):
    """Reductions of consecutive segments of given lengths.

    The segment of an index is the number of segment ends at or before it. Elements after the last
    end are reduced into one more segment, which is dropped.
    """
    assert reduce in [
        "sum",
        "mean",
        "max",
        "min",
        "prod",
    ], f"unknown reduce {reduce}"
    if indices is not None:
        raise NotImplementedError("the argument indices is not supported")
    if lengths is not None:
        ends = lengths.cumsum(-1)
    elif offsets is not None:
        ends = torch.ops.aten.slice(offsets, -1, 1)
        lengths = ends - torch.ops.aten.slice(offsets, -1, 0, -1)
    else:
        raise ValueError("expected lengths or offsets")
    d = wrap_dim(axis, data.ndim)
    n = ends.shape[-1]
    more = [1] * (data.ndim - d - 1)
    place = torch.arange(data.shape[d]).unsqueeze(1)
    segment = (ends.unsqueeze(-2) <= place).sum(-1)
    segment = segment.reshape(list(segment.shape) + more).expand(data.shape)
    if initial is not None:
        first = initial
    elif reduce == "max":
        first = -math.inf
    elif reduce == "min":
        first = math.inf
    else:
        first = 1 if reduce == "prod" else 0
    y = torch.full(
        list(data.shape[:d]) + [n + 1] + list(data.shape[d + 1 :]), first, dtype=data.dtype
    )
    if reduce == "prod":
        how = "prod"
    elif reduce == "max":
        how = "amax"
    elif reduce == "min":
        how = "amin"
    else:
        how = "sum"
    y = torch.ops.aten.slice(torch.scatter_reduce(y, d, segment, data, how), d, 0, n)
    if reduce != "mean":
        return y
    count = lengths.reshape(list(lengths.shape) + more)
    return y / (count.clamp(min=1) if initial is not None else count)


@operator("aten::nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor")
def nonzero_static(self, size, fill_value):
    """Indices of the nonzero elements, padded with fill_value to a fixed number of rows."""
    rest = torch.full([size, self.ndim], fill_value, dtype=torch.int64)
    return torch.ops.aten.slice(torch.cat([torch.nonzero(self), rest]), 0, 0, size).reshape(
        [size, self.ndim]
    )


@operator(
    "aten::combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
    complex=True,
)
def combinations(self, r, with_replacement):
    """All combinations of r elements, one per row.

    Selects the increasing rows of all tuples of r indices in lexicographic order.
    """
    assert self.ndim == 1, "expected one dimension"
    assert r >= 0, f"expected r of at least 0, got {r}"
    n = self.shape[0]
    if r == 0:
        return torch.zeros([0], dtype=self.dtype)
    many = 1
    for i in range(r):
        many = many * (n + i if with_replacement else n - i) // (i + 1)
    p = torch.arange(math.prod([n] * r))
    at = [p // math.prod([n for i in range(int(k) + 1, r)]) % n for k in range(r)]
    rank = math.prod([n] * r) - p
    for k in range(r - 1):
        rank = rank * (at[k] <= at[k + 1] if with_replacement else at[k] < at[k + 1])
    rank, p = torch.topk(rank, many)
    at = [p // math.prod([n for i in range(int(k) + 1, r)]) % n for k in range(r)]
    return torch.index_select(self, 0, torch.stack(at, 1).reshape([-1])).reshape([many, r])
