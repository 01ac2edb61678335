"""Patterns of ONNX nodes, and the nodes that replace them.

A function with @rewrite is a pattern: values of the graph are matched with the value that it
returns. A parameter stands for one value, wherever it occurs. A variable stands for the value of a
node of the pattern. A number stands for a constant of one element that is near it. maybe(Cast, x)
is x with or without that node, either(p, q) is the first of several patterns that matches, and ...
stands for any further inputs. Add and Mul also match with their operands exchanged; the more
specific operand comes first, because it is matched first.

The first argument of the decorator names the replacement, a function of this file. Its parameters
are names of the pattern. It returns the new value, or None if the match does not fit: attributes,
constants and sizes are checked there. matched() is the value that is replaced.

Of several patterns the first in this file is tried first. A later stage sees the nodes that an
earlier one emitted, without nodes that became unused. use="optimizer" keeps a pattern from the
exporter, which keeps the operators of the model; use="onnxruntime" is for operators of
com.microsoft. use="runtime" is for calque's own runtime: the name is that of a fusion in
src/runtime/fuse/layers.c, which knows no types and computes the same in one step.
"""

import torch

from calque.onnx import *


# ---- values ----


def is_float(v):
    return v.dtype == torch.float32 or v.dtype == torch.float16


def is_axis(v, axis, n):
    """Whether a constant is this axis of n."""
    return constant(v) == axis or constant(v) == axis - n


def same_shape(a, b):
    return rank(a) >= 0 and rank(a) == rank(b) and a.dtype == b.dtype and a.shape == b.shape


def is_bias(b, x):
    """A vector as long as the last axis of x."""
    if rank(x) < 1 or rank(b) != 1:
        return False
    return b.dtype == x.dtype and b.shape[0] == x.shape[-1]


def quotient(factor, divisor):
    """The number by which a product is scaled; None if it is unknown."""
    above = 1.0 if factor is None else constant(factor)
    below = 1.0 if divisor is None else constant(divisor)
    if above is None or below is None or below == 0:
        return None
    return above / below


# ---- quantized values ----


@rewrite("steps", opset=10)
def steps_of_a_quantized_value(q, step, zero, by):
    return Round(Div(DequantizeLinear(q, step, zero), by))


def steps(q, step, zero, by):
    """Dequantized numbers divided by the scale are the integers, without their zero point."""
    if rank(step) != 0 or constant(step) is None or constant(step) != constant(by):
        return None
    return DequantizeLinear(q, cast(1.0, torch.float32), zero)


@rewrite("scaled", opset=10)
def scaled_quantized_value(q, step, zero, by):
    return Mul(DequantizeLinear(q, step, zero), by)


def scaled(q, step, zero, by):
    if rank(step) != 0 or constant(step) != 1 or constant(by) is None or by.dtype != torch.float32:
        return None
    return DequantizeLinear(q, cast(constant(by), torch.float32), zero)


@rewrite("quantize_bias", opset=10)
def bias_of_a_quantized_convolution(x, w, bias):
    layer = Conv(x, w, bias)
    return QuantizeLinear(maybe(Clip, maybe(Relu, layer), ...), ...)


@rewrite("quantize_bias", opset=10)
def bias_of_a_quantized_product(x, w, bias):
    layer = Gemm(x, w, bias)
    return QuantizeLinear(maybe(Clip, maybe(Relu, layer), ...), ...)


def scale_of(v):
    """The scale of v, through nodes that only select or move elements; 0: unknown."""
    moves = [
        "Relu",
        "MaxPool",
        "Flatten",
        "Reshape",
        "Transpose",
        "Squeeze",
        "Slice",
        "Unsqueeze",
        "Identity",
    ]
    for _ in range(32):
        if op_of(v) not in moves:
            break
        v = inputs_of(v)[0]
    scale = constant(inputs_of(v)[1]) if op_of(v) == "DequantizeLinear" else None
    return 0.0 if scale is None else scale


def quantize_bias(x, w, bias, layer):
    """The bias of a quantized layer, in steps of the product of scales. ONNX Runtime quantizes it
    so itself, but with a node that opset 10 lacks: it could not load the model. At other opsets the
    bias stays the floats that PyTorch adds."""
    if opset() != 10 or n_uses(layer) != 1:
        return None
    step = scale_of(x) * scale_of(w)
    if not step > 0:
        return None
    emit_before(layer)
    integers = in_steps(bias, step)
    if integers is not None:
        floats = DequantizeLinear(integers, cast(step, torch.float32))
        set_input(layer, 2, with_shape(with_dtype(floats, torch.float32), bias))
    return None


# ---- layers of language models ----


@rewrite("rms_norm", opset=23)
def rms_norm_by_reciprocal(x, two, axes, eps, w):
    mean = ReduceMean(Pow(x, two), axes)
    return Mul(maybe(Cast, Mul(Reciprocal(Sqrt(Add(mean, eps))), x)), w)


@rewrite("rms_norm", opset=23)
def rms_norm_by_division(x, two, axes, eps, w):
    mean = ReduceMean(Pow(x, two), axes)
    return Mul(maybe(Cast, Div(x, Sqrt(Add(mean, eps)))), w)


def before_cast(x, dtype):
    """Models in half precision normalize in float32 and scale in half precision; so does
    RMSNormalization."""
    if x.dtype == dtype:
        return x
    if x.dtype != torch.float32 or op_of(x) != "Cast":
        return None
    inner = inputs_of(x)[0]
    return inner if inner.dtype == dtype else None


def rms_norm(x, two, axes, eps, w, mean):
    dtype = matched().dtype
    if rank(x) < 1 or not is_axis(axes, rank(x) - 1, rank(x)) or rank(w) != 1:
        return None
    if w.dtype != dtype or w.shape[0] != x.shape[-1] or not is_float(w):
        return None
    if constant(two) != 2 or constant(eps) is None or not attribute(mean, "keepdims", 1):
        return None
    x = before_cast(x, dtype)
    if x is None:
        return None
    return RMSNormalization(x, w, axis=-1, epsilon=constant(eps))


@rewrite("causal_conv", opset=27)
def causal_convolution(x, w, begin, end, axis):
    return Slice(Conv(x, w), begin, end, axis, ...)


@rewrite("causal_conv", opset=27)
def causal_convolution_with_bias(x, w, begin, end, axis, b):
    return Slice(Conv(x, w, b), begin, end, axis, ...)


@rewrite("causal_silu", opset=27, stage=1)
def causal_convolution_and_silu(x, w):
    return Swish(CausalConvWithState(x, w, ...))


def causal_conv(x, w, begin, end, axis, b=None):
    """A depthwise convolution of a sequence with padding on both sides, of which the results that
    see no later element are kept, as Mamba and its successors compute it."""
    layer = inputs_of(matched())[0]
    if rank(x) != 3 or rank(w) != 3 or not is_float(x) or x.dtype == torch.float64:
        return None
    channels, more = w.shape[0], w.shape[2] - 1 if is_known(w.shape[2]) else 0
    if more < 1 or w.shape[1] != 1 or x.shape[1] != channels or n_uses(layer) != 1:
        return None
    if attribute(layer, "group", 1) != channels or attribute(layer, "pads", None) != [more, more]:
        return None
    if attribute(layer, "strides", [1]) != [1] or attribute(layer, "dilations", [1]) != [1]:
        return None
    steps = inputs_of(matched())[4:]
    if constant(begin) != 0 or not is_axis(axis, 2, 3) or (steps and constant(steps[0]) != 1):
        return None
    if matched().shape != x.shape:
        return None
    y, _ = CausalConvWithState(x, w, b, outputs=2)
    return with_shape(with_dtype(y, x.dtype), x)


def causal_silu(x, w):
    layer = inputs_of(matched())[0]
    args = inputs_of(layer)
    b = args[2] if len(args) > 2 else None
    if n_uses(layer) != 1 or attribute(matched(), "alpha", 1.0) != 1.0:
        return None
    y, _ = CausalConvWithState(x, w, b, activation="silu", outputs=2)
    return with_shape(with_dtype(y, x.dtype), x)


@rewrite("rotary", opset=23)
def rotary_embedding(x, sin, cos):
    high = Slice(x, ...)
    low = Slice(x, ...)
    join = Concat(Neg(high), low)
    return Add(Mul(join, sin), Mul(x, cos))


def cuts(v, first, end, size):
    """Whether v is [first, end) of the last of four axes; the end may exceed the size."""
    args = inputs_of(v)
    if len(args) < 4 or constant(args[1]) != first or not is_axis(args[3], 3, 4):
        return False
    to = constant(args[2])
    if to is None or not (to == end or (end == size and to > size)):
        return False
    return len(args) < 5 or constant(args[4]) == 1


def half_of(v, depth):
    """The first half of a table whose last axis has the same half twice, cos(cat(angles, angles)),
    scaled and cast; None for other tables."""
    args = inputs_of(v)
    if depth > 8 or rank(v) < 1 or len(args) == 0:
        return None
    emit_before(v)
    known = recall(v)
    if known is not None:
        return known
    if op_of(v) == "Concat":
        is_last = attribute(v, "axis", 0) in [-1, rank(v) - 1]
        return args[0] if len(args) == 2 and same(args[0], args[1]) and is_last else None
    follows = op_of(v) in ["Cos", "Sin", "Cast"]
    if not follows and not (op_of(v) == "Mul" and constant(args[1]) is not None):
        return None
    inner = half_of(args[0], depth + 1)
    if inner is None:
        return None
    emit_before(v)
    half = with_shape(copy(v, [inner] + args[1:]), v.shape[:-1] + [v.shape[-1] // 2])
    return remember(v, half)


def for_batch(table, x):
    """A table with batch 1 is repeated, because RotaryEmbedding does not broadcast it."""
    if table.shape[0] == x.shape[0]:
        return table
    emit_before(matched())
    known = recall(table)
    if known is not None and known.shape[0] == x.shape[0]:
        return known
    if table.shape[0] != 1:
        return None
    batch = with_shape(Shape(x, start=0, end=1), [1])
    sizes = Concat(batch, torch.tensor([1, 1]), axis=0)
    return remember(table, with_shape(Expand(table, sizes), [x.shape[0]] + table.shape[1:]))


def angles_of(wide, x):
    """The table of [batch, 1, length, size] as [batch, length, size / 2]."""
    if op_of(wide) != "Unsqueeze" or rank(wide) != 4 or not is_axis(inputs_of(wide)[1], 1, 4):
        return None
    table = inputs_of(wide)[0]
    if table.shape[1:] != x.shape[2:] or table.dtype != x.dtype:
        return None
    half = half_of(table, 0)
    return for_batch(half, x) if half is not None and rank(half) == 3 else None


def rotary(x, sin, cos, high, low, join):
    if rank(x) != 4 or not is_known(x.shape[3]) or x.shape[3] % 2 != 0:
        return None
    size = x.shape[3]
    if attribute(join, "axis", 0) != 3:
        return None
    if not cuts(high, size // 2, size, size) or not cuts(low, 0, size // 2, size):
        return None
    cos_half = angles_of(cos, x)
    sin_half = None if cos_half is None else angles_of(sin, x)
    if sin_half is None:
        return None
    emit_before(matched())
    return RotaryEmbedding(x, cos_half, sin_half)


@rewrite("one_attention", opset=23)
def attention(q, k, v, factor, divisor, mask):
    turned = Transpose(k)
    scores = maybe(Div, maybe(Mul, MatMul(q, turned), factor), divisor)
    soft = Softmax(maybe(Add, scores, mask))
    return MatMul(soft, v)


def is_mask_of(mask, scores):
    """Whether adding mask leaves the scores their shape."""
    n = rank(mask)
    if n < 2 or n > 4 or rank(scores) != 4 or mask.dtype != scores.dtype:
        return False
    for i in range(n):
        if mask.shape[i] != 1 and mask.shape[i] != scores.shape[4 - n + i]:
            return False
    return True


def keys_of(turned, k, q):
    """The keys [batch, heads, length, size] before they are transposed for the scores. The exchange
    of heads and lengths may be merged into that Transpose. None: another permutation."""
    perm = attribute(turned, "perm", None)
    if rank(k) != 4 or perm == [0, 1, 3, 2]:
        return k if rank(k) == 4 else None
    if perm != [0, 2, 3, 1] or q.shape[0] != k.shape[0] or q.shape[1] != k.shape[2]:
        return None
    return Transpose(k, perm=[0, 2, 1, 3])


def one_attention(q, k, v, soft, turned, mask=None, factor=None, divisor=None):
    """softmax(q k' scale + mask) v, in models that do not call PyTorch's own function."""
    scale = quotient(factor, divisor)
    if not is_float(q) or rank(q) != 4 or rank(v) != 4 or scale is None:
        return None
    if n_uses(soft) != 1 or attribute(soft, "axis", -1) not in [-1, 3]:
        return None
    if mask is not None and not is_mask_of(mask, soft):
        return None
    keys = keys_of(turned, k, q)
    if keys is None or q.shape[:2] != keys.shape[:2] or q.shape[:2] != v.shape[:2]:
        return None
    return Attention(q, keys, v, mask, scale=scale)


@rewrite("grouped", opset=23, stage=1)
def attention_of_repeated_heads(q, k, v, axis, axis2):
    more_k = Reshape(Expand(Unsqueeze(k, axis), ...), ...)
    more_v = Reshape(Expand(Unsqueeze(v, axis2), ...), ...)
    return Attention(q, more_k, more_v, ...)


def repeats_heads(more, v, axis, q):
    """Whether more repeats the heads of v to the number of heads of q."""
    wide = inputs_of(more)[0]
    if rank(v) != 4 or rank(wide) != 5 or rank(more) != 4 or rank(q) != 4:
        return False
    if not is_axis(axis, 2, 5) or more.shape[1] != q.shape[1]:
        return False
    if wide.shape[:2] != v.shape[:2] or wide.shape[3:] != v.shape[2:]:
        return False
    return more.shape[0] == v.shape[0] and more.shape[2:] == v.shape[2:]


def grouped(q, k, v, axis, axis2, more_k, more_v):
    """Attention repeats the heads of keys and values itself."""
    if not repeats_heads(more_k, k, axis, q) or not repeats_heads(more_v, v, axis2, q):
        return None
    if k.shape[1] == v.shape[1]:
        set_input(matched(), 1, k)
        set_input(matched(), 2, v)
    return None


@rewrite("past", opset=23, stage=2)
def attention_with_a_cache(q, k, v, past_k, past_v):
    keys = Concat(past_k, k)
    values = Concat(past_v, v)
    return Attention(q, keys, values, ...)


def joins_past(joined):
    if len(inputs_of(joined)) != 2 or rank(joined) != 4:
        return False
    return attribute(joined, "axis", 0) in [2, -2] and may_move(joined)


def past(k, v, past_k, past_v, keys, values):
    """Attention concatenates keys and values with the past, and returns both."""
    args = inputs_of(matched())
    if len(args) > 4 or attribute(matched(), "is_causal", 0) or same(keys, values):
        return None
    if not joins_past(keys) or not joins_past(values):
        return None
    mask = args[3] if len(args) > 3 else None
    result, all_keys, all_values = copy(matched(), [args[0], k, v, mask, past_k, past_v], 3)
    replace(keys, all_keys)
    replace(values, all_values)
    return result


# ---- normalization ----


@rewrite("layer_norm", opset=17, use="optimizer")
def layer_norm_with_weight(x, eps, w):
    mean = ReduceMean(x, ...)
    c = Sub(x, mean)
    var = ReduceMean(either(Pow(c, 2), Mul(c, c)), ...)
    return Mul(Div(c, Sqrt(Add(var, eps))), w)


@rewrite("layer_norm", use="runtime")
def layer_norm_with_weight_and_bias(x, eps, w, b):
    mean = ReduceMean(x, ...)
    c = Sub(x, mean)
    var = ReduceMean(either(Pow(c, 2), Mul(c, c)), ...)
    return Add(Mul(Div(c, Sqrt(Add(var, eps))), w), b)


def first_axis(mean, n):
    """The first of the axes that a mean of n dimensions goes over, if they are all axes from it to
    the last; otherwise None."""
    args = inputs_of(mean)
    axes = attribute(mean, "axes", None)
    if axes is None and len(args) > 1:
        axes = constants(args[1])
    if axes is None or len(axes) == 0 or attribute(mean, "keepdims", 1) != 1:
        return None
    axes = [i + n if i < 0 else i for i in axes]
    first = min(axes)
    for i in range(first, n):
        if i not in axes:
            return None
    return first if first >= 0 and max(axes) < n else None


def layer_norm(x, eps, mean, var, w=None):
    """(x - mean) / sqrt(variance + eps), optionally times w."""
    n = rank(x)
    first = first_axis(mean, n) if n > 0 else None
    if first is None or first_axis(var, n) != first or not is_float(x) or constant(eps) is None:
        return None
    if w is None:
        w = ones(x.shape[first:]) if x.dtype == torch.float32 else None
    elif rank(w) != n - first or w.dtype != x.dtype or w.shape != x.shape[first:]:
        return None
    if w is None:
        return None
    return LayerNormalization(x, w, axis=first - n, epsilon=constant(eps))


@rewrite("flat_linear", opset=13, use="optimizer")
def linear_in_front_of_reshape(x, w, b):
    product = MatMul(x, w)
    sum = Add(product, b)
    return Reshape(sum, ...)


def flat_linear(x, w, b, sum, product):
    """A linear layer of three or more dimensions whose result is flattened to rows: the argument is
    flattened instead, and Gemm adds the bias."""
    flat = matched()
    if rank(x) < 3 or rank(w) != 2 or rank(sum) != rank(x) or rank(flat) != 2 or not is_float(x):
        return None
    if not is_bias(b, sum) or n_uses(sum) != 1 or n_uses(product) != 1:
        return None
    if not is_known(w.shape[0]) or w.shape[0] != x.shape[-1] or flat.shape[1] != w.shape[1]:
        return None
    rows = Reshape(x, torch.tensor([-1, w.shape[0]]))
    return Gemm(with_shape(rows, [flat.shape[0], w.shape[0]]), w, b)


# ---- Gelu ----


@rewrite("gelu_erf", opset=13, use="optimizer")
@rewrite("gelu", use="runtime")
def gelu_of_erf(x):
    t = Erf(either(Div(x, 1.4142135623730951), Mul(x, 0.7071067811865476)))
    one = Add(t, 1)
    return either(Mul(Mul(one, x), 0.5), Mul(one, Mul(x, 0.5)), Mul(Mul(one, 0.5), x))


@rewrite("gelu_tanh", opset=13, use="optimizer")
@rewrite("gelu", use="runtime")
def gelu_of_tanh(x):
    """sqrt(2 / pi) * (x + 0.044715 * x^3) is the argument."""
    cube = either(Pow(x, 3), Mul(Mul(x, x), x))
    t = Tanh(Mul(Add(Mul(cube, 0.044715), x), 0.7978845608))
    one = Add(t, 1)
    return either(Mul(Mul(one, x), 0.5), Mul(one, Mul(x, 0.5)), Mul(Mul(one, 0.5), x))


def gelu(x, approximate):
    if not is_float(x) or rank(x) != rank(matched()):
        return None
    if opset() >= 20:
        return Gelu(x, approximate=approximate)
    if not for_onnxruntime():
        return None
    return op("com.microsoft::Gelu" if approximate is None else "com.microsoft::FastGelu", x)


def gelu_erf(x):
    return gelu(x, None)


def gelu_tanh(x):
    return gelu(x, "tanh")


# ---- attention of several heads ----


@rewrite("heads", opset=13, use="onnxruntime")
def multi_head_attention(q, k, v, factor, divisor, mask):
    hq = Transpose(Reshape(q, ...))
    hk = Transpose(Reshape(k, ...))
    hv = Transpose(Reshape(v, ...))
    scores = maybe(Div, maybe(Mul, MatMul(hq, hk), factor), divisor)
    soft = Softmax(maybe(Add, scores, mask))
    joined = Transpose(MatMul(soft, hv))
    return Reshape(joined, ...)


@rewrite("heads", opset=13, use="onnxruntime")
def multi_head_attention_of_scaled_queries(q, k, v, factor, divisor, mask):
    hq = Transpose(Reshape(q, ...))
    hk = Transpose(Reshape(k, ...))
    hv = Transpose(Reshape(v, ...))
    scores = maybe(Div, MatMul(Mul(hq, factor), hk), divisor)
    soft = Softmax(maybe(Add, scores, mask))
    joined = Transpose(MatMul(soft, hv))
    return Reshape(joined, ...)


def heads_of(v, x, perm):
    """The heads of v, which is x of [batch, length, heads * size] as [batch, heads, length, size];
    None: another layout."""
    split = inputs_of(v)[0]
    if rank(split) != 4 or rank(x) != 3 or not is_known(split.shape[2]):
        return None
    if split.shape[:2] != x.shape[:2] or attribute(v, "perm", None) != perm:
        return None
    return split.shape[2]


def broadcasts_heads(mask, scores):
    """Whether a mask has the size of the scores, or 1 for all batches or heads."""
    if rank(mask) != 4 or mask.dtype != torch.float32 or rank(scores) != 4:
        return False
    for i in [0, 1]:
        if mask.shape[i] != scores.shape[i] and mask.shape[i] != 1:
            return False
    return mask.shape[2:] == scores.shape[2:]


def heads(q, k, v, hq, hk, hv, soft, joined, mask=None, factor=None, divisor=None):
    """softmax(q k' scale + mask) v of heads that are split off before and joined behind it."""
    y = matched()
    scale = quotient(factor, divisor)
    if q.dtype != torch.float32 or rank(y) != 3 or rank(q) != 3 or scale is None:
        return None
    if n_uses(soft) != 1 or attribute(soft, "axis", -1) not in [-1, 3]:
        return None
    count = heads_of(hq, q, [0, 2, 1, 3])
    if count is None or heads_of(hk, k, [0, 2, 3, 1]) != count:
        return None
    if heads_of(hv, v, [0, 2, 1, 3]) != count or attribute(joined, "perm", None) != [0, 2, 1, 3]:
        return None
    if y.shape[1:] != q.shape[1:] or not same_shape(k, v):
        return None
    if q.shape[0] != k.shape[0] or q.shape[2] != k.shape[2]:
        return None
    if mask is not None and not broadcasts_heads(mask, soft):
        return None
    name = "com.microsoft::MultiHeadAttention"
    return op(name, q, k, v, None, None, mask, num_heads=count, scale=scale)


@rewrite("norm_bias", opset=17, stage=1, use="optimizer")
def bias_of_layer_norm(x, w, b):
    norm = LayerNormalization(x, w)
    return Add(norm, b)


def norm_bias(x, w, b, norm):
    return copy(norm, [x, w, b]) if n_uses(norm) == 1 and same_shape(b, w) else None


@rewrite("layer_norm", opset=17, stage=2, use="optimizer")
def layer_norm_without_weight(x, eps):
    mean = ReduceMean(x, ...)
    c = Sub(x, mean)
    var = ReduceMean(either(Pow(c, 2), Mul(c, c)), ...)
    return Div(c, Sqrt(Add(var, eps)))


# ---- operators of com.microsoft ----


@rewrite("scaled_product", opset=13, stage=1, use="onnxruntime")
def divided_product_of_a_transpose(a, b, divisor):
    turned = Transpose(b)
    product = MatMul(a, turned)
    return Div(product, divisor)


@rewrite("scaled_product", opset=13, stage=1, use="onnxruntime")
def multiplied_product_of_a_transpose(a, b, factor):
    turned = Transpose(b)
    product = MatMul(a, turned)
    return Mul(product, factor)


@rewrite("scaled_product", opset=13, stage=2, use="onnxruntime")
def divided_product(a, b, divisor):
    product = MatMul(a, b)
    return Div(product, divisor)


@rewrite("scaled_product", opset=13, stage=2, use="onnxruntime")
def multiplied_product(a, b, factor):
    product = MatMul(a, b)
    return Mul(product, factor)


@rewrite("scaled_product", opset=13, stage=2, use="onnxruntime")
def product_of_a_transpose(a, b):
    turned = Transpose(b)
    return MatMul(a, turned)


def scaled_product(a, b, turned=None, product=None, factor=None, divisor=None):
    """MatMul(a, b') times a number."""
    n = rank(b)
    scale = quotient(factor, divisor)
    if a.dtype != torch.float32 or rank(a) < 2 or n < 2 or scale is None:
        return None
    last_swapped = list(range(n - 2)) + [n - 1, n - 2]
    if turned is not None and attribute(turned, "perm", None) != last_swapped:
        return None
    if product is not None and (n_uses(product) != 1 or rank(product) != rank(matched())):
        return None
    transposed = 0 if turned is None else 1
    return op("com.microsoft::FusedMatMul", a, b, transB=transposed, alpha=scale)


@rewrite("bias_gelu", opset=13, stage=2, use="onnxruntime")
def gelu_of_a_sum(x, b):
    sum = Add(x, b)
    return Gelu(sum)


@rewrite("bias_gelu", opset=13, stage=2, use="onnxruntime")
def fast_gelu_of_a_sum(x, b):
    sum = Add(x, b)
    return FastGelu(sum)


def bias_gelu(x, b, sum):
    if is_bias(x, sum) and not is_bias(b, sum):
        x, b = b, x
    if not is_bias(b, sum) or not same_shape(x, sum) or n_uses(sum) != 1 or not is_constant(b):
        return None
    is_tanh = attribute(matched(), "approximate", "none") == "tanh"
    if is_tanh or op_of(matched()) == "com.microsoft::FastGelu":
        return op("com.microsoft::FastGelu", x, b)
    return op("com.microsoft::BiasGelu", x, b)


@rewrite("skip_norm", opset=17, stage=2, use="onnxruntime")
def layer_norm_of_a_sum(x, skip, w, b):
    sum = Add(x, skip)
    return LayerNormalization(sum, w, b)


def split_bias(v, like):
    """Splits v into a value with the shape of like, and a bias; None if v is not such a sum."""
    if op_of(v) != "Add" or n_uses(v) != 1:
        return v, None
    first, second = inputs_of(v)
    if is_bias(first, like) and same_shape(second, like):
        return second, first
    if is_bias(second, like) and same_shape(first, like):
        return first, second
    return v, None


def skip_norm(x, skip, w, b, sum):
    """LayerNormalization(x + skip), where x may have a bias; the sum is an output for other
    readers."""
    n = rank(sum)
    if n not in [2, 3] or attribute(matched(), "axis", -1) not in [-1, n - 1]:
        return None
    if not is_float(sum) or not is_bias(w, sum) or not is_bias(b, sum):
        return None
    if not same_shape(x, sum) or not same_shape(skip, sum) or is_returned(sum):
        return None
    is_read = n_uses(sum) > 1
    if attribute(matched(), "stash_type", 1) != 1 or not is_in_block(sum):
        return None
    if is_read and not may_move(sum):
        return None
    x, bias = split_bias(x, sum)
    if bias is None:
        skip, bias = split_bias(skip, sum)
    name = "com.microsoft::SkipLayerNormalization"
    epsilon = attribute(matched(), "epsilon", 1e-5)
    if not is_read:
        return op(name, x, skip, w, b, bias, epsilon=epsilon)
    y, mean, deviation, total = op(name, x, skip, w, b, bias, epsilon=epsilon, outputs=4)
    omit(mean)
    omit(deviation)
    replace(sum, total)
    return y
