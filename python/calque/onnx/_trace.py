"""Tracing: what a model does with its arguments, as a module of TorchScript. It is torch.jit.trace for
arguments and results of any kind, and without what an export never asks for: modules in Python around
those of TorchScript, names of variables, a second run that checks the first.
"""
from __future__ import annotations

import contextlib
import inspect
from typing import Any, Iterator, Mapping, Sequence

import torch

from ._capture import Tree, flatten_results
from ._program import names_of

_TENSOR, _BOOL = torch._C.TensorType.get(), torch._C.BoolType.get()


class _Modules:
    """A module of TorchScript without methods for each module of a model: its tensors, its script
    objects, its modules. PyTorch's own torch.jit._trace.make_module gives the same, but inspects
    every name of every class; on a model of small layers that takes longer than to run it."""

    def __init__(self, model: torch.nn.Module, only_persistent: bool) -> None:
        self._only_persistent = only_persistent
        self._made: list[Any] = []
        self.paths: dict[Any, Any] = {}
        self.top, _ = self._make(model, "__module")
        del self.paths[model]
        self.paths["__module"] = model

    def _make(self, module: torch.nn.Module, path: str) -> tuple[Any, Any]:
        """Module and type. The path is noted, too: a model that is traced looks its own up there."""
        self.paths[module] = path
        if isinstance(module, torch.jit.ScriptModule):
            return module._c, module._concrete_type
        builder = torch._C.ConcreteModuleTypeBuilder(type(module))
        values: dict[str, Any] = {"training": module.training}
        builder.add_attribute("training", _BOOL, False, False)
        left_out = module._non_persistent_buffers_set if self._only_persistent else ()
        for tensors, is_parameter in ((module._parameters, True), (module._buffers, False)):
            for name, tensor in tensors.items():
                if tensor is not None and name not in left_out:
                    builder.add_attribute(name, _TENSOR, is_parameter, not is_parameter)
                    values[name] = tensor
        for name, value in vars(module).items():
            if torch._C._jit_is_script_object(value):
                builder.add_attribute(name, torch._C._jit_try_infer_type(value).type(), False, False)
                values[name] = value
        for name, child in module._modules.items():
            if child is not None:
                values[name], kind = self._make(child, f"{path}.{name}")
                builder.add_module(name, kind)
        made = builder.build()
        filled = torch._C._create_module_with_type(made.jit_type)
        for name, value in values.items():
            filled.setattr(name, value)
        self._made.append(filled)
        return filled, made

    def empty(self) -> None:
        """Takes the nodes out of the methods of these modules, which are of no use any more: PyTorch
        keeps the types of modules, and methods with them, as long as it lives."""
        for module in self._made:
            for name in module._method_names():
                graph = module._get_method(name).graph
                graph.return_node().removeAllInputs()
                torch._C._jit_pass_dce_allow_deleting_nodes_with_side_effects(graph)

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """While it lasts, calls of modules are noted in the trace by their path."""
        before, torch.jit._trace._trace_module_map = torch.jit._trace._trace_module_map, self.paths
        try:
            yield
        finally:
            torch.jit._trace._trace_module_map = before


def path_of(module: torch.nn.Module) -> str:
    """Where a module is in the model that is being traced; "" if it is not in there."""
    paths = torch.jit._trace._trace_module_map
    path: str = (paths or {}).get(module, "")
    return path.partition(".")[2]


def _holds_bool(value: Any) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    return any(map(_holds_bool, value)) if isinstance(value, (tuple, list)) else type(value) is bool


def trace(model: torch.nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any],
          only_persistent: bool = False) -> Trace:
    """The trace of a model. Bools among the arguments steer it; only if it returns one they have to
    be inputs, as PyTorch has them, and tensors while the model runs. With only_persistent, buffers
    that are not in the state of the model are constants of the trace."""
    made = Trace(model, args, kwargs, (int, float), only_persistent)
    if _holds_bool(made.results) and _holds_bool([*args, *kwargs.values()]):
        made = Trace(model, args, kwargs, (int, float, bool), only_persistent)
    return made


class Trace:
    """A module of TorchScript (torch._C's) of what the model does with these arguments; the tensors
    and numbers among them, which are the arguments of its forward; and what it returned."""

    results: Any = None

    def __init__(self, model: torch.nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any],
                 numbers: tuple[type, ...], only_persistent: bool) -> None:
        self._model, self._tree = model, Tree((tuple(args), dict(kwargs)), numbers)
        self.inputs, self.has_quantized = self._tree.tensors, self._tree.has_quantized
        modules = self._modules = _Modules(model, only_persistent)
        self.module = modules.top
        arguments = ["forward", self._forward, tuple(self.inputs), _no_name, False, False,
                     _input_names(model, args, kwargs, numbers, len(self.inputs))]
        create = self.module._create_method_from_trace
        if "store_inputs" in (create.__doc__ or ""):
            arguments.append(False)
        with modules.noted():
            create(*arguments)

    def close(self) -> None:
        """The module cannot be called any more."""
        self._modules.empty()

    def _forward(self, *tensors: torch.Tensor) -> Any:
        args, kwargs = self._tree.fill(tensors)
        self.results = self._model(*args, **kwargs)
        flat = flatten_results(self.results)
        return flat[0] if len(flat) == 1 else tuple(flat)


def _no_name(_: Any) -> str:
    """The name of the Python variable of a value: omitted, because the search takes time and it is not used."""
    return ""


_INPUT = {"scalar": 0}


def _outline(value: Any, numbers: tuple[type, ...]) -> Any:
    """How a value nests, in the form of cq_args_from_json: what becomes an input, and where."""
    if isinstance(value, torch.Tensor):
        return {"tuple": [_INPUT] * 3} if value.is_quantized else _INPUT
    if type(value) in numbers:
        return _INPUT
    if hasattr(value, "_fields"):
        value = dict(zip(value._fields, value))
    if isinstance(value, dict):
        return {"dict": [[key if isinstance(key, (str, int)) else str(key), _outline(item, numbers)]
                         for key, item in value.items()]}
    if isinstance(value, (tuple, list)):
        return {"tuple": [_outline(item, numbers) for item in value]}
    return None


def _input_names(model: torch.nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any],
                 numbers: tuple[type, ...], count: int) -> list[str]:
    """A name for each input of the trace, as the library has it. It has to be one of TorchScript."""
    try:
        parameters = list(inspect.signature(model.forward).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    plain = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    found = names_of({"args": [_outline(item, numbers) for item in args],
                      "kwargs": {name: _outline(item, numbers) for name, item in kwargs.items()}}, plain)
    if len(found) != count:  # a key that is a tensor
        return [f"input_{i}" for i in range(count)]
    return [name if name.isidentifier() else f"input_{i}" for i, name in enumerate(found)]
