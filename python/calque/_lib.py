"""Finds the shared library of calque and loads it, with the declarations of `_abi`."""
from __future__ import annotations

import ctypes
import os
import pathlib
import sys

from . import _abi

NAME = {"win32": "libcalque.dll", "darwin": "libcalque.0.dylib"}.get(sys.platform, "libcalque.so.0")


def candidates() -> list[str]:
    """Where the library may be, best first: the environment's choice, inside of the package (a
    wheel), in a folder above it or below that for one architecture (`cmake --install`), and
    wherever the system finds it."""
    if chosen := os.environ.get("CALQUE_LIBRARY"):
        return [chosen]
    here = pathlib.Path(__file__).resolve().parent
    near = [path for folder in (here, *list(here.parents)[:3])
            for path in (folder / NAME, *sorted(folder.glob(f"*-linux-*/{NAME}")))]
    return [str(path) for path in near if path.exists()] + [NAME]


def load() -> ctypes.CDLL:
    """The library, of the version that this package was made for."""
    tried = []
    for path in candidates():
        try:
            found = ctypes.CDLL(path)
        except OSError as error:
            tried.append(f"{path}: {error}")
            continue
        declare(found, path)
        return found
    raise ImportError("the library of calque was not found; set CALQUE_LIBRARY to its path\n  "
                      + "\n  ".join(tried))


def declare(found: ctypes.CDLL, path: str) -> None:
    """Gives the functions of the library their types."""
    have = found.cq_version() if hasattr(found, "cq_version") else 0
    if have // 1000 != _abi.CQ_VERSION // 1000:
        raise ImportError(f"{path} is version {have // 1000000}.{have // 1000 % 1000} of calque, but "
                          f"this package is for {_abi.CQ_VERSION_MAJOR}.{_abi.CQ_VERSION_MINOR}; "
                          "install both from one source")
    for name, (result, arguments) in _abi.FUNCTIONS.items():
        function = getattr(found, name, None)
        if function is None:
            raise ImportError(f"{path} has no {name}; it is older than this package")
        function.restype, function.argtypes = result, arguments


def refuse_subinterpreters() -> None:
    """The library calls back into Python through functions that ctypes makes. ctypes runs them in the
    main interpreter, and a sub-interpreter frees its own while the library still has them."""
    current = ctypes.pythonapi.PyInterpreterState_Get
    number = ctypes.pythonapi.PyInterpreterState_GetID
    current.restype, number.restype, number.argtypes = ctypes.c_void_p, ctypes.c_int64, [ctypes.c_void_p]
    if number(current()) != 0:
        raise ImportError("calque does not support sub-interpreters; import it in the main interpreter, "
                          "and use threads or processes")


refuse_subinterpreters()

# Calls through it give the interpreter's lock away, so that other threads run meanwhile.
lib = load()


def text(value: bytes | None) -> str:
    """A text of the library. Names in files may hold any bytes."""
    return (value or b"").decode("utf-8", "surrogateescape")


def encoded(value: str | bytes | os.PathLike[str] | None) -> bytes | None:
    """A text or path for the library; None is NULL. C would take a NUL for the end of the text."""
    if value is None:
        return None
    data = value if isinstance(value, bytes) else os.fspath(value).encode("utf-8", "surrogateescape")
    if b"\0" in data:
        from ._errors import ArgumentError
        raise ArgumentError(f"{value!r} contains a NUL character")
    return data
