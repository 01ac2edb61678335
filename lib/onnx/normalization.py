"""Normalizations.

LayerNormalization exists since opset 17, training mode of BatchNormalization in its present form
since 14; before, and where ONNX Runtime lacks a dtype, they are decomposed.
"""

import math
import torch

from calque.onnx import *
from onnx.common import given


def standardized(x, axes, eps):
    """(x - mean) / sqrt(var + eps) over axes, the mean and 1 / sqrt(var + eps)."""
    mean = ReduceMean(x, axes)
    difference = x - mean
    root = Sqrt(ReduceMean(difference * difference, axes) + eps)
    return with_shape(difference / root, x), mean, Reciprocal(root)


def by_channel(row, x):
    """A row of channels, so that it broadcasts over [batch, channel, …]."""
    return Unsqueeze(cast(row, x.dtype), range(1, x.ndim - 1))


def scale_channels(x, weight, bias):
    y = x if weight is None else x * by_channel(weight, x)
    return y if bias is None else y + by_channel(bias, x)


def row_of(row, x, number):
    """A weight or bias; if it is None, a row with one number per channel."""
    return cast(row, x.dtype) if row is not None else filled(x.size(1), number, x)


def last_axes(x, n):
    return range(x.ndim - n, x.ndim)


def weight_of(weight, x, n):
    """A weight for the last n axes, which is not optional."""
    if weight is not None:
        return cast(weight, x.dtype)
    return Expand(like(1, x), [x.size(i) for i in last_axes(x, n)])


# ---- batches ----


def batch_axes(x):
    return [i for i in range(x.ndim) if i != 1]


def batch_norm_node(x, weight, bias, mean, variance, momentum, eps, training):
    inputs = [
        x,
        row_of(weight, x, 1),
        row_of(bias, x, 0),
        row_of(mean, x, 0),
        row_of(variance, x, 1),
    ]
    if not training:
        return BatchNormalization(inputs, epsilon=eps, momentum=1 - given(momentum, 0))
    y, new_mean, new_variance = BatchNormalization(
        inputs, epsilon=eps, momentum=1 - given(momentum, 0), training_mode=1, outputs=3
    )
    return y


def batch_norm_in_inference(x, weight, bias, mean, variance, momentum, eps):
    if x.dtype != torch.float64:
        return batch_norm_node(x, weight, bias, mean, variance, momentum, eps, False)
    # The attribute epsilon is a float32.
    y = (x - by_channel(mean, x)) / Sqrt(by_channel(variance, x) + eps)
    return scale_channels(y, weight, bias)


@symbolic("aten::batch_norm", opset=7)
def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """Without running statistics, training updates nothing."""
    x = widen(input)
    if not training:
        return batch_norm_in_inference(x, weight, bias, running_mean, running_var, momentum, eps)
    if opset() < 14 or running_mean is None or x.dtype == torch.float64:
        return scale_channels(standardized(x, batch_axes(x), eps)[0], weight, bias)
    return batch_norm_node(x, weight, bias, running_mean, running_var, momentum, eps, True)


@symbolic("aten::native_batch_norm", opset=7)
def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """Outside of training native_batch_norm saves empty rows."""
    x = widen(input)
    if not training:
        y = batch_norm_in_inference(x, weight, bias, running_mean, running_var, momentum, eps)
        return y, filled(0, 0, x), filled(0, 0, x)
    wants_statistics = is_used(1) or is_used(2)
    if (
        opset() >= 14
        and running_mean is not None
        and x.dtype != torch.float64
        and not wants_statistics
    ):
        y = batch_norm_node(x, weight, bias, running_mean, running_var, momentum, eps, True)
        return y, None, None
    axes = batch_axes(x)
    y, mean, inverse = standardized(x, axes, eps)
    return scale_channels(y, weight, bias), Squeeze(mean, axes), Squeeze(inverse, axes)


# ---- layers ----


def written_layer_norm(x, weight, bias, n, eps):
    y, mean, inverse = standardized(x, last_axes(x, n), eps)
    y = y * cast(weight, x.dtype) if weight is not None else y
    y = y + cast(bias, x.dtype) if bias is not None else y
    return y, mean, inverse


def layer_norm_inputs(x, weight, bias, n):
    scale = weight_of(weight, x, n)
    return [x, scale] if bias is None else [x, scale, cast(bias, x.dtype)]


@symbolic("aten::layer_norm", opset=7)
def layer_norm(input, normalized_shape, weight, bias, eps):
    x = widen(input)
    n = len(normalized_shape)
    if opset() < 17 or x.dtype == torch.float64:
        return written_layer_norm(x, weight, bias, n, eps)[0]
    y, mean, inverse = LayerNormalization(
        layer_norm_inputs(x, weight, bias, n), axis=-n, epsilon=eps, outputs=3
    )
    return y


@symbolic("aten::native_layer_norm", opset=7)
def native_layer_norm(input, normalized_shape, weight, bias, eps):
    """The statistics of LayerNormalization are always float32."""
    x = widen(input)
    n = len(normalized_shape)
    if opset() < 17 or x.dtype == torch.float64:
        return written_layer_norm(x, weight, bias, n, eps)
    y, mean, inverse = LayerNormalization(
        layer_norm_inputs(x, weight, bias, n), axis=-n, epsilon=eps, outputs=3
    )
    return y, with_dtype(mean, torch.float32), with_dtype(inverse, torch.float32)


@symbolic("aten::rms_norm", opset=23)
def rms_norm(input, normalized_shape, weight, eps):
    """Half precision is computed in float32, as by stash_type."""
    if input.dtype != torch.float32 and input.dtype != torch.float16:
        return unsupported("it is decomposed")
    n = len(normalized_shape)
    return RMSNormalization(
        input, weight_of(weight, input, n), axis=-n, epsilon=given(eps, 1.1920928955078125e-07)
    )


# ---- groups ----


def lanes_of(x, groups):
    """The spatial axes as one: [batch, groups, rest]. -1 would not work for an empty batch."""
    rest = x.size(1) // groups * math.prod([x.size(i) for i in range(2, x.ndim)])
    lanes = Reshape(x, [0, groups, rest if is_known(rest) else -1])
    return with_shape(lanes, [x.size(0), groups, rest])


def group_norm_node(x, groups, weight, bias, eps):
    """One node, with a scale and a bias for each channel."""
    scale = row_of(weight, x, 1)
    return GroupNormalization(x, scale, row_of(bias, x, 0), num_groups=groups, epsilon=eps)


def instance_norm_node(x, groups, eps):
    """ONNX Runtime has InstanceNormalization for float32 alone."""
    lanes = lanes_of(x, groups)
    return InstanceNormalization(lanes, filled(groups, 1, x), filled(groups, 0, x), epsilon=eps)


@symbolic("aten::group_norm", opset=7)
def group_norm(input, num_groups, weight, bias, eps):
    if opset() >= 21 and input.dtype == torch.float32 and input.ndim > 2:
        return group_norm_node(input, num_groups, weight, bias, eps)
    x = widen(input)
    if x.dtype == torch.float32:
        y = instance_norm_node(x, num_groups, eps)
    else:
        y = standardized(lanes_of(x, num_groups), [2], eps)[0]
    return scale_channels(Reshape(y, input.shape), weight, bias)


@symbolic("aten::native_group_norm", opset=7)
def native_group_norm(input, group, weight, bias, eps):
    wants_statistics = is_used(1) or is_used(2)
    if not wants_statistics:
        return group_norm(input, group, weight, bias, eps), None, None
    x = widen(input)
    y, mean, inverse = standardized(lanes_of(x, group), [2], eps)
    y = scale_channels(Reshape(y, input.shape), weight, bias)
    return y, Squeeze(mean, [2]), Squeeze(inverse, [2])


@symbolic("aten::instance_norm", opset=7)
def instance_norm(input, weight, bias, use_input_stats, eps):
    """With running statistics it is a batch norm: it is decomposed then."""
    x = widen(input)
    if not use_input_stats or x.ndim < 3:
        return unsupported("instance_norm with running statistics is a batch norm")
    if x.dtype == torch.float32:
        scale = row_of(weight, x, 1)
        return InstanceNormalization(x, scale, row_of(bias, x, 0), epsilon=eps)
    return scale_channels(standardized(x, range(2, x.ndim), eps)[0], weight, bias)
