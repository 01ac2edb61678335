"""Gradients inside of a model."""
from __future__ import annotations

import contextlib
import functools
import threading
from typing import Any, Callable, Iterator, List, Optional, Sequence

import torch

from ..onnx import _functions, _loops, _marks
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


def _node(y: str, inputs: Sequence[torch.Tensor],
          gradients: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """A node that asks for the gradients of the output called y. PyTorch has computed them; the trace
    says no more than that they are like the inputs, and the library what these are called in the end."""
    n = len(inputs)
    with _marks.known(gradients) as number:
        results = [torch.ops.calque.gradient(number, i, x) for i, x in enumerate(inputs)]
    return _functions.operator("Gradient", lambda g: g.op(
        f"{DOMAIN}::Gradient", *g.arguments(), xs_s=[""] * n, y_s=y, outputs=n), inputs, results)


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
        known = found(True)
    used = [one for one, gradient in zip(inputs, known) if gradient is not None]
    if _export.is_inline:
        made = _script()(output, used, seed, retain_graph, create_graph)
    else:
        made = _node(_name(output, used), used, [one for one in known if one is not None])
    each = iter(made)
    return tuple(None if gradient is None else next(each) for gradient in known)
