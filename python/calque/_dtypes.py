"""The library's dtypes and numpy's. Those that numpy lacks are ml_dtypes' if that is installed, and
the bits of their elements, unsigned integers, if not."""
from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np

from . import _abi
from ._errors import ArgumentError
from ._lib import encoded, lib, text

# numpy's or ml_dtypes' name of each.
NAMES: dict[int, str] = {
    _abi.CQ_DTYPE_BOOL: "bool",
    _abi.CQ_DTYPE_U8: "uint8",
    _abi.CQ_DTYPE_I8: "int8",
    _abi.CQ_DTYPE_I16: "int16",
    _abi.CQ_DTYPE_I32: "int32",
    _abi.CQ_DTYPE_I64: "int64",
    _abi.CQ_DTYPE_F16: "float16",
    _abi.CQ_DTYPE_BF16: "bfloat16",
    _abi.CQ_DTYPE_F32: "float32",
    _abi.CQ_DTYPE_F64: "float64",
    _abi.CQ_DTYPE_C64: "complex64",
    _abi.CQ_DTYPE_C128: "complex128",
    _abi.CQ_DTYPE_U16: "uint16",
    _abi.CQ_DTYPE_U32: "uint32",
    _abi.CQ_DTYPE_U64: "uint64",
    _abi.CQ_DTYPE_F8E4M3FN: "float8_e4m3fn",
    _abi.CQ_DTYPE_F8E4M3FNUZ: "float8_e4m3fnuz",
    _abi.CQ_DTYPE_F8E5M2: "float8_e5m2",
    _abi.CQ_DTYPE_F8E5M2FNUZ: "float8_e5m2fnuz",
    _abi.CQ_DTYPE_U4: "uint4",
    _abi.CQ_DTYPE_I4: "int4",
    _abi.CQ_DTYPE_F4E2M1: "float4_e2m1fn",
    _abi.CQ_DTYPE_F8E8M0: "float8_e8m0fnu",
    _abi.CQ_DTYPE_U2: "uint2",
    _abi.CQ_DTYPE_I2: "int2",
}
CODES = {name: code for code, name in NAMES.items()}

# Floats that numpy lacks, by their names in ONNX; without ml_dtypes they come and go as bits.
FOREIGN = {name.replace("_", ""): code for name, code in CODES.items()
           if name == "bfloat16" or "_" in name}


def size(code: int) -> int:
    """Bytes of an element."""
    return int(lib.cq_dtype_size(code))


def name(code: int) -> str:
    """The library's name of a dtype; "" for none."""
    return text(lib.cq_dtype_name(code)) if code else ""


@functools.lru_cache(maxsize=None)
def to_numpy(code: int) -> np.dtype[Any]:
    """numpy's dtype for one of the library."""
    wanted = NAMES[code]
    try:
        return np.dtype(wanted)
    except TypeError:
        pass
    try:
        found: np.dtype[Any] = np.dtype(getattr(importlib.import_module("ml_dtypes"), wanted))
        return found
    except (ImportError, AttributeError):
        return np.dtype(f"uint{8 * size(code)}")


def from_numpy(dtype: np.dtype[Any]) -> int:
    """The library's dtype for numpy's, or one of ml_dtypes."""
    code = CODES.get(dtype.name)
    if code is None:
        raise ArgumentError(f"calque has no tensors of dtype {dtype}",
                            hint=f"those it has: {', '.join(CODES)}")
    return code


def parse(wanted: str | np.dtype[Any] | type) -> int:
    """A dtype by any of its names: "float32", "f32", numpy.float32."""
    if isinstance(wanted, str) and (code := int(lib.cq_dtype_from_name(encoded(wanted)))):
        return code
    return from_numpy(np.dtype(wanted))
