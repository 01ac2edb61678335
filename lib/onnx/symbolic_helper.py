"""The helpers of torch.onnx.symbolic_helper, for functions that are written for PyTorch.

A file of a user may call them without an import. Arguments that are numbers in the model are plain
numbers here, and a dynamic size is None in a list of sizes.
"""

import torch

from calque.onnx import *


# ---- numbers ----


def _scalar(x):
    return number(x)


def _parse_arg(value, desc):
    return _get_const(value, desc, None)


def _get_const(value, desc, arg_name):
    """The value of an argument, which must be known: "i", "f", "b", "s", "is", "fs" or "v"."""
    if desc == "i":
        return int(number(value))
    if desc == "f":
        return float(number(value))
    if desc == "b":
        return bool(number(value))
    return value


def _maybe_get_const(value, desc):
    if is_tensor(value) and not is_known(value):
        return value
    return _get_const(value, desc, None)


def _maybe_get_scalar(value):
    return number(value) if is_known(value) else value


def _is_value(x):
    return is_tensor(x)


def _is_constant(x):
    return is_known(x)


def _is_none(x):
    return x is None


def _is_fp(x):
    return is_float(x)


def _generate_wrapped_number(g, scalar):
    return scalar


# ---- types ----


def _get_tensor_rank(x):
    return x.ndim


def _get_tensor_sizes(x, allow_nonstatic=True):
    return [n if is_known(n) else None for n in x.shape]


def _get_tensor_dim_size(x, dim):
    n = x.size(dim)
    return n if is_known(n) else None


def _if_scalar_type_as(x, tensor):
    return cast(x, tensor.dtype)


def cast_pytorch_to_onnx():
    """ONNX's dtype numbers, by the names of TorchScript's types."""
    return {
        "Byte": 2,
        "Char": 3,
        "Short": 5,
        "Int": 6,
        "Long": 7,
        "Half": 10,
        "Float": 1,
        "Double": 11,
        "ComplexFloat": 14,
        "ComplexDouble": 15,
        "Bool": 9,
        "BFloat16": 16,
    }


def scalar_type_to_onnx():
    """The same, by PyTorch's number of the dtype."""
    return [2, 3, 5, 6, 7, 10, 1, 11, None, 14, 15, 9, None, None, None, 16]


# ---- declined calls ----


def _unimplemented(op, msg, value=None):
    return unsupported(f"{op}, {msg}")


def _onnx_unsupported(op_name, value=None):
    return unsupported(f"{op_name} is not supported")


def _onnx_opset_unsupported(op_name, current_opset, supported_opset, value=None):
    return unsupported(f"{op_name} requires opset {supported_opset}", supported_opset)


def _onnx_opset_unsupported_detailed(op_name, current_opset, supported_opset, reason, value=None):
    return unsupported(f"{op_name} requires opset {supported_opset}: {reason}", supported_opset)


# ---- operators whose form depends on the opset ----


def _unsqueeze_helper(g, input, axes_i):
    return Unsqueeze(input, axes_i)


def _squeeze_helper(g, input, axes_i):
    return Squeeze(input, axes_i)


def _reducesum_helper(g, input, axes_i=None, keepdims_i=1, noop_with_empty_axes_i=0):
    return ReduceSum(input, axes_i, keepdims=keepdims_i)


def _reshape_helper(g, input, shape, allowzero=0):
    return Reshape(input, shape)


def _slice_helper(g, input, axes, starts, ends):
    y = input
    for i in range(len(axes)):
        y = slice(y, axes[i], starts[i], ends[i])
    return y


def _size_helper(g, self, dim):
    return cast(self.size(dim), torch.int64)
