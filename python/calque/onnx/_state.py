"""What an export that is under way knows: that it is, for which opset, and its arguments' words."""
from __future__ import annotations

import contextlib
import importlib
import threading
from typing import Any, Iterator

from torch.onnx import OperatorExportTypes, TrainingMode

from .. import _abi, _words

# PyTorch's own flag is where its release has it; models ask that one, too.
_GLOBALS = ("torch.onnx._globals", "torch.onnx._internal.torchscript_exporter._globals")


class _Export(threading.local):
    opset: int | None = None
    reason: str = ""  # why a symbolic function made nothing


_is_log_enabled = False


_export = _Export()


def is_in_onnx_export() -> bool:
    """Whether a model is being exported: true inside of the forward that an export calls.

    >>> import calque.onnx
    >>> calque.onnx.is_in_onnx_export()
    False
    """
    return _export.opset is not None


def note_reason(reason: str) -> None:
    """Why the symbolic function that is being called makes nothing."""
    _export.reason = reason


def take_reason() -> str:
    reason, _export.reason = _export.reason, ""
    return reason


def enable_log() -> None:
    """From now on exports print the graph, as with verbose=True.

    >>> import torch, calque.onnx
    >>> calque.onnx.enable_log()
    >>> model = calque.onnx.export(torch.nn.ReLU(), torch.ones(2), input_names=["x"])
    graph(%x : Float(2)) {
      %output_0 : Float(2) = onnx::Relu(%x), scope: ReLU # ...
      return (%output_0);
    }
    >>> calque.onnx.disable_log()
    """
    global _is_log_enabled
    _is_log_enabled = True


def disable_log() -> None:
    """Exports print no graph any more.

    >>> import torch, calque.onnx
    >>> calque.onnx.disable_log()
    >>> model = calque.onnx.export(torch.nn.ReLU(), torch.ones(2))
    """
    global _is_log_enabled
    _is_log_enabled = False


def is_onnx_log_enabled() -> bool:
    """Whether exports print the graph.

    >>> import calque.onnx
    >>> calque.onnx.is_onnx_log_enabled()
    False
    """
    return _is_log_enabled


def _pytorchs() -> Any:
    for name in _GLOBALS:
        try:
            return importlib.import_module(name).GLOBALS
        except (ImportError, AttributeError):
            continue
    return None


@contextlib.contextmanager
def exporting(opset: int) -> Iterator[None]:
    """In this context, torch.onnx.is_in_onnx_export() is true."""
    theirs, before = _pytorchs(), _export.opset
    their_before = theirs.in_onnx_export if theirs else False
    _export.opset = opset
    if theirs:
        theirs.in_onnx_export = True
    try:
        with _words.of_torch():
            yield
    finally:
        _export.opset = before
        if theirs:
            theirs.in_onnx_export = their_before


_OPERATORS = {
    "ONNX": _abi.CQ_OPERATORS_ONNX,
    "ONNX_ATEN": _abi.CQ_OPERATORS_ONNX_ATEN,
    "ONNX_ATEN_FALLBACK": _abi.CQ_OPERATORS_ATEN_FALLBACK,
    "ONNX_FALLTHROUGH": _abi.CQ_OPERATORS_ONNX_FALLTHROUGH,
}


def operators_of(kind: Any) -> int:
    """The library's constant for a torch.onnx.OperatorExportTypes."""
    return _OPERATORS[kind.name if hasattr(kind, "name") else str(kind)]


def mode_of(mode: Any) -> TrainingMode:
    """A torch.onnx.TrainingMode; booleans are what older programs have."""
    if mode is None or mode is False:
        return TrainingMode.EVAL
    if mode is True:
        return TrainingMode.TRAINING
    if not isinstance(mode, TrainingMode):
        raise TypeError(f"training is a TrainingMode, not {mode!r}")
    return mode


__all__ = ["OperatorExportTypes", "TrainingMode", "disable_log", "enable_log", "exporting",
           "is_in_onnx_export", "is_onnx_log_enabled", "mode_of", "note_reason", "operators_of",
           "take_reason"]
