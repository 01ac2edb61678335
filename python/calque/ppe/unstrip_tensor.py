"""python -m calque.ppe.unstrip_tensor: fills stripped tensors with random numbers."""
from __future__ import annotations

import argparse
from typing import Sequence

from .._call import call
from .._lib import encoded, lib


def unstrip(path: str, out_path: str | None = None, seed: int = 0) -> None:
    """Fills a model, a tensor (.pb) or a folder with a test-case; in place unless out_path says
    where to. The same seed gives the same numbers."""
    call(lib.cq_unstrip, encoded(path), encoded(out_path or None), seed)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m calque.ppe.unstrip_tensor",
                                     description="Fills stripped tensors with random numbers of the "
                                                 "same mean and variance.")
    parser.add_argument("path", help="a model, a tensor (.pb), or a folder with a test-case")
    parser.add_argument("--out_path", help="where to; default: in place")
    parser.add_argument("--seed", type=int, default=0, help="of the numbers (%(default)s)")
    given = parser.parse_args(argv)
    unstrip(given.path, given.out_path, given.seed)


if __name__ == "__main__":
    main()
