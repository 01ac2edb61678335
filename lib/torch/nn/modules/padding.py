"""Padding layers."""
from .. import functional as F
from .module import Module
from .utils import _ntuple


class _PadNd(Module):
    """`axes` axes are padded, the last one first; `mode` is that of F.pad."""

    axes = 1
    mode = "constant"

    def __init__(self, padding):
        super().__init__()
        self.padding = _ntuple(2 * self.axes)(padding)

    def forward(self, input):
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self):
        return f"{self.padding}"


class _ConstantPadNd(_PadNd):
    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value

    def forward(self, input):
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self):
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    axes = 1


class ConstantPad2d(_ConstantPadNd):
    axes = 2


class ConstantPad3d(_ConstantPadNd):
    axes = 3


class ZeroPad1d(ConstantPad1d):
    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class ReflectionPad1d(_PadNd):
    axes = 1
    mode = "reflect"


class ReflectionPad2d(_PadNd):
    axes = 2
    mode = "reflect"


class ReflectionPad3d(_PadNd):
    axes = 3
    mode = "reflect"


class ReplicationPad1d(_PadNd):
    axes = 1
    mode = "replicate"


class ReplicationPad2d(_PadNd):
    axes = 2
    mode = "replicate"


class ReplicationPad3d(_PadNd):
    axes = 3
    mode = "replicate"


class CircularPad1d(_PadNd):
    axes = 1
    mode = "circular"


class CircularPad2d(_PadNd):
    axes = 2
    mode = "circular"


class CircularPad3d(_PadNd):
    axes = 3
    mode = "circular"
