"""Quantization written as arithmetic on integers."""

import torch

from calque import operator, wrap_dim


def or_float(dtype):
    return torch.float32 if dtype is None else dtype


def qparams_of_rows(x):
    low = x.amin([-1], True).clamp(max=0)
    high = x.amax([-1], True).clamp(min=0)
    scale = ((high - low) / 255).clamp(min=1.1920928955078125e-07)
    low = low / scale
    high = high / scale
    zero = torch.where(low + high - 1 > 0, -128 - low, 127 - high).clamp(-128, 127).round()
    return (scale.to(torch.float64), zero.to(torch.int64))


@operator(
    "quantized_decomposed::quantize_per_tensor(Tensor input, float scale, int zero_point, "
    "int quant_min, int quant_max, ScalarType dtype) -> Tensor"
)
def quantized_decomposed_quantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype):
    """Quantize to integers."""
    return ((input * (1 / scale)).round() + zero_point).clamp(quant_min, quant_max).to(dtype)


@operator(
    "quantized_decomposed::quantize_per_tensor.tensor(Tensor input, Tensor scale, "
    "Tensor zero_point, int quant_min, int quant_max, ScalarType dtype) -> Tensor"
)
@operator(
    "quantized_decomposed::quantize_per_tensor.tensor2(Tensor input, Tensor scale, "
    "Tensor zero_point, Tensor quant_min, Tensor quant_max, ScalarType dtype) -> Tensor"
)
def quantized_decomposed_quantize_per_tensor_tensor(
    input, scale, zero_point, quant_min, quant_max, dtype
):
    """Quantize to integers, with data-dependent quantization parameters."""
    y = (input * scale.reciprocal().to(input.dtype)).round() + zero_point
    return y.clamp(quant_min, quant_max).to(dtype)


@operator(
    "quantized_decomposed::dequantize_per_tensor(Tensor input, float scale, int zero_point, "
    "int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor"
)
def quantized_decomposed_dequantize_per_tensor(
    input, scale, zero_point, quant_min, quant_max, dtype, out_dtype
):
    """Dequantize integers."""
    return (input.to(or_float(out_dtype)) - zero_point) * scale


@operator(
    "quantized_decomposed::dequantize_per_tensor.tensor(Tensor input, Tensor scale, "
    "Tensor zero_point, int quant_min, int quant_max, ScalarType dtype, *, "
    "ScalarType? out_dtype=None) -> Tensor"
)
@operator(
    "quantized_decomposed::dequantize_per_tensor.tensor2(Tensor input, Tensor scale, "
    "Tensor zero_point, Tensor quant_min, Tensor quant_max, ScalarType dtype, *, "
    "ScalarType? out_dtype=None) -> Tensor"
)
def quantized_decomposed_dequantize_per_tensor_tensor(
    input, scale, zero_point, quant_min, quant_max, dtype, out_dtype
):
    """Dequantize integers with data-dependent quantization parameters."""
    d = or_float(out_dtype)
    return (input.to(d) - zero_point.to(d)) * scale.to(d)


@operator(
    "quantized_decomposed::quantize_per_channel(Tensor input, Tensor scales, "
    "Tensor zero_points, int axis, int quant_min, int quant_max, ScalarType dtype) -> Tensor"
)
def quantized_decomposed_quantize_per_channel(
    input, scales, zero_points, axis, quant_min, quant_max, dtype
):
    """Quantize to integers, with quantization parameters for each channel."""
    d = wrap_dim(axis, input.ndim)
    sizes = [-1 if i == d else 1 for i in range(input.ndim)]
    scale = scales.reshape(sizes)
    y = (input * scale.reciprocal().to(input.dtype)).round() + zero_points.reshape(sizes)
    return y.clamp(quant_min, quant_max).to(dtype)


@operator(
    "quantized_decomposed::dequantize_per_channel(Tensor input, Tensor scales, "
    "Tensor? zero_points, int axis, int quant_min, int quant_max, ScalarType dtype, *, "
    "ScalarType? out_dtype=None) -> Tensor"
)
def quantized_decomposed_dequantize_per_channel(
    input, scales, zero_points, axis, quant_min, quant_max, dtype, out_dtype
):
    """Dequantize integers with quantization parameters for each channel."""
    d = wrap_dim(axis, input.ndim)
    sizes = [-1 if i == d else 1 for i in range(input.ndim)]
    scale = scales.reshape(sizes)
    t = or_float(out_dtype)
    y = input.to(t)
    if zero_points is not None:
        y = y - zero_points.reshape(sizes).to(t)
    return y * scale.to(t)


@operator(
    "quantized_decomposed::fake_quant_per_channel(Tensor input, Tensor scales, "
    "Tensor zero_points, int axis, int quant_min, int quant_max) -> Tensor"
)
def quantized_decomposed_fake_quant_per_channel(
    input, scales, zero_points, axis, quant_min, quant_max
):
    """Quantize and dequantize, with quantization parameters for each channel."""
    return torch.fake_quantize_per_channel_affine(
        input.to(torch.float32),
        scales.to(torch.float32),
        zero_points.to(torch.int32),
        axis,
        quant_min,
        quant_max,
    ).to(input.dtype)


@operator(
    "quantized_decomposed::quantize_per_token(Tensor input, Tensor scales, "
    "Tensor zero_points, int quant_min, int quant_max, ScalarType dtype) -> Tensor"
)
def quantized_decomposed_quantize_per_token(
    input, scales, zero_points, quant_min, quant_max, dtype
):
    """Quantize to integers, with quantization parameters for each row."""
    y = (input * scales.reciprocal() + zero_points).round()
    return y.clamp(quant_min, quant_max).to(dtype)


@operator(
    "quantized_decomposed::dequantize_per_token(Tensor input, Tensor scales, "
    "Tensor zero_points, int quant_min, int quant_max, ScalarType dtype, "
    "ScalarType output_dtype) -> Tensor"
)
def quantized_decomposed_dequantize_per_token(
    input, scales, zero_points, quant_min, quant_max, dtype, output_dtype
):
    """Dequantize integers with quantization parameters for each row."""
    return ((input - zero_points) * scales).to(output_dtype)


@operator(
    "quantized_decomposed::quantize_per_channel_group(Tensor input, Tensor scales, "
    "Tensor zero_points, int quant_min, int quant_max, ScalarType dtype, int group_size) "
    "-> Tensor"
)
def quantized_decomposed_quantize_per_channel_group(
    input, scales, zero_points, quant_min, quant_max, dtype, group_size
):
    """Quantize to integers, with quantization parameters for each group of a row."""
    assert input.shape[-1] % group_size == 0, f"rows are not divisible into groups of {group_size}"
    sizes = list(input.shape[:-1]) + [input.shape[-1] // group_size, group_size]
    scale = scales.reshape(list(scales.shape) + [1])
    y = (input.reshape(sizes) * scale.reciprocal()).round() + zero_points.reshape(scale.shape)
    return y.clamp(quant_min, quant_max).to(dtype).reshape(input.shape)


@operator(
    "quantized_decomposed::dequantize_per_channel_group(Tensor input, Tensor scales, "
    "Tensor? zero_points, int quant_min, int quant_max, ScalarType dtype, int group_size, "
    "ScalarType output_dtype) -> Tensor"
)
def quantized_decomposed_dequantize_per_channel_group(
    input, scales, zero_points, quant_min, quant_max, dtype, group_size, output_dtype
):
    """Dequantize integers with quantization parameters for each group of a row."""
    assert input.shape[-1] % group_size == 0, f"rows are not divisible into groups of {group_size}"
    sizes = list(input.shape[:-1]) + [input.shape[-1] // group_size, group_size]
    scale = scales.reshape(list(scales.shape) + [1])
    y = input.reshape(sizes)
    if zero_points is not None:
        y = y - zero_points.reshape(scale.shape)
    return (y * scale).reshape(input.shape).to(output_dtype)


@operator(
    "quantized_decomposed::choose_qparams.tensor(Tensor input, int quant_min, int quant_max, "
    "float eps, ScalarType dtype) -> (Tensor, Tensor)"
)
def quantized_decomposed_choose_qparams_tensor(input, quant_min, quant_max, eps, dtype):
    """The quantization parameters whose range covers all elements and 0."""
    low, high = torch.aminmax(input.to(torch.float32))
    low = low.clamp(max=0)
    high = high.clamp(min=0)
    scale = ((high - low) / (quant_max - quant_min)).clamp(min=eps).reshape([1])
    zero = (quant_min - (low / scale).round()).clamp(quant_min, quant_max)
    return (scale.to(torch.float64), zero.to(torch.int64))


@operator(
    "quantized_decomposed::choose_qparams_symmetric.tensor(Tensor input, int quant_min, "
    "int quant_max, float eps, ScalarType dtype) -> (Tensor, Tensor)"
)
def quantized_decomposed_choose_qparams_symmetric_tensor(input, quant_min, quant_max, eps, dtype):
    """The symmetric quantization parameters whose range covers all elements."""
    low, high = torch.aminmax(input.to(torch.float32))
    high = torch.maximum(-low.clamp(max=0), high.clamp(min=0))
    scale = (high / ((quant_max - quant_min) / 2)).clamp(min=eps).reshape([1])
    zero = torch.full([1], 128 if dtype == torch.uint8 else 0, dtype=torch.int64)
    return (scale.to(torch.float64), zero)


@operator(
    "quantized_decomposed::choose_qparams_per_token(Tensor input, ScalarType dtype) "
    "-> (Tensor, Tensor)"
)
def quantized_decomposed_choose_qparams_per_token(input, dtype):
    """The symmetric quantization parameters of each row."""
    assert dtype == torch.int8, "expected int8"
    y = input.abs().amax([-1], True)
    if y.dtype == torch.float16:
        y = y.to(torch.float32)
    y = y.clamp(min=1e-05) / 127
    return (y, torch.zeros_like(y))


@operator(
    "quantized_decomposed::choose_qparams_per_token_asymmetric(Tensor input, "
    "ScalarType dtype) -> (Tensor, Tensor)"
)
@operator(
    "quantized_decomposed::_choose_qparams_per_token_asymmetric_impl(Tensor input, "
    "ScalarType dtype) -> (Tensor, Tensor)"
)
def quantized_decomposed_choose_qparams_per_token_asymmetric(input, dtype):
    """The quantization parameters of each row."""
    return qparams_of_rows(input)


@operator(
    "quantized_decomposed::convert_element_type.no_fuse(Tensor input, ScalarType dtype) "
    "-> Tensor"
)
def quantized_decomposed_convert_element_type_no_fuse(input, dtype):
    """Conversion to another dtype."""
    return input.to(dtype)
