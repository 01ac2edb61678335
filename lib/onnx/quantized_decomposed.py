"""Quantization as plain tensors.

QuantizeLinear and DequantizeLinear where they have the dtype: 8 bits since opset 10 and 16 since
21, with a scale for each channel since 13. Otherwise, and for half precision, it is decomposed.
"""

import torch

from calque.onnx import *


def as_number(x):
    """A number, or a row of one, without dimensions."""
    return Squeeze(x, [0]) if x.ndim == 1 else x


def is_supported(dtype):
    if dtype in (torch.int16, torch.uint16):
        return opset() >= 21
    return dtype in (torch.int8, torch.uint8)


def check_quantize(x, quant_min, quant_max):
    """Declines what QuantizeLinear does not have. Returns whether the range is the whole dtype."""
    dtype = result_dtype()
    is_wide = dtype in (torch.int16, torch.uint16)
    width = 65536 if is_wide else 256
    least = -(width // 2) if dtype in (torch.int8, torch.int16) else 0
    if is_tensor(quant_min) or x.dtype != torch.float32 or not is_supported(dtype):
        return unsupported("it is decomposed")
    is_whole = quant_min == least and quant_max == least + width - 1
    if not is_whole and (is_wide or opset() < 12):
        return unsupported("it is decomposed")
    return is_whole


@symbolic("quantized_decomposed::quantize_per_tensor", opset=7)
def quantize_per_tensor(input, scale, zero_point, quant_min, quant_max):
    if opset() < 10:
        return unsupported("it is decomposed")
    is_whole = check_quantize(input, quant_min, quant_max)
    step = as_number(cast(scale, torch.float32))
    q = QuantizeLinear(input, step, as_number(cast(zero_point, result_dtype())))
    return q if is_whole else Clip(q, quant_min, quant_max)


@symbolic("quantized_decomposed::quantize_per_channel", opset=7)
def quantize_per_channel(input, scales, zero_points, axis, quant_min, quant_max):
    if opset() < 13:
        return unsupported("it is decomposed")
    is_whole = check_quantize(input, quant_min, quant_max)
    step = cast(scales, torch.float32)
    zero = None if zero_points is None else cast(zero_points, result_dtype())
    q = QuantizeLinear(input, step, zero, axis=axis_of(axis, input))
    return q if is_whole else Clip(q, quant_min, quant_max)


def check_dequantize(x):
    if result_dtype() != torch.float32 or not is_supported(x.dtype):
        return unsupported("it is decomposed")


@symbolic("quantized_decomposed::dequantize_per_tensor", opset=7)
def dequantize_per_tensor(input, scale, zero_point):
    if opset() < 10:
        return unsupported("it is decomposed")
    check_dequantize(input)
    step = as_number(cast(scale, torch.float32))
    return DequantizeLinear(input, step, as_number(cast(zero_point, input.dtype)))


@symbolic("quantized_decomposed::dequantize_per_channel", opset=7)
def dequantize_per_channel(input, scales, zero_points, axis):
    if opset() < 13:
        return unsupported("it is decomposed")
    check_dequantize(input)
    step = cast(scales, torch.float32)
    zero = None if zero_points is None else cast(zero_points, input.dtype)
    return DequantizeLinear(input, step, zero, axis=axis_of(axis, input))
