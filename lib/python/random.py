"""random: Python's generator, MT19937, from a seed; without one, from seed 0."""
from math import cos, exp, log, pi, sin, sqrt

_N, _M = 624, 397


class Random:
    def __init__(self, x=None):
        self.seed(0 if x is None else x)

    def seed(self, a=None, version=2):
        if a is None:
            a = 0
        if not isinstance(a, int):
            raise NotImplementedError("random.seed: expected an integer")
        a = abs(a)
        key = []
        while a > 0:
            key.append(a & 0xFFFFFFFF)
            a = a >> 32
        self._by_array(key or [0])

    def _by_array(self, key):
        state = [19650218]
        for i in range(1, _N):
            last = state[-1]
            state.append((1812433253 * (last ^ (last >> 30)) + i) & 0xFFFFFFFF)
        i, j = 1, 0
        for _ in range(max(_N, len(key))):
            last = state[i - 1]
            state[i] = ((state[i] ^ ((last ^ (last >> 30)) * 1664525)) + key[j] + j) & 0xFFFFFFFF
            i, j = i + 1, (j + 1) % len(key)
            if i >= _N:
                state[0] = state[_N - 1]
                i = 1
        for _ in range(_N - 1):
            last = state[i - 1]
            state[i] = ((state[i] ^ ((last ^ (last >> 30)) * 1566083941)) - i) & 0xFFFFFFFF
            i += 1
            if i >= _N:
                state[0] = state[_N - 1]
                i = 1
        state[0] = 0x80000000
        self.state = state
        self.at = _N
        self.next_gauss = None

    def _word(self):
        state = self.state
        if self.at >= _N:
            for k in range(_N):
                y = (state[k] & 0x80000000) | (state[(k + 1) % _N] & 0x7FFFFFFF)
                state[k] = state[(k + _M) % _N] ^ (y >> 1) ^ (0x9908B0DF if y & 1 else 0)
            self.at = 0
        y = state[self.at]
        self.at += 1
        y ^= y >> 11
        y ^= (y << 7) & 0x9D2C5680
        y ^= (y << 15) & 0xEFC60000
        return y ^ (y >> 18)

    def random(self):
        a, b = self._word() >> 5, self._word() >> 6
        return (a * 67108864.0 + b) * (1.0 / 9007199254740992.0)

    def getrandbits(self, k):
        result, shift = 0, 0
        while k > 0:
            word = self._word()
            if k < 32:
                word = word >> (32 - k)
            result |= word << shift
            shift += 32
            k -= 32
        return result

    def _below(self, n):
        k = 0
        while (n >> k) > 0:
            k += 1
        r = self.getrandbits(k)
        while r >= n:
            r = self.getrandbits(k)
        return r

    def randrange(self, start, stop=None, step=1):
        if stop is None:
            start, stop = 0, start
        n = len(range(start, stop, step))
        if n <= 0:
            raise ValueError("empty range for randrange()")
        return start + step * self._below(n)

    def randint(self, a, b):
        return self.randrange(a, b + 1)

    def choice(self, seq):
        if len(seq) == 0:
            raise IndexError("Cannot choose from an empty sequence")
        return seq[self._below(len(seq))]

    def uniform(self, a, b):
        return a + (b - a) * self.random()

    def sample(self, population, k):
        n = len(population)
        if k < 0 or k > n:
            raise ValueError("Sample larger than population or is negative")
        setsize = 21
        if k > 5:
            size = 1
            while size < 3 * k:
                size *= 4
            setsize += size
        if n <= setsize:
            pool, out = list(population), []
            for i in range(k):
                j = self._below(n - i)
                out.append(pool[j])
                pool[j] = pool[n - i - 1]
            return out
        chosen = set()
        out = []
        for _ in range(k):
            j = self._below(n)
            while j in chosen:
                j = self._below(n)
            chosen.add(j)
            out.append(population[j])
        return out

    def choices(self, population, weights=None, *, cum_weights=None, k=1):
        n = len(population)
        if weights is None and cum_weights is None:
            return [population[int(self.random() * n)] for _ in range(k)]
        if cum_weights is None:
            cum_weights, total = [], 0
            for w in weights:
                total += w
                cum_weights.append(total)
        out = []
        for _ in range(k):
            x = self.random() * float(cum_weights[-1])
            i = 0
            while i < n - 1 and cum_weights[i] <= x:
                i += 1
            out.append(population[i])
        return out

    def gauss(self, mu=0.0, sigma=1.0):
        z, self.next_gauss = self.next_gauss, None
        if z is None:
            angle = self.random() * 2 * pi
            radius = sqrt(-2.0 * log(1.0 - self.random()))
            z = cos(angle) * radius
            self.next_gauss = sin(angle) * radius
        return mu + z * sigma

    def normalvariate(self, mu=0.0, sigma=1.0):
        magic = 4 * exp(-0.5) / sqrt(2.0)
        while True:
            u1 = self.random()
            u2 = 1.0 - self.random()
            z = magic * (u1 - 0.5) / u2
            if z * z / 4.0 <= -log(u2):
                return mu + z * sigma

    def expovariate(self, lambd=1.0):
        return -log(1.0 - self.random()) / lambd

    def shuffle(self, x):
        for i in range(len(x) - 1, 0, -1):
            j = self._below(i + 1)
            x[i], x[j] = x[j], x[i]


class _Lazy:
    """Makes the generator when the first number is drawn."""

    def __getattr__(self, name):
        if "generator" not in self.__dict__:
            self.__dict__["generator"] = Random()
        return getattr(self.__dict__["generator"], name)


_default = _Lazy()


def seed(a=None, version=2):
    _default.seed(a)


def random():
    return _default.random()


def getrandbits(k):
    return _default.getrandbits(k)


def randrange(start, stop=None, step=1):
    return _default.randrange(start, stop, step)


def randint(a, b):
    return _default.randint(a, b)


def choice(seq):
    return _default.choice(seq)


def uniform(a, b):
    return _default.uniform(a, b)


def shuffle(x):
    _default.shuffle(x)


def sample(population, k):
    return _default.sample(population, k)


def choices(population, weights=None, *, cum_weights=None, k=1):
    return _default.choices(population, weights, cum_weights=cum_weights, k=k)


def gauss(mu=0.0, sigma=1.0):
    return _default.gauss(mu, sigma)


def normalvariate(mu=0.0, sigma=1.0):
    return _default.normalvariate(mu, sigma)


def expovariate(lambd=1.0):
    return _default.expovariate(lambd)
