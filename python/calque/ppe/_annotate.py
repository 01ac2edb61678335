"""What a forward says about its parts: marks in the trace, which the library understands. Outside of
an export none of these does anything; unlike the original's, they work in modules of modules."""
from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator

import torch

from .. import _abi
from ..onnx import _marks


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
    return _scope(lambda: torch.ops.calque.scoped_anchor_begin(_marks.attributes(attrs)),
                  lambda: torch.ops.calque.scoped_anchor_end())


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
    """Makes value an output of the model, after those that it returns; returns value. An Identity that
    protects it is not needed, and not added.

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
    _marks.note_output(name, value)
    made: torch.Tensor = torch.ops.calque.as_output(name, value)
    return made


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
