"""contextlib."""


class AbstractContextManager:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return None


class ContextDecorator:
    def _recreate_cm(self):
        return self

    def __call__(self, func):
        def inner(*args, **kwargs):
            with self._recreate_cm():
                return func(*args, **kwargs)

        return inner


class _GeneratorContextManager(AbstractContextManager, ContextDecorator):
    def __init__(self, func, args, kwargs):
        self.func, self.args, self.kwargs = func, args, kwargs
        self.gen = func(*args, **kwargs)

    def _recreate_cm(self):
        return type(self)(self.func, self.args, self.kwargs)

    def __enter__(self):
        try:
            return next(self.gen)
        except StopIteration:
            raise RuntimeError("generator didn't yield") from None

    def __exit__(self, kind, value, trace):
        if kind is None:
            try:
                next(self.gen)
            except StopIteration:
                return False
            raise RuntimeError("generator didn't stop")
        try:
            self.gen.throw(value)
        except StopIteration as e:
            return e is not value
        except RuntimeError as e:
            # A StopIteration that the generator does not catch leaves it as a RuntimeError.
            if e is not value and not isinstance(value, StopIteration):
                raise
            return False
        except BaseException as e:
            if e is not value:
                raise
            return False
        raise RuntimeError("generator didn't stop after throw()")


def contextmanager(func):
    def make(*args, **kwargs):
        return _GeneratorContextManager(func, args, kwargs)

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


class _Callback:
    def __init__(self, function, args, kwargs):
        self.function, self.args, self.kwargs = function, args, kwargs

    def __exit__(self, kind, value, trace):
        self.function(*self.args, **self.kwargs)


class _Exit:
    def __init__(self, function):
        self.function = function

    def __exit__(self, kind, value, trace):
        return self.function(kind, value, trace)


class ExitStack(AbstractContextManager):
    def __init__(self):
        self.entered = []

    def enter_context(self, cm):
        value = cm.__enter__()
        self.entered.append(cm)
        return value

    def push(self, exit):
        self.entered.append(exit if hasattr(exit, "__exit__") else _Exit(exit))
        return exit

    def callback(self, function, *args, **kwargs):
        self.entered.append(_Callback(function, args, kwargs))
        return function

    def pop_all(self):
        other = type(self)()
        other.entered, self.entered = self.entered, []
        return other

    def close(self):
        self.__exit__(None, None, None)

    def __exit__(self, kind, value, trace):
        raised = value
        while self.entered:
            try:
                kind = None if raised is None else type(raised)
                if self.entered.pop().__exit__(kind, raised, None):
                    raised = None
            except BaseException as e:
                raised = e
        if raised is not None and raised is not value:
            raise raised
        return value is not None and raised is None


class redirect_stdout(AbstractContextManager):
    def __init__(self, new_target):
        raise NotImplementedError("contextlib.redirect_stdout is not supported")
