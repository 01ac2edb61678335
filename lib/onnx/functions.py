"""Functions of one number.

Those that ONNX has only since opset 9, or that ONNX Runtime has only in float32, are computed from
others where necessary.
"""

import torch

from calque.onnx import *
from onnx.common import arctangent, cosine, erf, erfc_of_double, expm1, given, highest, log1p

symbolic("aten::neg", "Neg", opset=7)
symbolic("aten::abs", "Abs", opset=7)
symbolic("aten::sqrt", "Sqrt", opset=7)
symbolic("aten::exp", "Exp", opset=7)
symbolic("aten::log", "Log", opset=7)
symbolic("aten::sin", "Sin", opset=7)
symbolic("aten::tanh", "Tanh", opset=7)
symbolic("aten::sigmoid", "Sigmoid", opset=7)
symbolic("aten::reciprocal", "Reciprocal", opset=7)


@symbolic("aten::rsqrt", opset=7, promote=True)
def rsqrt(self):
    return Reciprocal(Sqrt(self))


@symbolic("aten::exp2", opset=7, promote=True)
def exp2(self):
    return Pow(2, self)


@symbolic("aten::expm1", opset=7, promote=True)
def aten_expm1(self):
    return expm1(self)


@symbolic("aten::log2", opset=7, promote=True)
def log2(self):
    return Log(self) * 1.44269504088896340736


@symbolic("aten::log10", opset=7, promote=True)
def log10(self):
    return Log(self) * 0.43429448190325182765


@symbolic("aten::log1p", opset=7, promote=True)
def aten_log1p(self):
    return log1p(self)


@symbolic("aten::cos", opset=7, promote=True)
def cos(self):
    return cosine(self)


@symbolic("aten::tan", opset=7, promote=True)
def tan(self):
    return Tan(self) if fits("Tan", self) else Sin(self) / cosine(self)


@symbolic("aten::asin", opset=7, promote=True)
def asin(self):
    return Asin(self) if fits("Asin", self) else arctangent(self / Sqrt((1 - self) * (self + 1)))


@symbolic("aten::acos", opset=7, promote=True)
def acos(self):
    return Acos(self) if fits("Acos", self) else arctangent(Sqrt((1 - self) / (self + 1))) * 2


@symbolic("aten::atan", opset=7, promote=True)
def atan(self):
    return arctangent(self)


@symbolic("aten::sinh", opset=7, promote=True)
def sinh(self):
    if fits("Sinh", self):
        return Sinh(self)
    if opset() < 9:
        return (Exp(self) - Exp(-self)) * 0.5
    is_near = Less(Abs(self), 1)
    e = expm1(self)
    return Where(is_near, (e + e / (e + 1)) * 0.5, (Exp(self) - Exp(-self)) * 0.5)


@symbolic("aten::cosh", opset=7, promote=True)
def cosh(self):
    return Cosh(self) if fits("Cosh", self) else (Exp(self) + Exp(-self)) * 0.5


@symbolic("aten::asinh", opset=7, promote=True)
def asinh(self):
    """Computed for |x|, where no digits cancel."""
    if fits("Asinh", self):
        return Asinh(self)
    if opset() < 9:
        return Sign(self) * Log(Abs(self) + Sqrt(self * self + 1))
    sign = Sign(self)
    y = Abs(self)
    is_near = Less(y, 1e100)
    s = self * self
    near = log1p(y + s / (Sqrt(s + 1) + 1))
    return sign * Where(is_near, near, Log(y) + 0.69314718055994530942)


@symbolic("aten::acosh", opset=7, promote=True)
def acosh(self):
    """sqrt(x - 1) * sqrt(x + 1) is NaN below 1, as it should be."""
    return Acosh(self) if fits("Acosh", self) else Log(self + Sqrt(self + -1) * Sqrt(self + 1))


@symbolic("aten::atanh", opset=7, promote=True)
def atanh(self):
    return Atanh(self) if fits("Atanh", self) else log1p(self * 2 / (1 - self)) * 0.5


@symbolic("aten::erf", opset=7, promote=True)
def aten_erf(self):
    return erf(self)


@symbolic("aten::erfc", opset=7, promote=True)
def erfc(self):
    """Beyond 4, 1 - erf(x) has no digits left in float32."""
    if opset() < 9:
        return 1 - Erf(self)
    return erfc_of_double(cast(self, torch.float64))


@symbolic("aten::floor", opset=7, promote=True)
def floor(self):
    return Floor(self) if is_float(self) else self


@symbolic("aten::ceil", opset=7, promote=True)
def ceil(self):
    return Ceil(self) if is_float(self) else self


@symbolic("aten::round", opset=7, promote=True)
def round(self):
    return Round(self)


@symbolic("aten::trunc", opset=7, promote=True)
def aten_trunc(self):
    return trunc(self)


@symbolic("aten::frac", opset=7, promote=True)
def frac(self):
    return self - trunc(self)


@symbolic("aten::sign", opset=7, promote=True)
def sign(self):
    """The sign of NaN is 0 in PyTorch, and NaN in ONNX Runtime."""
    if opset() < 9 or not is_float(self):
        return Sign(self)
    return Where(IsNaN(self), 0, Sign(self))


@symbolic("aten::signbit", opset=7, promote=True)
def signbit(self):
    return is_negative(self)


@symbolic("aten::nan_to_num", opset=7, promote=True)
def nan_to_num(self, nan, posinf, neginf):
    if not is_float(self):
        return self
    most = highest(result_dtype())
    is_below = Less(self, -most)
    is_above = Greater(self, most)
    y = Where(IsNaN(self), given(nan, 0), self)
    y = Where(is_above, given(posinf, most), y)
    return Where(is_below, given(neginf, -most), y)


@symbolic("aten::logit", opset=7, promote=True)
def logit(self, eps):
    x = self
    if eps is not None and eps >= 0:
        if eps <= 0.5:
            x = Clip(self, eps, 1 - eps)
        else:
            x = Where(Less(self, eps), eps, Min(self, 1 - eps))
    return Log(x / (1 - x))
