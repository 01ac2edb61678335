"""Taking the data out of large tensors."""
from __future__ import annotations

import math
from ctypes import byref
from typing import Any

from .. import _abi
from .._call import call
from .._lib import encoded, lib

LARGE_TENSOR_DATA_THRESHOLD = _abi.CQ_STRIP_THRESHOLD


def is_large_tensor(tensor: Any, threshold: int = LARGE_TENSOR_DATA_THRESHOLD) -> bool:
    """Whether a TensorProto of the onnx package has more elements than that.

    >>> import numpy, onnx.numpy_helper, calque.ppe
    >>> calque.ppe.is_large_tensor(onnx.numpy_helper.from_array(numpy.zeros((3, 50))))
    True
    """
    return bool(math.prod(tensor.dims) > threshold)


def strip(path: str, out: str | None = None, threshold: int = LARGE_TENSOR_DATA_THRESHOLD) -> None:
    """Strips a model, or a tensor in a .pb; in place unless out says where to."""
    options = _abi.cq_strip_options()
    lib.cq_strip_options_init(byref(options))
    options.threshold = threshold
    call(lib.cq_strip_file, encoded(path), encoded(out), byref(options))
