"""Failures of the library as exceptions: what is wrong, where, and what to do about it."""
from __future__ import annotations

from typing import Any

from . import _abi
from ._lib import lib, text
from ._words import in_python


class Error(RuntimeError):
    """A call of the library failed. Its kind is the class; see the subclasses.

    >>> import calque
    >>> try:
    ...     calque.load("missing.onnx")
    ... except calque.Error as error:
    ...     print(error.message)
    cannot open the file: No such file or directory
    """

    #: Why it failed.
    message: str = ""
    #: The file, module or source line that it is about; may be empty.
    where: str = ""
    #: What to do about it; may be empty.
    hint: str = ""
    #: The line of source and carets under what is meant; may be empty.
    excerpt: str = ""
    #: Of an export: what came of it, as `Model.report` has it.
    report: dict[str, list[dict[str, Any]]]

    def __init__(self, message: str, where: str = "", hint: str = "", excerpt: str = "") -> None:
        super().__init__(message)
        self.message, self.where, self.hint, self.excerpt = message, where, hint, excerpt
        self.report = {}

    def __str__(self) -> str:
        lines = [self.message, f"in {self.where}" if self.where else "", self.excerpt, self.hint]
        return "\n".join(line for line in lines if line)


class OutOfMemory(Error, MemoryError):
    """There is not enough memory, or a limit was reached."""


class ArgumentError(Error, ValueError):
    """The caller asked for something that makes no sense."""


class FileError(Error, OSError):
    """The system refused to read or write."""


class FormatError(Error, ValueError):
    """Bytes are not what they claim to be."""


class ScriptError(Error):
    """Source text does not parse."""


class TypeMismatch(Error, TypeError):
    """Types or shapes do not fit together."""


class UnsupportedError(Error, NotImplementedError):
    """It means something, but calque cannot do it."""


class InvalidModel(Error, ValueError):
    """A model breaks the rules of ONNX."""


class VerificationError(Error, AssertionError):
    """An export computes something else than its source (`verify=True`)."""


class NotFound(Error, LookupError, FileNotFoundError):
    """A file or another object of that name does not exist."""


class InternalError(Error):
    """A bug in calque."""


class Cancelled(Error):
    """The work was cancelled before its end."""


class CalqueWarning(UserWarning):
    """A warning of the library."""


CLASSES: dict[int, type[Error]] = {
    _abi.CQ_E_NO_MEMORY: OutOfMemory,
    _abi.CQ_E_ARGUMENT: ArgumentError,
    _abi.CQ_E_IO: FileError,
    _abi.CQ_E_FORMAT: FormatError,
    _abi.CQ_E_SYNTAX: ScriptError,
    _abi.CQ_E_TYPE: TypeMismatch,
    _abi.CQ_E_UNSUPPORTED: UnsupportedError,
    _abi.CQ_E_INVALID: InvalidModel,
    _abi.CQ_E_NOT_FOUND: NotFound,
    _abi.CQ_E_INTERNAL: InternalError,
    _abi.CQ_E_CANCELLED: Cancelled,
}


def last_error(status: int) -> Error:
    """The exception for what failed last in this thread."""
    record = lib.cq_last_error().contents
    return CLASSES.get(status, Error)(in_python(text(record.message)), text(record.where),
                                      in_python(text(record.hint)), text(record.excerpt))
