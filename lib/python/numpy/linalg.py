"""numpy.linalg."""
import torch as _torch
from .array import _scalar, _unwrap, _wrap


def norm(x, ord=None, axis=None, keepdims=False):
    t = _unwrap(x)
    t = t if t.is_floating_point() else t.to(_torch.float64)
    axes = list(range(t.dim())) if axis is None else axis
    return _scalar(_torch.linalg.vector_norm(t, 2 if ord is None else ord, axes, keepdims))


def inv(a):
    return _wrap(_torch.linalg.inv(_unwrap(a)))


def det(a):
    return _scalar(_torch.linalg.det(_unwrap(a)))
