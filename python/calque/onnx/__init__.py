"""torch.onnx's functions, with calque behind them. Change the import, keep the program:

    import calque.onnx

    calque.onnx.export(model, args, "model.onnx")

docs/python.md has a table of what differs.
"""
from __future__ import annotations

from torch.onnx import JitScalarType, TensorProtoDataType

from . import errors, operators, symbolic_helper, utils
from ._export import export, export_to_pretty_string, select_model_mode_for_export
from ._onnx_program import ONNXProgram
from ._state import (
    OperatorExportTypes,
    TrainingMode,
    disable_log,
    enable_log,
    is_in_onnx_export,
    is_onnx_log_enabled,
)
from ._symbolic import (
    SymbolicContext,
    register_custom_op_symbolic,
    unregister_custom_op_symbolic,
)

from .._lib import lib as _lib, text as _text
from .errors import CheckerError, OnnxExporterError

producer_name = "calque"
producer_version = _text(_lib.cq_version_string())

__all__ = [
    "CheckerError", "JitScalarType", "ONNXProgram", "OnnxExporterError", "OperatorExportTypes",
    "SymbolicContext", "TensorProtoDataType", "TrainingMode", "disable_log", "enable_log", "errors",
    "export", "export_to_pretty_string", "is_in_onnx_export", "is_onnx_log_enabled", "operators",
    "producer_name", "producer_version", "register_custom_op_symbolic", "select_model_mode_for_export", "symbolic_helper",
    "unregister_custom_op_symbolic", "utils",
]
