"""Operators of com.microsoft as functions of standard ones: those that ONNX Runtime's optimizer and
quantizer write.

Parameters are inputs and attributes of the node, by their names in the schema
(src/onnx/ops/microsoft.c). Shapes and ranks are unknown here, so nodes compute what depends on
them.
"""

import math
import torch

from calque.onnx import *


def add_if(x, y):
    """x + y, or x if y is None."""
    return x if y is None else x + y


# ---- layers with their activations ----


def activated(y, activation, alpha, beta):
    """The activation that a fused layer names; alpha and beta may be None."""
    if activation is None or activation == "":
        return y
    if activation == "Relu":
        return Relu(y)
    if activation == "Tanh":
        return Tanh(y)
    if activation == "Sigmoid":
        return Sigmoid(y)
    if activation == "Softplus":
        return Softplus(y)
    if activation == "Softsign":
        return Softsign(y)
    if activation == "Elu":
        return Elu(y)
    if activation == "Gelu":
        return Gelu(y)
    if activation == "HardSwish":
        return HardSwish(y)
    if activation == "LeakyRelu":
        return LeakyRelu(y, alpha=0.01 if alpha is None else alpha)
    if activation == "HardSigmoid":
        return HardSigmoid(
            y, alpha=0.2 if alpha is None else alpha, beta=0.5 if beta is None else beta
        )
    if activation == "Clip" and alpha is not None and beta is not None:
        return Clip(y, like(alpha, y), like(beta, y))
    raise NotImplementedError("has an unknown activation")


@function("com.microsoft::FusedConv")
def fused_conv(
    X,
    W,
    B,
    Z,
    activation,
    activation_params,
    auto_pad,
    dilations,
    group,
    kernel_shape,
    pads,
    strides,
):
    y = Conv(
        X,
        W,
        B,
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
    )
    n = 0 if activation_params is None else len(activation_params)
    alpha = activation_params[0] if n > 0 else None
    beta = activation_params[1] if n > 1 else None
    return activated(add_if(y, Z), activation, alpha, beta)


@function("com.microsoft::FusedGemm")
def fused_gemm(
    A, B, C, activation, activation_alpha, activation_beta, alpha, beta, transA, transB
):
    y = Gemm(A, B, C, alpha=alpha, beta=beta, transA=transA, transB=transB)
    return activated(y, activation, activation_alpha, activation_beta)


def transposed(x):
    """The last two axes exchanged, for any rank."""
    return Einsum(x, equation="...ij->...ji")


def product(A, B, alpha, transA, transB):
    return MatMul(transposed(A) if transA else A, transposed(B) if transB else B) * alpha


def refuse_batch_axes(transBatchA, transBatchB):
    if transBatchA or transBatchB:
        raise NotImplementedError("is not supported with transBatchA or transBatchB")


@function("com.microsoft::FusedMatMul")
def fused_matmul(A, B, alpha, transA, transB, transBatchA, transBatchB):
    refuse_batch_axes(transBatchA, transBatchB)
    return product(A, B, alpha, transA, transB)


@function("com.microsoft::FusedMatMulActivation")
def fused_matmul_activation(
    A,
    B,
    activation,
    activation_alpha,
    activation_beta,
    alpha,
    transA,
    transB,
    transBatchA,
    transBatchB,
):
    refuse_batch_axes(transBatchA, transBatchB)
    y = product(A, B, alpha, transA, transB)
    return activated(y, activation, activation_alpha, activation_beta)


@function("com.microsoft::TransposeMatMul")
def transpose_matmul(A, B, alpha, transA, transB):
    return product(A, B, alpha, transA, transB)


# ---- activations ----


@function("com.microsoft::Gelu")
def gelu(X):
    return Gelu(X)


@function("com.microsoft::BiasGelu")
def bias_gelu(A, B):
    return Gelu(A + B)


@function("com.microsoft::FastGelu")
def fast_gelu(X, bias):
    return Gelu(add_if(X, bias), approximate="tanh")


@function("com.microsoft::QuickGelu")
def quick_gelu(X, alpha):
    return X * Sigmoid(X * alpha)


@function("com.microsoft::BiasSplitGelu")
def bias_split_gelu(X, bias):
    """The first half times the Gelu of the second half."""
    left, right = Split(X + bias, axis=-1, num_outputs=2, outputs=2)
    return left * Gelu(right)


@function("com.microsoft::BiasSoftmax")
def bias_softmax(data, bias, axis):
    if axis != -1:
        raise NotImplementedError("is supported along the last axis only")
    return Softmax(data + bias, axis=-1)


# ---- shapes ----


@function("com.microsoft::ExpandDims")
def expand_dims(X, axis):
    return Unsqueeze(X, Reshape(Cast(axis, to=torch.int64), [-1]))


@function("com.microsoft::Trilu")
def trilu(X, k, upper):
    return Trilu(X, k, upper=upper)


# ---- normalisation ----


@function("com.microsoft::SimplifiedLayerNormalization")
def simplified_layer_normalization(X, scale, axis, epsilon):
    return RMSNormalization(X, scale, axis=axis, epsilon=epsilon), None


@function("com.microsoft::SkipLayerNormalization")
def skip_layer_normalization(input, skip, gamma, beta, bias, epsilon):
    """skip may lack axes of input; the sum has all of them."""
    s = add_if(input + skip, bias)
    y, mean, inv_std_var = LayerNormalization(s, gamma, beta, epsilon=epsilon, outputs=3)
    return y, mean, inv_std_var, s


@function("com.microsoft::SkipSimplifiedLayerNormalization")
def skip_simplified_layer_normalization(input, skip, gamma, bias, epsilon):
    s = add_if(input + skip, bias)
    return RMSNormalization(s, gamma, epsilon=epsilon), None, None, s


@function("com.microsoft::EmbedLayerNormalization")
def embed_layer_normalization(
    input_ids,
    segment_ids,
    word_embedding,
    position_embedding,
    segment_embedding,
    gamma,
    beta,
    mask,
    position_ids,
    epsilon,
):
    """Sums the embeddings of words, positions and segments; mask_index is the number of unmasked
    words per row."""
    s = Gather(word_embedding, input_ids)
    if position_ids is None:
        s = s + Slice(position_embedding, [0], Shape(input_ids, start=1, end=2), [0])
    else:
        s = s + Gather(position_embedding, position_ids)
    if segment_ids is not None:
        s = s + Gather(segment_embedding, segment_ids)
    y = LayerNormalization(s, gamma, beta, epsilon=epsilon)
    counted = input_ids - input_ids if mask is None else mask
    return y, ReduceSum(counted, [1], keepdims=0), s


# ---- attention ----


def hidden_by_ends(mask, batch, total):
    """A mask with one axis has the end of each row, optionally followed by the starts."""
    column = Concat(batch, [1], [1], [1], axis=0)
    padded = Concat(mask, Expand(0, batch), axis=0)
    end = Reshape(Slice(mask, [0], batch, [0]), column)
    start = Reshape(Slice(padded, batch, batch + batch, [0]), column)
    at = Range(0, Squeeze(total), 1)
    return Or(GreaterOrEqual(at, end), Less(at, start))


def hidden_by_numbers(mask, batch, mask_shape):
    """A mask with two or three axes is nonzero for visible keys."""
    wide = Concat(batch, [1], [-1], Gather(mask_shape, [-1]), axis=0)
    return Equal(Reshape(mask, wide), 0)


def hidden_keys(mask_index, rows, total):
    """Which keys are hidden: [batch, 1, queries or 1, total]."""
    mask = Cast(mask_index, to=torch.int64)
    batch = Shape(rows, start=0, end=1)
    mask_shape = Shape(mask)
    return If(
        Equal(Size(mask_shape), 1),
        then_branch=lambda: hidden_by_ends(mask, batch, total),
        else_branch=lambda: hidden_by_numbers(mask, batch, mask_shape),
    )


def added_to_scores(mask, bias, q, total, mask_filter_value):
    """The addend of scores, from a mask and a bias; either may be None."""
    if mask is None:
        return bias
    hidden = hidden_keys(mask, q, total)
    return add_if(Where(hidden, like(mask_filter_value, q), like(0.0, q)), bias)


def given_scale(scale):
    return None if scale is None or scale == 0 else scale


def attention_of(q, k, v, mask, past, bias, num_heads, scale, unidirectional, mask_filter_value):
    """The outputs of Attention and QAttention, of q, k, v with three axes."""
    past_k = None
    past_v = None
    total = Shape(q, start=1, end=2)
    if past is not None:
        halves = Split(past, axis=0, num_outputs=2, outputs=2)
        past_k = Squeeze(halves[0], [0])
        past_v = Squeeze(halves[1], [0])
        total = total + Shape(past_k, start=2, end=3)
    y, present_k, present_v = Attention(
        q,
        k,
        v,
        added_to_scores(mask, bias, q, total, mask_filter_value),
        past_k,
        past_v,
        q_num_heads=num_heads,
        kv_num_heads=num_heads,
        is_causal=unidirectional,
        scale=given_scale(scale),
        outputs=3,
    )
    return y, Concat(Unsqueeze(present_k, [0]), Unsqueeze(present_v, [0]), axis=0)


def refuse_special_attention(do_rotary, past_present_share_buffer):
    if do_rotary:
        raise NotImplementedError("is not supported with do_rotary")
    if past_present_share_buffer:
        raise NotImplementedError("is not supported with past_present_share_buffer")


@function("com.microsoft::Attention")
def attention(
    input,
    weights,
    bias,
    mask_index,
    past,
    attention_bias,
    do_rotary,
    mask_filter_value,
    num_heads,
    past_present_share_buffer,
    qkv_hidden_sizes,
    scale,
    unidirectional,
):
    refuse_special_attention(do_rotary, past_present_share_buffer)
    qkv = add_if(MatMul(input, weights), bias)
    if qkv_hidden_sizes is not None and len(qkv_hidden_sizes) == 3:
        q, k, v = Split(qkv, qkv_hidden_sizes, axis=-1, outputs=3)
    else:
        q, k, v = Split(qkv, axis=-1, num_outputs=3, outputs=3)
    return attention_of(
        q,
        k,
        v,
        mask_index,
        past,
        attention_bias,
        num_heads,
        scale,
        unidirectional,
        mask_filter_value,
    )


@function("com.microsoft::QAttention")
def quantized_attention(
    input,
    weight,
    bias,
    input_scale,
    weight_scale,
    mask_index,
    input_zero_point,
    weight_zero_point,
    past,
    do_rotary,
    mask_filter_value,
    num_heads,
    past_present_share_buffer,
    scale,
    unidirectional,
):
    refuse_special_attention(do_rotary, past_present_share_buffer)
    y = whole_product(
        input, weight, input_zero_point, weight_zero_point, input_scale, weight_scale
    )
    q, k, v = Split(y + bias, axis=-1, num_outputs=3, outputs=3)
    return attention_of(
        q, k, v, mask_index, past, None, num_heads, scale, unidirectional, mask_filter_value
    )


def packed_part(packed, i):
    """Part i of [batch, length, heads, n, width], as [batch, length, heads * width]."""
    return Reshape(Gather(packed, i, axis=3), [0, 0, -1])


def biased(x, bias, start, end):
    """A bias has parts for q, k and v. Keys and values with four axes belong to another sequence
    and are already projected."""
    return If(
        Equal(Size(Shape(x)), 4),
        then_branch=lambda: x,
        else_branch=lambda: x + Slice(bias, start, end),
    )


@function("com.microsoft::MultiHeadAttention")
def multi_head_attention(
    query,
    key,
    value,
    bias,
    key_padding_mask,
    attention_bias,
    past_key,
    past_value,
    past_sequence_length,
    cache_indirection,
    mask_filter_value,
    num_heads,
    scale,
    unidirectional,
):
    if past_sequence_length is not None or cache_indirection is not None:
        raise NotImplementedError("is not supported with buffers that past and present share")
    if key is None:
        q, k, v = [packed_part(query, i) for i in range(3)]
    elif value is None:
        q = query
        k, v = [packed_part(key, i) for i in range(2)]
    else:
        q, k, v = [query, key, value]
    if bias is not None:
        width = Shape(q, start=2, end=3)
        q = biased(q, bias, [0], width)
        k = biased(k, bias, width, width + width)
        v = biased(v, bias, width + width, Shape(bias))
    total = Shape(k, start=-2, end=-1)
    if past_key is not None:
        total = total + Shape(past_key, start=2, end=3)
    return Attention(
        q,
        k,
        v,
        added_to_scores(key_padding_mask, attention_bias, q, total, mask_filter_value),
        past_key,
        past_value,
        q_num_heads=num_heads,
        kv_num_heads=num_heads,
        is_causal=unidirectional,
        scale=given_scale(scale),
        outputs=3,
    )


def unpacked_heads(query, num_heads, kv_num_heads):
    """q, k and v from one input with the heads of all three concatenated."""
    heads = Reshape(query, [0, 0, num_heads + 2 * kv_num_heads, -1])
    sizes = [num_heads, kv_num_heads, kv_num_heads]
    return [Reshape(part, [0, 0, -1]) for part in Split(heads, sizes, axis=2, outputs=3)]


def with_cache(new, past, heads, start, total):
    """The cache, followed by new keys or values [batch, length, heads * width]."""
    apart = Transpose(Reshape(new, [0, 0, heads, -1]), perm=[0, 2, 1, 3])
    missing = total
    if past is not None:
        had = Shape(past, start=2, end=3)
        missing = Max(total, had) - had
    sizes = Split(Shape(apart), num_outputs=4, outputs=4)
    zeros = ConstantOfShape(Concat(sizes[0], sizes[1], missing, sizes[3], axis=0))
    cache = CastLike(zeros, new)
    if past is not None:
        cache = Concat(past, cache, axis=2)
    return TensorScatter(cache, apart, start, axis=2)


@function("com.microsoft::GroupQueryAttention")
def group_query_attention(
    query,
    key,
    value,
    past_key,
    past_value,
    seqlens_k,
    total_sequence_length,
    cos_cache,
    sin_cache,
    position_ids,
    attention_bias,
    head_sink,
    do_rotary,
    kv_num_heads,
    local_window_size,
    num_heads,
    rotary_interleaved,
    scale,
    smooth_softmax,
    softcap,
):
    if head_sink is not None or smooth_softmax > 0:
        raise NotImplementedError("is not supported with head_sink or smooth_softmax")
    q, k, v = [query, key, value]
    if key is None:
        q, k, v = unpacked_heads(query, num_heads, kv_num_heads)
    # The first query position of each row, and the position of each query. In the first call all
    # rows begin at 0; later the queries are at the last filled positions.
    length = Shape(q, start=1, end=2)
    total = Reshape(Cast(total_sequence_length, to=torch.int64), [-1])
    filled = Reshape(Cast(seqlens_k, to=torch.int64), [-1]) + 1
    start = Where(Equal(total, length), 0, filled - Squeeze(length))
    positions = Unsqueeze(start, [1]) + Range(0, Squeeze(length), 1)
    if do_rotary:
        ids = positions if position_ids is None else position_ids
        q = RotaryEmbedding(
            q, cos_cache, sin_cache, ids, num_heads=num_heads, interleaved=rotary_interleaved
        )
        k = RotaryEmbedding(
            k, cos_cache, sin_cache, ids, num_heads=kv_num_heads, interleaved=rotary_interleaved
        )
    k = with_cache(k, past_key, kv_num_heads, start, total)
    v = with_cache(v, past_value, kv_num_heads, start, total)
    # Keys after a query, or too far before it, are hidden.
    keys = Range(0, Squeeze(Shape(k, start=2, end=3)), 1)
    mine = Unsqueeze(Unsqueeze(positions, [1]), [3])
    hidden = Greater(keys, mine)
    if local_window_size > 0:
        hidden = Or(hidden, LessOrEqual(keys, mine - local_window_size))
    y = Attention(
        q,
        k,
        v,
        add_if(Where(hidden, like(-math.inf, q), like(0.0, q)), attention_bias),
        q_num_heads=num_heads,
        kv_num_heads=kv_num_heads,
        scale=given_scale(scale),
        softcap=softcap,
    )
    return y, k, v, None


@function("com.microsoft::RotaryEmbedding")
def rotary_embedding(
    input,
    position_ids,
    cos_cache,
    sin_cache,
    interleaved,
    is_packed_batching,
    num_heads,
    rotary_embedding_dim,
    scale,
):
    """A single position is the start of all rows."""
    if is_packed_batching or scale != 1:
        raise NotImplementedError("is not supported with is_packed_batching or scale")
    length = Shape(input, start=-2, end=-1)
    batch = Shape(input, start=0, end=1)
    ids = If(
        Equal(Size(position_ids), 1),
        then_branch=lambda: Expand(
            position_ids + Range(0, Squeeze(length), 1), Concat(batch, length, axis=0)
        ),
        else_branch=lambda: position_ids,
    )
    return RotaryEmbedding(
        input,
        cos_cache,
        sin_cache,
        ids,
        interleaved=interleaved,
        num_heads=num_heads,
        rotary_embedding_dim=rotary_embedding_dim,
    )


# ---- quantized operators ----


@function("com.microsoft::DequantizeLinear")
def dequantize_linear(x, x_scale, x_zero_point, axis):
    return DequantizeLinear(x, x_scale, x_zero_point, axis=axis)


@function("com.microsoft::QuantizeLinear")
def quantize_linear(x, y_scale, y_zero_point, axis):
    return QuantizeLinear(x, y_scale, y_zero_point, axis=axis)


@function("com.microsoft::QLinearAdd")
def qlinear_add(A, A_scale, A_zero_point, B, B_scale, B_zero_point, C_scale, C_zero_point):
    a = DequantizeLinear(A, A_scale, A_zero_point)
    b = DequantizeLinear(B, B_scale, B_zero_point)
    return QuantizeLinear(a + b, C_scale, C_zero_point)


@function("com.microsoft::QLinearMul")
def qlinear_mul(A, A_scale, A_zero_point, B, B_scale, B_zero_point, C_scale, C_zero_point):
    a = DequantizeLinear(A, A_scale, A_zero_point)
    b = DequantizeLinear(B, B_scale, B_zero_point)
    return QuantizeLinear(a * b, C_scale, C_zero_point)


@function("com.microsoft::QLinearLeakyRelu")
def qlinear_leaky_relu(X, X_scale, X_zero_point, Y_scale, Y_zero_point, alpha):
    x = DequantizeLinear(X, X_scale, X_zero_point)
    return QuantizeLinear(LeakyRelu(x, alpha=alpha), Y_scale, Y_zero_point)


@function("com.microsoft::QLinearSigmoid")
def qlinear_sigmoid(X, X_scale, X_zero_point, Y_scale, Y_zero_point):
    x = DequantizeLinear(X, X_scale, X_zero_point)
    return QuantizeLinear(Sigmoid(x), Y_scale, Y_zero_point)


@function("com.microsoft::QLinearSoftmax")
def qlinear_softmax(X, X_scale, x_zero_point, y_scale, y_zero_point, axis, opset):
    """Before opset 13 Softmax flattens all axes from axis on."""
    x = DequantizeLinear(X, X_scale, x_zero_point)
    if opset < 13 and axis != -1:
        y = Reshape(Softmax(Flatten(x, axis=axis), axis=-1), Shape(x))
    else:
        y = Softmax(x, axis=axis)
    return QuantizeLinear(y, y_scale, y_zero_point)


@function("com.microsoft::QLinearWhere")
def qlinear_where(
    condition, X, x_scale, x_zero_point, Y, y_scale, y_zero_point, z_scale, z_zero_point
):
    x = DequantizeLinear(X, x_scale, x_zero_point)
    y = DequantizeLinear(Y, y_scale, y_zero_point)
    return QuantizeLinear(Where(condition, x, y), z_scale, z_zero_point)


@function("com.microsoft::QLinearReduceMean")
def qlinear_reduce_mean(
    data, data_scale, data_zero_point, reduced_scale, reduced_zero_point, axes, keepdims
):
    x = DequantizeLinear(data, data_scale, data_zero_point)
    mean = ReduceMean(x, axes, keepdims=keepdims)
    return QuantizeLinear(mean, reduced_scale, reduced_zero_point)


@function("com.microsoft::QLinearConcat")
def qlinear_concat(Y_scale, Y_zero_point, inputs, axis):
    """inputs are groups of a tensor, its scale and its zero point."""
    if len(inputs) < 3 or len(inputs) % 3 != 0:
        raise NotImplementedError("expects inputs in groups of three")
    parts = [
        DequantizeLinear(inputs[i], inputs[i + 1], inputs[i + 2])
        for i in range(0, len(inputs), 3)
    ]
    return QuantizeLinear(Concat(parts, axis=axis), Y_scale, Y_zero_point)


# ---- pooling of quantized images ----


def channels_first(x, n):
    """An image with n spatial axes, moved from channels-last to channels-first."""
    return Transpose(x, perm=[0, n + 1] + [i + 1 for i in range(n)])


def channels_last(x, n):
    return Transpose(x, perm=[0] + [i + 2 for i in range(n)] + [1])


@function("com.microsoft::QLinearAveragePool")
def qlinear_average_pool(
    X,
    x_scale,
    x_zero_point,
    y_scale,
    y_zero_point,
    auto_pad,
    ceil_mode,
    channels_last,
    count_include_pad,
    kernel_shape,
    pads,
    strides,
):
    n = len(kernel_shape)
    x = DequantizeLinear(X, x_scale, x_zero_point)
    y = AveragePool(
        channels_first(x, n) if channels_last else x,
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
    )
    return QuantizeLinear(with_layout(y, n, channels_last), y_scale, y_zero_point)


def with_layout(y, n, is_last):
    return channels_last(y, n) if is_last else y


@function("com.microsoft::QLinearGlobalAveragePool")
def qlinear_global_average_pool(
    X, x_scale, x_zero_point, y_scale, y_zero_point, channels_last
):
    """Images of two axes, if channels are last."""
    x = DequantizeLinear(X, x_scale, x_zero_point)
    y = GlobalAveragePool(channels_first(x, 2) if channels_last else x)
    return QuantizeLinear(with_layout(y, 2, channels_last), y_scale, y_zero_point)


@function("com.microsoft::NhwcMaxPool")
def nhwc_max_pool(x, auto_pad, ceil_mode, dilations, kernel_shape, pads, strides):
    n = len(kernel_shape)
    y = MaxPool(
        channels_first(x, n),
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
        dilations=dilations,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
    )
    return channels_last(y, n)


# ---- products of quantized matrices ----


def whole_product(A, B, a_zero_point, b_zero_point, a_scale, b_scale):
    """The integer product, times both scales."""
    scale = a_scale * b_scale
    return CastLike(MatMulInteger(A, B, a_zero_point, b_zero_point), scale) * scale


@function("com.microsoft::MatMulIntegerToFloat")
def matmul_integer_to_float(A, B, a_scale, b_scale, a_zero_point, b_zero_point, bias):
    return add_if(whole_product(A, B, a_zero_point, b_zero_point, a_scale, b_scale), bias)


@function("com.microsoft::DynamicQuantizeMatMul")
def dynamic_quantize_matmul(A, B, b_scale, b_zero_point, bias):
    a, a_scale, a_zero_point = DynamicQuantizeLinear(A, outputs=3)
    return add_if(whole_product(a, B, a_zero_point, b_zero_point, a_scale, b_scale), bias)


@function("com.microsoft::QGemm")
def quantized_gemm(
    A,
    a_scale,
    a_zero_point,
    B,
    b_scale,
    b_zero_point,
    C,
    y_scale,
    y_zero_point,
    alpha,
    transA,
    transB,
):
    """C is in steps of alpha * a_scale * b_scale."""
    a = Transpose(A) if transA else A
    b = Transpose(B) if transB else B
    whole = add_if(MatMulInteger(a, b, a_zero_point, b_zero_point), C)
    scale = a_scale * b_scale * alpha
    y = CastLike(whole, scale) * scale
    return y if y_scale is None else QuantizeLinear(y, y_scale, y_zero_point)


def unpacked(x, bits):
    """Unpacks numbers of the given bits from bytes, lowest bits first, along a new last axis."""
    shifts = Cast([i * bits for i in range(8 // bits)], to=torch.uint8)
    shifted = BitShift(Unsqueeze(x, [-1]), shifts, direction="RIGHT")
    return BitwiseAnd(shifted, Cast(2**bits - 1, to=torch.uint8))


def block_zeros(zero_points, scales, bits, N, blocks):
    """The zero point of each block: packed in rows, or of the type of scales."""
    if zero_points is None:
        return like(2 ** (bits - 1), scales)
    rows = Reshape(unpacked(Cast(zero_points, to=torch.uint8), bits), [N, -1])
    packed = Slice(rows, [0], [blocks], [1])
    if blocks > 1:
        zeros = If(
            Equal(Size(zero_points), N * blocks),
            then_branch=lambda: CastLike(zero_points, scales),
            else_branch=lambda: CastLike(packed, scales),
        )
    else:
        zeros = CastLike(packed, scales)
    return Reshape(zeros, [N, blocks, 1])


@function("com.microsoft::MatMulNBits")
def matmul_n_bits(A, B, scales, zero_points, g_idx, bias, K, N, bits, block_size):
    """The weights [N, blocks, bytes] are unpacked, which is done once: they are constants."""
    if bits not in [2, 4, 8] or block_size < 1 or N < 1 or K < 1 or g_idx is not None:
        raise NotImplementedError("is supported only with 2, 4 or 8 bits and without g_idx")
    if max(N, K, block_size) > 2**31:
        raise NotImplementedError("has sizes that are too large")
    blocks = (K + block_size - 1) // block_size
    whole = CastLike(Reshape(unpacked(B, bits), [N, blocks, block_size]), scales)
    zeros = block_zeros(zero_points, scales, bits, N, blocks)
    real = (whole - zeros) * Reshape(scales, [N, blocks, 1])
    weights = Slice(Reshape(real, [N, -1]), [0], [K], [1])
    return add_if(MatMul(A, Transpose(weights, perm=[1, 0])), bias)
