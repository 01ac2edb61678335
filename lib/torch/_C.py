"""torch._C: the few names that model files use."""
from calque import operator
from . import _C_nn as _nn


class _Functions:
    """The class of torch's functions; pickles name torch.tanh as its attribute."""

    def __getattr__(self, name):
        import torch
        return getattr(torch, name)


_VariableFunctionsClass = _VariableFunctions = _Functions()


def _get_tracing_state():
    return None


def _jit_set_profiling_executor(flag):
    return False


def _jit_set_profiling_mode(flag):
    return False


def _log_api_usage_once(text):
    return None
