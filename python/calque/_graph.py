"""Looking into a model: graphs, nodes, values, initializers. All of them are views, which keep the
model alive and copy nothing."""
from __future__ import annotations

import collections
import ctypes
from ctypes import byref
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Optional, Tuple, TypeVar, Union

import numpy as np

from . import _abi, _dtypes
from ._call import Buffer, check
from ._errors import Error
from ._html import ROWS, count, listed, table
from ._lib import lib, text
from ._tensor import Tensor, TensorHandle
from ._values import ValueHandle, from_value

if TYPE_CHECKING:
    from ._model import Model

#: A size: a number, the name of a dynamic axis, or None when nothing is known.
Size = Union[int, str, None]
Shape = Optional[Tuple[Size, ...]]


def names(count: Callable[[int], int], at: Callable[[int, int], bytes], owner: int) -> list[str]:
    """A list of texts that the library has one by one."""
    return [text(at(owner, i)) for i in range(count(owner))]


def entries(at: Callable[..., bool], owner: Any) -> dict[str, str]:
    """Pairs of texts that the library has one by one."""
    key, value, index = ctypes.c_char_p(), ctypes.c_char_p(), 0
    found: dict[str, str] = {}
    while at(owner, index, byref(key), byref(value)):
        found[text(key.value)] = text(value.value)
        index += 1
    return found


def array_of(model: Model, tensor: int) -> Any:
    """A tensor of the model as an array that cannot be written to: its memory is the model's."""
    handle, value = TensorHandle(), ValueHandle()
    status = lib.cq_onnx_tensor_in_place(byref(handle), model.pointer, tensor)
    if status != _abi.CQ_E_UNSUPPORTED:
        check(status)
        return Tensor._of(handle, writable=False).numpy()
    check(lib.cq_onnx_value_of(byref(value), model.pointer, tensor))
    return from_value(value, writable=False)


V = TypeVar("V", bound="View")


class View:
    """A part of a model: an address inside of the model, which it keeps alive."""

    _model: Model
    _pointer: int

    def __init__(self, *_arguments: Any) -> None:
        raise TypeError(f"a {type(self).__name__} is a part of a model; Model.graph has them all")

    @classmethod
    def _of(cls: type[V], model: Model, pointer: int) -> V:
        self = object.__new__(cls)
        self._model, self._pointer = model, pointer
        return self

    def __eq__(self, other: object) -> bool:
        """Whether both show the same part of the same model."""
        return isinstance(other, View) and self._pointer == other._pointer

    def __hash__(self) -> int:
        return hash(self._pointer)

    def __copy__(self: V) -> V:
        return self

    def __reduce_ex__(self, _protocol: Any) -> Any:
        raise TypeError(f"cannot copy or pickle a {type(self).__name__}, which is a part of a model; "
                        "copy or pickle its model instead")


class Value(View):
    """An input, output or inner value: its name and type.

    >>> import calque
    >>> model = calque.Model.parse(
    ...     '<ir_version: 8, opset_import: ["": 17]> g (float[n, 3] x) => (float[n, 3] y) '
    ...     '{ y = Relu(x) }')
    >>> model.graph.inputs[0]
    Value(x: tensor(float)[n, 3])
    """

    @property
    def name(self) -> str:
        return text(lib.cq_onnx_value_info_name(self._pointer))

    @property
    def type(self) -> str:
        """"tensor(float)", "seq(tensor(int64))" …; "" when it is not known."""
        buffer = Buffer()
        check(lib.cq_onnx_value_info_type(byref(buffer), self._pointer))
        return text(buffer.bytes())

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """Of the elements; None when it is not a tensor of numbers."""
        code = lib.cq_onnx_value_info_dtype(self._pointer)
        return _dtypes.to_numpy(code) if code else None

    @property
    def shape(self) -> Shape:
        """Its sizes: numbers, names, or None for one that is open; None when not even their number
        is known."""
        rank = lib.cq_onnx_value_info_rank(self._pointer)
        return None if rank < 0 else tuple(map(self._size, range(rank)))

    def _size(self, axis: int) -> Size:
        size = lib.cq_onnx_value_info_size(self._pointer, axis)
        return size if size >= 0 else text(lib.cq_onnx_value_info_axis(self._pointer, axis)) or None

    def __repr__(self) -> str:
        shape = self.shape
        sizes = "" if shape is None else f"[{', '.join(map(str, shape))}]"
        return f"Value({self.name}: {self.type}{sizes})"

    def _row(self) -> tuple[str, str, str]:
        shape = self.shape
        return self.name, self.type, "" if shape is None else ", ".join(map(str, shape))


class Initializers(View, Mapping[str, Any]):
    """The weights of a graph by name, as arrays that show the memory of the file.

    >>> import calque
    >>> model = calque.Model.parse(
    ...     '<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y) '
    ...     '<float[2] w = {1, 2}> { y = Mul(x, w) }')
    >>> model.graph.initializers["w"]
    array([1., 2.], dtype=float32)
    """

    _tensors: dict[str, int]

    @classmethod
    def _of(cls, model: Model, pointer: int) -> Initializers:
        self = super()._of(model, pointer)
        tensors = [lib.cq_onnx_graph_initializer(pointer, i)
                   for i in range(lib.cq_onnx_graph_n_initializers(pointer))]
        self._tensors = {text(lib.cq_onnx_tensor_name(tensor)): tensor for tensor in tensors}
        return self

    def __getitem__(self, name: str) -> Any:
        return array_of(self._model, self._tensors[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def __repr__(self) -> str:
        return f"Initializers({listed(list(self))})"

    def _repr_html_(self) -> str:
        arrays = [(name, *_described(self, name)) for name in list(self)[:ROWS + 1]]
        rest = [("",) * 3] * (len(self) - len(arrays))
        return table([*arrays, *rest], ("weight", "dtype", "shape"))


def _described(initializers: Initializers, name: str) -> tuple[str, str]:
    """The dtype and shape of a weight; of one that cannot be read, why."""
    try:
        array = initializers[name]
    except Error as error:
        return "?", error.message
    return str(array.dtype), ", ".join(map(str, array.shape))


class Node(View):
    """A node of a graph.

    >>> import calque
    >>> model = calque.Model.parse(
    ...     '<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y) '
    ...     '{ y = LeakyRelu <alpha = 0.5> (x) }')
    >>> node = model.graph.nodes[0]
    >>> node.op_type, node.inputs, node.outputs, node.attributes
    ('LeakyRelu', ['x'], ['y'], {'alpha': 0.5})
    """

    @property
    def name(self) -> str:
        return text(lib.cq_onnx_node_name(self._pointer))

    @property
    def op_type(self) -> str:
        return text(lib.cq_onnx_node_op_type(self._pointer))

    @property
    def domain(self) -> str:
        return text(lib.cq_onnx_node_domain(self._pointer))

    @property
    def doc_string(self) -> str:
        return text(lib.cq_onnx_node_doc_string(self._pointer))

    @property
    def inputs(self) -> list[str]:
        """Names of values; "" is an optional one left out."""
        return names(lib.cq_onnx_node_n_inputs, lib.cq_onnx_node_input, self._pointer)

    @property
    def outputs(self) -> list[str]:
        return names(lib.cq_onnx_node_n_outputs, lib.cq_onnx_node_output, self._pointer)

    @property
    def metadata(self) -> dict[str, str]:
        return entries(lib.cq_onnx_node_metadata, self._pointer)

    @property
    def attributes(self) -> dict[str, Any]:
        """Numbers, texts, arrays, graphs, and lists of such, by name."""
        found = {}
        for i in range(lib.cq_onnx_node_n_attributes(self._pointer)):
            pointer = lib.cq_onnx_node_attribute_at(self._pointer, i)
            found[text(lib.cq_onnx_attribute_name(pointer))] = _attribute(self._model, pointer)
        return found

    def __repr__(self) -> str:
        kind = f"{self.domain}::{self.op_type}" if self.domain else self.op_type
        return f"Node({listed(self.outputs)} = {kind}({listed(self.inputs)}))"


class Reference(str):
    """In the body of a function: the attribute of the function that an attribute stands for."""


def _attribute_text(_model: Model, pointer: int, index: int) -> Any:
    length = ctypes.c_size_t()
    start = lib.cq_onnx_attribute_string(pointer, index, byref(length))
    data = ctypes.string_at(start, length.value)
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _attribute_type(_model: Model, pointer: int, index: int) -> str:
    buffer = Buffer()
    check(lib.cq_onnx_attribute_type_text(byref(buffer), pointer, index))
    return text(buffer.bytes())


def _attribute_tensor(model: Model, pointer: int, index: int) -> Any:
    return array_of(model, lib.cq_onnx_attribute_tensor(pointer, index))


def _attribute_graph(model: Model, pointer: int, index: int) -> Graph:
    return Graph._of(model, lib.cq_onnx_attribute_graph(pointer, index))


# How an item of an attribute is read, and whether there is a list of them.
_READERS: dict[int, tuple[Callable[[Any, int, int], Any], bool]] = {
    _abi.CQ_ONNX_ATTR_FLOAT: (lambda m, a, i: lib.cq_onnx_attribute_float(a, i), False),
    _abi.CQ_ONNX_ATTR_FLOATS: (lambda m, a, i: lib.cq_onnx_attribute_float(a, i), True),
    _abi.CQ_ONNX_ATTR_INT: (lambda m, a, i: lib.cq_onnx_attribute_int(a, i), False),
    _abi.CQ_ONNX_ATTR_INTS: (lambda m, a, i: lib.cq_onnx_attribute_int(a, i), True),
    _abi.CQ_ONNX_ATTR_STRING: (_attribute_text, False),
    _abi.CQ_ONNX_ATTR_STRINGS: (_attribute_text, True),
    _abi.CQ_ONNX_ATTR_TENSOR: (_attribute_tensor, False),
    _abi.CQ_ONNX_ATTR_TENSORS: (_attribute_tensor, True),
    _abi.CQ_ONNX_ATTR_GRAPH: (_attribute_graph, False),
    _abi.CQ_ONNX_ATTR_GRAPHS: (_attribute_graph, True),
    _abi.CQ_ONNX_ATTR_TYPE_PROTO: (_attribute_type, False),
    _abi.CQ_ONNX_ATTR_TYPE_PROTOS: (_attribute_type, True),
}


def _attribute(model: Model, pointer: int) -> Any:
    if refers := text(lib.cq_onnx_attribute_refers_to(pointer)):
        return Reference(refers)
    reader, is_list = _READERS.get(lib.cq_onnx_attribute_kind(pointer), (None, False))
    if reader is None:
        return None
    if is_list:
        return [reader(model, pointer, i) for i in range(lib.cq_onnx_attribute_count(pointer))]
    return reader(model, pointer, 0)


class Graph(View):
    """A graph of a model: the main one, or one that is inside of a node.

    >>> import calque
    >>> graph = calque.Model.parse(
    ...     '<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y) '
    ...     '{ t = Neg(x) y = Relu(t) }').graph
    >>> graph.name, [node.op_type for node in graph.nodes]
    ('g', ['Neg', 'Relu'])
    """

    @property
    def name(self) -> str:
        return text(lib.cq_onnx_graph_name(self._pointer))

    @property
    def nodes(self) -> list[Node]:
        return [Node._of(self._model, lib.cq_onnx_graph_node(self._pointer, i))
                for i in range(lib.cq_onnx_graph_n_nodes(self._pointer))]

    def _values(self, side: int) -> list[Value]:
        return [Value._of(self._model, lib.cq_onnx_graph_value(self._pointer, side, i))
                for i in range(lib.cq_onnx_graph_n_values(self._pointer, side))]

    @property
    def inputs(self) -> list[Value]:
        return self._values(_abi.CQ_ONNX_INPUTS)

    @property
    def outputs(self) -> list[Value]:
        return self._values(_abi.CQ_ONNX_OUTPUTS)

    @property
    def values(self) -> list[Value]:
        """Inner values whose types are known; `Model.infer_shapes` finds them all."""
        return self._values(_abi.CQ_ONNX_INNER)

    @property
    def initializers(self) -> Initializers:
        return Initializers._of(self._model, self._pointer)

    def __repr__(self) -> str:
        return f"Graph({self.name}: {count(lib.cq_onnx_graph_n_nodes(self._pointer), 'node')})"

    def _repr_html_(self) -> str:
        ends = [(side, *value._row()) for side, values in (("input", self.inputs), ("output", self.outputs))
                for value in values]
        kinds = collections.Counter(node.op_type for node in self.nodes)
        return table(ends, ("", "name", "type", "shape"), repr(self)) + \
            table(kinds.most_common(), ("operator", "nodes"))


class Function(View):
    """A function that a model brings with it."""

    @property
    def name(self) -> str:
        return text(lib.cq_onnx_function_name(self._pointer))

    @property
    def domain(self) -> str:
        return text(lib.cq_onnx_function_domain(self._pointer))

    @property
    def inputs(self) -> list[str]:
        return names(lib.cq_onnx_function_n_inputs, lib.cq_onnx_function_input, self._pointer)

    @property
    def outputs(self) -> list[str]:
        return names(lib.cq_onnx_function_n_outputs, lib.cq_onnx_function_output, self._pointer)

    @property
    def nodes(self) -> list[Node]:
        return [Node._of(self._model, lib.cq_onnx_function_node(self._pointer, i))
                for i in range(lib.cq_onnx_function_n_nodes(self._pointer))]

    def __repr__(self) -> str:
        return f"Function({self.domain}::{self.name})"
