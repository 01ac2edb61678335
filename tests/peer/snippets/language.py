#: comparison of lists and tuples
print([1, 2] < [1, 3], (1, 2) <= (1, 2), [2] > [1, 5], (1,) >= (1, 0), [] < [0])
print(sorted([(2, "b"), (1, "z"), (2, "a")]), min([3, 1], [2, 9]), max((1, 2), (1, 3)))
print([1, [2, 3]] < [1, [2, 4]], ("a", 1) == ("a", 1), [1] != [2])
#: del of slices and items
a = list(range(10))
del a[2:5]
print(a)
del a[::2]
print(a)
del a[-1]
print(a)
d = {"a": 1, "b": 2}
del d["a"]
print(d)
b = [1, 2, 3]
del b[:]
print(b)
del a[1:], d["b"]
print(a, d)
#: __index__ of an instance
class I:
    def __init__(self, n): self.n = n
    def __index__(self): return self.n
a = [10, 20, 30, 40]
print(a[I(1)], a[I(1):I(3)], a[:I(2)], (5, 6)[I(0)], "abc"[I(2)])
print(list(range(I(3))))
print([0] * 3, "x" * 2)
#: slice assignment
a = [0, 1, 2, 3, 4]
a[1:3] = ["a", "b", "c"]
print(a)
a[::2] = [9, 9, 9]
print(a)
a[:0] = [7]
a[len(a):] = [8]
print(a)
#: slices of all kinds
a = list(range(10))
print(a[::-1], a[8:2:-2], a[-3:], a[:-3], a[20:], a[5:2], a[-100:3])
print("hello"[::-1], (1, 2, 3)[::2], "hello"[-4:-1])
s = slice(1, 8, 3)
print(a[s], s.start, s.stop, s.step)
#: unpacking
a, *b, c = [1, 2, 3, 4]
print(a, b, c)
(x, y), z = (1, 2), 3
print(x, y, z)
*a, = "ab"
print(a)
a, b = b, a
print(a, b)
for i, (p, *q) in enumerate([(1, 2, 3), (4,)]):
    print(i, p, q)
try:
    a, b = [1, 2, 3]
except ValueError as e:
    print(e)
try:
    a, b, c = [1, 2]
except ValueError as e:
    print(e)
#: chained comparison and boolean operators
x = 5
print(1 < x < 10, 1 < x > 7, 0 or "a", "" and 1, None or 0 or [], not [])
print(x if x > 3 else -x, (x > 3) + 1, 3 == 3.0 == True + 2)
#: integer arithmetic
print(7 // 2, -7 // 2, 7 // -2, 7 % 3, -7 % 3, 7 % -3, 2 ** 10, 2 ** -1, -2 ** 2)
print(divmod(-7, 2), divmod(7.5, 2), 5 & 3, 5 | 3, 5 ^ 3, ~5, 1 << 10, -17 >> 2)
print(int("12"), int("-0x1f", 16), int("101", 2), int(3.9), int(-3.9), round(2.5), round(3.5), round(-2.5))
print(abs(-3), pow(2, 5), pow(3, 4, 5), (10).bit_length(), 0b101, 0o17, 0xff, 1_000)
#: float arithmetic and printing
print(0.1 + 0.2, 1e16, 1e15, 123456789.0, 1e-5, 0.0001, 1e22, 1e100, -0.0, 10.0, 30.0, 100.0, 1e5)
print([10.0, 2e3, 1.5, 1e16], (100.0,), {20.0: 1}, str(10.0), repr(1e1), f"{10.0}", "%s" % 10.0)
print(7.0 // 2, -7.5 % 2, 7 / 2, 6 / 2, 2 ** 0.5, 1 / 3, float("inf"), -float("inf"), float("nan"))
print(round(2.675, 2), round(1234.5678, -2), round(0.5), round(1.5), round(1e10))
print(float("1e3"), float(" 2.5 "), 1.0.is_integer(), 1.5.is_integer(), (0.5).as_integer_ratio())
print(3.0, 3.10, 1234567.891, 1e-7, 5e-324, 1.7976931348623157e308)
#: division by zero
for f in (lambda: 1 // 0, lambda: 1 % 0, lambda: 1 / 0, lambda: 1.0 // 0, lambda: divmod(1, 0)):
    try:
        f()
    except ZeroDivisionError as e:
        print("ZeroDivisionError")
#: complex numbers
z = 3 + 4j
print(z, abs(z), z.real, z.imag, z.conjugate(), z * 2, z + 1, -z, z == 3 + 4j, complex(1, -2))
#: strings
s = "Hello, World"
print(s.lower(), s.upper(), s.swapcase(), s.title(), s.find("o"), s.rfind("o"), s.count("l"), s.replace("l", "L", 2))
print(s.split(", "), s.partition(", "), s.startswith("He"), s.endswith(("x", "ld")), s.index("W"), s[::2])
print("a,b,,c".split(","), " a  b ".split(), "a-b-c".rsplit("-", 1), "x".join(["1", "2"]), "  x ".strip() + "|", "xxaxx".strip("x"))
print("ab".center(6, "*"), "ab".ljust(4) + "|", "ab".rjust(4), "7".zfill(3), "-7".zfill(4), "a\tb".expandtabs(4))
print("abc".isalpha(), "12".isdigit(), "a1".isalnum(), " ".isspace(), "Ab".isupper(), "ab".islower())
print("line1\nline2".splitlines(), "abc" < "abd", "a" in "abc", "abc" * 2, ord("a"), chr(98), "b" > "a")
print("prefix_x".removeprefix("prefix_"), "x.py".removesuffix(".py"), "StrA".casefold() == "stra", "abc".translate({97: "x"}))
print("%d %5.2f %s %r %x %o %e %g %%" % (3, 2.5, "s", "r", 255, 8, 12345.678, 0.0001))
print("%-5s|%5s|%05d|%+d" % ("a", "b", 42, 7), "%(k)s=%(v)d" % {"k": "a", "v": 1}, "%s" % (1,))
#: escapes and repr
print(repr("a'b"), repr('a"b'), repr("a\nb\t\\"), repr("é"), ascii("e"), repr("\x00\x7f"), "\u00e9", "\x41", r"\n", "a" "b")
print([None, True, 1.5, "s", (1,), {"a": [1]}], (), [], {}, {1: 2})
#: str.format
print("{} {}".format(1, 2), "{0} {1} {0}".format("a", "b"), "{x} {y!r}".format(x=1, y="s"))
print("{:>8}|{:<8}|{:^8}|{:*^8}".format("a", "b", "c", "d"), "{:05d} {:+d} {:,} {:_}".format(42, 5, 1234567, 1234567))
print("{:.3f} {:8.2f} {:e} {:g} {:%} {:.1%}".format(3.14159, 2.5, 12345.678, 0.00001, 0.25, 0.256))
print("{:x} {:X} {:o} {:b} {:#x} {:#b} {:08b}".format(255, 255, 8, 5, 255, 5, 5))
print("{a[0]} {a[1]} {c[k]}".format(a=[1, 2], b=3, c={"k": "v"}), "{{}} {}".format(1))
#: f-strings
x, name, d = 3.14159, "abc", {"k": 1}
print(f"{x:.2f} {name!r} {name:>5} {x=} {d['k']} {1 + 1} {{}} {x:{6}.{2}f}|")
print(f"{'nested ' + f'{name}'} {[i for i in range(3)]} {(lambda a: a * 2)(4)} {name.upper()!s:>6}")
print(f"{1000000:,} {0.5:%} {255:#x} {True} {None} {1e10} {x!s}")
print(f"{10:b} {-5:+} {5:+} {3: d} {1234.5:10.1f}| {'a':<3}|")
#: bytes
b = b"abc"
print(len(b), b == b"abc", b.decode(), "abc".encode() == b)
#: dicts
d = {"a": 1, "b": 2}
d["c"] = 3
print(d, len(d), "a" in d, d.get("x"), d.get("x", 0), d.pop("a"), d.pop("z", None), list(d), list(d.items()))
d.update({"b": 9}, e=5)
print(d, d.setdefault("f", []), d.setdefault("b", 0), {**d, "b": 0}, d | {"g": 1})
print({k: v for k, v in zip("ab", [1, 2])}, dict(a=1), dict([("x", 1)]), dict.fromkeys("ab", 0))
for k, v in d.items(): print(k, v)
print(sorted(d), list(reversed(d)), d == dict(d), {1: "a"} == {1.0: "a"}, d.popitem())
try:
    d["missing"]
except KeyError as e:
    print("KeyError", e)
del d["b"]
print(list(d.keys()), list(d.values()), list(d.items()))
#: dict views
d = {"a": 1, "b": 2}
k = d.keys()
print(len(k), list(d.keys() & {"a", "c"}) != [], d.keys() == {"a", "b", "c"})
#: sets
s = {3, 1, 2}
s.add(4); s.discard(9); s.remove(1)
print(sorted(s), 2 in s, len(s), sorted(s | {9}), sorted(s & {2, 3}), sorted(s - {2}), sorted(s ^ {2, 7}))
print({1, 2} <= {1, 2, 3}, {1} < {1}, {1, 2}.issuperset({1}), {1}.isdisjoint({2}), frozenset([1, 2]) == {1, 2}, set() == set())
print(sorted({x % 3 for x in range(10)}), sorted(set("hello")), len(frozenset("aab")), {1: 0} == {1: 0})
s |= {10}; s &= {10, 2}; s -= {2}
print(s, {frozenset([1]): "f"}[frozenset([1])], sorted(set([1, 2]).union([3], [4])))
#: list methods
a = [3, 1, 2]
a.append(5); a.extend([4, 4]); a.insert(0, 9); a.remove(4)
print(a, a.index(2), a.count(4), a.pop(), a.pop(0), a[-1])
a.sort(); print(a); a.sort(reverse=True); print(a); a.reverse(); print(a)
print(sorted("bca"), sorted([3, -1, 2], key=abs), sorted(["b", "A"], key=str.lower), sorted([1, 2, 3], reverse=True))
b = a.copy(); b.clear(); print(a, b, a + [1], a * 2, [0] * 3, 1 in a, a == list(a), a is a)
a += (7,); print(a)
try:
    [].pop()
except IndexError as e:
    print("IndexError")
try:
    [1].index(5)
except ValueError as e:
    print("ValueError")
try:
    [1, 2][5]
except IndexError as e:
    print(e)
#: tuples
t = (1, 2, 3)
print(t + (4,), t * 2, t[1:], t.count(1), t.index(3), len(t), 2 in t, hash(t) == hash((1, 2, 3)), tuple("ab"), (1,))
try:
    t[0] = 1
except TypeError as e:
    print("TypeError")
#: builtin functions
print(sum([1, 2, 3]), sum([[1], [2]], []), max(3, 1), max([1, 5], key=lambda x: -x), min("b", "a"), max([], default=0))
print(any([0, 1]), all([]), len("abc"), list(reversed([1, 2])), list(enumerate("ab", 1)), list(zip([1, 2], "ab")))
print(list(map(lambda x, y: x + y, [1, 2], [3, 4])), list(filter(None, [0, 1, "", "a"])), list(range(5, 0, -2)))
print(callable(len), isinstance(1, (int, str)), isinstance(True, int), issubclass(bool, int), type(1) is int, type("").__name__)
print(bool([]), bool("a"), int(True), str(1.0), float(3), list("ab"), tuple([1]), repr("x"), chr(97), ord("a"))
print(hash(1) == hash(1.0), id(t) == id(t) if (t := ()) is not None else 0, getattr(1, "real"), hasattr("", "join"), vars is vars)
#: map and zip are iterators
m = map(str, [1, 2, 3])
print(next(m), list(m), list(m))
z = zip([1, 2], "ab")
print(next(z), list(z), list(z))
e = enumerate("ab")
print(next(e), next(e), next(e, None))
f = filter(None, [1, 0, 2])
print(next(f), list(f))
r = reversed([1, 2, 3])
print(next(r), list(r))
#: iter with a sentinel and a default for next
it = iter([1, 2])
print(next(it), next(it), next(it, "none"))
values = iter([1, 2, 0, 3])
print(list(iter(lambda: next(values), 0)))
#: functions
def f(a, b=2, *args, c, d=4, **kw):
    return a, b, args, c, d, kw
print(f(1, c=3), f(1, 2, 3, 4, c=5, x=6), f(*[1, 2], **{"c": 3}))
def g(a, /, b, *, c=1): return a, b, c
print(g(1, 2), g(1, b=2, c=3))
for call in (lambda: f(), lambda: f(1), lambda: g(a=1, b=2), lambda: g(1, 2, 3), lambda: f(1, c=1, **{"a": 2})):
    try:
        call()
    except TypeError as e:
        print("TypeError")
#: mutable defaults
def f(x, acc=[]):
    acc.append(x)
    return acc
print(f(1), f(2), f(3, []), f(4))
#: closures
def counter():
    n = 0
    def inc(by=1):
        nonlocal n
        n += by
        return n
    return inc
c = counter()
print(c(), c(5), counter()())
fs = [lambda: i for i in range(3)]
print([f() for f in fs])
fs = [lambda i=i: i for i in range(3)]
print([f() for f in fs])
#: globals
n = 1
def f():
    global n
    n += 1
    return n
print(f(), f(), n)
#: recursion
def fact(n): return 1 if n < 2 else n * fact(n - 1)
def fib(n, memo={}):
    if n in memo: return memo[n]
    memo[n] = n if n < 2 else fib(n - 1) + fib(n - 2)
    return memo[n]
print(fact(20), fib(60))
#: decorators
import functools
def twice(f):
    @functools.wraps(f)
    def inner(*a, **k):
        return f(*a, **k) * 2
    return inner
def times(n):
    def deco(f):
        return lambda *a: f(*a) * n
    return deco
@twice
def f(x): "doc"; return x + 1
@times(3)
@twice
def g(x): return x
print(f(1), f.__name__, g(1), f.__doc__, f.__wrapped__(1))
#: lambda forms
print((lambda: 1)(), (lambda x, y=2: x + y)(1), (lambda *a, **k: (a, k))(1, b=2), list(map(lambda p: p[0], [(1, 2)])))
#: comprehensions
print([x * y for x in range(3) for y in range(3) if x != y], [[j for j in range(i)] for i in range(3)])
print({x: x * x for x in range(3)}, [a if a else "none" for a in [0, 1]], [y for x in [[1, 2], [3]] for y in x])
print([(i, j) for i, j in {"a": 1}.items()], [last := x for x in range(3)], last)
#: the scope of a comprehension
x = "outer"
print([x for x in range(3)], x)
class A:
    n = 3
    xs = [i for i in range(n)]
print(A.xs)
#: the walrus operator
if (n := len("abc")) > 2:
    print(n)
print([y for x in [1, 2, 3] if (y := x * 2) > 2], y)
while (n := n - 1):
    print(n)
#: while and for with else
for i in range(3):
    if i == 5: break
else:
    print("no break")
for i in range(3):
    if i == 1: break
else:
    print("never")
n = 3
while n:
    n -= 1
    if n == 1: continue
    print(n)
else:
    print("done")
#: nested breaks and returns
def f(m):
    for r in m:
        for x in r:
            if x < 0:
                break
            if x == 0:
                continue
            if x > 9:
                return x
        else:
            continue
        break
    return None
print(f([[1, 2], [0, 11]]), f([[1, -1], [11]]), f([[1], [2]]))
#: exceptions
def f(x):
    try:
        if x == 0: raise ValueError("zero")
        if x == 1: return [][1]
        if x == 2: return {}["k"]
        if x == 3: return int("a")
        if x == 4: return None.x
        if x == 5: return "a" + 1
        if x == 6: return undefined
        return "ok"
    except (ValueError, IndexError) as e:
        return type(e).__name__
    except KeyError as e:
        return "key " + str(e)
    except (AttributeError, TypeError, NameError) as e:
        return type(e).__name__
    finally:
        print("finally", x)
print([f(i) for i in range(8)])
#: raise from and args
class MyError(Exception):
    def __init__(self, msg, code):
        super().__init__(msg)
        self.code = code
try:
    try:
        raise KeyError("a")
    except KeyError as e:
        raise MyError("wrapped", 3) from e
except MyError as e:
    print(e, e.code, e.args, type(e.__cause__).__name__, repr(e), isinstance(e, Exception))
try:
    raise ValueError("a", 1)
except ValueError as e:
    print(e, e.args, repr(e))
try:
    raise RuntimeError
except RuntimeError as e:
    print(str(e) == "", e.args)
#: try, else, finally and re-raise
def f(bad):
    try:
        if bad: raise ValueError("x")
    except ValueError:
        print("except")
        raise
    else:
        print("else")
    finally:
        print("finally")
f(False)
try:
    f(True)
except ValueError as e:
    print("outer", e)
def g():
    for i in range(3):
        try:
            continue
        finally:
            print("f", i)
    try:
        return "try"
    finally:
        print("cleanup")
print(g())
#: assert
try:
    assert 1 == 2, "message"
except AssertionError as e:
    print(e)
assert True
#: with
class C:
    def __init__(self, n, swallow=False): self.n, self.swallow = n, swallow
    def __enter__(self): print("enter", self.n); return self
    def __exit__(self, t, v, tb): print("exit", self.n, t and t.__name__); return self.swallow
with C(1) as a, C(2):
    print(a.n)
with C(3, True):
    raise ValueError("swallowed")
try:
    with C(4):
        raise ValueError("x")
except ValueError as e:
    print("out", e)
def f():
    with C(5):
        return "returned"
print(f())
#: match
def f(x):
    match x:
        case 0 | 1: return "small"
        case int(n) if n > 100: return f"big {n}"
        case int(): return "int"
        case "a" | "b": return "letter"
        case [1, *rest]: return f"one and {rest}"
        case (a, b): return f"pair {a} {b}"
        case {"k": v, **rest}: return f"dict {v} {rest}"
        case None: return "none"
        case [[x, y], z]: return "nested"
        case _: return "other"
print([f(x) for x in (0, 1, 200, 5, "a", [1, 2, 3], (4, 5), {"k": 1, "z": 2}, None, 1.5, [])])
#: match of classes
class P:
    __match_args__ = ("x", "y")
    def __init__(self, x, y): self.x, self.y = x, y
def f(p):
    match p:
        case P(0, y): return f"axis {y}"
        case P(x=x, y=0): return f"other axis {x}"
        case P(x, y) if x == y: return "diagonal"
        case P(): return "point"
print(f(P(0, 1)), f(P(2, 0)), f(P(3, 3)), f(P(1, 2)), f(4))
#: augmented assignment
a = [1]; b = a; b += [2]; print(a)
x = 5; x -= 1; x *= 3; x //= 2; x **= 2; x %= 10; x <<= 3; x |= 1; x ^= 3; x &= 30; x >>= 1; print(x)
y = 7.0; y /= 2; print(y)
d = {"n": 1}; d["n"] += 1; print(d)
s = "a"; s += "b"; s *= 2; print(s)
#: print
print(1, 2, sep="-", end="!\n")
print("a", None, True, 1.0, sep=", ")
print()
print(*[1, 2, 3], sep="")
#: identity and equality
a = [1]; b = [1]; c = a
print(a == b, a is b, a is c, a is not b, None is None, 1 == 1.0, "1" == 1, [1, 2] == (1, 2))
#: string iteration and membership
print([c for c in "abc"], "ell" in "hello", "" in "a", list("ab"), dict(enumerate("ab")), max("hello"), sorted("hello"))
#: large integers
print(2 ** 62, 9223372036854775807, -9223372036854775807 - 1, 2 ** 62 - 1 + 2 ** 62)
#: integers beyond 64 bits | refused: does not fit in 64 bits
print(2 ** 64)
#: sums beyond 64 bits | refused: 64 bits
x = 2 ** 62
print(x + x + x)
#: a product beyond 64 bits | refused: 64 bits
x = 10 ** 15
print(x * x)
#: a literal beyond 64 bits | refused: does not fit in 64 bits
print(18446744073709551616)
#: async functions are parsed
async def f(x):
    async with x as y:
        pass
    async for z in y:
        await z
    return [a async for a in x]
print("parsed")
#: await in a function that runs | refused: not supported
import asyncio
async def f():
    return 1
print(f())
#: type hints are ignored
from __future__ import annotations
from typing import Optional, List, Dict, Union, Callable, Any, Tuple
x: int = 3
y: Undefined
def f(a: List[int], b: Optional[str] = None, *c: Any, **d: Dict[str, int]) -> Union[int, Tuple[int, ...]]:
    z: Callable[[int], int] = lambda v: v
    return z(len(a))
print(f([1, 2]), x)
#: operators on instances
class V:
    def __init__(self, x): self.x = x
    def __add__(self, o): return V(self.x + (o.x if isinstance(o, V) else o))
    __radd__ = __add__
    def __sub__(self, o): return V(self.x - o.x)
    def __mul__(self, k): return V(self.x * k)
    def __rmul__(self, k): return V(k * self.x)
    def __truediv__(self, k): return V(self.x / k)
    def __floordiv__(self, k): return V(self.x // k)
    def __mod__(self, k): return V(self.x % k)
    def __pow__(self, k): return V(self.x ** k)
    def __matmul__(self, o): return self.x * o.x
    def __neg__(self): return V(-self.x)
    def __abs__(self): return V(abs(self.x))
    def __invert__(self): return V(~self.x)
    def __lshift__(self, k): return V(self.x << k)
    def __and__(self, o): return V(self.x & o.x)
    def __eq__(self, o): return isinstance(o, V) and self.x == o.x
    def __lt__(self, o): return self.x < o.x
    def __repr__(self): return f"V({self.x})"
    def __bool__(self): return self.x != 0
    def __call__(self, y): return self.x + y
    def __iadd__(self, o): self.x += o; return self
a, b = V(6), V(4)
print(a + b, a + 1, 1 + a, a - b, a * 2, 3 * a, a / 4, a // 4, a % 4, a ** 2, a @ b, -a, abs(V(-1)), ~a, a << 1, a & b)
print(a == V(6), a != b, a < b, a > b, bool(V(0)), not a, a(1), sum([a, b], V(0)), max([a, b], key=lambda v: v.x), sorted([a, b]))
a += 10
print(a, [a, b], min(a, b))
#: container protocol
class Box:
    def __init__(self, *xs): self.xs = list(xs)
    def __len__(self): return len(self.xs)
    def __getitem__(self, i): return self.xs[i]
    def __setitem__(self, i, v): self.xs[i] = v
    def __delitem__(self, i): del self.xs[i]
    def __contains__(self, v): return v in self.xs
    def __iter__(self): return iter(self.xs)
    def __reversed__(self): return reversed(self.xs)
b = Box(1, 2, 3)
b[0] = 9
del b[1]
print(len(b), b[0], b[-1], b[0:1], 3 in b, 5 not in b, list(b), list(reversed(b)), [*b], bool(Box()))
#: iteration by __getitem__
class Old:
    def __getitem__(self, i):
        if i > 2: raise IndexError
        return i * i
print(list(Old()), [x for x in Old()], 4 in Old(), tuple(Old()))
#: iterators written by hand
class Up:
    def __init__(self, n): self.i, self.n = 0, n
    def __iter__(self): return self
    def __next__(self):
        if self.i >= self.n: raise StopIteration
        self.i += 1
        return self.i
print(list(Up(3)), sum(Up(4)), [x for x in Up(2)], max(Up(3)), dict(zip(Up(2), "ab")), list(zip(Up(5), Up(2))))
a, b = Up(2)
print(a, b, *Up(3))
#: user-defined equality and hash as keys
class K:
    def __init__(self, a, b): self.a, self.b = a, b
    def __eq__(self, o): return isinstance(o, K) and (self.a, self.b) == (o.a, o.b)
    def __hash__(self): return hash((self.a, self.b))
    def __repr__(self): return f"K({self.a}, {self.b})"
d = {K(1, 2): "x", K(3, 4): "y"}
print(d[K(1, 2)], K(3, 4) in d, K(9, 9) in d, d.get(K(3, 4)), len({K(1, 1), K(1, 1)}), K(1, 2) in [K(1, 2)])
d[K(1, 2)] = "z"
print(d, [K(1, 1)].index(K(1, 1)), [K(0, 0), K(1, 1)].count(K(1, 1)), d.pop(K(1, 2)), len(d), d.setdefault(K(3, 4), 0))
#: unhashable keys
for f in (lambda: {[]: 1}, lambda: {{}: 1}, lambda: hash([])):
    try:
        f()
        print("hashed")
    except TypeError as e:
        print("TypeError")
#: tuples and mixed keys
d = {(1, 2): "t", 1: "i", "1": "s", 1.5: "f", None: "n", True: "b"}
print(d[(1, 2)], d[1], d["1"], d[1.5], d[None], len(d), d)
#: __missing__ and dict subclasses
class D(dict):
    def __missing__(self, k): return k * 2
    def __getattr__(self, k):
        try: return self[k]
        except KeyError: raise AttributeError(k)
d = D(a=1)
print(d["a"], d["zz"], d.a, isinstance(d, dict), len(d), list(d), d.get("q"), dict(d))
#: list and str subclasses
class L(list):
    def second(self): return self[1]
l = L([1, 2, 3])
l.append(4)
print(l.second(), len(l), l[1:], isinstance(l, list), l == [1, 2, 3, 4], sum(l), [*l])
#: ternaries and short circuits
def t(x): print("t", x); return x
print(t(0) and t(1), t(2) or t(3), t(1) if t(0) else t(4), 1 < t(0) < t(5))
#: evaluation order
def f(x): print(x); return x
d = {f("k1"): f("v1"), f("k2"): f("v2")}
a = [f(1), f(2)][f(0)] + f(3) * f(4)
print(f("a"), *[f("b")], **{})
#: a chain of assignments
a = b = []
a.append(1)
print(b)
x = y = z = 0
print(x, y, z)
#: ellipsis and pass
def f(): ...
class A: pass
print(f(), ..., Ellipsis is ..., A().__class__.__name__)
#: help attributes
def f():
    """A doc string."""
print(f.__name__, f.__doc__, len.__name__, __name__)
#: type and dynamic classes
A = type("A", (), {"x": 1, "f": lambda self: self.x + 1})
B = type("B", (A,), {"x": 5})
print(A().f(), B().f(), B.__name__, B.__bases__ == (A,), type(B()) is B, isinstance(B(), A))
#: global code in functions with default None
def f(a=None):
    a = a or {}
    a.setdefault("x", []).append(1)
    return a
print(f(), f({"x": [0]}))
#: string building
s = ""
for i in range(3):
    s += str(i) + ","
print(s.rstrip(","), ",".join(str(i) for i in range(3)), "".join(reversed("abc")))
#: sorting stability and keys
data = [("b", 2), ("a", 2), ("c", 1)]
print(sorted(data, key=lambda t: t[1]), sorted(data, key=lambda t: (-t[1], t[0])), sorted(data, reverse=True))
from operator import itemgetter, attrgetter
print(sorted(data, key=itemgetter(1, 0)), max(data, key=itemgetter(1)), attrgetter("real")(3))
#: type errors
for f in (lambda: "a" + 1, lambda: len(5), lambda: None + 1, lambda: int([]), lambda: {}[[]], lambda: 1(), lambda: [1]["a"], lambda: iter(5)):
    try:
        f()
        print("no error")
    except TypeError:
        print("TypeError")
#: value errors
for f in (lambda: int("x"), lambda: float("y"), lambda: [].index(1), lambda: "a".index("b"), lambda: max([])):
    try:
        f()
        print("no error")
    except ValueError:
        print("ValueError")
#: attribute errors
class A: x = 1
for f in (lambda: A.y, lambda: A().y, lambda: "a".foo, lambda: [].foo, lambda: (1).foo, lambda: None.foo, lambda: {}.foo):
    try:
        f()
        print("no error")
    except AttributeError:
        print("AttributeError")
print(hasattr(A, "x"), hasattr([], "foo"), getattr(A, "y", "default"), hasattr({}, "items"))
#: int methods
print((5).bit_length(), (-8).bit_length(), (0).bit_length(), (3).real, (7).numerator, (7).denominator, (2.5).imag)
#: range objects
r = range(2, 20, 3)
print(len(r), r[1], r[-1], 5 in r, 6 in r, list(r), r.start, r.stop, r.step, r == range(2, 20, 3), r, list(r[::2]))
print(list(range(0)), range(3), sum(range(101)), list(reversed(range(4))), max(range(5)))
#: keys of a dict are a list | refused: the model's assertion fails
assert not isinstance({}.keys(), list)
#: a list plus a tuple is a list | refused: the model's assertion fails
try:
    [1] + (2,)
    raised = False
except TypeError:
    raised = True
assert raised
#: a power whose result does not fit | refused: does not fit in 64 bits
print(2 ** 63 - 1)
#: hashes that are 64-bit products | refused: does not fit in 64 bits
h = 14695981039346656037
for c in "abc":
    h = (h ^ ord(c)) * 1099511628211 % 2 ** 64
print(h)
#: shifts beyond 64 bits | refused: does not fit in 64 bits
print(1 << 64)
#: int of a text with a fraction
for text in ("3.7", "0x10", "", "1e3", "12a"):
    try:
        print(int(text))
    except ValueError:
        print("ValueError")
print(int(" 12 "), int("-7"), float(" 1e3\n"))
#: equality of values of different kinds
print([1, 2] == (1, 2), [] == (), {} == [], "a" == ["a"], 0 == None, 1 == True, "1" == 1, (1, [2]) == (1, [2]), [[]] == [()])
#: comparison of numbers near the limits
a, b = 2 ** 62, -(2 ** 62)
print(a > b, b < a, a >= b, max(a, b) == a, sorted([a, 0, b]) == [b, 0, a])
#: a format specification in a format specification | refused: Unknown format code
print("{:{}}|".format("x", 4))
