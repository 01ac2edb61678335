"""Convolutions as products of matrices, for cases that ONNX cannot express."""

import math
import torch

from calque import decomposition, gradient, operator, traits
from aten.quantized_layers import conv_packed, on_grid
from aten.windows import for_each_axis, pads_of, windows_of, with_batch, without_batch


def convolved(input, weight, bias, stride, before, after, dilation, groups):
    n = weight.ndim - 2
    k = weight.shape[2:]
    x = torch.constant_pad_nd(with_batch(input, n), pads_of(before, after), 0)
    batch = x.shape[0]
    c = x.shape[1] // groups
    out = weight.shape[0]
    x = windows_of(x, k, for_each_axis(stride, n), dilation)
    places = x.shape[2 : 2 + n]
    x = x.reshape([batch, groups, c] + list(places) + list(k))
    x = x.permute([0, 1] + list(range(3, 3 + n)) + [2] + list(range(3 + n, 3 + 2 * n)))
    x = x.reshape([batch, groups, math.prod(places), c * math.prod(k)])
    w = weight.reshape([groups, out // groups, c * math.prod(k)]).transpose(1, 2)
    y = (x @ w).transpose(2, 3).reshape([batch, out] + list(places))
    if bias is not None:
        y = y + bias.reshape([out] + [1] * n)
    return without_batch(y, input, n)


def convolved_as(input, weight, bias, stride, padding, dilation, groups):
    """Padding by a word."""
    n = weight.ndim - 2
    d = for_each_axis(dilation, n)
    all = [d[i] * (weight.shape[2 + i] - 1) if padding == "same" else 0 for i in range(n)]
    return convolved(
        input, weight, bias, stride, [a // 2 for a in all], [a - a // 2 for a in all], d, groups
    )


def spread(x, axis, stride):
    """Zeros between the elements of an axis, so that they are a stride apart."""
    if stride == 1:
        return x
    n = x.shape[axis]
    x = torch.constant_pad_nd(x.transpose(axis, -1).unsqueeze(-1), [0, stride - 1], 0)
    return torch.ops.aten.slice(x.flatten(-2, -1), -1, 0, n * stride - (stride - 1)).transpose(
        axis, -1
    )


def convolved_back(input, weight, bias, stride, padding, dilation, output_padding, groups):
    n = weight.ndim - 2
    s = for_each_axis(stride, n)
    d = for_each_axis(dilation, n)
    p = for_each_axis(padding, n)
    extra = for_each_axis(output_padding, n)
    x = with_batch(input, n)
    for i in range(n):
        x = spread(x, 2 + i, s[i])
    k = weight.shape[2:]
    c = weight.shape[0] // groups
    out = weight.shape[1]
    w = (
        weight.reshape([groups, c, out] + list(k))
        .transpose(1, 2)
        .reshape([groups * out, c] + list(k))
    )
    before = [d[i] * (k[i] - 1) - p[i] for i in range(n)]
    y = convolved(
        x,
        w.flip(list(range(2, 2 + n))),
        bias,
        [1],
        before,
        [before[i] + extra[i] for i in range(n)],
        d,
        groups,
    )
    return without_batch(y, input, n)


def convolved_either(
    input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
):
    if transposed:
        return convolved_back(
            input, weight, bias, stride, padding, dilation, output_padding, groups
        )
    n = weight.ndim - 2
    p = for_each_axis(padding, n)
    return convolved(input, weight, bias, stride, p, p, for_each_axis(dilation, n), groups)


@operator(
    "aten::conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor",
    autocast="lower",
)
def conv_tbc(self, weight, bias, pad):
    """Convolution of a time, batch, channel tensor."""
    return torch.conv1d(self.permute([1, 2, 0]), weight.permute([2, 1, 0]), bias, 1, pad).permute(
        [2, 0, 1]
    )


@operator(
    "quantized::conv1d(Tensor qx, "
    "__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, "
    "float output_scale, int output_zero_point) -> Tensor",
    of_views=True,
    cost="convolution",
)
def quantized_conv1d(qx, packed_weight, output_scale, output_zero_point):
    """Quantized convolution."""
    return on_grid(qx, conv_packed(qx, packed_weight), output_scale, output_zero_point)


@gradient("aten::im2col")
def im2col_gradient(grad, self, kernel_size, dilation, padding, stride):
    return {
        "self": torch.ops.aten.col2im(grad, self.shape[-2:], kernel_size, dilation, padding, stride)
    }


@gradient("aten::col2im")
def col2im_gradient(grad, kernel_size, dilation, padding, stride):
    return {"self": torch.ops.aten.im2col(grad, kernel_size, dilation, padding, stride)}


@decomposition("aten::conv1d")
@decomposition("aten::conv2d")
@decomposition("aten::conv3d")
def conv1d_parts(input, weight, bias, stride, padding, dilation, groups):
    return convolved_either(input, weight, bias, stride, padding, dilation, False, [0], groups)


@decomposition("aten::conv1d.padding")
@decomposition("aten::conv2d.padding")
@decomposition("aten::conv3d.padding")
@decomposition("aten::_convolution_mode")
def conv1d_padding_parts(input, weight, bias, stride, padding, dilation, groups):
    return convolved_as(input, weight, bias, stride, padding, dilation, groups)


@decomposition("aten::conv_transpose1d")
@decomposition("aten::conv_transpose2d.input")
@decomposition("aten::conv_transpose3d.input")
def conv_transpose1d_parts(input, weight, bias, stride, padding, output_padding, groups, dilation):
    return convolved_back(input, weight, bias, stride, padding, dilation, output_padding, groups)


@decomposition("aten::convolution")
def convolution_parts(
    input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
):
    return convolved_either(
        input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
    )


@decomposition("aten::_convolution")
def _convolution_parts(
    input,
    weight,
    bias,
    stride,
    padding,
    dilation,
    transposed,
    output_padding,
    groups,
    benchmark,
    deterministic,
    cudnn_enabled,
    allow_tf32,
):
    return convolved_either(
        input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
    )


@decomposition("aten::_convolution.deprecated")
def _convolution_deprecated_parts(
    input,
    weight,
    bias,
    stride,
    padding,
    dilation,
    transposed,
    output_padding,
    groups,
    benchmark,
    deterministic,
    cudnn_enabled,
):
    return convolved_either(
        input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
    )


# ---- traits of operators whose rows are in C ----

traits("aten::conv1d.*", autocast="lower", cost="convolution")
traits("aten::conv2d.*", autocast="lower", cost="convolution")
traits("aten::conv3d.*", autocast="lower", cost="convolution")
traits("aten::conv_transpose2d.*", autocast="lower", cost="convolution")
traits("aten::conv_transpose3d.*", autocast="lower", cost="convolution")
traits("aten::_convolution.*", cost="convolution")
traits("aten::conv_transpose1d", autocast="lower", cost="convolution")
traits("aten::convolution", autocast="lower", cost="convolution")
traits("aten::_convolution_mode", cost="convolution")
