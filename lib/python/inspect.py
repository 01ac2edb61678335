"""inspect: only questions about kinds of values."""
import types


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


def signature(callable):
    raise NotImplementedError("inspect.signature is not implemented")


def getfullargspec(func):
    raise NotImplementedError("inspect.getfullargspec is not implemented")


def getsource(obj):
    raise NotImplementedError("inspect.getsource is not implemented")


def stack(context=1):
    raise NotImplementedError("inspect.stack is not implemented")


def getmembers(obj, predicate=None):
    pairs = [(name, getattr(obj, name)) for name in dir(obj)]
    return [pair for pair in pairs if predicate is None or predicate(pair[1])]
