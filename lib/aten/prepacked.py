"""Layers that were packed for XNNPACK."""

import torch

from calque import gradient, operator, traits
from aten.quantized_layers import conv_transpose_packed, linear_packed, on_grid


@operator(
    "quantized::linear(Tensor X, "
    "__torch__.torch.classes.quantized.LinearPackedParamsBase W_prepack, float Y_scale_i, "
    "int Y_zero_point_i) -> Tensor Y",
    of_views=True,
    cost="matrix_product",
)
def quantized_linear(X, W_prepack, Y_scale_i, Y_zero_point_i):
    """Quantized linear layer."""
    return on_grid(X, linear_packed(X, W_prepack), Y_scale_i, Y_zero_point_i)


@operator(
    "quantized::conv_transpose2d(Tensor qx, "
    "__torch__.torch.classes.quantized.Conv2dPackedParamsBase packed_weight, "
    "float output_scale, int output_zero_point) -> Tensor",
    of_views=True,
    cost="convolution",
)
def quantized_conv_transpose2d(qx, packed_weight, output_scale, output_zero_point):
    """Quantized convolution."""
    return on_grid(qx, conv_transpose_packed(qx, packed_weight), output_scale, output_zero_point)


@operator("aten::_add_relu.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
def _add_relu_Tensor(self, other, alpha):
    """Sum and relu."""
    return torch.relu(torch.add(self, other, alpha=alpha))


@operator("aten::_add_relu.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor")
def _add_relu_Scalar(self, other, alpha):
    """Sum with a number, and relu."""
    return torch.relu(torch.add(self, other, alpha))


@gradient("aten::relu")
def relu_gradient(grad, result):
    return {"self": torch.where(result <= 0, 0, grad)}


# ---- traits of operators whose rows are in C ----

traits("aten::relu", vmap="elementwise")
