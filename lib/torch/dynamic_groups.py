"""Convolutions of a dynamic number of groups: products of matrices, because ONNX's number is fixed.

Such models fold the batch into the channels, so that each image has its own weight.
"""
from .nn.functional import fold, unfold


def _pair(value, last):
    """One number for each of two axes. A list of one number is that of the second axis."""
    if not isinstance(value, (list, tuple)):
        value = [value]
    return [last] + list(value) if len(value) == 1 else list(value)


def _check(weight, padding, dims):
    if weight.dim() - 2 not in dims:
        raise NotImplementedError("a convolution over three axes with a dynamic number of groups; "
                                  "give the batch a fixed size in --input")
    if isinstance(padding, str):
        raise NotImplementedError(f"padding='{padding}' with a dynamic number of groups; "
                                  "give the padding as numbers")


def _pairs(weight, *values):
    """The options for two axes: of one axis, the last."""
    if weight.dim() == 3:
        return [_pair(value, neutral) for value, neutral in values]
    return [_pair(value, value[0] if isinstance(value, (list, tuple)) else value)
            for value, _ in values]


def conv(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    _check(weight, padding, (1, 2))
    stride, padding, dilation = _pairs(weight, (stride, 1), (padding, 0), (dilation, 1))
    x = input.unsqueeze(2) if weight.dim() == 3 else input
    w = weight.unsqueeze(2) if weight.dim() == 3 else weight
    c, kernel = w.shape[1], w.shape[2:]
    size = [(x.shape[2 + i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1
            for i in range(2)]
    n, k = x.shape[0], c * kernel[0] * kernel[1]
    parts = unfold(x, tuple(kernel), dilation, padding, stride)
    parts = parts.reshape(n, groups, k, size[0] * size[1])
    y = (w.reshape(groups, -1, k) @ parts).reshape(n, -1, size[0], size[1])
    return _finished(y, weight, bias)


def conv_transpose(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1,
                   dilation=1):
    _check(weight, padding, (1, 2))
    stride, padding, dilation, more = _pairs(weight, (stride, 1), (padding, 0), (dilation, 1),
                                             (output_padding, 0))
    x = input.unsqueeze(2) if weight.dim() == 3 else input
    w = weight.unsqueeze(2) if weight.dim() == 3 else weight
    o, kernel = w.shape[1], w.shape[2:]
    size = [(x.shape[2 + i] - 1) * stride[i] - 2 * padding[i] + dilation[i] * (kernel[i] - 1)
            + more[i] + 1 for i in range(2)]
    n, area, k = x.shape[0], x.shape[2] * x.shape[3], o * kernel[0] * kernel[1]
    x = x.reshape(n, groups, -1, area)
    # One image for each group: fold adds up the windows of all of them.
    parts = (w.reshape(groups, -1, k).transpose(1, 2) @ x).reshape(-1, k, area)
    y = fold(parts, tuple(size), tuple(kernel), dilation, padding, stride)
    return _finished(y.reshape(n, -1, size[0], size[1]), weight, bias)


def _finished(y, weight, bias):
    if bias is not None:
        y = y + bias.reshape(1, -1, 1, 1)
    return y.squeeze(2) if weight.dim() == 3 else y
