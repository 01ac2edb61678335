"""Softmax and log-softmax."""

import math
import torch

from calque import gradient, operator, traits


@operator("aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", vmap="by_axes")
def _softmax(self, dim, half_to_float):
    """Softmax under its inner name."""
    return torch.softmax(self, dim, torch.float32 if half_to_float else None)


@operator("aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor")
def _log_softmax(self, dim, half_to_float):
    """Log_softmax under its inner name."""
    return torch.log_softmax(self, dim, torch.float32 if half_to_float else None)


@operator("aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor")
def _safe_softmax(self, dim, dtype):
    """Softmax, but 0 where all along the dimension is -inf.

    Rows that are -inf throughout are replaced first, so that there is no NaN in the forward and the
    backward pass.
    """
    hidden = (self == -math.inf).all(dim, True)
    return self.masked_fill(hidden, 0).softmax(dim, dtype).masked_fill(hidden, 0)


@operator(
    "aten::_softmax_backward_data(Tensor grad_output, Tensor output, int dim, "
    "ScalarType input_dtype) -> Tensor"
)
def _softmax_backward_data(grad_output, output, dim, input_dtype):
    """The gradient of the argument of a softmax, from that of its result."""
    y = grad_output * output
    return (y - output * y.sum(dim, True)).to(input_dtype)


@operator(
    "aten::_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, "
    "ScalarType input_dtype) -> Tensor"
)
def _log_softmax_backward_data(grad_output, output, dim, input_dtype):
    """The gradient of the argument of a log_softmax, from that of its result."""
    return (grad_output - output.exp() * grad_output.sum(dim, True)).to(input_dtype)


@gradient("aten::softmax.int")
def softmax_int_gradient(grad, result, dim):
    return {"self": (grad - torch.sum(grad * result, dim, True)) * result}


@gradient("aten::log_softmax.int")
def log_softmax_int_gradient(grad, result, dim):
    return {"self": grad - torch.exp(result) * torch.sum(grad, dim, True)}


# ---- traits of operators whose rows are in C ----

traits("aten::softmax.int", vmap="by_axes")
traits("aten::log_softmax.int", vmap="by_axes")
