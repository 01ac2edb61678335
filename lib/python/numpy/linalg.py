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


def matrix_power(a, n):
    t = _unwrap(a)
    if n < 0:
        t, n = _torch.linalg.inv(t), -n
    result = _torch.eye(t.size(-1), dtype=t.dtype)
    for _ in range(n):
        result = result @ t
    return _wrap(result)


def qr(a):
    return tuple(_wrap(t) for t in _torch.linalg.qr(_unwrap(a)))


def svd(a, full_matrices=True):
    return tuple(_wrap(t) for t in _torch.linalg.svd(_unwrap(a), full_matrices=full_matrices))


def solve(a, b):
    return _wrap(_torch.linalg.solve(_unwrap(a), _unwrap(b)))
