"""How many threads calque computes with."""
from __future__ import annotations

import operator

from ._errors import ArgumentError
from ._lib import lib

MOST = 64


def set_threads(n: int) -> None:
    """Threads that work on a job, 1 to 64; 0 is one for each core, the default. Results do not
    depend on it. A session may have a number of its own.

    >>> import calque
    >>> calque.set_threads(2)
    >>> calque.get_threads()
    2
    >>> calque.set_threads(0)
    """
    if not 0 <= operator.index(n) <= MOST:
        raise ArgumentError(f"the number of threads must be from 0 to {MOST}, got {n}")
    lib.cq_set_threads(n)


def get_threads() -> int:
    """How many there are.

    >>> import calque
    >>> calque.get_threads() >= 1
    True
    """
    return int(lib.cq_threads())
