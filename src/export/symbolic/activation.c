/* Activations and dropout. Where ONNX Runtime has a function only in float32, doubles are
 * computed from its parts. */
#include "export/symbolic/arith.h"

/* One slope, or one per channel, which is axis 1; PRelu lines them up from the right. */
#define PRELU                                                                                      \
    "n = size(weight, -1) if rank(weight) > 0 else 1;"                                             \
    "w = Reshape(weight, [n if i == 0 else 1 for i in range(rank(self) - 1)])"                     \
    " if rank(self) > 2 and n != 1 else Reshape(weight, []) if rank(self) == 0 else weight;"       \
    "PRelu(self, w) if fits('PRelu', self) else"                                                   \
    " Relu(self) - Relu(-self) * w if opset() < 9 else Where(Greater(self, 0), self, self * w)"

/* log(1 + exp(x)) without overflow: max(x, 0) + log(1 + exp(-|x|)) */
#define SOFTPLUS(x)                                                                                \
    "(Softplus(" x ") if fits('Softplus', " x ") else Relu(" x ") + Log(Exp(-Abs(" x ")) + 1))"

/* Of other dtypes than float32 ONNX Runtime has no Gelu and no Swish. */
#define GELU(newer)                                                                                \
    "inner = self / 1.41421356237309504880;"                                                       \
    "cubed = self * (self * self) * 0.044715;"                                                     \
    "y = erf(inner) if approximate == 'none'"                                                      \
    " else Tanh((self + cubed) * 0.79788456080286535588);"                                         \
    "exact = self * 0.5 * erfc_of_double(-inner);" newer                                           \
    "exact if approximate == 'none' and dtype(self) == 'float64' and opset() >= 9 else"            \
    " self * (y + 1) * 0.5"

#define HARD_SIGMOID                                                                               \
    "(HardSigmoid<alpha = 1 / 6, beta = 0.5>(self) if fits('HardSigmoid', self)"                   \
    " else Clip(self + 3, 0, 6) * (1 / 6))"

#define LEAKY_RELU "LeakyRelu<alpha = negative_slope>(self)"

/* In training. Until opset 11 ONNX has no other than the one for inference, which is the
 * identity; that a model was exported for training is then seen by its being there. */
#define DROPOUT(node)                                                                              \
    "input if not train or p == 0 else"                                                            \
    " no('a ratio of 1 is more than ONNX allows') if p == 1 else " node

/* Those that are composed decline what they cannot, and are decomposed. */
const cq_symbolic cq_symbolics_activation[] = {
    { "aten::relu", 7,
      .each = "Relu(self) if is_float(self) or fits('Relu', self) else Clip(self, 0, None)" },
    { "aten::hardtanh", 7, .each = "Clip(self, min_val, max_val)" },
    { "aten::leaky_relu", 7,
      .each = LEAKY_RELU " if fits('LeakyRelu', self) else"
                         " Relu(self) - Relu(-self) * negative_slope" },
    { "aten::leaky_relu", 9,
      .each = LEAKY_RELU " if fits('LeakyRelu', self)"
                         " else Where(Greater(self, 0), self, self * negative_slope)" },
    { "aten::prelu", 7, .each = PRELU },
    { "aten::elu", 7,
      .each =
          "Elu<alpha = alpha>(self) if scale == 1 and input_scale == 1 and fits('Elu', self)"
          " else Relu(self) * scale + (Exp(-Relu(-self) * input_scale) + -1) * (alpha * scale)" },
    { "aten::selu", 7,
      .each = "Selu(self) if fits('Selu', self) else no('ONNX Runtime has no Selu of doubles')" },
    { "aten::celu", 7, .as = "no('Celu came with opset 12', 12)" },
    { "aten::celu", 12,
      .each = "Celu<alpha = alpha>(self) if dtype(self) != 'float64'"
              " else no('ONNX Runtime has no Celu of doubles')" },
    { "aten::gelu", 7, .each = GELU("") },
    { "aten::gelu", 20,
      .each = GELU("Gelu<approximate = approximate>(self) if dtype(self) == 'float32' else ") },
    { "aten::silu", 7, .each = "self * Sigmoid(self)" },
    { "aten::silu", 24,
      .each = "Swish(self) if dtype(self) == 'float32' else self * Sigmoid(self)" },
    { "aten::mish", 7, .each = "self * Tanh(" SOFTPLUS("self") ")" },
    /* Past the threshold it is x. At the usual one, 20, the difference is below rounding. */
    { "aten::softplus", 7,
      .each = "inner = self * beta;"
              "y = " SOFTPLUS(
                  "inner") " / beta;"
                           "Where(Greater(inner, threshold), self, y) if threshold < 20 else y" },
    { "aten::log_sigmoid", 7, .each = "x = -self; -" SOFTPLUS("x") },
    { "aten::hardsigmoid", 7, .each = HARD_SIGMOID },
    { "aten::hardswish", 7, .each = "self * " HARD_SIGMOID },
    { "aten::hardswish", 14,
      .each = "HardSwish(self) if fits('HardSwish', self) else self * " HARD_SIGMOID },
    { "aten::threshold", 7, .each = "Where(LessOrEqual(self, threshold), value, self)" },
    /* max(x - lambd, 0) - max(-x - lambd, 0); NaN becomes 0. */
    { "aten::softshrink", 7,
      .each = "y = Relu(self + -lambd) - Relu(-self + -lambd); Where(IsNaN(self), 0, y)" },
    /* The attributes of Shrink are float32. */
    { "aten::softshrink", 9,
      .each = "y = Relu(self + -lambd) - Relu(-self + -lambd);"
              "Where(IsNaN(self), 0, y) if dtype(self) == 'float64' else"
              " Shrink<lambd = lambd, bias = lambd>(self)" },
    { "aten::hardshrink", 7, .each = "Where(LessOrEqual(Abs(self), lambd), 0, self)" },
    { "aten::dropout", 7, .each = DROPOUT("Dropout<ratio = p>(input)") },
    { "aten::dropout", 12,
      .each = DROPOUT("Dropout(input, cast(p, 'float32'), cast(True, 'bool'))") },
    { 0 },
};
