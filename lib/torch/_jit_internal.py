"""torch._jit_internal: decorators that model files import."""
from .jit import Final, ignore, unused


def boolean_dispatch(arg_name, arg_index, default, if_true, if_false, module_name, func_name):
    def fn(*args, **kwargs):
        flag = args[arg_index] if arg_index < len(args) else kwargs.get(arg_name, default)
        return if_true(*args, **kwargs) if flag else if_false(*args, **kwargs)

    return fn


def _overload(fn):
    return fn


def _overload_method(fn):
    return fn


def weak_module(cls):
    return cls


def weak_script_method(fn):
    return fn
