"""A program of the library, from torch's bytes, with weights that stay where PyTorch has them."""
from __future__ import annotations

import ctypes
import json
from ctypes import byref
from typing import Any, Mapping, Sequence

import torch

from .. import _abi, _dtypes
from .._call import Handle, call, check, handles, texts
from .._lib import encoded, lib
from .._tensor import Tensor, TensorHandle, keep


class ModelHandle(Handle):
    _free = lib.cq_onnx_model_free


class ScriptHandle(Handle):
    _free = lib.cq_script_free


class Pt2Handle(Handle):
    _free = lib.cq_pt2_free


class ArgsHandle(Handle):
    _free = lib.cq_args_free


def wrap(tensor: torch.Tensor) -> Tensor:
    """The same memory as a tensor of the library. Only what lies elsewhere than in the memory of
    this machine, or not as sizes and strides say, is copied."""
    tensor = tensor.detach()
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    tensor = tensor.resolve_conj().resolve_neg().cpu()
    code = _dtypes.CODES.get(str(tensor.dtype).rpartition(".")[2])
    if code is None:
        raise TypeError(f"a tensor of dtype {tensor.dtype} cannot be exported")
    return Tensor.from_pointer(tensor.data_ptr(), code, tensor.shape, tensor.stride(), tensor)


class Options:
    """cq_export_options with the arguments of torch.onnx.export; keeps what it points to."""

    def __init__(self, **given: Any) -> None:
        self.struct = _abi.cq_export_options()
        lib.cq_export_options_init(byref(self.struct))
        self._kept: list[Any] = []
        for name, value in given.items():
            getattr(self, "_set_" + name, self._set_field)(name, value)

    def keep(self, value: Any) -> Any:
        self._kept.append(value)
        return value

    def flag(self, flag: int, on: bool = True) -> None:
        self.struct.flags = self.struct.flags | flag if on else self.struct.flags & ~flag

    def _set_field(self, name: str, value: Any) -> None:
        setattr(self.struct, name, self.keep(encoded(value) if isinstance(value, str) else value))

    def _set_texts(self, name: str, value: Sequence[str]) -> None:
        setattr(self.struct, name, self.keep(texts(list(value))))
        setattr(self.struct, "n_" + name, len(value))

    _set_input_names = _set_output_names = _set_function_classes = _set_texts

    def _set_dynamic_axes(self, name: str, value: Sequence[tuple[str, int, str | None]]) -> None:
        axes = (_abi.cq_dynamic_axis * len(value))()
        for to, (of, axis, called) in zip(axes, value):
            to.value, to.axis = self.keep(encoded(of)), axis
            to.name = self.keep(encoded(called))
        self.struct.dynamic_axes, self.struct.n_dynamic_axes = self.keep(axes), len(value)

    def _set_custom_opsets(self, name: str, value: Mapping[str, int]) -> None:
        opsets = (_abi.cq_custom_opset * len(value))()
        for to, (domain, version) in zip(opsets, value.items()):
            to.domain, to.version = self.keep(encoded(domain)), version
        self.struct.custom_opsets, self.struct.n_custom_opsets = self.keep(opsets), len(value)


class Arguments:
    """The arguments of a call: a tree whose leaves are tensors and numbers."""

    def __init__(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self._tensors: list[Tensor] = []
        tree = {"args": [self._node(item) for item in args],
                "kwargs": {key: self._node(value) for key, value in kwargs.items()}}
        self.handle = ArgsHandle()
        check(lib.cq_args_from_json(byref(self.handle), json.dumps(tree).encode(),
                                    handles([tensor.pointer for tensor in self._tensors]),
                                    len(self._tensors)))

    def _leaf(self, kind: str, tensor: torch.Tensor) -> dict[str, int]:
        self._tensors.append(wrap(tensor))
        return {kind: len(self._tensors) - 1}

    def _node(self, value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, torch.Tensor):
            return self._leaf("tensor", value)
        if isinstance(value, (bool, int, float)):
            dtype = torch.float64 if isinstance(value, float) else None
            return self._leaf("scalar", torch.tensor(value, dtype=dtype))
        if isinstance(value, str):
            return {"str": value}
        if isinstance(value, dict):
            return {"dict": [[self._node(key), self._node(item)] for key, item in value.items()]}
        if isinstance(value, (tuple, list)):
            kind = "tuple" if isinstance(value, tuple) else "list"
            return {kind: [self._node(item) for item in value]}
        raise TypeError(f"an argument of type {type(value).__name__} cannot be exported; "
                        "tensors, numbers, texts and lists, tuples and dicts of them can")


class Program:
    """What torch.jit.save or torch.export.save gives, without its weights; and the weights."""

    _handle: Handle

    def set_tensors(self, tensors: Mapping[str, torch.Tensor]) -> None:
        wrapped: dict[int, Tensor] = {}  # a tensor of two names is one
        for path, tensor in tensors.items():
            if id(tensor) not in wrapped:
                wrapped[id(tensor)] = wrap(tensor)
            check(self._set(self._handle, path.encode(), wrapped[id(tensor)].pointer))

    _set: Any


class Script(Program):
    _set = staticmethod(lib.cq_script_set_tensor)

    def __init__(self, data: bytes, tensors: Mapping[str, torch.Tensor], name: str) -> None:
        self._handle = ScriptHandle()
        call(lib.cq_script_load_bytes, byref(self._handle), data, len(data), encoded(name),
             *keep(data))
        self.set_tensors(tensors)

    def export(self, arguments: Arguments, options: Options) -> ModelHandle:
        model = ModelHandle()
        call(lib.cq_script_export, byref(model), self._handle, None, arguments.handle, 0,
             byref(options.struct))
        return model


class Pt2(Program):
    _set = staticmethod(lib.cq_pt2_set_tensor)

    def __init__(self, data: bytes, tensors: Mapping[str, torch.Tensor], name: str) -> None:
        self._handle = Pt2Handle()
        call(lib.cq_pt2_load_bytes, byref(self._handle), data, len(data), encoded(name), None,
             *keep(data))
        self.set_tensors(tensors)

    def export(self, options: Options) -> ModelHandle:
        model = ModelHandle()
        call(lib.cq_pt2_export, byref(model), self._handle, None, 0, byref(options.struct))
        return model
