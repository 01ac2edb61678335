"""Where models come from: paths, bytes, files that are open, and messages of the onnx package."""
from __future__ import annotations

import contextlib
import os
import tempfile
from typing import IO, Iterator, Protocol, Union

from ._errors import Error


class Message(Protocol):
    """A message of protobuf, such as onnx.ModelProto; a Model is one too."""

    def SerializeToString(self) -> bytes: ...


# What is taken for a model: a path, the bytes of a file, an open file, a message.
Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, IO[bytes], Message]


def bytes_of(source: Source) -> bytes | None:
    """The bytes, if that is what it is; None: it is a path."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if hasattr(source, "SerializeToString"):
        return bytes(source.SerializeToString())
    if hasattr(source, "read"):
        return bytes(source.read())
    return None


def path_of(source: Source) -> str:
    """The path, if that is what it is."""
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"a model is a path, bytes or an open file, not a {type(source).__name__}; "
                        "calque.onnx.export takes models of PyTorch")
    return os.fspath(source)


@contextlib.contextmanager
def as_path(source: Source) -> Iterator[str]:
    """A path that the library can open while this lasts; what it maps stays."""
    data = bytes_of(source)
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
