"""Exports PyTorch models to ONNX without PyTorch, and reads, checks, changes and runs ONNX models.

    calque.export("model.pt", "model.onnx", inputs=[x])     TorchScript or a .pt2, as ONNX
    calque.load("model.onnx")                               a Model: look into it, check it, change it
    calque.Session("model.onnx").run(None, {"x": x})        run it, as onnxruntime does
    calque.run("model.pt2", [x])                            run a file of any kind once
    calque.inspect("model.pt")                              what is in a file
    calque.onnx.export(module, args, "model.onnx")          a model in PyTorch; as torch.onnx.export

help(calque.export) explains the options. Failures are calque.Error, with a message, a location and a
hint. `python -m calque` is the command line.
"""
from __future__ import annotations

from ._audit import Audit, AuditFinding, audit
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
    VerificationError,
)
from ._export import export
from ._graph import Function, Graph, Initializers, Node, Value
from ._info import Info, inspect
from ._lib import lib, text
from ._model import Finding, Model, Proof, load
from ._providers import SessionOptions
from ._run import Program, run
from ._session import ModelMetadata, NodeArg, Session
from ._tensor import Tensor, as_tensor
from ._threads import get_threads, set_threads
from ._verify import Verified
from ._view import view

__version__ = text(lib.cq_version_string())

__all__ = [
    "ArgumentError", "Audit", "AuditFinding", "CalqueWarning", "Cancelled", "Error", "FileError", "Finding", "FormatError",
    "Function", "Graph", "Info", "Initializers", "InternalError", "InvalidModel", "Model", "ModelMetadata", "Node", "NodeArg", "Proof",
    "NotFound", "OutOfMemory", "Program", "ScriptError", "Session", "SessionOptions", "Tensor", "TypeMismatch",
    "UnsupportedError", "Value", "VerificationError", "Verified", "as_tensor", "audit", "export", "get_threads", "inspect", "load", "run",
    "set_threads", "view",
]
