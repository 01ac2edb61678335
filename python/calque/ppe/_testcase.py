"""Test-cases of models in PyTorch: the model, its inputs, outputs and gradients, as the library
writes them. What the numbers are, PyTorch says."""
from __future__ import annotations

import contextlib
import ctypes
import json
import os
import tempfile
import warnings
from ctypes import byref
from typing import Any, Callable, Iterator, Mapping, Sequence

import torch

from .. import _abi
from .._call import call, callback_raised, check, handles
from .._lib import encoded, lib
from .._tensor import Tensor
from ..onnx import _capture, _export
from ..onnx._export import Captured, File, Model
from ..onnx._program import wrap
from ..onnx._state import TrainingMode, mode_of
from . import _grad


def _names(input_names: Any, given: Sequence[Any]) -> list[str] | None:
    """A list of names, or a dict of them by the argument's own name."""
    if isinstance(input_names, Mapping):
        input_names = list(input_names.values())
    if given and type(given[-1]) is dict and given[-1]:
        assert input_names is not None, "arguments by name need input_names"
    return None if input_names is None else list(input_names)


def _as_tuple(args: Any) -> tuple[Any, ...]:
    return tuple(args) if isinstance(args, (tuple, list)) else (args,)


@contextlib.contextmanager
def _profiled(path: str) -> Iterator[None]:
    if not path:
        yield
        return
    with torch.profiler.profile() as profile:
        yield
    profile.export_chrome_trace(path)


def export(model: Model, args: Any, f: File, return_output: bool = False,
           strip_large_tensor_data: bool = False,
           large_tensor_threshold: int = _abi.CQ_STRIP_THRESHOLD, chrome_tracing: str = "",
           inline_gradients: bool = False, **kwargs: Any) -> Any:
    """Exports a model as torch.onnx.export does; with return_output it returns what the model gave.

    >>> import io, torch, calque.ppe
    >>> calque.ppe.export(torch.nn.ReLU(), torch.tensor([-1.0, 2.0]), io.BytesIO(), return_output=True)
    tensor([0., 2.])
    """
    results_of = _forget_originals(kwargs)
    if isinstance(f, (str, os.PathLike)):
        warnings.warn("When export ONNX graph as file, \"export_testcase\" is strongly recommended, "
                      "please consider use it instead", UserWarning, stacklevel=2)
    with _profiled(chrome_tracing), _grad.exporting(inline_gradients), \
            _export.captured(model, args, **kwargs) as made:
        exported = made.export()
        results = results_of(made.results) if return_output else None
    if strip_large_tensor_data:
        exported.strip(threshold=large_tensor_threshold)
    exported.save(f)
    return results


# Options that concern the original's tracing and exporter.
_WITHOUT_EFFECT = (
    "add_node_names", "check_trace", "enable_onnx_checker", "fixed_batch_size",
    "force_outplace_trace", "onnx_check_type", "onnx_data_prop", "onnx_lowprecision_cast",
    "onnx_peephole", "onnx_scalar_type_analysis", "onnx_shape_inference", "onnx_strict_mode",
    "strict_trace", "torch_constant_prop", "use_dynamo")


def _forget_originals(kwargs: dict[str, Any]) -> Callable[[Any], Any]:
    """Arguments that only the original's ways need; and a mode may be a bool. Returns what is made of a
    model's results: the original's own exporter flattens them."""
    for name in _WITHOUT_EFFECT:
        kwargs.pop(name, None)
    kwargs["doc_strings"] = not kwargs.pop("strip_doc_string", True)
    kwargs["training"] = mode_of(kwargs.get("training"))
    if kwargs.pop("use_pfto", False):
        return _capture.flatten_results
    return lambda results: results


class _Source:
    """A model for cq_testcase_write: it was captured already, and has run."""

    def __init__(self, made: Captured, outputs: Sequence[torch.Tensor],
                 gradients: Mapping[str, torch.Tensor | None]) -> None:
        self._made, self._gradients = made, gradients
        self._outputs = [wrap(output) for output in outputs]
        fields: dict[str, Any] = {name: kind for name, kind, *_ in _abi.cq_testcase_source._fields_}
        self.c = _abi.cq_testcase_source(None, fields["export_to"](self._export),
                                         fields["run"](self._run))

    def _export(self, out: Any, _user: Any, _inputs: Any, _n: int, options: Any) -> int:
        try:
            return self._made.export_to(out, options)
        except BaseException as error:
            return callback_raised(error)

    def _run(self, _user: Any, _inputs: Any, _n: int, options: Any, outputs: Any,
             n_outputs: Any) -> int:
        try:
            for i, tensor in enumerate(self._outputs[:_abi.CQ_TESTCASE_MAX_OUTPUTS]):
                outputs[i] = lib.cq_tensor_retain(tensor.pointer)
            n_outputs[0] = len(self._outputs)
            if options.contents.gradients:
                self._give_gradients(options.contents.gradients)
            return _abi.CQ_OK
        except BaseException as error:
            return callback_raised(error)

    def _give_gradients(self, to: int) -> None:
        for name, gradient in self._gradients.items():
            pointer = wrap(gradient).pointer if gradient is not None else None
            check(lib.cq_gradients_add(to, encoded(name), pointer))


def _seeds(output_grad: Any, outputs: Sequence[torch.Tensor]) -> list[torch.Tensor | None]:
    """The gradients of the outputs: as given, else ones."""
    if isinstance(output_grad, torch.Tensor):
        output_grad = [output_grad]
    given = [] if isinstance(output_grad, bool) else list(output_grad)
    ones = [torch.ones_like(output) if output.is_floating_point() else None
            for output in outputs[len(given):]]
    return given + ones


def _backward(model: Model, outputs: Sequence[torch.Tensor],
              seeds: Sequence[torch.Tensor | None]) -> dict[str, torch.Tensor | None]:
    """The gradients of the parameters, which are left in the model as the original does."""
    pairs = [(output, seed) for output, seed in zip(outputs, seeds)
             if seed is not None and output.requires_grad]
    if pairs:
        torch.autograd.backward([output for output, _ in pairs],
                                grad_tensors=[seed for _, seed in pairs])
    return {name: parameter.grad for name, parameter in model.named_parameters()}


@contextlib.contextmanager
def _programs(model: Model, args: Sequence[Any], script: bool,
              trace: bool) -> Iterator[tuple[bytes | None, bytes | None]]:
    """Files of the model in TorchScript, while this lasts."""
    with tempfile.TemporaryDirectory() as folder:
        paths: list[bytes | None] = []
        makers: list[tuple[bool, str, Callable[[], Any]]] = [
            (script, "script", lambda: torch.jit.script(model)),
            (trace, "trace", lambda: torch.jit.trace(model, tuple(args)))]
        for wanted, name, make in makers:
            path = os.path.join(folder, name)
            if wanted:
                torch.jit.save(make(), path)
            paths.append(encoded(path) if wanted else None)
        yield paths[0], paths[1]


def export_testcase(model: Model, args: Any, out_dir: str | os.PathLike[str], *,
                    output_grad: Any = False, metadata: bool = True, model_overwrite: bool = True,
                    strip_large_tensor_data: bool = False,
                    large_tensor_threshold: int = _abi.CQ_STRIP_THRESHOLD,
                    return_output: bool = False, user_meta: Mapping[str, Any] | None = None,
                    export_torch_script: bool = False, export_torch_trace: bool = False,
                    export_chrome_tracing: bool = False, out_grad: Any = None,
                    inline_gradients: bool = False, **kwargs: Any) -> Any:
    """Writes a model with its inputs and outputs into a folder: model.onnx, meta.json,
    test_data_set_0/input_0.pb, output_0.pb and so on.

    output_grad: True, or a tensor or list of tensors for the outputs: the gradients of the parameters are
        written, too. out_grad is another name of it.
    metadata, user_meta: whether to write meta.json, and a dict to include in it.
    model_overwrite: False keeps a model.onnx that is there and adds the next test_data_set.
    strip_large_tensor_data, large_tensor_threshold: leave out the data of tensors with more elements.
    return_output: return what the model gave.
    export_torch_script, export_torch_trace: write the model as TorchScript, too.
    export_chrome_tracing: write export_trace.json.gz, which says how long the export took.
    inline_gradients: see `calque.ppe.grad`.
    kwargs: as of `calque.onnx.export`.

    >>> import os, tempfile, torch, calque.ppe
    >>> folder = tempfile.mkdtemp()
    >>> calque.ppe.export_testcase(torch.nn.Linear(3, 2), torch.ones(1, 3), folder)
    >>> sorted(os.listdir(folder))
    ['meta.json', 'model.onnx', 'test_data_set_0']
    >>> sorted(os.listdir(os.path.join(folder, "test_data_set_0")))
    ['input_0.pb', 'output_0.pb']
    """
    output_grad = output_grad if out_grad is None else out_grad
    args = _as_tuple(args)
    results_of = _forget_originals(kwargs)
    kwargs["input_names"] = _names(kwargs.get("input_names"), args)
    if isinstance(model, torch.nn.Module):
        model.zero_grad()
    wants_gradients = output_grad is not False
    if wants_gradients and kwargs["training"] == TrainingMode.EVAL:
        warnings.warn("gradients are those of evaluation; training=TrainingMode.TRAINING keeps "
                      "parameters as they are", stacklevel=2)
    with _programs(model, args, export_torch_script, export_torch_trace) as programs, \
            _grad.exporting(inline_gradients), _export.captured(model, args, **kwargs) as made:
        outputs = _capture.flatten_results(made.results) + [value for _, value in made.named_outputs]
        seeds = _seeds(output_grad, outputs) if wants_gradients else []
        gradients = _backward(model, outputs, seeds) if wants_gradients else {}
        source = _Source(made, outputs, gradients)
        options = _options(made, seeds, programs, user_meta, large_tensor_threshold)
        for flag, wanted in [(_abi.CQ_TESTCASE_NO_METADATA, not metadata),
                             (_abi.CQ_TESTCASE_KEEP_MODEL, not model_overwrite),
                             (_abi.CQ_TESTCASE_STRIP, strip_large_tensor_data),
                             (_abi.CQ_TESTCASE_TRACE, export_chrome_tracing),
                             (_abi.CQ_TESTCASE_GRADIENTS, wants_gradients)]:
            options.flags |= flag if wanted else 0
        call(lib.cq_testcase_write, encoded(out_dir), byref(source.c),
             handles([tensor.pointer for tensor in made.inputs]), len(made.inputs), byref(options))
    if not return_output:
        return None
    return (made.results,) if isinstance(made.results, torch.Tensor) else results_of(made.results)


def _options(made: Captured, seeds: Sequence[torch.Tensor | None],
             programs: tuple[bytes | None, bytes | None], user_meta: Mapping[str, Any] | None,
             threshold: int) -> Any:
    options = _abi.cq_testcase_options()
    lib.cq_testcase_options_init(byref(options))
    options.threshold = threshold
    options.user_meta = encoded(json.dumps(user_meta)) if user_meta else None
    made.options.c.flags &= ~_abi.CQ_EXPORT_LISTS_AS_SEQUENCES  # a file holds one tensor
    options.export_options = ctypes.pointer(made.options.c)
    options.torch_script, options.torch_trace = programs
    kept: list[Tensor | None] = [None if seed is None else wrap(seed) for seed in seeds]
    options.output_gradients = handles([None if seed is None else seed.pointer for seed in kept])
    options.n_output_gradients = len(kept)
    options.kept = kept  # as long as the options
    return options
