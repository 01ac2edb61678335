"""What models take and give, as Python has it: arrays, texts as arrays of objects, sequences as
lists, maps as dicts, and None for an optional that is empty."""
from __future__ import annotations

import ctypes
from ctypes import byref
from typing import Any

import numpy as np

from . import _abi, _dtypes
from ._call import Handle, check, handles
from ._lib import lib
from ._tensor import Tensor, as_tensor


class ValueHandle(Handle):
    _free = lib.cq_onnx_value_release


def to_value(data: Any, kind: str = "") -> ValueHandle:
    """A value of the library. kind is its type in the model, as far as that is known: a list is a
    sequence, unless the model expects a tensor."""
    handle = ValueHandle()
    if data is None:
        check(lib.cq_onnx_value_new_none(byref(handle)))
    elif isinstance(data, dict):
        dtype = np.float32 if "tensor(float)" in kind else None
        keys = to_value(np.array(list(data.keys())))
        values = to_value(np.array(list(data.values()), dtype))
        check(lib.cq_onnx_value_new_map(byref(handle), keys, values))
    elif isinstance(data, (list, tuple)) and "seq(" in (kind or "seq("):
        items = [to_value(item, "tensor" if _is_scalar(item) else "") for item in data]
        check(lib.cq_onnx_value_new_sequence(byref(handle), handles(items), len(items)))
    elif isinstance(data, (np.ndarray, Tensor)) or hasattr(data, "__dlpack__"):
        return _of_array(data, kind)
    else:
        return _of_array(_as_array(data, kind), kind)
    return handle


def _as_array(data: Any, kind: str) -> np.ndarray[Any, Any]:
    """An array of what has no dtype of its own: lists and numbers of Python get the model's. Floats do not
    become integers."""
    array = np.asarray(data)
    code = _dtypes.CODES.get(_NUMPY_NAMES.get(kind, ""))
    if code and isinstance(data, (list, tuple, bool, int, float)) and array.dtype.kind in "biufc":
        wanted = _dtypes.to_numpy(code)
        if array.dtype != wanted and (array.size == 0 or np.can_cast(array.dtype, wanted, "same_kind")):
            return array.astype(wanted)
    return array


# ONNX's names of types that have other ones in numpy.
_NUMPY_NAMES = {f"tensor({name})": {"float": "float32", "double": "float64"}.get(name, name)
                for name in ("float", "double", "float16", "int8", "int16", "int32", "int64", "uint8",
                             "uint16", "uint32", "uint64", "bool", "complex64", "complex128")}


def declared_dtype(kind: str) -> str:
    """numpy's name of the dtype of an input, "" if it has none."""
    return _NUMPY_NAMES.get(kind, "")


def _is_scalar(item: Any) -> bool:
    return isinstance(item, (bool, int, float, str, bytes))


def _of_array(data: Any, kind: str) -> ValueHandle:
    handle = ValueHandle()
    if isinstance(data, np.ndarray) and data.dtype.kind in "OSU":
        return _of_texts(data)
    code = _dtypes.FOREIGN.get(kind[7:-1])
    if code and isinstance(data, np.ndarray) and data.dtype == f"uint{8 * _dtypes.size(code)}":
        tensor = as_tensor(data).viewed(code)
    else:
        tensor = as_tensor(data)
    check(lib.cq_onnx_value_new_tensor(byref(handle), tensor.pointer))
    return handle


def _of_texts(array: np.ndarray[Any, Any]) -> ValueHandle:
    texts = [item if isinstance(item, bytes) else str(item).encode("utf-8", "surrogateescape")
             for item in array.ravel().tolist()]
    handle, rank = ValueHandle(), array.ndim
    check(lib.cq_onnx_value_new_strings(
        byref(handle), rank, (ctypes.c_int64 * rank)(*array.shape),
        (ctypes.c_char_p * (len(texts) or 1))(*texts),
        (ctypes.c_size_t * (len(texts) or 1))(*map(len, texts))))
    return handle


def from_value(value: ctypes.c_void_p, writable: bool | None = None) -> Any:
    """The Python object for a value. An array is a view of its memory; whether it may be written to
    depends on who else has that, unless it is said."""
    kind = lib.cq_onnx_value_kind(value)
    if kind == _abi.CQ_ONNX_VALUE_TENSOR:
        pointer = lib.cq_onnx_value_tensor(value)
        if writable is None:
            writable = not lib.cq_tensor_is_shared(pointer)
        return Tensor.borrow(pointer, writable).numpy()
    if kind == _abi.CQ_ONNX_VALUE_STRINGS:
        return _to_texts(value)
    if kind == _abi.CQ_ONNX_VALUE_NONE:
        return None
    items = [from_value(_item(value, i), writable) for i in range(lib.cq_onnx_value_count(value))]
    if kind == _abi.CQ_ONNX_VALUE_MAP:
        return dict(zip(items[0].tolist(), items[1].tolist()))
    return items


def _item(value: ctypes.c_void_p, index: int) -> ValueHandle:
    handle = ValueHandle()
    check(lib.cq_onnx_value_item(byref(handle), value, index))
    return handle


def _to_texts(value: ctypes.c_void_p) -> np.ndarray[Any, Any]:
    shape = [lib.cq_onnx_value_size(value, i) for i in range(lib.cq_onnx_value_rank(value))]
    length = ctypes.c_size_t()
    texts = []
    for i in range(lib.cq_onnx_value_count(value)):
        start = lib.cq_onnx_value_string(value, i, byref(length))
        texts.append(ctypes.string_at(start, length.value).decode("utf-8", "surrogateescape"))
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array.reshape(shape)
