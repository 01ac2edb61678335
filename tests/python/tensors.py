#!/usr/bin/python3
"""Tensors share their memory with arrays and DLPack, in any order of destruction."""
import array
import ctypes
import gc
import sys

from package import Report, Skip, raises

import numpy as np
import calque
from calque import _dlpack, _dtypes, _tensor


def check_no_copy():
    a = np.arange(24, dtype="float32").reshape(2, 3, 4)
    for view in [a, a.T, a[:, 1:], a[..., ::2], a[1]]:
        t = calque.Tensor(view)
        assert t.address == view.ctypes.data and t.shape == view.shape, view.strides
        assert np.shares_memory(t.numpy(), a) and (t.numpy() == view).all()
        assert t.strides == view.strides and t.nbytes == view.nbytes
    back = calque.Tensor(a[::-1])  # only this is copied: strides of the library do not go back
    assert (back.numpy() == a[::-1]).all()


def check_dtypes():
    for name in ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
                 "float16", "float32", "float64", "complex64", "complex128"]:
        a = np.array([0, 1, 2]).astype(name)
        t = calque.Tensor(a)
        assert t.dtype == a.dtype and (t.numpy() == a).all(), name
        assert t.code == _dtypes.parse(name)
    assert calque.Tensor(np.array([1, 2], ">f4")).numpy().tolist() == [1, 2]
    error = raises(calque.ArgumentError, calque.Tensor, np.array(["2001-01-01"], "M8[D]"))
    assert "datetime64" in error.message and "float32" in error.hint, error


def check_ml_dtypes():
    try:
        import ml_dtypes
    except ImportError:
        raise Skip("ml_dtypes is not installed; bfloat16 are bits") from None
    for name in ["bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4"]:
        a = np.array([0, 1, 2], dtype=getattr(ml_dtypes, name))
        t = calque.Tensor(a)
        assert t.dtype == a.dtype and t.address == a.ctypes.data, name
        assert t.numpy().astype("float32").tolist() == [0, 1, 2], name


def check_kinds_of_data():
    numbers = array.array("f", [1, 2, 3])
    t = calque.as_tensor(memoryview(numbers))
    t.numpy()[1] = 5
    assert numbers[1] == 5, "a buffer was copied"
    assert calque.as_tensor([[1, 2]]).shape == (1, 2) and calque.as_tensor(2.5).dtype == "float64"
    assert calque.as_tensor(np.zeros((0, 3))).shape == (0, 3)

    class Shown:  # whatever shows its memory to numpy
        __array_interface__ = np.arange(3.0).__array_interface__
        data = np.arange(3.0)
    assert calque.as_tensor(Shown()).shape == (3,)
    if sys.version_info >= (3, 12):
        assert memoryview(calque.Tensor(np.arange(3, dtype="int16"))).format == "h"


def check_read_only():
    a = np.zeros(3)
    a.flags.writeable = False
    view = calque.Tensor(a).numpy()
    assert not view.flags.writeable
    raises(ValueError, view.__setitem__, 0, 1)


class Owner(np.ndarray):
    """An array that tells when it is gone."""
    gone = 0

    def __del__(self):
        Owner.gone += 1


def owned():
    return np.zeros(1000, "float32").view(Owner)


def check_lives():
    for order in ["array first", "tensor first"]:
        Owner.gone = 0
        a = owned()
        t = calque.Tensor(a)
        view = t.numpy()
        if order == "array first":
            del a
            gc.collect()
            assert Owner.gone == 0
            view[:] = 1
            del t, view
        else:
            del t, view
            gc.collect()
            assert Owner.gone == 0
            np.asarray(a)[:] = 1
            del a
        gc.collect()
        assert Owner.gone == 1, order
    assert not _tensor._owners, "memory of others is still kept"


def check_dlpack():
    a = np.arange(6, dtype="float32").reshape(2, 3)
    t = calque.Tensor(a.T)
    n = np.from_dlpack(t)
    assert n.ctypes.data == a.ctypes.data and (n == a.T).all() and t.__dlpack_device__() == (1, 0)
    del t
    gc.collect()
    assert _dlpack._lent, "numpy uses it still"
    del n
    gc.collect()
    assert not _dlpack._lent
    capsule = calque.Tensor(a).__dlpack__()  # that is not consumed
    del capsule
    gc.collect()
    assert not _dlpack._lent

    class Other:  # a library that only speaks DLPack
        def __dlpack__(self, stream=None):
            return a.__dlpack__()

        def __dlpack_device__(self):
            return a.__dlpack_device__()
    t = calque.as_tensor(Other())
    assert t.address == a.ctypes.data

    class Elsewhere(Other):
        def __dlpack_device__(self):
            return 2, 0
    assert "x.cpu()" in raises(calque.ArgumentError, calque.as_tensor, Elsewhere()).hint


def check_torch():
    try:
        import torch
    except ImportError:
        raise Skip("*** torch IS MISSING *** (tools/setup.sh peers installs it)") from None
    x = torch.arange(6.0).reshape(2, 3).t()
    t = calque.as_tensor(x)
    assert t.address == x.data_ptr() and t.shape == (3, 2)
    b = torch.ones(2, dtype=torch.bfloat16)
    assert calque.as_tensor(b).code == _dtypes.CODES["bfloat16"]
    y = torch.from_dlpack(t)
    del t, x
    gc.collect()
    assert y[2, 1] == 5 and y.stride() == (1, 3)


def check_handles_are_freed_once():
    t = calque.Tensor(np.zeros(3))
    pointer = ctypes.c_void_p(t.pointer.value)
    other = calque.Tensor.borrow(pointer.value)
    del t
    gc.collect()
    assert other.shape == (3,)


def main():
    report = Report(__file__)
    for name, check in [(name[6:], check) for name, check in globals().items()
                        if name.startswith("check_")]:
        with report.case(name):
            check()
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
