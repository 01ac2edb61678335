"""Tensors that share their memory with numpy, PyTorch and whoever speaks DLPack.

Whoever owns memory lives as long as anybody uses it: a Tensor keeps the array that it was made of,
and an array that was made of a Tensor keeps the Tensor.
"""
from __future__ import annotations

import ctypes
import itertools
from ctypes import byref
from typing import Any, Iterable

import numpy as np

from . import _abi, _dlpack, _dtypes
from ._call import Handle, check
from ._errors import ArgumentError
from ._lib import lib


class TensorHandle(Handle):
    """Owns a reference to a tensor."""

    _free = lib.cq_tensor_release


# What tensors of the library borrow their memory from, by the number that their release gets.
_owners: dict[int, Any] = {}
_numbers = itertools.count(1)


# A method of dict: in a function of Python a handler of a signal could raise before the first line.
_c_release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_owners.pop)


def keep(owner: Any) -> tuple[Any, int]:
    """The release and its argument for a call that borrows memory of owner's."""
    number = next(_numbers)
    _owners[number] = owner
    return _c_release, number


class Tensor:
    """A tensor of the library. It has numpy's attributes, and becomes an array without a copy.

    >>> import calque, numpy
    >>> t = calque.Tensor(numpy.arange(6, dtype="float32").reshape(2, 3))
    >>> t
    Tensor(float32[2, 3])
    >>> float(numpy.asarray(t).sum())
    15.0
    """

    __slots__ = ("_handle", "_writable", "__weakref__")
    _handle: TensorHandle
    _writable: bool

    def __init__(self, data: Any, copy: bool = False) -> None:
        """Wraps an array, a DLPack tensor, or what numpy makes an array of (a buffer, a list)."""
        if copy:
            data = np.array(data)
        made = _wrap(data)
        self._handle, self._writable = made._handle, made._writable

    @classmethod
    def _of(cls, handle: TensorHandle, writable: bool = True) -> Tensor:
        """Takes over a reference."""
        self = object.__new__(cls)
        self._handle, self._writable = handle, writable
        return self

    @classmethod
    def borrow(cls, pointer: int | TensorHandle, writable: bool = True) -> Tensor:
        """Takes a new reference to a tensor with another owner."""
        return cls._of(TensorHandle(lib.cq_tensor_retain(pointer)), writable)

    @classmethod
    def from_pointer(cls, address: int, dtype: int, shape: Iterable[int],
                     strides: Iterable[int] | None = None, owner: Any = None,
                     writable: bool = True) -> Tensor:
        """Memory at an address; strides are in elements. owner is kept while it is used."""
        sizes = tuple(shape)
        rank = len(sizes)
        handle = TensorHandle()
        c_sizes = (ctypes.c_int64 * rank)(*sizes)
        if 0 in sizes:
            check(lib.cq_tensor_new(byref(handle), dtype, rank, c_sizes, None))
            return cls._of(handle, writable)
        release, number = keep(owner)
        if strides is None:
            status = lib.cq_tensor_wrap(byref(handle), dtype, rank, c_sizes, address, release,
                                        number)
        else:
            c_strides = (ctypes.c_int64 * rank)(*strides)
            status = lib.cq_tensor_wrap_strided(byref(handle), dtype, rank, c_sizes, c_strides,
                                                address, release, number)
        if status:
            del _owners[number]
        check(status)
        return cls._of(handle, writable)

    def viewed(self, dtype: int) -> Tensor:
        """The same memory as elements of another type of that size."""
        strides = [lib.cq_tensor_stride(self._handle, i) for i in range(self.ndim)]
        return Tensor.from_pointer(lib.cq_tensor_data(self._handle), dtype, self.shape, strides,
                                   self, self._writable)

    # ---- copies ----

    def __copy__(self) -> Tensor:
        """Another tensor on the same memory."""
        return Tensor.borrow(self._handle, self._writable)

    def __reduce__(self) -> Any:
        """With the elements; also for copy.deepcopy."""
        return _of_elements, (np.array(self.numpy()), self.code)

    # ---- what it is ----

    @property
    def pointer(self) -> TensorHandle:
        """The cq_tensor."""
        return self._handle

    @property
    def code(self) -> int:
        """Its CQ_DTYPE."""
        return int(lib.cq_tensor_dtype(self._handle))

    @property
    def dtype(self) -> np.dtype[Any]:
        """numpy's dtype; of elements that numpy cannot name, one of ml_dtypes or their bits."""
        return _dtypes.to_numpy(self.code)

    @property
    def ndim(self) -> int:
        return int(lib.cq_tensor_rank(self._handle))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(lib.cq_tensor_size(self._handle, i) for i in range(self.ndim))

    @property
    def strides(self) -> tuple[int, ...]:
        """In bytes, as numpy has them."""
        size = _dtypes.size(self.code)
        return tuple(lib.cq_tensor_stride(self._handle, i) * size for i in range(self.ndim))

    @property
    def size(self) -> int:
        """The number of its elements."""
        return int(lib.cq_tensor_numel(self._handle))

    @property
    def nbytes(self) -> int:
        return self.size * _dtypes.size(self.code)

    def __repr__(self) -> str:
        return f"Tensor({_dtypes.name(self.code)}{list(self.shape)})"

    def __len__(self) -> int:
        return len(self.numpy())

    # ---- its memory ----

    @property
    def address(self) -> int:
        """Of the first element; 0 when it has no data."""
        return lib.cq_tensor_data(self._handle) or 0

    @property
    def __array_interface__(self) -> dict[str, Any]:
        dtype = self.dtype
        kind = dtype.str if dtype.isbuiltin == 1 else f"|V{dtype.itemsize}"
        return {"version": 3, "shape": self.shape, "typestr": kind, "strides": self.strides,
                "data": (self.address, not self._writable)}

    def numpy(self) -> np.ndarray[Any, Any]:
        """The same memory as an array.

        >>> import calque, numpy
        >>> a = numpy.zeros(3, "float32")
        >>> calque.Tensor(a).numpy()[1] = 7
        >>> a
        array([0., 7., 0.], dtype=float32)
        """
        if not self.address:
            raise ValueError("a tensor without data is not an array")
        array: np.ndarray[Any, Any] = np.asarray(_Interface(self))
        return array if array.dtype == self.dtype else array.view(self.dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = self.numpy()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            if copy is False:
                raise ValueError(f"to be {np.dtype(dtype)} it has to be copied")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __buffer__(self, flags: int) -> memoryview:
        return memoryview(self.numpy().data)

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None,
                   copy: bool | None = None) -> Any:
        source = Tensor(self.numpy(), copy=True) if copy else self
        return _dlpack.capsule_of(source, source.code, source.address, source.shape,
                                  [lib.cq_tensor_stride(source._handle, i)
                                   for i in range(source.ndim)])

    def __dlpack_device__(self) -> tuple[int, int]:
        return _dlpack.CPU, 0


def _of_elements(array: np.ndarray[Any, Any], code: int) -> Tensor:
    """What a pickle holds; the array has the bits if numpy lacks the dtype."""
    made = _of_array(array)
    return made if made.code == code else made.viewed(code)


class _Interface:
    """Shows numpy the memory of a tensor. The array keeps it, and it keeps the tensor."""

    __slots__ = ("_tensor", "__array_interface__")

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor
        self.__array_interface__ = tensor.__array_interface__


def _of_array(array: np.ndarray[Any, Any]) -> Tensor:
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    code, size = _dtypes.from_numpy(array.dtype), array.dtype.itemsize
    if any(stride < 0 or stride % size for stride in array.strides):
        array = np.ascontiguousarray(array)
    strides = None if array.flags.c_contiguous else [stride // size for stride in array.strides]
    return Tensor.from_pointer(array.ctypes.data, code, array.shape, strides, array,
                               array.flags.writeable)


def _wrap(data: Any) -> Tensor:
    """data as a tensor; its memory, wherever that can be."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, np.ndarray):
        return _of_array(data)
    if hasattr(data, "__dlpack__"):
        if getattr(data, "requires_grad", False) is True:
            data = data.detach()  # PyTorch's, which only lends those
        code, address, shape, strides, capsule = _dlpack.read(data)
        return Tensor.from_pointer(address, code, shape, strides, capsule)
    if type(data) is int and not -2 ** 63 <= data < 2 ** 63:
        raise ArgumentError(f"the number {data} does not fit into 64 bits")
    return _of_array(np.asarray(data))


def as_tensor(data: Any) -> Tensor:
    """A Tensor on the memory of data: an array, a DLPack tensor (PyTorch's), a buffer, or numbers.

    >>> import calque
    >>> calque.as_tensor([1, 2, 3])
    Tensor(int64[3])
    """
    return _wrap(data)
