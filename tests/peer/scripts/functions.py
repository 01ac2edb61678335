"""Functions."""
import functools


def f(a, b=2, *args, c, d=4, **kw):
    return a, b, args, c, d, kw


def g(a, /, b, *, c=3):
    return a, b, c


print(f(1, c=3), f(1, 5, 6, 7, c=8, e=9), g(1, 2), g(1, b=2, c=5))
print(f(*[1, 2], *(3,), **{"c": 1}, **{"z": 2}))
for call in (lambda: f(1), lambda: g(1), lambda: g(1, 2, 3), lambda: g(1, 2, x=1)):
    try:
        call()
    except TypeError as error:
        print("TypeError")


def counter():
    n = 0

    def inc(by=1):
        nonlocal n
        n += by
        return n

    return inc


c = counter()
print(c(), c(5), counter()())
total = 0


def add(x):
    global total
    total += x


add(3)
print(total)
fs = [lambda x, i=i: x * i for i in range(3)]
print([fn(10) for fn in fs], [fn() for fn in [lambda: i for i in range(3)]])


def deco(times):
    def wrap(fn):
        @functools.wraps(fn)
        def inner(*args, **kwargs):
            return [fn(*args, **kwargs) for _ in range(times)]

        return inner

    return wrap


@deco(2)
def hello(x):
    """Says hello."""
    return "hello " + x


print(hello("you"), hello.__name__)
print((lambda *a, **k: (a, k))(1, x=2))
p = functools.partial(f, 1, c=2)
print(p(9), p.func is f, p.keywords, functools.reduce(lambda a, b: a * b, [1, 2, 3, 4]))
if (n := len("abc")) > 2:
    print(n)
print([y := 1, y + 1], [last := x for x in range(3)], last)
print(1 < 2 < 3, 1 < 3 < 2, 1 == 1.0 != 2, "a" if n else "b", not n, n and 0 or 5)


def mutable(x=[]):
    x.append(1)
    return x


mutable()
print(mutable(), f.__name__)


def annotated(x: int, y: "str" = "a") -> float:
    z: int = 3
    w: float
    return z


print(annotated(1), annotated.__annotations__ if False else "")


def rec(n):
    return 1 if n == 0 else n * rec(n - 1)


print(rec(10), rec(20))
x = y = z = 3
(x, y), *rest, z = (1, 2), 3, 4, 5
print(x, y, z, rest)
a, b = b, a = 1, 2
print(a, b)
[p, q] = {"k": 1, "m": 2}
print(p, q)
assert True, "no"
try:
    assert x == 5, f"x is {x}"
except AssertionError as error:
    print("assert", type(error).__name__)
