"""Exports of PyTorch models to ONNX: TorchScript (archives and source) and programs of torch.export
(`.pt2`)."""
from __future__ import annotations

import os
from ctypes import byref
from typing import AbstractSet as Set
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence, TypeVar, Union

from . import _abi, _verify
from ._call import Handle, check, texts
from ._errors import ArgumentError, Error
from ._lib import encoded, lib, text
from ._model import Model, ModelHandle
from ._programs import Pt2, Script, given_arguments, map_leaves
from ._signature import is_tensor
from ._source import Source, as_path
from ._tensor import Tensor
from ._words import in_python

M = TypeVar("M", bound=Model)

#: As of torch.onnx.export: {"x": {0: "batch"}}, {"x": [0, 2]}.
DynamicAxes = Mapping[str, Union[Mapping[int, Union[str, None]], Sequence[int]]]


class ReportHandle(Handle):
    _free = lib.cq_export_report_free


_TRAINING = {"eval": _abi.CQ_TRAINING_EVAL, "train": _abi.CQ_TRAINING_TRAIN,
             "preserve": _abi.CQ_TRAINING_PRESERVE}
_OPERATORS = {"onnx": _abi.CQ_OPERATORS_ONNX, "onnx_aten": _abi.CQ_OPERATORS_ONNX_ATEN,
              "onnx_aten_fallback": _abi.CQ_OPERATORS_ATEN_FALLBACK,
              "onnx_fallthrough": _abi.CQ_OPERATORS_ONNX_FALLTHROUGH}
_REPORTS = {"operators": _abi.CQ_REPORT_OPERATORS, "missing": _abi.CQ_REPORT_MISSING,
            "baked": _abi.CQ_REPORT_BAKED}


def _need_mapping(name: str, given: Any, such_as: str) -> None:
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} must be a dict such as {such_as}, not a {type(given).__name__}")


def choice(name: str, table: Mapping[str, int], wanted: str) -> int:
    if wanted not in table:
        raise ArgumentError(f"{name} has no '{wanted}'", hint=f"there are {', '.join(table)}")
    return table[wanted]


# What a field of the options is called in Python, if it is another name.
_ARGUMENTS = {"function_classes": "modules_as_functions"}

# Where a verbose export prints the graph.
_print = _abi.cq_export_print_hook(lambda _user, graph: print(text(graph)))
_print_nothing = _abi.cq_export_print_hook(lambda _user, _graph: None)


class Options:
    """cq_export_options, and everything that it borrows."""

    def __init__(self) -> None:
        self.c = _abi.cq_export_options()
        lib.cq_export_options_init(byref(self.c))
        self.c.print = _print_nothing
        self._report = ReportHandle()
        check(lib.cq_export_report_new(byref(self._report)))
        self.c.report = self._report

    def set_names(self, field: str, names: Iterable[str]) -> None:
        given = texts(names, _ARGUMENTS.get(field, field))
        setattr(self.c, field, given)  # ctypes keeps the array
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
        _need_mapping("dynamic_axes", axes, '{"x": {0: "batch"}}')
        for value, given in axes.items():
            if isinstance(given, (str, bytes)) or not isinstance(given, (Mapping, Sequence, Set)):
                raise TypeError(f"dynamic_axes of '{value}' must be a dict or a list of axes, not "
                                f"{type(given).__name__}")
            for axis in given:
                if not hasattr(axis, "__index__"):
                    raise TypeError(f"an axis of '{value}' in dynamic_axes must be an integer, not "
                                    f"{axis!r}")
        rows = [_abi.cq_dynamic_axis(encoded(value), axis, encoded(name))
                for value, given in axes.items()
                for axis, name in (given.items() if isinstance(given, Mapping)
                                   else ((axis, None) for axis in given))]
        self.c.dynamic_axes = (_abi.cq_dynamic_axis * len(rows))(*rows)
        self.c.n_dynamic_axes = len(rows)

    def set_opsets(self, opsets: Mapping[str, int]) -> None:
        _need_mapping("custom_opsets", opsets, '{"mydomain": 2}')
        rows = [_abi.cq_custom_opset(encoded(domain), version) for domain, version in opsets.items()]
        self.c.custom_opsets = (_abi.cq_custom_opset * len(rows))(*rows)
        self.c.n_custom_opsets = len(rows)

    def run(self, export: Callable[[], ModelHandle], kind: type[M]) -> M:
        """The exported model. Its report is in the model, or in the error."""
        try:
            made = kind._of(export())
        except Error as error:
            error.report = self.report()
            raise
        made.report = self.report()
        return made

    def report(self) -> dict[str, list[dict[str, Any]]]:
        """The report of the export, whether it succeeded or not."""
        return {name: [self._entry(kind, i)
                       for i in range(lib.cq_export_report_count(self._report, kind))]
                for name, kind in _REPORTS.items()}

    def _entry(self, kind: int, index: int) -> dict[str, Any]:
        entry = lib.cq_export_report_at(self._report, kind, index).contents
        count = entry.value if kind == _abi.CQ_REPORT_BAKED else entry.count
        return {"name": text(entry.name), "count": count, "where": text(entry.where),
                "why": in_python(text(entry.reason)), "opset": entry.opset}


def export(model: Source, out: str | os.PathLike[str] | None = None,
           inputs: Sequence[Any] | Mapping[str, Any] | Any = None, *,
           kwargs: Mapping[str, Any] | None = None,
           entry: str | None = None, opset: int | str | None = None,
           input_names: Sequence[str] = (), output_names: Sequence[str] = (),
           dynamic_axes: DynamicAxes | None = None, trace: bool = False, training: str = "eval",
           operators: str = "onnx", export_params: bool = True, constant_folding: bool = True,
           keep_initializers_as_inputs: bool | None = None,
           custom_opsets: Mapping[str, int] | None = None,
           modules_as_functions: bool | Sequence[str] = False, symbolics: str | None = None,
           define: str | None = None, constants: Mapping[str, Any] | None = None,
           names: str | None = None, static: bool = False, keep_mutations: bool = False,
           state: bool = False, complex_as_pairs: bool = False, optional_inputs: bool = False,
           external_data: bool = False, verify: bool = False, verbose: bool = False,
           producer: str | None = None, graph_name: str | None = None, max_steps: int = 0,
           max_memory: int = 0) -> Model:
    """Exports a PyTorch model to ONNX, and writes it to out if that is given. Returns the Model.

    What is exported:
        model: a path, the bytes of a file, or an open file: a TorchScript archive, TorchScript source,
            or a `.pt2` of torch.export, told by its content.
        inputs: an example of the arguments, in order: arrays, numbers, texts, None, and lists, tuples
            and dicts of such. A dict has arguments by name, and a single array is one argument. A
            `.pt2` needs no example, nor does an archive that holds the sizes it was traced with.
        kwargs: arguments by name.
        entry: a function or method; "forward", or the only one, if it is not given. Of a `.pt2` with
            several programs: one of them.
        constants: {"sr": 16000}: arguments of TorchScript that become a part of the program.
        training: "eval", "train" or "preserve".
        define: TorchScript that says what unknown operators compute.
        max_steps, max_memory: limits for a program from an unknown source; 0: the default.

    What the file looks like:
        opset: 7 to the newest, or "latest".
        input_names, output_names: names, in order; fewer than there are is fine.
        dynamic_axes: {"x": {0: "batch"}}, or {"x": [0]} with generated names.
        external_data: write the weights into a file beside out.
        export_params: False leaves the weights out; they become inputs.
        keep_initializers_as_inputs: whether weights are inputs, too; None: by the IR version.
        producer, graph_name: texts of the model.
        names: "hf" gives the inputs and outputs of a language model in a `.pt2` Hugging Face's names.

    How operators are converted:
        trace: the example decides every branch and loop.
        operators: "onnx", "onnx_aten", "onnx_aten_fallback" or "onnx_fallthrough": what becomes of
            operators that ONNX does not have.
        symbolics: symbolic functions, as the text of a Python file; see docs/symbolic-functions.md.
        custom_opsets: {"mydomain": 2}: versions of the domains that symbolics use.
        constant_folding: compute in advance what does not depend on inputs.
        modules_as_functions: True, or a list of classes, which become functions of the model.
        static: of a `.pt2`: dynamic sizes become fixed.
        keep_mutations: of a `.pt2`: what it changes becomes outputs.
        state: what the model keeps from one call to the next becomes inputs and outputs.
        complex_as_pairs: complex inputs and outputs become pairs of real numbers.
        optional_inputs: an Optional[Tensor] is an input that a run may leave out (opset 15).

    Checking and looking:
        verify: run the model and its export on the example, and on larger dynamic sizes, and raise
            VerificationError if they differ; then nothing is written. `Model.verification` says what
            was compared.
        verbose: print the graph.

    >>> import calque, numpy
    >>> source = b"def forward(x: Tensor) -> Tensor:\\n    return torch.relu(x)\\n"
    >>> model = calque.export(source, inputs=[numpy.zeros((2, 3), "float32")],
    ...                       dynamic_axes={"x": {0: "batch"}}, verify=True)
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
    given, named = given_arguments(inputs, kwargs)

    with as_path(model, "exported") as path:
        source: _Pt2Call | _ScriptCall
        if lib.cq_pt2_is_archive_file(encoded(path)):
            if constants:
                raise ArgumentError("constants are for TorchScript; a .pt2 has its own")
            source = _Pt2Call(Pt2(path, entry, max_steps, max_memory), define, names, given, named)
        else:
            source = _ScriptCall(Script(path, max_steps, max_memory), define, given, named, entry,
                                 trace, constants or {})
        exported = options.run(lambda: source.export(options.c), Model)
        if verify:
            exported.verification = _verify.verify(source, exported, options.c, dynamic_axes or {})
    if out is not None:
        exported.save(out, external_data=external_data)
    return exported


def _opset(wanted: int | str | None) -> int:
    if wanted is None:
        return 0  # the default of the source: 18 for a .pt2, otherwise 17
    if wanted == "latest":
        return _abi.CQ_OPSET_NEWEST
    try:
        return int(wanted)
    except (TypeError, ValueError):
        raise ArgumentError(f"opset must be a number or \"latest\", not {wanted!r}") from None


class _ScriptCall:
    """TorchScript with the arguments of an export, which may be run with others."""

    def __init__(self, script: Script, define: str | None, inputs: list[Any] | None,
                 kwargs: dict[str, Any], entry: str | None, trace: bool,
                 constants: Mapping[str, Any]) -> None:
        if define is not None:
            script.define(define)
        if inputs is None and not kwargs:
            inputs = list(script.own_inputs())
        else:
            inputs, kwargs = script.bind(inputs or (), kwargs, entry, constants)
        self._script, self._inputs, self._kwargs = script, inputs, kwargs
        self._entry, self._trace, self._constants = entry, trace, constants

    def _arguments(self, inputs: list[Any], kwargs: dict[str, Any]) -> Any:
        return self._script.arguments(inputs, kwargs, self._entry, self._constants)

    def export(self, options: Any) -> ModelHandle:
        return self._script.export(self._arguments(self._inputs, self._kwargs), options, self._entry,
                                   self._trace)

    def examples(self, grow: Callable[[int, Any], Any]) -> Iterator[tuple[Any, list[Tensor]]]:
        """Arguments to compare with, and the inputs of the export for them: the example, and what grow
        makes of it by the number of the input."""
        args = self._arguments(self._inputs, self._kwargs)
        inputs = self._script.inputs(args)
        yield args, inputs
        leaves: list[Any] = []
        larger: list[Any] = []

        def change(item: Any) -> Any:
            leaves.append(item)
            larger.append(grow(len(leaves) - 1, item) if is_tensor(item) else item)
            return larger[-1]

        changed = map_leaves(change, [self._inputs, self._kwargs])
        if len(leaves) == len(inputs) and any(one is not other for one, other in zip(leaves, larger)):
            args = self._arguments(*changed)
            yield args, self._script.inputs(args)

    def run(self, args: Any, options: Any) -> list[Tensor]:
        return self._script.run(args, self._entry, options)


class _Pt2Call:
    """The same for a program of torch.export."""

    def __init__(self, program: Pt2, define: str | None, names: str | None, inputs: list[Any] | None,
                 kwargs: dict[str, Any]) -> None:
        if define is not None:
            program.define(define)
        if names is not None:
            program.name_as(names)
        self._program, self._args = program, program.arguments(inputs or (), kwargs)

    def export(self, options: Any) -> ModelHandle:
        return self._program.export(self._args, options)

    def examples(self, _grow: Callable[[int, Any], Any]) -> Iterator[tuple[Any, list[Tensor]]]:
        """The program knows which sizes it takes."""
        yield self._args, self._program.inputs(self._args)
        if not self._args and (larger := self._program.larger()):
            yield larger, larger

    def run(self, args: Any, options: Any) -> list[Tensor]:
        return self._program.run(args, options)
