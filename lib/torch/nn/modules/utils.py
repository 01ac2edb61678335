"""Helpers of layers."""


def _ntuple(n, name="parse"):
    def parse(x):
        return tuple(x) if isinstance(x, (tuple, list)) else (x,) * n

    return parse


_single = _ntuple(1)
_pair = _ntuple(2)
_triple = _ntuple(3)
_quadruple = _ntuple(4)


def _reverse_repeat_tuple(values, n):
    """(1, 2) with n = 2 is (2, 2, 1, 1): the order of F.pad."""
    return tuple(x for x in reversed(values) for _ in range(n))
