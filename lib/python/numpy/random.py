"""numpy.random: RandomState and the functions of the default one, with numpy's MT19937.

default_rng, whose generator is PCG64, is refused.
"""
from math import log as _log, sqrt as _sqrt
from random import Random as _Random


class _Twister(_Random):
    """numpy seeds with Knuth's generator, Python by an array."""

    def seed(self, a=None, version=2):
        word = a & 0xFFFFFFFF
        state = [word]
        for i in range(1, 624):
            word = (1812433253 * (word ^ (word >> 30)) + i) & 0xFFFFFFFF
            state.append(word)
        self.state = state
        self.at = 624


def _shape(size):
    return [size] if isinstance(size, int) else list(size)


class RandomState:
    def __init__(self, seed=None):
        self.seed(seed)

    def seed(self, seed=None):
        if seed is not None and (seed < 0 or seed > 0xFFFFFFFF):
            raise ValueError("Seed must be between 0 and 2**32 - 1")
        self._bits = _Twister(0 if seed is None else int(seed))
        self._gauss = None

    def _fill(self, draw, size, dtype=None):
        from .array import _array
        if size is None:
            return draw()
        shape = _shape(size)
        n = 1
        for k in shape:
            n *= k
        return _array([draw() for _ in range(n)], dtype=dtype).reshape(shape)

    def _interval(self, most):
        """A number from 0 to most, by masks and rejection."""
        mask = most
        for shift in (1, 2, 4, 8, 16):
            mask |= mask >> shift
        if most > 0xFFFFFFFF:
            raise NotImplementedError("numpy.random: expected a range of less than 2**32")
        value = self._bits._word() & mask
        while value > most:
            value = self._bits._word() & mask
        return value

    def _normal(self):
        if self._gauss is not None:
            value, self._gauss = self._gauss, None
            return value
        while True:
            a = 2.0 * self._bits.random() - 1.0
            b = 2.0 * self._bits.random() - 1.0
            r = a * a + b * b
            if r < 1.0 and r != 0.0:
                break
        f = _sqrt(-2.0 * _log(r) / r)
        self._gauss = f * a
        return f * b

    def random_sample(self, size=None):
        return self._fill(self._bits.random, size)

    def rand(self, *shape):
        return self.random_sample(shape or None)

    def random(self, size=None):
        return self.random_sample(size)

    def uniform(self, low=0.0, high=1.0, size=None):
        return self._fill(lambda: low + (high - low) * self._bits.random(), size)

    def standard_normal(self, size=None):
        return self._fill(self._normal, size)

    def randn(self, *shape):
        return self.standard_normal(shape or None)

    def normal(self, loc=0.0, scale=1.0, size=None):
        return self._fill(lambda: loc + scale * self._normal(), size)

    def randint(self, low, high=None, size=None, dtype=None):
        if high is None:
            low, high = 0, low
        if low >= high:
            raise ValueError("low >= high")
        if high - 1 == low:
            return self._fill(lambda: low, size)
        return self._fill(lambda: low + self._interval(high - 1 - low), size)

    def shuffle(self, x):
        for i in range(len(x) - 1, 0, -1):
            j = self._interval(i)
            x[i], x[j] = x[j], x[i]

    def permutation(self, x):
        from .array import _array
        items = list(range(x)) if isinstance(x, int) else [item for item in x]
        self.shuffle(items)
        return _array(items)

    def choice(self, a, size=None, replace=True, p=None):
        if p is not None:
            raise NotImplementedError("numpy.random.choice with p is not implemented")
        n = a if isinstance(a, int) else len(a)
        if replace:
            chosen = self.randint(0, n, size)
        else:
            shape = () if size is None else _shape(size)
            count = 1
            for k in shape:
                count *= k
            if count > n:
                raise ValueError("Cannot take a larger sample than population when 'replace=False'")
            chosen = self.permutation(n)[:count]
            chosen = chosen.reshape(list(shape)) if size is not None else int(chosen[0])
        if isinstance(a, int):
            return chosen
        from .array import _array
        return a[chosen] if size is None else _array(a)[chosen]


class _Lazy:
    """Makes the generator when the first number is drawn."""

    def __getattr__(self, name):
        if "state" not in self.__dict__:
            self.__dict__["state"] = RandomState()
        return getattr(self.__dict__["state"], name)


_default = _Lazy()


def seed(seed=None):
    _default.seed(seed)


def rand(*shape):
    return _default.rand(*shape)


def randn(*shape):
    return _default.randn(*shape)


def random(size=None):
    return _default.random(size)


random_sample = random


def standard_normal(size=None):
    return _default.standard_normal(size)


def randint(low, high=None, size=None, dtype=None):
    return _default.randint(low, high, size, dtype)


def uniform(low=0.0, high=1.0, size=None):
    return _default.uniform(low, high, size)


def normal(loc=0.0, scale=1.0, size=None):
    return _default.normal(loc, scale, size)


def choice(a, size=None, replace=True, p=None):
    return _default.choice(a, size, replace, p)


def permutation(x):
    return _default.permutation(x)


def shuffle(x):
    _default.shuffle(x)


def default_rng(seed=None):
    raise NotImplementedError("numpy.random.default_rng is not implemented; use RandomState")
