"""functools."""
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
        return wrapper

    return name if hasattr(wrapped, "__name__") else lambda wrapper: wrapper


def lru_cache(maxsize=128, typed=False):
    if callable(maxsize):
        return cache(maxsize)
    return cache


def _has_tensor(value):
    if isinstance(value, (tuple, list)):
        return any(_has_tensor(item) for item in value)
    return isinstance(value, Tensor)


def cache(user_function):
    """Results with tensors are not kept: they would be values of another run of the model."""
    results = {}

    def cached(*args, **kwargs):
        key = (args, tuple(sorted(kwargs.items())))
        if key in results:
            return results[key]
        value = user_function(*args, **kwargs)
        if not _has_tensor(value):
            results[key] = value
        return value

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

    def dispatch(*args, **kwargs):
        for cls, fn in reversed(registry):
            if isinstance(args[0], cls):
                return fn(*args, **kwargs)
        return func(*args, **kwargs)

    dispatch.register = register
    return dispatch
