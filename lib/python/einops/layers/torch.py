"""einops.layers.torch."""
from torch import nn
from ..pattern import apply


class Rearrange(nn.Module):
    def __init__(self, pattern, **axes_lengths):
        super().__init__()
        self.pattern = pattern
        self.axes_lengths = axes_lengths

    def forward(self, input):
        return apply(input, self.pattern, "rearrange", self.axes_lengths)

    def extra_repr(self):
        return repr(self.pattern) + "".join(f", {k}={v}" for k, v in self.axes_lengths.items())


class Reduce(nn.Module):
    def __init__(self, pattern, reduction, **axes_lengths):
        super().__init__()
        self.pattern = pattern
        self.reduction = reduction
        self.axes_lengths = axes_lengths

    def forward(self, input):
        return apply(input, self.pattern, self.reduction, self.axes_lengths)

    def extra_repr(self):
        return f"{self.pattern!r}, {self.reduction!r}" + "".join(
            f", {k}={v}" for k, v in self.axes_lengths.items())
