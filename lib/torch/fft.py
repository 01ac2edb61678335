"""torch.fft: the operators fft_*."""
from calque import operator


def __getattr__(name):
    return operator("aten::fft_" + (name[4:] if name.startswith("fft_") else name))
