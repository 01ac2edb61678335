"""contextlib."""
from calque import check_context


class _Generated:
    """The generator runs to its end at entry, so `yield` must be its last statement."""

    def __init__(self, func, args, kwargs):
        self.func, self.args, self.kwargs = func, args, kwargs

    def __enter__(self):
        self.iterator = iter(self.func(*self.args, **self.kwargs))
        return next(self.iterator)

    def __exit__(self, kind, value, trace):
        return None


def contextmanager(func):
    def make(*args, **kwargs):
        check_context(func)
        return _Generated(func, args, kwargs)

    return make


class nullcontext:
    def __init__(self, enter_result=None):
        self.enter_result = enter_result

    def __enter__(self):
        return self.enter_result

    def __exit__(self, kind, value, trace):
        return None


class suppress:
    def __init__(self, *exceptions):
        self.exceptions = exceptions

    def __enter__(self):
        return None

    def __exit__(self, kind, value, trace):
        return kind is not None and issubclass(kind, self.exceptions)


class closing:
    def __init__(self, resource):
        self.resource = resource

    def __enter__(self):
        return self.resource

    def __exit__(self, kind, value, trace):
        self.resource.close()


class ExitStack:
    def __init__(self):
        self.entered = []

    def enter_context(self, cm):
        value = cm.__enter__()
        self.entered.append(cm)
        return value

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        while self.entered:
            self.entered.pop().__exit__(kind, value, trace)


class ContextDecorator:
    def __call__(self, func):
        def inner(*args, **kwargs):
            with self:
                return func(*args, **kwargs)

        return inner


class AbstractContextManager:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return None
