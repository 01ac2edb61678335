/* Attention, and the fused layers that PyTorch runs for it outside of training, composed of
 * matmul, softmax and linear. A mask of bools says where to look in
 * scaled_dot_product_attention, and where not to look in the fused layers. */
#include "aten/ctx.h"

#include <math.h>

static cq_tensor *transpose(cq_ctx *cx, cq_tensor *t, int64_t a, int64_t b)
{
    return CQ_OP(cx, "aten::transpose.int", T(t), I(a), I(b));
}

static cq_tensor *add(cq_ctx *cx, cq_tensor *a, cq_tensor *b)
{
    return CQ_OP(cx, "aten::add.Tensor", T(a), T(b));
}

/* t by a power of size, which may be a symbol. */
static cq_tensor *divide_by_power(cq_ctx *cx, cq_tensor *t, cq_int size, double power)
{
    cq_tensor *n;

    if (!t || cq_int_is_plain(size))
        return CQ_OP(cx, "aten::mul.Scalar", T(t), F(pow((double)size.value, -power)));
    n = CQ_OP(cx, "aten::scalar_tensor", N(size), DTYPE(t->dtype));
    n = CQ_OP(cx, "aten::pow.Tensor_Scalar", T(n), F(power));
    return CQ_OP(cx, "aten::div.Tensor", T(t), T(n));
}

/* ---- scaled dot product ---- */

/* Scores where a position must not be looked at. */
static cq_tensor *hide(cq_ctx *cx, cq_tensor *scores, cq_tensor *hidden)
{
    return CQ_OP(cx, "aten::masked_fill.Scalar", T(scores), T(hidden), F(-INFINITY));
}

static cq_tensor *hide_future(cq_ctx *cx, cq_tensor *scores)
{
    cq_tensor *ones, *seen;

    if (!scores)
        return NULL;
    ones = CQ_OP(cx, "aten::ones", cq_ints(cx, scores->sizes + scores->rank - 2, 2),
                 DTYPE(CQ_DTYPE_BOOL));
    seen = CQ_OP(cx, "aten::tril", T(ones));
    return hide(cx, scores, CQ_OP(cx, "aten::logical_not", T(seen)));
}

/* softmax(q @ k.T * scale + mask) @ v. Without a scale both factors are divided by the fourth
 * root of their size, so that neither overflows in half precision. */
static void attend(cq_opcall *c, const double *scale, bool causal, cq_tensor **out,
                   cq_tensor **weights)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *q = cq_arg_tensor(c, "query"), *k = cq_arg_tensor(c, "key");
    cq_tensor *mask    = cq_arg_tensor(c, "attn_mask"), *scores;
    double     dropout = cq_arg_f64(c, "dropout_p");
    cq_int     size    = q->sizes[q->rank - 1];

    k = transpose(cx, k, -2, -1);
    if (scale) {
        q = CQ_OP(cx, "aten::mul.Scalar", T(q), F(*scale));
    } else {
        q = divide_by_power(cx, q, size, 0.25);
        k = divide_by_power(cx, k, size, 0.25);
    }
    scores = CQ_OP(cx, "aten::matmul", T(q), T(k));
    if (causal)
        scores = hide_future(cx, scores);
    if (mask && mask->dtype == CQ_DTYPE_BOOL)
        scores = hide(cx, scores, CQ_OP(cx, "aten::logical_not", T(mask)));
    else if (mask)
        scores = add(cx, scores, mask);
    *weights = CQ_OP(cx, "aten::softmax.int", T(scores), I(-1));
    if (dropout > 0)
        *weights = CQ_OP(cx, "aten::dropout", T(*weights), F(dropout), B(true));
    *out = CQ_OP(cx, "aten::matmul", T(*weights), cq_arg_val(c, "value"));
}

static cq_status check_attention(const cq_opcall *c)
{
    const cq_tensor *q = cq_arg_tensor(c, "query");

    if (q->rank < 2 || cq_arg_tensor(c, "key")->rank < 2 || cq_arg_tensor(c, "value")->rank < 2)
        return cq_call_fail(c, CQ_E_TYPE, "query, key and value need at least 2 dimensions");
    if (cq_arg_bool(c, "is_causal") && !cq_arg_is_none(c, "attn_mask"))
        return cq_call_fail(c, CQ_E_ARGUMENT, "a mask and is_causal exclude each other");
    return CQ_OK;
}

static cq_status sdpa_pair(cq_opcall *c)
{
    cq_tensor *out, *weights;

    CQ_TRY(check_attention(c));
    attend(c, NULL, cq_arg_bool(c, "is_causal"), &out, &weights);
    cq_result_set_tensor(c, 0, out);
    cq_result_set_tensor(c, 1, cq_arg_bool(c, "need_attn_weights") ? weights : NULL);
    return c->cx->status;
}

static cq_status sdpa(cq_opcall *c)
{
    cq_tensor *out, *weights;
    bool       scaled = !cq_arg_is_none(c, "scale");
    double     scale  = scaled ? cq_arg_f64(c, "scale") : 0;

    CQ_TRY(check_attention(c));
    attend(c, scaled ? &scale : NULL, cq_arg_bool(c, "is_causal"), &out, &weights);
    cq_result_set_tensor(c, 0, out);
    return c->cx->status;
}

/* ---- several heads ---- */

/* Part number i of three of the common weight or bias of query, key and value. */
static cq_val third(cq_opcall *c, const char *name, int64_t i)
{
    cq_int size = cq_arg_int(c, "embed_dim");

    return T(CQ_OP(c->cx, "aten::slice.Tensor", cq_arg_val(c, name), I(0),
                   N(cq_size_mul(c, size, cq_i(i))), N(cq_size_mul(c, size, cq_i(i + 1))), I(1)));
}

/* One of query, key and value, projected: [batch, heads, length, size of a head]. */
static cq_tensor *head_of(cq_opcall *c, cq_tensor *x, int64_t i, const char *heads_arg)
{
    cq_ctx    *cx    = c->cx;
    cq_int     heads = cq_arg_int(c, heads_arg), sizes[4];
    cq_tensor *t =
        CQ_OP(cx, "aten::linear", T(x), third(c, "qkv_weight", i), third(c, "qkv_bias", i));

    if (!t)
        return NULL;
    sizes[0] = t->sizes[0];
    sizes[1] = t->sizes[1];
    sizes[2] = heads;
    sizes[3] = cq_size_floordiv(c, t->sizes[2], heads);
    return transpose(cx, CQ_OP(cx, "aten::reshape", T(t), cq_ints(cx, sizes, 4)), 1, 2);
}

/* A mask of [batch, keys] or [queries, keys] for scores of [batch, heads, queries, keys]. */
static cq_tensor *hide_masked(cq_opcall *c, cq_tensor *scores)
{
    cq_ctx    *cx      = c->cx;
    cq_tensor *mask    = cq_arg_tensor(c, "mask");
    bool       padding = !cq_arg_is_none(c, "mask_type") && cq_arg_i64(c, "mask_type") == 1;

    if (!mask || !scores)
        return scores;
    if (padding && mask->rank == 2) {
        mask = CQ_OP(cx, "aten::unsqueeze", T(mask), I(1));
        mask = CQ_OP(cx, "aten::unsqueeze", T(mask), I(1));
    }
    if (mask && mask->dtype != CQ_DTYPE_BOOL)
        return add(cx, scores, mask);
    return hide(cx, scores, mask);
}

/* The whole layer; *weights are those of each head. */
static cq_tensor *multi_head(cq_opcall *c, cq_tensor *query, cq_tensor *key, cq_tensor *value,
                             const char *heads_arg, cq_tensor **weights)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *q = head_of(c, query, 0, heads_arg), *k = head_of(c, key, 1, heads_arg);
    cq_tensor *v = head_of(c, value, 2, heads_arg), *t;
    cq_int     sizes[3];

    if (!q || !k || !v)
        return NULL;
    q        = divide_by_power(cx, q, q->sizes[3], 0.5);
    t        = CQ_OP(cx, "aten::matmul", T(q), T(transpose(cx, k, -2, -1)));
    *weights = CQ_OP(cx, "aten::softmax.int", T(hide_masked(c, t)), I(-1));
    t        = transpose(cx, CQ_OP(cx, "aten::matmul", T(*weights), T(v)), 1, 2);
    if (!t)
        return NULL;
    sizes[0] = t->sizes[0];
    sizes[1] = t->sizes[1];
    sizes[2] = cq_size_mul(c, t->sizes[2], t->sizes[3]);
    t        = CQ_OP(cx, "aten::reshape", T(t), cq_ints(cx, sizes, 3));
    return CQ_OP(cx, "aten::linear", T(t), cq_arg_val(c, "proj_weight"),
                 cq_arg_val(c, "proj_bias"));
}

static cq_status check_heads(const cq_opcall *c, const cq_tensor *x, const char *heads_arg)
{
    int64_t heads = cq_arg_i64(c, heads_arg), size = cq_arg_i64(c, "embed_dim");

    if (x->rank != 3 || x->sizes[2].value != size)
        return cq_call_fail(c, CQ_E_TYPE, "the input should be batch, length and %lld",
                            (long long)size);
    if (heads < 1 || size % heads)
        return cq_call_fail(c, CQ_E_ARGUMENT, "%lld heads do not divide %lld", (long long)heads,
                            (long long)size);
    return CQ_OK;
}

static cq_status native_multi_head_attention(cq_opcall *c)
{
    cq_tensor *weights = NULL, *out;

    CQ_TRY(check_heads(c, cq_arg_tensor(c, "query"), "num_head"));
    out = multi_head(c, cq_arg_tensor(c, "query"), cq_arg_tensor(c, "key"),
                     cq_arg_tensor(c, "value"), "num_head", &weights);
    if (!cq_arg_bool(c, "need_weights"))
        weights = NULL;
    else if (cq_arg_bool(c, "average_attn_weights"))
        weights = CQ_OP(c->cx, "aten::mean.dim", T(weights), I(1));
    cq_result_set_tensor(c, 0, out);
    cq_result_set_tensor(c, 1, weights);
    return c->cx->status;
}

/* ---- a layer of a transformer ---- */

static cq_tensor *norm(cq_opcall *c, cq_tensor *x, const char *weight, const char *bias)
{
    cq_int size = cq_arg_int(c, "embed_dim");

    return CQ_OP(c->cx, "aten::layer_norm", T(x), cq_ints(c->cx, &size, 1), cq_arg_val(c, weight),
                 cq_arg_val(c, bias), cq_arg_val(c, "eps"));
}

static cq_tensor *feed_forward(cq_opcall *c, cq_tensor *x)
{
    cq_ctx *cx = c->cx;

    x = CQ_OP(cx, "aten::linear", T(x), cq_arg_val(c, "ffn_weight_1"), cq_arg_val(c, "ffn_bias_1"));
    x = cq_arg_bool(c, "use_gelu") ? CQ_OP(cx, "aten::gelu", T(x)) : CQ_OP(cx, "aten::relu", T(x));
    return CQ_OP(cx, "aten::linear", T(x), cq_arg_val(c, "ffn_weight_2"),
                 cq_arg_val(c, "ffn_bias_2"));
}

static cq_status encoder_layer(cq_opcall *c)
{
    cq_ctx    *cx    = c->cx;
    cq_tensor *x     = cq_arg_tensor(c, "src"), *y, *weights;
    bool       first = cq_arg_bool(c, "norm_first");

    CQ_TRY(check_heads(c, x, "num_heads"));
    y = first ? norm(c, x, "norm_weight_1", "norm_bias_1") : x;
    x = add(cx, x, multi_head(c, y, y, y, "num_heads", &weights));
    if (!first)
        x = norm(c, x, "norm_weight_1", "norm_bias_1");
    y = first ? norm(c, x, "norm_weight_2", "norm_bias_2") : x;
    x = add(cx, x, feed_forward(c, y));
    if (!first)
        x = norm(c, x, "norm_weight_2", "norm_bias_2");
    cq_result_set_tensor(c, 0, x);
    return cx->status;
}

#define SDPA_ARGS                                                                                  \
    "(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0., "

const cq_op_def cq_ops_attention[] = {
    { .schema  = "aten::_scaled_dot_product_attention" SDPA_ARGS "bool need_attn_weights=False, "
                 "bool is_causal=False) -> (Tensor, Tensor)",
      .about   = "softmax(q @ k.T / sqrt(d)) @ v",
      .compose = sdpa_pair },
    { .schema = "aten::_scaled_dot_product_attention_math" SDPA_ARGS
                "bool need_attn_weights=False, bool is_causal=False) -> (Tensor, Tensor)",
      .about   = "softmax(q @ k.T / sqrt(d)) @ v",
      .compose = sdpa_pair },
    { .schema  = "aten::scaled_dot_product_attention" SDPA_ARGS "bool is_causal=False, *, "
                 "float? scale=None) -> Tensor",
      .about   = "softmax(q @ k.T / sqrt(d)) @ v, as PyTorch 2 calls it",
      .compose = sdpa },
    { .schema  = "aten::_native_multi_head_attention(Tensor query, Tensor key, Tensor value, "
                 "int embed_dim, int num_head, Tensor qkv_weight, Tensor qkv_bias, "
                 "Tensor proj_weight, Tensor proj_bias, Tensor? mask=None, "
                 "bool need_weights=True, bool average_attn_weights=True, int? mask_type=None) "
                 "-> (Tensor, Tensor)",
      .about   = "attention of several heads, as MultiheadAttention runs it outside of training",
      .compose = native_multi_head_attention },
    { .schema  = "aten::_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, "
                 "Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, "
                 "bool use_gelu, bool norm_first, float eps, Tensor norm_weight_1, "
                 "Tensor norm_bias_1, Tensor norm_weight_2, Tensor norm_bias_2, "
                 "Tensor ffn_weight_1, Tensor ffn_bias_1, Tensor ffn_weight_2, "
                 "Tensor ffn_bias_2, Tensor? mask=None, int? mask_type=None) -> Tensor",
      .about   = "a layer of a transformer's encoder, as PyTorch runs it outside of training",
      .compose = encoder_layer },
    { 0 }
};
