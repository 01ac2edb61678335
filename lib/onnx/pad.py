"""Padding.

Until opset 10 Pad only accepts floats, and ONNX Runtime lacks some types later. Other types are
padded by Concat, and so is circular padding, which older opsets lack. If one side is cropped and
the other padded, PyTorch repeats or mirrors elements of the whole tensor, including cropped ones,
so padding comes first.
"""

import torch

from calque.onnx import *
from onnx.common import all_known, all_zero

symbolic("aten::_pad_circular", opset=7, decompose=True)


def pads_of(x, pad):
    """PyTorch's list, last dimension first, as beginnings and ends of all dimensions."""
    first = [2 * (x.ndim - 1 - i) for i in range(x.ndim)]
    begins = [pad[i] if i < len(pad) else 0 for i in first]
    return begins + [pad[i + 1] if i < len(pad) else 0 for i in first]


def can_pad(x):
    if x.dtype in (torch.float32, torch.float64):
        return True
    return opset() >= 11 and x.dtype in (torch.int64, torch.int32)


@symbolic("aten::constant_pad_nd", opset=7, decompose=True)
def constant_pad_nd(self, pad, value):
    pads = pads_of(self, pad)
    if all_zero(pads):
        return self
    if not can_pad(self) or (opset() < 11 and not all_known(pads)):
        return unsupported("Pad does not support this dtype")
    return Pad(self, pads, cast(value, self.dtype), mode="constant")


def pad_by_mode(x, padding, mode):
    pads = pads_of(x, padding)
    if len([i for i in pads if is_known(i) and i < 0]) > 0:
        return unsupported("it crops")
    if not can_pad(x):
        x = cast(x, torch.float32 if is_float(x) else torch.float64)
    return Pad(x, pads, mode=mode)


@symbolic("aten::reflection_pad1d", opset=7, decompose=True)
@symbolic("aten::reflection_pad2d", opset=7, decompose=True)
@symbolic("aten::reflection_pad3d", opset=7, decompose=True)
def reflection_pad(self, padding):
    return pad_by_mode(self, padding, "reflect")


@symbolic("aten::replication_pad1d", opset=7, decompose=True)
@symbolic("aten::replication_pad2d", opset=7, decompose=True)
@symbolic("aten::replication_pad3d", opset=7, decompose=True)
def replication_pad(self, padding):
    return pad_by_mode(self, padding, "edge")
