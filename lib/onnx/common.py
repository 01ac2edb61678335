"""Functions that several families share."""

import math
import torch

from calque.onnx import *


def given(value, otherwise):
    """The value, or otherwise if it is None."""
    return otherwise if value is None else value


def all_known(numbers):
    """Whether all numbers are the same in every run."""
    return len([i for i in numbers if not is_known(i)]) == 0


def all_zero(numbers):
    return len([i for i in numbers if i != 0]) == 0


def as_list(value):
    return [value] if isinstance(value, int) else value


def inverse(order):
    """The permutation that undoes another."""
    return [[k for k in range(len(order)) if order[k] == i][0] for i in range(len(order))]


def per_axis(values, n, otherwise=None):
    """A number for each of n axes: one stands for all, and an empty list for the others."""
    if otherwise is not None and len(values) == 0:
        return otherwise
    if len(values) == 0:
        return [0] * n
    return [values[i if len(values) == n else 0] for i in range(n)]


# ---- dtypes ----


def highest(dtype):
    """The highest finite number."""
    if dtype == torch.float16:
        return 65504.0
    if dtype == torch.float64:
        return 1.7976931348623157e308
    return 3.4028234663852886e38 if dtype == torch.float32 else 3.3895313892515355e38


def summable(x):
    """x in a dtype that ONNX Runtime sums: float32, float64, int32 or int64."""
    if x.dtype in (torch.float32, torch.float64, torch.int32, torch.int64):
        return x
    return cast(x, torch.float32 if is_float(x) else torch.int64)


# ---- sizes ----


def common_size(a, b):
    if b == 1:
        return a
    if a == 1 or (hint(a) == 1 and hint(b) != 1) or (not is_known(a) and is_known(b)):
        return b
    return a


def common_shape(a, b):
    """The shape to which both broadcast."""
    n = max(len(a), len(b))
    a = [1] * (n - len(a)) + a
    b = [1] * (n - len(b)) + b
    return [common_size(a[i], b[i]) for i in range(n)]


def broadcast(x, mask):
    """x and a mask, expanded to their common shape."""
    shape = common_shape(x.shape, mask.shape)
    m = cast(mask, torch.bool)
    return with_shape(expand(x, shape), shape), with_shape(expand(m, shape), shape)


def corner(x, y):
    """x, cut to the sizes of y."""
    for i in range(y.ndim):
        if x.size(i) != y.size(i):
            sizes = [y.size(i) if k == i else x.size(k) for k in range(x.ndim)]
            x = with_shape(slice(x, i, 0, y.size(i)), sizes)
    return x


# ---- functions for float64 that ONNX Runtime only has for float32 ----


def polynomial(x, coefficients):
    """The sum of the coefficients times 1, x, x * x …"""
    total = like(coefficients[-1], x)
    for c in reversed(coefficients[:-1]):
        total = Add(total * x, c)
    return total


def gaussian(y):
    """exp(-y * y) to the last digit: the square of the first four binary digits is exact."""
    high = Floor(y * 16) / 16
    return Exp(-high * high) * Exp((high - y) * (high + y))


def erf_near_zero(x):
    """Cody's rational function of erf(x) / x, for |x| below a half."""
    s = x * x
    top = [
        3209.37758913846947,
        377.485237685302021,
        113.864154151050156,
        3.16112374387056560,
        0.185777706184603153,
    ]
    below = [
        2844.23683343917062,
        1282.61652607737228,
        244.024637934444173,
        23.6012909523441209,
        1,
    ]
    return x * polynomial(s, top) / polynomial(s, below)


def erfc_up_to_4(y):
    """Cody's rational function of erfc(y) * exp(y * y), for y up to 4."""
    near = Min(y, 4)
    top = [
        1230.33935479799725,
        2051.07837782607147,
        1712.04761263407058,
        881.952221241769090,
        298.635138197400131,
        66.1191906371416295,
        8.88314979438837594,
        0.564188496988670089,
        2.15311535474403846e-8,
    ]
    below = [
        1230.33935480374942,
        3439.36767414372164,
        4362.61909014324716,
        3290.79923573345963,
        1621.38957456669019,
        537.181101862009858,
        117.693950891312499,
        15.7449261107098347,
        1,
    ]
    return polynomial(near, top) / polynomial(near, below)


def erfc_beyond_4(y):
    """The same beyond 4: what is left of 1 / sqrt(pi)."""
    far = Max(y, 4)
    i = Reciprocal(far * far)
    top = [
        6.58749161529837803e-4,
        0.0160837851487422766,
        0.125781726111229246,
        0.360344899949804439,
        0.305326634961232344,
        0.0163153871373020978,
    ]
    below = [
        0.00233520497626869185,
        0.0605183413124413191,
        0.527905102951428412,
        1.87295284992346725,
        2.56852019228982242,
        1,
    ]
    return (0.56418958354775628695 - i * polynomial(i, top) / polynomial(i, below)) / far


def erfc_of_positive(y):
    """Accurate except for the last two digits."""
    scale = gaussian(Min(y, 40))
    is_far = Greater(y, 4)
    far = erfc_beyond_4(y)
    return scale * Where(is_far, far, erfc_up_to_4(y))


def erf_of_double(x):
    y = Abs(x)
    return Where(Less(y, 0.5), erf_near_zero(x), Sign(x) * (1 - erfc_of_positive(y)))


def erfc_of_double(x):
    is_near = Less(Abs(x), 0.5)
    near = 1 - erf_near_zero(x)
    is_below = Less(x, 0)
    tail = erfc_of_positive(Abs(x))
    return Where(is_near, near, Where(is_below, 2 - tail, tail))


def erf(x):
    return erf_of_double(x) if x.dtype == torch.float64 and opset() >= 9 else Erf(x)


def arctangent_near_zero(x):
    s = x * x
    top = [
        -64.85021904942025371773,
        -122.8866684490136173410,
        -75.00855792314704667340,
        -16.15753718733365076637,
        -0.8750608600031904122785,
    ]
    below = [
        194.5506571482613964425,
        485.3903996359136964868,
        432.8810604912902668951,
        165.0270098316988542046,
        24.85846490142306297962,
        1,
    ]
    return x + x * s * polynomial(s, top) / polynomial(s, below)


def arctangent(x):
    """The arctangent by a rational function with range reduction.

    Above tan(3 pi / 8) x is replaced by -1 / x, above 0.66 by (x - 1) / (x + 1).
    """
    if x.dtype != torch.float64 or opset() < 9:
        return Atan(x)
    sign = Where(is_negative(x), -1, 1)
    y = Abs(x)
    is_steep = Greater(y, 2.41421356237309504880)
    is_medium = Greater(y, 0.66)
    start = Where(is_steep, math.pi / 2, Where(is_medium, math.pi / 4, 0))
    steep = -Reciprocal(Where(is_steep, y, 1))
    flat = Where(is_steep, 0, y)
    slope = Where(is_steep, steep, Where(is_medium, (flat + -1) / (flat + 1), flat))
    return sign * (start + arctangent_near_zero(slope))


def log1p(x):
    """log(1 + x) without loss of digits near 0.

    1 + x is rounded; the rounding error of the sum corrects the logarithm.
    """
    if x.dtype != torch.float64 or opset() < 9:
        return Log(x + 1)
    is_small = Less(Abs(x), 0.5)
    u = x + 1
    is_one = And(LessOrEqual(u, 1), LessOrEqual(1, u))
    small = Where(is_one, x, Log(u) * (x / (u + -1)))
    return Where(is_small, small, Log(u))


def expm1(x):
    """exp(x) - 1 without loss of digits near 0."""
    if x.dtype != torch.float64 or opset() < 9:
        return Exp(x) + -1
    is_small = Less(Abs(x), 0.5)
    t = Tanh(x * 0.5)
    return Where(is_small, t * 2 / (1 - t), Exp(x) + -1)


def cosine(x):
    if x.dtype != torch.float64:
        return Cos(x)
    half = Sin(x * 0.5)
    return 1 - half * half * 2


# ---- reductions ----


def reduced_axes(x, dim):
    """The axes of dim, in order; all axes if dim is None."""
    dims = [] if dim is None else as_list(dim)
    if len(dims) == 0:
        return range(x.ndim)
    chosen = [d + x.ndim if d < 0 else d for d in dims]
    return [i for i in range(x.ndim) if i in chosen]


def reduce_dims(op, x, dim, keepdim):
    """The reduction op over the dimensions dim. A reduction of all dimensions omits the axes."""
    if x.ndim == 0:
        return x
    axes = reduced_axes(x, dim)
    return reduce(op, x, [] if len(axes) == x.ndim else axes, keepdim)


# ---- batches ----


def batched(x, n):
    """x with a batch axis in front of its channels and n spatial axes."""
    return Unsqueeze(x, [0]) if x.ndim == n + 1 else x


def unbatched(y, x, n):
    """y without the batch axis, if x had none."""
    return Squeeze(y, [0]) if x.ndim == n + 1 else y


def pad_spatial(x, before, behind, value):
    """x with its spatial axes padded, or x if all pads are 0."""
    if all_zero(before + behind):
        return x
    return Pad(x, [0, 0] + before + [0, 0] + behind, value, mode="constant")
