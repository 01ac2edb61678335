#: itertools
from itertools import *
print(list(product("ab", [1, 2])), list(product([0, 1], repeat=2)), list(permutations("abc", 2)), list(combinations("abcd", 2)))
print(list(combinations_with_replacement("ab", 2)), list(chain([1], (2,), "c")), list(chain.from_iterable(["ab", "c"])))
print(list(accumulate([1, 2, 3])), list(accumulate([3, 1, 2], max)), list(accumulate([1, 2], initial=10)))
print(list(islice("abcdef", 2)), list(islice("abcdef", 1, None, 2)), list(islice(count(3, 2), 3)), list(islice(cycle("ab"), 3)))
print(list(repeat(1, 3)), list(starmap(pow, [(2, 3)])), list(takewhile(lambda x: x < 2, count())), list(dropwhile(lambda x: x < 2, [1, 2, 1])))
print(list(zip_longest("abc", [1], fillvalue="-")), list(pairwise("abc")), list(filterfalse(None, [0, 1])), list(compress("abc", [1, 0, 1])))
print([(k, list(g)) for k, g in groupby(sorted(["apple", "bob", "cat", "apt"]), key=lambda s: s[0])])
a, b = tee([1, 2, 3])
print(next(a), list(b), list(a))
#: functools
import functools
from functools import reduce, partial, lru_cache, cache, cached_property, singledispatch, partialmethod, cmp_to_key, wraps
print(reduce(lambda a, b: a * b, [1, 2, 3, 4]), reduce(lambda a, b: a + b, [], 5), partial(int, base=2)("101"), partial(max, 5)(3))
calls = []
@lru_cache(maxsize=2)
def f(x):
    calls.append(x)
    return x * 2
print([f(i) for i in (1, 2, 1, 3, 1, 2)], calls, f.cache_info())
f.cache_clear()
print(f.cache_info().currsize)
@cache
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(50))
#: cached_property
from functools import cached_property
class A:
    n = 0
    @cached_property
    def v(self):
        A.n += 1
        return 42
a = A()
print(a.v, a.v, A.n, a.__dict__)
#: singledispatch
from functools import singledispatch
@singledispatch
def show(x): return "object"
@show.register(int)
def _(x): return "int"
@show.register(list)
def _(x): return "list"
@show.register(str)
def _(x): return "str"
print(show(1), show([1]), show("a"), show(2.5), show(True))
#: partialmethod
from functools import partialmethod
class A:
    def set(self, state, k=0): return state, k
    on = partialmethod(set, True)
    off = partialmethod(set, False, k=2)
print(A().on(), A().off(), A().on(k=5))
#: cmp_to_key
from functools import cmp_to_key
print(sorted([3, 1, 2], key=cmp_to_key(lambda a, b: b - a)))
#: Counter
from collections import Counter
c = Counter("abracadabra")
print(c.most_common(2), c["a"], c["z"], sum(c.values()), sorted(c.elements())[:3], len(c))
c.update("aa"); c.subtract({"b": 1})
print(c["a"], c["b"], Counter(a=1) + Counter(a=2, b=1), Counter(a=3) - Counter(a=1), Counter({"x": 2}) == Counter(["x", "x"]))
print(c.total(), Counter(a=3, b=1) & Counter(a=1, b=2), Counter(a=1) | Counter(b=2))
#: deque
from collections import deque
d = deque([1, 2, 3], maxlen=3)
d.append(4)
print(d, list(d), d[0], d[-1], len(d))
d.appendleft(0)
print(list(d), d.pop(), d.popleft(), list(d), 3 in d, d.maxlen)
d = deque("abcd")
d.rotate(1); print(list(d)); d.rotate(-2); print(list(d))
d.extend("xy"); d.extendleft("12"); d.remove("x"); d.reverse()
print(list(d), d.count("a"), d.index("y"), d.copy() == d)
try:
    deque().pop()
except IndexError as e:
    print("IndexError")
#: OrderedDict
from collections import OrderedDict
d = OrderedDict([("a", 1), ("b", 2), ("c", 3)])
d.move_to_end("a")
print(list(d), d.popitem(), d.popitem(last=False), list(d.items()), isinstance(d, dict))
d["z"] = 1
d.move_to_end("z", last=False)
print(list(d), OrderedDict(a=1) == {"a": 1})
#: defaultdict
from collections import defaultdict
d = defaultdict(list)
d["a"].append(1); d["a"].append(2); d["b"]
print(dict(d), "c" in d, d.get("c"), len(d), isinstance(d, dict))
n = defaultdict(int)
for c in "hello": n[c] += 1
print(dict(n), sorted(n.items()), defaultdict(lambda: 5)["x"])
#: ChainMap
from collections import ChainMap
m = ChainMap({"a": 1}, {"a": 2, "b": 3})
print(m["a"], m["b"], sorted(m), len(m), "b" in m, m.get("z", 0))
m["c"] = 5
print(m.maps[0], m.new_child({"a": 9})["a"], dict(m) == {"a": 1, "b": 3, "c": 5})
#: UserDict and abc
from collections import UserDict
from collections.abc import Mapping, Sequence, Iterable, Callable, Hashable, MutableMapping
print(isinstance({}, Mapping), isinstance([], Sequence), isinstance((), Sequence), isinstance("", Iterable), isinstance(len, Callable), isinstance(1, Iterable))
class M(MutableMapping):
    def __init__(self): self.d = {}
    def __getitem__(self, k): return self.d[k]
    def __setitem__(self, k, v): self.d[k] = v
    def __delitem__(self, k): del self.d[k]
    def __iter__(self): return iter(self.d)
    def __len__(self): return len(self.d)
m = M()
m["a"] = 1
m.update(b=2)
print(m.get("a"), m.get("z", 0), "a" in m, list(m.keys()), list(m.items()), m.pop("a"), len(m), m.setdefault("q", 7))
#: json
import json
text = json.dumps({"a": [1, 2.5, None, True], "b": {"c": "x\"y\n"}, "d": []})
print(text, json.loads(text) == {"a": [1, 2.5, None, True], "b": {"c": "x\"y\n"}, "d": []})
print(json.dumps([1, 2], indent=2), json.dumps({"b": 1, "a": 2}, sort_keys=True))
print(json.loads('[1, -2.5e3, "e\\n", {"k": null}, false]'), json.loads(" 3 "), json.dumps({1: "a", None: 2, True: 3}))
print(json.dumps({"a": [1, {"b": 2}]}, indent=4))
try:
    json.loads("{bad}")
except ValueError as e:
    print("ValueError")
#: argparse
import argparse
p = argparse.ArgumentParser(description="test")
p.add_argument("name")
p.add_argument("--lr", type=float, default=0.1, help="rate")
p.add_argument("-n", "--num-layers", type=int, default=2)
p.add_argument("--flag", action="store_true")
p.add_argument("--no-bias", dest="bias", action="store_false")
p.add_argument("--sizes", nargs="+", type=int, default=[1])
p.add_argument("--mode", choices=["a", "b"], default="a")
a = p.parse_args(["x", "--lr", "0.5", "-n", "3", "--flag", "--sizes", "1", "2", "--mode=b"])
print(a.name, a.lr, a.num_layers, a.flag, a.bias, a.sizes, a.mode)
a = p.parse_args(["y"])
print(vars(a) == {"name": "y", "lr": 0.1, "num_layers": 2, "flag": False, "bias": True, "sizes": [1], "mode": "a"})
known, rest = p.parse_known_args(["z", "--unknown", "1"])
print(known.name, rest)
#: argparse with subparsers
import argparse
p = argparse.ArgumentParser()
p.add_argument("--verbose", action="count", default=0)
sub = p.add_subparsers(dest="command")
train = sub.add_parser("train")
train.add_argument("--epochs", type=int, default=10)
test = sub.add_parser("test")
test.add_argument("path", nargs="?", default="here")
p.set_defaults(seed=7)
a = p.parse_args(["train", "--epochs", "3"])
print(a.command, a.epochs, a.verbose, a.seed)
print(p.parse_args(["test"]).path, p.parse_args(["test", "x"]).path)
g = argparse.ArgumentParser()
group = g.add_argument_group("g")
group.add_argument("--x", type=int)
m = g.add_mutually_exclusive_group()
m.add_argument("--a", action="store_const", const=5)
m.add_argument("--b", action="append")
print(g.parse_args(["--x", "1", "--b", "1", "--b", "2"]).b, g.parse_args(["--a"]).a, argparse.Namespace(q=1).q)
#: logging
import logging
log = logging.getLogger("net")
log.setLevel(logging.INFO)
log.debug("hidden")
print(log.name, log.level == logging.INFO, log.isEnabledFor(logging.DEBUG), logging.getLogger("net") is log, logging.WARNING, logging.getLevelName(20))
#: os.path and pathlib
import os
import os.path as osp
from pathlib import Path, PurePosixPath
print(os.path.join("a", "b", "c.py"), osp.basename("/x/y.txt"), osp.dirname("/x/y.txt"), osp.splitext("a.tar.gz"), osp.split("a/b"), os.sep)
print(osp.join("a", "/b"), osp.normpath("a/../b//c/./d"), osp.isabs("/a"), osp.commonprefix(["abc", "abd"]), osp.relpath("/a/b/c", "/a/d"))
p = Path("dir") / "sub" / "file.tar.gz"
print(p, p.name, p.stem, p.suffix, p.parent, p.parts, p.suffixes, p.with_suffix(".txt"), p.with_name("x"), str(p), p.as_posix())
print(Path("a") == Path("a"), Path("/a/b").is_absolute(), Path("a", "b"), Path("x/y").parent.parent, p.parents[0], Path("b") < Path("c"))
print(PurePosixPath("/a/b/c").relative_to("/a"), PurePosixPath("a/b.py").match("*.py"), repr(PurePosixPath("a")), {Path("k"): 1}[Path("k")], os.environ.get("NOT_SET_HERE", "d"))
#: math
import math
print(math.sqrt(2), math.pi, math.floor(-1.5), math.ceil(1.2), math.gcd(12, 18), math.factorial(10), math.log2(8), math.log(math.e), math.exp(0))
print(math.prod([1, 2, 3]), math.isclose(0.1 + 0.2, 0.3), math.hypot(3, 4), math.comb(5, 2), math.inf > 1, math.isnan(math.nan), math.trunc(-2.7), math.copysign(1, -0.0))
print(math.degrees(math.pi), math.atan2(1, 1), math.fmod(-7, 3), math.modf(2.5), math.frexp(8), math.ldexp(0.5, 4), math.fsum([0.1] * 10), math.isqrt(17), math.log10(1000), math.log1p(0), math.lcm(4, 6), math.dist((0, 0), (3, 4)))
#: operator
import operator
print(operator.add(1, 2), operator.itemgetter(1)([1, 2]), operator.itemgetter("a", "b")({"a": 1, "b": 2}), operator.attrgetter("real")(5), operator.methodcaller("upper")("a"))
print(operator.mul(2, 3), operator.truediv(1, 2), operator.neg(1), operator.not_(0), operator.contains([1], 1), operator.getitem([5], 0), operator.eq(1, 1), operator.floordiv(7, 2), operator.mod(7, 4), operator.pow(2, 3))
#: copy
import copy
a = {"x": [1, [2]], "y": (3,)}
b, c = copy.copy(a), copy.deepcopy(a)
a["x"][1].append(9)
print(b, c, b["x"] is a["x"], c["x"] is a["x"])
class A:
    def __init__(self): self.v = [1]
o = A()
p, q = copy.copy(o), copy.deepcopy(o)
o.v.append(2)
print(p.v, q.v, type(q) is A)
class B:
    def __deepcopy__(self, memo): return "deep"
    def __copy__(self): return "shallow"
print(copy.copy(B()), copy.deepcopy([B()]))
#: re
import re
print(re.match(r"(\w+)\.(\d+)", "layer.12").groups(), re.findall(r"\d+", "a1b22"), re.sub(r"(\w)_(\w)", r"\2\1", "a_b"), re.split(r"[,;]", "a,b;c"), bool(re.search("x", "y")))
m = re.search(r"(?P<name>[a-z]+)=(?P<v>\d+)", "key k=5")
print(m.group("name"), m.group(2), m.span(), m.start("v"), m.groupdict(), re.compile("a+").fullmatch("aaa") is not None, re.escape("a.b"))
print([x.group() for x in re.finditer("[ab]", "xaby")], re.sub("a", lambda m: m.group().upper(), "banana", count=2), re.subn("a", "o", "banana"), re.sub(r"(?<=a)b", "X", "abcb") if False else "")
#: re with VERBOSE
import re
p = re.compile(r"""
    (?P<number> \d+ )   # the number
    \s* [ ]             # a blank in brackets counts
    (?P<word> [a-z\#]+ )
""", re.VERBOSE)
m = p.match("12  ab#")
print(m.group("number"), m.group("word"), bool(re.match("a b", "ab", re.X)), bool(re.match(r"a\ b", "a b", re.X)))
#: random is reproducible
import random
random.seed(0)
a = [random.random() for _ in range(3)]
random.seed(0)
print(a == [random.random() for _ in range(3)], a, random.randint(1, 10), random.choice("abc"), random.sample(range(10), 3), random.uniform(0, 1))
x = list(range(6))
random.shuffle(x)
print(x, random.Random(1).random(), random.gauss(0, 1), random.randrange(5))
#: warnings and time do not matter
import warnings, time
warnings.warn("w", UserWarning)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    warnings.filterwarnings("ignore", category=DeprecationWarning)
t = time.time()
print(time.time() - t < 100)
#: inspect.signature
import inspect
def f(a, b=2, *args, c, d=4, **kw): pass
s = inspect.signature(f)
print(list(s.parameters), s.parameters["b"].default, s.parameters["a"].default is inspect.Parameter.empty, s.parameters["args"].kind == inspect.Parameter.VAR_POSITIONAL)
class A:
    def __init__(self, x, y=1): pass
print(list(inspect.signature(A.__init__).parameters), list(inspect.signature(A).parameters), inspect.isclass(A), inspect.isfunction(f), inspect.ismethod(A(1).__init__))
print([n for n, p in s.parameters.items() if p.kind == p.KEYWORD_ONLY], inspect.getfullargspec(f).args)
#: inspect.getsource | refused: inspect.getsource
import inspect
def f(): pass
print(inspect.getsource(f))
#: types and typing
import types
from typing import Any
n = types.SimpleNamespace(a=1, b="x")
n.c = 3
print(n, n.a, n == types.SimpleNamespace(a=1, b="x", c=3), isinstance(f := (lambda: 0), types.FunctionType), types.MethodType(lambda self: self, 5)())
#: string and textwrap
import string
print(string.ascii_lowercase[:3], string.digits, string.ascii_letters[-3:], string.punctuation[:3])
#: numpy for sizes and tables
import numpy as np
a = np.arange(6).reshape(2, 3)
print(a.shape, a.sum(), a.T.shape, a.tolist(), np.prod(a.shape), int(np.ceil(2.1)), float(np.sqrt(4.0)), a.mean(), a.max(axis=0).tolist())
print(np.linspace(0, 1, 5).tolist(), np.zeros((2, 2)).tolist(), np.cumsum([1, 2, 3]).tolist(), np.log2(8), np.array([1, 2]).dtype == np.int64, np.pi)
print(np.concatenate([np.ones(2), np.zeros(1)]).tolist(), np.where(np.array([1, 0]) > 0, 5, 6).tolist(), np.argsort([3, 1, 2]).tolist(), np.eye(2).tolist())
x, y = np.meshgrid(np.arange(2), np.arange(3))
print(x.tolist(), y.tolist(), np.einsum("ij,jk->ik", np.eye(2), np.ones((2, 2))).tolist(), np.outer([1, 2], [3, 4]).tolist(), np.clip([1, 5], 2, 4).tolist())
print(np.linalg.norm(np.array([3.0, 4.0])), np.dot([1, 2], [3, 4]), np.stack([[1], [2]]).shape, np.allclose([1.0], [1.0 + 1e-9]), np.floor(-1.5), np.abs([-1]).tolist())
#: numpy's generator
import numpy as np
np.random.seed(0)
print(np.random.rand(3).tolist(), np.random.randint(0, 10, 4).tolist())
r = np.random.RandomState(42)
print(r.rand(2).tolist(), r.uniform(-1, 1, 2).tolist(), r.randn(2).tolist(), r.permutation(5).tolist(), r.normal(0, 1, 2).tolist(), r.choice(5, 3).tolist())
#: sys and platform details
import sys
print(sys.version_info >= (3, 8), sys.maxsize == 2 ** 62 - 1 + 2 ** 62, isinstance(sys.path, list))
#: contextlib and abc helpers
import contextlib
@contextlib.contextmanager
def tag(name):
    print(f"<{name}>")
    yield name
    print(f"</{name}>")
with tag("a"), tag("b") as b:
    print(b)
class D(contextlib.ContextDecorator):
    def __enter__(self): print("in"); return self
    def __exit__(self, *a): print("out"); return False
@D()
def f(): print("body")
f()
#: heapq and bisect
import heapq, bisect
h = []
for x in (5, 1, 3): heapq.heappush(h, x)
print(heapq.heappop(h), heapq.nsmallest(2, [3, 1, 2]), heapq.nlargest(1, [3, 9]), bisect.bisect_left([1, 3, 5], 3), bisect.bisect([1, 3, 5], 3))
l = [1, 5]
bisect.insort(l, 3)
print(l)
#: uuid, hashlib and others are not there | refused: hashlib
import hashlib
print(hashlib.md5(b"a").hexdigest())
#: fractions and decimal are not there | refused: decimal
from decimal import Decimal
print(Decimal("0.1"))
#: statistics
import statistics
print(statistics.mean([1, 2, 3]), statistics.median([1, 3, 2]))
#: textwrap
import textwrap
print(textwrap.dedent("  a\n  b"))
#: deep recursion of data
d = {}
c = d
for i in range(50):
    c["k"] = {}
    c = c["k"]
n = 0
while d:
    d = d.get("k")
    n += 1
print(n)
