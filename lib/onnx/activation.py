"""Activations and dropout.

Where ONNX Runtime has a function only in float32, doubles are computed from its parts. If a
function of a composed operator declines, the operator is decomposed.
"""

import math
import torch

from calque.onnx import *
from onnx.common import erf, erfc_of_double


@symbolic("aten::relu", opset=7, promote=True)
def relu(self):
    return Relu(self) if is_float(self) or fits("Relu", self) else Clip(self, 0, None)


@symbolic("aten::hardtanh", opset=7, promote=True)
def hardtanh(self, min_val, max_val):
    return Clip(self, min_val, max_val)


@symbolic("aten::leaky_relu", opset=7, promote=True)
def leaky_relu(self, negative_slope):
    if fits("LeakyRelu", self):
        return LeakyRelu(self, alpha=negative_slope)
    if opset() < 9:
        return Relu(self) - Relu(-self) * negative_slope
    return Where(Greater(self, 0), self, self * negative_slope)


@symbolic("aten::prelu", opset=7, promote=True)
def prelu(self, weight):
    """One slope, or one per channel (axis 1); PRelu broadcasts slopes from the last axis."""
    n = weight.size(-1) if weight.ndim > 0 else 1
    if self.ndim > 2 and n != 1:
        slope_shape = [n if i == 0 else 1 for i in range(self.ndim - 1)]
    else:
        slope_shape = [] if self.ndim == 0 else None
    if fits("PRelu", self):
        return PRelu(self, weight if slope_shape is None else Reshape(weight, slope_shape))
    if opset() < 9:
        positive = Relu(self)
        negative = Relu(-self)
        w = weight if slope_shape is None else Reshape(weight, slope_shape)
        return positive - negative * w
    is_positive = Greater(self, 0)
    w = weight if slope_shape is None else Reshape(weight, slope_shape)
    return Where(is_positive, self, self * w)


@symbolic("aten::elu", opset=7, promote=True)
def elu(self, alpha, scale, input_scale):
    if scale == 1 and input_scale == 1 and fits("Elu", self):
        return Elu(self, alpha=alpha)
    return Relu(self) * scale + (Exp(-Relu(-self) * input_scale) + -1) * (alpha * scale)


@symbolic("aten::selu", opset=7, promote=True)
def selu(self):
    return Selu(self) if fits("Selu", self) else unsupported("ONNX Runtime has no Selu for float64")


@symbolic("aten::celu", opset=7)
def celu(self):
    return unsupported("Celu requires opset 12", 12)


@symbolic("aten::celu", opset=12, promote=True)
def celu_12(self, alpha):
    if self.dtype == torch.float64:
        return unsupported("ONNX Runtime has no Celu for float64")
    return Celu(self, alpha=alpha)


@symbolic("aten::gelu", opset=7, promote=True)
def gelu(self, approximate):
    """ONNX Runtime has Gelu, of opset 20, for float32 only."""
    if opset() >= 20 and self.dtype == torch.float32:
        return Gelu(self, approximate=approximate)
    if approximate == "none" and self.dtype == torch.float64 and opset() >= 9:
        return self * 0.5 * erfc_of_double(-(self / math.sqrt(2)))
    if approximate == "none":
        y = erf(self / math.sqrt(2))
    else:
        y = Tanh((self + self * (self * self) * 0.044715) * 0.79788456080286535588)
    return self * (y + 1) * 0.5


@symbolic("aten::silu", opset=7, promote=True)
def silu(self):
    """ONNX Runtime has Swish, of opset 24, for float32 only."""
    if opset() >= 24 and self.dtype == torch.float32:
        return Swish(self)
    return self * Sigmoid(self)


def softplus_of(x):
    """log(1 + exp(x)) without overflow: max(x, 0) + log(1 + exp(-|x|))"""
    return Softplus(x) if fits("Softplus", x) else Relu(x) + Log(Exp(-Abs(x)) + 1)


@symbolic("aten::mish", opset=7, promote=True)
def mish(self):
    return self * Tanh(softplus_of(self))


@symbolic("aten::softplus", opset=7, promote=True)
def softplus(self, beta, threshold):
    """Above the threshold the result is x. For the default, 20, the difference is below
    rounding."""
    inner = self * beta
    if threshold >= 20:
        return softplus_of(inner) / beta
    return Where(Greater(inner, threshold), self, softplus_of(inner) / beta)


@symbolic("aten::log_sigmoid", opset=7, promote=True)
def log_sigmoid(self):
    return -softplus_of(-self)


@symbolic("aten::hardsigmoid", opset=7, promote=True)
def hardsigmoid(self):
    if fits("HardSigmoid", self):
        return HardSigmoid(self, alpha=1 / 6, beta=0.5)
    return Clip(self + 3, 0, 6) * (1 / 6)


@symbolic("aten::hardswish", opset=7, promote=True)
def hardswish(self):
    if opset() >= 14 and fits("HardSwish", self):
        return HardSwish(self)
    return self * hardsigmoid(self)


@symbolic("aten::threshold", opset=7, promote=True)
def threshold(self, threshold, value):
    return Where(LessOrEqual(self, threshold), value, self)


@symbolic("aten::softshrink", opset=7, promote=True)
def softshrink(self, lambd):
    """max(x - lambd, 0) - max(-x - lambd, 0); NaN becomes 0. Shrink has float32 attributes."""
    if opset() >= 9 and self.dtype != torch.float64:
        return Shrink(self, lambd=lambd, bias=lambd)
    is_nan = IsNaN(self)
    y = Relu(self + -lambd) - Relu(-self + -lambd)
    return Where(is_nan, 0, y)


@symbolic("aten::hardshrink", opset=7, promote=True)
def hardshrink(self, lambd):
    return Where(LessOrEqual(Abs(self), lambd), 0, self)


@symbolic("aten::dropout", opset=7, promote=True)
def dropout(input, p, train):
    """Dropout in training.

    Until opset 11 ONNX only has Dropout for inference, the identity; the node then only shows that
    the model was exported for training.
    """
    if not train or p == 0:
        return input
    if p == 1:
        return unsupported("ONNX requires a ratio below 1")
    if opset() < 12:
        return Dropout(input, ratio=p)
    return Dropout(input, cast(p, torch.float32), cast(True, torch.bool))
