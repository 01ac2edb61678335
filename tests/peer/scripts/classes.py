"""Classes."""
import functools


class A:
    count = 0
    __slots__ = ()

    def __new__(cls, *args, **kwargs):
        cls.count += 1
        return super().__new__(cls)

    def name(self):
        return "A"


class B(A):
    def name(self):
        return "B" + super().name()


class C(A):
    def name(self):
        return "C" + super().name()


class D(B, C):
    def __init__(self, v=1):
        self.v = v

    def name(self):
        return "D" + super().name()

    @property
    def double(self):
        return self.v * 2

    @double.setter
    def double(self, value):
        self.v = value // 2

    @double.deleter
    def double(self):
        self.v = 0

    @classmethod
    def make(cls, *args, **kwargs):
        return cls(*args, **kwargs)

    @staticmethod
    def helper(x):
        return x + 1

    def __repr__(self):
        return f"D({self.v})"

    def __eq__(self, other):
        return isinstance(other, D) and self.v == other.v

    def __hash__(self):
        return hash(self.v)

    def __lt__(self, other):
        return self.v < other.v

    def __add__(self, other):
        return D(self.v + (other.v if isinstance(other, D) else other))

    __radd__ = __add__

    def __iadd__(self, other):
        self.v += 100
        return self

    def __neg__(self):
        return D(-self.v)

    def __getitem__(self, key):
        return key

    def __contains__(self, item):
        return item == self.v

    def __len__(self):
        return 3

    def __bool__(self):
        return self.v != 0

    def __call__(self, *args, **kwargs):
        return args, kwargs

    def __enter__(self):
        print("enter")
        return self

    def __exit__(self, kind, value, trace):
        print("exit", kind.__name__ if kind else None, value)
        return True

    def __int__(self):
        return self.v

    def __index__(self):
        return self.v

    def __format__(self, spec):
        return f"<{spec}>"


d = D()
print(d.name(), [c.__name__ for c in D.__mro__][:4], D.count, isinstance(d, A), issubclass(D, C))
d.double = 10
print(d.v, d.double)
del d.double
print(d.v, bool(d), D.make(v=4), D.helper(2), d.helper(5))
print(D(3) + D(4), D(3) + 1, 1 + D(3), sum([D(1), D(2)], D(0)), -D(2), sorted([D(3), D(1)]), max(D(1), D(5)))
e = D(1)
e += 5
print(e, e[1:2], e[1, ...], 101 in e, len(e), e(1, a=2), D(2) == D(2), D(2) != D(3), f"{e:abc}")
with D(1) as w:
    raise ValueError("inside")
print(int(D(7)), type(d).__name__, d.__class__ is D, hasattr(d, "nope"), getattr(d, "nope", 5))
setattr(d, "z", 3)
print(d.z, vars(d), callable(d), callable(3), d.__dict__["z"])


class Lazy:
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return name.upper()

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2)


z = Lazy()
z.k = 4
print(z.k, z.abc, hasattr(z, "_x"))


class Desc:
    def __get__(self, obj, owner=None):
        return "class" if obj is None else obj.x

    def __set__(self, obj, value):
        obj.x = value + 1

    def __set_name__(self, owner, name):
        self.name = name


class Holder:
    field = Desc()


h = Holder()
h.field = 4
print(h.field, Holder.field, Holder.__dict__["field"].name)


class Outer:
    class Inner:
        value = 3

    @functools.cached_property
    def slow(self):
        print("computed")
        return 5

    @functools.lru_cache(maxsize=None)
    def cached(self, n):
        print("call", n)
        return n


o = Outer()
print(Outer.Inner.value, o.slow, o.slow, o.cached(2), o.cached(2))


class Settings(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self


settings = Settings({"rate": 3}, size=4)
settings.depth = 5
settings["width"] = 6
print(settings.rate, settings["depth"], settings.width, settings.size, sorted(settings), len(settings), hasattr(settings, "none"))


class Plain:
    def name(self):
        return "plain"


class Fancy(Plain):
    def name(self):
        return "fancy " + super().name()


thing = Plain()
thing.__dict__ = {"a": 1}
print(thing.a, thing.name())
thing.__class__ = Fancy
print(thing.a, thing.name(), isinstance(thing, Fancy), type(thing) is Fancy)
