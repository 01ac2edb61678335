"""What symbolic functions look at their arguments with: the names of torch.onnx.symbolic_helper that
programs use, those with an underscore too.

    @parse_args("v", "f")
    def leaky(g, x, slope):
        return g.op("LeakyRelu", x, alpha_f=slope)
"""
from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, NoReturn, Sequence

import torch

from . import _state
from ._graph import GraphContext, Type, Value
from .errors import OnnxExporterError, SymbolicValueError

_KINDS = {
    "v": "value", "i": "int", "is": "list of int", "f": "float", "fs": "list of float",
    "b": "bool", "s": "string", "t": "tensor", "none": "None",
}

# torch's dtypes by their numbers in TorchScript, their names, and their numbers in ONNX.
scalar_type_to_pytorch_type = [
    torch.uint8, torch.int8, torch.short, torch.int, torch.int64, torch.half, torch.float,
    torch.double, torch.complex32, torch.complex64, torch.complex128, torch.bool, torch.qint8,
    torch.quint8, torch.qint32, torch.bfloat16,
]
cast_pytorch_to_onnx = {
    "Byte": 2, "Char": 3, "Double": 11, "Float": 1, "Half": 10, "Int": 6, "Long": 7, "Short": 5,
    "Bool": 9, "ComplexFloat": 14, "ComplexDouble": 15, "BFloat16": 16, "Undefined": 0,
}
scalar_name_to_pytorch = {
    "uint8_t": "Byte", "int8_t": "Char", "double": "Double", "float": "Float", "half": "Half",
    "int": "Int", "int64_t": "Long", "int16_t": "Short", "bool": "Bool",
    "complex64": "ComplexFloat", "complex128": "ComplexDouble", "qint8": "QInt8",
    "quint8": "QUInt8", "qint32": "QInt32", "bfloat16": "BFloat16",
}
pytorch_name_to_type = {
    "Byte": torch.uint8, "Char": torch.int8, "Double": torch.double, "Float": torch.float,
    "Half": torch.half, "Int": torch.int, "Long": torch.int64, "Short": torch.short,
    "Bool": torch.bool, "ComplexFloat": torch.complex64, "ComplexDouble": torch.complex128,
    "BFloat16": torch.bfloat16,
}
scalar_type_to_onnx = [cast_pytorch_to_onnx[name] for name in (
    "Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double", "Undefined", "ComplexFloat",
    "ComplexDouble", "Bool", "Char", "Byte", "Int", "BFloat16")]


# ---- arguments that are known ----


def _parse_arg(value: Any, desc: str, arg_name: str | None = None,
               node_name: str | None = None) -> Any:
    if desc == "none":
        return value
    if desc == "v" or not isinstance(value, Value):
        return value
    known = _constant_of(value)
    if known is None:
        if value.node().mustBeNone():
            return None
        raise RuntimeError(
            f"Expected node type 'onnx::Constant' for argument '{arg_name}' of node "
            f"'{node_name}', got '{value.node().kind()}'.")
    return _as_kind(known, desc, value)


def _constant_of(value: Value) -> Any:
    known = value.known()
    if isinstance(known, list):
        items = [_constant_of(item) if isinstance(item, Value) else item for item in known]
        return None if any(item is None for item in items) else items
    return known


def _as_kind(known: Any, desc: str, value: Value) -> Any:
    if desc == "t":
        return known if isinstance(known, torch.Tensor) else torch.tensor(known)
    if desc == "s":
        return str(known)
    if isinstance(known, torch.Tensor):
        known = known.tolist()
    if isinstance(known, list) and desc in ("i", "f", "b") and len(known) == 1:
        known = known[0]
    if desc in ("is", "fs"):
        items = known if isinstance(known, list) else [known]
        convert = int if desc == "is" else float
        return [convert(item.item() if isinstance(item, torch.Tensor) else item) for item in items]
    if desc not in ("i", "f", "b"):
        raise RuntimeError(f"ONNX symbolic does not understand the Constant node '{value.node()}' "
                           f"specified with descriptor '{desc}'.")
    return {"i": int, "f": float, "b": bool}[desc](known)


def parse_args(*arg_descriptors: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Gives a symbolic function plain Python values for its arguments: "v" stays a value of the
    graph, "i" and "is" are ints, "f" and "fs" floats, "b" a bool, "s" a text, "t" a tensor, "none"
    is not inspected.

    >>> import torch, calque.onnx
    >>> @calque.onnx.symbolic_helper.parse_args("v", "f", "b")
    ... def leaky(g, x, slope, inplace=False):
    ...     return g.op("com.example::Leaky", x, slope_f=slope)
    >>> calque.onnx.register_custom_op_symbolic("aten::leaky_relu", leaky, 9)
    >>> made = calque.onnx.export(torch.nn.LeakyReLU(0.5), torch.ones(2))
    >>> calque.onnx.unregister_custom_op_symbolic("aten::leaky_relu", 9)
    >>> made.graph.nodes[0].attributes
    {'slope': 0.5}
    """
    for desc in arg_descriptors:
        if desc not in _KINDS:
            raise ValueError(f"unknown descriptor {desc!r}")

    def decorator(fn: Callable[..., Any]) -> Callable[..., Any]:
        names = [name for name in inspect.signature(fn).parameters][1:]

        @functools.wraps(fn)
        def wrapper(g: GraphContext, *args: Any, **kwargs: Any) -> Any:
            if len(args) > len(arg_descriptors):
                raise AssertionError("A mismatch between the number of arguments "
                                     f"({len(args)}) and their descriptors ({len(arg_descriptors)}) "
                                     f"was found at symbolic function '{fn.__name__}'.")
            known = [_parse_arg(arg, desc, name, fn.__name__)
                     for arg, desc, name in zip(args, arg_descriptors, names + [""] * len(args))]
            return fn(g, *known, **kwargs)

        wrapper._arg_descriptors = arg_descriptors  # type: ignore[attr-defined]
        return wrapper

    return decorator


def quantized_args(*arg_q_descriptors: bool, **_: Any) -> Callable[[Callable[..., Any]],
                                                                   Callable[..., Any]]:
    """A decorator that leaves a function as it is: quantized tensors are floats on a grid here, and
    a symbolic function is given the floats."""
    return lambda fn: fn


def _get_const(value: Any, desc: str, arg_name: str) -> Any:
    if not _is_constant(value):
        raise RuntimeError(f"ONNX symbolic expected a constant value of the {arg_name} argument, "
                           f"got `{value}`")
    return _parse_arg(value, desc, arg_name)


def _maybe_get_const(value: Any, desc: str) -> Any:
    if isinstance(value, Value) and _constant_of(value) is not None:
        return _parse_arg(value, desc)
    return value


def _maybe_get_scalar(value: Any) -> Any:
    known = _maybe_get_const(value, "t")
    return known if isinstance(known, torch.Tensor) and known.shape == () else value


def _node_get(node: Any, key: str) -> Any:
    return node[key]


# ---- what a value is ----


def _is_value(x: Any) -> bool:
    return isinstance(x, Value)


def _is_constant(value: Any) -> bool:
    return not _is_value(value) or value.node().mustBeNone() or _constant_of(value) is not None


def _is_none(x: Any) -> bool:
    return x is None or (_is_value(x) and bool(x.node().mustBeNone()))


def _is_tensor(x: Any) -> bool:
    return _is_value(x) and x.type().kind() == "TensorType"


def _is_list(x: Any) -> bool:
    return _is_value(x) and x.type().kind() == "ListType"


def _is_packed_list(x: Any) -> bool:
    return _is_value(x) and x.node().kind() == "prim::ListConstruct"


def _is_tensor_list(x: Any) -> bool:
    return _is_packed_list(x) and all(_is_tensor(item) for item in x.node().inputs())


def _is_scalar_list(x: Any) -> bool:
    return _is_packed_list(x) and not _is_tensor_list(x)


def _is_fp(value: Any) -> bool:
    dtype = value.dtype if isinstance(value, torch.Tensor) else value.type().dtype()
    return dtype is not None and bool(dtype.is_floating_point)


def _is_bool(value: Any) -> bool:
    return _try_get_scalar_type(value) == "Bool"


def _unpack_list(value: Value) -> list[Value]:
    return list(value.node().inputs())


_unpack_tuple = _unpack_list


def _type(x: Any) -> Type:
    kind: Type = x.type()
    return kind


def _get_tensor_rank(x: Any) -> int | None:
    return _type(x).dim() if _is_tensor(x) else None


def _get_tensor_sizes(x: Any, allow_nonstatic: bool = True) -> list[int | None] | None:
    if not _is_tensor(x):
        return None
    return _type(x).varyingSizes() if allow_nonstatic else list(_type(x).sizes() or []) or None


def _get_tensor_dim_size(x: Any, dim: int) -> int | None:
    sizes = _get_tensor_sizes(x)
    return sizes[dim] if sizes else None


def _try_get_scalar_type(*args: Any) -> str | None:
    for arg in args:
        found = arg.type().scalarType() if _is_value(arg) else None
        if found:
            return str(found)
    return None


def _scalar(x: Any) -> Any:
    """The number that a tensor of one element holds."""
    if isinstance(x, torch.Tensor):
        assert x.numel() == 1
        return x.item()
    known = _maybe_get_const(x, "t")
    return known.item() if isinstance(known, torch.Tensor) and known.numel() == 1 else None


# ---- nodes ----


def _if_scalar_type_as(scalar: Any, tensor: Value) -> Any:
    if isinstance(scalar, Value):
        return scalar
    dtype = tensor.type().dtype()
    return torch.tensor(scalar, dtype=dtype) if dtype else scalar


def _unsqueeze_helper(g: GraphContext, x: Any, axes_i: Sequence[int]) -> Value:
    made: Value = g.op("Unsqueeze", x, torch.tensor(list(axes_i))) if g.opset >= 13 \
        else g.op("Unsqueeze", x, axes_i=list(axes_i))
    return made


def _squeeze_helper(g: GraphContext, x: Any, axes_i: Sequence[int]) -> Value:
    made: Value = g.op("Squeeze", x, torch.tensor(list(axes_i))) if g.opset >= 13 \
        else g.op("Squeeze", x, axes_i=list(axes_i))
    return made


def _reducesum_helper(g: GraphContext, x: Any, axes_i: Sequence[int] | None = None,
                      keepdims_i: int = 1, noop_with_empty_axes_i: int = 0) -> Value:
    if g.opset >= 13:
        axes = [] if axes_i is None else [torch.tensor(list(axes_i))]
        made: Value = g.op("ReduceSum", x, *axes, keepdims_i=keepdims_i,
                           noop_with_empty_axes_i=noop_with_empty_axes_i)
        return made
    given: dict[str, Any] = {} if axes_i is None else {"axes_i": list(axes_i)}
    made = g.op("ReduceSum", x, keepdims_i=keepdims_i, **given)
    return made


def _reshape_helper(g: GraphContext, x: Any, shape: Any, allowzero: int = 0) -> Value:
    shape = torch.tensor(list(shape)) if isinstance(shape, (list, tuple)) else shape
    given = {"allowzero_i": allowzero} if allowzero and g.opset >= 14 else {}
    made: Value = g.op("Reshape", x, shape, **given)
    return made


def _ints(values: Any) -> Any:
    """Integers, which may be one tensor of the graph, as that."""
    return torch.tensor(list(values)) if isinstance(values, (list, tuple)) else values


def _slice_helper(g: GraphContext, input: Any, axes: Any, starts: Any, ends: Any, steps: Any = None,
                  dynamic_slice: bool = False) -> Value:
    made: Value = g.op("Slice", input, axes_i=list(axes), starts_i=list(starts), ends_i=list(ends)) \
        if g.opset < 10 else g.op("Slice", input, _ints(starts), _ints(ends), _ints(axes),
                                  *([] if steps is None else [_ints(steps)]))
    return made


def _select_helper(g: GraphContext, self: Any, dim: int, index: Any,
                   apply_reshape: bool = True) -> Value:
    """The elements at an index, which stays an axis unless it is a 0-d tensor that may not be one."""
    known = _maybe_get_scalar(index)
    if not _is_value(known):
        index = torch.tensor([int(known)])
    elif apply_reshape and _get_tensor_rank(index) == 0:
        index = _reshape_helper(g, index, [1])
    if _is_value(index) and _try_get_scalar_type(index) not in ("Long", "Int"):
        index = g.op("Cast", index, to_i=cast_pytorch_to_onnx["Long"])
    made: Value = g.op("Gather", self, index, axis_i=dim)
    return made


def _size_helper(g: GraphContext, self: Any, dim: Any) -> Value:
    known = _maybe_get_scalar(dim)
    made: Value = g.op("Gather", g.op("Shape", self),
                       dim if _is_value(known) else torch.tensor(int(known)), axis_i=0)
    return made


def _topk_helper(g: GraphContext, input: Any, k: Any, dim: int, largest: bool = True,
                 sorted: bool = False, out: Any = None) -> tuple[Value, ...]:
    known = _maybe_get_scalar(k)
    if not _is_value(known):
        k = torch.tensor([int(known)])
    else:
        k = g.op("Cast", _reshape_helper(g, k, [1]), to_i=cast_pytorch_to_onnx["Long"])
    if g.opset < 11 and not largest:
        _unimplemented("TopK", "Ascending is not supported")
    given = {"largest_i": int(largest), "sorted_i": int(sorted)} if g.opset >= 11 else {}
    made: tuple[Value, ...] = g.op("TopK", input, k, axis_i=dim, outputs=2, **given)
    return made


def _sort_helper(g: GraphContext, input: Any, dim: int, decending: bool = True,
                 out: Any = None) -> tuple[Value, ...]:
    size = g.op("Gather", g.op("Shape", input), torch.tensor([dim]), axis_i=0)
    return _topk_helper(g, input, size, dim, decending, True)


def _argmin_argmax_helper(g: GraphContext, input: Any, dim: Any, keepdim: bool,
                          op_name: str) -> Value:
    known = _maybe_get_const(dim, "i")
    if known is None or _is_none(dim):
        input, known, keepdim = _reshape_helper(g, input, [-1]), 0, False
    made: Value = g.op(op_name, input, axis_i=known, keepdims_i=int(keepdim))
    return made


def _flatten_helper(g: GraphContext, input: Any, start_dim: int, end_dim: int, dim: int) -> Value:
    shape, parts = g.op("Shape", input), [torch.tensor([-1])]
    if start_dim > 0:
        parts.insert(0, _slice_helper(g, shape, [0], [0], [start_dim]))
    if end_dim < dim - 1:
        parts.append(_slice_helper(g, shape, [0], [end_dim + 1], [dim]))
    return _reshape_helper(g, input, g.op("Concat", *parts, axis_i=0) if len(parts) > 1 else parts[0])


def _generate_wrapped_number(g: GraphContext, scalar: Any) -> Any:
    return scalar if _is_value(scalar) else g.op("Constant", value_t=torch.tensor(scalar))


# ---- questions about several values ----


def args_have_same_dtype(args: Sequence[Any]) -> bool:
    return len({_try_get_scalar_type(arg) for arg in args}) < 2


def _is_split_static(split_size_or_sizes: Any, _outputs: Any) -> bool:
    if _outputs is None:
        return False
    known = _maybe_get_const(split_size_or_sizes, "is")
    return not (_is_value(known) or (isinstance(known, list) and any(map(_is_value, known))))


def is_caffe2_aten_fallback() -> bool:
    return False


# ---- what cannot be done ----


def _unimplemented(op: str, msg: str, value: Any = None) -> None:
    """An operator that cannot be exported: the reason is reported with all others."""
    _state.note_reason(f"{op}, {msg}")


def _unsupported(message: str, value: Any) -> NoReturn:
    if isinstance(value, Value):
        raise SymbolicValueError(message, value)
    raise OnnxExporterError(message)


def _onnx_unsupported(op_name: str, value: Any = None) -> NoReturn:
    _unsupported(f"Unsupported: ONNX export of operator {op_name}.", value)


def _onnx_opset_unsupported(op_name: str, current_opset: int, supported_opset: int,
                            value: Any = None) -> NoReturn:
    _unsupported(f"Unsupported: ONNX export of {op_name} in opset {current_opset}. "
                 f"Please try opset version {supported_opset}.", value)


def _onnx_opset_unsupported_detailed(op_name: str, current_opset: int, supported_opset: int,
                                     reason: str, value: Any = None) -> NoReturn:
    _unsupported(f"Unsupported: ONNX export of {op_name} in opset {current_opset}. {reason}. "
                 f"Please try opset version {supported_opset}.", value)


def _block_list_in_opset(name: str) -> Callable[..., NoReturn]:
    def symbolic_fn(*args: Any, **kwargs: Any) -> NoReturn:
        raise OnnxExporterError(f"ONNX export failed on {name}, which is not implemented for this opset. "
                                "Try exporting with other opset versions.")
    return symbolic_fn
