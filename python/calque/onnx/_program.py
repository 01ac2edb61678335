"""Programs of the library from torch's bytes, with weights that stay where PyTorch has them."""
from __future__ import annotations

from ctypes import byref
from typing import Any, Mapping, Sequence

import torch

from .. import _abi, _dtypes, _programs
from .._call import as_json, call, check, handles, texts
from .._lib import encoded, lib, text
from .._tensor import Tensor, keep


def dtype_code(dtype: torch.dtype) -> int:
    """The library's constant for a dtype of PyTorch's."""
    code = _dtypes.CODES.get(str(dtype).rpartition(".")[2])
    if code is None:
        raise TypeError(f"a tensor of dtype {dtype} cannot be exported")
    return code


def wrap(tensor: torch.Tensor) -> Tensor:
    """The same memory as a tensor of the library. Only what lies elsewhere than in the memory of
    this machine, or not as sizes and strides say, is copied."""
    tensor = tensor.detach()
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    tensor = tensor.resolve_conj().resolve_neg().cpu()
    return Tensor.from_pointer(tensor.data_ptr(), dtype_code(tensor.dtype), tensor.shape,
                               tensor.stride(), tensor)


def wrap_all(value: Any) -> Any:
    """The same value with tensors of the library in place of PyTorch's."""
    if isinstance(value, torch.Tensor):
        return wrap(value)
    if isinstance(value, dict):
        return {key: wrap_all(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        items = [wrap_all(item) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"an argument of type {type(value).__name__} cannot be exported; tensors, "
                    "numbers, texts and lists, tuples and dicts of them can")


def _set_weights(function: Any, handle: Any, weights: Mapping[str, torch.Tensor]) -> None:
    wrapped: dict[int, Tensor] = {}  # a tensor of two names is one
    for path, tensor in weights.items():
        if id(tensor) not in wrapped:
            wrapped[id(tensor)] = wrap(tensor)
        check(function(handle, encoded(path), wrapped[id(tensor)].pointer))


def names_of(tree: Mapping[str, Any], parameters: Sequence[str]) -> list[str]:
    """The names of the inputs for arguments of this structure, if they are passed to these parameters."""
    handle = _programs.ArgsHandle()
    number = Tensor(0)
    check(lib.cq_args_from_json(byref(handle), as_json(tree, "args"), handles([number.pointer]), 1))
    return _each_name(handle, parameters)


def _each_name(args: _programs.ArgsHandle, parameters: Sequence[str]) -> list[str]:
    found: list[str] = []
    each = _abi.cq_input_name_fn(lambda _user, name: found.append(text(name)))
    check(lib.cq_args_each_name(args, texts(parameters), len(parameters), each, None))
    return found


class Script(_programs.Script):
    """The output of torch.jit.save, with other weights."""

    def __init__(self, data: bytes, weights: Mapping[str, torch.Tensor], name: str) -> None:
        self._open()
        call(lib.cq_script_load_bytes, byref(self._handle), data, len(data), encoded(name),
             *keep(data))
        _set_weights(lib.cq_script_set_tensor, self._handle, weights)

    def input_names(self, args: _programs.ArgsHandle) -> list[str]:
        """The default names of a graph's inputs for these arguments."""
        return _each_name(args, [name for name, _ in self.params(None)])

    def export_to(self, out: Any, args: _programs.ArgsHandle, options: Any) -> int:
        """Exports into a pointer of the library's, with options of the library's."""
        return int(lib.cq_script_export(out, self._handle, None, args, 0, options))


class Pt2(_programs.Pt2):
    """The output of torch.export.save, likewise."""

    def __init__(self, data: bytes, weights: Mapping[str, torch.Tensor], name: str) -> None:
        self._open()
        call(lib.cq_pt2_load_bytes, byref(self._handle), data, len(data), encoded(name), None,
             *keep(data))
        _set_weights(lib.cq_pt2_set_tensor, self._handle, weights)
