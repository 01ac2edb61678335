"""Exports and test cases; src/py/export.c writes them."""
import json
import os
import warnings

from calque import host
import torch
from torch.jit._modes import ScriptFunction
from torch.nn import Module
from torch.onnx._export import (
    TrainingMode, export_model, exporting, options_of, select_model_mode_for_export,
    split_arguments)

LARGE_TENSOR_DATA_THRESHOLD = 100

# Arguments of pytorch-pfn-extras that choose among its own ways to trace, or steps of its exporter.
_WITHOUT_EFFECT = (
    "add_node_names", "check_trace", "enable_onnx_checker", "fixed_batch_size",
    "force_outplace_trace", "onnx_check_type", "onnx_data_prop", "onnx_lowprecision_cast",
    "onnx_peephole", "onnx_scalar_type_analysis", "onnx_shape_inference", "onnx_strict_mode",
    "strict_trace", "strip_doc_string", "torch_constant_prop", "use_dynamo", "use_pfto")


def _options(model, args, named, kwargs, sequences):
    for name in _WITHOUT_EFFECT:
        kwargs.pop(name, None)
    if isinstance(kwargs.get("training"), bool):
        kwargs["training"] = TrainingMode.TRAINING if kwargs["training"] else TrainingMode.EVAL
    names = kwargs.get("input_names")
    if isinstance(names, dict):
        kwargs["input_names"] = list(names.values())
    return options_of(model, args, named, sequences=sequences, **kwargs)


def _run(model, args, named, training):
    with select_model_mode_for_export(model, training or TrainingMode.EVAL):
        return model(*args, **named)


def export(model, args, f, return_output=False, strip_large_tensor_data=False,
           large_tensor_threshold=LARGE_TENSOR_DATA_THRESHOLD, chrome_tracing="", **kwargs):
    """As torch.onnx.export; with return_output it returns what the model returned."""
    args, named = split_arguments(args)
    options = _options(model, args, named, kwargs, True)
    if strip_large_tensor_data:
        options["strip"] = large_tensor_threshold
    export_model(model, args, named, f, options)
    return _run(model, args, named, kwargs.get("training")) if return_output else None


def export_testcase(model, args, out_dir, *, output_grad=False, metadata=True,
                    model_overwrite=True, strip_large_tensor_data=False,
                    large_tensor_threshold=LARGE_TENSOR_DATA_THRESHOLD, return_output=False,
                    user_meta=None, export_torch_script=False, export_torch_trace=False,
                    export_chrome_tracing=False, out_grad=None, **kwargs):
    """Writes a model with its inputs and outputs into a folder: model.onnx, meta.json,
    test_data_set_0/input_0.pb, output_0.pb and so on; with output_grad also the gradients."""
    if export_torch_script or export_torch_trace:
        raise NotImplementedError("export_testcase: export_torch_script and export_torch_trace are "
                                  "not implemented")
    output_grad = output_grad if out_grad is None else out_grad
    args, named = split_arguments(args)
    options = _options(model, args, named, kwargs, False)
    wants_gradients = output_grad is not False
    if wants_gradients and options["training"] == 0:
        warnings.warn("gradients are those of evaluation; training=TrainingMode.TRAINING keeps "
                      "parameters as they are")
    if strip_large_tensor_data:
        options["strip"] = large_tensor_threshold
    if isinstance(output_grad, torch.Tensor):
        output_grad = [output_grad]
    options["output_grad"] = [] if isinstance(output_grad, bool) else list(output_grad)
    options["gradients"] = wants_gradients
    options["no_metadata"] = not metadata
    options["keep_model"] = not model_overwrite
    options["chrome_tracing"] = bool(export_chrome_tracing)
    options["user_meta"] = json.dumps(user_meta) if user_meta else None
    function = model.function if isinstance(model, ScriptFunction) else model
    with exporting():
        host("export_testcase", function, args, named, options, os.fspath(out_dir))
    if not return_output:
        return None
    results = _run(model, args, named, kwargs.get("training"))
    return (results,) if isinstance(results, torch.Tensor) else results
