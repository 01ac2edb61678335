"""torch.onnx: what model files ask about an export. Exporting is the command calque export."""


class OperatorExportTypes:
    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3


class TrainingMode:
    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


def is_in_onnx_export():
    """A model file is evaluated in order to export it."""
    return True


def export(*args, **kwargs):
    raise NotImplementedError("torch.onnx.export is not implemented inside of a model file; "
                              "run calque export FILE.py --entry 'Net()' --input 1x3x224x224")


def register_custom_op_symbolic(symbolic_name, symbolic_fn, opset_version):
    if symbolic_name.startswith("torchvision::"):
        return  # torchvision registers its operators at import; calque has its own functions
    raise NotImplementedError("torch.onnx.register_custom_op_symbolic is not implemented; "
                              "pass the function by calque export --symbolics FILE.py")
