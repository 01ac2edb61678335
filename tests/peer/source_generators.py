#!/usr/bin/python3
"""Generators in model source, beside branches and loops on data: the export agrees with PyTorch for
inputs that take either side, or is refused because the next value of a generator is not known.
"""
import sys

import numpy as np
import peers

SOURCE = '''import contextlib
import torch
from torch import nn


def parts(x, n):
    for i in range(n):
        sent = yield x * i
        if sent is not None:
            x = sent


def by_data(x):
    if x.sum() > 0:
        yield x
        yield x + 1
    else:
        yield x - 1
        yield x - 2
    yield x * 3


@contextlib.contextmanager
def plus_one(x):
    try:
        yield x + 1
    finally:
        x.sum()


class InBranch(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            g = parts(x, 3)
            return next(g) + g.send(x + 1)
        else:
            return sum(parts(x, 4))


class InLoop(nn.Module):
    def forward(self, x):
        while x.abs().sum() < 100:
            for y in parts(x, 3):
                x = x + y
        return x


class BranchInside(nn.Module):
    def forward(self, x):
        r = x
        for y in by_data(x):
            r = r * 2 + y
        return r


class Collected(nn.Module):
    def forward(self, x):
        return torch.stack(list(by_data(x)))


class Context(nn.Module):
    def forward(self, x):
        with plus_one(x) as y:
            if x.sum() > 0:
                y = y * 2
        return y


class Expression(nn.Module):
    def forward(self, x):
        g = (x * i for i in (1, 2, 3))
        if x.sum() > 0:
            x = x + 1
        return next(g) + sum(g)


class AdvancedInBranch(nn.Module):
    def forward(self, x):
        g = parts(x, 5)
        a = next(g)
        if x.sum() > 0:
            a = a + next(g)
        return a + next(g)


class AdvancedInLoop(nn.Module):
    def forward(self, x):
        g = parts(x, 50)
        while x.sum() < 100:
            x = x + next(g) + 1
        return x
'''

CASES = ["InBranch", "InLoop", "BranchInside", "Collected", "Context", "Expression"]
REFUSED = ["AdvancedInBranch", "AdvancedInLoop"]


def check(name, folder):
    import torch
    path = folder / "model.py"
    path.write_text(SOURCE)
    code, _, error = peers.calque("export", path, "--entry", name, "--input", "batchx3", "-o", folder / "m.onnx")
    if name in REFUSED:
        assert code == 1 and "which value a generator yields next is data-dependent" in error, error
        return
    assert code == 0, error
    space = {}
    exec(SOURCE, space)
    for sign in (1, -1):
        x = sign * np.arange(1, 7, dtype=np.float32).reshape(2, 3) / 4
        want = space[name]()(torch.from_numpy(x.copy())).numpy()
        peers.expect_close(peers.run_ort(str(folder / "m.onnx"), {"x": x})[0], want)


if __name__ == "__main__":
    sys.exit(peers.run_cases(__file__, CASES + REFUSED, check))
