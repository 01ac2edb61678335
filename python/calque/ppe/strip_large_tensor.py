"""python -m calque.ppe.strip_large_tensor: takes the data out of large tensors of a model."""
from __future__ import annotations

import argparse
from typing import Sequence

from ._strip import LARGE_TENSOR_DATA_THRESHOLD, is_large_tensor, strip

__all__ = ["LARGE_TENSOR_DATA_THRESHOLD", "is_large_tensor", "main", "strip"]


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m calque.ppe.strip_large_tensor",
                                     description="Strips large tensors of an ONNX model.")
    parser.add_argument("onnx_path", help="the model")
    parser.add_argument("--out_onnx_path", help="the stripped one; default: in place")
    parser.add_argument("--large_tensor_threshold", type=int, default=LARGE_TENSOR_DATA_THRESHOLD,
                        help="tensors with more elements are stripped (%(default)s)")
    given = parser.parse_args(argv)
    strip(given.onnx_path, given.out_onnx_path, given.large_tensor_threshold)


if __name__ == "__main__":
    main()
