"""Methods of int, float and complex that are Python, each as a function whose first parameter is
the number."""


def bit_length(self):
    n, bits = abs(self), 0
    while n > 0:
        n //= 2
        bits += 1
    return bits


def bit_count(self):
    n, ones = abs(self), 0
    while n > 0:
        ones += n % 2
        n //= 2
    return ones


def is_integer(self):
    return self == self and self not in (float("inf"), -float("inf")) and self // 1 == self


def as_integer_ratio(self):
    denominator = 1
    while self % 1 != 0:
        self *= 2.0
        denominator *= 2
    return int(self), denominator


def conjugate(self):
    return complex(self.real, -self.imag) if isinstance(self, complex) else self


def round_float(self, digits):
    """The decimal number that printf writes is the exact one rounded, as Python's."""
    if digits >= 0:
        return float(f"{self:.{digits}f}")
    scale = 10 ** -digits
    return float(round(self / scale) * scale)


def round_int(self, digits):
    """Halves are rounded to even."""
    if digits >= 0:
        return self
    unit = 10 ** -digits
    n, rest = divmod(self, unit)
    return (n + (2 * rest > unit or (2 * rest == unit and n % 2 == 1))) * unit
