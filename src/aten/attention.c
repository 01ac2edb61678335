/* Attention, and the fused layers that PyTorch runs for it outside of training, composed of
 * matmul, softmax and linear. A mask of bools says where to look in
 * scaled_dot_product_attention, and where not to look in the fused layers. */
#include "aten/op.h"

#define SDPA_ARGS                                                                                  \
    "(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0., "

const cq_op_def cq_ops_attention[] = {
    CQ_BODY(
        "aten::_scaled_dot_product_attention" SDPA_ARGS "bool need_attn_weights=False, "
        "bool is_causal=False) -> (Tensor, Tensor)",
        "softmax(q @ k.T / sqrt(d)) @ v",
        "out, weights = attend(query, key, value, attn_mask, dropout_p, is_causal, None, False)\n"
        "return out, weights if need_attn_weights else None"),
    CQ_BODY(
        "aten::_scaled_dot_product_attention_math" SDPA_ARGS
        "bool need_attn_weights=False, bool is_causal=False) -> (Tensor, Tensor)",
        "softmax(q @ k.T / sqrt(d)) @ v",
        "out, weights = attend(query, key, value, attn_mask, dropout_p, is_causal, None, False)\n"
        "return out, weights if need_attn_weights else None"),
    /* Since PyTorch 2.5 a query that a mask lets look nowhere gets 0, before it was NaN. Half
     * precision is rounded once, at the end. */
    CQ_BODY("aten::scaled_dot_product_attention" SDPA_ARGS "bool is_causal=False, *, "
            "float? scale=None, bool enable_gqa=False) -> Tensor",
            "softmax(q @ k.T / sqrt(d)) @ v, as PyTorch 2 calls it",
            "q = in_float32(query)\n"
            "k = in_float32(for_all_heads(key, query) if enable_gqa else key)\n"
            "v = in_float32(for_all_heads(value, query) if enable_gqa else value)\n"
            "out, weights = attend(q, k, v, attn_mask, dropout_p, is_causal, scale, True)\n"
            "return out.to(query.dtype)"),
    CQ_BODY(
        "aten::_native_multi_head_attention(Tensor query, Tensor key, Tensor value, "
        "int embed_dim, int num_head, Tensor qkv_weight, Tensor qkv_bias, "
        "Tensor proj_weight, Tensor proj_bias, Tensor? mask=None, "
        "bool need_weights=True, bool average_attn_weights=True, int? mask_type=None) "
        "-> (Tensor, Tensor)",
        "attention of several heads, as MultiheadAttention runs it outside of training",
        "out, weights = multi_head(query, key, value, embed_dim, num_head, qkv_weight, qkv_bias, "
        "proj_weight, proj_bias, mask, mask_type)\n"
        "if not need_weights: return out, None\n"
        "return out, weights.mean(1) if average_attn_weights else weights"),
    CQ_BODY("aten::_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, "
            "Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, "
            "bool use_gelu, bool norm_first, float eps, Tensor norm_weight_1, "
            "Tensor norm_bias_1, Tensor norm_weight_2, Tensor norm_bias_2, "
            "Tensor ffn_weight_1, Tensor ffn_bias_1, Tensor ffn_weight_2, "
            "Tensor ffn_bias_2, Tensor? mask=None, int? mask_type=None) -> Tensor",
            "a layer of a transformer's encoder, as PyTorch runs it outside of training",
            "x = src\n"
            "y = layer_norm(x, [embed_dim], norm_weight_1, norm_bias_1, eps) if norm_first else x\n"
            "out, weights = multi_head(y, y, y, embed_dim, num_heads, qkv_weight, qkv_bias, "
            "proj_weight, proj_bias, mask, mask_type)\n"
            "x = x + out\n"
            "if not norm_first: x = layer_norm(x, [embed_dim], norm_weight_1, norm_bias_1, eps)\n"
            "y = layer_norm(x, [embed_dim], norm_weight_2, norm_bias_2, eps) if norm_first else x\n"
            "y = linear(y, ffn_weight_1, ffn_bias_1)\n"
            "x = x + linear(y.gelu() if use_gelu else y.relu(), ffn_weight_2, ffn_bias_2)\n"
            "return x if norm_first else layer_norm(x, [embed_dim], norm_weight_2, norm_bias_2, "
            "eps)"),
    { 0 }
};
