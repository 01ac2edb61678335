/* Functions of one number. Those that ONNX has only since opset 9, or that ONNX Runtime has
 * only in float32, are put together from others when need be. */
#include "export/symbolic.h"

/* The operator if it takes the dtype as it is, or else what it is made of. */
#define OR(op, parts) op "(self) if fits('" op "', self) else " parts

const cq_symbolic cq_symbolics_functions[] = {
    { "aten::neg", 7, .op = "Neg" },
    { "aten::abs", 7, .op = "Abs" },
    { "aten::sqrt", 7, .op = "Sqrt" },
    { "aten::rsqrt", 7, .each = "Reciprocal(Sqrt(self))" },
    { "aten::exp", 7, .op = "Exp" },
    { "aten::exp2", 7, .each = "Pow(2, self)" },
    { "aten::expm1", 7, .each = "Exp(self) + -1" },
    { "aten::log", 7, .op = "Log" },
    { "aten::log2", 7, .each = "Log(self) * 1.44269504088896340736" },
    { "aten::log10", 7, .each = "Log(self) * 0.43429448190325182765" },
    { "aten::log1p", 7, .each = "Log(self + 1)" },
    { "aten::sin", 7, .op = "Sin" },
    { "aten::cos", 7, .op = "Cos" },
    { "aten::tan", 7, .each = OR("Tan", "Sin(self) / Cos(self)") },
    { "aten::asin", 7, .op = "Asin" },
    { "aten::acos", 7, .op = "Acos" },
    { "aten::atan", 7, .op = "Atan" },
    { "aten::sinh", 7, .each = OR("Sinh", "(Exp(self) - Exp(-self)) * 0.5") },
    { "aten::cosh", 7, .each = OR("Cosh", "(Exp(self) + Exp(-self)) * 0.5") },
    { "aten::tanh", 7, .op = "Tanh" },
    /* From the positive side no digits cancel. */
    { "aten::asinh", 7,
      .each = OR("Asinh", "Sign(self) * Log(Abs(self) + Sqrt(self * self + 1))") },
    /* sqrt(x - 1) * sqrt(x + 1) is NaN below 1, as it should be. */
    { "aten::acosh", 7, .each = OR("Acosh", "Log(self + Sqrt(self + -1) * Sqrt(self + 1))") },
    { "aten::atanh", 7, .each = OR("Atanh", "Log((self + 1) / (1 - self)) * 0.5") },
    { "aten::sigmoid", 7, .op = "Sigmoid" },
    { "aten::erf", 7, .op = "Erf" },
    { "aten::erfc", 7, .each = "1 - Erf(self)" },
    /* Integers are what they are already. */
    { "aten::floor", 7, .each = "Floor(self) if is_float(self) else self" },
    { "aten::ceil", 7, .each = "Ceil(self) if is_float(self) else self" },
    { "aten::round", 7, .each = "Round(self)" },
    { "aten::trunc", 7, .each = "trunc(self)" },
    { "aten::frac", 7, .each = "self - trunc(self)" },
    { "aten::sign", 7, .each = "Sign(self)" },
    /* The sign of NaN is 0 in PyTorch, and NaN in ONNX Runtime. */
    { "aten::sign", 9,
      .each = "y = Sign(self); Where(IsNaN(self), 0, y) if is_float(self) else y" },
    { "aten::signbit", 7, .each = "is_negative(self)" },
    { "aten::reciprocal", 7, .op = "Reciprocal" },
    { "aten::nan_to_num", 7,
      .each = "most = highest(result_dtype());"
              "y = Where(IsNaN(self), given(nan, 0), self);"
              "y = Where(Greater(self, most), given(posinf, most), y);"
              "y = Where(Less(self, -most), given(neginf, -most), y);"
              "y if is_float(self) else self" },
    { "aten::logit", 7,
      .each = "x = Clip(self, eps, 1 - eps) if eps is not None and eps >= 0 else self;"
              "Log(x / (1 - x))" },
    { 0 },
};
