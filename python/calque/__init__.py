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
from ._export import export
from ._graph import Function, Graph, Initializers, Node, Value
from ._info import inspect
from ._lib import lib, text
from ._model import Finding, Model, load
from ._session import NodeArg, Session
from ._tensor import Tensor, as_tensor
from ._threads import get_threads, set_threads

__version__ = text(lib.cq_version_string())

__all__ = [
    "ArgumentError", "CalqueWarning", "Cancelled", "Error", "FileError", "Finding", "FormatError",
    "Function", "Graph", "Initializers", "InternalError", "InvalidModel", "Model", "Node", "NodeArg",
    "NotFound", "OutOfMemory", "ScriptError", "Session", "Tensor", "TypeMismatch",
    "UnsupportedError", "Value", "as_tensor", "export", "get_threads", "inspect", "load",
    "set_threads",
]
