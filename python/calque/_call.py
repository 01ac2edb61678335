"""How the library is called: statuses become exceptions, warnings Python warnings, and what a call
hands over is freed with its last reference.

While C works, the interpreter's lock is free. C asks twenty times a second whether to go on
(`cq_set_cancel_handler`); that runs a Python function in the main thread, where Python handles its
signals. What their handlers raise, such as KeyboardInterrupt, stops the call, which raises it again.
"""
from __future__ import annotations

import ctypes
import json
import os
import re
import sys
import threading
import warnings
from typing import Any, Callable, ClassVar, Iterable, Sequence

from . import _abi
from ._errors import ArgumentError, CalqueWarning, last_error
from ._lib import encoded, lib, text
from ._words import in_python


class Handle(ctypes.c_void_p):
    """A pointer that a call hands over: pass `byref(handle)` to it. Subclasses say how it is freed.
    The object is the only owner, so it is never copied: ctypes would copy the pointer alone, which
    would then be freed twice."""

    _free: ClassVar[Callable[[Any], None]]

    def __reduce_ex__(self, _protocol: Any) -> Any:
        raise TypeError(f"cannot copy or pickle a {type(self).__name__}: it owns memory of the library")

    def __del__(self) -> None:
        if self.value:
            type(self)._free(self)
            self.value = None


class Buffer(Handle):
    """Text or bytes that a call hands over."""

    _free = lib.cq_buffer_free

    def bytes(self, size: int | None = None) -> bytes:
        assert self.value
        return ctypes.string_at(self.value, -1 if size is None else size)


def _on_warning(_user: Any, message: bytes, where: bytes) -> None:
    said, place = in_python(text(message)), text(where)
    _thread.warnings.append(f"{said}\n  in {place}" if place else said)


def _on_question(_user: Any) -> bool:
    """Whether to stop. Python runs the handlers of pending signals when it enters this function."""
    return _thread.raised is not None


# As C calls them. They live as long as the library.
_c_on_warning = _abi.cq_warning_handler(_on_warning)
_c_on_question = _abi.cq_cancel_handler(_on_question)


class _Thread(threading.local):
    """The warnings of the library in this thread since the call began."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.raised: BaseException | None = None
        self.has_signals = threading.current_thread() is threading.main_thread()
        lib.cq_set_warning_handler(_c_on_warning, None)
        if self.has_signals:
            lib.cq_set_cancel_handler(_c_on_question, None)


_thread = _Thread()

_HERE = os.path.dirname(os.path.abspath(__file__))


def _is_ours(path: str) -> bool:
    """Whether a file belongs to the package."""
    return os.path.dirname(path).startswith(_HERE) and path[len(_HERE)] == os.sep


class _Unraisable:
    """sys.unraisablehook while the main thread is in the library. ctypes drops what a callback raises,
    and a handler of a signal may raise before the first line of a callback, where no `except` is.
    The hook keeps such an exception for `call` to raise."""

    def __init__(self) -> None:
        self.previous: Callable[[Any], Any] = sys.__unraisablehook__

    def begin(self) -> bool:
        """False: a call that this one is inside of has begun it."""
        if sys.unraisablehook == self.note:
            return False
        self.previous, sys.unraisablehook = sys.unraisablehook, self.note
        return True

    def end(self) -> None:
        sys.unraisablehook = self.previous

    def note(self, lost: Any) -> None:
        trace = lost.exc_traceback
        if _thread.has_signals and trace and _is_ours(trace.tb_frame.f_code.co_filename):
            callback_raised(lost.exc_value)
        else:
            self.previous(lost)


_unraisable = _Unraisable()


def call(function: Callable[..., int], *arguments: Any) -> None:
    """Calls a function that returns a status; a failure is raised as an Error. For work that may
    take long, warn, or call back."""
    outer = _thread.warnings, _thread.raised  # of the call whose callback makes this one
    _thread.warnings, _thread.raised = [], None
    hooked = _thread.has_signals and _unraisable.begin()
    try:
        status = function(*arguments)
        error = last_error(status) if status else None
    finally:
        if hooked:
            _unraisable.end()
        heard, raised = _thread.warnings, _thread.raised
        _thread.warnings, _thread.raised = outer
    for message in heard:
        warnings.warn(message, CalqueWarning, stacklevel=caller())
    if raised is not None:
        raise raised
    if error is not None:
        raise error


def check(status: int) -> None:
    """The same for calls that return at once."""
    if status:
        raise last_error(status)


def callback_raised(error: BaseException) -> int:
    """Keeps what a callback raised until the call that it is in is over, which raises it again.
    Returns a status for the library to stop with."""
    if _thread.raised is None:
        _thread.raised = error
    return _abi.CQ_E_CANCELLED


def caller() -> int:
    """How far up the first frame outside of the package is, seen from the function that asks."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and _is_ours(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    return level


def texts(items: Iterable[str], what: str = "names") -> Any:
    """An array of C strings. `what` describes them in the error for a single text or other values."""
    if isinstance(items, (str, bytes)):
        raise TypeError(f"{what} must be a list of texts, not the text {items!r}")
    given = list(items)
    for item in given:
        if not isinstance(item, str):
            raise TypeError(f"{what} must be texts, not {type(item).__name__}")
    return (ctypes.c_char_p * len(given))(*map(encoded, given))


def as_json(value: Any, what: str) -> bytes:
    """A value as JSON for the library, which has neither NUL nor NaN there."""
    try:
        data = json.dumps(value, allow_nan=False, default=_plain).encode()
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{what}: {error}") from None
    if _NUL.search(data):
        raise ArgumentError(f"{what} contains a NUL character")
    return data


_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


def _plain(value: Any) -> Any:
    """A number of numpy's as one of Python's."""
    if hasattr(value, "item") and not getattr(value, "shape", ()):
        return value.item()
    raise TypeError(f"a {type(value).__name__} is neither a number, a text, None nor a list of such")


def handles(items: Sequence[ctypes.c_void_p | None]) -> Any:
    """An array of pointers."""
    return (ctypes.c_void_p * len(items))(*(item.value if item is not None else None
                                            for item in items))
