"""ONNX's backend interface (onnx.backend.base), without the onnx package: prepare, run_model,
run_node, is_compatible, supports_device.

    import calque.backend as backend
    rep = backend.prepare(onnx.load("model.onnx"), device="CPU")
    outputs = rep.run(inputs)
"""
from __future__ import annotations

import collections
import ctypes
from typing import Any, Sequence

from . import _abi
from ._call import call, handles
from ._errors import Error, NotFound
from ._lib import encoded, lib
from ._model import Model
from ._session import Session
from ._source import Source
from ._values import ValueHandle, from_value, to_value


def _named(names: Sequence[str], values: Sequence[Any]) -> Any:
    """A tuple of outputs that are known by name too."""
    return collections.namedtuple("Outputs", names, rename=True)(*values)


class BackendRep:
    """A model that is ready to run; see `prepare`."""

    def __init__(self, model: Source, **options: Any) -> None:
        self._session = Session(model, **options)

    def run(self, inputs: Any, **kwargs: Any) -> Any:
        """inputs are a list in the model's order, a dict by name, or a single array. Returns a
        named tuple."""
        names = [output.name for output in self._session.get_outputs()]
        if isinstance(inputs, dict):
            return _named(names, self._session.run(None, inputs))
        if not isinstance(inputs, (list, tuple)):
            inputs = [inputs]
        return _named(names, self._session.run_in_order(inputs))


def supports_device(device: str) -> bool:
    """Whether it computes on a device.

    >>> import calque.backend
    >>> calque.backend.supports_device("CPU"), calque.backend.supports_device("CUDA")
    (True, False)
    """
    return bool(lib.cq_session_supports_device(encoded(device)))


def _need_device(device: str) -> None:
    if not supports_device(device):
        raise NotFound(f"unknown device {device}", hint="the only device is CPU")


def is_compatible(model: Source, device: str = "CPU", **kwargs: Any) -> bool:
    """Whether the model can be prepared."""
    if not supports_device(device):
        return False
    try:
        Session(model)
    except Error:
        return False
    return True


def prepare(model: Source, device: str = "CPU", **kwargs: Any) -> BackendRep:
    """Makes a model ready to run. Keywords are those of `calque.Session`.

    >>> import calque, numpy
    >>> import calque.backend
    >>> rep = calque.backend.prepare(calque.Model.parse(
    ...     '<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y) '
    ...     '{ y = Neg(x) }'))
    >>> rep.run([numpy.array([1, 2], "float32")]).y
    array([-1., -2.], dtype=float32)
    """
    _need_device(device)
    return BackendRep(model, **kwargs)


def run_model(model: Source, inputs: Any, device: str = "CPU", **kwargs: Any) -> Any:
    """Prepares and runs at once."""
    return prepare(model, device, **kwargs).run(inputs)


def run_node(node: Any, inputs: Any, device: str = "CPU", outputs_info: Any = None,
             opset_version: int | None = None, **kwargs: Any) -> Any:
    """Runs one node: an onnx.NodeProto, or its bytes. opset_version is of the node's domain; None:
    the newest."""
    _need_device(device)
    data = node if isinstance(node, bytes) else bytes(node.SerializeToString())
    names = _output_names(data) if isinstance(node, bytes) else [name for name in node.output if name]
    version = opset_version or kwargs.get("opset") or _abi.CQ_OPSET_NEWEST
    items = list(inputs.values()) if isinstance(inputs, dict) else inputs
    items = items if isinstance(items, (list, tuple)) else [items]
    values = [to_value(item) for item in items]
    outputs = (ctypes.c_void_p * len(names))()
    try:
        call(lib.cq_session_run_node, data, len(data), version, handles(values), len(values),
             outputs, len(names), encoded(device))
    finally:
        owned = [ValueHandle(output) for output in outputs]
    return _named(names, [from_value(output) for output in owned])


def _output_names(node: bytes) -> list[str]:
    """The names of the outputs of a NodeProto: a graph is its nodes behind a tag, and a model its
    graph."""
    graph = b"\x0a" + _varint(len(node)) + node
    model = Model.load(b"\x08\x08" + b"\x3a" + _varint(len(graph)) + graph)
    return [name for name in model.graph.nodes[0].outputs if name]


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out + bytes([number]))
