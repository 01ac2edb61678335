"""torch.jit: a model file is evaluated as it is, so scripting and tracing return their argument."""
from calque import is_tracing as _is_tracing
from ..nn import Module as ScriptModule

Final = None
Attribute = None
RecursiveScriptModule = ScriptModule
TopLevelTracedModule = ScriptModule
TracedModule = ScriptModule


def _same(fn):
    return fn


def script(obj, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    return obj


def trace(func, example_inputs=None, optimize=None, check_trace=True, check_inputs=None,
          check_tolerance=1e-5, strict=True, **options):
    return func


def trace_module(mod, inputs, **options):
    return mod


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
    from calque import jit_save
    return jit_save(m, f)


def load(f, map_location=None, _extra_files=None):
    from calque import jit_load
    return jit_load(f)


def _overload_method(fn):
    """A signature for the compiler of TorchScript; the last definition is the method."""
    return fn


def _overload(fn):
    return fn
