"""How a model gets into the library: it is traced (_trace.py) or is TorchScript already, and its code
is taken as torch.jit.save writes it, with placeholders of one element where its weights are. The
weights themselves are handed over by pointer, so nothing of their size is ever copied.
"""
from __future__ import annotations

import inspect
from typing import Any, Callable, Iterator, Mapping, Sequence

import torch

from .._errors import UnsupportedError


# ---- arguments and results ----


def split_arguments(args: Any, kwargs: Mapping[str, Any] | None) -> tuple[tuple[Any, ...],
                                                                          dict[str, Any]]:
    """args as torch.onnx.export takes them: a tensor, a tuple, or a tuple that ends in a dict of
    arguments by name. A dict that is an argument itself is followed by an empty one."""
    if not isinstance(args, (tuple, list)):
        args = (args,)
    args, named = tuple(args), dict(kwargs or {})
    if kwargs is None and args and type(args[-1]) is dict:
        args, named = args[:-1], args[-1]
    return args, named


def in_order(forward: Callable[..., Any], args: tuple[Any, ...],
             kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments in the order of forward's parameters, by position as far as they can be."""
    if not kwargs:
        return args, kwargs
    try:
        bound = inspect.signature(forward).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return args, kwargs
    return bound.args, bound.kwargs


def as_declared(program: Any, args: tuple[Any, ...], kwargs: dict[str, Any],
                opset: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of TorchScript as its signature has them: in order; numbers in a list of numbers,
    which a call makes of tensors; and, from opset 15 on, defaults of what may be missing, which are
    inputs as in torch.onnx. None in place of tensors is an error as there: without a word the model
    would have fewer inputs than arguments."""
    is_module = isinstance(program, torch._C.ScriptModule)
    if is_module and "forward" not in program._method_names():
        return args, kwargs  # the library lists the alternatives
    schema = program._get_method("forward").schema if is_module else program.schema
    declared = schema.arguments[1:] if is_module else schema.arguments
    given, named, missing = list(args), {}, 0
    for i, parameter in enumerate(declared):
        kind, default = str(parameter.type), parameter.default_value
        if "Tensor" in kind:
            missing += _nones(given[i] if i < len(given) else kwargs.get(parameter.name, ()))
        if i < len(given):
            given[i] = _numbers(kind, given[i])
        elif parameter.name in kwargs:
            named[parameter.name] = _numbers(kind, kwargs[parameter.name])
        elif opset >= 15 and "Optional[Tensor]" in kind and default is not None:
            named[parameter.name] = default
    if missing:
        raise ValueError(f"args contained {missing} None's after flattening. TorchScript has inputs for "
                         "them whose types only tensors tell: give an example, leave out what is None "
                         "by default, or save the model for calque.export, which decides None for good")
    return tuple(given), {**named, **{name: kwargs[name] for name in kwargs if name not in named}}


def _nones(value: Any) -> int:
    if isinstance(value, (tuple, list)):
        return sum(map(_nones, value))
    return sum(map(_nones, value.values())) if isinstance(value, dict) else int(value is None)


def _numbers(kind: str, value: Any) -> Any:
    if kind not in ("List[int]", "List[float]") or not isinstance(value, (list, tuple)):
        return value
    return [item.item() if isinstance(item, torch.Tensor) and item.dim() == 0 else item
            for item in value]


def parts_of(quantized: torch.Tensor, as_input: bool = False) -> list[torch.Tensor]:
    """A quantized tensor as torch.onnx has it: its integers, scale and zero point, of other types
    among inputs than among outputs."""
    stored = quantized.int_repr()
    scale, zero = (torch.float64, torch.int64) if as_input else (torch.float32, stored.dtype)
    return [stored, torch.full((), quantized.q_scale(), dtype=scale),
            torch.full((), quantized.q_zero_point(), dtype=zero)]


class Tree:
    """A value whose tensors were removed; `fill` inserts others."""

    def __init__(self, value: Any, numbers: tuple[type, ...] = (int, float)) -> None:
        self.tensors: list[torch.Tensor] = []
        self.has_quantized = False
        self._numbers = numbers  # types of values that become tensors
        self._shape = self._take(value)

    def _take_quantized(self, value: torch.Tensor) -> Callable[[Sequence[torch.Tensor]], Any]:
        """The grid is fixed, whatever its inputs say."""
        index, scale, zero = len(self.tensors), value.q_scale(), value.q_zero_point()
        self.tensors += parts_of(value, as_input=True)
        self.has_quantized = True
        return lambda tensors: torch._make_per_tensor_quantized_tensor(tensors[index], scale, zero)

    def _take(self, value: Any) -> Callable[[Sequence[torch.Tensor]], Any]:
        if isinstance(value, torch.Tensor) and value.is_quantized:
            return self._take_quantized(value)
        if isinstance(value, torch.Tensor) or type(value) in self._numbers:
            index = len(self.tensors)
            if type(value) is float:
                value = torch.tensor(value, dtype=torch.float64)
            self.tensors.append(value if isinstance(value, torch.Tensor) else torch.tensor(value))
            return lambda tensors: tensors[index]
        if isinstance(value, dict):
            items = [(self._take_key(key), self._take(item)) for key, item in value.items()]
            return lambda tensors: _like(value, {key(tensors): item(tensors) for key, item in items})
        if isinstance(value, (tuple, list)):
            parts = [self._take(item) for item in value]
            return lambda tensors: _like(value, [fill(tensors) for fill in parts])
        return lambda tensors: value

    def _take_key(self, key: Any) -> Callable[[Sequence[torch.Tensor]], Any]:
        return self._take(key) if isinstance(key, torch.Tensor) else lambda tensors: key

    def fill(self, tensors: Sequence[torch.Tensor]) -> Any:
        return self._shape(tensors)


def _like(value: Any, items: Any) -> Any:
    """A container of the same class with other items."""
    if hasattr(value, "_fields"):
        return type(value)(*items)
    if type(value) in (tuple, list, dict):
        return type(value)(items)
    try:
        return type(value)(items)
    except TypeError:
        return items


def flatten_results(value: Any) -> list[torch.Tensor]:
    """The tensors of a model's result, in order; None is omitted."""
    if isinstance(value, torch.Tensor):
        return parts_of(value) if value.is_quantized else [value]
    if value is None:
        return []
    if isinstance(value, dict):
        return [tensor for item in value.values() for tensor in flatten_results(item)]
    if isinstance(value, (tuple, list)):
        return [tensor for item in value for tensor in flatten_results(item)]
    if isinstance(value, (bool, int, float)):
        return [torch.tensor(value)]
    raise RuntimeError(f"a model cannot return a value of type {type(value).__name__}; tensors, "
                       "numbers and lists, tuples and dicts of them can be exported")


# ---- weights ----


def _script_tensors(module: Any, prefix: str = "") -> Iterator[tuple[Any, str, str, torch.Tensor]]:
    """Parameters and buffers of a module of TorchScript: the module, the name there, the path."""
    for group in (torch._C.ParameterDict(module), torch._C.BufferDict(module)):
        for name, tensor in group.items():
            if tensor is not None:
                yield module, name, prefix + name, tensor
    for name, child in torch._C.ModuleDict(module).items():
        yield from _script_tensors(child, f"{prefix}{name}.")


def placeholder(tensor: torch.Tensor) -> torch.Tensor:
    """One element that claims to be as many."""
    return torch.empty((), dtype=tensor.dtype).expand(tensor.shape)


def can_be_pointed_at(tensor: torch.Tensor) -> bool:
    return tensor.layout == torch.strided and not tensor.is_quantized and tensor.numel() > 0


def code_and_weights(program: Any) -> tuple[bytes, dict[str, torch.Tensor]]:
    """The archive of a module or function of TorchScript (torch._C's) without its weights, and these
    by path. The program is unchanged when this returns."""
    if not isinstance(program, torch._C.ScriptModule):
        return program.save_to_buffer(), {}
    try:
        return _module_and_weights(program)
    except RuntimeError as error:
        if "undefined Tensor" not in str(error):
            raise
    # PyTorch cannot serialize a tensor parameter whose default is None; inlined, there are no defaults.
    try:
        return _module_and_weights(torch._C._freeze_module(program, [], True, True))
    except RuntimeError as error:
        raise UnsupportedError("PyTorch cannot save a forward with None as the default of a tensor",
                               hint="declare the parameter as Optional[Tensor]") from error


def _module_and_weights(program: Any) -> tuple[bytes, dict[str, torch.Tensor]]:
    weights, places = {}, []
    try:
        for module, name, path, tensor in _script_tensors(program):
            if can_be_pointed_at(tensor):
                weights[path] = tensor
                places.append((module, name, tensor))
                module.setattr(name, placeholder(tensor))
        return program.save_to_buffer(), weights
    finally:
        for module, name, tensor in places:
            module.setattr(name, tensor)
