"""Helpers of convolutions and pooling: the windows of a feature map."""

import torch


# One number for every axis.
def for_each_axis(given, n):
    return given if len(given) == n else [given[0]] * n


# The order of constant_pad_nd: the last axis first.
def pads_of(before, after):
    pads = []
    for i in reversed(range(len(before))):
        pads = pads + [before[i], after[i]]
    return pads


# All windows: [batch, channels, positions …, kernel …].
def windows_of(x, kernel, stride, dilation):
    for i in range(len(kernel)):
        x = x.unfold(2 + i, dilation[i] * (kernel[i] - 1) + 1, stride[i])
        x = torch.ops.aten.slice(x, -1, 0, 9223372036854775807, dilation[i])
    return x


def with_batch(x, n):
    return x if x.ndim == n + 2 else x.unsqueeze(0)


def without_batch(y, x, n):
    return y if x.ndim == n + 2 else y.squeeze(0)
