"""The names of torch.onnx.utils that programs use."""
from __future__ import annotations

from ._export import (
    export,
    export_to_pretty_string,
    select_model_mode_for_export,
    unconvertible_ops,
)
from ._state import is_in_onnx_export
from ._symbolic import register_custom_op_symbolic, unregister_custom_op_symbolic

__all__ = ["export", "export_to_pretty_string", "is_in_onnx_export",
           "register_custom_op_symbolic", "select_model_mode_for_export", "unconvertible_ops",
           "unregister_custom_op_symbolic"]
