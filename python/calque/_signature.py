"""Arguments of TorchScript as its signature declares them, as a call in PyTorch converts them: 2 is a float
for a `float`, and an array of one element is a number. What does not fit stays what it is: the library
refuses it, with the signature."""
from __future__ import annotations

import re
from typing import Any, Mapping, Sequence

import numpy as np

from ._tensor import Tensor

_GENERIC = re.compile(r"(\w+)\[(.*)\]$", re.S)

# What numbers are made of: the kinds of numpy's dtypes.
_NUMBERS: dict[str, tuple[type, str]] = {"int": (int, "biu"), "float": (float, "biuf"), "bool": (bool, "biuf")}


def is_tensor(value: Any) -> bool:
    """Whether `as_tensor` uses its memory without a copy."""
    return isinstance(value, (np.ndarray, np.generic, Tensor, memoryview, bytearray)) or \
        hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__")


def bind(params: Sequence[tuple[str, str]], args: Sequence[Any],
         kwargs: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Arguments for parameters, of which names and types are given."""
    kinds = dict(params)
    in_order = [as_declared(kind, value) for (_, kind), value in zip(params, args)]
    return ([*in_order, *args[len(in_order):]],
            {name: as_declared(kinds.get(name, "Any"), value) for name, value in kwargs.items()})


def _normal(kind: str) -> str:
    """A type as TorchScript prints it, from its form in source: typing.List[int], list[int]."""
    kind = re.sub(r"\b(?:typing|torch)\.(?=[A-Z])", "", kind.strip())
    return re.sub(r"\b(list|tuple|dict)\[", lambda found: found[1].capitalize() + "[", kind)


def _parts(listed: str) -> list[str]:
    """Types apart by commas that are in no brackets."""
    found, depth, start = [], 0, 0
    for i, char in enumerate(listed):
        depth += {"[": 1, "]": -1}.get(char, 0)
        if char == "," and depth == 0:
            found.append(listed[start:i].strip())
            start = i + 1
    return found + [listed[start:].strip()]


def _number(value: Any, to: type, takes: str) -> Any:
    if isinstance(value, (np.ndarray, np.generic, Tensor)) or hasattr(value, "__dlpack__"):
        array = np.asarray(value if isinstance(value, np.generic) else Tensor(value))
        return to(array.item()) if array.size == 1 and array.dtype.kind in takes else value
    kinds = {bool: "b", int: "i", float: "f"}
    return to(value) if kinds.get(type(value), "?") in takes else value


def as_declared(kind: str, value: Any) -> Any:
    """The value for a parameter of that type."""
    kind = _normal(kind) or "Tensor"
    if kind in _NUMBERS:
        return _number(value, *_NUMBERS[kind])
    if kind == "Tensor":
        return np.asarray(value) if isinstance(value, np.generic) else value
    generic = _GENERIC.match(kind)
    name, inner = (generic[1], _parts(generic[2])) if generic else (kind, [])
    if name == "Optional" and value is not None:
        return as_declared(inner[0], value)
    if name == "List":
        is_array = isinstance(value, np.ndarray) and value.ndim == 1 and \
            value.dtype.kind in _NUMBERS.get(inner[0], (int, ""))[1]
        is_list = is_array or isinstance(value, (list, tuple, range))
        return [as_declared(inner[0], item) for item in value] if is_list else value
    if name == "Tuple" and isinstance(value, (tuple, list)) and len(value) == len(inner):
        return tuple(map(as_declared, inner, value))
    if name == "Dict" and isinstance(value, Mapping) and len(inner) == 2:
        return {key: as_declared(inner[1], item) for key, item in value.items()}
    return value
