"""Comparisons, logic, bits and choices."""

import math
import torch

from calque.onnx import *

symbolic("aten::gt", "Greater", opset=7)
symbolic("aten::lt", "Less", opset=7)
symbolic("aten::logical_and", "And", opset=7)
symbolic("aten::logical_or", "Or", opset=7)
symbolic("aten::logical_xor", "Xor", opset=7)
symbolic("aten::logical_not", "Not", opset=7)


@symbolic("aten::eq", opset=7, promote=True)
def eq(self, other):
    return Equal(self, other)


@symbolic("aten::ne", opset=7, promote=True)
def ne(self, other):
    return Not(Equal(self, other))


@symbolic("aten::ge", opset=7, promote=True)
def ge(self, other):
    return LessOrEqual(other, self)


@symbolic("aten::le", opset=7, promote=True)
def le(self, other):
    return LessOrEqual(self, other)


# ---- classes of numbers; integers are all finite ----


@symbolic("aten::isnan", opset=7, promote=True)
def isnan(self):
    return IsNaN(self)


@symbolic("aten::isinf", opset=7, promote=True)
def isinf(self):
    return Equal(Abs(self), math.inf) if is_float(self) else Not(Equal(self, self))


@symbolic("aten::isfinite", opset=7, promote=True)
def isfinite(self):
    """|x| < inf is false of NaN too."""
    return Less(Abs(self), math.inf) if is_float(self) else Equal(self, self)


@symbolic("aten::isposinf", opset=7, promote=True)
def isposinf(self):
    return Equal(self, math.inf) if is_float(self) else Not(Equal(self, self))


@symbolic("aten::isneginf", opset=7, promote=True)
def isneginf(self):
    return Equal(self, -math.inf) if is_float(self) else Not(Equal(self, self))


# ---- bits ----
#
# On bool, bitwise operators are logic. Of integers, the bits are computed one by one, which is not
# fast but works at every opset since 10.


def power(i):
    return math.prod([2 for k in range(i)])


def width(dtype):
    """The number of bits."""
    if dtype in (torch.int8, torch.uint8):
        return 8
    if dtype == torch.int16:
        return 16
    return 32 if dtype == torch.int32 else 64


def bits(x):
    """The bits of x along a new last axis, lowest first, as int64.

    A right shift is a division rounded down, which keeps the sign; the divisor for the highest bit
    of an int64 does not fit.
    """
    n = width(x.dtype)
    wide = Unsqueeze(cast(x, torch.int64), [x.ndim])
    powers = [power(i) for i in range(63 if n == 64 else n)]
    low = Mod(wide // cast(powers, torch.int64), 2)
    if n < 64:
        return low
    return Concat(low, cast(Less(wide, 0), torch.int64), axis=x.ndim)


def sum_of_bits(bits, n, first, has_sign):
    """The number of 32 of n bits, beginning with first; the highest bit may be the sign."""
    weights = [
        (0 if i < first or i > first + 31 else power(i - first))
        * (-1 if has_sign and i == n - 1 else 1)
        for i in range(n)
    ]
    return ReduceSum(bits * cast(weights, torch.int64), [len(result_shape())], keepdims=0)


def number_of_bits(bits):
    """The number whose bits are along the last axis.

    ONNX Runtime sums in float64, so 64 bits are added in two halves.
    """
    n = width(result_dtype())
    has_sign = result_dtype() != torch.uint8
    low = sum_of_bits(bits, n, 0, has_sign and n < 64)
    return low if n < 64 else low + sum_of_bits(bits, n, 32, has_sign) * power(32)


def needs_mod():
    return unsupported("bits of integers require opset 10 (Mod)", 10)


@symbolic("aten::bitwise_and", opset=7, promote=True)
def bitwise_and(self, other):
    if result_dtype() == torch.bool:
        return And(self, other)
    if opset() < 10:
        return needs_mod()
    return number_of_bits(bits(self) * bits(other))


@symbolic("aten::bitwise_or", opset=7, promote=True)
def bitwise_or(self, other):
    if result_dtype() == torch.bool:
        return Or(self, other)
    if opset() < 10:
        return needs_mod()
    return number_of_bits(cast(cast(bits(self) + bits(other), torch.bool), torch.int64))


@symbolic("aten::bitwise_xor", opset=7, promote=True)
def bitwise_xor(self, other):
    if result_dtype() == torch.bool:
        return Xor(self, other)
    if opset() < 10:
        return needs_mod()
    return number_of_bits(Mod(bits(self) + bits(other), 2))


@symbolic("aten::bitwise_not", opset=7, promote=True)
def bitwise_not(self):
    """-1 - x, or for unsigned dtypes the highest value minus x."""
    if self.dtype == torch.bool:
        return Not(self)
    return (255 if self.dtype == torch.uint8 else -1) - self


def power_of_two(i):
    """2 ** i, exactly."""
    if is_known(i) and i >= 0 and i < 63:
        return power(i)
    base = cast(2, torch.float64)
    return cast(Pow(base, cast(i, torch.float64)), torch.int64)


@symbolic("aten::bitwise_left_shift", opset=7, promote=True)
def bitwise_left_shift(self, other):
    return cast(self, torch.int64) * power_of_two(other)


@symbolic("aten::bitwise_right_shift", opset=7, promote=True)
def bitwise_right_shift(self, other):
    return cast(self, torch.int64) // power_of_two(other)


# ---- choices ----


@symbolic("aten::where.self", opset=7, promote=True)
@symbolic("aten::where.ScalarOther", opset=7, promote=True)
@symbolic("aten::where.ScalarSelf", opset=7, promote=True)
@symbolic("aten::where.Scalar", opset=7, promote=True)
def where(condition, self, other):
    return Where(unpromoted(condition), self, other)


@symbolic("aten::masked_fill", opset=7, promote=True)
def masked_fill(self, mask, value):
    return Where(unpromoted(mask), value, self)
