"""How the library is called: statuses become exceptions, warnings Python warnings, Ctrl-C a
KeyboardInterrupt, and what a call hands over is freed with its last reference.

While C works, the interpreter's lock is free. C asks twenty times a second whether to go on
(`cq_set_cancel_handler`); that runs a Python function in the main thread, where Python handles its
signals. Ours only notes the signal: an exception out of a callback would be lost.
"""
from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import warnings
from types import FrameType
from typing import Any, Callable, ClassVar, Sequence

from . import _abi
from ._errors import CalqueWarning, last_error
from ._lib import lib, text
from ._words import in_python


class Handle(ctypes.c_void_p):
    """A pointer that a call hands over: pass `byref(handle)` to it. Subclasses say how it is freed."""

    _free: ClassVar[Callable[[Any], None]]

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


class _Interrupt:
    """Notes SIGINT while the main thread is in the library, and hands it on afterwards."""

    def __init__(self) -> None:
        self.seen: tuple[int, FrameType | None] | None = None

    def note(self, number: int, frame: FrameType | None) -> None:
        self.seen = number, frame

    def begin(self) -> Any:
        """Puts our handler in place and returns the one before; None: there is nothing to do."""
        previous = signal.getsignal(signal.SIGINT)
        if not callable(previous) or previous == self.note:
            return None
        signal.signal(signal.SIGINT, self.note)
        return previous

    def end(self, previous: Any) -> None:
        signal.signal(signal.SIGINT, previous)
        seen, self.seen = self.seen, None
        if seen:
            previous(*seen)


_interrupt = _Interrupt()


def _on_question(_user: Any) -> bool:
    return _interrupt.seen is not None


# As C calls them. They live as long as the library.
_c_on_warning = _abi.cq_warning_handler(_on_warning)
_c_on_question = _abi.cq_cancel_handler(_on_question)


class _Thread(threading.local):
    """What this thread heard from the library since the call began."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.raised: BaseException | None = None
        self.has_signals = threading.current_thread() is threading.main_thread()
        lib.cq_set_warning_handler(_c_on_warning, None)
        if self.has_signals:
            lib.cq_set_cancel_handler(_c_on_question, None)


_thread = _Thread()


def call(function: Callable[..., int], *arguments: Any) -> None:
    """Calls a function that returns a status; a failure is raised as an Error. For work that may
    take long, warn, or call back."""
    previous = _interrupt.begin() if _thread.has_signals else None
    try:
        status = function(*arguments)
        error = last_error(status) if status else None
    finally:
        heard, _thread.warnings = _thread.warnings, []
        raised, _thread.raised = _thread.raised, None
        if previous is not None:
            _interrupt.end(previous)
    for message in heard:
        warnings.warn(message, CalqueWarning, stacklevel=_caller())
    if raised is not None:
        raise raised
    if error is not None:
        raise error


def check(status: int) -> None:
    """The same for what is over at once."""
    if status:
        raise last_error(status)


def callback_raised(error: BaseException) -> int:
    """Keeps what a callback raised until the call that it is in is over, which raises it again.
    Returns a status for the library to stop with."""
    if _thread.raised is None:
        _thread.raised = error
    return _abi.CQ_E_CANCELLED


_HERE = os.path.dirname(os.path.abspath(__file__))


def _caller() -> int:
    """How far up the first frame outside of the package is, seen from `call`."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and os.path.dirname(frame.f_code.co_filename).startswith(_HERE):
        level, frame = level + 1, frame.f_back
    return level


def texts(items: Sequence[str]) -> Any:
    """An array of C strings."""
    return (ctypes.c_char_p * len(items))(*(item.encode("utf-8", "surrogateescape")
                                            for item in items))


def handles(items: Sequence[ctypes.c_void_p | None]) -> Any:
    """An array of pointers."""
    return (ctypes.c_void_p * len(items))(*(item.value if item is not None else None
                                            for item in items))
