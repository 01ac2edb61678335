/* Convolution, normalization, losses and attention. Pooling is in pool.c. */
#include "onnx/infer/elements.h"
#include "onnx/infer/nn.h"
#include "onnx/infer/window.h"

/* ---- convolution ---- */

cq_status cq_rule_conv_of(cq_rule *r, size_t ix, size_t iw)
{
    const cq_itype *x = cq_rule_shaped(r, ix), *weight = cq_rule_shaped(r, iw);
    cq_infer_window w;
    cq_shape        y;

    if (!x || !weight)
        return CQ_OK;
    if (x->rank < 2 || weight->rank != x->rank)
        return cq_rule_fail(r, "input and weight have ranks %zu and %zu", x->rank, weight->rank);
    CQ_TRY(cq_window_read(&w, r, x->rank - 2, weight));
    y.rank    = x->rank;
    y.dims[0] = x->dims[0];
    y.dims[1] = weight->dims[0];
    for (size_t i = 0; i < w.n; i++)
        y.dims[2 + i] = cq_window_count(r, &w, i, x->dims[2 + i]);
    return cq_rule_give(r, 0, &y);
}

static cq_status conv(cq_rule *r)
{
    return cq_rule_conv_of(r, 0, 1);
}

static cq_status conv_transpose(cq_rule *r)
{
    const cq_itype     *x = cq_rule_shaped(r, 0), *weight = cq_rule_shaped(r, 1);
    const cq_onnx_ints *sizes = cq_rule_ints(r, "output_shape");
    const cq_onnx_ints *extra = cq_rule_ints(r, "output_padding");
    cq_infer_window     w;
    cq_shape            y;

    if (!x || !weight)
        return CQ_OK;
    if (x->rank < 2 || weight->rank != x->rank)
        return cq_rule_fail(r, "input and weight have ranks %zu and %zu", x->rank, weight->rank);
    CQ_TRY(cq_window_read(&w, r, x->rank - 2, weight));
    if ((sizes && sizes->n != w.n) || (extra && extra->n != w.n))
        return cq_rule_fail(r, "output_shape or output_padding do not fit %zu axes", w.n);
    y.rank    = x->rank;
    y.dims[0] = x->dims[0];
    y.dims[1] = cq_dim_mul(r, weight->dims[1], cq_dim_of(cq_rule_int(r, "group", 1)));
    for (size_t i = 0; i < w.n; i++) {
        cq_dim steps =
            cq_dim_mul(r, cq_dim_sub(r, x->dims[2 + i], cq_dim_of(1)), cq_dim_of(w.stride[i]));
        cq_dim reach =
            cq_dim_mul(r, cq_dim_sub(r, w.kernel[i], cq_dim_of(1)), cq_dim_of(w.dilation[i]));
        int64_t more = 1 - w.before[i] - w.after[i] + (extra ? extra->items[i] : 0);

        if (sizes)
            y.dims[2 + i] = cq_dim_of(sizes->items[i]);
        else if (w.is_same)
            y.dims[2 + i] = cq_dim_mul(r, x->dims[2 + i], cq_dim_of(w.stride[i]));
        else
            y.dims[2 + i] = cq_dim_add(r, cq_dim_add(r, steps, reach), cq_dim_of(more));
    }
    return cq_rule_give(r, 0, &y);
}

/* Inverse of im2col: [N, C * block, L] to [N, C, spatial axes…]. */
static cq_status col2im(cq_rule *r)
{
    const cq_itype *x     = cq_rule_shaped(r, 0);
    const cq_itype *sizes = cq_rule_shaped(r, 1);
    const cq_idata *image = cq_rule_data(r, 1), *block = cq_rule_data(r, 2);
    cq_shape        y    = { .rank = 2 };
    cq_dim          area = cq_dim_of(1);
    size_t          n;

    if (!sizes || sizes->rank != 1 || !cq_dim_is_plain(sizes->dims[0]) ||
        sizes->dims[0].size.value < 0 || sizes->dims[0].size.value > CQ_MAX_RANK - 2)
        return CQ_OK;
    n = (size_t)sizes->dims[0].size.value;
    if (image && image->n != n)
        return CQ_OK;
    for (size_t i = 0; block && i < block->n; i++)
        area = cq_dim_mul(r, area, cq_dim_of_ielem(block->items[i]));
    if (x && x->rank == 3) {
        y.dims[0] = x->dims[0];
        y.dims[1] = block ? cq_dim_floordiv(r, x->dims[1], area) : cq_dim_unknown();
    }
    for (size_t i = 0; i < n; i++)
        y.dims[y.rank++] = image ? cq_dim_of_ielem(image->items[i]) : cq_dim_unknown();
    return cq_rule_give(r, 0, &y);
}

/* ---- normalization ---- */

/* Statistics have an element per channel. */
static cq_status batch_norm(cq_rule *r)
{
    const cq_itype *x        = cq_rule_shaped(r, 0);
    cq_dim          channels = cq_dim_unknown();

    for (size_t i = 1; i < 5; i++) {
        const cq_itype *s = cq_rule_shaped(r, i);

        if (s && s->rank == 1)
            CQ_TRY(cq_dim_unify(&channels, r, channels, s->dims[0]));
        else if (s && r->version >= 14)
            return cq_rule_fail(r, "input %zu has rank %zu, expected 1", i, s->rank);
    }
    if (x && x->rank >= 2)
        CQ_TRY(cq_dim_unify(&channels, r, channels, x->dims[1]));
    for (size_t i = 1; i < r->n_outputs; i++)
        CQ_TRY(cq_rule_give_dims(r, i, 1, &channels));
    return cq_rule_same(r);
}

static cq_status layer_norm(cq_rule *r)
{
    const cq_itype *x     = cq_rule_shaped(r, 0);
    int64_t         stash = cq_rule_int(r, "stash_type", CQ_ONNX_FLOAT);
    cq_shape        mean;
    size_t          axis;

    for (size_t i = 1; i < 3 && stash > 0 && stash < CQ_ONNX_DATA_TYPE_COUNT; i++)
        cq_rule_give_elem(r, i, (int32_t)stash);
    if (!x)
        return CQ_OK;
    CQ_TRY(cq_rule_axis(&axis, r, cq_rule_int(r, "axis", -1), x->rank));
    cq_shape_of(&mean, x);
    for (size_t i = axis; i < x->rank; i++)
        mean.dims[i] = cq_dim_of(1);
    CQ_TRY(cq_rule_give(r, 1, &mean));
    CQ_TRY(cq_rule_give(r, 2, &mean));
    return cq_rule_same(r);
}

/* ---- losses ---- */

/* The loss is one number, or one per target. */
static cq_status loss(cq_rule *r)
{
    const cq_itype *target = cq_rule_shaped(r, 1);

    if (!cq_rule_text_is(r, "reduction", "none"))
        return cq_rule_give_dims(r, 0, 0, NULL);
    return target ? cq_rule_give_dims(r, 0, target->rank, target->dims) : CQ_OK;
}

/* The target has a class for each score vector: the scores have one more axis, and weights have an
 * element per class. */
static cq_status likelihood_loss(cq_rule *r)
{
    const cq_itype *scores = cq_rule_shaped(r, 0), *target = cq_rule_shaped(r, 1);
    const cq_itype *weight = cq_rule_shaped(r, 2);

    if (scores && scores->rank < 2)
        return cq_rule_fail(r, "scores of rank %u have no axis of classes", (unsigned)scores->rank);
    if (scores && target && target->rank + 1 != scores->rank)
        return cq_rule_fail(r, "a target of rank %u does not fit scores of rank %u",
                            (unsigned)target->rank, (unsigned)scores->rank);
    if (weight && weight->rank != 1)
        return cq_rule_fail(r, "weights of rank %u are not a list", (unsigned)weight->rank);
    for (size_t i = 0; scores && target && i < target->rank; i++) {
        cq_dim size; /* of the batch axis, then of the axes after the class axis */

        CQ_TRY(cq_dim_unify(&size, r, target->dims[i], scores->dims[i ? i + 1 : 0]));
    }
    return loss(r);
}

static cq_status softmax_loss(cq_rule *r)
{
    const cq_itype *scores = cq_rule_shaped(r, 0);

    if (scores)
        CQ_TRY(cq_rule_give_dims(r, 1, scores->rank, scores->dims));
    cq_rule_give_elem(r, 1, cq_rule_elem(r, 0));
    return loss(r);
}

/* ---- attention ---- */

/* Q, K and V are [batch, heads, length, size], or have heads and size in a single last axis. */
typedef struct heads {
    cq_dim batch, heads, length, size;
} heads;

static bool read_heads(const cq_rule *r, size_t input, int64_t n_heads, heads *out)
{
    const cq_itype *x = cq_rule_shaped(r, input);

    if (!x)
        return false;
    if (x->rank == 4) {
        *out = (heads){ x->dims[0], x->dims[1], x->dims[2], x->dims[3] };
        return true;
    }
    if (x->rank != 3 || n_heads <= 0)
        return false;
    *out = (heads){ x->dims[0], cq_dim_of(n_heads), x->dims[1],
                    cq_dim_floordiv(r, x->dims[2], cq_dim_of(n_heads)) };
    return true;
}

static cq_status attention(cq_rule *r)
{
    int64_t         kv   = cq_rule_int(r, "kv_num_heads", 0);
    const cq_itype *past = cq_rule_shaped(r, 4);
    heads           q, k, v;
    cq_shape        y = { .rank = 4 };
    cq_dim          total;

    if (!read_heads(r, 0, cq_rule_int(r, "q_num_heads", 0), &q) || !read_heads(r, 1, kv, &k) ||
        !read_heads(r, 2, kv, &v))
        return CQ_OK;
    if (cq_rule_shaped(r, 0)->rank == 4) {
        y = (cq_shape){ 4, { q.batch, q.heads, q.length, v.size } };
        CQ_TRY(cq_rule_give(r, 0, &y));
    } else {
        y = (cq_shape){ 3, { q.batch, q.length, cq_dim_mul(r, q.heads, v.size) } };
        CQ_TRY(cq_rule_give(r, 0, &y));
    }
    total = k.length;
    if (cq_rule_has(r, 4))
        total = past && past->rank == 4 ? cq_dim_add(r, past->dims[2], k.length) : cq_dim_unknown();
    y = (cq_shape){ 4, { k.batch, k.heads, total, k.size } };
    CQ_TRY(cq_rule_give(r, 1, &y));
    y.dims[3] = v.size;
    CQ_TRY(cq_rule_give(r, 2, &y));
    y = (cq_shape){ 4, { q.batch, q.heads, q.length, total } };
    return cq_rule_give(r, 3, &y);
}

static cq_status linear_attention(cq_rule *r)
{
    const int64_t n = cq_rule_int(r, "q_num_heads", 0), kv = cq_rule_int(r, "kv_num_heads", 0);
    heads         q, v;
    cq_shape      y;

    cq_rule_give_elem(r, 1, cq_rule_elem(r, cq_rule_has(r, 3) ? 3 : 0));
    if (n < 1 || kv < 1 || n % kv)
        return cq_rule_fail(
            r,
            "the number of query heads, %lld, is not a multiple of the number of key heads, %lld",
            (long long)n, (long long)kv);
    if (!read_heads(r, 0, n, &q) || !read_heads(r, 2, kv, &v))
        return CQ_OK;
    y = (cq_shape){ 3, { q.batch, q.length, cq_dim_mul(r, q.heads, v.size) } };
    CQ_TRY(cq_rule_give(r, 0, &y));
    y = (cq_shape){ 4, { q.batch, v.heads, q.size, v.size } };
    return cq_rule_give(r, 1, &y);
}

static cq_status causal_conv(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0), *w = cq_rule_shaped(r, 1);
    cq_shape        y = { .rank = 3 };

    CQ_TRY(cq_rule_same(r));
    if (!x || !w)
        return CQ_OK;
    if (x->rank != 3 || w->rank != 3)
        return cq_rule_fail(r, "the input has rank %zu and the weight rank %zu, expected 3",
                            x->rank, w->rank);
    y.dims[0] = x->dims[0];
    y.dims[1] = x->dims[1];
    y.dims[2] = cq_dim_sub(r, w->dims[2], cq_dim_of(1));
    return cq_rule_give(r, 1, &y);
}

const cq_rule_row cq_rules_nn[] = {
    { "Attention", 1, attention, NULL },
    { "BatchNormalization", 1, batch_norm, NULL },
    { "CausalConvWithState", 1, causal_conv, NULL },
    { "Col2Im", 1, col2im, NULL },
    { "Conv", 1, conv, NULL },
    { "ConvTranspose", 1, conv_transpose, NULL },
    { "DeformConv", 1, conv, NULL },
    { "GroupNormalization", 1, cq_rule_same, NULL },
    { "InstanceNormalization", 1, cq_rule_same, NULL },
    { "LRN", 1, cq_rule_same, NULL },
    { "LayerNormalization", 1, layer_norm, NULL },
    { "LinearAttention", 1, linear_attention, NULL },
    { "LpNormalization", 1, cq_rule_same, NULL },
    { "MeanVarianceNormalization", 1, cq_rule_same, NULL },
    { "NegativeLogLikelihoodLoss", 1, likelihood_loss, NULL },
    { "RMSNormalization", 1, cq_rule_same, NULL },
    { "RotaryEmbedding", 1, cq_rule_same, NULL },
    { "SoftmaxCrossEntropyLoss", 1, softmax_loss, NULL },
    { NULL, 0, NULL, NULL },
};
