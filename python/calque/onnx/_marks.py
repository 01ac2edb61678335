"""The operators of the library that a trace can hold: what a model says about its own parts while it
is exported. The library knows them by name; in Python they do nothing but stand in a trace."""
from __future__ import annotations

import contextlib
import itertools
import json
import threading
from typing import Any, Iterator, Mapping, Sequence

import torch

NAMESPACE = "calque"

# What loops, branches and gradients of a trace that is being made give, by their number.
_results: dict[int, Sequence[torch.Tensor]] = {}
_numbers = itertools.count()


@contextlib.contextmanager
def known(results: Sequence[torch.Tensor]) -> Iterator[int]:
    """The number under which the operators of a trace find what they give."""
    number = next(_numbers)
    _results[number] = results
    try:
        yield number
    finally:
        del _results[number]


def _views(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The same, as results that a trace can tell from its arguments."""
    return [tensor.view_as(tensor) for tensor in tensors]


# CONSERVATIVE: PyTorch may not move or remove them.
_SCHEMAS = {
    "function(str op, Tensor[] args, Tensor[] results) -> Tensor[]": lambda op, args, results: _views(results),
    "annotate_begin(int flags, str attrs) -> ()": lambda flags, attrs: None,
    "annotate_end() -> ()": lambda: None,
    "scoped_anchor_begin(str attrs) -> ()": lambda attrs: None,
    "scoped_anchor_end() -> ()": lambda: None,
    "anchor(Tensor x, str attrs) -> Tensor": lambda x, attrs: x.view_as(x),
    "rounds(int n) -> int": lambda n: n,
    "fori_begin(int lower, int upper, Tensor[] state) -> Tensor[]":
        lambda lower, upper, state: [torch.tensor(lower), *_views(state)],
    "while_begin(Tensor condition, Tensor[] state) -> Tensor[]": lambda condition, state: _views(state),
    "fori_end(int number, Tensor[] state) -> Tensor[]": lambda number, state: _views(_results[number]),
    "while_end(int number, Tensor condition, Tensor[] state) -> Tensor[]":
        lambda number, condition, state: _views(_results[number]),
    "cond_begin(Tensor condition) -> ()": lambda condition: None,
    "cond_else(Tensor[] results) -> ()": lambda results: None,
    "cond_end(int number, Tensor[] results) -> Tensor[]":
        lambda number, results: _views(_results[number]),
    "identity(Tensor x) -> Tensor": lambda x: x.view_as(x),
    "passed(str path, str class_name, Tensor x) -> Tensor": lambda path, class_name, x: x.view_as(x),
    "gradient(int number, int i, Tensor x) -> Tensor": lambda number, i, x: _results[number][i].clone(),
    "typed(Tensor x, int dtype, int[] sizes) -> Tensor": lambda x, dtype, sizes: x.view_as(x),
    "as_output(str name, Tensor x) -> Tensor": lambda name, x: x.view_as(x),
}

_library = torch.library.Library(NAMESPACE, "DEF")
for _schema, _implementation in _SCHEMAS.items():
    _library.define(_schema, "CONSERVATIVE")
    _library.impl(_schema.partition("(")[0], _implementation, "CompositeImplicitAutograd")


class _Outputs(threading.local):
    named: list[tuple[str, torch.Tensor]] | None = None


_outputs = _Outputs()


@contextlib.contextmanager
def collected() -> Iterator[list[tuple[str, torch.Tensor]]]:
    """What a model names as outputs while this lasts."""
    before, _outputs.named = _outputs.named, []
    try:
        yield _outputs.named
    finally:
        _outputs.named = before


def note_output(name: str, value: torch.Tensor) -> None:
    if _outputs.named is not None:
        _outputs.named.append((name, value))


def attributes(given: Mapping[str, Any]) -> str:
    """Attributes as the library reads them."""
    return json.dumps(given)
