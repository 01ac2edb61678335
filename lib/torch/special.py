"""torch.special: the operators special_*."""
from calque import operator


def __getattr__(name):
    return operator("aten::special_" + name)
