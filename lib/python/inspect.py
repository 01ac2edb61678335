"""inspect: kinds of values, and the parameters of functions."""
import types
from calque import parameters_of, source_of


def isfunction(obj):
    return isinstance(obj, types.FunctionType)


def ismethod(obj):
    return isinstance(obj, types.MethodType)


def isclass(obj):
    return isinstance(obj, type)


def ismodule(obj):
    return isinstance(obj, types.ModuleType)


def isgenerator(obj):
    return isinstance(obj, types.GeneratorType)


class _empty:
    """Stands for a default or annotation that is missing."""


class Parameter:
    empty = _empty
    POSITIONAL_ONLY = 0
    POSITIONAL_OR_KEYWORD = 1
    VAR_POSITIONAL = 2
    KEYWORD_ONLY = 3
    VAR_KEYWORD = 4

    def __init__(self, name, kind, *, default=_empty, annotation=_empty):
        self.name = name
        self.kind = kind
        self.default = default
        self.annotation = annotation


class Signature:
    empty = _empty

    def __init__(self, parameters=None):
        self.parameters = {p.name: p for p in parameters or []}


def signature(callable):
    while hasattr(callable, "__wrapped__"):
        callable = callable.__wrapped__
    found = parameters_of(callable)
    return Signature([Parameter(name, kind, default=value if given else _empty)
                      for name, kind, given, value in found])


class FullArgSpec:
    def __init__(self, args, varargs, varkw, defaults, kwonlyargs):
        self.args = args
        self.varargs = varargs
        self.varkw = varkw
        self.defaults = defaults
        self.kwonlyargs = kwonlyargs


def getfullargspec(func):
    found = parameters_of(func)
    by_kind = lambda *kinds: [name for name, kind, _, _ in found if kind in kinds]
    rest, named = by_kind(2), by_kind(4)
    defaults = tuple([value for _, kind, given, value in found if given and kind in (0, 1)])
    return FullArgSpec(by_kind(0, 1), rest[0] if rest else None, named[0] if named else None,
                       defaults or None, by_kind(3))


def getsource(obj):
    text = source_of(obj)
    if text is None:
        raise NotImplementedError("inspect.getsource is implemented for modules only")
    return text


def stack(context=1):
    raise NotImplementedError("inspect.stack is not implemented")


def getmembers(obj, predicate=None):
    pairs = [(name, getattr(obj, name)) for name in dir(obj)]
    return [pair for pair in pairs if predicate is None or predicate(pair[1])]
