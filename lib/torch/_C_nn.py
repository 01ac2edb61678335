"""torch._C._nn: operators."""
from calque import operator


def __getattr__(name):
    return operator("aten::" + name)
