"""Embeddings and embedding bags."""

import math
import torch

from calque import operator, size_hint


def bags(weight, indices, offsets, mode, per_sample_weights, include_last_offset, padding):
    """Computes embedding bags with a table [bags, indices] of membership. Modes are 0 sum, 1 mean
    and 2 max. Results 1 to 3 are for the backward pass; for sums PyTorch leaves them empty or 0.
    Indices equal to padding do not count. With include_last_offset the last offset is the end of
    the last bag."""
    assert (
        weight.ndim == 2 and indices.ndim == 1 and (offsets.ndim == 1)
    ), "expected a matrix as weight, and indices and offsets of one dimension"
    assert mode in [0, 1, 2], f"expected mode 0, 1 or 2, got {mode}"
    n = offsets.shape[0]
    if include_last_offset:
        n = n - 1
    at = torch.arange(indices.shape[0])
    of = (at >= torch.ops.aten.slice(offsets, 0, 0, n).unsqueeze(1)).sum([0]) - 1
    table = of == torch.arange(n).unsqueeze(1)
    if include_last_offset:
        table = table.logical_and(at < torch.ops.aten.slice(offsets, 0, n, n + 1))
    if padding >= 0:
        table = table.logical_and(indices != padding)
    rows = torch.embedding(weight, indices)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    counts = table.sum([1])
    empty = (counts == 0).unsqueeze(1)
    if mode == 2:
        all = rows.unsqueeze(0).masked_fill(table.logical_not().unsqueeze(2), -math.inf)
        first = indices.take(all.argmax(1)).masked_fill(empty, 0)
        return (all.amax([1]).masked_fill(empty, 0), of, counts, first)
    out = torch.mm(table.to(weight.dtype), rows)
    if mode == 1:
        return (out / counts.clamp(1).unsqueeze(1), of, counts, counts.clone())
    counts = counts * 0
    return (out, torch.ops.aten.slice(of, 0, 0, 0) if padding < 0 else of, counts, counts.clone())


@operator(
    "aten::embedding_bag(Tensor weight, Tensor indices, Tensor offsets, "
    "bool scale_grad_by_freq=False, int mode=0, bool sparse=False, "
    "Tensor? per_sample_weights=None, bool include_last_offset=False) -> (Tensor, Tensor, "
    "Tensor, Tensor)"
)
def embedding_bag(
    weight,
    indices,
    offsets,
    scale_grad_by_freq,
    mode,
    sparse,
    per_sample_weights,
    include_last_offset,
):
    """Sums, means or maxima of bags of rows."""
    return bags(weight, indices, offsets, mode, per_sample_weights, include_last_offset, -1)


@operator(
    "aten::embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, "
    "bool scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, "
    "bool include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)"
)
def embedding_bag_padding_idx(
    weight,
    indices,
    offsets,
    scale_grad_by_freq,
    mode,
    sparse,
    per_sample_weights,
    include_last_offset,
    padding_idx,
):
    """Sums, means or maxima of bags of rows."""
    n = weight.shape[0]
    assert padding_idx is None or (
        padding_idx >= -n and padding_idx < n
    ), f"padding_idx {padding_idx} is out of range for {n} rows"
    if padding_idx is None:
        padding = -1
    elif padding_idx >= 0:
        padding = padding_idx
    else:
        padding = padding_idx + size_hint(n)
    return bags(weight, indices, offsets, mode, per_sample_weights, include_last_offset, padding)


@operator(
    "aten::_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, "
    "bool scale_grad_by_freq=False, int mode=0, bool sparse=False, "
    "Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) "
    "-> (Tensor, Tensor, Tensor, Tensor)"
)
def _embedding_bag(
    weight,
    indices,
    offsets,
    scale_grad_by_freq,
    mode,
    sparse,
    per_sample_weights,
    include_last_offset,
    padding_idx,
):
    """Sums, means or maxima of bags of rows."""
    return bags(
        weight, indices, offsets, mode, per_sample_weights, include_last_offset, padding_idx
    )


@operator(
    "aten::embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) "
    "-> Tensor"
)
def embedding_renorm(self, indices, max_norm, norm_type):
    """A copy whose indexed rows are scaled down to a maximum norm."""
    assert self.ndim == 2, f"expected 2 dimensions, got {self.ndim}"
    norms = torch.ops.aten.norm(self, norm_type, [1], True)
    over = norms > max_norm
    named = torch.zeros_like(over.select(1, 0)).index_fill(0, indices.flatten(), 1)
    scale = (norms + 1e-07).reciprocal() * max_norm
    return torch.where(named.unsqueeze(1).logical_and(over), self * scale, self)
