"""Reference for floats of eight and four bits and integers of four and two: finds the nearest
number in a list of all. Slow, but simple."""
import functools

import numpy as np

# bits of exponent and fraction, bias, whether there are infinities, whether the zero is the only
FORMATS = {"float8e4m3fn": (4, 3, 7, False, False), "float8e4m3fnuz": (4, 3, 8, False, True),
           "float8e5m2": (5, 2, 15, True, False), "float8e5m2fnuz": (5, 2, 16, False, True),
           "float4e2m1": (2, 1, 1, False, False)}
INTEGERS = {"uint4": 4, "int4": 4, "uint2": 2, "int2": 2}  # and their bits
BITS = {**INTEGERS, "float4e2m1": 4}


def value_of(code, name):
    """The number of a code without sign; None: invalid."""
    exponent_bits, fraction_bits, bias, infinite, one_zero = FORMATS[name]
    exponent, fraction = code >> fraction_bits, code & ((1 << fraction_bits) - 1)
    top = exponent == (1 << exponent_bits) - 1
    if name != "float4e2m1" and not one_zero and top:
        if infinite or fraction == (1 << fraction_bits) - 1:
            return None
    scale = 2.0 ** (max(exponent, 1) - bias - fraction_bits)
    return scale * (fraction + ((1 << fraction_bits) if exponent else 0))


@functools.lru_cache(maxsize=None)
def table(name):
    bits = sum(FORMATS[name][:2])
    values = [value_of(code, name) for code in range(1 << bits)]
    return np.array([v for v in values if v is not None])


def code_of(x, name):
    """The code nearest to x, ties to the even one; what is too large is the largest."""
    if name in INTEGERS:
        return int(np.rint(x)) & ((1 << INTEGERS[name]) - 1)
    if name == "float8e8m0":  # the power of two above; negative numbers are invalid
        if np.isnan(x) or x < 0:
            return 255
        return min(254, max(0, int(np.ceil(np.log2(x))) + 127)) if x > 0 else 0
    sign = 1 << sum(FORMATS[name][:2])
    one_zero = FORMATS[name][4]
    if np.isnan(x):
        return sign if one_zero else len(table(name)) - 1 if sign == 8 else sign - 1
    away = np.abs(table(name) - min(abs(x), table(name)[-1]))
    nearest = np.flatnonzero(away == away.min())
    code = next((c for c in nearest if c % 2 == 0), nearest[0])
    return int(code) | (sign if np.signbit(x) and (code or not one_zero) else 0)


def rounded(values, name):
    if name in INTEGERS:
        size = 1 << INTEGERS[name]
        codes = np.rint(values).astype(np.int64) & (size - 1)
        is_negative = (codes >= size // 2) & (name[0] == "i")
        return np.where(is_negative, codes - size, codes).astype(np.float32)
    if name == "float8e8m0":
        codes = [code_of(x, name) for x in np.asarray(values).reshape(-1)]
        numbers = [np.nan if code == 255 else 2.0 ** (code - 127) for code in codes]
        return np.array(numbers, np.float32).reshape(np.shape(values))
    out = []
    for x in np.asarray(values).reshape(-1):
        code, sign = code_of(x, name), 1 << sum(FORMATS[name][:2])
        size = code & (sign - 1)
        value = table(name)[size] if size < len(table(name)) and not np.isnan(x) else np.nan
        out.append(-value if code & sign else value)
    return np.array(out, np.float32).reshape(np.shape(values))


def packed(values, name):
    codes = [code_of(x, name) for x in np.asarray(values).reshape(-1)]
    bits = BITS.get(name, 8)
    per_byte = 8 // bits
    codes += [0] * (-len(codes) % per_byte)
    return bytes(sum(code << k * bits for k, code in enumerate(codes[i:i + per_byte]))
                 for i in range(0, len(codes), per_byte))
