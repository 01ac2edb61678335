"""Scripted and traced functions and modules: branches on data of scripted code are kept, the
example decides those of traced code."""
import copy

from calque import call_in_mode, has_host
from ..nn import Module


class ScriptFunction:
    """A function that is called while tracing, or while scripting."""

    def __init__(self, function, tracing):
        self.function = function
        self.tracing = tracing
        self.__name__ = getattr(function, "__name__", "forward")

    def __call__(self, *args, **kwargs):
        return call_in_mode(self.function, self.tracing, args, kwargs)

    def save(self, f):
        from . import save
        save(self, f)


class ScriptModule(Module):
    """A module whose forward is called while tracing or scripting; see _as_script."""

    def save(self, f, _extra_files=None):
        from . import save
        save(self, f, _extra_files)


RecursiveScriptModule = ScriptModule
TopLevelTracedModule = ScriptModule
TracedModule = ScriptModule


def _as_script(module, tracing):
    """A module with the same tensors and children, whose class extends ScriptModule too."""
    cls = type(module)
    if not issubclass(cls, ScriptModule):
        cls = type(cls.__name__, (ScriptModule, cls), {})
    made = cls.__new__(cls)
    own = made.__dict__
    own.update(module.__dict__)
    for group in ("_parameters", "_buffers", "_modules"):
        own[group] = copy.copy(own[group])
    own.pop("forward", None)
    own["forward"] = ScriptFunction(made.forward, tracing)
    return made


def mode_of(model):
    """Whether the example decides branches of a model: not if it is scripted."""
    if isinstance(model, ScriptFunction):
        return model.tracing
    if "_program" in getattr(model, "__dict__", {}):
        return False
    if isinstance(model, Module) and isinstance(model.__dict__.get("forward"), ScriptFunction):
        return model.__dict__["forward"].tracing
    return True


def script(obj, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    if not has_host() or isinstance(obj, (ScriptFunction, ScriptModule)):
        return obj
    if isinstance(obj, Module):
        return _as_script(obj, False)
    return obj if isinstance(obj, type) else ScriptFunction(obj, False)


def trace(func, example_inputs=None, optimize=None, check_trace=True, check_inputs=None,
          check_tolerance=1e-5, strict=True, **options):
    if not has_host() or isinstance(func, (ScriptFunction, ScriptModule)):
        return func
    return _as_script(func, True) if isinstance(func, Module) else ScriptFunction(func, True)


def trace_module(mod, inputs, **options):
    return trace(mod)
