"""Loops that stay loops when a model is exported, with the manners of jax.lax. Their state is a tensor or
a tuple of tensors."""
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
