"""torch.onnx.export on the library of calque."""
from __future__ import annotations

import contextlib
import copy
import itertools
import os
import warnings
from typing import IO, Any, Callable, Collection, Iterator, Mapping, Sequence, Union

import torch

from .. import _abi, _verify
from .._errors import UnsupportedError, VerificationError
from .._export import Options, choice
from .._lib import text
from .._model import Model as _Model
from .._session import NodeArg, Session
from .._tensor import Tensor
from . import _capture, _dynamo, _functions, _loops, _marks, _state
from ._onnx_program import ONNXProgram
from ._program import Script, dtype_code, wrap, wrap_all
from ._state import OperatorExportTypes, TrainingMode
from ._trace import trace

_ANNOTATIONS = {"attribute": _abi.CQ_ANNOTATIONS_ATTRIBUTE, "metadata": _abi.CQ_ANNOTATIONS_METADATA}

DEFAULT_OPSET = 14  # of torch.onnx in PyTorch 1.13
DYNAMO_OPSET = 18  # of torch.onnx with dynamo=True

Model = Any  # nn.Module, ScriptModule, ScriptFunction, ExportedProgram
File = Union[str, "os.PathLike[str]", IO[bytes]]


@contextlib.contextmanager
def select_model_mode_for_export(model: Model, mode: TrainingMode) -> Iterator[None]:
    """While it lasts, the model is in the mode; afterwards it is as it was.

    >>> import torch, calque.onnx
    >>> model = torch.nn.Dropout()
    >>> with calque.onnx.select_model_mode_for_export(model, calque.onnx.TrainingMode.EVAL):
    ...     model.training
    False
    >>> model.training
    True
    """
    mode = _state.mode_of(mode)
    modules = [module for module in model.modules() if hasattr(module, "training")] \
        if isinstance(model, torch.nn.Module) else []  # frozen TorchScript has no mode
    before = [module.training for module in modules]
    if mode != TrainingMode.PRESERVE and modules:
        model.train(mode == TrainingMode.TRAINING)
    try:
        yield
    finally:
        for module, training in zip(modules, before):
            if module.training != training:
                module.training = training


# ---- arguments of the exporter ----


def _axes(dynamic_axes: Mapping[str, Any] | None,
          names: set[str]) -> dict[str, dict[int, str | None]]:
    """The three forms: {name: {axis: called}}, {name: [axis, …]}, and both in one dict."""
    found: dict[str, dict[int, str | None]] = {}
    for value, axes in (dynamic_axes or {}).items():
        if value not in names:
            warnings.warn(f"Provided key {value} for dynamic axes is not a valid input/output name")
            continue
        if not isinstance(axes, Mapping):
            warnings.warn("No names were found for specified dynamic axes of provided input."
                          "Automatically generated names will be applied to each dynamic axes of "
                          f"input {value}")
            axes = dict.fromkeys(axes)  # the library makes them up
        if any(type(axis) is not int for axis in axes):
            raise ValueError("The type of axis index is expected to be an integer")
        found[value] = dict(axes)
    return found


def _classes(modules: bool | Collection[type[torch.nn.Module]]) -> list[str]:
    if isinstance(modules, bool):
        return []
    for item in modules:
        if not isinstance(item, type):
            raise RuntimeError("Only type of the `nn.Module` should be passed in the set for "
                               f"argument `export_modules_as_functions`. Got `{item!r}`.")
    return [item.__name__ for item in modules]


def _are_inputs(keep: bool | None, operator_export_type: OperatorExportTypes) -> bool:
    """Whether initializers are inputs, too; runtimes with operators of ATen require it."""
    return bool(operator_export_type != OperatorExportTypes.ONNX) if keep is None else keep


def _options(opset: int, input_names: Sequence[str], output_names: Sequence[str],
             dynamic_axes: Mapping[str, Any], *, export_params: bool = True, verbose: bool = False,
             operator_export_type: OperatorExportTypes = OperatorExportTypes.ONNX,
             do_constant_folding: bool = True, keep_initializers_as_inputs: bool | None = None,
             custom_opsets: Mapping[str, int] | None = None,
             export_modules_as_functions: bool | Collection[type[torch.nn.Module]] = False,
             doc_strings: bool = False, annotations: str = "attribute") -> Options:
    options = Options()
    options.c.opset, options.c.operators = opset, _state.operators_of(operator_export_type)
    options.c.annotations = choice("annotations", _ANNOTATIONS, annotations)
    options.c.training = _abi.CQ_TRAINING_PRESERVE  # the model is in its mode
    options.c.default_dtype = dtype_code(torch.get_default_dtype())
    options.set_names("input_names", input_names)
    options.set_names("output_names", output_names)
    options.set_names("function_classes", _classes(export_modules_as_functions))
    options.set_axes(dynamic_axes)
    options.set_opsets(custom_opsets or {})
    options.set_verbose(verbose, doc_strings)
    for flag, wanted in [
            (_abi.CQ_EXPORT_DROP_UNREAD_INPUTS, True),
            (_abi.CQ_EXPORT_QUANTIZED_PARTS, True),
            (_abi.CQ_EXPORT_LISTS_AS_SEQUENCES, True),
            (_abi.CQ_EXPORT_OPTIONAL_INPUTS, True),
            (_abi.CQ_EXPORT_NO_PARAMS, not export_params),
            (_abi.CQ_EXPORT_NO_CONSTANT_FOLDING, not do_constant_folding),
            (_abi.CQ_EXPORT_ALL_MODULES_AS_FUNCTIONS, export_modules_as_functions is True),
            (_abi.CQ_EXPORT_KEEP_INITIALIZERS_AS_INPUTS,
             _are_inputs(keep_initializers_as_inputs, operator_export_type)),
            (_abi.CQ_EXPORT_NO_INITIALIZERS_AS_INPUTS, keep_initializers_as_inputs is False)]:
        options.set_flag(flag, wanted)
    return options


# ---- capture and export ----


def _are_weights_inputs(options: Mapping[str, Any]) -> bool:
    return not options.get("export_params", True) or _are_inputs(
        options.get("keep_initializers_as_inputs"),
        options.get("operator_export_type", OperatorExportTypes.ONNX))


def _check_model(model: Model) -> None:
    if not callable(model) and type(model).__name__ != "ExportedProgram":
        raise TypeError(f"a model is a torch.nn.Module, TorchScript or a function, not a "
                        f"{type(model).__name__}; calque.export takes files")
    if isinstance(model, torch.nn.DataParallel):
        raise ValueError("torch.nn.DataParallel is not supported by ONNX exporter, please use "
                         "'attribute' module to unwrap model from torch.nn.DataParallel. Try "
                         "torch.onnx.export(model.module, ...)")


class Captured:
    """A captured model: its program, its arguments and its result."""

    def __init__(self, model: Model, args: Any, kwargs: Mapping[str, Any] | None,
                 rules: _functions.Rules, only_persistent: bool, opset: int) -> None:
        args, named = _capture.split_arguments(args, kwargs)
        self._results: Any = None
        self._trace: Any = None
        self._run: Callable[[], Any] | None = None
        self.named_outputs: list[tuple[str, torch.Tensor]] = []
        self.has_quantized = False
        is_script = isinstance(model, (torch.jit.ScriptModule, torch.jit.ScriptFunction))
        if is_script and not _capture.Tree((args, named)).has_quantized:
            program: Any = getattr(model, "_c", model)
            self._run = lambda: model(*copy.deepcopy(args), **copy.deepcopy(named))
            args, named = _capture.as_declared(program, args, named, opset)
            if getattr(model, "training", False):  # as a trace, it changes what a model counts
                self._results = self.results
        else:
            if is_script or not isinstance(model, torch.nn.Module):
                model = _Callable(model)
            args, named = _capture.in_order(model.forward, args, named)
            with _marks.collected() as self.named_outputs:
                traced = self._trace = trace(model, args, named, only_persistent)
            program, args, named, self._results = traced.module, traced.inputs, {}, traced.results
            self.has_quantized = traced.has_quantized
            _functions.inline(program, rules)
            _loops.build(program)
        self._program = program
        data, weights = _capture.code_and_weights(program)
        self._script = Script(data, weights, type(model).__name__)
        if self._trace is None:
            args, named = self._script.bind(args, named, None)
        self._args = self._script.arguments(wrap_all(list(args)), wrap_all(dict(named)))
        self.options: Options

    @property
    def graph(self) -> Any:
        """What TorchScript has of it."""
        program = self._program
        return program._get_method("forward").graph if hasattr(program, "_get_method") else program.graph

    @property
    def results(self) -> Any:
        """The result of the model; TorchScript is run for it."""
        if self._run is not None:
            self._results, self._run = self._run(), None
        return self._results

    @property
    def inputs(self) -> list[Tensor]:
        """The tensors and numbers among the arguments, which are inputs of the graph."""
        return self._script.inputs(self._args)

    def close(self) -> None:
        """Nothing is asked of it any more, but for results."""
        if self._trace is not None:
            self._trace.close()

    def export(self) -> _Model:
        return self.options.run(lambda: self._script.export(self._args, self.options.c, None, False), _Model)

    def verify(self, exported: _Model) -> None:
        """Compares the results of PyTorch and of the export."""
        session = Session(exported)
        names = self._script.input_names(self._args)
        given = [text(name) for name in self.options.c.input_names[:self.options.c.n_input_names]]
        known = dict(zip(given + names[len(given):], self.inputs))
        feeds = {value.name: _feed(value, known) for value in session.get_inputs()}
        wanted = _capture.flatten_results(self.results) + [value for _, value in self.named_outputs]
        exported.verification = _verify.compare_all(exported, session.run(None, feeds),
                                                    [wrap(value) for value in wanted])

    def export_to(self, out: Any, options: Any) -> int:
        """The same through pointers of the library; returns its status."""
        return self._script.export_to(out, self._args, options)


def _feed(value: NodeArg, known: Mapping[str, Tensor]) -> Any:
    """The value of a session's input, from the example; a sequence has its items one by one."""
    if value.name in known:
        return known[value.name]
    items = itertools.takewhile(known.__contains__, (f"{value.name}_{i}" for i in itertools.count()))
    if value.type.startswith("seq("):
        return [known[name] for name in items]
    raise UnsupportedError(f"verify=True cannot tell which argument is the input {value.name}")


class _Callable(torch.nn.Module):  # type: ignore[misc]
    """A function, or a module of TorchScript that has to be traced, as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.module = function

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)


@contextlib.contextmanager
def captured(model: Model, args: Any, *, kwargs: Mapping[str, Any] | None = None,
             training: Any = TrainingMode.EVAL, opset_version: int | None = None,
             dynamic_axes: Mapping[str, Any] | None = None,
             input_names: Sequence[str] | None = None, output_names: Sequence[str] | None = None,
             autograd_inlining: bool = True, **options: Any) -> Iterator[Captured]:
    """The model, called once in its mode, with the options of its export. Rules for its functions
    hold while this lasts."""
    _check_model(model)
    for name in options:
        if name not in (_options.__kwdefaults__ or ()):
            raise TypeError(f"an export has no argument {name!r}")
    opset = DEFAULT_OPSET if opset_version is None else opset_version
    if not _abi.CQ_OPSET_OLDEST <= opset <= _abi.CQ_OPSET_NEWEST:
        raise ValueError(f"Unsupported ONNX opset version: {opset}")
    inputs, outputs = list(input_names or ()), list(output_names or ())
    falls_through = options.get("operator_export_type") == OperatorExportTypes.ONNX_FALLTHROUGH
    with select_model_mode_for_export(model, training), _state.exporting(opset), \
            _functions.Rules(falls_through or not autograd_inlining) as rules:
        made = Captured(model, args, kwargs, rules, _are_weights_inputs(options), opset)
        made.options = _options(opset, inputs, outputs,
                                _axes(dynamic_axes, set(inputs) | set(outputs)), **options)
        if made.has_quantized:  # scale and zero point stay inputs, though the grid is fixed
            made.options.c.flags &= ~_abi.CQ_EXPORT_DROP_UNREAD_INPUTS
        try:
            yield made
        finally:
            made.close()


def _export_program(model: Model, args: Any, *, kwargs: Mapping[str, Any] | None = None,
                    dynamic_shapes: Any = None, training: Any = TrainingMode.EVAL,
                    opset_version: int | None = None,
                    dynamic_axes: Mapping[str, Any] | None = None,
                    input_names: Sequence[str] | None = None,
                    output_names: Sequence[str] | None = None, verify: bool = False,
                    **options: Any) -> ONNXProgram:
    """The same through torch.export."""
    opset = DYNAMO_OPSET if opset_version is None else opset_version
    inputs, outputs = list(input_names or ()), list(output_names or ())
    axes = _axes(dynamic_axes, set(inputs) | set(outputs))
    if dynamic_shapes is None:
        dynamic_shapes = _dynamo.shapes_of(axes, inputs, args, kwargs)
    with select_model_mode_for_export(model, training), _state.exporting(opset):
        program = _dynamo.program_of(model, args, kwargs, dynamic_shapes)
        loaded, given = _dynamo.load(program), _options(opset, inputs, outputs, {}, **options)
        made = given.run(lambda: loaded.export([], given.c), ONNXProgram)
    made.exported_program = program
    if verify:
        _verify_program(made, args, kwargs)
    return made


def _verify_program(made: ONNXProgram, args: Any, kwargs: Mapping[str, Any] | None) -> None:
    args, named = _capture.split_arguments(args, kwargs)
    if not args and not named and made.exported_program.example_inputs:
        args, named = made.exported_program.example_inputs
    wanted = _capture.flatten_results(made.exported_program.module()(*args, **named))
    made.verification = _verify.compare_all(made, [value.numpy() for value in made(*args, **named)],
                                            [wrap(value) for value in wanted])


def export_model(model: Model, args: Any, *, dynamo: bool = False, dynamic_shapes: Any = None,
                 fallback: bool = False, verify: bool = False, **options: Any) -> _Model:
    """The model of ONNX, in memory; its weights are the model's. fallback: what cannot go through
    torch.export is traced."""
    if dynamo or type(model).__name__ == "ExportedProgram":
        of_program = {name: value for name, value in options.items() if name != "autograd_inlining"}
        try:
            return _export_program(model, args, dynamic_shapes=dynamic_shapes, verify=verify, **of_program)
        except VerificationError:
            raise
        except Exception as error:
            if not fallback or type(model).__name__ == "ExportedProgram":
                raise
            warnings.warn(f"torch.export does not take the model, which is traced instead: {error}")
    with captured(model, args, **options) as made:
        exported = made.export()
        if verify:
            made.verify(exported)
        return exported


def export(model: Model, args: Any = (), f: File | None = None, export_params: bool = True,
           verbose: bool | None = False, training: Any = TrainingMode.EVAL,
           input_names: Sequence[str] | None = None, output_names: Sequence[str] | None = None,
           operator_export_type: OperatorExportTypes = OperatorExportTypes.ONNX,
           opset_version: int | None = None, do_constant_folding: bool = True,
           dynamic_axes: Mapping[str, Any] | None = None,
           keep_initializers_as_inputs: bool | None = None,
           custom_opsets: Mapping[str, int] | None = None,
           export_modules_as_functions: bool | Collection[type[torch.nn.Module]] = False,
           autograd_inlining: bool = True, *, kwargs: Mapping[str, Any] | None = None,
           dynamo: bool = False, dynamic_shapes: Any = None, external_data: bool = False,
           report: bool = False, optimize: bool = True, verify: bool = False,
           profile: bool = False, fallback: bool = False, dump_exported_program: bool = False,
           artifacts_dir: str | os.PathLike[str] = ".") -> _Model | None:
    """Exports a model to ONNX by calling it once on the example args. The arguments are those of
    torch.onnx.export; docs/python.md has a table of the differences. Without f, and with dynamo, it
    returns the `calque.Model`.

    What is exported:
        model: a torch.nn.Module, which is traced; TorchScript; a function; an ExportedProgram.
        args: a tensor, a tuple of arguments, or a tuple that ends in a dict of arguments by name.
        kwargs: arguments by name.
        f: a path or an open file.
        training: a TrainingMode; the modes of all modules are restored afterwards.

    What the file looks like:
        opset_version: 7 to 28; 14, or 18 with dynamo, if it is not given.
        input_names, output_names: names, in order; further input names go to the weights.
        dynamic_axes: {"x": {0: "batch"}}, or {"x": [0]} with generated names.
        export_params: False leaves the weights out; they become inputs.
        keep_initializers_as_inputs: whether weights are inputs, too.
        external_data: write the weights into a file beside f.
        verbose: print the graph.

    How operators are converted:
        operator_export_type: an OperatorExportTypes: what becomes of operators that ONNX lacks.
        do_constant_folding: compute in advance what does not depend on inputs.
        custom_opsets: {"mydomain": 2}: versions of the domains that custom symbolics use.
        export_modules_as_functions: True, or a set of classes, which become functions of the model.
        autograd_inlining: False keeps functions of torch.autograd as nodes.

    Through torch.export (PyTorch 2.1 and newer):
        dynamo: True uses torch.export instead of a trace.
        dynamic_shapes: torch.export's; sizes may be names.
        fallback: trace what torch.export does not take, with a warning.
        dump_exported_program, artifacts_dir: write the ExportedProgram into that folder.

    verify: compare the export with what PyTorch computed, and raise calque.VerificationError if they
        differ; then nothing is written.
    report, optimize, profile: without effect.

    >>> import io, torch, calque.onnx
    >>> file = io.BytesIO()
    >>> calque.onnx.export(torch.nn.Linear(3, 2), torch.ones(1, 3), file, input_names=["x"])
    """
    made = export_model(
        model, args, kwargs=kwargs, training=training, opset_version=opset_version,
        dynamo=dynamo, dynamic_shapes=dynamic_shapes, fallback=fallback, verify=verify,
        export_params=export_params, verbose=bool(verbose) or _state.is_onnx_log_enabled(),
        input_names=input_names,
        output_names=output_names, operator_export_type=operator_export_type,
        do_constant_folding=do_constant_folding, dynamic_axes=dynamic_axes,
        keep_initializers_as_inputs=keep_initializers_as_inputs, custom_opsets=custom_opsets,
        export_modules_as_functions=export_modules_as_functions,
        autograd_inlining=autograd_inlining)
    if dump_exported_program and isinstance(made, ONNXProgram):
        _dynamo.dump(made.exported_program, artifacts_dir)
    if f is not None:
        made.save(f, external_data=external_data)
    return made if f is None or isinstance(made, ONNXProgram) else None


def unconvertible_ops(model: Model, args: Any, training: Any = TrainingMode.EVAL,
                      opset_version: int | None = None) -> tuple[Any, list[str]]:
    """The graph of a model in TorchScript, and the operators in it that cannot be exported.

    >>> import torch, calque.onnx
    >>> graph, missing = calque.onnx.utils.unconvertible_ops(torch.nn.GELU(), torch.ones(2))
    >>> missing
    []
    """
    with captured(model, args, training=training, opset_version=opset_version) as made:
        try:
            report = made.export().report
        except UnsupportedError as error:
            report = error.report
        return made.graph.copy(), [row["name"] for row in report["missing"]]


def export_to_pretty_string(model: Model, args: Any, export_params: bool = True, *,
                            export_type: Any = None, google_printer: bool = False,
                            add_node_names: bool = True, **options: Any) -> str:
    """The model as text instead of a file; how PyTorch's text is to look has no effect.

    >>> import torch, calque.onnx
    >>> "Relu (x)" in calque.onnx.export_to_pretty_string(torch.nn.ReLU(), torch.ones(2), input_names=["x"])
    True
    """
    return export_model(model, args, export_params=export_params, **options).text()
