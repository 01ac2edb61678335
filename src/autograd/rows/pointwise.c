/* Element by element: arithmetic and functions. What was broadcast is summed by cq_grad_set. */
#include "autograd/gradient.h"

#define QUOTIENT "self: grad / other; other: -grad * (self / other / other)"

const cq_gradient cq_gradients_pointwise[] = {
    { "aten::add.Tensor", .as = "self: grad; other: grad * alpha" },
    { "aten::add.Scalar", .as = "self: grad" },
    { "aten::sub.Tensor", .as = "self: grad; other: -grad * alpha" },
    { "aten::sub.Scalar", .as = "self: grad" },
    { "aten::rsub.Tensor", .as = "self: -grad * alpha; other: grad" },
    { "aten::rsub.Scalar", .as = "self: -grad * alpha" },
    { "aten::mul.Tensor", .as = "self: grad * other; other: grad * self" },
    { "aten::mul.Scalar", .as = "self: grad * other" },
    { "aten::div.Tensor", .as = QUOTIENT },
    { "aten::div.Scalar", .as = "self: grad / other" },
    { "aten::div.Tensor_mode",
      .as = "if rounding_mode is None: self: grad / other; other: -grad * (self / other / other)\n"
            "else: self: zeros_like(self); other: zeros_like(other)" },
    { "aten::div.Scalar_mode",
      .as = "self: grad / other if rounding_mode is None else zeros_like(self)" },
    { "aten::floor_divide", .kind = CQ_GRADIENT_NONE },
    { "aten::floor_divide.Scalar", .kind = CQ_GRADIENT_NONE },
    { "aten::remainder.Tensor", .as = "self: grad; other: -grad * floor(self / other)" },
    { "aten::remainder.Scalar", .as = "self: grad" },
    { "aten::remainder.Scalar_Tensor", .as = "other: -grad * floor(self / other)" },
    { "aten::fmod.Tensor", .as = "self: grad; other: -grad * trunc(self / other)" },
    { "aten::fmod.Scalar", .as = "self: grad" },
    { "aten::pow.Tensor_Tensor",
      .as = "self: where(exponent == 0, 0, grad * (exponent * pow(self, exponent - 1)));"
            "exponent: where(logical_and(self == 0, exponent >= 0), 0, grad * (result * "
            "log(self)))" },
    /* x ** 0 is 1 even where x ** -1 is infinite. */
    { "aten::pow.Tensor_Scalar", .as = "self: zeros_like(self) if exponent == 0 else grad * "
                                       "(exponent * pow(self, exponent - 1))" },
    { "aten::pow.Scalar",
      .as = "exponent: where(logical_and(full_like(exponent, self) == 0, exponent >= 0), 0,"
            "grad * (result * log(full_like(exponent, self))))" },
    { "aten::atan2", .as = "self: grad * (other / (self * self + other * other));"
                           "other: grad * (-self / (self * self + other * other))" },
    { "aten::hypot", .as = "self: grad * (self / result); other: grad * (other / result)" },
    { "aten::copysign.Tensor",
      .as = "self: where(self == 0, 0, grad * (result / self)); other: zeros_like(other)" },
    { "aten::copysign.Scalar", .as = "self: where(self == 0, 0, grad * (result / self))" },
    { "aten::xlogy.Tensor",
      .as = "self: where(logical_and(self == 0, other <= 0), 0, xlogy(grad, other));"
            "other: grad * self / other" },
    { "aten::xlogy.Scalar_Other",
      .as = "self: where(logical_and(self == 0, full_like(self, other) <= 0), 0,"
            "xlogy(grad, other))" },
    { "aten::xlogy.Scalar_Self", .as = "other: grad * self / other" },
    { "aten::logaddexp",
      .as = "self: grad / (1 + exp(other - self)); other: grad / (1 + exp(self - other))" },
    { "aten::minimum", .as =
                           "self: where(self == other, grad / 2, where(self > other, 0, grad));"
                           "other: where(self == other, grad / 2, where(self < other, 0, grad))" },
    { "aten::maximum", .as =
                           "self: where(self == other, grad / 2, where(self < other, 0, grad));"
                           "other: where(self == other, grad / 2, where(self > other, 0, grad))" },
    { "aten::fmin", .as = "self: where(logical_or(self <= other, isnan(other)), grad, 0);"
                          "other: where(logical_or(self <= other, isnan(other)), 0, grad)" },
    { "aten::fmax", .as = "self: where(logical_or(self >= other, isnan(other)), grad, 0);"
                          "other: where(logical_or(self >= other, isnan(other)), 0, grad)" },
    { "aten::clamp", .as = "if min is None: self: where(self <= max, grad, 0)\n"
                           "elif max is None: self: where(self >= min, grad, 0)\n"
                           "else: self: where(logical_and(self >= min, self <= max), grad, 0)" },
    /* Where the bounds cross, max wins. */
    { "aten::clamp.Tensor",
      .as = "if min is None: self: where(self <= max, grad, 0); max: where(self > max, grad, 0)\n"
            "elif max is None: self: where(self >= min, grad, 0); min: where(self < min, grad, 0)\n"
            "else: self: where(logical_and(self >= min, self <= max), grad, 0); "
            "min: where(logical_and(self < min, min < max), grad, 0); "
            "max: where(logical_or(self > max, max < min), grad, 0)" },
    { "aten::clamp_min.Tensor",
      .as = "self: where(self >= min, grad, 0); min: where(self < min, grad, 0)" },
    { "aten::clamp_max.Tensor",
      .as = "self: where(self <= max, grad, 0); max: where(self > max, grad, 0)" },
    { "aten::addcmul", .as = "self: grad; tensor1: grad * (tensor2 * value);"
                             "tensor2: grad * (tensor1 * value)" },
    { "aten::addcdiv", .as = "self: grad; tensor1: grad * (value / tensor2);"
                             "tensor2: -grad * (value * tensor1 / (tensor2 * tensor2))" },
    { "aten::lerp.Scalar", .as = "self: grad * (1 - weight); end: grad * weight" },
    { "aten::lerp.Tensor",
      .as = "self: grad * (1 - weight); end: grad * weight; weight: grad * (end - self)" },
    { "aten::nan_to_num", .as = "self: where(isfinite(self), grad, 0)" },
    /* Outside of 0 … 1 there is no logit, unless eps keeps it inside, and then it stands still. */
    { "aten::logit", .as = "if eps is None: self: where(logical_or(self < 0, self > 1), math.nan, "
                           "grad / abs(self * (1 - self)))\n"
                           "else: self: where(logical_or(self < eps, self > 1 - eps), 0, grad / "
                           "(self * (1 - self)))" },
    { 0 },
};

#define PI "3.141592653589793"
#define SINC                                                                                       \
    "self: where(self == 0, 0, grad *"                                                             \
    "((self * " PI " * cos(self * " PI ") - sin(self * " PI ")) / (self * self * " PI ")))"

const cq_gradient cq_gradients_functions[] = {
    { "aten::neg", .as = "self: -grad" },
    { "aten::abs", .as = "self: grad * sign(self)" },
    { "aten::sqrt", .as = "self: grad / (2 * result)" },
    { "aten::rsqrt", .as = "self: -0.5 * grad * pow(result, 3)" },
    { "aten::exp", .as = "self: grad * result" },
    { "aten::exp2", .as = "self: grad * result * 0.6931471805599453" },
    { "aten::expm1", .as = "self: grad * (result + 1)" },
    { "aten::log", .as = "self: grad / self" },
    { "aten::log2", .as = "self: grad / (self * 0.6931471805599453)" },
    { "aten::log10", .as = "self: grad / (self * 2.302585092994046)" },
    { "aten::log1p", .as = "self: grad / (self + 1)" },
    { "aten::sin", .as = "self: grad * cos(self)" },
    { "aten::cos", .as = "self: grad * -sin(self)" },
    { "aten::tan", .as = "self: grad * (1 + result * result)" },
    { "aten::asin", .as = "self: grad * rsqrt(1 - self * self)" },
    { "aten::acos", .as = "self: grad * -rsqrt(1 - self * self)" },
    { "aten::atan", .as = "self: grad / (self * self + 1)" },
    { "aten::sinh", .as = "self: grad * cosh(self)" },
    { "aten::cosh", .as = "self: grad * sinh(self)" },
    { "aten::tanh", .as = "self: grad * (1 - result * result)" },
    { "aten::asinh", .as = "self: grad * rsqrt(self * self + 1)" },
    { "aten::acosh", .as = "self: grad * rsqrt(self * self - 1)" },
    { "aten::atanh", .as = "self: grad / (1 - self * self)" },
    { "aten::sigmoid", .as = "self: grad * (1 - result) * result" },
    { "aten::erf", .as = "self: 1.1283791670955126 * exp(-(self * self)) * grad" },
    { "aten::erfc", .as = "self: -1.1283791670955126 * exp(-(self * self)) * grad" },
    { "aten::erfinv", .as = "self: 0.886226925452758 * exp(result * result) * grad" },
    { "aten::i0", .as = "self: grad * special_i1(self)" },
    { "aten::special_i0e", .as = "self: grad * (special_i1e(self) - sign(self) * result)" },
    { "aten::special_i1",
      .as = "self: grad * where(abs(self) > 1.2e-07, i0(self) - result / self, 0.5)" },
    { "aten::special_i1e", .as = "self: grad * where(abs(self) > 1.2e-07,"
                                 " special_i0e(self) - result * (sign(self) + 1 / self), 0.5)" },
    { "aten::special_log_ndtr",
      .as = "self: grad / special_erfcx(self * -0.7071067811865476) * 0.7978845608028654" },
    { "aten::special_ndtri", .as = "self: grad * 2.5066282746310002 * exp(result.square() / 2)" },
    { "aten::special_erfcx", .as = "self: grad * (2 * self * result - 1.1283791670955126)" },
    { "aten::lgamma", .as = "self: grad * digamma(self)" },
    { "aten::floor", .kind = CQ_GRADIENT_ZERO },
    { "aten::ceil", .kind = CQ_GRADIENT_ZERO },
    { "aten::round", .kind = CQ_GRADIENT_ZERO },
    { "aten::trunc", .kind = CQ_GRADIENT_ZERO },
    { "aten::frac", .as = "self: grad" },
    { "aten::sign", .kind = CQ_GRADIENT_ZERO },
    { "aten::angle", .kind = CQ_GRADIENT_ZERO },
    { "aten::sinc", .as = SINC },
    { "aten::special_sinc", .as = SINC },
    { "aten::special_entr", .as = "self: grad * (-log(self) - 1)" },
    { "aten::special_xlog1py",
      .as = "self: where(logical_and(self == 0, other <= -1), 0, special_xlog1py(grad, other));"
            "other: grad * self / (other + 1)" },
    { "aten::fake_quantize_per_tensor_affine",
      .as = "self: where(logical_and(round(self / scale) + zero_point >= quant_min,"
            "round(self / scale) + zero_point <= quant_max), grad, 0)" },
    { "aten::reciprocal", .as = "self: -grad * result * result" },
    { 0 },
};
