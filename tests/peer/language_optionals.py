"""Programs whose inputs may be left out. See language_models.py."""
from typing import Optional, Tuple

import torch
from torch import Tensor

from language_models import program


def rows(*sizes):
    """A tensor of as many rows for each argument; None for 0."""
    return lambda: [torch.randn(n, 3) if n else None for n in sizes]


def pair(n, *sizes):
    return lambda: [torch.randn(n, 3), tuple(torch.randn(m, 3) if m else None for m in sizes)]


@program(rows(2, 2, 2), rows(2, 0, 2), rows(2, 2, 0), rows(2, 0, 0), optionals=True)
def one_or_the_other(x, y: Optional[Tensor], z: Optional[Tensor]):
    if y is not None:
        return x + y
    if z is not None:
        return x * z
    return x


@program(rows(2, 2), rows(2, 0), optionals=True, opset=15)
def all_may_be_missing(x: Optional[Tensor], y: Optional[Tensor]):
    if x is not None:
        return x * 2
    elif y is not None:
        return y
    return torch.full([2, 3], -1.0)


@program(rows(2, 3), rows(4, 0), rows(3, 5), optionals=True,
         axes={"in_0": {"0": "n"}, "in_1": {"0": "m"}})
def filled_in(x, y: Optional[Tensor]):
    if y is None:
        y = x * 2
    return torch.cat([x, y]), y.size(0)


@program(pair(2, 3, 3), pair(4, 0, 1), pair(3, 5, 0), optionals=True,
         axes={"in_0": {"0": "n"}, "in_1": {"0": "m"}, "in_2": {"0": "m"}})
def sizes_of_either(x, pair: Tuple[Optional[Tensor], Optional[Tensor]]):
    y, z = pair
    n = 0
    for i in range(x.size(0)):
        if y is not None:
            n += y.size(0)
        if z is not None:
            n += 10 * z.size(0)
            x = x + z.sum()
    return x, n


@program(rows(2, 2), rows(2, 0), optionals=True)
def asked_for_by_a_flag(x, y: Optional[Tensor]):
    there = y is not None
    out = x
    if there and bool(x.sum() < 1000):
        assert y is not None
        out = x - y
    return out, there


@program(rows(2, 2), optionals=True)
def not_asked_for(x, y: Optional[Tensor]):
    assert y is not None
    return x + y


@program(rows(1, 2, 2), rows(1, 0, 2), rows(1, 2, 0), optionals=True)
def handed_on(x, y: Optional[Tensor], z: Optional[Tensor]):
    either = z
    if y is not None:
        either = y
    if either is not None:
        x = x + either.sum()
    return x
