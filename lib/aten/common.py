"""Helpers that many families share."""

import math
import torch


def scaled(x, by):
    return x if by == 1 else x * by


def shifted(x, by):
    return x if by == 0 else x + by


def in_float(x):
    return x if x.is_floating_point() else x.to(torch.float32)


def number_like(x, number):
    return torch.scalar_tensor(number, dtype=x.dtype)


def behind(x, dim):
    return torch.ops.aten.slice(x, dim, 1, 9223372036854775807)


def before(x, dim):
    return torch.ops.aten.slice(x, dim, 0, -1)


# Mirrored below a half, moved up by 6.
def trigamma(x):
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


# The sum of a[i] x^(n - i), n being the last i.
def polynomial(x, a):
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
