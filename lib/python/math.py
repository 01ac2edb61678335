"""math: operators on numbers, which keep sizes symbolic where they can."""
from calque import operator as _operator

pi = 3.141592653589793
e = 2.718281828459045
tau = 6.283185307179586
inf = 1e999
nan = inf - inf

sqrt = _operator("aten::sqrt")
exp = _operator("aten::exp")
expm1 = _operator("aten::expm1")
log1p = _operator("aten::log1p")
log2 = _operator("aten::log2")
log10 = _operator("aten::log10")
sin = _operator("aten::sin")
cos = _operator("aten::cos")
tan = _operator("aten::tan")
asin = _operator("aten::asin")
acos = _operator("aten::acos")
atan = _operator("aten::atan")
atan2 = _operator("aten::atan2")
sinh = _operator("aten::sinh")
cosh = _operator("aten::cosh")
tanh = _operator("aten::tanh")
asinh = _operator("aten::asinh")
acosh = _operator("aten::acosh")
atanh = _operator("aten::atanh")
floor = _operator("aten::floor")
ceil = _operator("aten::ceil")
pow = _operator("aten::pow")
fabs = _operator("aten::fabs")
fmod = _operator("aten::fmod")
copysign = _operator("aten::copysign")
degrees = _operator("aten::degrees")
radians = _operator("aten::radians")
erf = _operator("aten::erf")
erfc = _operator("aten::erfc")
gamma = _operator("aten::gamma")
lgamma = _operator("aten::lgamma")
factorial = _operator("aten::factorial")
isnan = _operator("aten::isnan")
isinf = _operator("aten::isinf")
modf = _operator("aten::modf")
frexp = _operator("aten::frexp")
ldexp = _operator("aten::ldexp")
remainder = _operator("aten::mathremainder")


def log(x, base=None):
    if base is None:
        return _operator("aten::log")(x)
    return _operator("aten::log")(x) / _operator("aten::log")(base)


def trunc(x):
    return int(x)


def isfinite(x):
    return not isnan(x) and not isinf(x)


def gcd(*integers):
    result = 0
    for n in integers:
        n = abs(n)
        while n:
            result, n = n, result % n
    return result


def lcm(*integers):
    result = 1
    for n in integers:
        if n == 0:
            return 0
        result = abs(result * n) // gcd(result, n)
    return result


def prod(iterable, *, start=1):
    for x in iterable:
        start = start * x
    return start


def hypot(*coordinates):
    return sqrt(float(sum(x * x for x in coordinates)))


def dist(p, q):
    return sqrt(float(sum((a - b) * (a - b) for a, b in zip(p, q))))


def isqrt(n):
    root = int(sqrt(float(n)))
    while root * root > n:
        root -= 1
    while (root + 1) * (root + 1) <= n:
        root += 1
    return root


def comb(n, k):
    if k > n:
        return 0
    result = 1
    for i in range(min(k, n - k)):
        result = result * (n - i) // (i + 1)
    return result


def perm(n, k=None):
    result = 1
    for i in range(n if k is None else k):
        result *= n - i
    return result


def cbrt(x):
    return x ** (1 / 3) if x >= 0 else -((-x) ** (1 / 3))


def exp2(x):
    return 2.0 ** x


def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    return a == b or abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)


def fsum(seq):
    """The sum without rounding errors: partial sums that do not overlap."""
    partials = []
    for x in seq:
        i = 0
        for y in partials:
            if abs(x) < abs(y):
                x, y = y, x
            high = x + y
            low = y - (high - x)
            if low:
                partials[i] = low
                i += 1
            x = high
        partials[i:] = [x]
    return float(sum(partials))


def factorial(n):
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    return prod(range(1, n + 1))


def modf(x):
    whole = float(trunc(x))
    return copysign(x - whole, x), copysign(whole, x)


def frexp(x):
    if x == 0 or not isfinite(x):
        return x, 0
    exponent = 0
    while abs(x) >= 1:
        x /= 2
        exponent += 1
    while abs(x) < 0.5:
        x *= 2
        exponent -= 1
    return x, exponent


def ldexp(x, i):
    return x * 2.0 ** i
