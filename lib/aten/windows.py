"""Helpers of convolutions and pooling: the windows of a feature map."""

import torch


def for_each_axis(given, n):
    """One number for every axis."""
    return given if len(given) == n else [given[0]] * n


def pads_of(before, after):
    """The order of constant_pad_nd: the last axis first."""
    pads = []
    for i in reversed(range(len(before))):
        pads = pads + [before[i], after[i]]
    return pads


def windows_of(x, kernel, stride, dilation):
    """All windows: [batch, channels, positions …, kernel …]."""
    for i in range(len(kernel)):
        x = x.unfold(2 + i, dilation[i] * (kernel[i] - 1) + 1, stride[i])
        x = torch.ops.aten.slice(x, -1, 0, None, dilation[i])
    return x


def with_batch(x, n):
    return x if x.ndim == n + 2 else x.unsqueeze(0)


def without_batch(y, x, n):
    return y if x.ndim == n + 2 else y.squeeze(0)
