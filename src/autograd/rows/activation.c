/* Activations, and what chooses between tensors element by element. */
#include "autograd/gradient.h"

const cq_gradient cq_gradients_activation[] = {
    { "aten::relu", .as = "self: where(result <= 0, 0, grad)" },
    { "aten::leaky_relu", .as = "self: where(self > 0, grad, grad * negative_slope)" },
    /* The weight lies along the channels of self; a single one fits everything. */
    { "aten::prelu", .as = "slope = weight.reshape([self.shape[1] if i == 1 and weight.numel() > 1 "
                           "else 1 for i in range(self.ndim)])\n"
                           "self: where(self > 0, grad, grad * slope)\n"
                           "weight: where(self > 0, 0, self * "
                           "grad).sum_to_size(slope.shape).reshape(weight.shape)" },
    { "aten::elu",
      .as = "self: where(self <= 0,"
            "grad * (input_scale * (alpha * scale)) * exp(self * input_scale), grad * scale)" },
    /* x times the integral of the normal distribution, or what tanh makes of it. */
    { "aten::gelu",
      .as = "root = math.sqrt(2 / math.pi)\n"
            "if approximate == 'tanh': t = tanh(root * (self + 0.044715 * pow(self, 3))); "
            "self: grad * (0.5 * (1 + t) + 0.5 * self * (1 - pow(t, 2)) * (root * (1 + 0.134145 * "
            "self * self)))\n"
            "else: self: grad * (0.5 * (1 + erf(self * 0.7071067811865476)) + "
            "self * (exp(-0.5 * self * self) * 0.3989422804014327))" },
    { "aten::silu", .as = "self: grad * (sigmoid(self) * (1 + self * (1 - sigmoid(self))))" },
    { "aten::mish", .as = "self: grad * (tanh(softplus(self)) +"
                          "self * sigmoid(self) * (1 - pow(tanh(softplus(self)), 2)))" },
    { "aten::hardtanh",
      .as = "self: where(logical_or(self <= min_val, self >= max_val), 0, grad)" },
    { "aten::hardswish",
      .as = "self: where(self < -3, 0, where(self <= 3, grad * (self / 3 + 0.5), grad))" },
    { "aten::hardsigmoid", /* PyTorch has its sixth in float32, whatever the tensor */
      .as = "self: where(logical_and(self > -3, self < 3), grad * 0.1666666716337204, 0)" },
    { "aten::softplus",
      .as = "self: where(self * beta > threshold, grad, grad * sigmoid(self * beta))" },
    { "aten::threshold", .as = "self: where(self <= threshold, 0, grad)" },
    { "aten::log_sigmoid", .as = "self: grad * sigmoid(-self)" },
    { "aten::softshrink",
      .as = "self: where(logical_and(self >= -lambd, self <= lambd), 0, grad)" },
    { "aten::hardshrink",
      .as = "self: where(logical_and(self >= -lambd, self <= lambd), 0, grad)" },
    { 0 },
};

const cq_gradient cq_gradients_compare[] = {
    { "aten::where.self",
      .as = "self: where(condition, grad, 0); other: where(condition, 0, grad)" },
    { "aten::where.ScalarOther", .as = "self: where(condition, grad, 0)" },
    { "aten::where.ScalarSelf", .as = "other: where(condition, 0, grad)" },
    { "aten::masked_fill.Scalar", .as = "self: masked_fill(grad, mask, 0)" },
    { "aten::masked_fill.Tensor",
      .as = "self: masked_fill(grad, mask, 0); value: sum(where(mask, grad, 0))" },
    { 0 },
};
