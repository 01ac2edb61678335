/* Arithmetic of two and three operands. How dtypes are met is in arith.h. */
#include "export/symbolic/symbolic.h"

/* Among integers, 0 to a negative power is 0 in PyTorch. ONNX Runtime goes by way of an infinity,
 * so it is shown a 1, and what comes of that is taken off again. */
#define WITH_BAD "bad = cast(And(Equal(self, 0), Less(exponent, 0)), dtype(self));"
#define POWER                                                                                      \
    "Pow(self + bad, exponent) - bad if is_tensor(self) and is_integer(self) and is_signed(self)"  \
    " else Pow(self, exponent)"

/* NaN loses. */
#define NUMBER_IF_ANY(op)                                                                          \
    "y = " op "(self, other);"                                                                     \
    "Where(IsNaN(self), other, Where(IsNaN(other), self, y)) if is_float(self) else y"

#define WEIGHED(op)                                                                                \
    "by = value if is_float(self) or not known(value) else trunc(value);"                          \
    "Add(self, " op "(tensor1, tensor2) * by)"

/* From the nearer end, so that both ends are exact. */
#define ENDS                                                                                       \
    "way = end - self; from_start = self + weight * way; from_end = end - way * (1 - weight);"

/* The larger one, and what the other adds to it. */
#define LOG_ADD_EXP "sum = Max(self, other) + Log(Exp(-Abs(self - other)) + 1);"

const cq_symbolic cq_symbolics_pointwise[] = {
    { "aten::add", 7, .each = "Add(self, other * alpha)" },
    { "aten::sub", 7, .each = "Sub(self, other * alpha)" },
    { "aten::rsub", 7, .each = "Sub(other, self * alpha)" },
    { "aten::mul", 7, .op = "Mul" },
    { "aten::div.Tensor_mode", 7,
      .each = "self // other if rounding_mode == 'floor' else"
              " trunc(Div(self, other)) if rounding_mode == 'trunc' else Div(self, other)" },
    { "aten::div.Scalar_mode", 7,
      .each = "self // other if rounding_mode == 'floor' else"
              " trunc(Div(self, other)) if rounding_mode == 'trunc' else Div(self, other)" },
    { "aten::div", 7, .op = "Div" },
    { "aten::floor_divide", 7, .each = "self // other" },
    { "aten::remainder", 7, .each = "remainder(self, other)" },
    { "aten::fmod", 7, .each = "fmod(self, other)" },
    /* As in the operator itself, roots and reciprocals are what they are for -inf too. */
    { "aten::pow.Tensor_Scalar", 7,
      .each = WITH_BAD "root = known(exponent) and is_float(self) and abs(exponent) == 0.5;"
                       "x = Sqrt(self) if root else self;"
                       "x if root and exponent == 0.5 else"
                       " Reciprocal(x) if root or known(exponent) and is_float(self) and"
                       " exponent == -1 else"
                       " Pow(self, exponent) if known(exponent) else " POWER },
    { "aten::pow", 7, .each = WITH_BAD POWER },
    { "aten::maximum", 7, .each = "Max(self, other)" },
    { "aten::minimum", 7, .each = "Min(self, other)" },
    { "aten::fmax", 7, .each = NUMBER_IF_ANY("Max") },
    { "aten::fmin", 7, .each = NUMBER_IF_ANY("Min") },
    { "aten::clamp.Tensor", 7,
      .each = "x = self if min is None else Max(self, min); x if max is None else Min(x, max)" },
    { "aten::clamp", 7, .each = "Clip(self, min, max)" },
    { "aten::addcmul", 7, .each = WEIGHED("Mul") },
    { "aten::addcdiv", 7, .each = WEIGHED("Div") },
    { "aten::lerp", 7,
      .each = ENDS "from_start if is_tensor(weight) or abs(weight) < 0.5 else from_end" },
    { "aten::lerp", 9,
      .each = ENDS "Where(Less(Abs(weight), 0.5), from_start, from_end) if is_tensor(weight) else"
                   " from_start if abs(weight) < 0.5 else from_end" },
    /* The angle of y / x, moved by half a turn where x is negative. */
    { "aten::atan2", 7,
      .each = "zero = like(0, other); pi = 3.14159265358979323846;"
              "angle = Where(Equal(other, zero), Sign(self) * (pi / 2), arctangent(self / other));"
              "turn = Where(is_negative(self), -pi, pi);"
              "angle + Where(Less(other, zero), turn, zero)" },
    /* Squares of large numbers are infinite: the less is divided by the greater. */
    { "aten::hypot", 7, .each = "Sqrt(self * self + other * other)" },
    { "aten::hypot", 12,
      .each = "a = Abs(self); b = Abs(other); high = Max(a, b); low = Min(a, b);"
              "zero = Equal(high, 0); part = low / Where(zero, 1, high);"
              "y = Where(zero, high, high * Sqrt(part * part + 1));"
              "Where(Or(Equal(a, inf), Equal(b, inf)), inf, y)" },
    { "aten::copysign", 7, .each = "x = Abs(self); Where(is_negative(other), -x, x)" },
    { "aten::xlogy", 7,
      .each = "zero = like(0, self);"
              "Where(And(Equal(self, zero), Not(IsNaN(other))), zero, self * Log(other))" },
    { "aten::logaddexp", 7, .each = LOG_ADD_EXP "sum" },
    /* For equal ones, infinities among them, that is log(2). */
    { "aten::logaddexp", 9,
      .each = LOG_ADD_EXP "Where(Equal(self, other), self + 0.69314718055994530942, sum)" },
    { 0 },
};
