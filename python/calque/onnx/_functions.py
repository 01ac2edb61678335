"""Subclasses of torch.autograd.Function in a model that is traced.

PyTorch's trace of one is a Python object, which no archive can hold. So while a model is traced,
`apply` is ours: a function without a `symbolic` method is what its forward does. One with it is
traced on its own; the trace of the model then calls a function of TorchScript, which has its code
and its results' shapes, and a rule under its name (_symbolic) lets `symbolic` build its nodes.
"""
from __future__ import annotations

import contextlib
import itertools
import re
import threading
from typing import Any, Callable, Iterator, Sequence

import torch
from torch.autograd import Function

from .. import _abi
from . import _symbolic
from ._graph import GraphContext

MODULE = "calque_functions"  # of the functions in an archive

_lock = threading.Lock()
_open = 0  # exports under way, in all threads
_numbers = itertools.count()
_original: Any = None


class _Rules(threading.local):
    names: list[str] | None = None  # of this thread's export


_rules = _Rules()


class _Context(torch.autograd.function.FunctionCtx):
    """`ctx` of a forward whose backward is never asked for."""

    saved_tensors: tuple[Any, ...] = ()

    def __init__(self, args: Sequence[Any]) -> None:
        self.needs_input_grad = tuple(False for _ in args)

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors


def _forward(cls: Any, args: Sequence[Any]) -> Any:
    """What the function computes, by its forward alone."""
    default = getattr(Function, "setup_context", None)
    with torch.no_grad():
        if default is not None and cls.setup_context is not default:
            return cls.forward(*args)
        return cls.forward(_Context(args), *args)


def _apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
    if torch._C._get_tracing_state() is None or _rules.names is None:
        return _pytorchs_apply(cls)(*args, **kwargs)
    if not hasattr(cls, "symbolic") or not any(isinstance(arg, torch.Tensor) for arg in args):
        return _forward(cls, args)
    return _record(cls, args)


def _pytorchs_apply(cls: Any) -> Callable[..., Any]:
    found: Callable[..., Any] = _original.__get__(None, cls) if _original is not None \
        else super(Function, cls).apply
    return found


@contextlib.contextmanager
def _untraced() -> Iterator[None]:
    state = torch._C._get_tracing_state()
    torch._C._set_tracing_state(None)
    try:
        yield
    finally:
        torch._C._set_tracing_state(state)


class _Call:
    """One call: which of its arguments are tensors, and which of its results are."""

    def __init__(self, cls: Any, args: Sequence[Any]) -> None:
        self.cls, self.args = cls, list(args)
        self.places = [i for i, arg in enumerate(args) if isinstance(arg, torch.Tensor)]
        self.results: list[bool] | None = None  # None: it is one tensor

    def tensors(self) -> list[torch.Tensor]:
        return [self.args[i] for i in self.places]

    def with_tensors(self, tensors: Sequence[Any]) -> list[Any]:
        args = list(self.args)
        for i, tensor in zip(self.places, tensors):
            args[i] = tensor
        return args

    def run(self, *tensors: torch.Tensor) -> Any:
        made = _forward(self.cls, self.with_tensors(tensors))
        if isinstance(made, torch.Tensor):
            return made
        self.results = [isinstance(item, torch.Tensor) for item in made]
        return tuple(item for item in made if isinstance(item, torch.Tensor))

    def rebuild(self, made: Any) -> Any:
        if self.results is None:
            return made
        found = iter(made if isinstance(made, (tuple, list)) else (made,))
        return tuple(next(found) if there else None for there in self.results)

    def build(self, g: GraphContext) -> Any:
        return self.cls.symbolic(g, *self.with_tensors(g.arguments()))


def _record(cls: Any, args: Sequence[Any]) -> Any:
    call = _Call(cls, args)
    name = f"{re.sub(r'[^A-Za-z0-9_]', '_', cls.__name__)}_{next(_numbers)}"

    def run(*tensors: torch.Tensor) -> Any:
        return call.run(*tensors)

    run.__name__, run.__module__ = name, MODULE
    with _untraced():
        copies = tuple(tensor.detach().clone() for tensor in call.tensors())
        function = torch.jit.trace(run, copies, check_trace=False, strict=False)
    rule = f"{MODULE}::{name}"
    _symbolic.register_builder(rule, _abi.CQ_OPSET_OLDEST, call.build)
    assert _rules.names is not None
    _rules.names.append(rule)
    return call.rebuild(function(*call.tensors()))


@contextlib.contextmanager
def recorded() -> Iterator[None]:
    """While it lasts, functions are recorded as above; rules for them hold until its end."""
    global _open, _original
    with _lock:
        if not _open:
            _original = Function.__dict__.get("apply")
            Function.apply = classmethod(_apply)
        _open += 1
    outer, _rules.names = _rules.names, []
    try:
        yield
    finally:
        for rule in _rules.names:
            _symbolic.unregister_builder(rule, _abi.CQ_OPSET_OLDEST)
        _rules.names = outer
        with _lock:
            _open -= 1
            if not _open and _original is None:
                del Function.apply
            elif not _open:
                Function.apply = _original
