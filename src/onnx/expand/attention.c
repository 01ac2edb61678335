/* Attention as ONNX Runtime has it: projections, masks and caches in the ways of several models.
 * All of them end in ONNX's own Attention, with a mask that is added to the scores. */
#include "onnx/expand/expansion.h"

#include <inttypes.h>
#include <math.h>

static const char turned[] = "perm: ints = [0, 2, 1, 3]";

static void say_ints(cq_expansion *e, const char *name, int64_t value)
{
    cq_say(e, "%s = Constant <value_ints: ints = [%" PRId64 "]> ()", name, value);
}

/* ---- masks ---- */

/* hidden: which of `total` keys are not seen, [batch, 1, queries or 1, total]. A mask of one axis
 * has an end for each row, and perhaps a start behind all of them; one of two or three has a
 * number that is not 0 for what is seen. */
static void say_hidden(cq_expansion *e, const char *mask, const char *rows)
{
    say_ints(e, "none", 0);
    say_ints(e, "one", 1);
    say_ints(e, "rest", -1);
    cq_say(e, "mask = Cast <to: int = %d> (%s)", CQ_ONNX_INT64, mask);
    cq_say(e, "batch = Shape <start: int = 0, end: int = 1> (%s)", rows);
    cq_say(e, "mask_shape = Shape (mask)");
    cq_say(e, "mask_rank = Size (mask_shape)");
    cq_say(e, "single = Constant <value_int: int = 1> ()");
    cq_say(e, "is_flat = Equal (mask_rank, single)");
    cq_say(e, "hidden = If (is_flat) <then_branch: graph = ends () => (h) {");
    cq_say(e, "  twice = Add (batch, batch)");
    cq_say(e, "  zeros = ConstantOfShape <value: tensor = int64[1] {0}> (batch)");
    cq_say(e, "  padded = Concat <axis: int = 0> (mask, zeros)");
    cq_say(e, "  end0 = Slice (mask, none, batch, none)");
    cq_say(e, "  start0 = Slice (padded, batch, twice, none)");
    cq_say(e, "  column = Concat <axis: int = 0> (batch, one, one, one)");
    cq_say(e, "  end = Reshape (end0, column)");
    cq_say(e, "  start = Reshape (start0, column)");
    cq_say(e, "  begin = Constant <value_int: int = 0> ()");
    cq_say(e, "  step = Constant <value_int: int = 1> ()");
    cq_say(e, "  last = Squeeze (total)");
    cq_say(e, "  at = Range (begin, last, step)");
    cq_say(e, "  behind = GreaterOrEqual (at, end)");
    cq_say(e, "  before = Less (at, start)");
    cq_say(e, "  h = Or (behind, before)");
    cq_say(e, "}, else_branch: graph = raw () => (g) {");
    cq_say(e, "  width = Gather (mask_shape, rest)");
    cq_say(e, "  wide = Concat <axis: int = 0> (batch, one, rest, width)");
    cq_say(e, "  shaped = Reshape (mask, wide)");
    cq_say(e, "  zero = Constant <value_int: int = 0> ()");
    cq_say(e, "  g = Equal (shaped, zero)");
    cq_say(e, "}>");
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
    cq_say_constant(e, "far", cq_expansion_float(e, "mask_filter_value"), like);
    cq_say_constant(e, "near", 0, like);
    cq_say(e, "filter = Where (hidden, far, near)");
    cq_say(e, bias ? "added = Add (filter, %s)" : "added = Identity (filter)", bias);
    return true;
}

static void say_core(cq_expansion *e, const char *outputs, int64_t kv_heads, bool causal,
                     const char *added, const char *past)
{
    int64_t heads = cq_expansion_int(e, "num_heads");

    cq_str_printf(&e->text,
                  "%s = Attention <q_num_heads: int = %" PRId64 ", kv_num_heads: int = %" PRId64
                  ", is_causal: int = %d, softcap: float = %.9g",
                  outputs, heads, kv_heads, causal, cq_expansion_float(e, "softcap"));
    if (cq_expansion_attr(e, "scale") && cq_expansion_float(e, "scale") != 0)
        cq_str_printf(&e->text, ", scale: float = %.9g", cq_expansion_float(e, "scale"));
    cq_say(e, "> (q, k, v, %s%s)", added, past);
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
    if (has_past) {
        cq_say(e, "past_k0, past_v0 = Split <axis: int = 0, num_outputs: int = 2> (past)");
        say_ints(e, "pair", 0);
        cq_say(e, "past_k = Squeeze (past_k0, pair)");
        cq_say(e, "past_v = Squeeze (past_v0, pair)");
        cq_say(e, "past_length = Shape <start: int = 2, end: int = 3> (past_k)");
        cq_say(e, "total = Add (length, past_length)");
    } else {
        cq_say(e, "total = Identity (length)");
    }
    added = say_added(e, cq_expansion_has(e, mask) ? "mask_index" : NULL, bias, "q");
    say_core(e, "output, present_k, present_v", cq_expansion_int(e, "num_heads"),
             cq_expansion_int(e, "unidirectional"), added ? "added" : "\"\"",
             has_past ? ", past_k, past_v" : "");
    if (!cq_expansion_wants(e, 1))
        return;
    say_ints(e, "front", 0);
    cq_say(e, "present_k1 = Unsqueeze (present_k, front)");
    cq_say(e, "present_v1 = Unsqueeze (present_v, front)");
    cq_say(e, "present = Concat <axis: int = 0> (present_k1, present_v1)");
}

static void attention(cq_expansion *e)
{
    const cq_onnx_attribute *sizes = cq_expansion_attr(e, "qkv_hidden_sizes");

    cq_say(e, "product = MatMul (input, weights)");
    cq_say(e, cq_expansion_has(e, 2) ? "qkv = Add (product, bias)" : "qkv = Identity (product)");
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
    cq_say(e, "flat = Constant <value_ints: ints = [0, 0, -1]> ()");
    for (int i = 0; i < n; i++) {
        cq_say(e, "pick%d = Constant <value_int: int = %d> ()", i, i);
        cq_say(e, "picked%d = Gather <axis: int = 3> (%s, pick%d)", i, from, i);
        cq_say(e, "%s = Reshape (picked%d, flat)", to[i], i);
    }
}

/* A bias is for q, k and v one behind the other. Keys and values of four axes are those of
 * another sequence, projected already. */
static void say_biased(cq_expansion *e, const char *to, const char *from, const char *start,
                       const char *end)
{
    cq_say(e, "%s_rank0 = Shape (%s)", to, from);
    cq_say(e, "%s_rank = Size (%s_rank0)", to, to);
    cq_say(e, "%s_four = Constant <value_int: int = 4> ()", to);
    cq_say(e, "%s_is_done = Equal (%s_rank, %s_four)", to, to, to);
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
        say_ints(e, "b0", 0);
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
    if (has_past) {
        cq_say(e, "past_length = Shape <start: int = 2, end: int = 3> (past_key)");
        cq_say(e, "total = Add (length, past_length)");
    } else {
        cq_say(e, "total = Identity (length)");
    }
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
    cq_say(e, "by_head = Constant <value_ints: ints = [0, 0, %" PRId64 ", -1]> ()",
           heads + 2 * kv_heads);
    cq_say(e, "flat = Constant <value_ints: ints = [0, 0, -1]> ()");
    cq_say(e, "sizes = Constant <value_ints: ints = [%" PRId64 ", %" PRId64 ", %" PRId64 "]> ()",
           heads, kv_heads, kv_heads);
    cq_say(e, "apart = Reshape (query, by_head)");
    cq_say(e, "qh, kh, vh = Split <axis: int = 2> (apart, sizes)");
    cq_say(e, "q0 = Reshape (qh, flat)");
    cq_say(e, "k0 = Reshape (kh, flat)");
    cq_say(e, "v1 = Reshape (vh, flat)");
}

/* start: where the queries of each row begin, [batch]; places: of each query, [batch, length]. At
 * the first call all rows begin at 0; then they are the last of what is filled. */
static void say_places(cq_expansion *e)
{
    cq_say(e, "none = Constant <value_int: int = 0> ()");
    cq_say(e, "step = Constant <value_int: int = 1> ()");
    say_ints(e, "axis1", 1);
    cq_say(e, "length1 = Shape <start: int = 1, end: int = 2> (q0)");
    cq_say(e, "length = Squeeze (length1)");
    cq_say(e, "total0 = Cast <to: int = %d> (total_sequence_length)", CQ_ONNX_INT64);
    cq_say(e, "flat_total = Constant <value_ints: ints = [-1]> ()");
    cq_say(e, "total1 = Reshape (total0, flat_total)");
    cq_say(e, "filled0 = Cast <to: int = %d> (seqlens_k)", CQ_ONNX_INT64);
    cq_say(e, "filled1 = Reshape (filled0, flat_total)");
    cq_say(e, "filled = Add (filled1, step)");
    cq_say(e, "before = Sub (filled, length)");
    cq_say(e, "is_first = Equal (total1, length1)");
    cq_say(e, "start = Where (is_first, none, before)");
    cq_say(e, "counted = Range (none, length, step)");
    cq_say(e, "start2 = Unsqueeze (start, axis1)");
    cq_say(e, "places = Add (start2, counted)");
}

/* to = what was there before, with new keys or values [batch, length, heads * width] behind it. */
static void say_cache(cq_expansion *e, const char *to, const char *from, const char *past,
                      int64_t heads)
{
    cq_say(e, "%s_apart = Constant <value_ints: ints = [0, 0, %" PRId64 ", -1]> ()", to, heads);
    cq_say(e, "%s_split = Reshape (%s, %s_apart)", to, from, to);
    cq_say(e, "%s_new = Transpose <%s> (%s_split)", to, turned, to);
    cq_say(e, "%s_shape = Shape (%s_new)", to, to);
    cq_say(e, "%s_0, %s_1, %s_2, %s_3 = Split <num_outputs: int = 4> (%s_shape)", to, to, to, to,
           to);
    if (past) {
        cq_say(e, "%s_had = Shape <start: int = 2, end: int = 3> (%s)", to, past);
        cq_say(e, "%s_least = Max (total1, %s_had)", to, to);
        cq_say(e, "%s_lacks = Sub (%s_least, %s_had)", to, to, to);
    } else {
        cq_say(e, "%s_lacks = Identity (total1)", to);
    }
    cq_say(e, "%s_room = Concat <axis: int = 0> (%s_0, %s_1, %s_lacks, %s_3)", to, to, to, to, to);
    cq_say(e, "%s_zeros0 = ConstantOfShape (%s_room)", to, to);
    cq_say(e, "%s_zeros = CastLike (%s_zeros0, %s)", to, to, from);
    cq_say(e,
           past ? "%s_all = Concat <axis: int = 2> (%s, %s_zeros)"
                : "%s_all = Identity (%s%s_zeros)",
           to, past ? past : "", to);
    cq_say(e, "%s = TensorScatter <axis: int = 2> (%s_all, %s_new, start)", to, to, to);
}

/* added: minus infinity for keys behind a query, or too far before it. */
static void say_window(cq_expansion *e, int64_t window)
{
    say_ints(e, "axis3", 3);
    cq_say(e, "kept0 = Shape <start: int = 2, end: int = 3> (k)");
    cq_say(e, "kept = Squeeze (kept0)");
    cq_say(e, "keys = Range (none, kept, step)");
    cq_say(e, "mine0 = Unsqueeze (places, axis1)");
    cq_say(e, "mine = Unsqueeze (mine0, axis3)");
    cq_say(e, "behind = Greater (keys, mine)");
    if (window > 0) {
        cq_say(e, "window = Constant <value_int: int = %" PRId64 "> ()", window);
        cq_say(e, "oldest = Sub (mine, window)");
        cq_say(e, "too_old = LessOrEqual (keys, oldest)");
        cq_say(e, "hidden = Or (behind, too_old)");
    } else {
        cq_say(e, "hidden = Identity (behind)");
    }
    cq_say_constant(e, "far", -INFINITY, "q");
    cq_say_constant(e, "near", 0, "q");
    cq_say(e, "filter = Where (hidden, far, near)");
    cq_say(e, cq_expansion_has(e, 10) ? "added = Add (filter, attention_bias)"
                                      : "added = Identity (filter)");
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
    cq_say(e, "n = Size (position_ids)");
    cq_say(e, "single = Constant <value_int: int = 1> ()");
    cq_say(e, "is_start = Equal (n, single)");
    cq_say(e, "ids = If (is_start) <then_branch: graph = all () => (t) {");
    cq_say(e, "  none = Constant <value_int: int = 0> ()");
    cq_say(e, "  length1 = Shape <start: int = -2, end: int = -1> (input)");
    cq_say(e, "  batch = Shape <start: int = 0, end: int = 1> (input)");
    cq_say(e, "  length = Squeeze (length1)");
    cq_say(e, "  counted = Range (none, length, single)");
    cq_say(e, "  placed = Add (position_ids, counted)");
    cq_say(e, "  shape = Concat <axis: int = 0> (batch, length1)");
    cq_say(e, "  t = Expand (placed, shape)");
    cq_say(e, "}, else_branch: graph = own () => (u) { u = Identity (position_ids) }>");
    cq_say(e,
           "output = RotaryEmbedding <interleaved: int = %" PRId64 ", num_heads: int = %" PRId64
           ", rotary_embedding_dim: int = %" PRId64 "> (input, cos_cache, sin_cache, ids)",
           cq_expansion_int(e, "interleaved"), cq_expansion_int(e, "num_heads"),
           cq_expansion_int(e, "rotary_embedding_dim"));
}

const cq_expansion_row cq_expansions_attention[] = {
    { "Attention", attention },
    { "GroupQueryAttention", group_query_attention },
    { "MultiHeadAttention", multi_head_attention },
    { "RotaryEmbedding", rotary_embedding },
    { NULL, NULL },
};
