"""Whether an export computes what its source does: both run on the same inputs, side by side. The
source runs operator by operator, the export in a session; tolerances are those of `calque export
--verify` (cli/judge.c)."""
from __future__ import annotations

import ctypes
import warnings
from ctypes import byref
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Mapping, Protocol, Sequence

import numpy as np

from . import _abi
from ._call import check, caller
from ._errors import CalqueWarning, Error, VerificationError
from ._lib import lib, text
from ._model import Model
from ._programs import run_options
from ._session import Session
from ._tensor import Tensor, TensorHandle

RTOL = 1e-3
FLOOR = 2e-5  # of the largest number
ATOL = 1e-7
FEW, FEW_LARGEST = 1e-4, 1e-3  # the share of elements beyond that, by no more than this
STEP_SHARE, STEP = 0.25, 0.02  # the share that may be a step of 8 bits off; a step where none is known
HALF = {"float16": 2.0 ** -9, "bfloat16": 2.0 ** -6}


class Source(Protocol):
    """The source of an export, with its example."""

    def examples(self, grow: Callable[[int, Any], Any]) -> Iterator[tuple[Any, list[Tensor]]]: ...

    def run(self, args: Any, options: Any) -> list[Tensor]: ...


@dataclass(frozen=True)
class Verified:
    """An output of an export that was compared with its source."""

    output: str  #: its name
    shape: tuple[int, ...]  #: in this run
    largest_difference: float  #: of all elements; NaN if only the shape was compared
    compared: str = "values"  #: "values", or "shape": the values are random


# ---- one output ----


def _numbers(array: np.ndarray[Any, Any], dtype: str) -> np.ndarray[Any, Any]:
    if dtype == "bfloat16" and array.dtype.kind == "u":  # bits, without ml_dtypes
        array = (array.astype("uint32") << 16).view("float32")
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag])
    numbers: np.ndarray[Any, Any] = array.astype("float64")
    return numbers


def compare(got: Any, expected: Any, dtype: str, is_quantized: bool = False) -> tuple[float, str]:
    """The largest difference, and how the outputs differ; "": they agree."""
    a, b = _numbers(np.asarray(got), dtype), _numbers(np.asarray(expected), dtype)
    if a.size == 0:
        return 0.0, ""
    with np.errstate(all="ignore"):
        off = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
        off = np.where(np.isnan(off), np.inf, off)
        finite = np.abs(b[np.isfinite(b)])
        scale = float(finite.max()) if finite.size else 0.0
        half = HALF.get(dtype, 0.0)
        is_float = dtype in ("float16", "bfloat16", "float32", "float64") or "complex" in dtype
        limit = np.abs(b) * max(half, RTOL) + max(ATOL, max(FLOOR, half / 4) * scale) if is_float else 0.0
        beyond = off[~(off <= limit)]
    largest, count = float(off.max()), int(beyond.size)
    if count == 0:
        return largest, ""
    worst = float(beyond.max())
    few = max(FEW * off.size, 1 if off.size >= 100 else 0)
    if is_float and worst <= FEW_LARGEST * scale and count <= few:
        return largest, ""
    step = 1.0 if dtype in ("int8", "uint8") else \
        max(1.01 * _step(b), STEP * scale) if is_float and is_quantized else 0.0
    if step and worst <= step and count <= max(STEP_SHARE * off.size, 1 if off.size >= 100 else 0):
        return largest, ""
    return largest, (f"{count} of {off.size} elements differ from the source (the largest difference is "
                     f"{largest:.2g}, the largest number {scale:.2g})")


def _step(b: np.ndarray[Any, Any]) -> float:
    """The smallest distance between neighbours that is not 0: at least a step of quantized numbers."""
    distances = np.abs(np.diff(b.ravel()))
    distances = distances[np.isfinite(distances) & (distances > 0)]
    return float(distances.min()) if distances.size else 0.0


# ---- all of them ----


def compare_all(model: Model, got: Sequence[Any], expected: Sequence[Tensor]) -> list[Verified]:
    """The compared outputs; raises a VerificationError if one differs."""
    names = [value.name for value in model.outputs]
    flat = _flat(got)
    if len(flat) != len(expected):
        raise VerificationError(f"the export has {len(flat)} outputs, its source {len(expected)}")
    is_quantized = any(lib.cq_onnx_model_has_node(model.pointer, kind)
                       for kind in (b"QuantizeLinear", b"DynamicQuantizeLinear"))
    random = text(lib.cq_onnx_model_random_node(model.pointer))
    rows = []
    for i, (mine, theirs) in enumerate(zip(flat, expected)):
        name = names[i] if len(names) == len(flat) else f"output_{i}"
        array, source = np.asarray(mine), theirs.numpy()
        if array.shape != source.shape or array.dtype != source.dtype:
            raise VerificationError(f"output {name} of the export is {array.dtype}{list(array.shape)}, of "
                                    f"its source {source.dtype}{list(source.shape)}")
        largest, difference = compare(array, source, text(lib.cq_dtype_name(theirs.code)), is_quantized)
        if difference and not random:
            raise VerificationError(f"output {name} of the export: {difference}")
        if difference:
            _warn(f"output {name} depends on random numbers ({random}): only its shape was compared")
        rows.append(Verified(name, array.shape, float("nan") if difference else largest,
                             "shape" if difference else "values"))
    return rows


def _flat(values: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if isinstance(value, list):
            found += _flat(value)
        elif value is not None:
            found.append(value)
    return found


def _warn(message: str) -> None:
    warnings.warn(message, CalqueWarning, stacklevel=caller())


def _states(model: Model) -> list[Tensor]:
    """The initial state of a model."""
    found, name = [], ctypes.c_char_p()
    for i in range(lib.cq_onnx_model_n_states(model.pointer)):
        handle = TensorHandle()
        check(lib.cq_onnx_model_state(byref(handle), byref(name), byref(name), model.pointer, i))
        found.append(Tensor._of(handle))
    return found


def _in_pairs(tensors: Sequence[Tensor], flags: int) -> list[Tensor]:
    """Complex numbers as the export has them."""
    if not flags & _abi.CQ_EXPORT_COMPLEX_AS_PAIRS:
        return list(tensors)
    made = []
    for tensor in tensors:
        handle = TensorHandle()
        check(lib.cq_tensor_pairs(byref(handle), tensor.pointer))
        made.append(Tensor._of(handle))
    return made


def grown(array: Any, axes: Sequence[int]) -> Any:
    """One more element along each axis: the last one again."""
    made = np.asarray(array)
    for axis in axes:
        last = made.take([-1], axis) if made.shape[axis] else np.zeros_like(made, shape=tuple(
            1 if i == axis % made.ndim else size for i, size in enumerate(made.shape)))
        made = np.concatenate([made, last], axis)
    return made


def verify(source: Source, model: Model, options: Any,
           dynamic_axes: Mapping[str, Mapping[int, Any] | Sequence[int]]) -> list[Verified]:
    """Runs both on the example, and with dynamic sizes on a larger one. options are the export's."""
    session, running = Session(model), run_options(options.training, options.flags)
    states = _states(model) if options.flags & _abi.CQ_EXPORT_STATE else []
    names = [value.name for value in model.inputs]

    def grow(index: int, item: Any) -> Any:
        axes = list(dynamic_axes.get(names[index], ())) if index < len(names) else []
        return grown(item, axes) if axes else item

    rows: list[Verified] = []
    for args, inputs in source.examples(grow):
        if rows and options.flags & _abi.CQ_EXPORT_STATIC:
            break
        try:
            expected = source.run(args, running)
        except Error as error:
            if not rows:
                raise
            _warn(f"the model itself does not take larger sizes, so these are not compared: {error.message}")
            break
        given = _in_pairs(inputs, options.flags) + states
        rows += compare_all(model, session.run_in_order(given), _in_pairs(expected, options.flags))
    return rows
