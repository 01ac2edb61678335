"""torch.onnx.export: checks and completes its arguments; the exporter is in C (src/py/export.c)."""
import os
import warnings

from calque import has_host, host
from ..jit._modes import ScriptFunction, mode_of
from ..nn import DataParallel, Module

DEFAULT_OPSET = 14  # of torch.onnx in PyTorch 1.13, as in the Python package
DYNAMO_OPSET = 18
OLDEST_OPSET, NEWEST_OPSET = 7, 24


class OperatorExportTypes:
    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3


class TrainingMode:
    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


_MODES = {TrainingMode.EVAL: 0, TrainingMode.TRAINING: 1, TrainingMode.PRESERVE: 2}
_exporting = [False]


def is_in_onnx_export():
    """A model file is evaluated in order to export it; a script is not, outside of an export."""
    return _exporting[0] or not has_host()


class exporting:
    """While it lasts, is_in_onnx_export() is true."""

    def __enter__(self):
        self.outer = _exporting[0]
        _exporting[0] = True

    def __exit__(self, kind, value, trace):
        _exporting[0] = self.outer


class select_model_mode_for_export:
    """A context manager: the model is in the mode, and returns to its previous mode at the end."""

    def __init__(self, model, mode):
        self.modules = list(model.modules()) if isinstance(model, Module) else []
        self.before = [module.training for module in self.modules]
        self.mode = mode

    def __enter__(self):
        if self.mode is not None and self.mode != TrainingMode.PRESERVE and self.modules:
            self.modules[0].train(self.mode == TrainingMode.TRAINING)

    def __exit__(self, kind, value, trace):
        for module, training in zip(self.modules, self.before):
            module.training = training


# ---- arguments ----


def split_arguments(args, kwargs=None):
    """Arguments by position and by name: a dict at the end of args has names."""
    if not isinstance(args, (tuple, list)):
        args = (args,)
    args, named = list(args), dict(kwargs or {})
    if args and isinstance(args[-1], dict):
        named.update(args.pop())
    return args, named


def _axes(dynamic_axes, names):
    """Rows (value, axis, name) of the three forms: {value: {axis: name}}, {value: [axis]}, both."""
    rows = []
    for value, axes in (dynamic_axes or {}).items():
        if value not in names:
            warnings.warn(f"Provided key {value} for dynamic axes is not a valid input/output name")
            continue
        if not isinstance(axes, dict):
            warnings.warn("No names were found for specified dynamic axes of provided input."
                          "Automatically generated names will be applied to each dynamic axes of "
                          f"input {value}")
            axes = {axis: None for axis in axes}
        for axis, name in axes.items():
            if not isinstance(axis, int):
                raise ValueError("The type of axis index is expected to be an integer")
            rows.append((value, axis, name))
    return rows


def _shape_axes(dynamic_shapes, model, args, kwargs, input_names):
    """The same of torch.export's dynamic_shapes, by parameter or in order; and names of inputs."""
    from calque import parameters_of
    function = model.forward if isinstance(model, Module) else model
    parameters = [row[0] for row in parameters_of(function)]
    if not isinstance(dynamic_shapes, dict):
        dynamic_shapes = dict(zip(parameters, dynamic_shapes))
    given = parameters[:len(args)] + list(kwargs)
    names = list(input_names) + given[len(input_names):]
    rows = []
    for name, parameter in zip(names, given):
        axes = dynamic_shapes.get(parameter)
        if isinstance(axes, (list, tuple)):
            axes = dict(enumerate(axes))
        for axis, size in (axes or {}).items():
            if size is None or isinstance(size, int):
                continue
            rows.append((name, axis, getattr(size, "__name__", None) or (
                size if isinstance(size, str) else None)))
    return rows, names


def options_of(model, args, kwargs, *, opset_version=None, input_names=None, output_names=None,
               dynamic_axes=None, training=None, export_params=True, verbose=False,
               operator_export_type=OperatorExportTypes.ONNX, do_constant_folding=True,
               keep_initializers_as_inputs=None, custom_opsets=None,
               export_modules_as_functions=False, autograd_inlining=True, external_data=False,
               dynamo=False, dynamic_shapes=None, annotations=0, sequences=True):
    """The dict of options that the exporter takes."""
    opset = opset_version or (DYNAMO_OPSET if dynamo else DEFAULT_OPSET)
    if not OLDEST_OPSET <= opset <= NEWEST_OPSET:
        raise ValueError(f"Unsupported ONNX opset version: {opset}")
    if isinstance(model, DataParallel):
        raise ValueError("torch.nn.DataParallel is not supported by ONNX exporter, please use "
                         "'attribute' module to unwrap model from torch.nn.DataParallel. Try "
                         "torch.onnx.export(model.module, ...)")
    inputs, outputs = list(input_names or []), list(output_names or [])
    if dynamic_shapes:
        axes, inputs = _shape_axes(dynamic_shapes, model, args, kwargs, inputs)
    else:
        axes = _axes(dynamic_axes, inputs + outputs)
    classes = []
    if not isinstance(export_modules_as_functions, bool):
        classes = [cls.__name__ for cls in export_modules_as_functions]
    as_inputs = keep_initializers_as_inputs
    if as_inputs is None:
        as_inputs = operator_export_type not in (None, OperatorExportTypes.ONNX)
    return {
        "opset": opset, "input_names": inputs, "output_names": outputs, "dynamic_axes": axes,
        "training": _MODES[training or TrainingMode.EVAL], "annotations": annotations,
        "operators": operator_export_type or OperatorExportTypes.ONNX,
        "custom_opsets": list((custom_opsets or {}).items()), "function_classes": classes,
        "all_modules_as_functions": export_modules_as_functions is True,
        "no_params": not export_params, "no_constant_folding": not do_constant_folding,
        "keep_initializers_as_inputs": as_inputs,
        "no_initializers_as_inputs": keep_initializers_as_inputs is False,
        "verbose": bool(verbose), "external_data": bool(external_data) and not dynamo,
        "no_autograd_inlining": not autograd_inlining, "lists_as_sequences": sequences,
        "trace": mode_of(model), "program": getattr(model, "_program", None),
    }


def run_in_training(model, args, kwargs, options):
    """PyTorch's exporter runs the model: batch norms in training mode update their statistics."""
    mode = {number: mode for mode, number in _MODES.items()}[options["training"]]
    with select_model_mode_for_export(model, mode):
        if isinstance(model, Module) and any(m.training for m in model.modules()) and list(
                model.buffers()):
            model(*args, **kwargs)


def export_model(model, args, kwargs, f, options):
    """Writes f, a path or a buffer; without f the bytes are the result."""
    function = model.function if isinstance(model, ScriptFunction) else model
    is_buffer = f is not None and hasattr(f, "write")
    path = None if f is None or is_buffer else os.fspath(f)
    with exporting():
        made = host("torch.onnx.export", function, args, kwargs, options, path)
        run_in_training(model, args, kwargs, options)
    if is_buffer:
        f.write(made)
    return made


class ONNXProgram:
    """What an export without a file, or with dynamo=True, returns."""

    def __init__(self, model, args, kwargs, options):
        self._call = (model, args, kwargs, options)

    def save(self, destination, **options):
        model, args, kwargs, given = self._call
        export_model(model, args, kwargs, destination, {**given, "verbose": False})

    def optimize(self):
        return None


def export(model, args=(), f=None, export_params=True, verbose=False,
           training=TrainingMode.EVAL, input_names=None, output_names=None,
           operator_export_type=OperatorExportTypes.ONNX, opset_version=None,
           do_constant_folding=True, dynamic_axes=None, keep_initializers_as_inputs=None,
           custom_opsets=None, export_modules_as_functions=False, autograd_inlining=True,
           *, kwargs=None, dynamo=False, dynamic_shapes=None, external_data=False,
           fallback=False, report=False, verify=False, optimize=True, profile=False,
           dump_exported_program=False, artifacts_dir=".", custom_translation_table=None):
    """Writes f, a path or a buffer. docs/from-source.md lists the arguments that have an effect."""
    args, named = split_arguments(args, kwargs)
    options = options_of(
        model, args, named, opset_version=opset_version, input_names=input_names,
        output_names=output_names, dynamic_axes=dynamic_axes, training=training,
        export_params=export_params, verbose=verbose, operator_export_type=operator_export_type,
        do_constant_folding=do_constant_folding, custom_opsets=custom_opsets,
        keep_initializers_as_inputs=keep_initializers_as_inputs,
        export_modules_as_functions=export_modules_as_functions,
        autograd_inlining=autograd_inlining, external_data=external_data, dynamo=dynamo,
        dynamic_shapes=dynamic_shapes)
    if f is not None:
        export_model(model, args, named, f, options)
    return ONNXProgram(model, args, named, options) if dynamo or f is None else None


def export_to_pretty_string(*args, **kwargs):
    raise NotImplementedError("torch.onnx.export_to_pretty_string is not implemented; "
                              "run calque print FILE.onnx")
