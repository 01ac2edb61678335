"""Tensors joined or repeated.

Most operators of these families are composed of cat, views and flip, and are decomposed.
"""

import torch

from calque.onnx import *


@symbolic("aten::cat", opset=7)
def cat(tensors, dim):
    """Tensors of shape [0] are ignored, as in PyTorch."""
    parts = [cast(x, result_dtype()) for x in tensors if x.ndim != 1 or x.size(0) != 0]
    if len(parts) == 0:
        return cast(tensors[0], result_dtype())
    return parts[0] if len(parts) == 1 else Concat(parts, axis=axis_of(dim, parts[0]))


@symbolic("aten::repeat", opset=7)
def repeat(self, repeats):
    """ONNX Runtime's Tile lacks 16-bit integers and, before opset 13, float16."""
    lead = len(repeats) - self.ndim
    x = Reshape(self, [1] * lead + self.shape) if lead > 0 else self
    if len([i for i in repeats if i != 1]) == 0:
        return x
    return Tile(cast(x, torch.int32) if x.dtype == torch.int16 else widen(x), repeats)


@symbolic("aten::flip", opset=7)
def flip(self, dims):
    """A slice with a negative step; before opset 10 there is none, and Gather is used."""
    x = self
    for dim in dims if self.ndim > 0 else []:
        at = axis_of(dim, x)
        n = x.size(at)
        if opset() < 10 and n != 0:
            x = Gather(x, iota(n, n - 1, -1), axis=at)
        elif n != 0:
            x = with_shape(Slice(x, [-1], [-9223372036854775807], [at], [-1]), x)
    return x


@symbolic("aten::pixel_shuffle", opset=11)
def pixel_shuffle(self, upscale_factor):
    """DepthToSpace has PyTorch's order of channels since opset 11."""
    if self.ndim != 4 or self.dtype not in (torch.float32, torch.float64):
        return unsupported("DepthToSpace requires float images")
    return DepthToSpace(self, blocksize=upscale_factor, mode="CRD")


@symbolic("aten::tril_indices", opset=7)
@symbolic("aten::triu_indices", opset=7)
def triangle_indices():
    return computed()
