"""The inverse of Erf, the logarithm of the gamma function and its derivative.

ONNX has none of them, so they are composed of others, in float64. The errors of the series are
below 1e-12 for the gamma functions and 3e-10 for erfinv, less than float32 can represent.
"""

import math
import torch

from calque.onnx import *
from onnx.common import cosine, highest, polynomial

unsupported("aten::erfinv", "it requires Where, of opset 9", opset=7)
unsupported("aten::lgamma", "it requires Where, of opset 9", opset=7)
unsupported("aten::digamma", "it requires Where, of opset 9", opset=7)


@symbolic("aten::erfinv", opset=9, promote=True)
def erfinv(self):
    """Polynomials fitted to erfinv(x) / x and to erfinv(x), in terms of w = -log(1 - x^2).

    The first goes to w = 5, in w - 2.5; the second beyond that, in sqrt(w) - 4.168…, up to the
    largest w of float64.
    """
    centre = [
        1.5014093511111484,
        0.24664027673112496,
        -0.004177317731350998,
        -0.0012527078285947755,
        0.00021825028766905605,
        -4.996219551363304e-06,
        -3.4166492986029574e-06,
        4.788351857952339e-07,
        1.3435322461198735e-08,
        -1.0906188692251188e-08,
        9.01071389517908e-10,
        1.297647800911155e-10,
        -2.995745446835372e-11,
        -3.3594736396258294e-13,
        4.309608671142208e-13,
    ]
    tail = [
        4.0094446087211875,
        1.0098491564864072,
        0.0008693464778193997,
        -0.0006774304089943347,
        0.00023271525525941388,
        -6.554099474374166e-05,
        1.649663004826866e-05,
        -3.4891093482498334e-06,
        6.135439735471525e-07,
        -1.714959051225882e-07,
        -2.6604661199137684e-08,
        9.140964964873752e-08,
        -2.9259151720363266e-08,
        -4.005189165415431e-09,
        2.1272709577073043e-09,
    ]
    x = cast(self, torch.float64)
    distance = Abs(x)
    one = like(1, x)
    is_outside = Greater(distance, one)
    is_end = Equal(Abs(x), one)
    end = x * math.inf
    w = -Log((one - x) * (one + x))
    is_near = Less(w, 5)
    near = x * polynomial(w + -2.5, centre)
    far = Sign(x) * polynomial(Sqrt(w) + -4.168033988749895, tail)
    y = Where(is_end, end, Where(is_near, near, far))
    return Where(is_outside, math.nan, y)


# The series in 1/x are accurate from 8 on, so x is reflected if it is below a half, and shifted up
# by 8 if it is small.


def mirrored_up(x, is_mirrored):
    return Where(is_mirrored, 1 - x, x)


def lgamma_of_right(right, is_small):
    """Stirling's series, minus the logarithm of x (x + 1) … (x + 7)."""
    high = Where(is_small, right + 8, right)
    y = (high + -0.5) * Log(high) - high
    inverse = Reciprocal(high)
    series = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156]
    y = y + inverse * polynomial(inverse * inverse, series)
    y = y + 0.91893853320467274178
    low = Where(is_small, right, 1)
    product = low
    for i in range(1, 8):
        product = product * (low + i)
    return y - Log(Where(is_small, product, 1))


@symbolic("aten::lgamma", opset=9, promote=True)
def lgamma(self):
    x = cast(self, torch.float64)
    is_infinite = Greater(Abs(x), highest(torch.float64))
    is_mirrored = Less(x, 0.5)
    fraction = x - Floor(x)
    mirror = 1.14472988584940017414 - Log(Abs(Sin(fraction * math.pi)))
    right = mirrored_up(x, is_mirrored)
    y = lgamma_of_right(right, Less(right, 8))
    y = Where(is_mirrored, mirror - y, y)
    return Where(is_infinite, math.inf, y)


def digamma_of_right(right, is_small):
    """log(x) - 1/2x - 1/12x^2 …, minus 1/x, 1/(x + 1) …"""
    high = Where(is_small, right + 8, right)
    y = Log(high)
    inverse = Reciprocal(high)
    y = y - inverse * 0.5
    square = inverse * inverse
    series = [1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12]
    y = y - square * polynomial(square, series)
    low = Where(is_small, right, 1)
    total = Reciprocal(low)
    for i in range(1, 8):
        total = total + Reciprocal(low + i)
    return y - Where(is_small, total, 0)


@symbolic("aten::digamma", opset=9, promote=True)
def digamma(self):
    """NaN at negative integers, and at 0 an infinity with the opposite sign of the zero."""
    x = cast(self, torch.float64)
    fraction = x - Floor(x)
    is_whole = Equal(fraction, 0)
    is_pole = And(is_whole, Less(x, 0))
    is_zero = Equal(x, 0)
    at_zero = -Reciprocal(x)
    is_mirrored = Less(x, 0.5)
    right = mirrored_up(x, is_mirrored)
    y = digamma_of_right(right, Less(right, 8))
    mirror = y - cosine(fraction * math.pi) / Sin(fraction * math.pi) * math.pi
    y = Where(is_zero, at_zero, Where(is_mirrored, mirror, y))
    return Where(is_pole, math.nan, y)
