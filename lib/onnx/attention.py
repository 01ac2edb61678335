"""Attention as one node, since opset 23.

If a bool mask hides all keys of a query, PyTorch returns 0; ONNX Runtime 1.23 returns NaN, newer
versions 0, so the result is set to 0. If a float mask has the lowest number for all keys, ONNX
Runtime returns 0 too, but in PyTorch the query attends to all keys. Attention with a float mask is
therefore decomposed.
"""

import torch

from calque.onnx import *


def is_direct(q, k, v):
    return (
        q.ndim == 4
        and k.ndim == 4
        and v.ndim == 4
        and q.dtype in (torch.float32, torch.float16)
        and q.size(0) == k.size(0)
        and k.size(1) == v.size(1)
    )


def whole_mask(mask, q, k):
    """The mask expanded to all queries and keys, which Attention does not broadcast."""
    deep = Unsqueeze(mask, range(4 - mask.ndim)) if mask.ndim < 4 else mask
    sizes = [q.size(2), k.size(2)]
    if [deep.size(2), deep.size(3)] == sizes:
        return deep
    return Expand(deep, [deep.size(0), deep.size(1)] + sizes)


@symbolic("aten::scaled_dot_product_attention", opset=23)
def scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale):
    causal = 1 if is_causal else None
    # PyTorch aligns the mask of unequal lengths at the first key, since opset 25 Attention at the
    # last.
    if is_causal and opset() >= 25 and query.size(2) != key.size(2):
        return unsupported("it is decomposed")
    if not is_direct(query, key, value) or not is_known(dropout_p) or dropout_p != 0:
        return unsupported("it is decomposed")
    if attn_mask is None:
        return Attention(query, key, value, None, is_causal=causal, scale=scale)
    if attn_mask.dtype != torch.bool or attn_mask.ndim < 2:
        return unsupported("it is decomposed")
    mask = whole_mask(attn_mask, query, key)
    attends = cast(ReduceMax(cast(mask, torch.float32), [3]), torch.bool)
    y = Attention(query, key, value, mask, is_causal=causal, scale=scale)
    return Where(attends, y, like(0, y))
