"""python -m calque.ppe.strip_large_tensor: takes the data out of large tensors of a model."""
from __future__ import annotations

import argparse
from ctypes import byref
from typing import Sequence

from .. import _abi
from .._call import call
from .._lib import encoded, lib

LARGE_TENSOR_DATA_THRESHOLD = _abi.CQ_STRIP_THRESHOLD


def strip(path: str, out: str | None = None, threshold: int = LARGE_TENSOR_DATA_THRESHOLD) -> None:
    """Strips a model, or a tensor in a .pb; in place unless out says where to."""
    options = _abi.cq_strip_options()
    lib.cq_strip_options_init(byref(options))
    options.threshold = threshold
    call(lib.cq_strip_file, encoded(path), encoded(out), byref(options))


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
