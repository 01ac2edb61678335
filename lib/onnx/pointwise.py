"""Arithmetic of two and three operands."""

import math

from calque.onnx import *
from onnx.common import arctangent

symbolic("aten::mul", "Mul", opset=7)
symbolic("aten::div", "Div", opset=7)


@symbolic("aten::add", opset=7, promote=True)
def add(self, other, alpha):
    return Add(self, other * alpha)


@symbolic("aten::sub", opset=7, promote=True)
def sub(self, other, alpha):
    return Sub(self, other * alpha)


@symbolic("aten::rsub", opset=7, promote=True)
def rsub(self, other, alpha):
    return Sub(other, self * alpha)


@symbolic("aten::div.Tensor_mode", opset=7, promote=True)
@symbolic("aten::div.Scalar_mode", opset=7, promote=True)
def div(self, other, rounding_mode):
    if rounding_mode == "floor":
        return self // other
    return trunc(Div(self, other)) if rounding_mode == "trunc" else Div(self, other)


@symbolic("aten::floor_divide", opset=7, promote=True)
def floor_divide(self, other):
    return self // other


@symbolic("aten::remainder", opset=7, promote=True)
def aten_remainder(self, other):
    return remainder(self, other)


@symbolic("aten::fmod", opset=7, promote=True)
def aten_fmod(self, other):
    return fmod(self, other)


@symbolic("aten::pow", opset=7, promote=True)
def pow(self, exponent):
    """For integers, 0 to a negative power is 0 in PyTorch.

    ONNX Runtime computes infinity, so 0 is replaced by 1, and the result of that is subtracted
    again.
    """
    if is_tensor(self) and is_integer(self) and is_signed(self):
        is_bad = cast(And(Equal(self, 0), Less(exponent, 0)), self.dtype)
        return Pow(self + is_bad, exponent) - is_bad
    return Pow(self, exponent)


@symbolic("aten::pow.Tensor_Scalar", opset=7, promote=True)
def pow_scalar(self, exponent):
    """Roots and reciprocals treat -inf as the operator does."""
    if not is_known(exponent):
        return pow(self, exponent)
    if is_float(self) and exponent == 0.5:
        return Sqrt(self)
    if is_float(self) and exponent == -0.5:
        return Reciprocal(Sqrt(self))
    if is_float(self) and exponent == -1:
        return Reciprocal(self)
    return Pow(self, exponent)


@symbolic("aten::maximum", opset=7, promote=True)
def maximum(self, other):
    return Max(self, other)


@symbolic("aten::minimum", opset=7, promote=True)
def minimum(self, other):
    return Min(self, other)


@symbolic("aten::fmax", opset=7, promote=True)
def fmax(self, other):
    """A number is preferred to NaN."""
    if not is_float(self):
        return Max(self, other)
    return Where(IsNaN(self), other, Where(IsNaN(other), self, Max(self, other)))


@symbolic("aten::fmin", opset=7, promote=True)
def fmin(self, other):
    """A number is preferred to NaN."""
    if not is_float(self):
        return Min(self, other)
    return Where(IsNaN(self), other, Where(IsNaN(other), self, Min(self, other)))


@symbolic("aten::clamp.Tensor", opset=7, promote=True)
def clamp_tensor(self, min, max):
    has_maximum = max is not None
    x = self if min is None else Max(self, min)
    return Min(x, max) if has_maximum else x


@symbolic("aten::clamp", opset=7, promote=True)
def clamp(self, min, max):
    return Clip(self, min, max)


def weight_of_product(x, value):
    """For integers, a known factor is truncated."""
    return value if is_float(x) or not is_known(value) else trunc(value)


@symbolic("aten::addcmul", opset=7, promote=True)
def addcmul(self, tensor1, tensor2, value):
    return Add(self, Mul(tensor1, tensor2) * weight_of_product(self, value))


@symbolic("aten::addcdiv", opset=7, promote=True)
def addcdiv(self, tensor1, tensor2, value):
    return Add(self, Div(tensor1, tensor2) * weight_of_product(self, value))


def lerp_from_start(start, end, weight):
    return start + weight * (end - start)


@symbolic("aten::lerp", opset=7, promote=True)
def lerp(self, end, weight):
    """Interpolates from the nearer end, so that both ends are exact."""
    if is_tensor(weight) and opset() < 9:
        return lerp_from_start(self, end, weight)
    if not is_tensor(weight):
        if abs(weight) < 0.5:
            return lerp_from_start(self, end, weight)
        return end - (end - self) * (1 - weight)
    is_near = Less(Abs(weight), 0.5)
    difference = end - self
    from_start = self + weight * difference
    return Where(is_near, from_start, end - difference * (1 - weight))


@symbolic("aten::atan2", opset=7, promote=True)
def atan2(self, other):
    """The arctangent of y / x, plus or minus pi where x is negative."""
    zero = like(0, other)
    is_vertical = Equal(other, zero)
    vertical = Sign(self) * (math.pi / 2)
    angle = Where(is_vertical, vertical, arctangent(self / other))
    is_left = Less(other, zero)
    turn = Where(is_negative(self), -math.pi, math.pi)
    return angle + Where(is_left, turn, zero)


unsupported("aten::nextafter", "ONNX has no operator for the bits of a number", opset=7)


@symbolic("aten::hypot", opset=7, promote=True)
def hypot(self, other):
    return Sqrt(self * self + other * other)


@symbolic("aten::hypot", opset=12, promote=True)
def hypot_12(self, other):
    """Squares of large numbers overflow, so the smaller operand is divided by the larger one."""
    a = Abs(self)
    is_infinite = Equal(a, math.inf)
    b = Abs(other)
    is_infinite = Or(is_infinite, Equal(b, math.inf))
    high = Max(a, b)
    is_zero = Equal(high, 0)
    part = Min(a, b) / Where(is_zero, 1, high)
    y = Where(is_zero, high, high * Sqrt(part * part + 1))
    return Where(is_infinite, math.inf, y)


@symbolic("aten::copysign", opset=7, promote=True)
def copysign(self, other):
    is_below = is_negative(other)
    x = Abs(self)
    return Where(is_below, -x, x)


@symbolic("aten::xlogy", opset=7, promote=True)
def xlogy(self, other):
    zero = like(0, self)
    is_zero = And(Equal(self, zero), Not(IsNaN(other)))
    return Where(is_zero, zero, self * Log(other))


def log_add_exp(x, y):
    """The larger operand, and the contribution of the other."""
    return Max(x, y) + Log(Exp(-Abs(x - y)) + 1)


@symbolic("aten::logaddexp", opset=7, promote=True)
def logaddexp(self, other):
    """For equal operands, including infinities, the result is x + log(2)."""
    if opset() < 9:
        return log_add_exp(self, other)
    is_equal = Equal(self, other)
    return Where(is_equal, self + 0.69314718055994530942, log_add_exp(self, other))
