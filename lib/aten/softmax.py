"""Softmax and log-softmax."""

import math
import torch

from calque import gradient, operator, traits


@operator("aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", vmap="by_axes")
def _softmax(self, dim, half_to_float):
    """The internal operator of softmax."""
    return torch.softmax(self, dim, torch.float32 if half_to_float else None)


@operator("aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor")
def _log_softmax(self, dim, half_to_float):
    """The internal operator of log_softmax."""
    return torch.log_softmax(self, dim, torch.float32 if half_to_float else None)


@operator("aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor")
def _safe_softmax(self, dim, dtype):
    """Softmax, but 0 where all elements along the dimension are -inf.

    Such rows are replaced first, so that neither the forward nor the backward pass computes NaN.
    """
    hidden = (self == -math.inf).all(dim, True)
    return self.masked_fill(hidden, 0).softmax(dim, dtype).masked_fill(hidden, 0)


@operator(
    "aten::_softmax_backward_data(Tensor grad_output, Tensor output, int dim, "
    "ScalarType input_dtype) -> Tensor"
)
def _softmax_backward_data(grad_output, output, dim, input_dtype):
    """The gradient of softmax."""
    y = grad_output * output
    return (y - output * y.sum(dim, True)).to(input_dtype)


@operator(
    "aten::_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, "
    "ScalarType input_dtype) -> Tensor"
)
def _log_softmax_backward_data(grad_output, output, dim, input_dtype):
    """The gradient of log_softmax."""
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
