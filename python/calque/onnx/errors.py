"""The names that torch.onnx has for what goes wrong."""
from __future__ import annotations

from .._errors import Error as OnnxExporterError
from .._errors import InvalidModel as CheckerError
from .._errors import UnsupportedError as UnsupportedOperatorError

__all__ = ["CheckerError", "OnnxExporterError", "UnsupportedOperatorError"]
