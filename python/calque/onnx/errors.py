"""The names of torch.onnx for errors."""
from __future__ import annotations

from typing import Any

from .._errors import CalqueWarning as OnnxExporterWarning
from .._errors import Error as OnnxExporterError
from .._errors import InvalidModel as CheckerError
from .._errors import UnsupportedError as UnsupportedOperatorError

__all__ = ["CheckerError", "OnnxExporterError", "OnnxExporterWarning", "SymbolicValueError",
           "UnsupportedOperatorError"]


class SymbolicValueError(OnnxExporterError, ValueError):
    """For symbolic functions: an argument that they cannot do with."""

    def __init__(self, msg: str, value: Any) -> None:
        super().__init__(f"{msg} (value: {value})")
