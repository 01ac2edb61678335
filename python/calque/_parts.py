"""Parts and compositions of models: the calls behind Model.cut, join, before and after."""
from __future__ import annotations

import ctypes
from ctypes import byref
from typing import TYPE_CHECKING, Mapping, Sequence

from . import _abi
from ._call import call
from ._lib import encoded, lib

if TYPE_CHECKING:
    from ._model import ModelHandle


def _names(names: Sequence[str]) -> ctypes.Array[ctypes.c_char_p]:
    if isinstance(names, str):
        raise TypeError(f"expected a list of names, got '{names}'")
    return (ctypes.c_char_p * max(len(names), 1))(*map(encoded, names))


def cut(model: ModelHandle, inputs: Sequence[str], outputs: Sequence[str], module: str | None) -> None:
    options = _abi.cq_cut_options()
    lib.cq_cut_options_init(byref(options))
    options.inputs, options.n_inputs = _names(inputs), len(inputs)
    options.outputs, options.n_outputs = _names(outputs), len(outputs)
    options.module = None if module is None else encoded(module)
    call(lib.cq_onnx_model_cut, model, byref(options))


def join(first: ModelHandle, second: ModelHandle, connect: Mapping[str, str]) -> None:
    """second belongs to first from now on. connect has outputs of first by inputs of second."""
    connections = (_abi.cq_connection * max(len(connect), 1))()
    for connection, (to, output) in zip(connections, connect.items()):
        connection.output, connection.input = encoded(output), encoded(to)
    options = _abi.cq_join_options()
    lib.cq_join_options_init(byref(options))
    options.connections, options.n_connections = connections, len(connect)
    pointer, second.value = ctypes.c_void_p(second.value), None
    call(lib.cq_onnx_model_join, first, pointer, byref(options))


def step(model: ModelHandle, side: int, text: str) -> tuple[ctypes.c_void_p, dict[str, str]]:
    """The model of a step, which the caller owns, and its connections by input."""
    made = _abi.cq_step()
    call(lib.cq_onnx_step_new, byref(made), model, side, encoded(text))
    found = made.connections[:made.n_connections]
    return ctypes.c_void_p(made.model), {c.input.decode(): c.output.decode() for c in found}
