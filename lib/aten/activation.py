"""Activations composed of other operators, and gradients of activations."""

import math
import torch

from calque import gradient, operator, regrid, size_hint, traits, wrap_dim
from aten.quantized_layers import on_grid


def dropout_mask(x, keep, features):
    """A mask of ones with probability keep and zeros otherwise, per element or, with features, per
    sample and channel."""
    shape = [1 if features and i > 1 else x.shape[i] for i in range(x.ndim)]
    return x.new_empty(shape).bernoulli(keep)


def check_dropout(p, x, features):
    assert p >= 0 and p <= 1, f"expected p between 0 and 1, got {p}"
    assert not features or x.ndim >= 2, f"expected at least 2 dimensions, got {x.ndim}"
    return p > 0 and size_hint(x.numel()) > 0


def dropped(x, p, features):
    if p == 1:
        return x * 0
    return x * (dropout_mask(x, 1 - p, features) / (1 - p))


def alpha_dropped(x, p, features):
    """Dropout that sets elements to the lowest value of SELU, -scale * alpha, instead of 0, and so
    preserves mean and variance."""
    if p == 1:
        return x * 0
    lowest = -1.7580993408473766
    a = 1 / math.sqrt((lowest * lowest * p + 1) * (1 - p))
    mask = dropout_mask(x, 1 - p, features)
    return (x * mask).add(1 - mask, alpha=lowest) * a + -lowest * p * a


@operator("aten::relu6(Tensor self) -> Tensor", of_views=True)
def relu6(self):
    """Min(max(x, 0), 6)."""
    return torch.ops.aten.hardtanh(self, 0, 6)


@operator("aten::log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)")
def log_sigmoid_forward(self):
    """Log_sigmoid, and exp(-|x|), which its gradient reads."""
    return torch.ops.aten.log_sigmoid(self), torch.exp(-self.abs()).detach()


@operator("aten::selu(Tensor self) -> Tensor")
def selu(self):
    """ELU with constants that preserve mean and variance.

    The constants of Klambauer et al., 2017, with the digits that PyTorch uses.
    """
    return torch.ops.aten.elu(self, 1.6732632423543772, 1.0507009873554805)


@operator("aten::celu(Tensor self, Scalar alpha=1.) -> Tensor")
def celu(self, alpha):
    """ELU with a continuous derivative for every alpha."""
    assert alpha != 0, "expected alpha other than 0"
    return torch.ops.aten.elu(self, float(alpha), 1.0, 1 / alpha)


@operator("aten::glu(Tensor self, int dim=-1) -> Tensor")
def glu(self, dim):
    """The first half times the sigmoid of the second half."""
    assert self.ndim > 0, "expected at least one dimension"
    d = wrap_dim(dim, self.ndim)
    n = self.shape[d]
    assert n % 2 == 0, f"expected an even size of dimension {d}, got {n}"
    return (
        torch.ops.aten.slice(self, d, 0, n // 2)
        * torch.ops.aten.slice(self, d, n // 2, n).sigmoid()
    )


@operator(
    "aten::rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, "
    "bool training=False, Generator? generator=None) -> Tensor",
    random=True,
)
def rrelu(self, lower, upper, training, generator):
    """Leaky ReLU, in training with random slopes."""
    if not training:
        return torch.ops.aten.leaky_relu(self, (lower + upper) / 2)
    return torch.where(self <= 0, self * torch.ops.aten.uniform(self, lower, upper), self)


@operator("aten::dropout(Tensor input, float p, bool train) -> Tensor", random=True, vmap="layer")
def dropout(input, p, train):
    """In training, random elements become 0."""
    works = check_dropout(p, input, False and train)
    return dropped(input, p, False) if works and train else input


@operator(
    "aten::native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)", random=True
)
def native_dropout(input, p, train):
    """Dropout, and the mask of the elements that it keeps; train=None stands for training."""
    assert p >= 0 and p <= 1, f"p is {p}, not between 0 and 1"
    if train is not None and not train:
        return input.clone(), torch.ones_like(input, dtype=torch.bool)
    assert input.is_floating_point(), f"{input.dtype} cannot hold the scaled elements"
    kept = dropout_mask(input, 1 - p, False).to(torch.bool)
    return input * kept * (0 if p == 1 else 1 / (1 - p)), kept


@operator("aten::feature_dropout(Tensor input, float p, bool train) -> Tensor", random=True)
def feature_dropout(input, p, train):
    """In training, random channels become 0."""
    works = check_dropout(p, input, True and train)
    return dropped(input, p, True) if works and train else input


@operator("aten::alpha_dropout(Tensor input, float p, bool train) -> Tensor", random=True)
def alpha_dropout(input, p, train):
    """Dropout for SELU."""
    works = check_dropout(p, input, False and train)
    return alpha_dropped(input, p, False) if works and train else input


@operator("aten::feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor", random=True)
def feature_alpha_dropout(input, p, train):
    """Channel dropout for SELU."""
    works = check_dropout(p, input, True and train)
    return alpha_dropped(input, p, True) if works and train else input


@operator(
    "quantized::hardswish(Tensor input, float output_scale, int output_zero_point) -> Tensor",
    of_views=True,
)
def quantized_hardswish(input, output_scale, output_zero_point):
    """Quantized hardswish."""
    return on_grid(input, torch.ops.aten.hardswish(input), output_scale, output_zero_point)


@operator(
    "quantized::elu(Tensor self, float output_scale, int output_zero_point, Scalar alpha=1, "
    "Scalar scale=1, Scalar input_scale=1) -> Tensor",
    of_views=True,
)
def quantized_elu(self, output_scale, output_zero_point, alpha, scale, input_scale):
    """Quantized elu."""
    return on_grid(
        self, torch.ops.aten.elu(self, alpha, scale, input_scale), output_scale, output_zero_point
    )


@operator("quantized::relu6(Tensor qx, bool inplace=False) -> Tensor", of_views=True)
def quantized_relu6(qx, inplace):
    """Quantized relu6."""
    return regrid(torch.ops.aten.relu6(qx), qx)


@gradient("aten::log")
def log_gradient(grad, self):
    return {"self": grad / self}


@gradient("aten::tanh")
def tanh_gradient(grad, result):
    return {"self": grad * (1 - result * result)}


@gradient("aten::leaky_relu")
def leaky_relu_gradient(grad, self, negative_slope):
    return {"self": torch.where(self > 0, grad, grad * negative_slope)}


@gradient("aten::prelu")
def prelu_gradient(grad, self, weight):
    """The weight has one element per channel of self, or a single one."""
    slope = weight.reshape(
        [self.shape[1] if i == 1 and weight.numel() > 1 else 1 for i in range(self.ndim)]
    )
    return {
        "self": torch.where(self > 0, grad, grad * slope),
        "weight": torch.where(self > 0, 0, self * grad)
        .sum_to_size(slope.shape)
        .reshape(weight.shape),
    }


@gradient("aten::elu")
def elu_gradient(grad, self, alpha, scale, input_scale):
    return {
        "self": torch.where(
            self <= 0,
            grad * (input_scale * (alpha * scale)) * torch.exp(self * input_scale),
            grad * scale,
        )
    }


@gradient("aten::gelu")
def gelu_gradient(grad, self, approximate):
    """The derivative of x times the normal distribution function, or of its approximation by
    tanh."""
    root = math.sqrt(2 / math.pi)
    if approximate == "tanh":
        t = torch.tanh(root * (self + 0.044715 * torch.pow(self, 3)))
        return {
            "self": grad
            * (
                0.5 * (1 + t)
                + 0.5 * self * (1 - torch.pow(t, 2)) * (root * (1 + 0.134145 * self * self))
            )
        }
    else:
        return {
            "self": grad
            * (
                0.5 * (1 + torch.erf(self * 0.7071067811865476))
                + self * (torch.exp(-0.5 * self * self) * 0.3989422804014327)
            )
        }


@operator(
    "aten::gelu_backward(Tensor grad_output, Tensor self, *, str approximate='none') -> Tensor"
)
def gelu_backward(grad_output, self, approximate):
    """Gradient of gelu."""
    return gelu_gradient(grad_output, self, approximate)["self"]


@gradient("aten::silu")
def silu_gradient(grad, self):
    return {"self": grad * (torch.sigmoid(self) * (1 + self * (1 - torch.sigmoid(self))))}


@gradient("aten::mish")
def mish_gradient(grad, self):
    return {
        "self": grad
        * (
            torch.tanh(torch.ops.aten.softplus(self))
            + self
            * torch.sigmoid(self)
            * (1 - torch.pow(torch.tanh(torch.ops.aten.softplus(self)), 2))
        )
    }


@gradient("aten::hardtanh")
def hardtanh_gradient(grad, self, min_val, max_val):
    return {"self": torch.where(torch.logical_or(self <= min_val, self >= max_val), 0, grad)}


@gradient("aten::hardswish")
def hardswish_gradient(grad, self):
    inside = torch.where(self <= 3, grad * (self / 3 + 0.5), grad)
    return {"self": torch.where(self < -3, 0, inside)}


@gradient("aten::hardsigmoid")
def hardsigmoid_gradient(grad, self):
    return {
        "self": torch.where(torch.logical_and(self > -3, self < 3), grad * 0.1666666716337204, 0)
    }


@gradient("aten::softplus")
def softplus_gradient(grad, self, beta, threshold):
    return {"self": torch.where(self * beta > threshold, grad, grad * torch.sigmoid(self * beta))}


@gradient("aten::threshold")
def threshold_gradient(grad, self, threshold):
    return {"self": torch.where(self <= threshold, 0, grad)}


@operator("aten::threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor")
def threshold_backward(grad_output, self, threshold):
    """Gradient of threshold."""
    return threshold_gradient(grad_output, self, threshold)["self"]


@gradient("aten::log_sigmoid")
def log_sigmoid_gradient(grad, self):
    return {"self": grad * torch.sigmoid(-self)}


@gradient("aten::softshrink")
@gradient("aten::hardshrink")
def softshrink_gradient(grad, self, lambd):
    return {"self": torch.where(torch.logical_and(self >= -lambd, self <= lambd), 0, grad)}


# ---- traits of operators whose rows are in C ----

traits("aten::softplus", cost="function", vmap="elementwise")
traits("aten::log", vmap="elementwise")
traits("aten::tanh", quantized="signed", vmap="elementwise")
traits("aten::silu", vmap="elementwise")
traits("aten::gelu", quantized="round", vmap="elementwise")
traits("aten::leaky_relu", quantized="round")
traits("aten::prelu", quantized="round")
traits("aten::hardtanh", quantized="round")
traits("aten::hardsigmoid", quantized="unit")
traits("aten::threshold", quantized="round")
traits("aten::relu6", quantized="round")
traits("aten::dropout", quantized="keep")
traits("aten::feature_dropout", quantized="keep")
traits("aten::sigmoid", quantized="unit")
traits("aten::relu", quantized="keep")
