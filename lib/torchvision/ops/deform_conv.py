"""Deformable convolutions."""
import math

import torch
from torch import nn
from torch.nn import init


def _pair(x):
    return (x, x) if isinstance(x, int) else tuple(x)


def deform_conv2d(input, offset, weight, bias=None, stride=(1, 1), padding=(0, 0),
                  dilation=(1, 1), mask=None):
    use_mask = mask is not None
    if not use_mask:
        mask = torch.zeros((input.shape[0], 1), dtype=input.dtype)
    if bias is None:
        bias = torch.zeros(weight.shape[0], dtype=input.dtype)
    stride, padding, dilation = _pair(stride), _pair(padding), _pair(dilation)
    n_offset_groups = offset.shape[1] // (2 * weight.shape[-2] * weight.shape[-1])
    n_groups = input.shape[1] // weight.shape[1]
    return torch.ops.torchvision.deform_conv2d(
        input, weight, offset, mask, bias, stride[0], stride[1], padding[0], padding[1],
        dilation[0], dilation[1], n_groups, n_offset_groups, use_mask)


class DeformConv2d(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1,
                 groups=1, bias=True):
        super().__init__()
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = _pair(kernel_size)
        self.stride = _pair(stride)
        self.padding = _pair(padding)
        self.dilation = _pair(dilation)
        self.groups = groups
        self.weight = nn.Parameter(torch.empty((out_channels, in_channels // groups)
                                               + self.kernel_size))
        if bias:
            self.bias = nn.Parameter(torch.empty(out_channels))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan_in)
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input, offset, mask=None):
        return deform_conv2d(input, offset, self.weight, self.bias, self.stride, self.padding,
                             self.dilation, mask)
