"""Subclasses of torch.autograd.Function in a trace.

PyTorch records the call of one as a Python object with a graph of its forward, which no archive can
hold. The graph takes its place. A function that has a `symbolic` method (or a rule for
prim::PythonOp) becomes an operator of its own besides: the trace then says what the operator's
results look like (ops.calque.function), and a rule under its name lets `symbolic` build its nodes.
"""
from __future__ import annotations

import itertools
import re
import threading
from typing import Any, Callable, Iterator, Sequence

import torch

from .. import _abi
from . import _marks, _symbolic
from ._graph import GraphContext, Value
from ._program import dtype_code

DOMAIN = "calque_functions"
_FUNCTION = f"{_marks.NAMESPACE}::function"

_numbers = itertools.count()


class _Current(threading.local):
    rules: Rules | None = None


_current = _Current()


def operator(name: str, build: Callable[[GraphContext], Any], args: Sequence[torch.Tensor],
             results: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """An operator of its own in the trace that is being made, with build for its rule; returns
    results, which say what the operator's look like."""
    if _current.rules is None:
        raise RuntimeError(f"{name} can be traced in an export of calque only")
    made: list[torch.Tensor] = torch.ops.calque.function(_current.rules.add(name, build), list(args),
                                                         list(results))
    return made


class Rules:
    """Rules for the functions of one export. keep: functions without one become nodes under their
    names, instead of what is inside of them."""

    def __init__(self, keep: bool = False) -> None:
        self.keep = keep
        self._names: list[str] = []

    def add(self, name: str, build: Callable[[GraphContext], Any]) -> str:
        """The operator that build is the rule of."""
        plain = re.sub(r"\W", "_", name)
        rule = f"{DOMAIN}::{plain}_{next(_numbers)}"
        _symbolic.register_builder(rule, _abi.CQ_OPSET_OLDEST, build)
        self._names.append(rule)
        return rule

    def __enter__(self) -> Rules:
        self._outer, _current.rules = _current.rules, self
        return self

    def __exit__(self, *_: Any) -> None:
        _current.rules = self._outer
        for name in self._names:
            _symbolic.unregister_builder(name, _abi.CQ_OPSET_OLDEST)
        self._names = []


def _kept(ctx: _symbolic.SymbolicContext, g: GraphContext, *args: Any, name: str, module: str) -> Any:
    tensors = [value for value in args if isinstance(value, Value)]
    return g.emit("prim::PythonOp", tensors, {"name_s": name, "module_s": module},
                  ctx.cur_node.outputsSize())


class _Call:
    """A call of a function in a trace: a node of kind prim::PythonOp."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self.cls = getattr(node.pyobj(), "__self__", None)
        self.name: str = node.pyname()
        self._kinds: str = node.cconv()
        self._scalars: Sequence[Any] = node.scalar_args()
        self._attributes = {"name": self.name, "module": node.s("module")
                            if node.hasAttribute("module") else ""}

    def builder(self, keep: bool) -> Callable[[GraphContext], Any] | None:
        """Its symbolic function; None: its body is exported."""
        by_kind = _symbolic.python_op_symbolic() or (_kept if keep else None)
        if hasattr(self.cls, "symbolic"):
            return self._build(getattr(self.cls, "symbolic"))
        return self._build(by_kind, **self._attributes) if by_kind else None

    def _build(self, symbolic: Callable[..., Any], **attributes: Any) -> Callable[[Any], Any]:
        kinds, scalars, outputs = self._kinds, self._scalars, self.n_results()

        def build(g: GraphContext) -> Any:
            tensors, plain = iter(g.arguments()), iter(scalars)
            args = [next(tensors) if kind == "d" else next(plain) for kind in kinds]
            return _symbolic.call_with_context(symbolic, g, outputs, args, attributes)

        return build

    def n_results(self) -> int:
        kind = self.node.output().type()
        return len(kind.elements()) if kind.kind() == "TupleType" else 1

    # ---- the graph ----

    def inline(self, graph: Any, rules: Rules) -> None:
        node, inputs, builder = self.node, list(self.node.inputs()), self.builder(rules.keep)
        graph.setInsertPoint(node)
        results = list(graph.insertGraph(node.g("Subgraph"), inputs))
        if builder is not None:
            name = graph.insertConstant(rules.add(self.name, builder))
            results = _unpack(graph, _operator(graph, name, _tensors(graph, inputs),
                                               _tensors(graph, results)), results)
        made = _tuple(graph, results) if node.output().type().kind() == "TupleType" else results[0]
        node.output().replaceAllUsesWith(made)
        node.destroy()


def insert(graph: Any, kind: str, inputs: Sequence[Any], n: int = 1) -> Any:
    return graph.insertNode(graph.create(kind, list(inputs), n))


def _tensors(graph: Any, values: Sequence[Any]) -> Any:
    made = insert(graph, "prim::ListConstruct", values).output()
    made.setType(torch._C.ListType.ofTensors())
    return made


def _operator(graph: Any, *inputs: Any) -> Any:
    made = insert(graph, _FUNCTION, inputs).output()
    made.setType(torch._C.ListType.ofTensors())
    return made


def _unpack(graph: Any, values: Any, like: Sequence[Any]) -> list[Any]:
    made = list(insert(graph, "prim::ListUnpack", [values], len(like)).outputs())
    for one, other in zip(made, like):
        one.setType(other.type())
    return made


def _tuple(graph: Any, values: Sequence[Any]) -> Any:
    made = insert(graph, "prim::TupleConstruct", values).output()
    made.setType(torch._C.TupleType([value.type() for value in values]))
    return made


def graphs_of(module: Any) -> Iterator[Any]:
    for name in module._method_names():
        yield module._get_method(name).graph
    for _, child in torch._C.ModuleDict(module).items():
        yield from graphs_of(child)


_KNOWN = {"aten", "prim", "onnx", "quantized", "torchvision", _marks.NAMESPACE}
_DTYPES = {torch.empty((), dtype=dtype).type().rpartition(".")[2].replace("Tensor", ""): dtype
           for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64,
                         torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)}


def _tell_types(graph: Any) -> None:
    """Of operators that the library may not know, it is told what they give. Only a rule can export
    these; without any, no node needs to be inspected."""
    rules = _symbolic.registered()
    for node in [node for node in graph.nodes()
                 if (kind := node.kind()) in rules or kind.partition("::")[0] not in _KNOWN]:
        last = node
        for output in list(node.outputs()):
            kind = output.type()
            if kind.kind() != "TensorType" or kind.scalarType() not in _DTYPES or kind.sizes() is None:
                continue
            graph.setInsertPoint(node)
            constants = [graph.insertConstant(dtype_code(_DTYPES[kind.scalarType()])),
                         graph.insertConstant(kind.sizes())]
            made = graph.create(f"{_marks.NAMESPACE}::typed", [output, *constants], 1)
            made.output().setType(kind)
            made.insertAfter(last)
            output.replaceAllUsesAfterNodeWith(made, made.output())
            last = made


def inline(module: Any, rules: Rules) -> None:
    """Replaces all functions of a trace by calls that an archive can hold."""
    for graph in graphs_of(module):
        if rules.keep or _symbolic.registered():
            _tell_types(graph)
        while node := graph.findNode("prim::PythonOp", True):
            if not node.hasAttribute("Subgraph"):
                raise RuntimeError(f"the trace of the function {node.pyname()} does not say what it "
                                   "computes; it cannot be exported")
            _Call(node).inline(graph, rules)
