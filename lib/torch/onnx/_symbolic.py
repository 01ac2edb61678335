"""Symbolic functions of users."""
from calque import has_host, host
from ._graph import build


def _checked(name):
    parts = name.split("::")
    domain, operator = parts[0], parts[-1]
    if len(parts) != 2 or not operator or not (operator[0].isalpha() or operator[0] == "_"):
        raise ValueError(f"Failed to register operator {name}. The symbolic name must match the "
                         "format domain::name, and should start with a letter and contain only "
                         "alphanumerical characters")
    if domain == "onnx":
        raise ValueError(f"Failed to register operator {name}. onnx domain cannot be modified.")
    return "aten" + name if not domain else name


def register_custom_op_symbolic(symbolic_name, symbolic_fn, opset_version):
    """From that opset on, the operator is exported by symbolic_fn(g, *arguments)."""
    name = _checked(symbolic_name)
    if not has_host():
        if name.startswith("torchvision::"):
            return  # torchvision registers its operators at import; calque has its own functions
        raise NotImplementedError("torch.onnx.register_custom_op_symbolic is for scripts that "
                                  "calque py runs; calque export has --symbolics FILE.py")
    host("register", name, opset_version, lambda: build(symbolic_fn))


def unregister_custom_op_symbolic(symbolic_name, opset_version):
    if has_host():
        host("unregister", _checked(symbolic_name), opset_version)
