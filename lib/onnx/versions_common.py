"""Functions that the adapters between versions share (versions.py)."""

import torch

from calque.onnx import *


def numbers(x):
    """The elements of an input that becomes an attribute."""
    if x is None:
        return None
    found = elements(x)
    if found is None:
        raise NotImplementedError("an input is computed where the target expects an attribute")
    return found


def known_rank(x):
    found = rank(x)
    if found is None:
        raise NotImplementedError("the rank of a value is unknown")
    return found


def from_front(axis, x, more=0):
    """An axis that is not negative: before opset 11 axes are counted from the front."""
    return axis if axis >= 0 else axis + known_rank(x) + more


def is_real(x):
    return dtype(x) in [torch.float32, torch.float64, torch.float16, torch.bfloat16]


def need(condition, why):
    if not condition:
        raise NotImplementedError(why)


def all_are(numbers, value):
    return numbers is None or len([i for i in numbers if i != value]) == 0


def in_single(x):
    """Half types are computed in float32."""
    return Cast(x, to=torch.float32) if dtype(x) in [torch.float16, torch.bfloat16] else x


def in_type_of(y, x):
    """The type of x is known where in_single has changed it."""
    return Cast(y, to=dtype(x)) if dtype(x) in [torch.float16, torch.bfloat16] else y


def dtype_for(x):
    found = dtype(x)
    need(found is not None, "the type of a value is unknown")
    return found


def no_numbers():
    """An empty list of float32."""
    return Cast([], to=torch.float32)
