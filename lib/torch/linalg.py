"""torch.linalg: the operators linalg_*."""
from calque import operator


def __getattr__(name):
    return operator("aten::linalg_" + name)
