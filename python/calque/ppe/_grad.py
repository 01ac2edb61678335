"""Gradients inside of a model."""
from __future__ import annotations

import contextlib
import functools
import threading
from typing import Any, Callable, Iterator, List, Optional, Sequence

import torch

from ..onnx import _loops
from ._annotate import as_output

DOMAIN = "ai.onnx.preview.training"


class _Export(threading.local):
    is_inline = False
    n_nodes = 0


_export = _Export()


@contextlib.contextmanager
def exporting(inline: bool) -> Iterator[None]:
    """While it lasts, gradients are what computes them, or nodes that ask for them."""
    before = _export.is_inline, _export.n_nodes
    _export.is_inline, _export.n_nodes = inline, 0
    try:
        yield
    finally:
        _export.is_inline, _export.n_nodes = before


def _of_trace(output: torch.Tensor, inputs: List[torch.Tensor], seed: Optional[torch.Tensor],
              retain_graph: Optional[bool], create_graph: bool) -> List[torch.Tensor]:
    found = torch.autograd.grad([output], inputs, [seed], retain_graph, create_graph)
    made: List[torch.Tensor] = []
    for one in found:
        assert one is not None
        made.append(one)
    return made


@functools.lru_cache(maxsize=None)
def _script() -> Callable[..., Any]:
    """A trace of a function of TorchScript says that a gradient is asked for; that of
    torch.autograd.grad itself would be empty."""
    made: Callable[..., Any] = torch.jit.script(_of_trace)
    return made


class _Gradient(torch.autograd.Function):  # type: ignore[misc]
    """A node that asks for the gradients of the output called y with respect to values."""

    @staticmethod
    def forward(_: Any, y: str, n: int, *tensors: torch.Tensor) -> Any:
        """The first n tensors are the values, the others their gradients."""
        return tuple(tensor.clone() for tensor in tensors[n:])

    @staticmethod
    def backward(_: Any, *gradients: Any) -> Any:
        return None, None, *[None] * len(gradients), *gradients

    @staticmethod
    def symbolic(g: Any, y: str, n: int, *values: Any) -> Any:
        """The library says what the values are called in the end."""
        return g.op(f"{DOMAIN}::Gradient", *values[:n], xs_s=[""] * n, y_s=y, outputs=n)


def _name(output: torch.Tensor, inputs: Sequence[torch.Tensor]) -> str:
    """Makes all of them outputs of the model; what the first is called."""
    number = _export.n_nodes
    _export.n_nodes += 1
    as_output(f"Gradient_y_{number}", output)
    for i, x in enumerate(inputs):
        as_output(f"Gradient_x_{i}_{number}", x, add_identity=False)
    return f"Gradient_y_{number}"


def grad(output: torch.Tensor, inputs: Sequence[torch.Tensor], retain_graph: bool | None = None,
         create_graph: bool = False, only_inputs: bool = True,
         allow_unused: bool = False) -> tuple[torch.Tensor | None, ...]:
    """torch.autograd.grad of output, with ones for its gradient. In an export it becomes a node
    Gradient, which has its values by name; with inline_gradients=True what computes it does.

    >>> import torch, calque.ppe
    >>> x = torch.ones(2, requires_grad=True)
    >>> calque.ppe.grad(x * 3, (x,))
    (tensor([3., 3.]),)
    """
    seed = torch.ones_like(output)

    def found(retain: bool | None) -> tuple[torch.Tensor | None, ...]:
        return tuple(torch.autograd.grad(output, inputs, seed, retain, create_graph, only_inputs,
                                         allow_unused))

    if not _loops.is_traced():
        return found(retain_graph)
    with _loops.untraced():
        is_used = [one is not None for one in found(True)]
    used = [one for one, wanted in zip(inputs, is_used) if wanted]
    made = _script()(output, used, seed, retain_graph, create_graph)
    if not _export.is_inline:
        made = _Gradient.apply(_name(output, used), len(used), *used, *made)
    each = iter(made)
    return tuple(next(each) if wanted else None for wanted in is_used)
