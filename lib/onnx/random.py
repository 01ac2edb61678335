"""Random numbers: the exported model draws new ones in every run."""

import torch

from calque.onnx import *
from onnx.common import all_known, given


def drawn_dtype():
    return torch.float64 if result_dtype() == torch.float64 else torch.float32


def example_of(sizes, dtype):
    """A tensor of zeros that has these dynamic sizes."""
    if len(sizes) == 0:
        return cast(0, dtype)
    if opset() < 9:
        return unsupported("random numbers of dynamic sizes require opset 9", 9)
    return ConstantOfShape(sizes)


def uniform(low, high, sizes, dtype):
    if len(sizes) > 0 and all_known(sizes):
        y = RandomUniform(low=low, high=high, dtype=dtype, shape=sizes)
    else:
        y = RandomUniformLike(example_of(sizes, dtype), low=low, high=high, dtype=dtype)
    return with_shape(with_dtype(y, dtype), sizes)


def index_of_largest(x, n):
    """The indices of the n largest along the last axis."""
    values, index = TopK(x, [n], axis=-1, largest=True, outputs=2)
    return index


@symbolic("aten::rand", opset=7)
def rand():
    return uniform(0, 1, result_shape(), drawn_dtype())


@symbolic("aten::randn", opset=7)
def randn():
    sizes = result_shape()
    dtype = drawn_dtype()
    if len(sizes) > 0 and all_known(sizes):
        return RandomNormal(mean=0, scale=1, dtype=dtype, shape=sizes)
    return RandomNormalLike(example_of(sizes, dtype), mean=0, scale=1, dtype=dtype)


@symbolic("aten::randint", opset=7)
def randint(high, low=None):
    """float64 represents every integer up to 2 ** 53, which is the limit."""
    return Floor(uniform(given(low, 0), high, result_shape(), torch.float64))


@symbolic("aten::randperm", opset=7)
def randperm():
    x = uniform(0, 1, result_shape(), torch.float32)
    return index_of_largest(x, result_shape()[0])


@symbolic("aten::multinomial", opset=7)
def multinomial(self, num_samples, replacement):
    """With replacement, ONNX's Multinomial takes rows of logarithms.

    Without replacement: the indices of the largest log-weights plus Gumbel samples.
    """
    p = cast(self, torch.float32)
    logits = Log(p)
    if not replacement:
        noise = Log(-Log(uniform(1e-20, 1, p.shape, torch.float32)))
        return index_of_largest(logits - noise, num_samples)
    rows = Unsqueeze(logits, [0]) if p.ndim == 1 else logits
    drawn = Multinomial(rows, dtype=torch.int64, sample_size=num_samples)
    return Squeeze(drawn, [0]) if p.ndim == 1 else drawn
