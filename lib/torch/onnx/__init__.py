"""torch.onnx: exports of models by scripts (calque py), and symbolic functions of users.

In a model file, which `calque export` evaluates, nothing here writes a file.
"""
from . import symbolic_helper, utils
from ._export import (
    ONNXProgram, OperatorExportTypes, TrainingMode, export, export_to_pretty_string,
    is_in_onnx_export, select_model_mode_for_export)
from ._symbolic import register_custom_op_symbolic, unregister_custom_op_symbolic

producer_name = "calque"
