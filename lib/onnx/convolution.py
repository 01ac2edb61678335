"""Convolutions, and images as columns.

Functions decline dtypes other than float32 and smaller floats. Integers then become exact matrix
products.
"""

import math
import torch

from calque.onnx import *
from onnx.common import all_known, batched, pad_spatial, per_axis, unbatched


def small_float(x):
    return only_small_float(without_bfloat16(x))


def kernel_of(weight):
    return [weight.size(i) for i in range(2, weight.ndim)]


def shape_attribute(kernel):
    """The attribute kernel_shape, which is left out if a size is dynamic."""
    return kernel if all_known(kernel) else None


def conv_node(x, weight, bias, stride, padding, dilation, groups):
    w = without_bfloat16(weight)
    b = without_bfloat16(bias)
    n = w.ndim - 2
    p = per_axis(padding, n)
    return Conv(
        x,
        w,
        b,
        dilations=per_axis(dilation, n),
        group=groups,
        kernel_shape=shape_attribute(kernel_of(w)),
        pads=p + p,
        strides=per_axis(stride, n),
    )


@symbolic("aten::conv1d", opset=7, decompose=True)
@symbolic("aten::conv2d", opset=7, decompose=True)
@symbolic("aten::conv3d", opset=7, decompose=True)
def conv(input, weight, bias, stride, padding, dilation, groups):
    x = small_float(input)
    n = weight.ndim - 2
    y = conv_node(batched(x, n), weight, bias, stride, padding, dilation, groups)
    return unbatched(y, input, n)


@symbolic("aten::conv1d.padding", opset=7, decompose=True)
@symbolic("aten::conv2d.padding", opset=7, decompose=True)
@symbolic("aten::conv3d.padding", opset=7, decompose=True)
@symbolic("aten::_convolution_mode", opset=7, decompose=True)
def conv_with_padding_mode(input, weight, bias, stride, padding, dilation, groups):
    """Padding "same", with an odd element at the end, or "valid".

    If the size of the kernel is unknown, auto_pad is used.
    """
    x = small_float(input)
    n = weight.ndim - 2
    x = batched(x, n)
    w = without_bfloat16(weight)
    b = without_bfloat16(bias)
    k = kernel_of(w)
    d = per_axis(dilation, n)
    is_automatic = padding == "same" and not all_known(k)
    if is_automatic and len([i for i in d if i != 1]) > 0:
        return unsupported('padding "same" of a dilated kernel requires a fixed kernel size')
    pads = None
    if not is_automatic:
        total = [d[i] * (k[i] - 1) if padding == "same" else 0 for i in range(n)]
        before = [i // 2 for i in total]
        pads = before + [total[i] - before[i] for i in range(n)]
    y = Conv(
        x,
        w,
        b,
        dilations=d,
        group=groups,
        kernel_shape=shape_attribute(k),
        auto_pad="SAME_UPPER" if is_automatic else None,
        pads=pads,
        strides=per_axis(stride, n),
    )
    return unbatched(y, input, n)


def conv_transpose_node(x, weight, bias, stride, padding, output_padding, groups, dilation):
    """An output_padding is equivalent to less padding at the end.

    ONNX Runtime limits output_padding to the stride, PyTorch to the dilation, so the excess is
    subtracted from the end padding.
    """
    w = without_bfloat16(weight)
    b = without_bfloat16(bias)
    n = w.ndim - 2
    s = per_axis(stride, n)
    p = per_axis(padding, n)
    more = per_axis(output_padding, n)
    moved = [0 if more[i] < s[i] else more[i] if more[i] < p[i] else p[i] for i in range(n)]
    extra = [more[i] - moved[i] for i in range(n)]
    if len([i for i in range(n) if extra[i] >= s[i]]) > 0:
        return unsupported("output_padding exceeds padding and stride")
    return ConvTranspose(
        x,
        w,
        b,
        dilations=per_axis(dilation, n),
        group=groups,
        kernel_shape=shape_attribute(kernel_of(w)),
        output_padding=extra,
        pads=p + [p[i] - moved[i] for i in range(n)],
        strides=s,
    )


@symbolic("aten::conv_transpose1d", opset=7, decompose=True)
@symbolic("aten::conv_transpose2d.input", opset=7, decompose=True)
@symbolic("aten::conv_transpose3d.input", opset=7, decompose=True)
def conv_transpose(input, weight, bias, stride, padding, output_padding, groups, dilation):
    x = small_float(input)
    n = weight.ndim - 2
    y = conv_transpose_node(
        batched(x, n), weight, bias, stride, padding, output_padding, groups, dilation
    )
    return unbatched(y, input, n)


@symbolic("aten::convolution", opset=7, decompose=True)
@symbolic("aten::_convolution", opset=7, decompose=True)
@symbolic("aten::_convolution.deprecated", opset=7, decompose=True)
def convolution(
    input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
):
    if transposed:
        return conv_transpose(
            input, weight, bias, stride, padding, output_padding, groups, dilation
        )
    return conv(input, weight, bias, stride, padding, dilation, groups)


# ---- columns ----


def windows_along(sizes, k, d, p, s):
    """The number of window positions along each axis."""
    return [(sizes[i] + 2 * p[i] - d[i] * (k[i] - 1) - 1) // s[i] + 1 for i in range(2)]


def taps(kernel, dilation, many, stride):
    """Indices [kernel, positions] of a padded axis: i * dilation + position * stride."""
    inside = Unsqueeze(iota(kernel, 0, dilation), [1])
    return with_shape(inside + Unsqueeze(iota(many, 0, stride), [0]), [kernel, many])


@symbolic("aten::im2col", opset=7)
def im2col(self, kernel_size, dilation, padding, stride):
    """Rows, then columns are gathered by index: [n, c, kh, positions, kw, positions]."""
    x = Unsqueeze(self, [0]) if self.ndim == 3 else self
    k = per_axis(kernel_size, 2)
    d = per_axis(dilation, 2)
    p = per_axis(padding, 2)
    s = per_axis(stride, 2)
    many = windows_along([x.size(2), x.size(3)], k, d, p, s)
    padded = pad_spatial(x, p, p, None)
    rows = Gather(padded, taps(k[0], d[0], many[0], s[0]), axis=2)
    cells = Gather(rows, taps(k[1], d[1], many[1], s[1]), axis=4)
    return Reshape(Transpose(cells, perm=[0, 1, 2, 4, 3, 5]), result_shape())


@symbolic("aten::col2im", opset=7)
def col2im(self, output_size, kernel_size, dilation, padding, stride):
    """Windows are added up by a transposed convolution with unit kernels.

    Each row of the columns goes to its own position in the window. The part of the image that the
    windows do not reach is padding.
    """
    k = per_axis(kernel_size, 2)
    d = per_axis(dilation, 2)
    p = per_axis(padding, 2)
    s = per_axis(stride, 2)
    many = windows_along(output_size, k, d, p, s)
    rest = [
        output_size[i] - (many[i] * s[i] + d[i] * (k[i] - 1) + 1 - s[i] - 2 * p[i])
        for i in range(2)
    ]
    if not all_known(rest):
        return unsupported("the size of the part without windows must be fixed")
    shape = result_shape()
    planes = math.prod([shape[i] for i in range(len(shape) - 2)])
    x = Reshape(cast(self, torch.float32), [planes, k[0] * k[1]] + many)
    y = ConvTranspose(
        x,
        unit_kernels(k[0], k[1]),
        dilations=d,
        kernel_shape=k,
        output_padding=rest,
        pads=p + p,
        strides=s,
    )
    return Reshape(y, shape)
