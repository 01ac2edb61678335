"""Where models come from: paths, bytes, files that are open, and messages of the onnx package."""
from __future__ import annotations

import contextlib
import os
import tempfile
from typing import IO, Any, Iterator, Union

from ._errors import Error

# What is taken for a model: a path, the bytes of a file, an open file, an onnx.ModelProto.
Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, IO[bytes], Any]


def bytes_of(source: Source) -> bytes | None:
    """The bytes, if that is what it is; None: it is a path."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if hasattr(source, "SerializeToString"):
        return bytes(source.SerializeToString())
    if hasattr(source, "read"):
        data = source.read()
        return data.encode() if isinstance(data, str) else bytes(data)
    return None


@contextlib.contextmanager
def as_path(source: Source) -> Iterator[str]:
    """A path that the library can open while this lasts; what it maps stays."""
    data = bytes_of(source)
    if data is None:
        yield os.fspath(source)
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
