"""Adapters between versions of ONNX operators (versions.py): attention."""

import math
import torch

from calque.onnx import *
from onnx.versions_common import dtype_for, known_rank, need


def length_of(x):
    """The number of queries or keys, as a value."""
    return Gather(Shape(x), 1 if known_rank(x) == 3 else 2, axis=0)


def visible_keys(Q, K, past_key, filled, left, right):
    """A mask of visible keys by position. filled: the number of keys of each sample. left and
    right: how many keys before and after its own position a query sees; -1 for all."""
    past = 0 if past_key is None else Gather(Shape(past_key), 2, axis=0)
    keys = length_of(K) if past_key is None else Add(length_of(K), past)
    if filled is not None:
        end = Reshape(filled, [-1, 1, 1, 1])
        past = Sub(end, length_of(Q))
    own = Add(Unsqueeze(Range(0, length_of(Q), 1), [1]), past)
    key = Unsqueeze(Range(0, keys, 1), [0])
    parts = [] if filled is None else [Less(key, end)]
    if left >= 0:
        parts = parts + [GreaterOrEqual(key, Sub(own, left))]
    if right >= 0:
        parts = parts + [LessOrEqual(key, Add(own, right))]
    mask = parts[0]
    for part in parts[1:]:
        mask = And(mask, part)
    return mask


def joined_masks(attn_mask, mask, K, past_key, x):
    if attn_mask is None:
        return mask
    axis = 1 if known_rank(K) == 3 else 2
    more = 0 if past_key is None else size(past_key, 2)
    need(size(K, axis) is not None and more is not None, "a mask and dynamic lengths of keys")
    need(size(attn_mask, -1) == size(K, axis) + more, "a mask of another length than the keys")
    if dtype_for(attn_mask) == torch.bool:
        return And(attn_mask, mask)
    return attn_mask + Where(mask, like(0.0, attn_mask), like(-math.inf, attn_mask))


@downgrade("Attention", 25)
def attention_down_25(
    Q, K, V, attn_mask, past_key, past_value, nonpad_kv_seqlen, left_window_size, right_window_size
):
    """Converts windows to a mask."""
    if left_window_size < 0 and right_window_size < 0:
        return again(left_window_size=None, right_window_size=None)
    mask = visible_keys(
        Q, K, past_key, nonpad_kv_seqlen, left_window_size, right_window_size
    )
    mask = joined_masks(attn_mask, mask, K, past_key, Q)
    return again(
        Q,
        K,
        V,
        mask,
        past_key,
        past_value,
        nonpad_kv_seqlen,
        left_window_size=None,
        right_window_size=None,
    )


@downgrade("Attention", 24)
def attention_down_24(Q, K, V, attn_mask, past_key, past_value, nonpad_kv_seqlen, is_causal):
    """Converts the number of filled keys to a mask."""
    if nonpad_kv_seqlen is None:
        return again(Q, K, V, attn_mask, past_key, past_value)
    mask = visible_keys(Q, K, past_key, nonpad_kv_seqlen, -1, 0 if is_causal else -1)
    mask = joined_masks(attn_mask, mask, K, past_key, Q)
    return again(Q, K, V, mask, past_key, past_value, is_causal=0)


def with_heads(x, count):
    """[batch, sequence, heads * size] as [batch, heads, sequence, size]."""
    if known_rank(x) == 4:
        return x
    return Transpose(Reshape(x, [0, 0, count, -1]), perm=[0, 2, 1, 3])


def repeated_heads(x, q_heads, kv_heads):
    """Repeats the heads of keys and values for groups of query heads."""
    if q_heads == kv_heads:
        return x
    y = Unsqueeze(x, [2])
    shape = Shape(x)
    wide = Concat(
        Slice(shape, [0], [2], [0]), [q_heads // kv_heads], Slice(shape, [2], [4], [0]), axis=0
    )
    flat = Concat(Slice(shape, [0], [1], [0]), [q_heads], Slice(shape, [2], [4], [0]), axis=0)
    return Reshape(Expand(y, wide), flat)


def head_count(x, given):
    """The number of heads: an attribute of three axes, a size of four."""
    count = given if known_rank(x) == 3 else size(x, 1)
    need(count is not None, "an unknown number of heads")
    return count


@downgrade("Attention", 23)
def attention_down(
    Q,
    K,
    V,
    attn_mask,
    past_key,
    past_value,
    is_causal,
    kv_num_heads,
    q_num_heads,
    qk_matmul_output_mode,
    scale,
    softcap,
    softmax_precision,
):
    q_heads = head_count(Q, q_num_heads)
    kv_heads = head_count(K, kv_num_heads)
    q = with_heads(Q, q_heads)
    k = with_heads(K, kv_heads)
    v = with_heads(V, kv_heads)
    present_k = k if past_key is None else Concat(past_key, k, axis=2)
    present_v = v if past_value is None else Concat(past_value, v, axis=2)
    k = repeated_heads(present_k, q_heads, kv_heads)
    v = repeated_heads(present_v, q_heads, kv_heads)
    width = size(Q, -1)
    need(scale is not None or width is not None, "a dynamic size of heads")
    if scale is None:
        scale = 1 / math.sqrt(width // q_heads if known_rank(Q) == 3 else width)
    half = math.sqrt(scale)
    scores = MatMul(q * half, Transpose(k * half, perm=[0, 1, 3, 2]))
    raw = scores
    capped = Tanh(scores / softcap) * softcap if softcap else scores
    biased = capped
    if attn_mask is not None and dtype_for(attn_mask) == torch.bool:
        biased = biased + Where(attn_mask, like(0.0, q), like(-math.inf, q))
    elif attn_mask is not None:
        is_same = dtype_for(attn_mask) == dtype_for(Q)
        biased = biased + (attn_mask if is_same else Cast(attn_mask, to=dtype_for(Q)))
    if is_causal:
        seen = visible_keys(Q, K, past_key, None, -1, 0)
        biased = biased + Where(seen, like(0.0, q), like(-math.inf, q))
    precision = dtype_for(Q) if softmax_precision is None else softmax_precision
    wide = Cast(biased, to=precision) if precision != dtype_for(Q) else biased
    # A query that sees no key has weights of 0, not NaN.
    weights = Softmax(wide, axis=-1)
    if is_causal or attn_mask is not None:
        is_blind = LessOrEqual(ReduceMax(wide, [-1], keepdims=1), like(-math.inf, wide))
        weights = Where(is_blind, like(0.0, wide), weights)
    if precision != dtype_for(Q):
        weights = Cast(weights, to=dtype_for(Q))
    y = MatMul(weights, v)
    if known_rank(Q) == 3:
        y = Reshape(Transpose(y, perm=[0, 2, 1, 3]), [0, 0, -1])
    # Without a cap mode 1 has the meaning of early versions: the masked scores.
    modes = [raw, capped if softcap else biased, biased, weights]
    return y, present_k, present_v, modes[qk_matmul_output_mode]


@downgrade("RotaryEmbedding", 23)
def rotary_down(
    X, cos_cache, sin_cache, position_ids, interleaved, num_heads, rotary_embedding_dim
):
    """Halves or pairs of the first numbers of each head are rotated by an angle."""
    n = known_rank(X)
    x = X if n == 3 else Transpose(X, perm=[0, 2, 1, 3])
    heads = num_heads if n == 3 else size(X, 1)
    need(heads is not None and heads > 0, "an unknown number of heads")
    width = size(X, -1)
    need(width is not None, "a dynamic size of heads")
    width = width // heads if n == 3 else width
    turned = width if rotary_embedding_dim == 0 else rotary_embedding_dim
    x = Reshape(x, [0, 0, heads, width]) if n == 3 else x
    cos = cos_cache if position_ids is None else Gather(cos_cache, position_ids, axis=0)
    sin = sin_cache if position_ids is None else Gather(sin_cache, position_ids, axis=0)
    cos = Unsqueeze(cos, [2])
    sin = Unsqueeze(sin, [2])
    first = Slice(x, [0], [turned], [3])
    rest = Slice(x, [turned], [width], [3])
    if interleaved:
        pairs = Reshape(first, [0, 0, 0, turned // 2, 2])
        a = Gather(pairs, 0, axis=4)
        b = Gather(pairs, 1, axis=4)
    else:
        a = Slice(first, [0], [turned // 2], [3])
        b = Slice(first, [turned // 2], [turned], [3])
    real = a * cos - b * sin
    imaginary = a * sin + b * cos
    if interleaved:
        both = Concat(Unsqueeze(real, [4]), Unsqueeze(imaginary, [4]), axis=4)
        y = Reshape(both, [0, 0, 0, turned])
    else:
        y = Concat(real, imaginary, axis=3)
    y = y if turned == width else Concat(y, rest, axis=3)
    return Reshape(y, Shape(X)) if n == 3 else Transpose(y, perm=[0, 2, 1, 3])
