"""Programs of PyTorch in the library: TorchScript (archives and source) and those of torch.export
(`.pt2`). Both are given arguments, which they check, and run or are exported with them."""
from __future__ import annotations

import contextlib
import ctypes
import itertools
import threading
from ctypes import byref
from typing import Any, Callable, Collection, Iterator, Mapping, Sequence

from . import _abi
from ._call import Handle, as_json, call, check, handles
from ._errors import ArgumentError, NotFound, TypeMismatch
from ._info import EXAMPLE, InfoHandle, tables_of
from ._lib import encoded, lib, text
from ._model import ModelHandle
from ._signature import bind, is_tensor
from ._tensor import Tensor, TensorHandle, as_tensor

MAX_OUTPUTS = 16384  # of a run


class ScriptHandle(Handle):
    _free = lib.cq_script_free


class Pt2Handle(Handle):
    _free = lib.cq_pt2_free


class ArgsHandle(Handle):
    _free = lib.cq_args_free


def given_arguments(inputs: Any, kwargs: Mapping[str, Any] | None) -> tuple[list[Any] | None,
                                                                            dict[str, Any]]:
    """Arguments in order and by name, of what users give: a list, a single tensor, or a dict of names.
    None and no names: nothing is given."""
    if kwargs is not None and not isinstance(kwargs, Mapping):
        raise TypeError(f"kwargs must be a dict of arguments by name, not a {type(kwargs).__name__}")
    named = dict(kwargs or {})
    if inputs is None:
        return None, named
    if isinstance(inputs, Mapping):
        return [], {**inputs, **named}
    if is_tensor(inputs):
        return [inputs], named
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"inputs must be a list of arguments, not a {type(inputs).__name__}")
    return list(inputs), named


def structure(item: Any, tensors: list[Tensor]) -> Any:
    """An argument as cq_args_from_json has it; its tensors are added to the list."""
    if item is None:
        return None
    if isinstance(item, str):
        return {"str": item}
    if isinstance(item, (tuple, list, range)):
        inner = [structure(one, tensors) for one in item]
        return {"tuple" if isinstance(item, tuple) else "list": inner}
    if isinstance(item, Mapping):
        for key in item:
            if isinstance(key, bool) or not isinstance(key, (str, int)):
                raise TypeMismatch(f"a key of a dict must be a text or an integer, not a "
                                   f"{type(key).__name__}")
        return {"dict": [[key, structure(value, tensors)] for key, value in item.items()]}
    tensors.append(as_tensor(item))
    return {"scalar" if isinstance(item, (bool, int, float)) else "tensor": len(tensors) - 1}


def map_leaves(change: Callable[[Any], Any], item: Any) -> Any:
    """The same tree with other tensors and numbers, in the order of `structure`."""
    if item is None or isinstance(item, str):
        return item
    if isinstance(item, (tuple, list)):
        inner = [map_leaves(change, one) for one in item]
        return inner if isinstance(item, list) else tuple(inner)
    if isinstance(item, Mapping):
        return {key: map_leaves(change, value) for key, value in item.items()}
    return change(item)


def run_options(training: int, flags: int) -> Any:
    """How a program runs beside an export with these flags: nothing of the program changes for good."""
    options = _abi.cq_run_options()
    lib.cq_run_options_init(byref(options))
    options.training = training
    options.flags = _abi.CQ_RUN_RESTORE
    if flags & _abi.CQ_EXPORT_KEEP_MUTATIONS:
        options.flags |= _abi.CQ_RUN_KEEP_MUTATIONS
    if flags & _abi.CQ_EXPORT_STATE:
        options.flags |= _abi.CQ_RUN_STATE
    return options


def _owned(pointers: Any, count: int) -> list[Tensor]:
    return [Tensor._of(TensorHandle(pointer)) for pointer in pointers[:count]]


class Script:
    """TorchScript: an archive, or source text."""

    def __init__(self, path: str, max_steps: int = 0, max_memory: int = 0) -> None:
        self._open()
        call(lib.cq_script_load_limited, byref(self._handle), encoded(path), max_steps, max_memory)

    def _open(self) -> None:
        self._handle, self._lock = ScriptHandle(), threading.Lock()

    def define(self, source: str) -> None:
        call(lib.cq_script_define, self._handle, encoded(source), b"define")

    def params(self, entry: str | None) -> list[tuple[str, str]]:
        """The names and types of a function's parameters; empty if it does not exist."""
        size = 1024
        name, kind = ctypes.create_string_buffer(size), ctypes.create_string_buffer(size)
        found = []
        for i in range(lib.cq_script_n_params(self._handle, encoded(entry))):
            check(lib.cq_script_param(self._handle, encoded(entry), i, name, kind, size))
            found.append((text(name.value), text(kind.value)))
        return found

    def bind(self, inputs: Sequence[Any], kwargs: Mapping[str, Any], entry: str | None,
             constants: Collection[str] = ()) -> tuple[list[Any], dict[str, Any]]:
        """The arguments as the function declares them. A constant takes the place of an argument, or
        comes in between."""
        params = self.params(entry)
        shorter = [param for param in params if param[0] not in constants]
        return bind(shorter if len(inputs) <= len(shorter) else params, inputs, kwargs)

    @contextlib.contextmanager
    def _explaining(self, entry: str | None) -> Iterator[None]:
        """Adds to an error what the function takes, or which functions there are."""
        try:
            yield
        except (ArgumentError, TypeMismatch) as error:
            is_about = isinstance(error, TypeMismatch) or error.where.startswith("argument ") or \
                error.where == (entry or "forward")
            if is_about and (example := self._example(entry)):
                error.hint = "\n".join(filter(None, [error.hint, f"inputs that fit: {example}"]))
            raise
        except NotFound as error:
            names = list(itertools.takewhile(bool, (
                text(lib.cq_script_method_name(self._handle, i)) for i in itertools.count())))
            if names and (entry or "forward") not in names:
                error.hint = f"its methods are: {', '.join(names)}; choose one with entry=…"
            raise

    def _example(self, entry: str | None) -> str:
        """Inputs that the function takes, which the library finds by trying; "": it found none."""
        info = InfoHandle()
        if lib.cq_script_info(byref(info), self._handle):
            return ""
        rows = tables_of(info).get("methods", [])
        found = [row for row in rows if len(rows) == 1 or next(iter(row.values())) == (entry or "forward")]
        return str(found[0].get(EXAMPLE, "")) if found else ""

    def own_inputs(self) -> list[Tensor]:
        """The example inputs that newer archives record: tensors of zeros."""
        dtype, rank = ctypes.c_int(), ctypes.c_size_t()
        sizes = (ctypes.c_int64 * _abi.CQ_MAX_RANK)()
        found = []
        for i in range(lib.cq_script_n_example_inputs(self._handle)):
            check(lib.cq_script_example_input(self._handle, i, byref(dtype), byref(rank), sizes))
            handle = TensorHandle()
            check(lib.cq_tensor_new(byref(handle), dtype, rank, sizes, None))
            found.append(Tensor._of(handle))
        return found

    def arguments(self, inputs: Sequence[Any], kwargs: Mapping[str, Any], entry: str | None = None,
                  constants: Mapping[str, Any] | None = None) -> ArgsHandle:
        """Arguments in the library, of what `bind` gives."""
        tensors: list[Tensor] = []
        tree = {"args": [structure(item, tensors) for item in inputs],
                "kwargs": {name: structure(item, tensors) for name, item in kwargs.items()}}
        made = ArgsHandle()
        call(lib.cq_args_from_json, byref(made), as_json(tree, "inputs"),
             handles([tensor.pointer for tensor in tensors]), len(tensors))
        for name, value in (constants or {}).items():
            call(lib.cq_args_set_constant, made, self._handle, encoded(entry), encoded(name),
                 as_json(value, f"the constant '{name}'"))
        return made

    def inputs(self, args: ArgsHandle) -> list[Tensor]:
        """The inputs of a graph for these arguments: tensors, and numbers as tensors."""
        count = lib.cq_args_n_inputs(args)
        found = (ctypes.c_void_p * count)()
        check(lib.cq_args_inputs(args, found, count))
        return _owned(found, count)

    def export(self, args: ArgsHandle, options: Any, entry: str | None, trace: bool) -> ModelHandle:
        """options are a cq_export_options."""
        model = ModelHandle()
        with self._lock, self._explaining(entry):
            call(lib.cq_script_export, byref(model), self._handle, encoded(entry), args,
                 _abi.CQ_SCRIPT_TRACE if trace else 0, byref(options))
        return model

    def run(self, args: ArgsHandle, entry: str | None, options: Any = None) -> list[Tensor]:
        """options are a cq_run_options."""
        outputs, count = (ctypes.c_void_p * MAX_OUTPUTS)(), ctypes.c_size_t()
        try:
            with self._lock, self._explaining(entry):
                call(lib.cq_script_run_as, self._handle, encoded(entry), args,
                     byref(options) if options else None, outputs, MAX_OUTPUTS, byref(count))
        finally:
            owned = _owned(outputs, min(count.value, MAX_OUTPUTS))
        return owned


class Pt2:
    """A program of torch.export."""

    def __init__(self, path: str, entry: str | None = None, max_steps: int = 0,
                 max_memory: int = 0) -> None:
        self._open()
        call(lib.cq_pt2_load, byref(self._handle), encoded(path), encoded(entry))
        lib.cq_pt2_set_limits(self._handle, max_steps, max_memory)

    def _open(self) -> None:
        self._handle, self._lock = Pt2Handle(), threading.Lock()

    def define(self, source: str) -> None:
        call(lib.cq_pt2_define, self._handle, encoded(source), b"define")

    def name_as(self, convention: str) -> None:
        call(lib.cq_pt2_name_as, self._handle, encoded(convention))

    def names(self) -> list[str]:
        """Of the inputs: what the user gives, flattened."""
        return [text(lib.cq_pt2_input_name(self._handle, i))
                for i in range(lib.cq_pt2_n_inputs(self._handle))]

    def arguments(self, inputs: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Tensor]:
        """The inputs in order; those in lists and dicts one by one. None are given: the program's own."""
        flat = _flattened(inputs)
        if not kwargs:
            return [as_tensor(item) for item in flat]
        names = self.names()
        if len(flat) > len(names):
            raise ArgumentError(f"the program takes {len(names)} inputs, got {len(flat)}")
        given = dict(zip(names, flat))
        for name, value in kwargs.items():
            if name not in names:
                raise ArgumentError(f"the program has no input '{name}'",
                                    hint=f"its inputs are {', '.join(names)}")
            if name in given:
                raise ArgumentError(f"the program got two values for input '{name}'")
            given[name] = value
        for name in names:
            if name not in given:
                raise ArgumentError(f"input '{name}' is missing", hint=f"the inputs are {', '.join(names)}")
        return [as_tensor(given[name]) for name in names]

    def inputs(self, args: list[Tensor]) -> list[Tensor]:
        """The inputs of a graph for these arguments."""
        return args or self._each(lib.cq_pt2_example_input)

    def larger(self) -> list[Tensor]:
        """Inputs whose dynamic sizes are larger; empty: it has none."""
        own, larger = self.inputs([]), self._each(lib.cq_pt2_larger_input)
        return larger if [one.shape for one in own] != [one.shape for one in larger] else []

    def _each(self, function: Any) -> list[Tensor]:
        found = []
        for i in range(lib.cq_pt2_n_inputs(self._handle)):
            handle = TensorHandle()
            call(function, byref(handle), self._handle, i)
            found.append(Tensor._of(handle))
        return found

    def export(self, args: list[Tensor], options: Any) -> ModelHandle:
        """options are a cq_export_options."""
        model = ModelHandle()
        with self._lock:
            call(lib.cq_pt2_export, byref(model), self._handle,
                 handles([tensor.pointer for tensor in args]), len(args), byref(options))
        return model

    def run(self, args: list[Tensor], options: Any = None) -> list[Tensor]:
        """options are a cq_run_options."""
        outputs, count = (ctypes.c_void_p * MAX_OUTPUTS)(), ctypes.c_size_t()
        try:
            with self._lock:
                call(lib.cq_pt2_run_as, self._handle, handles([tensor.pointer for tensor in args]),
                     len(args), byref(options) if options else None, outputs, MAX_OUTPUTS, byref(count))
        finally:
            owned = _owned(outputs, min(count.value, MAX_OUTPUTS))
        return owned


def _flattened(items: Any) -> list[Any]:
    """The leaves of lists, tuples and dicts, in order; a list of numbers is one tensor."""
    found: list[Any] = []
    for item in items:
        if isinstance(item, Mapping):
            found += _flattened(item.values())
        elif isinstance(item, (list, tuple)) and any(map(_is_or_has_tensor, item)):
            found += _flattened(item)
        else:
            found.append(item)
    return found


def _is_or_has_tensor(item: Any) -> bool:
    if isinstance(item, Mapping):
        return True
    return any(map(_is_or_has_tensor, item)) if isinstance(item, (list, tuple)) else is_tensor(item)
