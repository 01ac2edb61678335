"""PyTorch models carried over to ONNX: TorchScript (archives and source) and programs of
torch.export (`.pt2`)."""
from __future__ import annotations

import ctypes
import json
import os
from ctypes import byref
from types import MappingProxyType
from typing import Any, Callable, Iterable, Mapping, Sequence, TypeVar, Union

from . import _abi
from ._call import Handle, call, check, handles, texts
from ._errors import ArgumentError, Error
from ._lib import encoded, lib, text
from ._model import Model, ModelHandle
from ._source import Source, as_path
from ._tensor import Tensor, TensorHandle, as_tensor
from ._words import in_python

M = TypeVar("M", bound=Model)

#: As of torch.onnx.export: {"x": {0: "batch"}}, {"x": [0, 2]}.
DynamicAxes = Mapping[str, Union[Mapping[int, Union[str, None]], Sequence[int]]]


class ScriptHandle(Handle):
    _free = lib.cq_script_free


class ProgramHandle(Handle):
    _free = lib.cq_pt2_free


class ArgsHandle(Handle):
    _free = lib.cq_args_free


class ReportHandle(Handle):
    _free = lib.cq_export_report_free


_TRAINING = {"eval": _abi.CQ_TRAINING_EVAL, "train": _abi.CQ_TRAINING_TRAIN,
             "preserve": _abi.CQ_TRAINING_PRESERVE}
_OPERATORS = {"onnx": _abi.CQ_OPERATORS_ONNX, "onnx_aten": _abi.CQ_OPERATORS_ONNX_ATEN,
              "onnx_aten_fallback": _abi.CQ_OPERATORS_ATEN_FALLBACK,
              "onnx_fallthrough": _abi.CQ_OPERATORS_ONNX_FALLTHROUGH}
_REPORTS = {"operators": _abi.CQ_REPORT_OPERATORS, "missing": _abi.CQ_REPORT_MISSING,
            "baked": _abi.CQ_REPORT_BAKED}


def choice(name: str, table: Mapping[str, int], wanted: str) -> int:
    if wanted not in table:
        raise ArgumentError(f"{name} has no '{wanted}'", hint=f"there are {', '.join(table)}")
    return table[wanted]


# Where a verbose export prints the graph.
_print = _abi.cq_export_print_hook(lambda _user, graph: print(text(graph)))
_print_nothing = _abi.cq_export_print_hook(lambda _user, _graph: None)


class Options:
    """cq_export_options, and all that it borrows."""

    def __init__(self) -> None:
        self.c = _abi.cq_export_options()
        lib.cq_export_options_init(byref(self.c))
        self.c.print = _print_nothing
        self._report = ReportHandle()
        check(lib.cq_export_report_new(byref(self._report)))
        self.c.report = self._report

    def set_names(self, field: str, names: Iterable[str]) -> None:
        given = list(names)
        setattr(self.c, field, texts(given))  # ctypes keeps the array
        setattr(self.c, f"n_{field}", len(given))

    def set_text(self, field: str, value: str | None) -> None:
        setattr(self.c, field, encoded(value))

    def set_flag(self, flag: int, wanted: bool) -> None:
        if wanted:
            self.c.flags |= flag

    def set_verbose(self, prints: bool, notes_places: bool = False) -> None:
        """Whether the graph is printed, and nodes say where they come from; what is printed does."""
        self.c.print = _print if prints else _print_nothing
        self.set_flag(_abi.CQ_EXPORT_VERBOSE, prints or notes_places)

    def set_axes(self, axes: DynamicAxes) -> None:
        rows = [_abi.cq_dynamic_axis(encoded(value), axis, encoded(name))
                for value, given in axes.items()
                for axis, name in (given.items() if isinstance(given, Mapping)
                                   else ((axis, None) for axis in given))]
        self.c.dynamic_axes = (_abi.cq_dynamic_axis * len(rows))(*rows)
        self.c.n_dynamic_axes = len(rows)

    def set_opsets(self, opsets: Mapping[str, int]) -> None:
        rows = [_abi.cq_custom_opset(encoded(domain), version) for domain, version in opsets.items()]
        self.c.custom_opsets = (_abi.cq_custom_opset * len(rows))(*rows)
        self.c.n_custom_opsets = len(rows)

    def run(self, export: Callable[[], ModelHandle], kind: type[M]) -> M:
        """The model that an export makes. What came of it is its report, or that of the error."""
        try:
            made = kind(export())
        except Error as error:
            error.report = self.report()
            raise
        made.report = self.report()
        return made

    def report(self) -> dict[str, list[dict[str, Any]]]:
        """What came of the export, whether it succeeded or not."""
        return {name: [self._entry(kind, i)
                       for i in range(lib.cq_export_report_count(self._report, kind))]
                for name, kind in _REPORTS.items()}

    def _entry(self, kind: int, index: int) -> dict[str, Any]:
        entry = lib.cq_export_report_at(self._report, kind, index).contents
        return {"name": text(entry.name), "count": entry.count, "where": text(entry.where),
                "why": in_python(text(entry.why)), "opset": entry.opset}


def _structure(item: Any, tensors: list[Tensor]) -> Any:
    """An argument as cq_args_from_json has it; its tensors are added to the list."""
    if item is None:
        return None
    if isinstance(item, str):
        return {"str": item}
    if isinstance(item, (tuple, list)):
        inner = [_structure(one, tensors) for one in item]
        return {"tuple" if isinstance(item, tuple) else "list": inner}
    if isinstance(item, Mapping):
        return {"dict": [[key, _structure(value, tensors)] for key, value in item.items()]}
    tensors.append(as_tensor(item))
    return {"scalar" if isinstance(item, (bool, int, float)) else "tensor": len(tensors) - 1}


class Script:
    """TorchScript: an archive, or source text."""

    def __init__(self, path: str, max_steps: int, max_memory: int) -> None:
        self._handle = ScriptHandle()
        call(lib.cq_script_load_limited, byref(self._handle), encoded(path), max_steps, max_memory)

    def define(self, source: str) -> None:
        call(lib.cq_script_define, self._handle, encoded(source), b"define")

    def own_inputs(self) -> list[Tensor]:
        """What newer archives say that they were traced with: tensors of ones."""
        dtype, rank = ctypes.c_int(), ctypes.c_size_t()
        sizes = (ctypes.c_int64 * _abi.CQ_MAX_RANK)()
        found = []
        for i in range(lib.cq_script_n_example_inputs(self._handle)):
            check(lib.cq_script_example_input(self._handle, i, byref(dtype), byref(rank), sizes))
            handle = TensorHandle()
            check(lib.cq_tensor_new(byref(handle), dtype, rank, sizes, None))
            found.append(Tensor._of(handle))
        return found

    def export(self, inputs: Sequence[Any] | None, kwargs: Mapping[str, Any], options: Options,
               entry: str | None, trace: bool,
               constants: Mapping[str, Any] = MappingProxyType({})) -> ModelHandle:
        tensors: list[Tensor] = []
        if inputs is None and not kwargs:
            inputs = self.own_inputs()
        structure = {"args": [_structure(item, tensors) for item in inputs or ()],
                     "kwargs": {name: _structure(item, tensors) for name, item in kwargs.items()}}
        args, model = ArgsHandle(), ModelHandle()
        pointers = handles([tensor.pointer for tensor in tensors])
        call(lib.cq_args_from_json, byref(args), json.dumps(structure).encode(), pointers,
             len(tensors))
        for name, value in constants.items():
            call(lib.cq_args_set_constant, args, self._handle, encoded(entry), encoded(name),
                 json.dumps(value).encode())
        call(lib.cq_script_export, byref(model), self._handle, encoded(entry), args,
             _abi.CQ_SCRIPT_TRACE if trace else 0, byref(options.c))
        return model


class Program:
    """A program of torch.export."""

    def __init__(self, path: str, entry: str | None, max_steps: int, max_memory: int) -> None:
        self._handle = ProgramHandle()
        call(lib.cq_pt2_load, byref(self._handle), encoded(path), encoded(entry))
        lib.cq_pt2_set_limits(self._handle, max_steps, max_memory)

    def define(self, source: str) -> None:
        call(lib.cq_pt2_define, self._handle, encoded(source), b"define")

    def name_as(self, convention: str) -> None:
        call(lib.cq_pt2_name_as, self._handle, encoded(convention))

    def export(self, inputs: Sequence[Any] | None, options: Options) -> ModelHandle:
        tensors, model = [as_tensor(item) for item in inputs or ()], ModelHandle()
        call(lib.cq_pt2_export, byref(model), self._handle,
             handles([tensor.pointer for tensor in tensors]), len(tensors), byref(options.c))
        return model


def export(model: Source, out: str | os.PathLike[str] | None = None,
           inputs: Sequence[Any] | None = None, *, kwargs: Mapping[str, Any] | None = None,
           entry: str | None = None, opset: int | str | None = None,
           input_names: Sequence[str] = (), output_names: Sequence[str] = (),
           dynamic_axes: DynamicAxes | None = None, trace: bool = False, training: str = "eval",
           operators: str = "onnx", export_params: bool = True, constant_folding: bool = True,
           keep_initializers_as_inputs: bool | None = None,
           custom_opsets: Mapping[str, int] | None = None,
           modules_as_functions: bool | Sequence[str] = False, symbolics: str | None = None,
           define: str | None = None, constants: Mapping[str, Any] | None = None, names: str | None = None, static: bool = False,
           keep_mutations: bool = False, state: bool = False, complex_as_pairs: bool = False,
           optional_inputs: bool = False, external_data: bool = False, verbose: bool = False, producer: str | None = None,
           graph_name: str | None = None, max_steps: int = 0, max_memory: int = 0) -> Model:
    """Carries a PyTorch model over to ONNX, and writes it to out if that is given.

    model is a path, the bytes of a file, or an open file: a TorchScript archive, TorchScript source,
    or a `.pt2` of torch.export, told by its content. inputs is an example of the arguments, in order:
    arrays, numbers, texts, None, and lists, tuples and dicts of such; kwargs those by name. A `.pt2`
    needs none, nor does an archive that holds the sizes it was traced with. What the options mean is
    in docs/python.md.

    >>> import calque, numpy
    >>> source = b"def forward(x: Tensor) -> Tensor:\\n    return torch.relu(x)\\n"
    >>> model = calque.export(source, inputs=[numpy.zeros((2, 3), "float32")],
    ...                       dynamic_axes={"x": {0: "batch"}})
    >>> [node.op_type for node in model.graph.nodes], model.inputs
    (['Relu'], [Value(x: tensor(float)[batch, 3])])
    """
    options = Options()
    options.c.opset = _opset(opset)
    options.set_names("input_names", input_names)
    options.set_names("output_names", output_names)
    options.set_axes(dynamic_axes or {})
    options.set_opsets(custom_opsets or {})
    options.c.training = choice("training", _TRAINING, training)
    options.c.operators = choice("operators", _OPERATORS, operators)
    for flag, wanted in [
            (_abi.CQ_EXPORT_NO_PARAMS, not export_params),
            (_abi.CQ_EXPORT_NO_CONSTANT_FOLDING, not constant_folding),
            (_abi.CQ_EXPORT_KEEP_INITIALIZERS_AS_INPUTS, keep_initializers_as_inputs is True),
            (_abi.CQ_EXPORT_NO_INITIALIZERS_AS_INPUTS, keep_initializers_as_inputs is False),
            (_abi.CQ_EXPORT_ALL_MODULES_AS_FUNCTIONS, modules_as_functions is True),
            (_abi.CQ_EXPORT_STATIC, static),
            (_abi.CQ_EXPORT_KEEP_MUTATIONS, keep_mutations),
            (_abi.CQ_EXPORT_STATE, state),
            (_abi.CQ_EXPORT_COMPLEX_AS_PAIRS, complex_as_pairs),
            (_abi.CQ_EXPORT_OPTIONAL_INPUTS, optional_inputs)]:
        options.set_flag(flag, wanted)
    options.set_verbose(verbose)
    if not isinstance(modules_as_functions, bool):
        options.set_names("function_classes", modules_as_functions)
    options.set_text("symbolics", symbolics)
    options.set_text("producer", producer)
    options.set_text("graph_name", graph_name)

    with as_path(model) as path:
        exported = options.run(lambda: _export(path, inputs, kwargs or {}, options, entry, trace, define,
                                               constants or {}, names, max_steps, max_memory), Model)
    if out is not None:
        exported.save(out, external_data=external_data)
    return exported


def _opset(wanted: int | str | None) -> int:
    if wanted is None:
        return _abi.CQ_OPSET_DEFAULT
    return _abi.CQ_OPSET_NEWEST if wanted == "latest" else int(wanted)


def _export(path: str, inputs: Sequence[Any] | None, kwargs: Mapping[str, Any], options: Options,
            entry: str | None, trace: bool, define: str | None, constants: Mapping[str, Any],
            names: str | None, max_steps: int, max_memory: int) -> ModelHandle:
    if lib.cq_pt2_is_archive_file(encoded(path)):
        program = Program(path, entry, max_steps, max_memory)
        if define is not None:
            program.define(define)
        if names is not None:
            program.name_as(names)
        if kwargs or constants:
            raise ArgumentError("inputs of a .pt2 are given in order, without names")
        return program.export(inputs, options)
    script = Script(path, max_steps, max_memory)
    if define is not None:
        script.define(define)
    return script.export(inputs, kwargs, options, entry, trace, constants)
