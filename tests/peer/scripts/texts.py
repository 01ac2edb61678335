"""Regular expressions and methods of str."""
import functools
import re
import sys
from collections import namedtuple

print(re.split(r'(\d.*)', 'r1'), re.split(r'(\d.*)', 'ir'))
print(re.match(r'([a-z]+)_?(\d{1,3})?$', 'layer_12').groups())
print(re.sub(r'(\w+)\.(\w+)', r'\2-\1', 'a.b c.dd'))
m = re.search(r'^(?P<stage>stages?)\.(?P<i>\d+)\.(?:blocks|layers)\.(\d+)', 'stages.0.blocks.15.x')
print(m.groupdict(), m.group(3), m.span(), m.start('i'))
print(re.sub(r'\bfoo\b', lambda found: found.group(0).upper(), 'foo food foo'))

print('a.b.c'.rsplit('.', 1), 'a b'.partition(' '), 'x-y-z'.rpartition('-'), 'ab\ncd\n'.splitlines())
print('7'.zfill(3), '-7'.zfill(4), 'ab'.center(5, '*'), 'ab'.ljust(4) + '|', 'ab'.rjust(4))
print('module.x'.removeprefix('module.'), 'x.py'.removesuffix('.py'), 'aB'.swapcase(), 'a1'.isidentifier())
print('hello world'.title(), 'a' <= 'b', 'b' >= 'c', 'AB'.isupper(), 'aB'.islower(), '1'.isupper())


# ---- defaults of a named tuple, super() behind a decorator, sys.modules ----

Point = namedtuple("Point", ["x", "y", "z"])
Point.__new__.__defaults__ = (None, 3)
print(Point(1), Point(1, 2, 4))


def logged(fn):
    @functools.wraps(fn)
    def wrapper(self, *args):
        self.calls = [args]
        fn(self, *args)
    return wrapper


class Base:
    def __init__(self, a):
        self.a = a


class Derived(Base):
    @logged
    def __init__(self, a):
        super().__init__(a + 1)


print(Derived(4).a, Derived(5).calls)
print(sys.modules[logged.__module__].Point(7).x, "no.such.module" in sys.modules)


# ---- members of an enum that extends str, stored in containers ----

from enum import Enum  # noqa: E402


class Format(str, Enum):
    NCHW = 'NCHW'
    NHWC = 'NHWC'


print(Format('NHWC') is Format.NHWC, Format(Format.NCHW) is Format.NCHW, Format['NHWC'] is Format.NHWC)
kept = []
kept.append(Format.NHWC)
print(kept[0] is Format.NHWC, {"k": Format.NCHW}["k"] == 'NCHW')


def only(a):
    return a


try:
    only(b=1)
except TypeError:
    print("TypeError")
