"""torch.onnx.utils."""
from ._export import export, is_in_onnx_export, select_model_mode_for_export
from ._symbolic import register_custom_op_symbolic, unregister_custom_op_symbolic
