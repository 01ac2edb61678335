"""Quantized tensors, as pairs of QuantizeLinear and DequantizeLinear.

Runtimes look for these pairs, and they round as PyTorch rounds. They exist since opset 10, with a
scale per channel since 13, in 8 bits; other cases are decomposed.
"""

import torch

from calque.onnx import *


def along(row, others):
    """Quantization parameters in a form that broadcasts with x.

    others are the axes to add after the channel axis; None: a single number for the tensor.
    """
    if others is None:
        return Squeeze(row, [0]) if row.ndim == 1 else row
    return Unsqueeze(row, others)


def axes_behind(x, at):
    return [i - at for i in range(at + 1, x.ndim)]


def rounded(x, scale, zero_point, others, quant_min, quant_max):
    step = along(cast(scale, torch.float32), others)
    steps = Round(x * cast(Reciprocal(step), x.dtype))
    zero = cast(along(cast(zero_point, torch.float32), others), x.dtype)
    q = Clip(steps + zero, quant_min, quant_max)
    return (q - zero) * cast(step, x.dtype)


def stored_dtype(x, quant_min, quant_max):
    """The dtype that holds the range; None if no type of ONNX's operators does."""
    if x.dtype != torch.float32:
        return None
    if quant_min >= 0 and quant_max <= 255:
        return torch.uint8
    return torch.int8 if quant_min >= -128 and quant_max <= 127 else None


@symbolic("aten::fake_quantize_per_tensor_affine", opset=7)
def fake_quantize_per_tensor_affine(self, scale, zero_point, quant_min, quant_max):
    x = widen(self)
    dtype = stored_dtype(x, quant_min, quant_max)
    is_whole = quant_max - quant_min == 255
    if opset() < 10 or dtype is None or not (is_whole or not is_tensor(scale)):
        return rounded(x, scale, zero_point, None, quant_min, quant_max)
    if not is_whole:
        # The ends of a smaller range are multiples of the scale, so x may be clipped there first.
        low = (quant_min - zero_point) * scale
        x = Clip(x, low, (quant_max - zero_point) * scale)
    step = along(cast(scale, torch.float32), None)
    zero = along(cast(zero_point, dtype), None)
    return DequantizeLinear(QuantizeLinear(x, step, zero), step, zero)


@symbolic("aten::fake_quantize_per_channel_affine", opset=7)
def fake_quantize_per_channel_affine(self, scale, zero_point, axis, quant_min, quant_max):
    x = widen(self)
    at = axis_of(axis, self)
    dtype = stored_dtype(x, quant_min, quant_max)
    if opset() < 13 or dtype is None or quant_max - quant_min != 255:
        return rounded(x, scale, zero_point, axes_behind(self, at), quant_min, quant_max)
    row = cast(scale, torch.float32)
    zeros = cast(zero_point, dtype)
    return DequantizeLinear(QuantizeLinear(x, row, zeros, axis=at), row, zeros, axis=at)


def dequantized(x, scale, zero_point, others):
    difference = cast(x, torch.float32) - along(cast(zero_point, torch.float32), others)
    return difference * along(cast(scale, torch.float32), others)


@symbolic("aten::_make_per_tensor_quantized_tensor", opset=7)
def make_per_tensor_quantized_tensor(self, scale, zero_point):
    """DequantizeLinear has int32 only without a zero point."""
    if opset() < 10 or self.dtype == torch.int32:
        return dequantized(self, scale, zero_point, None)
    step = along(cast(scale, torch.float32), None)
    return DequantizeLinear(self, step, along(cast(zero_point, self.dtype), None))


@symbolic("aten::_make_per_channel_quantized_tensor", opset=7)
def make_per_channel_quantized_tensor(self, scale, zero_point, axis):
    at = axis_of(axis, self)
    if opset() < 13 or self.dtype == torch.int32:
        return dequantized(self, scale, zero_point, axes_behind(self, at))
    row = cast(scale, torch.float32)
    return DequantizeLinear(self, row, cast(zero_point, self.dtype), axis=at)


@symbolic("aten::dequantize.self", opset=7)
def dequantize(self):
    return cast(self, torch.float32)
