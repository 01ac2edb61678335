"""Adapters between versions of ONNX operators (versions.py): layers."""

import math
import torch

from calque.onnx import *
from onnx.versions_common import (
    all_are,
    dtype_for,
    from_front,
    in_single,
    in_type_of,
    known_rank,
    need,
    no_numbers,
    numbers,
)


# ---- Upsample and Resize ----


@upgrade("Upsample", 9)
def upsample_up_9(X, mode, scales):
    return Upsample(X, scales, mode=mode)


@downgrade("Upsample", 9)
def upsample_down_9(X, scales, mode):
    return Upsample(X, mode=mode, scales=numbers(scales))


@upgrade("Upsample", 10)
def upsample_up_10(X, scales, mode):
    return Resize(X, scales, mode=mode)


@downgrade("Resize", 10)
def resize_down_10(X, scales, mode):
    found = elements(scales)
    need(found is None or min(found) >= 1, "Upsample does not shrink")
    return Upsample(X, scales, mode=mode)


@upgrade("Resize", 11)
def resize_up_11(X, scales, mode):
    # When shrinking, version 10 rounds positions up, according to its test data and ONNX Runtime.
    found = elements(scales)
    shrinks = found is not None and min(found) < 1
    need(not shrinks or mode == "linear" or not max(found) > 1, "rounding that differs by axis")
    return Resize(
        X,
        no_numbers(),
        scales,
        coordinate_transformation_mode="asymmetric",
        mode=mode,
        nearest_mode="ceil" if shrinks else "floor",
    )


@downgrade("Resize", 11)
def resize_down_11(X, scales, sizes, coordinate_transformation_mode, mode, nearest_mode):
    need(mode != "cubic", "mode cubic")
    need(
        coordinate_transformation_mode == "asymmetric"
        and (mode == "linear" or nearest_mode == "floor"),
        "a transformation other than asymmetric, rounded down",
    )
    if sizes is None:
        factors = elements(scales)
        need(mode == "linear" or factors is None or min(factors) >= 1, "shrinking, rounded down")
        return Resize(X, scales, mode=mode)
    found = numbers(sizes)
    for i in range(len(found)):
        need(size(X, i) is not None, "sizes of a dynamic input")
    factors = [found[i] / float(size(X, i)) for i in range(len(found))]
    need(mode == "linear" or min(factors) >= 1, "shrinking, rounded down")
    return Resize(X, factors, mode=mode)


@downgrade("Resize", 13)
def resize_down_13(X, roi, scales, sizes):
    given = no_numbers() if roi is None else roi
    if sizes is None:
        return again(X, given, scales)
    return again(X, given, no_numbers() if scales is None else scales, sizes)


def along(values, axes, n, otherwise):
    """Numbers for some axes extended to all n axes."""
    return [
        values[[k for k in range(len(axes)) if axes[k] == i][0]] if i in axes else otherwise
        for i in range(n)
    ]


@downgrade("Resize", 18)
def resize_down_18(X, roi, scales, sizes, antialias, axes, keep_aspect_ratio_policy):
    need(not antialias, "antialias")
    need(sizes is None or keep_aspect_ratio_policy == "stretch", "an aspect ratio policy")
    if axes is None:
        return again(antialias=None, keep_aspect_ratio_policy=None)
    need(roi is None, "a region along some axes")
    n = known_rank(X)
    at = [from_front(a, X) for a in axes]
    if scales is not None:
        all = along(numbers(scales), at, n, 1.0)
        return again(X, None, all, antialias=None, keep_aspect_ratio_policy=None, axes=None)
    shape = Shape(X)
    parts = [
        Slice(sizes, [at_of(at, i)], [at_of(at, i) + 1], [0])
        if i in at
        else Slice(shape, [i], [i + 1], [0])
        for i in range(n)
    ]
    all = Concat(parts, axis=0)
    return again(X, None, None, all, antialias=None, keep_aspect_ratio_policy=None, axes=None)


def at_of(axes, i):
    return [k for k in range(len(axes)) if axes[k] == i][0]


@downgrade("Resize", 19)
def resize_down_19(coordinate_transformation_mode):
    need(coordinate_transformation_mode != "half_pixel_symmetric", "half_pixel_symmetric")
    return again()


# ---- normalization ----


@upgrade("BatchNormalization", 9)
def batch_norm_up_9(X, scale, B, mean, var, epsilon, spatial):
    if spatial:
        return again(spatial=None)
    need(not has_output(1), "training mode")
    return (X - mean) / Sqrt(var + epsilon) * scale + B


@upgrade("BatchNormalization", 14)
def batch_norm_up_14(X, scale, B, mean, var, epsilon, momentum):
    need(not has_output(1) and not has_output(2), "training mode")
    return BatchNormalization(X, scale, B, mean, var, epsilon=epsilon, momentum=momentum)


@downgrade("BatchNormalization", 14)
def batch_norm_down_14(X, scale, B, input_mean, input_var, epsilon, momentum, training_mode):
    if not training_mode:
        return BatchNormalization(
            X, scale, B, input_mean, input_var, epsilon=epsilon, momentum=momentum
        )
    axes = [i for i in range(known_rank(X)) if i != 1]
    center = ReduceMean(X, axes=axes, keepdims=1)
    off = X - center
    mean = ReduceMean(X, axes=axes, keepdims=0)
    var = ReduceMean(off * off, axes=axes, keepdims=0)
    y = BatchNormalization(X, scale, B, mean, var, epsilon=epsilon, momentum=momentum)
    running_mean = input_mean * momentum + mean * (1 - momentum)
    running_var = input_var * momentum + var * (1 - momentum)
    return y, running_mean, running_var


def mean_over(x, axes):
    if opset() < 18:
        return ReduceMean(x, axes=axes, keepdims=1)
    return ReduceMean(x, axes, keepdims=1)


def trailing_axes(x, axis):
    """The axes from axis on, counted from the end if the rank is unknown."""
    if axis < 0:
        return range(axis, 0)
    return range(axis, known_rank(x))


@downgrade("LayerNormalization", 17)
def layer_norm_down(X, Scale, B, axis, epsilon):
    axes = trailing_axes(X, axis)
    x = in_single(X)
    mean = mean_over(x, axes)
    off = x - mean
    inverse = Reciprocal(Sqrt(mean_over(off * off, axes) + epsilon))
    y = in_type_of(off * inverse, X) * Scale
    return y if B is None else y + B, mean, inverse


@downgrade("RMSNormalization", 23)
def rms_norm_down(X, scale, axis, epsilon):
    axes = trailing_axes(X, axis)
    x = in_single(X)
    y = x / Sqrt(mean_over(x * x, axes) + epsilon)
    return in_type_of(y, X) * scale


def in_groups(X, num_groups, epsilon):
    """Normalized groups of channels, as [N, groups, rest]."""
    x = Reshape(in_single(X), [0, num_groups, -1])
    off = x - mean_over(x, [2])
    return in_type_of(off / Sqrt(mean_over(off * off, [2]) + epsilon), X)


@downgrade("GroupNormalization", 18)
def group_norm_down_18(X, scale, bias, epsilon, num_groups):
    """Until opset 20 scale and bias are per group."""
    y = in_groups(X, num_groups, epsilon)
    return Reshape(y * Unsqueeze(scale, [1]) + Unsqueeze(bias, [1]), Shape(X))


@downgrade("GroupNormalization", 21)
def group_norm_down_21(X, scale, bias, epsilon, num_groups):
    """Since opset 21 scale and bias are per channel."""
    channels = Concat([0], Shape(scale), [-1], axis=0)
    y = Reshape(in_groups(X, num_groups, epsilon), channels)
    return Reshape(y * Unsqueeze(scale, [1]) + Unsqueeze(bias, [1]), Shape(X))


@upgrade("GroupNormalization", 21)
def group_norm_up_21(X, scale, bias, epsilon, num_groups):
    count = Div(Slice(Shape(X), [1], [2], [0]), [num_groups])
    times = Concat([1], count, axis=0)
    return GroupNormalization(
        X,
        Reshape(Expand(Unsqueeze(scale, [1]), times), [-1]),
        Reshape(Expand(Unsqueeze(bias, [1]), times), [-1]),
        epsilon=epsilon,
        num_groups=num_groups,
    )


@downgrade("MeanVarianceNormalization", 9)
def mean_variance_down(X, axes):
    at = [0, 2, 3] if axes is None else axes
    off = X - ReduceMean(X, axes=at, keepdims=1)
    return off / (Sqrt(ReduceMean(off * off, axes=at, keepdims=1)) + 1e-9)


# ---- recurrent layers: since opset 14 the batch may be the first axis ----


def batch_second(x):
    return None if x is None else Transpose(x, perm=[1, 0, 2])


def batch_first(y):
    return Transpose(y, perm=[2, 0, 1, 3])


@downgrade("GRU", 14)
@downgrade("RNN", 14)
def recurrent_down(X, W, R, B, sequence_lens, initial_h, layout):
    if not layout:
        return again(layout=None)
    y = again(batch_second(X), W, R, B, sequence_lens, batch_second(initial_h), layout=None)
    if n_outputs() == 1:
        return batch_first(y)
    return batch_first(y[0]), batch_second(y[1])


@downgrade("LSTM", 14)
def lstm_down(X, W, R, B, sequence_lens, initial_h, initial_c, P, layout):
    if not layout:
        return again(layout=None)
    h = batch_second(initial_h)
    c = batch_second(initial_c)
    y = again(batch_second(X), W, R, B, sequence_lens, h, c, P, layout=None)
    if n_outputs() == 1:
        return batch_first(y)
    if n_outputs() == 2:
        return batch_first(y[0]), batch_second(y[1])
    return batch_first(y[0]), batch_second(y[1]), batch_second(y[2])


# ---- pooling and images ----


@downgrade("MaxPool", 8)
def max_pool_down_8(storage_order):
    need(storage_order == 0 and not has_output(1), "indices of maxima")
    return again(storage_order=None)


@downgrade("MaxPool", 10)
def max_pool_down_10(ceil_mode, dilations):
    need(all_are(dilations, 1) and not ceil_mode, "dilations or ceil_mode")
    return again(ceil_mode=None, dilations=None)


@downgrade("AveragePool", 10)
def average_pool_down_10(ceil_mode):
    need(not ceil_mode, "ceil_mode")
    return again(ceil_mode=None)


@downgrade("AveragePool", 19)
def average_pool_down_19(dilations):
    need(all_are(dilations, 1), "dilations")
    return again(dilations=None)


@downgrade("LpPool", 18)
def lp_pool_down_18(ceil_mode, dilations):
    need(all_are(dilations, 1) and not ceil_mode, "dilations or ceil_mode")
    return again(ceil_mode=None, dilations=None)


@upgrade("RoiAlign", 16)
def roi_align_up():
    return again(coordinate_transformation_mode="output_half_pixel")


@downgrade("RoiAlign", 16)
def roi_align_down(coordinate_transformation_mode):
    need(coordinate_transformation_mode == "output_half_pixel", "the transformation half_pixel")
    return again(coordinate_transformation_mode=None)


@upgrade("GridSample", 20)
def grid_sample_up(mode):
    modes = {"bilinear": "linear", "bicubic": "cubic", "nearest": "nearest"}
    return again(mode=modes[mode])


@downgrade("GridSample", 20)
def grid_sample_down(X, mode):
    need(rank(X) in [None, 4], "samples of volumes")
    modes = {"linear": "bilinear", "cubic": "bicubic", "nearest": "nearest"}
    return again(mode=modes[mode])


@downgrade("DepthToSpace", 11)
def depth_to_space_down(input, blocksize, mode):
    if mode == "DCR":
        return again(mode=None)
    for i in range(1, 4):
        need(size(input, i) is not None, "dynamic sizes")
    b = blocksize
    depth = size(input, 1) // (b * b)
    x = Reshape(input, [0, depth, b, b, size(input, 2), size(input, 3)])
    x = Transpose(x, perm=[0, 1, 4, 2, 5, 3])
    return Reshape(x, [0, depth, size(input, 2) * b, size(input, 3) * b])


@downgrade("CenterCropPad", 18)
def center_crop_pad_down(input_data, shape, axes):
    n = known_rank(input_data)
    at = range(n) if axes is None else [from_front(a, input_data) for a in axes]
    targets = numbers(shape)
    before = [0] * n
    after = [0] * n
    y = input_data
    for k in range(len(at)):
        have = size(input_data, at[k])
        need(have is not None, "dynamic sizes")
        if targets[k] < have:
            start = (have - targets[k]) // 2
            y = Slice(y, [start], [start + targets[k]], [at[k]])
    for k in range(len(at)):
        more = max(0, targets[k] - size(input_data, at[k]))
        before = [more // 2 if i == at[k] else before[i] for i in range(n)]
        after = [more - more // 2 if i == at[k] else after[i] for i in range(n)]
    return Pad(y, before + after)


# ---- activations ----


@downgrade("HardSwish", 14)
def hard_swish_down(X):
    return X * HardSigmoid(X, alpha=1 / 6, beta=0.5)


@downgrade("Mish", 18)
def mish_down(X):
    return X * Tanh(Softplus(X))


@downgrade("Gelu", 20)
def gelu_down(X, approximate):
    if approximate == "tanh":
        inner = (X + X * X * X * 0.044715) * math.sqrt(2 / math.pi)
        return X * 0.5 * (Tanh(inner) + 1)
    return X * 0.5 * (Erf(X * (1 / math.sqrt(2))) + 1)


@downgrade("Swish", 24)
def swish_down(X, alpha):
    return X * Sigmoid(X if alpha == 1 else X * alpha)


@downgrade("SwiGLU", 28)
def swiglu_down(A, B, alpha):
    return A * Sigmoid(A if alpha == 1 else A * alpha) * B


@downgrade("Celu", 12)
def celu_down(X, alpha):
    return Elu(X * (1 / alpha), alpha=1.0) * alpha


@downgrade("ThresholdedRelu", 10)
def thresholded_relu_down(X, alpha):
    return Where(Greater(X, like(alpha, X)), X, like(0.0, X))


@downgrade("Sinh", 9)
def sinh_down(input):
    return (Exp(input) - Exp(-input)) * 0.5


@downgrade("Cosh", 9)
def cosh_down(input):
    return (Exp(input) + Exp(-input)) * 0.5


@downgrade("Asinh", 9)
def asinh_down(input):
    """Computed for |x|, where no digits cancel. x / (|x| + tiny) is the sign."""
    y = Abs(input)
    return input / (y + 1e-30) * Log(y + Sqrt(y * y + 1))


@downgrade("Acosh", 9)
def acosh_down(input):
    return Log(input + Sqrt(input - 1) * Sqrt(input + 1))


@downgrade("Atanh", 9)
def atanh_down(input):
    return Log((input + 1) / (like(1.0, input) - input)) * 0.5


# ---- quantization ----


@downgrade("QuantizeLinear", 10)
@downgrade("QuantizeLinear", 13)
def quantize_down_13(x, y_scale, y_zero_point, axis=None):
    """Until opset 12 quantization parameters are single numbers."""
    if rank(y_scale) == 0 and opset() >= 10:
        return again(axis=None)
    need(opset() >= 11, "int8 rounding requires opset 11 (Round)")
    to = torch.uint8 if y_zero_point is None else dtype_for(y_zero_point)
    need(to in [torch.uint8, torch.int8], "another type than int8 and uint8")
    low = 0.0 if to == torch.uint8 else -128.0
    y = Round(x / per_channel(y_scale, x, axis))
    if y_zero_point is not None:
        y = y + per_channel(Cast(y_zero_point, to=dtype_for(x)), x, axis)
    return Cast(Clip(y, like(low, y), like(low + 255, y)), to=to)


def per_channel(values, x, axis):
    """Numbers per channel in a shape that broadcasts with x."""
    if rank(values) == 0 or axis is None:
        return values
    n = known_rank(x)
    at = from_front(axis, x)
    return Reshape(values, [-1 if i == at else 1 for i in range(n)])


@downgrade("DequantizeLinear", 10)
def dequantize_down_10(x, x_scale, x_zero_point):
    y = Cast(x, to=torch.float32)
    if x_zero_point is not None:
        y = y - Cast(x_zero_point, to=torch.float32)
    return y * x_scale


@downgrade("DequantizeLinear", 13)
def dequantize_down_13(x, x_scale, x_zero_point, axis):
    if rank(x_scale) == 0:
        return again(axis=None)
    y = Cast(x, to=torch.float32)
    if x_zero_point is not None:
        y = y - per_channel(Cast(x_zero_point, to=torch.float32), x, axis)
    return y * per_channel(x_scale, x, axis)


@downgrade("QuantizeLinear", 21)
def quantize_down_21(x, y_scale, y_zero_point, block_size, output_dtype):
    need(block_size == 0, "blocks")
    if y_zero_point is not None or output_dtype in [0, torch.uint8]:
        return again(block_size=None, output_dtype=None)
    zero = Cast(y_scale * 0, to=output_dtype)
    return again(x, y_scale, zero, block_size=None, output_dtype=None)


@downgrade("DequantizeLinear", 21)
def dequantize_down_21(block_size):
    need(block_size == 0, "blocks")
    return again(block_size=None)


@downgrade("QuantizeLinear", 23)
def quantize_down_23(x, y_scale, precision):
    need(precision in [0, dtype(y_scale), dtype(x)], "precision")
    return again(precision=None)


@downgrade("DequantizeLinear", 23)
def dequantize_down_23(x_scale, output_dtype):
    y = again(output_dtype=None)
    return y if output_dtype in [0, dtype(x_scale)] else Cast(y, to=output_dtype)


# ---- Fourier transforms and windows ----


@upgrade("DFT", 20)
def dft_up(input, dft_length, axis):
    return again(input, dft_length, axis, axis=None)


@downgrade("DFT", 20)
def dft_down(input, dft_length, axis):
    at = -2 if axis is None else numbers(axis)[0]
    return again(input, dft_length, axis=from_front(at, input))


def cosines(length, output_datatype, periodic, a, b, c):
    """a - b cos(2 pi k / n) + c cos(4 pi k / n)."""
    k = Cast(Range(Cast(0, to=torch.int64), Cast(length, to=torch.int64), 1), to=torch.float32)
    n = Cast(length, to=torch.float32)
    turn = k * (2 * math.pi) / (n if periodic else n - 1)
    y = like(a, k) - Cos(turn) * b
    return Cast(y + Cos(turn * 2) * c if c else y, to=output_datatype)


@downgrade("HannWindow", 17)
def hann_down(size, output_datatype, periodic):
    return cosines(size, output_datatype, periodic, 0.5, 0.5, 0)


@downgrade("HammingWindow", 17)
def hamming_down(size, output_datatype, periodic):
    return cosines(size, output_datatype, periodic, 25 / 46, 21 / 46, 0)


@downgrade("BlackmanWindow", 17)
def blackman_down(size, output_datatype, periodic):
    return cosines(size, output_datatype, periodic, 0.42, 0.5, 0.08)
