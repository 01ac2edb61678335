"""Grouped matrix products.

ONNX has no such operator. Each group is a Slice and a MatMul, which costs nothing for an empty
group and reads its matrix from the weights in place.
"""

import torch

from calque.onnx import *

unsupported("aten::_grouped_mm", "data-dependent slices require opset 10", opset=7)
unsupported(
    "transformers::grouped_mm_fallback",
    "data-dependent slices require opset 10",
    opset=7,
)


def product(a, b):
    return with_dtype(MatMul(a, b), a.dtype)


def part(x, axis, limits, i):
    """The rows or columns of group i; a factor with three axes has a matrix for each group."""
    if x.ndim == 3:
        return Gather(x, i, axis=0)
    return with_dtype(Slice(x, limits[i], limits[i + 1], [axis]), x.dtype)


def zeros_behind(parts, a, b, limits):
    """The concatenated parts, with zeros for rows or columns after the last group."""
    if a.ndim == 3:
        sizes = Concat([a.size(1)], Sub([b.size(1)], limits[-1]), axis=0)
    else:
        sizes = Concat(Sub([a.size(0)], limits[-1]), [b.size(2)], axis=0)
    zeros = Expand(like(0, a), sizes)
    return Concat(parts + [zeros], axis=1 if a.ndim == 3 else 0)


@symbolic("aten::_grouped_mm", opset=10)
@symbolic("transformers::grouped_mm_fallback", opset=10)
def grouped_mm(self, mat2, offs, bias=None, out_dtype=None):
    a = without_bfloat16(self)
    b = without_bfloat16(mat2)
    if offs is None:
        return product(a, b)
    n = offs.size(0)
    if not is_known(n) or n > 1024:
        return unsupported("expected a fixed number of groups, at most 1024")
    ends = split_sizes(cast(offs, torch.int64), 0, [1] * n) if n > 0 else []
    limits = [cast([0], torch.int64)] + ends
    a_axis = 1 if b.ndim == 2 else 0
    b_axis = 1 if a.ndim == 3 else 0
    parts = [product(part(a, a_axis, limits, i), part(b, b_axis, limits, i)) for i in range(n)]
    if a.ndim == 2 and b.ndim == 2:
        return with_dtype(Concat([Unsqueeze(p, [0]) for p in parts], axis=0), a.dtype)
    return with_dtype(zeros_behind(parts, a, b, limits), a.dtype)
