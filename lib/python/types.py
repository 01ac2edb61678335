"""types."""


class SimpleNamespace:
    def __init__(self, **kwargs):
        for name, value in kwargs.items():
            setattr(self, name, value)

    def __repr__(self):
        inner = ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items())
        return f"namespace({inner})"

    def __eq__(self, other):
        return self.__dict__ == other.__dict__


class FunctionType:
    __natives__ = ["function"]


class LambdaType:
    __natives__ = ["function"]


class MethodType:
    __natives__ = ["function"]

    def __new__(cls, function, instance):
        from functools import partial
        return partial(function, instance)


class BuiltinFunctionType:
    __natives__ = ["builtin_function_or_method"]


class ModuleType:
    __natives__ = ["module"]


class GeneratorType:
    __natives__ = ["generator"]


class NoneType:
    __natives__ = ["NoneType"]


def MappingProxyType(mapping):
    return mapping
