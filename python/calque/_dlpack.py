"""DLPack, both ways: capsules that hold a DLManagedTensor.

A capsule that we are given is kept as it is while its memory is used: nobody else can consume it
then, and its own destructor frees the tensor.
"""
from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p
from typing import Any, Sequence

from . import _abi
from ._errors import ArgumentError

CPU = 1
NAME = b"dltensor"


class DLTensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32),
                ("ndim", c_int32), ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16),
                ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
                ("byte_offset", c_uint64)]


class DLManagedTensor(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("manager", c_void_p),
                ("deleter", ctypes.CFUNCTYPE(None, c_void_p))]


# (code, bits) of DLPack: signed 0, unsigned 1, float 2, bfloat 4, complex 5, bool 6.
_CODES = {
    _abi.CQ_DTYPE_BOOL: (6, 8),
    _abi.CQ_DTYPE_U8: (1, 8), _abi.CQ_DTYPE_U16: (1, 16),
    _abi.CQ_DTYPE_U32: (1, 32), _abi.CQ_DTYPE_U64: (1, 64),
    _abi.CQ_DTYPE_I8: (0, 8), _abi.CQ_DTYPE_I16: (0, 16),
    _abi.CQ_DTYPE_I32: (0, 32), _abi.CQ_DTYPE_I64: (0, 64),
    _abi.CQ_DTYPE_F16: (2, 16), _abi.CQ_DTYPE_F32: (2, 32), _abi.CQ_DTYPE_F64: (2, 64),
    _abi.CQ_DTYPE_BF16: (4, 16),
    _abi.CQ_DTYPE_C64: (5, 64), _abi.CQ_DTYPE_C128: (5, 128),
    _abi.CQ_DTYPE_F8E4M3FN: (10, 8), _abi.CQ_DTYPE_F8E4M3FNUZ: (11, 8),
    _abi.CQ_DTYPE_F8E5M2: (12, 8), _abi.CQ_DTYPE_F8E5M2FNUZ: (13, 8),
    _abi.CQ_DTYPE_F8E8M0: (14, 8),
}
_DTYPES = {pair: code for code, pair in _CODES.items()}


def _api(name: str, result: Any, *arguments: Any) -> Any:
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_Destructor = ctypes.PYFUNCTYPE(None, c_void_p)
_new = _api("PyCapsule_New", ctypes.py_object, c_void_p, c_char_p, _Destructor)
_pointer = _api("PyCapsule_GetPointer", c_void_p, ctypes.py_object, c_char_p)
# In a destructor the capsule has no references left, so that it must not become an object.
_dead_pointer = _api("PyCapsule_GetPointer", c_void_p, c_void_p, c_char_p)
_dead_is_valid = _api("PyCapsule_IsValid", ctypes.c_int, c_void_p, c_char_p)

# What is lent to others: the structs, their arrays, and the tensor behind them.
_lent: dict[int, Any] = {}


def _destroy(capsule: int) -> None:
    if _dead_is_valid(capsule, NAME):  # not consumed; otherwise it has another name
        del _lent[_dead_pointer(capsule, NAME)]


# A method of dict: in a function of Python a handler of a signal could raise before the first line.
_c_delete = ctypes.CFUNCTYPE(None, c_void_p)(_lent.pop)
_c_destroy = _Destructor(_destroy)


def capsule_of(owner: Any, dtype: int, address: int, shape: Sequence[int],
               strides: Sequence[int]) -> Any:
    """A capsule of memory that owner has; strides are in elements."""
    if dtype not in _CODES:
        raise BufferError("DLPack has no such dtype")
    code, bits = _CODES[dtype]
    sizes = (c_int64 * len(shape))(*shape)
    steps = (c_int64 * len(shape))(*strides)
    tensor = DLTensor(address, CPU, 0, len(shape), code, bits, 1, sizes, steps, 0)
    managed = DLManagedTensor(tensor, None, _c_delete)
    place = ctypes.addressof(managed)
    _lent[place] = managed, sizes, steps, owner
    return _new(place, NAME, _c_destroy)


def read(data: Any) -> tuple[int, int, list[int], list[int] | None, Any]:
    """The dtype, address, sizes and strides of a DLPack tensor, and its owner."""
    device = data.__dlpack_device__()
    if int(device[0]) != CPU:
        raise ArgumentError("calque computes on the CPU, but the tensor is elsewhere",
                            hint="copy it to the CPU first: x.cpu()")
    capsule = data.__dlpack__()
    t = DLManagedTensor.from_address(_pointer(capsule, NAME)).tensor
    dtype = _DTYPES.get((t.code, t.bits))
    if dtype is None or t.lanes != 1:
        raise ArgumentError(f"calque has no tensors of DLPack's dtype {t.code} of {t.bits} bits")
    shape = [t.shape[i] for i in range(t.ndim)]
    strides = [t.strides[i] for i in range(t.ndim)] if t.strides else None
    return dtype, (t.data or 0) + t.byte_offset, shape, strides, capsule
