"""torch.onnx.symbolic_helper: what symbolic functions of users call."""
from ._graph import Value
import torch


def _get_const(value, desc, arg_name):
    """The plain value of an argument: i and f a number, is and fs a list, s a text, t a tensor."""
    if not isinstance(value, Value):
        return value
    known = value.known()
    if desc == "v":
        return value
    if known is None and desc != "none" and not value.node().mustBeNone():
        raise RuntimeError(f"ONNX symbolic expected a constant value of the {arg_name} argument")
    if isinstance(known, torch.Tensor) and desc != "t":
        known = known.tolist()
    if known is None:
        return None
    if desc == "i":
        return int(known)
    if desc == "f":
        return float(known)
    if desc == "b":
        return bool(known)
    if desc in ("is", "fs"):
        items = known if isinstance(known, (list, tuple)) else [known]
        return [_get_const(item, desc[0], arg_name) for item in items]
    if desc == "t":
        return known if isinstance(known, torch.Tensor) else torch.tensor(known)
    return known


def parse_args(*descriptors):
    """Converts the arguments of a symbolic function, one descriptor for each after g."""

    def decorate(function):
        def parsed(g, *args, **kwargs):
            if not hasattr(g, "op"):  # calque export --symbolics passes plain numbers already
                return function(g, *args, **kwargs)
            plain = [_get_const(arg, desc, str(i))
                     for i, (arg, desc) in enumerate(zip(args, descriptors))]
            return function(g, *plain, *args[len(descriptors):], **kwargs)

        return parsed

    return decorate


def _maybe_get_const(value, desc):
    if isinstance(value, Value) and value.known() is not None:
        return _get_const(value, desc, "")
    return value


def _maybe_get_scalar(value):
    known = value.known() if isinstance(value, Value) else value
    return known if isinstance(known, (int, float, bool)) else value


def _is_value(x):
    return isinstance(x, Value)


def _is_constant(value):
    return not isinstance(value, Value) or value.known() is not None


def _is_none(x):
    return x is None or (isinstance(x, Value) and x.node().mustBeNone())


def _is_tensor(x):
    return isinstance(x, Value) and x.type().kind() == "TensorType"


def _unpack_list(list_value):
    return list_value.node_inputs() if isinstance(list_value, Value) else list(list_value)


def _get_tensor_rank(x):
    return x.type().dim() if _is_tensor(x) else None


def _get_tensor_sizes(x, allow_nonstatic=True):
    return x.type().sizes() if _is_tensor(x) else None


def _get_tensor_dim_size(x, dim):
    sizes = _get_tensor_sizes(x)
    return None if sizes is None else sizes[dim]


def _unimplemented(op, msg, value=None):
    raise NotImplementedError(f"ONNX export of {op} failed: {msg}")


def _onnx_unsupported(op_name, value=None):
    raise NotImplementedError(f"Unsupported: ONNX export of operator {op_name}")


def _onnx_opset_unsupported(op_name, current_opset, supported_opset, value=None):
    raise NotImplementedError(f"Unsupported: ONNX export of {op_name} in opset {current_opset}. "
                              f"Please try opset version {supported_opset}.")
