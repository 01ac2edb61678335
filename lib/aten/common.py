"""Helpers that many families share."""

import math
import torch


def scaled(x, by):
    """x * by, without an operator if by is 1."""
    return x if by == 1 else x * by


def shifted(x, by):
    """x + by, without an operator if by is 0."""
    return x if by == 0 else x + by


def in_float(x):
    """Integers and booleans as float32."""
    return x if x.is_floating_point() else x.to(torch.float32)


def as_tensors(x, y):
    """Two operands as tensors; one of them may be a number, which takes the dtype of the other."""
    if not isinstance(x, torch.Tensor):
        return torch.scalar_tensor(float(x), dtype=in_float(y).dtype), y
    if not isinstance(y, torch.Tensor):
        return x, torch.scalar_tensor(float(y), dtype=in_float(x).dtype)
    return x, y


def number_like(x, number):
    """The number as a tensor without dimensions, in the dtype of x."""
    return torch.scalar_tensor(number, dtype=x.dtype)


def without_first(x, dim):
    """All elements along a dimension but the first."""
    return torch.ops.aten.slice(x, dim, 1)


def without_last(x, dim):
    """All elements along a dimension but the last."""
    return torch.ops.aten.slice(x, dim, 0, -1)


def trigamma(x):
    """The second derivative of the logarithm of the gamma function, by an asymptotic series.

    Arguments below 1/2 are reflected, and all are moved up by 6, where the series converges.
    """
    low = x < 0.5
    turn = (x * math.pi).sin()
    t = torch.where(low, 1 - x, x)
    y = torch.zeros_like(x)
    for i in range(6):
        y = y + 1 / (t + i).square()
    t = t + 6
    i = 1 / t.square()
    y = (
        y
        + (
            1
            + 1 / (2 * t)
            + i * (1 / 6 - i * (1 / 30 - i * (1 / 42 - i * (1 / 30 - i * (5 / 66)))))
        )
        / t
    )
    y = torch.where(low, math.pi * math.pi / turn.square() - y, y)
    return torch.where(x == 0, math.inf, y)


def polynomial(x, a):
    """A polynomial in x, by Horner's method; coefficients begin with the highest power."""
    y = x * a[0] + a[1]
    for c in a[2:]:
        y = y * x + c
    return y


def real_form(a):
    """[[R, -I], [I, R]], of the parts R and I, acts on the parts of a vector as a acts on the
    vector."""
    re = torch.real(a)
    im = torch.imag(a)
    return torch.cat([torch.cat([re, -im], -1), torch.cat([im, re], -1)], -2)
