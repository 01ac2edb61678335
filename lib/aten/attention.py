"""Scaled dot-product and multi-head attention."""

import math
import torch

from calque import is_known, operator


def divide_by_power(x, size, power):
    """x / size ** power, where size may be a symbol."""
    if is_known(size):
        return x * size ** (-power)
    return x / torch.scalar_tensor(size, dtype=x.dtype) ** power


def in_float32(x):
    return x.to(torch.float32) if x.dtype in [torch.float16, torch.bfloat16] else x


def for_all_heads(x, query):
    """Repeats each head of keys or values for the heads of queries that share it."""
    if x.ndim < 3 or query.ndim < 3:
        return x
    return x.repeat_interleave(query.shape[-3] // x.shape[-3], -3)


def attend(query, key, value, attn_mask, dropout_p, is_causal, scale, safe):
    """softmax(q @ k.T * scale + mask) @ v, and the softmax. Without a scale both factors are
    divided by the fourth root of their size, so that neither overflows in half precision. If safe
    is true, the softmax is 0 where a mask hides all keys; a causal query sees at least the first
    key."""
    assert (
        query.ndim > 1 and key.ndim > 1 and (value.ndim > 1)
    ), "expected query, key and value of at least 2 dimensions"
    assert not is_causal or attn_mask is None, "a mask and is_causal exclude each other"
    size = query.shape[-1]
    k = key.transpose(-2, -1)
    if scale is not None:
        scores = query * scale @ k
    else:
        scores = divide_by_power(query, size, 0.25) @ divide_by_power(k, size, 0.25)
    if is_causal:
        scores = scores.masked_fill(
            torch.ones(scores.shape[-2:], dtype=torch.bool).tril().logical_not(), -math.inf
        )
    if attn_mask is not None:
        scores = (
            scores.masked_fill(attn_mask.logical_not(), -math.inf)
            if attn_mask.dtype == torch.bool
            else scores + attn_mask
        )
    weights = (
        torch.ops.aten._safe_softmax(scores, -1)
        if safe and attn_mask is not None
        else scores.softmax(-1)
    )
    if dropout_p > 0:
        weights = torch.dropout(weights, dropout_p, True)
    return (weights @ value, weights)


def head_of(x, weight, bias, size, heads, i):
    """One of query, key and value, projected by its part of the common weight and bias: [batch,
    heads, length, size of a head]."""
    t = torch.ops.aten.linear(
        x,
        torch.ops.aten.slice(weight, 0, size * i, size * (i + 1)),
        torch.ops.aten.slice(bias, 0, size * i, size * (i + 1)),
    )
    return t.reshape([t.shape[0], t.shape[1], heads, t.shape[2] // heads]).transpose(1, 2)


def multi_head(
    query, key, value, size, heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, mask_type
):
    """Multi-head attention, and its weights per head. A mask is [batch, keys] (type 1) or [queries,
    keys]; scores are [batch, heads, queries, keys]."""
    assert (
        query.ndim == 3 and query.shape[2] == size
    ), f"expected an input of [batch, length, {size}]"
    assert heads > 0 and size % heads == 0, f"the size {size} is not divisible by {heads} heads"
    q = head_of(query, qkv_weight, qkv_bias, size, heads, 0)
    k = head_of(key, qkv_weight, qkv_bias, size, heads, 1)
    v = head_of(value, qkv_weight, qkv_bias, size, heads, 2)
    scores = divide_by_power(q, q.shape[3], 0.5) @ k.transpose(-2, -1)
    if mask is not None and mask_type == 1 and (mask.ndim == 2):
        mask = mask.unsqueeze(1).unsqueeze(1)
    if mask is not None:
        scores = scores.masked_fill(mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    weights = scores.softmax(-1)
    t = (weights @ v).transpose(1, 2)
    t = t.reshape([t.shape[0], t.shape[1], t.shape[2] * t.shape[3]])
    return (torch.ops.aten.linear(t, proj_weight, proj_bias), weights)


@operator(
    "aten::_scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, "
    "Tensor? attn_mask=None, float dropout_p=0., bool need_attn_weights=False, "
    "bool is_causal=False) -> (Tensor, Tensor)"
)
@operator(
    "aten::_scaled_dot_product_attention_math(Tensor query, Tensor key, Tensor value, "
    "Tensor? attn_mask=None, float dropout_p=0., bool need_attn_weights=False, "
    "bool is_causal=False) -> (Tensor, Tensor)"
)
def _scaled_dot_product_attention(
    query, key, value, attn_mask, dropout_p, need_attn_weights, is_causal
):
    """Softmax(q @ k.T / sqrt(d)) @ v."""
    out, weights = attend(query, key, value, attn_mask, dropout_p, is_causal, None, False)
    return (out, weights if need_attn_weights else None)


@operator(
    "aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, "
    "Tensor? attn_mask=None, float dropout_p=0., bool is_causal=False, *, float? scale=None, "
    "bool enable_gqa=False) -> Tensor",
    autocast="lower",
)
def scaled_dot_product_attention(
    query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa
):
    """Softmax(q @ k.T / sqrt(d)) @ v, as PyTorch 2 calls it."""
    q = in_float32(query)
    k = in_float32(for_all_heads(key, query) if enable_gqa else key)
    v = in_float32(for_all_heads(value, query) if enable_gqa else value)
    out, weights = attend(q, k, v, attn_mask, dropout_p, is_causal, scale, True)
    return out.to(query.dtype)


@operator(
    "aten::_native_multi_head_attention(Tensor query, Tensor key, Tensor value, "
    "int embed_dim, int num_head, Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, "
    "Tensor proj_bias, Tensor? mask=None, bool need_weights=True, "
    "bool average_attn_weights=True, int? mask_type=None) -> (Tensor, Tensor)",
    autocast="lower",
)
def _native_multi_head_attention(
    query,
    key,
    value,
    embed_dim,
    num_head,
    qkv_weight,
    qkv_bias,
    proj_weight,
    proj_bias,
    mask,
    need_weights,
    average_attn_weights,
    mask_type,
):
    """Multi-head attention in inference, used by torch.nn.MultiheadAttention."""
    out, weights = multi_head(
        query,
        key,
        value,
        embed_dim,
        num_head,
        qkv_weight,
        qkv_bias,
        proj_weight,
        proj_bias,
        mask,
        mask_type,
    )
    if not need_weights:
        return (out, None)
    return (out, weights.mean(1) if average_attn_weights else weights)


@operator(
    "aten::_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, "
    "Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, "
    "bool use_gelu, bool norm_first, float eps, Tensor norm_weight_1, Tensor norm_bias_1, "
    "Tensor norm_weight_2, Tensor norm_bias_2, Tensor ffn_weight_1, Tensor ffn_bias_1, "
    "Tensor ffn_weight_2, Tensor ffn_bias_2, Tensor? mask=None, int? mask_type=None) "
    "-> Tensor"
)
def _transformer_encoder_layer_fwd(
    src,
    embed_dim,
    num_heads,
    qkv_weight,
    qkv_bias,
    proj_weight,
    proj_bias,
    use_gelu,
    norm_first,
    eps,
    norm_weight_1,
    norm_bias_1,
    norm_weight_2,
    norm_bias_2,
    ffn_weight_1,
    ffn_bias_1,
    ffn_weight_2,
    ffn_bias_2,
    mask,
    mask_type,
):
    """Transformer encoder layer in inference, used by torch.nn.TransformerEncoderLayer."""
    x = src
    y = torch.layer_norm(x, [embed_dim], norm_weight_1, norm_bias_1, eps) if norm_first else x
    out, weights = multi_head(
        y, y, y, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, mask_type
    )
    x = x + out
    if not norm_first:
        x = torch.layer_norm(x, [embed_dim], norm_weight_1, norm_bias_1, eps)
    y = torch.layer_norm(x, [embed_dim], norm_weight_2, norm_bias_2, eps) if norm_first else x
    y = torch.ops.aten.linear(y, ffn_weight_1, ffn_bias_1)
    x = x + torch.ops.aten.linear(
        torch.ops.aten.gelu(y) if use_gelu else y.relu(), ffn_weight_2, ffn_bias_2
    )
    return x if norm_first else torch.layer_norm(x, [embed_dim], norm_weight_2, norm_bias_2, eps)
