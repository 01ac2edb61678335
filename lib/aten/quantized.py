"""Quantization of tensors."""

import torch

from calque import dtype_name, floats, gradient, operator, qparams, quantized, traits, wrap_dim
from aten.quantized_layers import unpacked


def only_float32(x):
    if x.dtype != torch.float32:
        raise TypeError(f"expected float32, got {dtype_name(x.dtype)}")
    return x


def channel_grid(x):
    g = qparams(x)
    if g is None:
        raise TypeError("expected a quantized tensor")
    if g[4] is None:
        raise TypeError("expected a tensor that is quantized per channel")
    return g


def whole_grid(x):
    g = qparams(x)
    if g is None:
        raise TypeError("expected a quantized tensor")
    if g[4] is not None:
        raise TypeError("expected a tensor that is quantized per tensor")
    return g


@operator(
    "aten::quantize_per_tensor(Tensor self, float scale, int zero_point, ScalarType dtype) "
    "-> Tensor",
    of_views=True,
)
@operator(
    "aten::quantize_per_tensor.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, "
    "ScalarType dtype) -> Tensor",
    of_views=True,
)
def quantize_per_tensor(self, scale, zero_point, dtype):
    """Conversion to a quantized tensor."""
    return quantized(only_float32(self), scale, zero_point, dtype)


@operator(
    "aten::quantize_per_channel(Tensor self, Tensor scales, Tensor zero_points, int axis, "
    "ScalarType dtype) -> Tensor",
    of_views=True,
)
def quantize_per_channel(self, scales, zero_points, axis, dtype):
    """Conversion to a quantized tensor with a scale for each channel."""
    return quantized(
        only_float32(self),
        scales.to(torch.float32),
        zero_points.to(torch.int32),
        dtype,
        wrap_dim(axis, self.ndim),
    )


@operator("aten::dequantize.tensor(Tensor qtensor) -> Tensor", of_views=True)
def dequantize_tensor(qtensor):
    """The same as aten::dequantize.self."""
    return torch.ops.aten.dequantize.self(qtensor)


@operator("aten::dequantize.tensors(Tensor[] tensors) -> Tensor[]", of_views=True)
def dequantize_tensors(tensors):
    """Conversion of quantized tensors to floats."""
    return [torch.ops.aten.dequantize.self(floats(x)) for x in tensors]


@operator("aten::dequantize.list(Tensor[] qtensors) -> Tensor[]", of_views=True)
def dequantize_list(qtensors):
    """Conversion of quantized tensors to floats."""
    return [torch.ops.aten.dequantize.self(floats(x)) for x in qtensors]


@operator("aten::int_repr(Tensor self) -> Tensor", of_views=True)
def int_repr(self):
    """The integers of a quantized tensor.

    round(x / scale) + zero point: x is quantized, so it needs no clipping.
    """
    g = qparams(self)
    if g is None:
        raise TypeError("expected a quantized tensor")
    scale, zero, low, high, axis, stored = g
    if axis is not None:
        sizes = [scale.shape[0] if i == axis else 1 for i in range(self.ndim)]
        scale = scale.reshape(sizes)
        zero = zero.reshape(sizes)
    return ((self / scale).round() + zero).to(stored)


@operator("aten::q_scale(Tensor self) -> float", host=True)
def q_scale(self):
    """The scale of a quantized tensor."""
    return whole_grid(self)[0]


@operator("aten::q_zero_point(Tensor self) -> int", host=True)
def q_zero_point(self):
    """The zero point of a quantized tensor."""
    return whole_grid(self)[1]


@operator("aten::q_per_channel_axis(Tensor self) -> int", host=True)
def q_per_channel_axis(self):
    """The axis of the channels of a quantized tensor."""
    return channel_grid(self)[4]


@operator("aten::q_per_channel_scales(Tensor self) -> Tensor", of_views=True)
def q_per_channel_scales(self):
    """The scales of a quantized tensor.

    PyTorch keeps them as float64 and int64.
    """
    return channel_grid(self)[0].to(torch.float64)


@operator("aten::q_per_channel_zero_points(Tensor self) -> Tensor", of_views=True)
def q_per_channel_zero_points(self):
    """The zero points of a quantized tensor."""
    return channel_grid(self)[1].to(torch.int64)


@operator(
    "quantized::conv1d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, "
    "int[] dilation, int groups) -> __torch__.torch.classes.quantized.Conv2dPackedParamsBase",
    of_views=True,
)
@operator(
    "quantized::conv2d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, "
    "int[] dilation, int groups) -> __torch__.torch.classes.quantized.Conv2dPackedParamsBase",
    of_views=True,
)
@operator(
    "quantized::conv3d_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, "
    "int[] dilation, int groups) -> __torch__.torch.classes.quantized.Conv3dPackedParamsBase",
    of_views=True,
)
def quantized_conv1d_prepack(weight, bias, stride, padding, dilation, groups):
    """Packs the weight of a quantized convolution."""
    return (weight, bias, stride, padding, dilation, groups, None)


@operator(
    "quantized::conv_transpose1d_prepack(Tensor weight, Tensor? bias, int[] stride, "
    "int[] padding, int[] output_padding, int[] dilation, int groups) "
    "-> __torch__.torch.classes.quantized.Conv2dPackedParamsBase",
    of_views=True,
)
@operator(
    "quantized::conv_transpose2d_prepack(Tensor weight, Tensor? bias, int[] stride, "
    "int[] padding, int[] output_padding, int[] dilation, int groups) "
    "-> __torch__.torch.classes.quantized.Conv2dPackedParamsBase",
    of_views=True,
)
@operator(
    "quantized::conv_transpose3d_prepack(Tensor weight, Tensor? bias, int[] stride, "
    "int[] padding, int[] output_padding, int[] dilation, int groups) "
    "-> __torch__.torch.classes.quantized.Conv3dPackedParamsBase",
    of_views=True,
)
def quantized_conv_transpose1d_prepack(
    weight, bias, stride, padding, output_padding, dilation, groups
):
    """Packs the weight of a quantized convolution."""
    return (weight, bias, stride, padding, dilation, groups, output_padding)


@operator(
    ""
    "quantized::conv1d_unpack(__torch__.torch.classes.quantized.Conv2dPackedParamsBase "
    "packed_weights) "
    "-> (Tensor unpacked_weights, Tensor? B_origin)",
    of_views=True,
)
@operator(
    ""
    "quantized::conv2d_unpack(__torch__.torch.classes.quantized.Conv2dPackedParamsBase "
    "packed_weights) "
    "-> (Tensor unpacked_weights, Tensor? B_origin)",
    of_views=True,
)
@operator(
    ""
    "quantized::conv3d_unpack(__torch__.torch.classes.quantized.Conv3dPackedParamsBase "
    "packed_weights) "
    "-> (Tensor unpacked_weights, Tensor? B_origin)",
    of_views=True,
)
@operator(
    ""
    "quantized::conv_transpose1d_unpack(__torch__.torch.classes.quantized."
    "Conv2dPackedParamsBase packed_weights) "
    "-> (Tensor unpacked_weights, Tensor? B_origin)",
    of_views=True,
)
@operator(
    ""
    "quantized::conv_transpose2d_unpack(__torch__.torch.classes.quantized."
    "Conv2dPackedParamsBase packed_weights) "
    "-> (Tensor unpacked_weights, Tensor? B_origin)",
    of_views=True,
)
@operator(
    ""
    "quantized::conv_transpose3d_unpack(__torch__.torch.classes.quantized."
    "Conv3dPackedParamsBase packed_weights) "
    "-> (Tensor unpacked_weights, Tensor? B_origin)",
    of_views=True,
)
def quantized_conv1d_unpack(packed_weights):
    """The weight and the bias of a packed convolution."""
    return unpacked(packed_weights, 2)[:2]


@gradient("aten::fake_quantize_per_tensor_affine")
def fake_quantize_per_tensor_affine_gradient(grad, self, scale, zero_point, quant_min, quant_max):
    return {
        "self": torch.where(
            torch.logical_and(
                torch.round(self / scale) + zero_point >= quant_min,
                torch.round(self / scale) + zero_point <= quant_max,
            ),
            grad,
            0,
        )
    }


traits("aten::_make_per_tensor_quantized_tensor", quantized="plain")
traits("aten::_make_per_channel_quantized_tensor", quantized="plain")
traits("aten::dequantize.*", quantized="plain")
traits("aten::int_repr", quantized="plain")
traits("aten::q_scale", quantized="plain")
traits("aten::q_zero_point", quantized="plain")
traits("aten::q_per_channel_axis", quantized="plain")
traits("aten::q_per_channel_scales", quantized="plain")
traits("aten::q_per_channel_zero_points", quantized="plain")
traits("quantized::conv1d_prepack", quantized="stored")
traits("quantized::conv2d_prepack", quantized="stored")
traits("quantized::conv3d_prepack", quantized="stored")
traits("quantized::conv_transpose1d_prepack", quantized="stored")
traits("quantized::conv_transpose2d_prepack", quantized="stored")
traits("quantized::conv_transpose3d_prepack", quantized="stored")
