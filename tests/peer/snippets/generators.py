#: endless generators
def count(n=0):
    while True:
        yield n
        n += 1

for i in count():
    if i > 3:
        break
    print(i)
g = count(5)
print(next(g), next(g))
#: islice of a generator leaves the rest
import itertools
def letters():
    for c in "abcdef":
        print("make", c)
        yield c
g = letters()
print(list(itertools.islice(g, 2)))
print(next(g))
print(list(g), list(g))
#: send and throw
def f():
    try:
        x = yield 1
        print("got", x)
        y = yield x
        print("y", y)
    except ValueError as e:
        print("caught", e)
        yield "handled"
    finally:
        print("finally")
    return 9

g = f()
print(next(g), g.send(7))
print(g.throw(ValueError("bad")))
try:
    next(g)
except StopIteration as e:
    print("stop", e.value)
#: yield from returns a value
def inner():
    x = yield "first"
    print("inner got", x)
    return "result"

def outer():
    r = yield from inner()
    print("r", r)
    yield from [1, 2]
    yield from "ab"
    return 5

g = outer()
print(next(g))
print(g.send("sent"))
print(list(g))
#: recursion by yield from
def flat(t):
    for a in t:
        if isinstance(a, list):
            yield from flat(a)
        else:
            yield a
print(list(flat([1, [2, [3, [4]], 5], [[6]]])))
print(sum(flat([[1, 2], 3])), max(flat([[1, 7], 3])), sorted(flat([[4, 1], 3])))
#: a context manager
import contextlib
@contextlib.contextmanager
def manager(a):
    print("enter", a)
    try:
        yield a * 2
    except KeyError as e:
        print("suppressed", e)
    finally:
        print("exit", a)

with manager(3) as v:
    print("v", v)
with manager(4):
    raise KeyError("k")
try:
    with manager(5):
        raise IndexError("i")
except IndexError as e:
    print("out", e)
#: a context manager as a decorator
import contextlib
@contextlib.contextmanager
def traced(name):
    print("begin", name)
    yield
    print("end", name)

@traced("f")
def f(x):
    print("in f")
    return x + 1
print(f(1), f(2))
#: nested with statements in a generator
class C:
    def __init__(self, n): self.n = n
    def __enter__(self): print("enter", self.n); return self.n
    def __exit__(self, *a): print("exit", self.n, a[0] is None)
def g():
    with C(1) as a, C(2) as b:
        yield a + b
        yield a - b
print(list(g()))
for x in g():
    print(x)
it = g()
next(it)
it.close()
#: any and all stop early
def noisy(*values):
    for v in values:
        print("value", v)
        yield v
print(any(noisy(0, 1, 2)), all(noisy(1, 0, 3)))
print(any(x > 2 for x in noisy(1, 3, 5)))
print(2 in noisy(1, 2, 3))
#: zip and enumerate are lazy
def nats():
    n = 0
    while True:
        yield n
        n += 1
print(list(zip(nats(), "abc")))
for i, n in enumerate(nats(), 10):
    if i == 12:
        break
    print(i, n)
print(list(zip("ab", nats(), [True, False, None])))
#: a generator expression is lazy
calls = []
def f(x):
    calls.append(x)
    return x * x
g = (f(x) for x in range(5))
print(calls)
print(next(g), calls)
print(list(g), calls)
print(next(g, "over"))
#: generator expressions capture variables late
n = 1
g = (x + n for x in range(3))
n = 10
print(list(g))
#: the first iterable is evaluated at once
xs = [1, 2, 3]
g = (x for x in xs)
xs = [7]
print(list(g))
#: nested generator expressions
print(list((a, b) for a in range(4) if a % 2 for b in range(a) if b != 1))
g = ((a, b) for a in "xy" for b in "12")
print(next(g), next(g), next(g), next(g), next(g, None))
#: close runs finally
def g():
    try:
        yield 1
        yield 2
    finally:
        print("cleanup")
it = g()
print(next(it))
it.close()
it.close()
print(next(it, "closed"))
#: throw into a fresh generator
def g():
    print("never")
    yield 1
it = g()
try:
    it.throw(ValueError, "x")
except ValueError as e:
    print("ValueError")
print(list(it))
#: an exception ends a generator
def g():
    yield 1
    raise KeyError("inside")
it = g()
print(next(it))
try:
    next(it)
except KeyError as e:
    print("KeyError", e)
print(next(it, "ended"))
#: StopIteration inside of a generator
def g():
    yield 1
    raise StopIteration
try:
    print(list(g()))
except RuntimeError as e:
    print(e)
#: a generator is its own iterator
def g():
    yield 1
    yield 2
it = g()
print(iter(it) is it, it.__iter__() is it, it.__next__())
print(hasattr(it, "send"), hasattr(it, "__next__"), hasattr(it, "append"))
#: isinstance of generators
import types, collections.abc
g = (x for x in [])
print(isinstance(g, types.GeneratorType), isinstance(g, collections.abc.Iterator), isinstance(g, collections.abc.Iterable))
print(isinstance([], types.GeneratorType), type(g).__name__)
#: return in a loop of a generator
def until(xs, stop):
    for x in xs:
        if x == stop:
            return "found"
        yield x
    else:
        yield "else"
print(list(until("abc", "c")), list(until("abc", "z")))
#: break and continue in a generator
def g():
    i = 0
    while True:
        i += 1
        if i % 2:
            continue
        if i > 8:
            break
        yield i
    yield "after"
print(list(g()))
it = g()
print(next(it), next(it), list(it))
#: yield in a condition of a while
def w():
    i = 0
    while (v := (yield i)) != "stop":
        i += v
    return i
g = w()
print(next(g), g.send(2), g.send(3))
try:
    g.send("stop")
except StopIteration as e:
    print(e.value)
#: several yields in one statement
def g():
    print((yield 1), (yield 2))
    x = [(yield 3), (yield 4)]
    print(x)
it = g()
print(next(it), it.send("a"))
print(it.send("b"), it.send("c"))
print(next(it, "end"))
#: an average by send
def averager():
    total, n, average = 0, 0, None
    while True:
        x = yield average
        total += x
        n += 1
        average = total / n
a = averager()
next(a)
print([a.send(x) for x in (10, 20, 60)])
#: try, except and finally with yields
def g():
    for i in range(3):
        try:
            yield i
            if i == 1:
                raise ValueError(i)
        except ValueError as e:
            yield f"error {e}"
        else:
            yield "else"
        finally:
            yield "finally"
print(list(g()))
it = g()
for x in it:
    print(x)
#: re-raise behind a yield
def g():
    try:
        yield 1
    except ValueError:
        yield 2
        raise
it = g()
next(it)
print(it.throw(ValueError("again")))
try:
    next(it)
except ValueError as e:
    print("reraised", e)
#: match in a generator
def g(values):
    for v in values:
        match v:
            case int(): yield "int", v
            case [a, b]: yield "pair", a + b
            case {"k": x}: yield "dict", x
            case _: yield "other", v
it = g([1, [2, 3], {"k": 4}, "s"])
print(next(it), list(it))
#: closures in generators
def make(n):
    def g():
        nonlocal n
        while n > 0:
            n -= 1
            yield lambda: n
    return g()
fs = list(make(3))
print([f() for f in fs])
it = make(2)
f = next(it)
print(f(), next(it)(), f())
#: a generator method and __iter__
class Tree:
    def __init__(self, v, *children):
        self.v, self.children = v, children
    def __iter__(self):
        yield self.v
        for c in self.children:
            yield from c
t = Tree(1, Tree(2, Tree(3)), Tree(4))
print(list(t), [x * 2 for x in t], *t)
a, *b = t
print(a, b, 3 in t, dict(zip(t, "abcd")))
#: primes
def primes():
    found = []
    n = 2
    while True:
        if all(n % p for p in found):
            found.append(n)
            yield n
        n += 1
import itertools
print(list(itertools.islice(primes(), 12)))
print(list(itertools.takewhile(lambda p: p < 20, primes())))
#: a pipeline
def source():
    for i in itertools.count():
        yield i
def square(xs):
    for x in xs:
        yield x * x
def only_even(xs):
    return (x for x in xs if x % 2 == 0)
import itertools
print(list(itertools.islice(only_even(square(source())), 5)))
#: itertools are lazy
import itertools
def noisy():
    for i in range(4):
        print("make", i)
        yield i
print(next(itertools.chain(noisy(), [9])))
print(next(itertools.starmap(lambda a, b: a + b, zip(noisy(), noisy()))))
print(list(itertools.islice(itertools.cycle("ab"), 5)), list(itertools.islice(itertools.accumulate(itertools.count(1)), 5)))
a, b = itertools.tee(noisy())
print(next(a), next(b), list(a), list(b))
print(next(map(str, noisy())), next(filter(None, noisy())))
#: groupby and batches
import itertools
for k, g in itertools.groupby("aaabbca"):
    print(k, list(g))
for k, g in itertools.groupby(range(10), lambda x: x // 4):
    print(k, next(g))
print([list(g) for k, g in itertools.groupby([1, 1, 2])])
#: the grouper recipe
def grouper(iterable, n):
    args = [iter(iterable)] * n
    return zip(*args)
print(list(grouper("abcdefg", 3)))
#: already executing
def g():
    yield next(it)
it = g()
try:
    next(it)
except ValueError as e:
    print(e)
#: send to a fresh generator
def g():
    yield 1
it = g()
try:
    it.send(1)
except TypeError as e:
    print(e)
#: star arguments from a generator
def f(*a, **k):
    return a, k
print(f(*(x for x in "ab"), **dict((c, 1) for c in "xy")))
#: a generator in a class body
class A:
    xs = [1, 2]
    ys = list(x * 2 for x in xs)
print(A.ys)
#: iterating a list that grows
def g(xs):
    for x in xs:
        yield x
        if x < 4:
            xs.append(x + 2)
print(list(g([1])))
xs = [1]
for x in g(xs):
    print(x)
print(xs)
#: global state between yields
state = []
def g():
    state.append("a")
    yield
    state.append("b")
    yield
    state.append("c")
it = g()
print(state); next(it); print(state); next(it); print(state); next(it, None); print(state)
#: ExitStack
import contextlib
@contextlib.contextmanager
def cm(n):
    print("in", n)
    try:
        yield n
    finally:
        print("out", n)
with contextlib.ExitStack() as stack:
    print([stack.enter_context(cm(i)) for i in range(3)])
    stack.callback(print, "callback", 1)
with contextlib.suppress(KeyError, IndexError):
    {}["x"]
with contextlib.closing(x for x in [1]) as g:
    print(next(g))
with contextlib.nullcontext(4) as v:
    print(v)
#: a yield in a lambda | refused: a yield in a lambda is not supported
g = (lambda: (yield 5))()
print(next(g))
#: a call in front of a yield | refused: a call before a yield in one statement is not supported
def g():
    print(len("abc") + (yield 1))
for x in g():
    print(x)
