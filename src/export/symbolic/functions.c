/* Functions of one number. Those that ONNX has only since opset 9, or that ONNX Runtime has
 * only in float32, are put together from others when need be. */
#include "export/symbolic/symbolic.h"

/* The operator if it takes the dtype as it is, or else what it is made of. */
#define OR(op, parts) op "(self) if fits('" op "', self) else " parts

const cq_symbolic cq_symbolics_functions[] = {
    { "aten::neg", 7, .op = "Neg" },
    { "aten::abs", 7, .op = "Abs" },
    { "aten::sqrt", 7, .op = "Sqrt" },
    { "aten::rsqrt", 7, .each = "Reciprocal(Sqrt(self))" },
    { "aten::exp", 7, .op = "Exp" },
    { "aten::exp2", 7, .each = "Pow(2, self)" },
    { "aten::expm1", 7, .each = "expm1(self)" },
    { "aten::log", 7, .op = "Log" },
    { "aten::log2", 7, .each = "Log(self) * 1.44269504088896340736" },
    { "aten::log10", 7, .each = "Log(self) * 0.43429448190325182765" },
    { "aten::log1p", 7, .each = "log1p(self)" },
    { "aten::sin", 7, .op = "Sin" },
    { "aten::cos", 7, .each = "cosine(self)" },
    { "aten::tan", 7, .each = OR("Tan", "Sin(self) / cosine(self)") },
    { "aten::asin", 7, .each = OR("Asin", "arctangent(self / Sqrt((1 - self) * (self + 1)))") },
    { "aten::acos", 7, .each = OR("Acos", "arctangent(Sqrt((1 - self) / (self + 1))) * 2") },
    { "aten::atan", 7, .each = "arctangent(self)" },
    { "aten::sinh", 7,
      .each = "e = expm1(self); far = (Exp(self) - Exp(-self)) * 0.5;"
              "Sinh(self) if fits('Sinh', self) else far if opset() < 9 else"
              " Where(Less(Abs(self), 1), (e + e / (e + 1)) * 0.5, far)" },
    { "aten::cosh", 7, .each = OR("Cosh", "(Exp(self) + Exp(-self)) * 0.5") },
    { "aten::tanh", 7, .op = "Tanh" },
    /* From the positive side no digits cancel. */
    { "aten::asinh", 7,
      .each = OR("Asinh", "Sign(self) * Log(Abs(self) + Sqrt(self * self + 1))") },
    { "aten::asinh", 9,
      .each = "y = Abs(self); s = self * self; near = log1p(y + s / (Sqrt(s + 1) + 1));"
              "Asinh(self) if fits('Asinh', self) else"
              " Sign(self) * Where(Less(y, 1e100), near, Log(y) + 0.69314718055994530942)" },
    /* sqrt(x - 1) * sqrt(x + 1) is NaN below 1, as it should be. */
    { "aten::acosh", 7, .each = OR("Acosh", "Log(self + Sqrt(self + -1) * Sqrt(self + 1))") },
    { "aten::atanh", 7, .each = OR("Atanh", "log1p(self * 2 / (1 - self)) * 0.5") },
    { "aten::sigmoid", 7, .op = "Sigmoid" },
    { "aten::erf", 7, .each = "erf(self)" },
    /* Beyond 4 the difference from 1 has no digits left in float32. */
    { "aten::erfc", 7, .each = "1 - Erf(self)" },
    { "aten::erfc", 9, .each = "erfc_of_double(cast(self, 'float64'))" },
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
      .each = "x = self if eps is None or eps < 0 else Clip(self, eps, 1 - eps) if eps <= 0.5 else"
              " Where(Less(self, eps), eps, Min(self, 1 - eps));"
              "Log(x / (1 - x))" },
    { 0 },
};
