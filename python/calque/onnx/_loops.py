"""Loops and branches of a trace. A trace is a straight line: of a loop that a model says to be one
(calque.ppe.lax) it holds a single round, of a branch both sides, between operators that mark their
ends. What is between them becomes a block of a loop or an if of TorchScript, which the library exports
as any other.
"""
from __future__ import annotations

import contextlib
import sys
from typing import Any, Callable, Iterator, Sequence

import torch

from . import _marks
from ._functions import graphs_of, insert

State = Sequence[torch.Tensor]

_BEGIN = {f"{_marks.NAMESPACE}::{name}_begin" for name in ("fori", "while", "cond")}
_END = {f"{_marks.NAMESPACE}::{name}_end" for name in ("fori", "while", "cond")}
_FORI = f"{_marks.NAMESPACE}::fori_begin"
_IF = f"{_marks.NAMESPACE}::cond_begin"
_ELSE = f"{_marks.NAMESPACE}::cond_else"
_NEVER_IN_BODY = {"prim::Constant", "prim::GetAttr"}  # later code may use them, too

# ---- while the model is traced ----


def is_traced() -> bool:
    return torch._C._get_tracing_state() is not None


@contextlib.contextmanager
def untraced() -> Iterator[None]:
    """Computations in this context are not a part of the trace."""
    state = torch._C._get_tracing_state()
    torch._C._set_tracing_state(None)
    try:
        yield
    finally:
        torch._C._set_tracing_state(state)


@contextlib.contextmanager
def _known(run: Callable[[], State]) -> Iterator[int]:
    """The number under which the loop's end finds what the loop gives: PyTorch computes that, so
    that what follows has the right numbers and gradients."""
    with untraced():
        results = run()
    with _marks.known(results) as number:
        yield number


def fori(lower: int, upper: int, body: Callable[[torch.Tensor, State], State], state: State,
         run: Callable[[], State]) -> State:
    ops = torch.ops.calque
    with _known(run) as number:
        index, *inner = ops.fori_begin(lower, upper, list(state))
        made: State = ops.fori_end(number, list(body(index, inner)))
    return made


def while_(condition: Callable[[State], torch.Tensor], body: Callable[[State], State], state: State,
           run: Callable[[], State]) -> State:
    ops = torch.ops.calque
    with _known(run) as number:
        inner = ops.while_begin(condition(state), list(state))
        after = list(body(inner))
        made: State = ops.while_end(number, condition(after), after)
    return made


def cond(condition: torch.Tensor, then: Callable[[], State], otherwise: Callable[[], State],
         run: Callable[[], State]) -> State:
    ops = torch.ops.calque
    with _known(run) as number:
        ops.cond_begin(condition)
        first = list(then())
        ops.cond_else(first)
        second = list(otherwise())
        if len(first) != len(second):
            raise ValueError(f"one side of a branch gives {len(first)} tensors, the other {len(second)}")
        made: State = ops.cond_end(number, second)
    return made


# ---- the graph of the trace ----


def _unpacked(node: Any) -> tuple[Any, list[Any]]:
    """The node that takes the list apart which another one gives, and its items."""
    unpack = node.output().uses()[0].user
    return unpack, list(unpack.outputs())


class _Loop:
    """A loop in the making: the nodes of its beginning and its end, and those between them."""

    def __init__(self, graph: Any, begin: Any, end: Any, between: Sequence[Any]) -> None:
        self._graph, self._begin, self._end = graph, begin, end
        self._begin_list, self._end_list = (list(node.inputs())[-1].node() for node in (begin, end))
        self._begin_unpack, self._inner = _unpacked(begin)
        self._end_unpack, self._results = _unpacked(end)
        self._between = between[1:]  # without begin_unpack
        self._is_fori = begin.kind() == _FORI

    def build(self) -> None:
        graph = self._graph
        graph.setInsertPoint(self._begin)
        one, self._true = graph.insertConstant(1), graph.insertConstant(True)
        rounds, condition, first = self._ends(one)
        loop = insert(graph, "prim::Loop", [rounds, condition, *self._begin_list.inputs()],
                      len(self._results))
        body = loop.addBlock()
        index = body.addInputToBlock()
        index.setType(torch._C.IntType.get())
        for inner in self._inner[1 if self._is_fori else 0:]:
            parameter = body.addInputToBlock()
            parameter.setType(torch._C.TensorType.get())
            inner.replaceAllUsesWith(parameter)
        if self._is_fori:
            self._inner[0].replaceAllUsesWith(self._index(body, index, first))
        _move(self._between, loop, body)
        body.registerOutput(self._true if self._is_fori else self._go_on(body))
        for value in self._end_list.inputs():
            body.registerOutput(value)
        _replace(self._results, loop)
        for node in (self._end_unpack, self._end, self._end_list, self._begin_unpack, self._begin,
                     self._begin_list):
            node.destroy()

    def _ends(self, one: Any) -> tuple[Any, Any, Any]:
        """The number of iterations, the initial condition, and the name."""
        graph, inputs = self._graph, list(self._begin.inputs())
        if not self._is_fori:
            return graph.insertConstant(sys.maxsize), _bool(graph, inputs[0]), None
        count = _int(insert(graph, "aten::sub", inputs[1::-1]))
        return _int(insert(graph, f"{_marks.NAMESPACE}::rounds", [count])), self._true, inputs[0]

    def _index(self, body: Any, index: Any, first: Any) -> Any:
        """The tensor that the body has for the number of the round."""
        number = self._graph.create("aten::add", [index, first], 1)
        tensor = self._graph.create("prim::NumToTensor", [_int(number)], 1)
        for node in (number, tensor):
            node.insertBefore(body.returnNode())
        return tensor.output()

    def _go_on(self, body: Any) -> Any:
        """The condition at the end of an iteration."""
        node = self._graph.create("aten::Bool", [list(self._end.inputs())[1]], 1)
        node.insertBefore(body.returnNode())
        node.output().setType(torch._C.BoolType.get())
        return node.output()


class _Branch:
    """An if in the making: the nodes of both sides, each with the mark that has its results."""

    def __init__(self, graph: Any, begin: Any, end: Any, between: Sequence[Any]) -> None:
        self._graph, self._begin, self._end = graph, begin, end
        self._end_unpack, self._results = _unpacked(end)
        turn = next(i for i, node in enumerate(between) if node.kind() == _ELSE)
        self._sides = [(between[:turn], between[turn]), (between[turn + 1:], end)]

    def build(self) -> None:
        graph = self._graph
        graph.setInsertPoint(self._begin)
        made = insert(graph, "prim::If", [_bool(graph, self._begin.input())], len(self._results))
        for nodes, mark in self._sides:
            block = made.addBlock()
            _move(nodes, made, block)
            for value in list(mark.inputs())[-1].node().inputs():
                block.registerOutput(value)
        _replace(self._results, made)
        self._end_unpack.destroy()
        for mark in (self._end, self._sides[0][1]):
            results = list(mark.inputs())[-1].node()
            mark.destroy()
            results.destroy()
        self._begin.destroy()


def _move(nodes: Sequence[Any], owner: Any, block: Any) -> None:
    for node in nodes:
        node.moveBefore(owner if node.kind() in _NEVER_IN_BODY else block.returnNode())


def _replace(results: Sequence[Any], owner: Any) -> None:
    for result, made in zip(results, owner.outputs()):
        made.setType(torch._C.TensorType.get())
        result.replaceAllUsesWith(made)


def _int(node: Any) -> Any:
    node.output().setType(torch._C.IntType.get())
    return node.output()


def _bool(graph: Any, tensor: Any) -> Any:
    made = insert(graph, "aten::Bool", [tensor]).output()
    made.setType(torch._C.BoolType.get())
    return made


def _first(graph: Any) -> _Loop | _Branch | None:
    """An innermost loop or branch that is still marked."""
    if not any(graph.findNode(kind) for kind in _END):  # quicker than asking every node
        return None
    nodes = list(graph.nodes())
    begin = 0
    for i, node in enumerate(nodes):
        if node.kind() in _BEGIN:
            begin = i
        elif node.kind() in _END:
            parts = (graph, nodes[begin], node, nodes[begin + 1:i])
            return _Branch(*parts) if nodes[begin].kind() == _IF else _Loop(*parts)
    return None


def build(module: Any) -> None:
    """Converts the marked loops and ifs of a trace."""
    for graph in graphs_of(module):
        while found := _first(graph):
            found.build()
