"""functools."""
from collections import namedtuple

from calque import Tensor


class partial:
    def __init__(self, func, *args, **keywords):
        if isinstance(func, partial):
            args = func.args + args
            keywords = {**func.keywords, **keywords}
            func = func.func
        self.func = func
        self.args = args
        self.keywords = keywords

    def __call__(self, *args, **keywords):
        return self.func(*self.args, *args, **{**self.keywords, **keywords})

    def __setstate__(self, state):
        self.func, self.args, self.keywords, own = state
        self.keywords = self.keywords or {}
        self.__dict__.update(own or {})

    def __repr__(self):
        return f"functools.partial({self.func!r})"


def partialmethod(func, *args, **keywords):
    def method(self, *more, **others):
        return func(self, *args, *more, **{**keywords, **others})

    return method


_NOTHING = object()


def reduce(function, iterable, initial=_NOTHING):
    items = list(iterable)
    if initial is _NOTHING:
        if len(items) == 0:
            raise TypeError("reduce() of empty iterable with no initial value")
        initial, items = items[0], items[1:]
    for item in items:
        initial = function(initial, item)
    return initial


def update_wrapper(wrapper, wrapped, assigned=None, updated=None):
    return wrapper


def wraps(wrapped, assigned=None, updated=None):
    def name(wrapper):
        wrapper.__name__ = wrapped.__name__
        wrapper.__wrapped__ = wrapped
        wrapper.__doc__ = wrapped.__doc__
        return wrapper

    return name if hasattr(wrapped, "__name__") else lambda wrapper: wrapper


def lru_cache(maxsize=128, typed=False):
    if callable(maxsize):
        return _cached(maxsize, 128)
    return lambda user_function: _cached(user_function, maxsize)


CacheInfo = namedtuple("CacheInfo", "hits misses maxsize currsize")


def _has_tensor(value):
    if isinstance(value, (tuple, list)):
        return any(_has_tensor(item) for item in value)
    return isinstance(value, Tensor)


def cache(user_function):
    return _cached(user_function, None)


def _cached(user_function, maxsize):
    """Results with tensors are not kept: they would be values of another run of the model."""
    results = {}
    counts = {"hits": 0, "misses": 0}

    def cached(*args, **kwargs):
        key = (args, tuple(sorted(kwargs.items())))
        if key in results:
            counts["hits"] += 1
            value = results.pop(key)  # becomes the most recently used one
            results[key] = value
            return value
        counts["misses"] += 1
        value = user_function(*args, **kwargs)
        if not _has_tensor(value) and maxsize != 0:
            if maxsize is not None and len(results) >= maxsize:
                del results[next(iter(results))]
            results[key] = value
        return value

    def clear():
        results.clear()
        counts["hits"] = counts["misses"] = 0

    cached.cache_info = lambda: CacheInfo(counts["hits"], counts["misses"], maxsize, len(results))
    cached.cache_clear = clear
    cached.__wrapped__ = user_function
    cached.__name__ = getattr(user_function, "__name__", "cached")
    return cached


class cached_property:
    def __init__(self, func):
        self.func = func
        self.name = func.__name__

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        value = self.func(instance)
        instance.__dict__[self.name] = value
        return value


def total_ordering(cls):
    own = [name for name in ("__lt__", "__le__", "__gt__", "__ge__") if hasattr(cls, name)]
    if len(own) == 0:
        raise ValueError("must define at least one ordering operation: < > <= >=")
    first = own[0]

    # Every comparison by the one that the class defines, and ==.
    less = {"__lt__": lambda a, b: a < b, "__gt__": lambda a, b: b > a,
            "__le__": lambda a, b: a <= b and a != b,
            "__ge__": lambda a, b: b >= a and a != b}[first]
    others = {"__lt__": lambda self, other: less(self, other),
              "__le__": lambda self, other: less(self, other) or self == other,
              "__gt__": lambda self, other: less(other, self),
              "__ge__": lambda self, other: less(other, self) or self == other}
    for name, function in others.items():
        if name not in own:
            setattr(cls, name, function)
    return cls


def cmp_to_key(mycmp):
    class Key:
        def __init__(self, obj):
            self.obj = obj

        def __lt__(self, other):
            return mycmp(self.obj, other.obj) < 0

    return Key


def singledispatch(func):
    registry = []

    def register(cls, fn=None):
        if fn is None:
            return lambda f: register(cls, f)
        registry.append((cls, fn))
        return fn

    def find(cls):
        """The function of the most derived class among those that include cls."""
        best = None
        for own, fn in registry:
            if issubclass(cls, own) and (best is None or issubclass(own, best[0])):
                best = own, fn
        return func if best is None else best[1]

    def dispatch(*args, **kwargs):
        return find(type(args[0]))(*args, **kwargs)

    dispatch.dispatch = find

    dispatch.register = register
    return dispatch
