"""Symbolic functions that are written in Python, in the table of the library."""
from __future__ import annotations

import ctypes
import inspect
import itertools
import re
from typing import Any, Callable

from .. import _abi
from .._call import callback_raised, check
from .._lib import encoded, lib
from . import _state
from ._graph import GraphContext, Value

Symbolic = Callable[..., Any]

_NAME = re.compile(r"^[a-zA-Z0-9-_]*::[a-zA-Z-_]+[a-zA-Z0-9-_]*(\.[a-zA-Z0-9_]+)?$")

# By the number that the library hands back: what builds the nodes of an operator.
_builders: dict[int, Callable[[GraphContext], Any]] = {}
_numbers = itertools.count(1)
_registered: dict[tuple[str, int], list[int]] = {}


def _build(pointer: int, number: int) -> int:
    try:
        g = GraphContext(pointer)
        return _finish(g, _builders[number](g))
    except BaseException as error:  # it is raised again where the export was called
        return callback_raised(error)


_c_build = _abi.cq_symbolic_fn(_build)


def _finish(g: GraphContext, made: Any) -> int:
    reason = _state.take_reason()
    if made is None:
        return int(lib.cq_sym_no(g.pointer, 0, encoded(reason or "its symbolic function returned None")))
    values = list(made) if isinstance(made, (list, tuple)) else [made]
    if len(values) == 1 and isinstance(values[0], Value) and values[0].is_constant and \
            isinstance(values[0].constant, list):
        values = values[0].constant
    wanted = lib.cq_sym_n_results(g.pointer)
    pointers = [g.value_of(value).pointer() for value in values[:wanted]]
    array = (ctypes.c_void_p * len(pointers))(*pointers)
    return int(lib.cq_sym_done_n(g.pointer, array, len(pointers)))


def register_builder(name: str, opset: int, builder: Callable[[GraphContext], Any]) -> None:
    """From that opset on, an operator or function is exported by builder."""
    number = next(_numbers)
    _builders[number] = builder
    check(lib.cq_symbolic_register(encoded(name), opset, _c_build, number))
    _registered.setdefault((name, opset), []).append(number)


def registered() -> set[str]:
    """The operators that have a rule here."""
    return {name for name, _ in _registered}


def unregister_builder(name: str, opset: int) -> None:
    lib.cq_symbolic_unregister(encoded(name), opset)
    for number in _registered.pop((name, opset), []):
        del _builders[number]


# The rule for functions of torch.autograd, by opset: the trace has no operator for them.
_PYTHON_OP = "prim::PythonOp"
_python_ops: dict[int, Symbolic] = {}


def python_op_symbolic() -> Symbolic | None:
    """The newest symbolic function for prim::PythonOp, or None."""
    return _python_ops[max(_python_ops)] if _python_ops else None


class SymbolicContext:
    """`ctx` of a symbolic function that expects one: its node, as far as that is known."""

    def __init__(self, outputs: int) -> None:
        self.cur_node = self.onnx_block = self
        self.params_dict: dict[str, Any] = {}
        self.env: dict[Any, Any] = {}
        self._outputs = outputs

    def outputsSize(self) -> int:
        return self._outputs


def call_with_context(symbolic: Symbolic, g: GraphContext, outputs: int, args: list[Any],
                      attributes: dict[str, Any]) -> Any:
    """Calls a symbolic function, with a context before g if its first parameter is one."""
    first = next(iter(inspect.signature(symbolic).parameters.values()), None)
    annotation = str(getattr(first, "annotation", ""))
    context = [SymbolicContext(outputs)] if "SymbolicContext" in annotation else []
    return symbolic(*context, g, *args, **attributes)


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Symbolic,
                                opset_version: int) -> None:
    """From that opset on, the operator is exported by symbolic_fn(g, *arguments).

    >>> import io, torch, calque.onnx
    >>> def hardswish(g, x):
    ...     return g.op("com.example::HardSwish", x)
    >>> calque.onnx.register_custom_op_symbolic("aten::hardswish", hardswish, 9)
    >>> file = io.BytesIO()
    >>> calque.onnx.export(torch.nn.Hardswish(), torch.ones(2), file)
    >>> b"com.example" in file.getvalue()
    True
    >>> calque.onnx.unregister_custom_op_symbolic("aten::hardswish", 9)
    """
    name = _checked(symbolic_name)
    if name == _PYTHON_OP:
        _python_ops[opset_version] = symbolic_fn
        return
    register_builder(name, opset_version, lambda g: call_with_context(
        symbolic_fn, g, lib.cq_sym_n_results(g.pointer), g.arguments(), {}))


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Takes back what `register_custom_op_symbolic` did for that opset.

    >>> import torch, calque.onnx
    >>> calque.onnx.register_custom_op_symbolic("aten::relu", lambda g, x: g.op("Abs", x), 9)
    >>> calque.onnx.unregister_custom_op_symbolic("aten::relu", 9)
    >>> [node.op_type for node in calque.onnx.export(torch.nn.ReLU(), torch.ones(2)).graph.nodes]
    ['Relu']
    """
    name = _checked(symbolic_name)
    if name == _PYTHON_OP:
        _python_ops.pop(opset_version, None)
        return
    unregister_builder(name, opset_version)


def _checked(name: str) -> str:
    if not _NAME.match(name):
        raise ValueError(f"Failed to register operator {name}. The symbolic name must match the "
                         "format domain::name, and should start with a letter and contain only "
                         "alphanumerical characters")
    if name.startswith("onnx::"):
        raise ValueError(f"Failed to register operator {name}. onnx domain cannot be modified.")
    return "aten" + name if name.startswith("::") else name
