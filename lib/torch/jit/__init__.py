"""torch.jit: TorchScript is Python here, so scripting and tracing choose how branches on data are
exported (_modes.py).

A model file is exported in one mode, which `calque export` chooses; there scripting and tracing
return their argument.
"""
from calque import is_tracing as _is_tracing
from ._modes import (
    RecursiveScriptModule, ScriptFunction, ScriptModule, TopLevelTracedModule, TracedModule,
    mode_of, script, trace, trace_module)

Final = None
Attribute = None


def _same(fn):
    return fn


def script_if_tracing(fn):
    return fn


def _script_if_tracing(fn):
    return fn


def script_method(fn):
    return fn


def ignore(drop=False, **kwargs):
    """With and without parentheses."""
    return drop if callable(drop) else _same


def unused(fn):
    return fn


def export(fn):
    return fn


def interface(obj):
    return obj


def annotate(the_type, the_value):
    return the_value


def isinstance(obj, target_type):
    import builtins
    return builtins.isinstance(obj, target_type)


def is_scripting():
    return False


def is_tracing():
    return _is_tracing()


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    return mod


def optimize_for_inference(mod, other_methods=None):
    return mod


def set_fusion_strategy(strategy):
    return None


def fork(func, *args, **kwargs):
    return func(*args, **kwargs)


def wait(future):
    return future


def save(m, f, _extra_files=None):
    raise NotImplementedError("torch.jit.save is not implemented; torch.save writes state dicts, "
                              "torch.onnx.export writes models")


def load(f, map_location=None, _extra_files=None):
    from calque import host
    from torch import _file
    from ._loaded import LoadedModule
    return LoadedModule(host("torch.jit.load", _file(f)))


def _overload_method(fn):
    """A signature for the compiler of TorchScript; the last definition is the method."""
    return fn


def _overload(fn):
    return fn
