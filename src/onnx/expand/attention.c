/* Attention as ONNX Runtime has it: projections, masks and caches in the ways of several models.
 * All of them end in ONNX's own Attention, with a mask that is added to the scores. */
#include "onnx/expand/expansion.h"

#include <inttypes.h>
#include <math.h>

/* ---- masks ---- */

/* hidden: which of `total` keys are not seen, [batch, 1, queries or 1, total]. A mask of one axis
 * has an end for each row, and perhaps a start behind all of them; one of two or three has a
 * number that is not 0 for what is seen. */
static void say_hidden(cq_expansion *e, const char *mask, const char *rows)
{
    cq_say(e,
           "mask = Cast <to: int = %d> (%s)\n"
           "batch = Shape <start: int = 0, end: int = 1> (%s)\n"
           "mask_shape = Shape (mask)\n"
           "is_flat = Equal (Size (mask_shape), 1)",
           CQ_ONNX_INT64, mask, rows);
    cq_say(e, "hidden = If (is_flat) <then_branch: graph = ends () => (h) {\n"
              "zeros = ConstantOfShape <value: tensor = int64[1] {0}> (batch)\n"
              "column = Concat <axis: int = 0> (batch, [1], [1], [1])\n"
              "padded = Concat <axis: int = 0> (mask, zeros)\n"
              "end = Reshape (Slice (mask, [0], batch, [0]), column)\n"
              "start = Reshape (Slice (padded, batch, Add (batch, batch), [0]), column)\n"
              "at = Range (0, Squeeze (total), 1)\n"
              "h = Or (GreaterOrEqual (at, end), Less (at, start))\n"
              "}, else_branch: graph = raw () => (g) {\n"
              "wide = Concat <axis: int = 0> (batch, [1], [-1], Gather (mask_shape, [-1]))\n"
              "g = Equal (Reshape (mask, wide), 0)\n"
              "}>");
}

/* added: what is added to scores, by a mask and a bias of them; either may be NULL. */
static bool say_added(cq_expansion *e, const char *mask, const char *bias, const char *like)
{
    if (!mask && !bias)
        return false;
    if (!mask) {
        cq_say(e, "added = Identity (%s)", bias);
        return true;
    }
    say_hidden(e, mask, like);
    cq_say(e, "filter = Where (hidden, like (@mask_filter_value, %s), like (0, %s))", like, like);
    cq_say(e, bias ? "added = Add (filter, %s)" : "added = Identity (filter)", bias);
    return true;
}

static void say_core(cq_expansion *e, const char *outputs, int64_t kv_heads, bool causal,
                     const char *added, const char *past)
{
    bool has_scale = cq_expansion_attr(e, "scale") && cq_expansion_float(e, "scale") != 0;

    cq_say(e,
           "%s = Attention <q_num_heads = num_heads, kv_num_heads: int = %" PRId64
           ", is_causal: int = %d, softcap%s> (q, k, v, %s%s)",
           outputs, kv_heads, causal, has_scale ? ", scale" : "", added, past);
}

/* ---- Attention, QAttention ---- */

void cq_say_attention(cq_expansion *e, size_t mask, size_t past)
{
    bool        has_past = cq_expansion_has(e, past);
    const char *bias     = past == 4 && cq_expansion_has(e, 5) ? "attention_bias" : NULL;
    bool        added;

    if (cq_expansion_int(e, "do_rotary"))
        e->refusal = "is not known with do_rotary";
    if (cq_expansion_int(e, "past_present_share_buffer"))
        e->refusal = "is not known with past_present_share_buffer";
    cq_say(e, "length = Shape <start: int = 1, end: int = 2> (q)");
    if (has_past)
        cq_say(e, "past_k0, past_v0 = Split <axis: int = 0, num_outputs: int = 2> (past)\n"
                  "past_k = Squeeze (past_k0, [0])\n"
                  "past_v = Squeeze (past_v0, [0])\n"
                  "total = Add (length, Shape <start: int = 2, end: int = 3> (past_k))");
    else
        cq_say(e, "total = Identity (length)");
    added = say_added(e, cq_expansion_has(e, mask) ? "mask_index" : NULL, bias, "q");
    say_core(e, "output, present_k, present_v", cq_expansion_int(e, "num_heads"),
             cq_expansion_int(e, "unidirectional"), added ? "added" : "\"\"",
             has_past ? ", past_k, past_v" : "");
    cq_say(e, "present = Concat <axis: int = 0> (Unsqueeze (present_k, [0]), "
              "Unsqueeze (present_v, [0]))");
}

static void attention(cq_expansion *e)
{
    const cq_onnx_attribute *sizes = cq_expansion_attr(e, "qkv_hidden_sizes");

    cq_say(e, "qkv = AddIf (MatMul (input, weights), bias)");
    if (sizes && sizes->ints.n == 3) {
        cq_say(e,
               "sizes = Constant <value_ints: ints = [%" PRId64 ", %" PRId64 ", %" PRId64 "]> ()",
               sizes->ints.items[0], sizes->ints.items[1], sizes->ints.items[2]);
        cq_say(e, "q, k, v = Split <axis: int = -1> (qkv, sizes)");
    } else {
        cq_say(e, "q, k, v = Split <axis: int = -1, num_outputs: int = 3> (qkv)");
    }
    cq_say_attention(e, 3, 4);
}

/* ---- MultiHeadAttention ---- */

/* Of [batch, length, heads, n, width], n in one, each as [batch, length, heads * width]. */
static void say_unpacked(cq_expansion *e, const char *from, const char *const *to, int n)
{
    for (int i = 0; i < n; i++)
        cq_say(e, "%s = Reshape (Gather <axis: int = 3> (%s, %d), [0, 0, -1])", to[i], from, i);
}

/* A bias is for q, k and v one behind the other. Keys and values of four axes are those of
 * another sequence, projected already. */
static void say_biased(cq_expansion *e, const char *to, const char *from, const char *start,
                       const char *end)
{
    cq_say(e, "%s_is_done = Equal (Size (Shape (%s)), 4)", to, from);
    cq_say(
        e,
        "%s = If (%s_is_done) <then_branch: graph = done () => (t) { t = Identity (%s) }, "
        "else_branch: graph = more () => (u) { part = Slice (bias, %s, %s) u = Add (%s, part) }>",
        to, to, from, start, end, from);
}

static void multi_head_attention(cq_expansion *e)
{
    static const char *const qkv[]    = { "q0", "k0", "v0" };
    bool                     has_bias = cq_expansion_has(e, 3), has_past = cq_expansion_has(e, 6);
    bool                     added;

    if (cq_expansion_has(e, 8) || cq_expansion_has(e, 9))
        e->refusal = "is not known with buffers that past and present share";
    if (!cq_expansion_has(e, 1)) {
        say_unpacked(e, "query", qkv, 3);
    } else {
        cq_say(e, "q0 = Identity (query)");
        if (cq_expansion_has(e, 2)) {
            cq_say(e, "k0 = Identity (key)");
            cq_say(e, "v0 = Identity (value)");
        } else {
            say_unpacked(e, "key", qkv + 1, 2);
        }
    }
    if (has_bias) {
        cq_say(e, "b0 = Constant <value_ints: ints = [0]> ()");
        cq_say(e, "b1 = Shape <start: int = 2, end: int = 3> (q0)");
        cq_say(e, "b2 = Add (b1, b1)");
        cq_say(e, "b3 = Shape (bias)");
        say_biased(e, "q", "q0", "b0", "b1");
        say_biased(e, "k", "k0", "b1", "b2");
        say_biased(e, "v", "v0", "b2", "b3");
    } else {
        cq_say(e, "q = Identity (q0)");
        cq_say(e, "k = Identity (k0)");
        cq_say(e, "v = Identity (v0)");
    }
    cq_say(e, "length = Shape <start: int = -2, end: int = -1> (k)");
    cq_say(e, has_past ? "total = Add (length, Shape <start: int = 2, end: int = 3> (past_key))"
                       : "total = Identity (length)");
    added = say_added(e, cq_expansion_has(e, 4) ? "key_padding_mask" : NULL,
                      cq_expansion_has(e, 5) ? "attention_bias" : NULL, "q");
    say_core(e, "output, present_key, present_value", cq_expansion_int(e, "num_heads"),
             cq_expansion_int(e, "unidirectional"), added ? "added" : "\"\"",
             has_past ? ", past_key, past_value" : "");
}

/* ---- GroupQueryAttention ---- */

/* q, k and v of the inputs; one that is packed has all heads one behind the other. */
static void say_heads(cq_expansion *e, int64_t heads, int64_t kv_heads)
{
    if (cq_expansion_has(e, 1)) {
        cq_say(e, "q0 = Identity (query)");
        cq_say(e, "k0 = Identity (key)");
        cq_say(e, "v1 = Identity (value)");
        return;
    }
    cq_say(e,
           "apart = Reshape (query, [0, 0, %" PRId64 ", -1])\n"
           "qh, kh, vh = Split <axis: int = 2> (apart, [%" PRId64 ", %" PRId64 ", %" PRId64 "])\n"
           "q0 = Reshape (qh, [0, 0, -1])\n"
           "k0 = Reshape (kh, [0, 0, -1])\n"
           "v1 = Reshape (vh, [0, 0, -1])",
           heads + 2 * kv_heads, heads, kv_heads, kv_heads);
}

/* start: where the queries of each row begin, [batch]; places: of each query, [batch, length]. At
 * the first call all rows begin at 0; then they are the last of what is filled. */
static void say_places(cq_expansion *e)
{
    cq_say(e,
           "length1 = Shape <start: int = 1, end: int = 2> (q0)\n"
           "length = Squeeze (length1)\n"
           "total1 = Reshape (Cast <to: int = %d> (total_sequence_length), [-1])\n"
           "filled = Add (Reshape (Cast <to: int = %d> (seqlens_k), [-1]), 1)\n"
           "start = Where (Equal (total1, length1), 0, Sub (filled, length))\n"
           "places = Add (Unsqueeze (start, [1]), Range (0, length, 1))",
           CQ_ONNX_INT64, CQ_ONNX_INT64);
}

/* to = what was there before, with new keys or values [batch, length, heads * width] behind it. */
static void say_cache(cq_expansion *e, const char *to, const char *from, const char *past,
                      int64_t heads)
{
    cq_say(e,
           "%s_new = Transpose <perm: ints = [0, 2, 1, 3]> (Reshape (%s, [0, 0, %" PRId64
           ", -1]))\n"
           "%s_0, %s_1, %s_2, %s_3 = Split <num_outputs: int = 4> (Shape (%s_new))",
           to, from, heads, to, to, to, to, to);
    if (past)
        cq_say(e,
               "%s_had = Shape <start: int = 2, end: int = 3> (%s)\n"
               "%s_lacks = Sub (Max (total1, %s_had), %s_had)",
               to, past, to, to, to);
    else
        cq_say(e, "%s_lacks = Identity (total1)", to);
    cq_say(e,
           "%s_room = Concat <axis: int = 0> (%s_0, %s_1, %s_lacks, %s_3)\n"
           "%s_zeros = CastLike (ConstantOfShape (%s_room), %s)",
           to, to, to, to, to, to, to, from);
    cq_say(e,
           past ? "%s_all = Concat <axis: int = 2> (%s, %s_zeros)"
                : "%s_all = Identity (%s%s_zeros)",
           to, past ? past : "", to);
    cq_say(e, "%s = TensorScatter <axis: int = 2> (%s_all, %s_new, start)", to, to, to);
}

/* added: minus infinity for keys behind a query, or too far before it. */
static void say_window(cq_expansion *e, int64_t window)
{
    cq_say(e, "keys = Range (0, Squeeze (Shape <start: int = 2, end: int = 3> (k)), 1)\n"
              "mine = Unsqueeze (Unsqueeze (places, [1]), [3])\n"
              "behind = Greater (keys, mine)");
    if (window > 0)
        cq_say(e, "hidden = Or (behind, LessOrEqual (keys, Sub (mine, %" PRId64 ")))", window);
    else
        cq_say(e, "hidden = Identity (behind)");
    cq_say(e, "filter = Where (hidden, like (-inf, q), like (0, q))");
    cq_say(e, "added = AddIf (filter, attention_bias)");
}

static void group_query_attention(cq_expansion *e)
{
    int64_t heads    = cq_expansion_int(e, "num_heads"),
            kv_heads = cq_expansion_int(e, "kv_num_heads");

    if (cq_expansion_has(e, 11) || cq_expansion_int(e, "smooth_softmax") > 0 ||
        cq_expansion_wants(e, 3))
        e->refusal = "is not known with head_sink, smooth_softmax or output_qk";
    say_heads(e, heads, kv_heads);
    say_places(e);
    if (cq_expansion_int(e, "do_rotary")) {
        const char *ids = cq_expansion_has(e, 9) ? "position_ids" : "places";

        for (int i = 0; i < 2; i++)
            cq_say(e,
                   "%s = RotaryEmbedding <num_heads: int = %" PRId64 ", interleaved: int = %" PRId64
                   "> (%s0, cos_cache, sin_cache, %s)",
                   i ? "k1" : "q", i ? kv_heads : heads, cq_expansion_int(e, "rotary_interleaved"),
                   i ? "k" : "q", ids);
    } else {
        cq_say(e, "q = Identity (q0)");
        cq_say(e, "k1 = Identity (k0)");
    }
    say_cache(e, "k", "k1", cq_expansion_has(e, 3) ? "past_key" : NULL, kv_heads);
    say_cache(e, "v", "v1", cq_expansion_has(e, 4) ? "past_value" : NULL, kv_heads);
    say_window(e, cq_expansion_int(e, "local_window_size"));
    say_core(e, "output", kv_heads, false, "added", "");
    cq_say(e, "present_key = Identity (k)");
    cq_say(e, "present_value = Identity (v)");
}

/* ---- RotaryEmbedding ---- */

/* One position is where all rows begin. */
static void rotary_embedding(cq_expansion *e)
{
    if (cq_expansion_int(e, "is_packed_batching") || cq_expansion_float(e, "scale") != 1)
        e->refusal = "is not known with is_packed_batching or scale";
    cq_say(e, "is_start = Equal (Size (position_ids), 1)\n"
              "ids = If (is_start) <then_branch: graph = all () => (t) {\n"
              "length = Shape <start: int = -2, end: int = -1> (input)\n"
              "batch = Shape <start: int = 0, end: int = 1> (input)\n"
              "placed = Add (position_ids, Range (0, Squeeze (length), 1))\n"
              "t = Expand (placed, Concat <axis: int = 0> (batch, length))\n"
              "}, else_branch: graph = own () => (u) { u = Identity (position_ids) }>\n"
              "output = RotaryEmbedding <interleaved, num_heads, rotary_embedding_dim> "
              "(input, cos_cache, sin_cache, ids)");
}

const cq_expansion_row cq_expansions_attention[] = {
    { "Attention", .write = attention },
    { "GroupQueryAttention", .write = group_query_attention },
    { "MultiHeadAttention", .write = multi_head_attention },
    { "RotaryEmbedding", .write = rotary_embedding },
    { 0 },
};
