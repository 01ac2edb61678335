"""The graph that a symbolic function builds: `g`, its values, and what they tell of themselves. They
have the methods that torch._C's classes have, on nodes of the library."""
from __future__ import annotations

import ctypes
import re
from typing import Any, Iterable, Sequence

import torch

from .. import _abi, _dtypes
from .._call import check, handles
from .._lib import encoded, lib, text
from ._program import wrap

Number = (bool, int, float)

# torch.dtype, and the name that TorchScript has for it.
_SCALARS = {
    torch.float32: "Float", torch.float64: "Double", torch.float16: "Half",
    torch.bfloat16: "BFloat16", torch.int64: "Long", torch.int32: "Int", torch.int16: "Short",
    torch.int8: "Char", torch.uint8: "Byte", torch.bool: "Bool",
    torch.complex64: "ComplexFloat", torch.complex128: "ComplexDouble",
}


def torch_dtype(code: int) -> torch.dtype | None:
    """PyTorch's dtype for one of the library; None: it has none."""
    return getattr(torch, _dtypes.NAMES.get(code, ""), None)


def tensor_of(pointer: int) -> torch.Tensor:
    """A constant of the graph, copied."""
    from .._tensor import Tensor
    found = Tensor.borrow(pointer)
    if found.size == 0:
        return torch.empty(found.shape, dtype=torch_dtype(found.code))
    array = found.numpy()
    if found.code == _abi.CQ_DTYPE_BF16:
        return torch.from_numpy(array.view("int16").copy()).view(torch.bfloat16)
    return torch.from_numpy(array.copy())


class Type:
    """The type of a value: a tensor's, with the sizes that are known, or a plain one."""

    def __init__(self, dtype: torch.dtype | None, sizes: Sequence[int | None] | None,
                 kind: str = "TensorType") -> None:
        self._dtype, self._sizes, self._kind = dtype, sizes, kind

    def kind(self) -> str:
        return self._kind

    def dtype(self) -> torch.dtype | None:
        return self._dtype

    def scalarType(self) -> str | None:
        return _SCALARS.get(self._dtype) if self._dtype else None

    def dim(self) -> int | None:
        return None if self._sizes is None else len(self._sizes)

    def sizes(self) -> list[int] | None:
        """All sizes; None if any is open."""
        if self._sizes is None or None in self._sizes:
            return None
        return [size for size in self._sizes if size is not None]

    def varyingSizes(self) -> list[int | None] | None:
        return None if self._sizes is None else list(self._sizes)

    symbolic_sizes = varyingSizes

    def strides(self) -> list[int] | None:
        sizes = self.sizes()
        if sizes is None:
            return None
        return list(torch.empty((), device="cpu").expand(sizes).contiguous().stride()) \
            if len(sizes) < 2 else [int(torch.Size(sizes[i + 1:]).numel()) for i in range(len(sizes))]

    def undefined(self) -> bool:
        return self._dtype is None and self._sizes is None

    def isCompleteTensor(self) -> bool:
        return self._dtype is not None and self.sizes() is not None

    def with_sizes(self, sizes: Sequence[int | None] | None) -> Type:
        return Type(self._dtype, sizes, self._kind)

    def with_dtype(self, dtype: torch.dtype) -> Type:
        return Type(dtype, self._sizes, self._kind)

    def isSubtypeOf(self, other: Any) -> bool:
        return bool(self._kind == (other.kind() if hasattr(other, "kind") else ""))

    def getElementType(self) -> Type:
        return Type(self._dtype, None)

    @property
    def annotation_str(self) -> str:
        return self._kind.replace("Type", "")

    def __str__(self) -> str:
        return f"{self.scalarType() or 'Tensor'}{tuple(self._sizes) if self._sizes else ''}"


class Node:
    """The node that gives a value."""

    def __init__(self, value: Value) -> None:
        self._value = value

    def kind(self) -> str:
        return self._value.kind()

    def mustBeNone(self) -> bool:
        return self._value.is_constant and self._value.constant is None

    def inputs(self) -> list[Value]:
        return self._value.node_inputs()

    def inputsSize(self) -> int:
        return len(self.inputs())

    def input(self) -> Value:
        only, = self.inputs()
        return only

    def output(self) -> Value:
        return self._value

    def outputs(self) -> list[Value]:
        return [self._value]

    def outputsSize(self) -> int:
        return 1

    def scopeName(self) -> str:
        return ""

    # Constants: node.t("value"), node["value"], node.i("value") …

    def hasAttribute(self, name: str) -> bool:
        return name == "value" and self._value.known() is not None

    def attributeNames(self) -> list[str]:
        return ["value"] if self.hasAttribute("value") else []

    def kindOf(self, name: str) -> str:
        known = self._value.known()
        return {int: "i", bool: "i", float: "f", str: "s"}.get(type(known), "t")

    def __getitem__(self, name: str) -> Any:
        known = self._value.known()
        if name != "value" or known is None:
            raise KeyError(name)
        return known

    def t(self, name: str) -> torch.Tensor:
        known = self[name]
        return known if isinstance(known, torch.Tensor) else torch.tensor(known)

    def _plain(self, name: str) -> Any:
        known = self[name]
        return known.tolist() if isinstance(known, torch.Tensor) else known

    i = f = s = ival = fval = sval = _plain
    is_ = fs = _plain


class Value:
    """A value of the graph; or a constant that no node was made for yet, such as an argument that
    is a number."""

    def __init__(self, graph: GraphContext, pointer: int | None = None,
                 constant: Any = None) -> None:
        self._graph, self._pointer, self.constant = graph, pointer, constant
        self._type: Type | None = None

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """For those who ask whether it is one: isinstance(x, torch._C.Value)."""
        return torch._C.Value

    @property
    def is_constant(self) -> bool:
        return self._pointer is None

    def pointer(self) -> int | None:
        """The cq_value; of a constant, a node is made. None is an input that is left out."""
        if self._pointer is None and self.constant is not None:
            self._pointer = self._graph.constant_pointer(self.constant)
        return self._pointer

    def known(self) -> Any:
        """Its constant value: a number, a text, a tensor, a list; None if it is not constant."""
        if self._pointer is None:
            return self.constant
        data = lib.cq_sym_data(self._pointer)
        return tensor_of(data) if data else None

    def kind(self) -> str:
        if self._pointer is None:
            return "prim::ListConstruct" if isinstance(self.constant, list) else \
                "prim::Constant" if self.constant is None else "onnx::Constant"
        if lib.cq_sym_data(self._pointer):
            return "onnx::Constant"
        return text(lib.cq_value_op(self._pointer)) or "prim::Param"

    def node(self) -> Node:
        return Node(self)

    def node_inputs(self) -> list[Value]:
        if self._pointer is None:
            items = self.constant if isinstance(self.constant, list) else []
            return [self._graph.value_of(item) for item in items]
        found = (lib.cq_value_input(self._pointer, i)
                 for i in range(lib.cq_value_n_inputs(self._pointer)))
        return [Value(self._graph, pointer) for pointer in found]

    def type(self) -> Type:
        if self._type is not None:
            return self._type
        if self._pointer is None:
            return _type_of_constant(self.constant)
        rank = lib.cq_value_rank(self._pointer)
        dtype = torch_dtype(lib.cq_value_dtype(self._pointer))
        return Type(dtype, None if rank < 0 else [self._graph.size(self._pointer, i)
                                                   for i in range(rank)])

    def setType(self, given: Any) -> Value:
        """Says what it is; returns it."""
        self._type = given if isinstance(given, Type) else None
        sizes = given.sizes() if hasattr(given, "sizes") else None
        dtype = given.dtype() if hasattr(given, "dtype") else None
        code = _dtypes.CODES.get(str(dtype).rpartition(".")[2])
        if code and sizes is not None and self._pointer:
            c_sizes = (_abi.cq_int * len(sizes))(*(_abi.cq_int(size, None) for size in sizes))
            lib.cq_sym_set_type(self._graph.pointer, self._pointer, code, len(sizes), c_sizes)
        return self

    def sizes(self) -> list[int] | None:
        return self.type().sizes()

    def isCompleteTensor(self) -> bool:
        return self.type().isCompleteTensor()

    def requires_grad(self) -> bool:
        return False

    requiresGrad = requires_grad

    def debugName(self) -> str:
        return f"v{self._pointer or id(self)}"

    def __repr__(self) -> str:
        return f"{self.type()} of {self.kind()}"


def _type_of_constant(constant: Any) -> Type:
    if constant is None:
        return Type(None, None, "NoneType")
    if isinstance(constant, torch.Tensor):
        return Type(constant.dtype, list(constant.shape))
    if isinstance(constant, list):
        return Type(None, None, "ListType")
    kinds = {bool: (torch.bool, "BoolType"), int: (torch.int64, "IntType"),
             float: (torch.float64, "FloatType"), str: (None, "StringType")}
    dtype, kind = kinds.get(type(constant), (None, "AnyType"))
    return Type(dtype, None, kind)


_ATTRIBUTE = re.compile(r"^(.+)_(([ifstgz])|(ty))$")


class _Attributes:
    """cq_sym_attrs for keywords such as alpha_f=1.0; keeps what they point to."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.items = (_abi.cq_sym_attr * len(given))()
        self._kept: list[Any] = []
        for to, key in zip(self.items, sorted(given)):
            match = _ATTRIBUTE.match(key)
            if not match:
                raise ValueError(f"Invalid attribute specifier '{key}' names must be suffixed with "
                                 "type, e.g. 'dim_i' or 'dims_i'")
            to.name = self._keep(encoded(match[1]))
            self._set(to, match[2], given[key])

    def _keep(self, value: Any) -> Any:
        self._kept.append(value)
        return value

    def _set(self, to: Any, kind: str, value: Any) -> None:
        if isinstance(value, Value):
            known = value.known()
            if known is None:
                raise ValueError(f"the attribute {text(to.name)!r} is a value of the graph; "
                                 "an attribute is a constant")
            value = known
        if kind in ("t", "z"):
            self._set_tensors(to, value)
            return
        if kind not in ("i", "f", "s"):
            raise ValueError("an attribute that is a type cannot be given by g.op")
        if isinstance(value, torch.Tensor):
            value = value.tolist()
        many = isinstance(value, Iterable) and not isinstance(value, (str, bytes))
        one: dict[str, tuple[int, Any, Any, str]] = {
               "i": (_abi.CQ_SYM_ATTR_INT, int, ctypes.c_int64, "ints"),
               "f": (_abi.CQ_SYM_ATTR_FLOAT, float, ctypes.c_double, "floats"),
               "s": (_abi.CQ_SYM_ATTR_STRING, encoded, ctypes.c_char_p, "strings")}
        code, convert, c_type, field = one[kind]
        if not many:
            to.kind = code
            setattr(to, kind, self._keep(convert(value)))
            return
        converted = [self._keep(convert(item)) for item in value]
        to.kind = code + _abi.CQ_SYM_ATTR_INTS
        to.n = len(converted)
        setattr(to, field, self._keep((c_type * len(converted))(*converted)))

    def _set_tensors(self, to: Any, value: Any) -> None:
        if isinstance(value, (list, tuple)) and value and isinstance(value[0], torch.Tensor):
            wrapped = [self._keep(wrap(item)) for item in value]
            to.kind, to.n = _abi.CQ_SYM_ATTR_TENSORS, len(wrapped)
            to.tensors = self._keep(handles([item.pointer for item in wrapped]))
            return
        tensor = self._keep(wrap(value if isinstance(value, torch.Tensor) else torch.tensor(value)))
        to.kind, to.t = _abi.CQ_SYM_ATTR_TENSOR, tensor.pointer


def _attributes_of(node: Any) -> dict[str, Any]:
    """Those of a torch._C.Node, as g.op takes them: a list has the kind of its items."""
    return {f"{name}_{node.kindOf(name)[0]}": getattr(node, node.kindOf(name))(name)
            for name in node.attributeNames()}


class GraphContext:
    """`g` of a symbolic function.

        def leaky(g, x):
            return g.op("LeakyRelu", x, alpha_f=0.1)
    """

    def __init__(self, pointer: int) -> None:
        self.pointer = pointer
        self.opset = int(lib.cq_sym_opset(pointer))
        self.graph = self.block = self
        self.params_dict: dict[str, Any] = {}
        self.env: dict[Any, Any] = {}

    def op(self, opname: str, *raw_args: Any, outputs: int = 1, **kwargs: Any) -> Any:
        """A node. opname is an operator of ONNX, or "domain::Name"; attributes are keywords that end
        in their kind, alpha_f, axes_i, mode_s, value_t. Returns its value, or a tuple of them."""
        domain, _, name = opname.rpartition("::")
        if domain == "prim":
            return self._prim(name, raw_args, kwargs)
        domain = {"": "", "onnx": "", "aten": "org.pytorch.aten"}.get(domain, domain)
        return self.emit(f"{domain}::{name}" if domain else name, raw_args, kwargs, outputs)

    def emit(self, name: str, args: Sequence[Any], kwargs: dict[str, Any], outputs: int) -> Any:
        inputs = [self.value_of(item).pointer() for item in args]
        graphs = {key: kwargs.pop(key) for key in sorted(kwargs) if key.endswith("_g")}
        attributes = _Attributes(kwargs)
        results = (ctypes.c_void_p * outputs)()
        lib.cq_sym_emit(self.pointer, encoded(name), len(inputs),
                        (ctypes.c_void_p * len(inputs))(*inputs), len(attributes.items),
                        attributes.items, outputs, results)
        self.check()
        values = tuple(Value(self, pointer) for pointer in results)
        for key, graph in graphs.items():
            many = isinstance(graph, (list, tuple))
            for one in graph if many else [graph]:
                self._add_graph(values[0], key[:-2] + ("[]" if many else ""), one)
        return values[0] if outputs == 1 else values

    def _add_graph(self, value: Value, name: str, graph: Any) -> None:
        """A torch._C.Graph of operators of ONNX, as an attribute of the node that gives value."""
        lib.cq_sym_graph_begin(self.pointer, value.pointer(), encoded(name))
        inside: dict[str, Value] = {}
        for parameter in graph.inputs():
            kind = parameter.type()
            code = _dtypes.CODES.get(str(kind.dtype()).rpartition(".")[2], 0)
            rank = kind.dim() if kind.dim() is not None else -1
            inside[parameter.debugName()] = Value(self, lib.cq_sym_graph_input(self.pointer, code,
                                                                               rank))
        for node in graph.nodes():
            made = self.op(node.kind(), *(inside[item.debugName()] for item in node.inputs()),
                           outputs=node.outputsSize(), **_attributes_of(node))
            made = made if isinstance(made, tuple) else (made,)
            inside.update(zip((item.debugName() for item in node.outputs()), made))
        outputs = [inside[item.debugName()].pointer() for item in graph.outputs()]
        lib.cq_sym_graph_end(self.pointer, len(outputs), (ctypes.c_void_p * len(outputs))(*outputs))
        self.check()

    def _prim(self, name: str, args: Sequence[Any], attributes: dict[str, Any]) -> Value:
        if name == "ListConstruct":
            return Value(self, constant=list(args))
        if name == "Constant":
            return Value(self, constant=next(iter(attributes.values()), None))
        raise ValueError(f"prim::{name} is not an operator that a symbolic function can give")

    def aten_op(self, operator: str, *args: Any, overload_name: str = "", **kwargs: Any) -> Any:
        """An operator of ATen, for runtimes that support them."""
        return self.op("aten::ATen", *args, operator_s=operator, overload_name_s=overload_name,
                       **kwargs)

    at = aten_op

    def check(self) -> None:
        check(lib.cq_sym_status(self.pointer))

    # ---- values ----

    def value_of(self, item: Any) -> Value:
        return item if isinstance(item, Value) else Value(self, constant=item)

    def size(self, value: int, axis: int) -> int | None:
        found = lib.cq_sym_size(self.pointer, value, axis)
        return None if found.expr else int(found.value)

    def constant_pointer(self, constant: Any) -> int | None:
        """A node for a constant; of values, one that joins them."""
        if isinstance(constant, (list, tuple)) and any(isinstance(item, Value) for item in constant):
            parts = [self._as_vector(self.value_of(item)) for item in constant]
            joined: Value = self.op("Concat", *parts, axis_i=0)
            return joined.pointer()
        if isinstance(constant, float):
            constant = torch.tensor(constant, dtype=torch.float32)
        elif not isinstance(constant, torch.Tensor):
            constant = torch.tensor(constant)
        tensor = wrap(constant)
        pointer = lib.cq_sym_const(self.pointer, tensor.pointer)
        self.check()
        return int(pointer)

    def _as_vector(self, value: Value) -> Value:
        made: Value = self.op("Reshape", value, torch.tensor([-1]))
        return made

    # ---- arguments of the operator ----

    def arguments(self) -> list[Value]:
        names = [lib.cq_sym_arg_name(self.pointer, i)
                 for i in range(lib.cq_sym_n_args(self.pointer))]
        return [self._argument(name) for name in names]

    def _argument(self, name: bytes) -> Value:
        s, kind = self.pointer, lib.cq_sym_kind(self.pointer, name)
        if kind == _abi.CQ_SYM_ARG_TENSOR:
            return Value(self, lib.cq_sym_in(s, name))
        if kind == _abi.CQ_SYM_ARG_TENSORS:
            items = [lib.cq_sym_in_at(s, name, i) for i in range(lib.cq_sym_n_list(s, name))]
            return Value(self, constant=[Value(self, item) for item in items])
        return Value(self, constant=self._plain(name, kind))

    def _plain(self, name: bytes, kind: int) -> Any:
        s = self.pointer
        if kind == _abi.CQ_SYM_ARG_INT:
            return int(lib.cq_sym_i64(s, name))
        if kind == _abi.CQ_SYM_ARG_FLOAT:
            return float(lib.cq_sym_f64(s, name))
        if kind == _abi.CQ_SYM_ARG_BOOL:
            return bool(lib.cq_sym_bool(s, name))
        if kind == _abi.CQ_SYM_ARG_STRING:
            return text(lib.cq_sym_str(s, name, b""))
        if kind in (_abi.CQ_SYM_ARG_INTS, _abi.CQ_SYM_ARG_FLOATS, _abi.CQ_SYM_ARG_BOOLS):
            count = lib.cq_sym_n_list(s, name)
            if kind == _abi.CQ_SYM_ARG_FLOATS:
                floats = (ctypes.c_double * count)()
                lib.cq_sym_f64s(s, name, floats, count)
                return list(floats)
            ints = (ctypes.c_int64 * count)()
            lib.cq_sym_i64s(s, name, ints, count)
            return [bool(i) for i in ints] if kind == _abi.CQ_SYM_ARG_BOOLS else list(ints)
        return None


