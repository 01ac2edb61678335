#: inheritance and super
class A:
    def __init__(self, x): self.x = x
    def f(self): return f"A.f {self.x}"
    @property
    def double(self): return self.x * 2
class B(A):
    def __init__(self, x, y):
        super().__init__(x)
        self.y = y
    def f(self): return "B." + super().f()
b = B(1, 2)
print(b.f(), b.double, b.x, b.y, isinstance(b, A), issubclass(B, A), B.__mro__[1] is A, A.f(b))
#: diamond
class A:
    def f(self): return ["A"]
class B(A):
    def f(self): return ["B"] + super().f()
class C(A):
    def f(self): return ["C"] + super().f()
class D(B, C):
    def f(self): return ["D"] + super().f()
print(D().f(), [c.__name__ for c in D.__mro__][:4])
#: properties
class P:
    def __init__(self): self._v = 0
    @property
    def v(self): "getter"; return self._v
    @v.setter
    def v(self, x):
        if x < 0: raise ValueError("negative")
        self._v = x
    @v.deleter
    def v(self): self._v = None
    w = property(lambda self: "w")
p = P()
p.v = 5
print(p.v, p.w)
del p.v
print(p.v)
try:
    p.w = 1
except AttributeError:
    print("no setter")
try:
    p.v = -1
except ValueError as e:
    print(e)
#: static and class methods
class A:
    n = 0
    @staticmethod
    def s(x): return x + 1
    @classmethod
    def make(cls, *a):
        cls.n += 1
        return cls()
    def __repr__(self): return f"{type(self).__name__}()"
class B(A): pass
print(A.s(1), A().s(2), A.make(), B.make(), A.n, B.n)
#: class attributes
class A:
    items = []
    n = 1
a, b = A(), A()
a.items.append(1)
a.n = 5
print(b.items, b.n, A.n, a.__dict__, vars(a), "n" in A.__dict__)
A.n = 7
print(a.n, b.n)
#: __getattr__ and __setattr__
class A:
    def __init__(self): self.data = {"x": 1}
    def __getattr__(self, name):
        if name in self.data: return self.data[name]
        raise AttributeError(f"no {name}")
    def __setattr__(self, name, value):
        if name == "data": object.__setattr__(self, name, value)
        else: self.data[name] = value
    def __delattr__(self, name): del self.data[name]
a = A()
a.y = 2
print(a.x, a.y, a.data, hasattr(a, "z"), getattr(a, "z", "default"))
del a.y
print(a.data)
try:
    a.q
except AttributeError as e:
    print(e)
#: descriptors
class Field:
    def __set_name__(self, owner, name): self.name = "_" + name
    def __get__(self, obj, cls): return self if obj is None else getattr(obj, self.name, "unset")
    def __set__(self, obj, v): setattr(obj, self.name, v * 2)
class A:
    f = Field()
a = A()
print(a.f)
a.f = 4
print(a.f, a.__dict__, isinstance(A.f, Field))
#: __init_subclass__ and keyword arguments
class Base:
    registry = []
    def __init_subclass__(cls, tag=None, **k):
        super().__init_subclass__(**k)
        Base.registry.append((cls.__name__, tag))
class X(Base, tag="x"): pass
class Y(X): pass
print(Base.registry)
#: metaclasses with __new__ | refused: has no attribute 'added'
class Meta(type):
    def __new__(mcs, name, bases, ns, **k):
        cls = super().__new__(mcs, name, bases, dict(ns, added=1))
        return cls
    def __init__(cls, name, bases, ns, **k):
        super().__init__(name, bases, ns)
        cls.order = name.lower()
    def __call__(cls, *a):
        obj = super().__call__(*a)
        obj.made = True
        return obj
    def hello(cls): return "hello " + cls.__name__
    def __len__(cls): return 3
class A(metaclass=Meta):
    def __init__(self, x): self.x = x
a = A(5)
print(A.added, A.order, a.made, a.x, A.hello(), len(A), type(A) is Meta, isinstance(A, Meta))
#: a singleton by a metaclass
class Singleton(type):
    _instances = {}
    def __call__(cls, *args, **kwargs):
        if cls not in cls._instances:
            cls._instances[cls] = super().__call__(*args, **kwargs)
        return cls._instances[cls]
class Config(metaclass=Singleton):
    def __init__(self): self.v = 1
print(Config() is Config())
#: __new__
class A:
    def __new__(cls, *a):
        o = super().__new__(cls)
        o.made = a
        return o
    def __init__(self, *a): self.args = a
print(A(1, 2).made, A(3).args)
class S:
    _i = None
    def __new__(cls):
        if cls._i is None: cls._i = object.__new__(cls)
        return cls._i
print(S() is S())
#: __slots__
class A:
    __slots__ = ("x", "y")
    def __init__(self): self.x = 1
a = A()
a.y = 2
print(a.x, a.y)
#: abstract classes
from abc import ABC, abstractmethod
class Shape(ABC):
    @abstractmethod
    def area(self): ...
    @property
    @abstractmethod
    def name(self): ...
class Square(Shape):
    def area(self): return 4
    @property
    def name(self): return "square"
print(Square().area(), Square().name)
#: __call__, __contains__, __enter__
class A:
    def __call__(self, *a, **k): return a, k
    def __contains__(self, x): return x == 1
    def __len__(self): return 0
    def __hash__(self): return 42
    def __str__(self): return "str"
    def __repr__(self): return "repr"
    def __format__(self, spec): return f"fmt<{spec}>"
a = A()
print(a(1, b=2), 1 in a, 2 in a, bool(a), hash(a), str(a), repr(a), f"{a}", f"{a:x}", f"{a!r}", [a], callable(a), "%s" % a)
#: conversions
class N:
    def __int__(self): return 3
    def __float__(self): return 2.5
    def __bool__(self): return False
    def __index__(self): return 7
    def __round__(self, n=None): return "rounded"
    def __abs__(self): return "abs"
    def __complex__(self): return 1j
    def __floor__(self): return "floor"
import math
n = N()
print(int(n), float(n), bool(n), round(n), abs(n), [0, 1, 2, 3, 4, 5, 6, "seven"][n])
#: comparison operators and total_ordering
import functools
@functools.total_ordering
class V:
    def __init__(self, v): self.v = v
    def __eq__(self, o): return self.v == o.v
    def __lt__(self, o): return self.v < o.v
    def __repr__(self): return f"V{self.v}"
a, b = V(1), V(2)
print(a < b, a <= b, a > b, a >= b, a == b, a != b, sorted([b, a]), max(a, b), min([b, a]))
#: NotImplemented and reflected operators
class A:
    def __add__(self, o): return NotImplemented
    def __eq__(self, o): return NotImplemented
class B:
    def __radd__(self, o): return "B.radd"
    def __rsub__(self, o): return f"rsub {o}"
    def __rtruediv__(self, o): return f"rdiv {o}"
    def __rpow__(self, o): return f"rpow {o}"
    def __rmatmul__(self, o): return "rmatmul"
print(A() + B(), 5 - B(), 1 / B(), 2 ** B(), A() == 1, A() != 1)
try:
    A() + 1
except TypeError:
    print("TypeError")
#: nested classes and name lookup
class Outer:
    k = 1
    class Inner:
        k = 2
        def f(self): return Outer.k + self.k
    def make(self): return self.Inner()
print(Outer().make().f(), Outer.Inner.__name__)
#: private names
class A:
    def __init__(self): self.__x = 1
    def get(self): return self.__x
class B(A):
    def __init__(self):
        super().__init__()
        self.__x = 2
    def both(self): return self.__x, self.get()
print(B().both(), sorted(B().__dict__))
#: bound methods as values
class A:
    def __init__(self, x): self.x = x
    def f(self, y): return self.x + y
a = A(1)
f = a.f
a.x = 10
print(f(1), list(map(a.f, [1, 2])), A.f(a, 3), f.__name__, f.__self__ is a)
#: methods added later
class A: pass
def f(self): return "added"
A.f = f
A.g = lambda self, x: x
a = A()
a.h = lambda x: x * 2
setattr(A, "k", 5)
print(a.f(), a.g(1), a.h(2), a.k, hasattr(A, "k"))
#: dataclasses
from dataclasses import dataclass, field, asdict, astuple, replace, fields
@dataclass
class P:
    x: int
    y: float = 2.0
    tags: list = field(default_factory=list)
    hidden: int = field(default=0, repr=False)
    def total(self): return self.x + self.y
p, q = P(1), P(1, 3.0, ["a"])
p.tags.append("t")
print(p, q, p == P(1, 2.0, ["t"]), p.total(), asdict(q), astuple(q), replace(p, x=9), [f.name for f in fields(P)], P(1).tags)
#: dataclass options
from dataclasses import dataclass, field, InitVar, KW_ONLY
import dataclasses
@dataclass(frozen=True, order=True)
class V:
    a: int
    b: int = 1
v = V(1, 2)
print(v, V(1) < V(2), sorted([V(3), V(1)]), hash(V(1)) == hash(V(1)), {V(1): "k"}[V(1)])
try:
    v.a = 5
except dataclasses.FrozenInstanceError:
    print("frozen")
@dataclass
class Base:
    x: int = 0
    def __post_init__(self): self.z = self.x + 1
@dataclass
class Child(Base):
    y: int = 5
    total: int = field(init=False)
    def __post_init__(self):
        super().__post_init__()
        self.total = self.x + self.y
print(Child(1), Child(1).z, dataclasses.is_dataclass(Child), dataclasses.is_dataclass(3))
@dataclass
class K:
    a: int
    _: KW_ONLY
    b: int = 2
print(K(1, b=3))
#: enums
from enum import Enum, IntEnum, Flag, auto, unique
class Color(Enum):
    RED = 1
    GREEN = 2
    ALIAS = 1
    def describe(self): return f"{self.name}={self.value}"
    @classmethod
    def default(cls): return cls.GREEN
print(Color.RED, repr(Color.RED), Color.RED.name, Color(2), Color["RED"], list(Color), len(Color), Color.ALIAS is Color.RED)
print(Color.RED == Color.RED, Color.RED != Color.GREEN, Color.RED == 1, Color.RED.describe(), Color.default(), Color.RED in Color, isinstance(Color.RED, Color))
print({Color.RED: "r"}[Color.RED], [c.value for c in Color], Color.__members__.keys() == {"RED", "GREEN", "ALIAS"})
class N(IntEnum):
    A = auto()
    B = auto()
print(N.A + 1, N.B > N.A, N.A == 1, int(N.B), [10, 20, 30][N.A], N(2).name)
try:
    Color(9)
except ValueError as e:
    print(e)
class S(str, Enum):
    X = "x"
    Y = "y"
print(S.X == "x", S("y") is S.Y, S.X.value, S.Y.upper())
#: flags
from enum import Flag, IntFlag, auto
class F(IntFlag):
    R = 1
    W = 2
    X = 4
m = F.R | F.W
print(int(m), bool(m & F.W), bool(m & F.X), F.R in m)
#: named tuples
from collections import namedtuple
from typing import NamedTuple
P = namedtuple("P", "x y", defaults=[5])
p = P(1)
x, y = p
print(p, p.x, p[1], x + y, p._replace(x=3), p._asdict(), P._fields, P._make([7, 8]), p == (1, 5), len(p), isinstance(p, tuple))
class T(NamedTuple):
    a: int
    b: str = "b"
    def both(self): return f"{self.a}{self.b}"
t = T(1)
print(t, t.both(), t._asdict(), T(2, "c") < T(3, "a"), hash(t) == hash((1, "b")), {t: 1}[T(1)])
#: typing generics as bases
from typing import Generic, TypeVar, Protocol, List, Dict, Optional, overload, cast, runtime_checkable
T = TypeVar("T")
K = TypeVar("K")
class Stack(Generic[T]):
    def __init__(self): self.items: List[T] = []
    def push(self, x: T) -> "Stack[T]":
        self.items.append(x)
        return self
class IntStack(Stack[int]): pass
class Pair(Generic[K, T]):
    def __init__(self, a: K, b: T): self.a, self.b = a, b
class Named(Protocol):
    name: str
    def f(self) -> int: ...
class Impl(Named):
    name = "impl"
    def f(self): return 1
print(Stack[int]().push(1).items, IntStack().push(2).items, Pair[int, str](1, "a").b, cast(int, "x"), Impl().f())
#: TypedDict, Literal and NewType
from typing import TypedDict, Literal, NewType, Union, Final, ClassVar, Annotated, get_type_hints
class D(TypedDict, total=False):
    a: int
    b: str
d: D = {"a": 1}
UserId = NewType("UserId", int)
MODE: Final = "x"
def f(mode: Literal["a", "b"] = "a"): return mode
print(d["a"], D(a=2), UserId(5), f(), MODE)
#: multiple inheritance with cooperative init
class A:
    def __init__(self, **k):
        self.a = k.pop("a", 0)
        super().__init__(**k)
class B:
    def __init__(self, **k):
        self.b = k.pop("b", 0)
        super().__init__(**k)
class C(A, B): pass
c = C(a=1, b=2)
print(c.a, c.b)
#: class decorators and registries
registry = {}
def register(name):
    def deco(cls):
        registry[name] = cls
        cls.tag = name
        return cls
    return deco
@register("net")
class Net:
    def __init__(self, n=1): self.n = n
print(registry["net"](3).n, Net.tag, sorted(registry))
#: instances in dicts and sets
class A:
    pass
a, b = A(), A()
s = {a, b, a}
d = {a: 1}
d[b] = 2
print(len(s), d[a], d[b], a in s, A() in s, a == a, a != b)
#: __del__ and weak references are harmless
import weakref, gc
class A:
    def __del__(self): pass
a = A()
r = weakref.ref(a)
print(r() is a)
gc.collect()
#: dir, vars, getattr and setattr
class A:
    x = 1
    def __init__(self): self.y = 2
    def f(self): return 3
a = A()
print(sorted(n for n in dir(a) if not n.startswith("_")), vars(a), getattr(a, "f")(), hasattr(a, "q"))
for k, v in {"p": 1, "q": 2}.items():
    setattr(a, k, v)
print(a.p + a.q, sorted(a.__dict__), a.__class__.__name__, type(a).__name__, A.__name__)
#: __eq__ without __hash__
class A:
    def __init__(self, x): self.x = x
    def __eq__(self, o): return self.x == o.x
print(A(1) == A(1), [A(1)] == [A(1)], A(1) in [A(2), A(1)], (A(1), 2) == (A(1), 2), {"k": A(1)} == {"k": A(1)})
#: exceptions with inheritance
class E1(Exception): pass
class E2(E1, ValueError): pass
for e in (E1, E2, ValueError):
    try:
        raise e("m")
    except E1 as x:
        print("E1", type(x).__name__, x)
    except ValueError as x:
        print("VE", x)
#: a chain of method calls
class Q:
    def __init__(self): self.parts = []
    def __getattr__(self, n):
        def call(*a):
            self.parts.append((n, a))
            return self
        return call
print(Q().select("a").where(1, 2).parts)
#: abstract classes can be instantiated | refused: the model's assertion fails
from abc import ABC, abstractmethod
class A(ABC):
    @abstractmethod
    def f(self): ...
try:
    A()
    raised = False
except TypeError:
    raised = True
assert raised
#: an attribute of a class cannot be deleted | refused: an attribute of A cannot be deleted
class A: k = 1
del A.k
#: metaclasses with __init__ and __call__
class Meta(type):
    def __init__(cls, name, bases, ns, **k):
        super().__init__(name, bases, ns)
        cls.order = name.lower()
    def __call__(cls, *a):
        obj = super().__call__(*a)
        obj.made = True
        return obj
    def hello(cls): return "hello " + cls.__name__
class A(metaclass=Meta):
    def __init__(self, x): self.x = x
a = A(5)
print(A.order, a.made, a.x, A.hello(), isinstance(A, Meta))
