"""Adapters between versions of ONNX operators, for conversions of the opset: operators on tensors.

@upgrade("Split", 18) converts a node of opset 17 to nodes of opset 18, @downgrade("Split", 18) a
node of opset 18 to nodes of opset 17. Parameters are inputs and attributes of the node, by their
names in the schema of its version. Emitted nodes are of the other version. Operators with the same
form need no adapter; types that an older version does not accept are cast (src/edit/widen.c).
NotImplementedError means that the target cannot express the node (src/onnx/compose/compose.h).
"""

import torch

from calque.onnx import *
from onnx.versions_common import (
    all_are,
    dtype_for,
    from_front,
    in_single,
    in_type_of,
    is_real,
    known_rank,
    need,
    no_numbers,
    numbers,
)


# ---- axes that were counted from the front until opset 11 ----


@downgrade("Gather", 11)
@downgrade("ArgMax", 11)
@downgrade("ArgMin", 11)
def axis_of_data(data, axis):
    return again(axis=from_front(axis, data))


@downgrade("Flatten", 11)
@downgrade("Split", 11)
@downgrade("Softmax", 11)
@downgrade("LogSoftmax", 11)
@downgrade("Hardmax", 11)
def axis_of_input(input, axis):
    return again(axis=from_front(axis, input))


@downgrade("Compress", 11)
def compress_axis(input, axis):
    return again(axis=None if axis is None else from_front(axis, input))


@downgrade("Concat", 11)
def concat_axis(inputs, axis):
    return again(axis=from_front(axis, inputs[0]))


@downgrade("Squeeze", 11)
@downgrade("ReduceMax", 11)
@downgrade("ReduceMin", 11)
@downgrade("ReduceMean", 11)
@downgrade("ReduceSum", 11)
@downgrade("ReduceProd", 11)
@downgrade("ReduceL1", 11)
@downgrade("ReduceL2", 11)
@downgrade("ReduceLogSum", 11)
@downgrade("ReduceLogSumExp", 11)
@downgrade("ReduceSumSquare", 11)
def axes_of_data(data, axes):
    return again(axes=None if axes is None else [from_front(a, data) for a in axes])


@downgrade("Unsqueeze", 11)
def unsqueeze_axes(data, axes):
    return again(axes=[from_front(a, data, len(axes)) for a in axes])


# ---- lists that became inputs ----


@upgrade("Squeeze", 13)
@upgrade("Unsqueeze", 13)
@upgrade("ReduceSum", 13)
@upgrade("ReduceMax", 18)
@upgrade("ReduceMin", 18)
@upgrade("ReduceMean", 18)
@upgrade("ReduceProd", 18)
@upgrade("ReduceL1", 18)
@upgrade("ReduceL2", 18)
@upgrade("ReduceLogSum", 18)
@upgrade("ReduceLogSumExp", 18)
@upgrade("ReduceSumSquare", 18)
def axes_to_input(data, axes):
    if axes is None or len(axes) == 0:
        return again(axes=None)
    return again(data, axes, axes=None)


@downgrade("Squeeze", 13)
@downgrade("Unsqueeze", 13)
def axes_to_attribute(data, axes):
    return again(data, axes=numbers(axes))


@downgrade("ReduceSum", 13)
@downgrade("ReduceMax", 18)
@downgrade("ReduceMin", 18)
@downgrade("ReduceMean", 18)
@downgrade("ReduceProd", 18)
@downgrade("ReduceL1", 18)
@downgrade("ReduceL2", 18)
@downgrade("ReduceLogSum", 18)
@downgrade("ReduceLogSumExp", 18)
@downgrade("ReduceSumSquare", 18)
def reduce_axes_to_attribute(data, axes, noop_with_empty_axes):
    """Without axes the node reduces along all axes, or (noop_with_empty_axes) along none."""
    found = numbers(axes)
    if found is None or len(found) == 0:
        if noop_with_empty_axes:
            y = Unsqueeze(data, axes=[0]) if opset() < 13 else Unsqueeze(data, [0])
            return again(y, axes=[0], keepdims=0, noop_with_empty_axes=None)
        return again(data, noop_with_empty_axes=None)
    return again(data, axes=found, noop_with_empty_axes=None)


@upgrade("Slice", 10)
def slice_up(data, starts, ends, axes):
    return Slice(data, starts, ends, axes)


@downgrade("Slice", 10)
def slice_down(data, starts, ends, axes, steps):
    need(steps is None or all_are(numbers(steps), 1), "steps other than 1")
    found = numbers(axes)
    if found is not None:
        found = [from_front(a, data) for a in found]
    return Slice(data, starts=numbers(starts), ends=numbers(ends), axes=found)


@upgrade("TopK", 10)
def topk_up(X, axis, k):
    return TopK(X, [k], axis=axis, outputs=2)


@downgrade("TopK", 10)
def topk_down(X, K, axis):
    return TopK(X, axis=axis, k=numbers(K)[0], outputs=2)


@downgrade("TopK", 11)
def topk_down_11(X, K, axis, largest):
    at = from_front(axis, X)
    if largest:
        return TopK(X, K, axis=at, outputs=2)
    need(is_real(X), "the smallest integers")
    y, indices = TopK(-X, K, axis=at, outputs=2)
    return -y, indices


@upgrade("Split", 13)
def split_up(input, split):
    if split is None or len(split) == 0:
        return again(split=None)
    return again(input, split, split=None)


@downgrade("Split", 13)
def split_down(input, split):
    return again(input, split=numbers(split))


@upgrade("Split", 18)
def split_up_18(input, split):
    return again() if split is not None else again(num_outputs=n_outputs())


@downgrade("Split", 18)
def split_down_18(input, split, axis, num_outputs):
    """Until opset 17 parts without sizes are equal; with num_outputs the last part may be
    smaller."""
    if split is not None:
        return again()
    n = n_outputs()
    whole = size(input, axis)
    if n == 1 or whole is not None and whole % n == 0:
        return again(num_outputs=None)
    if whole is not None:
        part = (whole + n - 1) // n
        sizes = [max(0, min(part, whole - i * part)) for i in range(n)]
        return again(input, sizes, num_outputs=None)
    total = Gather(Shape(input), [axis], axis=0)
    part = Div(Add(total, [n - 1]), [n])
    parts = Concat([part] * (n - 1) + [Sub(total, Mul(part, [n - 1]))], axis=0)
    return again(input, parts, num_outputs=None)


# ---- Clip, Pad, Dropout ----


@upgrade("Clip", 11)
def clip_up(input, min, max):
    low = None if min < -3.4e38 else like(min, input)
    high = None if max > 3.4e38 else like(max, input)
    return Clip(input, low, high)


@downgrade("Clip", 11)
def clip_down(input, min, max):
    low = None if min is None else elements(min)
    high = None if max is None else elements(max)
    if (min is None or low is not None) and (max is None or high is not None):
        return Clip(
            input,
            min=None if low is None else low[0],
            max=None if high is None else high[0],
        )
    y = input if min is None else Max(input, min)
    return y if max is None else Min(y, max)


@downgrade("Clip", 12)
def clip_down_12(input, min, max):
    """Before opset 12 Clip accepts only floats, but Less accepts integers."""
    if is_real(input):
        return again()
    y = input if min is None else Where(Less(input, min), min, input)
    return y if max is None else Where(Greater(y, max), max, y)


@downgrade("Max", 12)
def max_down_12(data_0):
    if is_real(data_0[0]):
        return again()
    y = data_0[0]
    for x in data_0[1:]:
        y = Where(Less(y, x), x, y)
    return Identity(y)


@downgrade("Min", 12)
def min_down_12(data_0):
    if is_real(data_0[0]):
        return again()
    y = data_0[0]
    for x in data_0[1:]:
        y = Where(Less(x, y), x, y)
    return Identity(y)


@downgrade("Sum", 8)
def sum_down(data_0):
    """Sum broadcasts since opset 8, Add since 7."""
    y = data_0[0]
    for x in data_0[1:]:
        y = Add(y, x)
    return Identity(y)


@downgrade("Mean", 8)
def mean_down(data_0):
    return sum_down(data_0) / len(data_0)


def have_one_shape(values):
    """Whether all shapes are known and equal."""
    n = rank(values[0])
    for x in values:
        if n is None or rank(x) != n:
            return False
        for i in range(n):
            if size(x, i) is None or size(x, i) != size(values[0], i):
                return False
    return True


@downgrade("Max", 8)
@downgrade("Min", 8)
def extremum_down(data_0):
    need(have_one_shape(data_0), "its inputs are broadcast")
    return again()


@downgrade("Relu", 14)
def relu_down(X):
    return again() if is_real(X) else Max(X, like(0, X))


@upgrade("Pad", 11)
def pad_up(data, mode, pads, value):
    return Pad(data, pads, like(value, data), mode=mode)


@downgrade("Pad", 11)
def pad_down(data, pads, constant_value, mode):
    value = numbers(constant_value)
    return Pad(data, mode=mode, pads=numbers(pads), value=None if value is None else value[0])


@downgrade("Pad", 18)
def pad_down_18(data, pads, constant_value, axes, mode):
    if axes is None:
        return Pad(data, pads, constant_value, mode=mode)
    n = known_rank(data)
    at = [from_front(a, data) for a in numbers(axes)]
    found = elements(pads)
    if found is None:
        where = at + [a + n for a in at]
        return Pad(data, ScatterElements([0] * (2 * n), where, pads), constant_value, mode=mode)
    before = [sum([found[k] for k in range(len(at)) if at[k] == i]) for i in range(n)]
    after = [sum([found[k + len(at)] for k in range(len(at)) if at[k] == i]) for i in range(n)]
    return Pad(data, before + after, constant_value, mode=mode)


@downgrade("Pad", 19)
def pad_down_19(data, pads, constant_value, axes, mode):
    """Mode wrap becomes a Concat with copies of the other end."""
    if mode != "wrap":
        return again()
    n = known_rank(data)
    at = range(n) if axes is None else [from_front(a, data) for a in numbers(axes)]
    found = numbers(pads)
    need(min(found) >= 0, "mode wrap with negative padding")
    y = data
    for k in range(len(at)):
        before = found[k]
        after = found[k + len(at)]
        length = size(data, at[k])
        need(length is not None and max(before, after) <= length, "mode wrap beyond the size")
        parts = [y]
        if before:
            parts = [Slice(y, [length - before], [length], [at[k]])] + parts
        if after:
            parts = parts + [Slice(y, [0], [after], [at[k]])]
        y = Concat(parts, axis=at[k]) if len(parts) > 1 else y
    return Identity(y)


@upgrade("Dropout", 10)
def dropout_up_10(data, ratio):
    """Until opset 10 the mask has the type of the data."""
    if not has_output(1):
        return Dropout(data, ratio=ratio)
    y, mask = Dropout(data, ratio=ratio, outputs=2)
    return y, Cast(mask, to=dtype_for(data))


@downgrade("Dropout", 10)
def dropout_down_10(data, ratio):
    if not has_output(1):
        return Dropout(data, ratio=ratio)
    y, mask = Dropout(data, ratio=ratio, outputs=2)
    return y, Cast(mask, to=torch.bool)


@upgrade("Dropout", 12)
def dropout_up(data, ratio):
    if has_output(1):
        return Dropout(data, ratio, outputs=2)
    return Dropout(data, ratio)


@downgrade("Dropout", 12)
def dropout_down(data, ratio, training_mode):
    """Without training the node copies the data, and the mask is true."""
    need(training_mode is None or all_are(numbers(training_mode), 0), "training mode")
    if has_output(1):
        return Identity(data), Not(Cast(ConstantOfShape(Shape(data)), to=torch.bool))
    found = None if ratio is None else elements(ratio)
    return Dropout(data, ratio=None if found is None else found[0])


# ---- Softmax: until opset 12 it flattens the input to two dimensions at the axis ----


@upgrade("Softmax", 13)
@upgrade("LogSoftmax", 13)
@upgrade("Hardmax", 13)
def softmax_up(input, axis):
    n = rank(input)
    if axis == -1 or n is not None and axis == n - 1:
        return again(axis=-1)
    return Reshape(again(Flatten(input, axis=axis), axis=-1), Shape(input))


@downgrade("Softmax", 13)
@downgrade("LogSoftmax", 13)
@downgrade("Hardmax", 13)
def softmax_down(input, axis):
    n = known_rank(input)
    at = from_front(axis, input)
    if at >= n - 1:
        return again(axis=at)
    perm = [n - 1 if i == at else at if i == n - 1 else i for i in range(n)]
    return Transpose(again(Transpose(input, perm=perm), axis=n - 1), perm=perm)


# ---- scattering and gathering ----


@upgrade("Scatter", 11)
def scatter_up(data, indices, updates, axis):
    return ScatterElements(data, indices, updates, axis=axis)


@downgrade("ScatterElements", 11)
def scatter_down(data, indices, updates, axis):
    return Scatter(data, indices, updates, axis=from_front(axis, data))


@downgrade("ScatterElements", 16)
@downgrade("ScatterND", 16)
def reduction_down(reduction):
    need(reduction == "none", "a reduction of scattered values")
    return again(reduction=None)


@downgrade("ScatterElements", 18)
@downgrade("ScatterND", 18)
def extremes_down(reduction):
    need(reduction not in ["max", "min"], "the reductions max and min")
    return again()


@downgrade("GatherND", 12)
def gather_nd_down(batch_dims):
    need(batch_dims == 0, "batch_dims")
    return again(batch_dims=None)


# ---- comparisons ----


@downgrade("GreaterOrEqual", 12)
def greater_or_equal_down(A, B):
    return Or(Greater(A, B), Equal(A, B))


@downgrade("LessOrEqual", 12)
def less_or_equal_down(A, B):
    return Or(Less(A, B), Equal(A, B))


@downgrade("Equal", 11)
def equal_down(A, B):
    """Before opset 11 Equal takes bool, int32 and int64 alone. NaN is not equal to itself."""
    if dtype(A) in [None, torch.bool, torch.int32, torch.int64]:
        return again()
    differs = Or(Less(A, B), Greater(A, B))
    if is_real(A):
        differs = Or(differs, Or(IsNaN(A), IsNaN(B)))
    return Not(differs)


@downgrade("IsNaN", 9)
def is_nan_down(X):
    """Every number is below 1 or above 0; NaN is neither."""
    return Not(Or(Less(X, like(1.0, X)), Greater(X, like(0.0, X))))


@downgrade("IsInf", 10)
def is_inf_down(X, detect_negative, detect_positive):
    need(dtype(X) == torch.float32, "infinities of another type than float32")
    above = Greater(X, like(3.4028234663852886e38, X))
    below = Less(X, like(-3.4028234663852886e38, X))
    if detect_negative and detect_positive:
        return Or(above, below)
    need(detect_negative or detect_positive, "no infinities")
    return above if detect_positive else below


# ---- reductions to indices ----


@downgrade("ArgMax", 12)
@downgrade("ArgMin", 12)
def arg_down_12(data, axis, select_last_index):
    """The last index of the largest number is the first one of the reversed data."""
    if not select_last_index:
        return again(select_last_index=None)
    from_behind = again(Slice(data, [-1], [-(2**62)], [axis], [-1]), select_last_index=None)
    count = Gather(Shape(data), axis, axis=0)
    return Sub(Sub(count, 1), from_behind)


# ---- shapes and constants ----


@downgrade("Shape", 15)
def shape_down(data, start, end):
    if start == 0 and end is None:
        return Shape(data)
    return Slice(Shape(data), [start], [2**62 if end is None else end], [0])


@downgrade("Reshape", 14)
def reshape_down(data, shape, allowzero):
    if allowzero:
        found = elements(shape)
        need(found is not None and 0 not in found, "sizes of 0")
    return Reshape(data, shape)


@downgrade("Constant", 12)
def constant_down(value_float, value_int, value_floats, value_ints, value_string, value_strings):
    need(value_string is None and value_strings is None, "strings")
    if value_float is not None:
        return value_float
    if value_int is not None:
        return value_int
    if value_floats is not None:
        return Identity(value_floats if len(value_floats) else no_numbers())
    return Identity(value_ints) if value_ints is not None else again()


@downgrade("ConstantOfShape", 9)
def constant_of_shape_down(input, value):
    return Expand([0.0] if value is None else value, input)


@downgrade("Trilu", 14)
def trilu_down(input, k, upper):
    shape = Shape(input)
    rows = Range(0, Gather(shape, -2, axis=0), 1)
    columns = Range(0, Gather(shape, -1, axis=0), 1)
    off = Sub(Unsqueeze(columns, [0]), Unsqueeze(rows, [1]))
    diagonal = 0 if k is None else k
    keep = GreaterOrEqual(off, diagonal) if upper else LessOrEqual(off, diagonal)
    return Where(keep, input, like(0, input))


@downgrade("CastLike", 15)
def cast_like_down(input, target_type):
    return Cast(input, to=dtype_for(target_type))


@downgrade("Cast", 19)
@downgrade("CastLike", 19)
@downgrade("QuantizeLinear", 19)
def saturate_down():
    """Of float8 alone, which the target lacks."""
    return again(saturate=None)


@downgrade("Cast", 24)
@downgrade("CastLike", 24)
def round_mode_down():
    """Of float8e8m0 alone, which the target lacks."""
    return again(round_mode=None)


@downgrade("Range", 27)
def range_down(start, limit, delta):
    if not is_real(start):
        return again(stash_type=None)
    y = Range(in_single(start), in_single(limit), in_single(delta))
    return in_type_of(y, start)


@downgrade("Gemm", 11)
def gemm_down(A, B, C):
    return again() if C is not None else again(A, B, like(0, A))


@downgrade("Pow", 12)
def pow_down(X, Y):
    """Until opset 11 base and exponent must have the same type."""
    if dtype(X) == dtype(Y) or dtype(X) is None or not is_real(X):
        return again()
    return Pow(X, Cast(Y, to=dtype(X)))


@downgrade("BitwiseNot", 18)
def bitwise_not_down(X):
    """-1 - x, for signed integers."""
    need(dtype(X) in [torch.int8, torch.int32, torch.int64], "unsigned numbers")
    return Sub(like(-1, X), X)
