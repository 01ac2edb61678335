import math
import functools
from collections import OrderedDict, namedtuple, defaultdict
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, List, Optional


class A:
    kind = "a"

    def __init__(self, x, *args, y=2, **kwargs):
        self.x = x
        self.args = args
        self.y = y
        self.kwargs = kwargs

    @property
    def double(self):
        return self.x * 2

    @double.setter
    def double(self, value):
        self.x = value // 2

    @staticmethod
    def static(a, b=3):
        return a + b

    @classmethod
    def make(cls, x):
        return cls(x)

    def __repr__(self):
        return f"{type(self).__name__}({self.x})"

    def __add__(self, other):
        return A(self.x + (other.x if isinstance(other, A) else other))

    def __radd__(self, other):
        return self + other

    def __eq__(self, other):
        return isinstance(other, A) and self.x == other.x

    def __lt__(self, other):
        return self.x < other.x

    def __getitem__(self, i):
        return (i, self.x)

    def __len__(self):
        return 3

    def __contains__(self, v):
        return v == self.x

    def __call__(self, *a):
        return ("called",) + a


class B(A):
    kind = "b"

    def __init__(self, x):
        super().__init__(x, 1, 2, y=5, z=6)

    def who(self):
        return [super(B, self).static(1) for _ in range(2)]


a, b = A(3), B.make(4)
print(a, b, b.args, b.y, b.kwargs, a.double, A.static(1), b.kind, A.kind)
a.double = 10
print(a.x, a + b, a + 1, 1 + a, a == A(5), a != A(5), a < b, a[1], a[1:2], len(a), 5 in a, 6 not in a, a(1, 2))
print(b.who(), isinstance(b, A), issubclass(B, A), isinstance(b, (int, B)), type(b) is B, type(b).__name__)
print(hasattr(a, "x"), hasattr(a, "nope"), getattr(a, "nope", 7), callable(a), callable(3))


class Base1:
    def f(self):
        return ["Base1"]


class Left(Base1):
    def f(self):
        return ["Left"] + super().f()


class Right(Base1):
    def f(self):
        return ["Right"] + super().f()


class Both(Left, Right):
    def f(self):
        return ["Both"] + super().f()


print(Both().f(), [c.__name__ for c in Both.__mro__][:4])


class Color(Enum):
    RED = 1
    GREEN = 2


print(Color.RED, Color.GREEN.value, Color["RED"].name, Color(2), [c.name for c in Color], Color.RED == Color.RED)


@dataclass
class Config:
    n: int
    name: str = "x"
    sizes: List[int] = field(default_factory=list)


c = Config(3, sizes=[1])
print(c.n, c.name, c.sizes, Config(3) == Config(3), c)


class P(NamedTuple):
    x: int
    y: int = 2

    def total(self):
        return self.x + self.y


p = P(1)
Q = namedtuple("Q", "u v")
q = Q(1, v=2)
print(p, p.total(), p[0], q.u, q._replace(u=5), q._asdict(), len(p), list(q), P._fields)


def gen(n):
    for i in range(n):
        if i == 3:
            return
        yield i
    yield from [9]


print(list(gen(2)), sum(gen(5)), [x for x in gen(4)], next(gen(3)), dict(zip("ab", gen(2))))
it = iter([1, 2, 3])
print(next(it), list(it), next(it, "end"))
first, *rest = range(5)
*init, last = [1, 2, 3]
(m, n), k = (1, 2), 3
print(first, rest, init, last, m, n, k)
print({x: y for x, y in [(1, 2)]}, {x for x in [1, 1]}, [(i, j) for i in range(2) for j in range(2) if i != j])


def deco(times):
    def wrap(f):
        @functools.wraps(f)
        def inner(*args, **kw):
            return [f(*args, **kw)] * times
        return inner
    return wrap


@deco(2)
def add(a, b=1):
    return a + b


print(add(1), add(1, b=5), add.__name__, (lambda x, y=2: x * y)(4))


def counter():
    n = 0

    def step():
        nonlocal n
        n += 1
        return n
    return step


s = counter()
s()
print(s(), functools.partial(add, 5)(b=6), functools.reduce(lambda x, y: x + y, [1, 2, 3]))
total = 0


def bump():
    global total
    total += 5


bump()
print(total)


def risky(k):
    try:
        if k == 0:
            raise ValueError("bad", 3)
        if k == 1:
            return {}["missing"]
        if k == 2:
            return [1][5]
        if k == 3:
            return None.foo
        if k == 4:
            return int("x")
        if k == 5:
            assert k == 6, "not six"
        if k == 6:
            return 1 / 0
        return "fine"
    except (ValueError, KeyError) as e:
        return type(e).__name__
    except Exception as e:
        return "other " + type(e).__name__
    else:
        return "else"
    finally:
        print("finally", k, end=" ")


print([risky(k) for k in range(8)])


class Ctx:
    def __enter__(self):
        print("enter")
        return 5

    def __exit__(self, t, v, tb):
        print("exit", t is None)
        return True


with Ctx() as v:
    print(v)
    raise RuntimeError("swallowed")
for i in range(5):
    if i == 3:
        break
else:
    print("no break")
for i in range(2):
    pass
else:
    print("else", i)
w = 0
while True:
    w += 1
    if w % 2:
        continue
    if w > 6:
        break
print(w)
if (z := 5) > 3:
    print(z, 1 < z < 10, 1 < z > 7)
print(f"{math.pi:.3f} {5:>4}|{'a':<3}|{'b':^5}|{1234567:,} {0.5:%} {255:x} {z!r} {'q'!r} {3:03d} {-2:+d}")
print("%d %s %.2f %5d|%-5s|%r" % (1, "s", 2.5, 3, "l", "q"), "{} {0} {x:.1f}".format(1, x=2.0) if False else "{} {x:.1f}".format(1, x=2.0))
print(sorted([3, 1, 2], reverse=True), sorted("bca", key=lambda t: -ord(t)), max([1, 5, 2], key=lambda t: -t), min("b", "a"), max(3, 4))
print(any(x > 2 for x in [1, 3]), all([]), list(map(str, [1, 2])), list(filter(None, [0, 1])), list(enumerate("ab", 1)), list(reversed([1, 2])))
print([] or "default", 0 and 1, None or 0, not [], 3 if [] else 4)
d = defaultdict(list)
d["a"].append(1)
od = OrderedDict([("x", 1), ("y", 2)])
print(dict(d), list(od.items()), "x" in od, od.pop("x"), len(od), {**od, "k": 1}, d["b"])
st = {1, 2} | {3}
print(len(st), 2 in st, st & {2, 9}, sorted(st - {1}), {1} <= st, isinstance(st, set))
dd = {(1, 2): "t", None: "n", int: "i"}
print(dd[(1, 2)], dd[None], dd[int], (1, 2) in dd)
print("a,b".split(","), "-".join(["x", "y"]), "Abc".lower(), "abc".startswith("ab"), "x".isdigit(), " s ".strip(), "abc"[1:], "a" * 3)
lst = [1, 2, 3, 4]
lst[1:3] = [9]
del lst[0]
lst += [7]
lst.extend(x for x in [8])
print(lst, lst.index(9), lst[-1], lst[::2], [1] + [2], (1,) + (2,), [0] * 3)
print(divmod(7, 2), 7 // 2, -7 // 2, 7 % 3, 2 ** 10, 2 ** -1, abs(-3), round(2.567, 2), round(3.5), pow(2, 3), 5 & 3, 1 << 4, ~5)


def where(cmd):
    match cmd:
        case 0 | 1:
            return "small"
        case [x, *_, y]:
            return (x, y)
        case {"k": v}:
            return v
        case A(x=xx):
            return xx
        case str() as t if len(t) > 2:
            return t
        case None:
            return "none"
        case _:
            return "other"


print(where(1), where([1, 2, 3]), where({"k": 5}), where(a), where("long"), where("s"), where(None))


class Meta(type):
    def __init__(cls, name, bases, ns):
        cls.tag = name.lower()


class WithMeta(metaclass=Meta):
    pass


class Attr:
    def __getattr__(self, name):
        return "dyn_" + name

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2)


at = Attr()
at.v = 4
print(WithMeta.tag, at.v, at.other, vars(at))


class Reg:
    subs = []

    def __init_subclass__(cls, **kw):
        super().__init_subclass__()
        cls.subs.append(cls.__name__)


class R1(Reg):
    pass


print(Reg.subs, id(a) == id(a), repr("x"), str(None), print.__name__ if False else "")
x = [1, 2, 3]
y = [x * 2 for x in x]
print(x, y, *y, sep="-")
print(int("12"), float("1.5"), str(3), bool([]), tuple([1]), list("ab"), dict(a=1), isinstance(True, int), chr(65), ord("a"))


class D(dict):
    def __getattr__(self, k):
        return self[k]


dd = D(a=1)
dd["b"] = 2
print(dd.a, dd.b, len(dd), list(dd), isinstance(dd, dict), dd)
