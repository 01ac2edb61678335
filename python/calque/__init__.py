"""PyTorch models carried over to ONNX, and ONNX models read, checked, changed and run."""
from __future__ import annotations

from ._errors import (
    ArgumentError,
    CalqueWarning,
    Cancelled,
    Error,
    FileError,
    FormatError,
    InternalError,
    InvalidModel,
    NotFound,
    OutOfMemory,
    ScriptError,
    TypeMismatch,
    UnsupportedError,
)
from ._lib import lib, text
from ._tensor import Tensor, as_tensor

__version__ = text(lib.cq_version_string())

__all__ = [
    "ArgumentError", "CalqueWarning", "Cancelled", "Error", "FileError", "FormatError",
    "InternalError", "InvalidModel", "NotFound", "OutOfMemory", "ScriptError", "Tensor",
    "TypeMismatch", "UnsupportedError", "as_tensor",
]
