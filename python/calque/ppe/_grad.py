"""Gradients inside of a model."""
from __future__ import annotations

import functools
from typing import Any, Callable, List, Optional, Sequence

import torch

from ..onnx import _loops


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


def grad(output: torch.Tensor, inputs: Sequence[torch.Tensor], retain_graph: bool | None = None,
         create_graph: bool = False, only_inputs: bool = True,
         allow_unused: bool = False) -> tuple[torch.Tensor | None, ...]:
    """torch.autograd.grad of output, with ones for its gradient. In an export the gradient becomes a
    part of the graph.

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
    made = iter(_script()(output, [one for one, used in zip(inputs, is_used) if used], seed,
                          retain_graph, create_graph))
    return tuple(next(made) if used else None for used in is_used)
