"""Where models come from: paths, bytes, files that are open, and messages of the onnx package."""
from __future__ import annotations

import contextlib
import os
import tempfile
from typing import IO, Iterator, Protocol, Union

from ._errors import Error, FormatError


class Message(Protocol):
    """A message of protobuf, such as onnx.ModelProto; a Model is one too."""

    def SerializeToString(self) -> bytes: ...


# What is taken for a model: a path, the bytes of a file, an open file, a message.
Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, IO[bytes], Message]


def bytes_of(source: Source) -> bytes | None:
    """The bytes, or None if the argument is a path."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if hasattr(source, "SerializeToString"):
        return bytes(source.SerializeToString())
    if hasattr(source, "read"):
        return bytes(source.read())
    return None


def path_of(source: Source) -> str:
    """The path, or None if the argument is not a path."""
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"expected a path, bytes or an open file, got {type(source).__name__}; "
                        "calque.onnx.export takes models of PyTorch")
    return os.fspath(source)


def head_of(source: Source, size: int) -> bytes:
    """The first bytes of a path or bytes object; empty if it cannot be read."""
    data = bytes_of(source)
    if data is not None:
        return data[:size]
    try:
        with open(path_of(source), "rb") as file:
            return file.read(size)
    except OSError:
        return b""


def holds_onnx(source: Source) -> bool:
    """Whether it is an ONNX model, by the first byte, or by the name if it is damaged."""
    named = isinstance(source, (str, os.PathLike)) and os.fspath(source).endswith(".onnx")
    head = head_of(source, 2)
    return head[:1] == b"\x08" or (named and head != b"PK")


def not_onnx(head: bytes, name: str) -> Error | None:
    """An explanation for a file that is not an ONNX model, by its first bytes; None: unknown."""
    if head.startswith(b"PK"):
        return FormatError(f"{name} is a zip archive, but this takes ONNX models",
                           hint="calque.export converts archives of PyTorch, calque.run runs them, and "
                                "calque.inspect shows their contents")
    if head and all(byte >= 0x20 or byte in b"\n\t\r" for byte in head):
        return FormatError(f"{name} is text, but this takes ONNX models",
                           hint="calque.export makes one of TorchScript, calque.Model.parse of ONNX's "
                                "text syntax")
    return None


@contextlib.contextmanager
def as_path(source: Source, work: str = "") -> Iterator[str]:
    """A path that the library can open while this lasts; what it maps stays. work is what is done with
    programs of PyTorch only."""
    data = bytes_of(source)
    if work and head_of(source if data is None else data, 1) == b"\x08":
        name = "<bytes>" if data is not None else path_of(source)
        raise FormatError(f"'{name}' is already an ONNX model; only programs of PyTorch are {work}",
                          hint="calque.load, calque.Session and calque.run take it")
    if data is None:
        yield path_of(source)
    elif hasattr(os, "memfd_create"):
        number = os.memfd_create("model")
        try:
            with os.fdopen(os.dup(number), "wb") as file:
                file.write(data)
            path = f"/proc/self/fd/{number}"
            yield path
        except Error as error:
            error.where = error.where.replace(path, "<bytes>")
            raise
        finally:
            os.close(number)
    else:
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            yield file.name
