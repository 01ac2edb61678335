"""The graph that a symbolic function builds: `g` and its values. They have the methods of PyTorch's
classes, on nodes of the exporter (src/py/symbolic.c)."""
import torch
from calque import host


class Type:
    """The type of a value: dtype and sizes."""

    def __init__(self, dtype, sizes, kind="TensorType"):
        self._dtype = dtype
        self._sizes = sizes
        self._kind = kind

    def kind(self):
        return self._kind

    def dtype(self):
        return self._dtype

    def scalarType(self):
        names = {torch.float32: "Float", torch.float64: "Double", torch.float16: "Half",
                 torch.bfloat16: "BFloat16", torch.int64: "Long", torch.int32: "Int",
                 torch.int16: "Short", torch.int8: "Char", torch.uint8: "Byte",
                 torch.bool: "Bool"}
        return names.get(self._dtype)

    def dim(self):
        return None if self._sizes is None else len(self._sizes)

    def sizes(self):
        return self._sizes

    def varyingSizes(self):
        return self._sizes

    def with_sizes(self, sizes):
        return Type(self._dtype, sizes)

    def with_dtype(self, dtype):
        return Type(dtype, self._sizes)

    def isCompleteTensor(self):
        return self._sizes is not None and None not in self._sizes


class Node:
    """The node that gives a value."""

    def __init__(self, value):
        self._value = value

    def kind(self):
        return self._value.kind()

    def inputs(self):
        return self._value.node_inputs()

    def inputsAt(self, i):
        return self._value.node_inputs()[i]

    def output(self):
        return self._value

    def hasAttribute(self, name):
        return name == "value" and self._value.known() is not None

    def t(self, name):
        known = self._value.known()
        return known if isinstance(known, torch.Tensor) else torch.tensor(known)

    def mustBeNone(self):
        return self._value.handle is None and self._value.constant is None


class Value:
    """A value of the graph; or a constant that no node was made for yet."""

    def __init__(self, graph, handle=None, constant=None):
        self.graph = graph
        self.handle = handle
        self.constant = constant
        self._type = None

    def get(self):
        """The handle; of a constant, a node is made. None is an input that is left out."""
        if self.handle is None and self.constant is not None:
            self.handle = self.graph.constant(self.constant)
        return self.handle

    def _info(self):
        return host("sym_info", self.handle)

    def known(self):
        """The value of a constant: a number, a text, a tensor or a list. None for other values."""
        return self.constant if self.handle is None else self._info()[3]

    def kind(self):
        if self.handle is None:
            if isinstance(self.constant, list):
                return "prim::ListConstruct"
            return "prim::Constant" if self.constant is None else "onnx::Constant"
        info = self._info()
        return "onnx::Constant" if info[3] is not None else info[0] or "prim::Param"

    def node(self):
        return Node(self)

    def node_inputs(self):
        if self.handle is None:
            items = self.constant if isinstance(self.constant, list) else []
            return [self.graph.value_of(item) for item in items]
        return [Value(self.graph, item) for item in self._info()[4]]

    def type(self):
        if self._type is not None:
            return self._type
        if self.handle is not None:
            info = self._info()
            return Type(info[1], info[2])
        constant = self.constant
        if constant is None:
            return Type(None, None, "NoneType")
        if isinstance(constant, torch.Tensor):
            return Type(constant.dtype, list(constant.shape))
        if isinstance(constant, bool):
            return Type(torch.bool, None, "BoolType")
        if isinstance(constant, int):
            return Type(torch.int64, None, "IntType")
        if isinstance(constant, float):
            return Type(torch.float64, None, "FloatType")
        return Type(None, None, "StringType" if isinstance(constant, str) else "ListType")

    def setType(self, given):
        self._type = given
        if given.dtype() is not None and given.sizes() is not None and self.handle is not None:
            host("sym_set_type", self.handle, given.dtype(), given.sizes())
        return self

    def setTypeAs(self, other):
        return self.setType(other.type())

    def sizes(self):
        return self.type().sizes()

    def isCompleteTensor(self):
        return self.type().isCompleteTensor()

    def requires_grad(self):
        return False


_DOMAINS = {"": "", "onnx": "", "aten": "org.pytorch.aten"}


class GraphContext:
    """`g` of a symbolic function: g.op("LeakyRelu", x, alpha_f=0.1)."""

    def __init__(self):
        self.opset = host("sym_opset")
        self.graph = self
        self.block = self
        self.params_dict = {}
        self.env = {}

    def op(self, opname, *raw_args, outputs=1, **kwargs):
        """A node. Attributes are keywords that end in their kind: alpha_f, axes_i, mode_s, value_t.
        Returns its value, or a tuple of them."""
        domain = "::".join(opname.split("::")[:-1])
        name = opname.split("::")[-1]
        if domain == "prim":
            return self._prim(name, raw_args, kwargs)
        if name == "Constant" and list(kwargs) == ["value_t"]:
            return Value(self, self.constant(kwargs["value_t"]))
        domain = _DOMAINS.get(domain, domain)
        inputs = [self.value_of(item).get() for item in raw_args]
        attributes = [_attribute(key, kwargs[key]) for key in sorted(kwargs)]
        full = f"{domain}::{name}" if domain else name
        made = [Value(self, handle) for handle in host("sym_op", full, inputs, attributes, outputs)]
        return made[0] if outputs == 1 else tuple(made)

    def _prim(self, name, args, attributes):
        if name == "ListConstruct":
            return Value(self, None, list(args))
        if name == "Constant":
            values = list(attributes.values())
            return Value(self, None, values[0] if values else None)
        raise ValueError(f"prim::{name} is not an operator that a symbolic function can give")

    def aten_op(self, operator, *args, overload_name="", **kwargs):
        return self.op("aten::ATen", *args, operator_s=operator, overload_name_s=overload_name,
                       **kwargs)

    def at(self, operator, *args, overload_name="", **kwargs):
        return self.aten_op(operator, *args, overload_name=overload_name, **kwargs)

    def value_of(self, item):
        return item if isinstance(item, Value) else Value(self, None, item)

    def constant(self, constant):
        """A node for a constant; of values, one that joins them."""
        if isinstance(constant, (list, tuple)) and any(isinstance(i, Value) for i in constant):
            parts = [self.op("Reshape", self.value_of(i), torch.tensor([-1])) for i in constant]
            return self.op("Concat", *parts, axis_i=0).get()
        if not isinstance(constant, torch.Tensor):
            constant = torch.tensor(constant)
        return host("sym_constant", constant)

    def arguments(self):
        """The arguments of the operator that is exported."""
        made = []
        for is_value, given in host("sym_arguments"):
            if not is_value:
                made.append(Value(self, None, given))
            elif isinstance(given, list):
                made.append(Value(self, None, [Value(self, item) for item in given]))
            else:
                made.append(Value(self, given))
        return made


def _attribute(key, value):
    kind = key.split("_")[-1]
    name = key[:-len(kind) - 1]
    if not name or kind not in ("i", "f", "s", "t"):
        raise ValueError(f"Invalid attribute specifier '{key}' names must be suffixed with type, "
                         "e.g. 'dim_i' or 'dims_i'")
    if isinstance(value, Value):
        value = value.known()
        if value is None:
            raise ValueError(f"the attribute '{name}' is a value of the graph; "
                             "an attribute is a constant")
    if kind == "t":
        return name, kind, value if isinstance(value, torch.Tensor) else torch.tensor(value)
    if isinstance(value, torch.Tensor):
        value = value.tolist()
    return name, kind, list(value) if isinstance(value, (list, tuple)) else value


def finish(g, made):
    """The handles of the values that a symbolic function returned. None: it declined."""
    if made is None:
        return None
    values = list(made) if isinstance(made, (list, tuple)) else [made]
    if len(values) == 1 and isinstance(values[0], Value) and isinstance(values[0].constant, list):
        values = values[0].constant
    return [g.value_of(value).get() for value in values]


def build(symbolic_fn):
    """Runs a symbolic function for the operator that is exported."""
    g = GraphContext()
    return finish(g, symbolic_fn(g, *g.arguments()))
