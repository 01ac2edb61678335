"""Loops and branches that stay what they are when a model is exported, with the manners of jax.lax. Their
state is a tensor or a tuple of tensors."""
from __future__ import annotations

from typing import Callable, Sequence, Tuple, Union

import torch

from ..onnx import _loops

State = Union[torch.Tensor, Tuple[torch.Tensor, ...]]


def _tensors(state: State) -> Tuple[torch.Tensor, ...]:
    return (state,) if isinstance(state, torch.Tensor) else tuple(state)


def _like(state: State, tensors: Sequence[torch.Tensor]) -> State:
    return tensors[0] if isinstance(state, torch.Tensor) else tuple(tensors)


def fori_loop(lower: int, upper: int, body_fn: Callable[[torch.Tensor, State], State],
              init_val: State) -> State:
    """The state after body_fn(i, state) for i from lower to upper - 1; i is a tensor.

    >>> import torch, calque.ppe
    >>> calque.ppe.lax.fori_loop(1, 4, lambda i, x: x * i, torch.ones(2))
    tensor([6., 6.])
    """
    def run() -> State:
        state = init_val
        for i in range(lower, upper):
            state = body_fn(torch.tensor(i), state)
        return state

    if not _loops.is_traced() or lower >= upper:
        return run()
    return _like(init_val, _loops.fori(
        lower, upper, lambda i, state: _tensors(body_fn(i, _like(init_val, state))),
        _tensors(init_val), lambda: _tensors(run())))


def while_loop(cond_fn: Callable[[State], torch.Tensor], body_fn: Callable[[State], State],
               init_val: State) -> State:
    """The state after as many calls of body_fn(state) as cond_fn(state) is true before.

    >>> import torch, calque.ppe
    >>> calque.ppe.lax.while_loop(lambda x: x.sum() < 9, lambda x: x + 1, torch.ones(2))
    tensor([5., 5.])
    """
    def run() -> State:
        state = init_val
        while cond_fn(state):
            state = body_fn(state)
        return state

    if not _loops.is_traced():
        return run()
    return _like(init_val, _loops.while_(
        lambda state: cond_fn(_like(init_val, state)),
        lambda state: _tensors(body_fn(_like(init_val, state))),
        _tensors(init_val), lambda: _tensors(run())))


def cond(pred: torch.Tensor, true_fn: Callable[[State], State], false_fn: Callable[[State], State],
         operands: State) -> State:
    """true_fn(operands) if pred is true, else false_fn(operands). In an export both are traced, and
    have to give as many tensors.

    >>> import torch, calque.ppe
    >>> calque.ppe.lax.cond(torch.tensor(False), torch.exp, torch.neg, torch.ones(2))
    tensor([-1., -1.])
    """
    def run() -> State:
        return true_fn(operands) if pred else false_fn(operands)

    if not _loops.is_traced():
        return run()
    with _loops.untraced():
        made = run()
    return _like(made, _loops.cond(pred, lambda: _tensors(true_fn(operands)),
                                   lambda: _tensors(false_fn(operands)), lambda: _tensors(made)))
