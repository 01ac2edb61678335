"""What a forward says about its parts: marks in the trace, which the library understands. Outside of
an export none of these does anything; unlike the original's, they work in modules of modules."""
from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator

import torch

from .. import _abi
from ..onnx import _marks, _trace
from ..onnx._capture import Tree


def _is_traced() -> bool:
    return torch._C._get_tracing_state() is not None


@contextlib.contextmanager
def _scope(begin: Callable[[], Any], end: Callable[[], Any]) -> Iterator[None]:
    """A scope that an exception ends ends the export with it."""
    if not _is_traced():
        yield
        return
    begin()
    yield
    end()


def annotate(**attrs: Any) -> contextlib.AbstractContextManager[None]:
    """The first node of each module that is called in the scope gets these attributes.

    >>> import io, torch, calque, calque.ppe
    >>> class Net(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.fc = torch.nn.Linear(3, 2)
    ...     def forward(self, x):
    ...         with calque.ppe.annotate(device="gpu"):
    ...             return self.fc(x)
    >>> file = io.BytesIO()
    >>> calque.ppe.export(Net(), torch.ones(1, 3), file)
    >>> calque.load(file.getvalue()).graph.nodes[0].attributes["device"]
    'gpu'
    """
    return _scope(lambda: torch.ops.calque.annotate_begin(0, _marks.attributes(attrs)),
                  lambda: torch.ops.calque.annotate_end())


def apply_annotation(fn: Callable[..., Any], *args: Any, **attrs: Any) -> Any:
    """Calls fn(*args); the operators that it calls get these attributes, with or without modules.

    >>> import io, torch, calque, calque.ppe
    >>> class Net(torch.nn.Module):
    ...     def forward(self, x):
    ...         return calque.ppe.apply_annotation(torch.relu, x, device="gpu")
    >>> file = io.BytesIO()
    >>> calque.ppe.export(Net(), torch.ones(2), file)
    >>> calque.load(file.getvalue()).graph.nodes[0].attributes
    {'device': 'gpu'}
    """
    flags = _abi.CQ_ANNOTATE_OPERATORS
    with _scope(lambda: torch.ops.calque.annotate_begin(flags, _marks.attributes(attrs)),
                lambda: torch.ops.calque.annotate_end()):
        return fn(*args)


def _holds(value: Any, wanted: torch.Tensor) -> bool:
    return any(tensor is wanted for tensor in Tree(value, ()).tensors)


def _note_passed(module: torch.nn.Module, args: Any, result: Any) -> Any:
    """A trace has no module that hands on what it is given, torch.nn.Identity for one; in the place of
    its first result is what says that it was called."""
    tree = Tree(result, ())
    if not _is_traced() or not tree.tensors or not _holds(args, tree.tensors[0]):
        return None
    first = torch.ops.calque.passed(_trace.path_of(module), type(module).__name__, tree.tensors[0])
    return tree.fill([first, *tree.tensors[1:]])


@contextlib.contextmanager
def _anchored(attrs: dict[str, Any]) -> Iterator[None]:
    if not _is_traced():
        yield
        return
    hook = torch.nn.modules.module.register_module_forward_hook(_note_passed)
    try:
        with _scope(lambda: torch.ops.calque.scoped_anchor_begin(_marks.attributes(attrs)),
                    lambda: torch.ops.calque.scoped_anchor_end()):
            yield
    finally:
        hook.remove()


def scoped_anchor(**attrs: Any) -> contextlib.AbstractContextManager[None]:
    """An Identity before the first module that is called in the scope, and one after the last, with
    these attributes.

    >>> import io, torch, calque, calque.ppe
    >>> class Net(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.act = torch.nn.ReLU()
    ...     def forward(self, x):
    ...         with calque.ppe.scoped_anchor(part="first"):
    ...             return self.act(x)
    >>> file = io.BytesIO()
    >>> calque.ppe.export(Net(), torch.ones(2), file)
    >>> [node.name for node in calque.load(file.getvalue()).graph.nodes]
    ['Anchor_0_start', '/act/Relu', 'Anchor_0_end']
    """
    return _anchored(attrs)


def anchor(value: torch.Tensor, **attrs: Any) -> torch.Tensor:
    """An Identity with these attributes at value; returns what is behind it.

    >>> import io, torch, calque, calque.ppe
    >>> class Net(torch.nn.Module):
    ...     def forward(self, x):
    ...         return torch.relu(calque.ppe.anchor(x, part="first"))
    >>> file = io.BytesIO()
    >>> calque.ppe.export(Net(), torch.ones(2), file)
    >>> [node.op_type for node in calque.load(file.getvalue()).graph.nodes]
    ['Identity', 'Relu']
    """
    if not _is_traced():
        return value
    made: torch.Tensor = torch.ops.calque.anchor(value, _marks.attributes(attrs))
    return made


def as_output(name: str, value: torch.Tensor, add_identity: bool = True) -> torch.Tensor:
    """Makes value an output of the model, after those that it returns; returns value. With add_identity
    it stands between two Identities, else it is the value itself that has the name.

    >>> import io, torch, calque, calque.ppe
    >>> class Net(torch.nn.Module):
    ...     def forward(self, x):
    ...         return torch.relu(calque.ppe.as_output("middle", x + 1))
    >>> file = io.BytesIO()
    >>> calque.ppe.export(Net(), torch.ones(2), file)
    >>> [value.name for value in calque.load(file.getvalue()).outputs]
    ['output_0', 'middle']
    """
    if not _is_traced():
        return value
    if add_identity:
        value = torch.ops.calque.identity(value)
    _marks.note_output(name, value)
    value = torch.ops.calque.as_output(name, value)
    return torch.ops.calque.identity(value) if add_identity else value


def _detached(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, dict):
        return {key: _detached(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_detached(item) for item in value])
    return value


def no_grad(fn: Callable[..., Any] | None = None, *args: Any, **kwargs: Any) -> Any:
    """What fn(*args, **kwargs) returns, without gradients: the trace says so by `detach`. Without fn
    it is torch.no_grad.

    >>> import torch, calque.ppe
    >>> calque.ppe.no_grad(torch.nn.Linear(3, 2), torch.ones(1, 3)).requires_grad
    False
    """
    if fn is None:
        return torch.no_grad()
    with torch.no_grad():
        made = fn(*args, **kwargs)
    return _detached(made)
