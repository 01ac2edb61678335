/* Fuses decomposed attention, because ONNX has an Attention operator only since opset 23:
 * MatMul(Softmax(MatMul(q, k) * scale + mask), v) The scale may be a division and may be applied to
 * q or k. A Where with a constant may replace the mask or precede it. One fused step then computes
 * the result without intermediate values. */
#include "runtime/fuse/patterns.h"

#include "runtime/kernels/attention.h"

/* The matched pattern, matched from the softmax upwards. */
struct found {
    cq_rt_attention   keep;
    cq_rt_node_step  *parts[CQ_RT_ATTENTION_PARTS]; /* in reverse order */
    cq_rt_node_value *q, *k, *hides, *bias;
    uint32_t          n;
    bool              has_scale;
};

static bool add_part(struct found *f, cq_rt_node_step *s)
{
    if (f->n == CQ_RT_ATTENTION_PARTS)
        return false;
    f->parts[f->n++] = s;
    return true;
}

/* The step that computes v if v has a single reader; otherwise NULL. */
static cq_rt_node_step *only_maker(const cq_rt_node_value *v, const char *op)
{
    return v && v->n_uses == 1 && cq_rt_is_op(v->maker, op) ? v->maker : NULL;
}

/* If v is x * scale or x / scale, returns x; otherwise NULL. */
static cq_rt_node_value *take_scale(struct found *f, cq_rt_node_value *v)
{
    cq_rt_node_step *mul = only_maker(v, "Mul"), *div = only_maker(v, "Div");
    cq_rt_node_step *s = mul ? mul : div;
    double           number;
    uint32_t         at;

    if (!s || s->step.n_in != 2)
        return NULL;
    at = mul && cq_rt_number_of(&number, s, 0) ? 0 : 1;
    if (!cq_rt_number_of(&number, s, at) || !s->in[1 - at] || s->in[1 - at]->is_constant ||
        !add_part(f, s))
        return NULL;
    f->keep.scale = mul ? f->keep.scale * number : f->keep.scale / number;
    return s->in[1 - at];
}

static bool find_product(struct found *f, cq_rt_node_value *v);

/* Matches v as Where(condition, scores, number), or with the last two operands swapped. */
static bool find_where(struct found *f, cq_rt_node_value *v)
{
    cq_rt_node_step *s = only_maker(v, "Where");
    uint32_t         number;

    if (!s || f->hides || f->has_scale || s->step.n_in != 3 || !s->in[0])
        return false;
    number = cq_rt_number_of(&f->keep.hidden, s, 2) ? 2 : 1;
    if (!cq_rt_number_of(&f->keep.hidden, s, number) || !add_part(f, s))
        return false;
    f->hides           = s->in[0];
    f->keep.shown      = number == 2;
    f->keep.bias_first = false;
    return find_product(f, s->in[3 - number]);
}

/* Matches v as scores + mask, in either order. */
static bool find_sum(struct found *f, cq_rt_node_value *v)
{
    cq_rt_node_step *s = only_maker(v, "Add");
    struct found     before;

    if (!s || f->bias || f->has_scale || s->step.n_in != 2 || !s->in[0] || !s->in[1] ||
        s->in[0] == s->in[1] || !add_part(f, s))
        return false;
    f->keep.bias_first = true; /* a Where further up resets it */
    before             = *f;
    for (uint32_t i = 0; i < 2; i++) {
        *f      = before;
        f->bias = s->in[1 - i];
        if (find_product(f, s->in[i]))
            return true;
    }
    return false;
}

/* Matches the steps from v upwards to the product of q and k. */
static bool find_product(struct found *f, cq_rt_node_value *v)
{
    cq_rt_node_step  *s;
    cq_rt_node_value *x;

    if (find_sum(f, v) || find_where(f, v))
        return true;
    x = take_scale(f, v);
    if (x) {
        f->has_scale = true;
        return find_product(f, x);
    }
    s = only_maker(v, "MatMul");
    if (!s || s->step.n_in != 2 || !s->in[0] || !s->in[1] || s->in[1]->is_constant ||
        s->in[0] == s->in[1] || !add_part(f, s))
        return false;
    x    = take_scale(f, s->in[0]);
    f->q = x ? x : s->in[0];
    x    = take_scale(f, s->in[1]);
    f->k = x ? x : s->in[1];
    return true;
}

/* Whether the softmax is along the last axis. An axis counted from the front must be the third or
 * later. Before opset 13 Softmax flattened all axes from the named one on. */
static bool is_of_last_axis(struct found *f, const cq_rt_node_step *s)
{
    cq_rt rt = { .step = &s->step };

    f->keep.axis = cq_rt_int(&rt, "axis");
    return f->keep.axis == -1 || f->keep.axis >= 2;
}

/* Whether the only reader is a Transpose that swaps the two axes before the last. */
static bool is_swapped(const cq_rt_node_value *y)
{
    const cq_rt_node_step *s  = cq_rt_only_reader(y, "Transpose");
    cq_rt                  rt = { .step = s ? &s->step : NULL };
    cq_rt_ints             perm;

    if (!s || cq_rt_attr_ints(&perm, &rt, "perm") != CQ_OK || !perm.given)
        return false;
    if (perm.n == 3)
        return perm.at[0] == 1 && perm.at[1] == 0 && perm.at[2] == 2;
    return perm.n == 4 && perm.at[0] == 0 && perm.at[1] == 2 && perm.at[2] == 1 && perm.at[3] == 3;
}

static bool find(struct found *f, cq_rt_node_step *softmax)
{
    cq_rt_node_step *mix;

    *f = (struct found){ .keep = { .scale = 1 } };
    if (!cq_rt_is_op(softmax, "Softmax") || !softmax->out[0] || !is_of_last_axis(f, softmax))
        return false;
    mix = cq_rt_only_reader(softmax->out[0], "MatMul");
    if (!mix || mix->step.n_in != 2 || mix->in[0] != softmax->out[0] || !mix->in[1] ||
        !add_part(f, mix) || !add_part(f, softmax) || !find_product(f, softmax->in[0]))
        return false;
    f->keep.swaps = is_swapped(mix->out[0]);
    return true;
}

/* ---- the fused step ---- */

/* The index of the part that computes v; -1 if no part does. */
static int32_t part_of(const struct found *f, const cq_rt_node_value *v)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (f->parts[f->n - 1 - i]->out[0] == v)
            return (int32_t)i;
    return -1;
}

/* The index of v among the inputs of the step; adds v if necessary. -1 for NULL. */
static int32_t input_of(struct found *f, cq_rt_node_value **in, cq_rt_node_value *v)
{
    for (uint32_t i = 0; i < f->keep.n_in; i++)
        if (in[i] == v)
            return (int32_t)i;
    if (!v)
        return -1;
    in[f->keep.n_in] = v;
    return (int32_t)f->keep.n_in++;
}

/* Stores the parts in order, with slots as in attention.h. */
static cq_status keep_parts(cq_arena *arena, struct found *f, cq_rt_node_value **in)
{
    cq_rt_attention *keep = &f->keep;

    for (uint32_t i = 0; i < f->n; i++)
        for (uint32_t k = 0; k < f->parts[i]->step.n_in; k++)
            if (part_of(f, f->parts[i]->in[k]) < 0)
                (void)input_of(f, in, f->parts[i]->in[k]);
    for (uint32_t i = 0; i < f->n; i++) {
        const cq_rt_node_step *from = f->parts[f->n - 1 - i];
        cq_rt_step            *to   = &keep->parts[keep->n_parts++];

        *to     = from->step;
        to->in  = cq_arena_array(arena, to->n_in, sizeof *to->in);
        to->out = cq_arena_array(arena, 1, sizeof *to->out);
        if (!to->in || !to->out)
            return CQ_E_NO_MEMORY;
        to->n_out  = 1;
        to->out[0] = (int32_t)(keep->n_in + i);
        for (uint32_t k = 0; k < to->n_in; k++) {
            int32_t part = part_of(f, from->in[k]);

            to->in[k] = part < 0 ? input_of(f, in, from->in[k]) : (int32_t)keep->n_in + part;
        }
    }
    return CQ_OK;
}

/* Replaces the last step by the fused one. */
static cq_status rewrite(cq_rt_builder *b, struct found *f)
{
    cq_arena          *arena = b->all->arena;
    cq_rt_node_step   *last  = f->parts[0];
    cq_rt_attention   *keep  = cq_arena_zalloc(arena, sizeof *keep);
    cq_rt_node_value **in    = cq_arena_array(arena, CQ_RT_ATTENTION_INPUTS, sizeof *in);

    if (!keep || !in)
        return CQ_E_NO_MEMORY;
    CQ_TRY(keep_parts(arena, f, in));
    f->keep.q     = input_of(f, in, f->q);
    f->keep.k     = input_of(f, in, f->k);
    f->keep.v     = input_of(f, in, last->in[1]);
    f->keep.hides = input_of(f, in, f->hides);
    f->keep.bias  = input_of(f, in, f->bias);
    *keep         = f->keep;
    for (uint32_t i = 1; i < f->n; i++)
        f->parts[i]->is_gone = true;
    last->in            = in;
    last->step.n_in     = keep->n_in;
    last->step.row      = &cq_rt_row_attention;
    last->step.prepared = keep;
    last->step.label    = "Attention";
    return CQ_OK;
}

cq_status cq_rt_optimize_attentions(cq_rt_builder *b)
{
    struct found f;

    for (size_t i = 0; i < b->steps.n; i++)
        if (find(&f, b->steps.items[i]))
            CQ_TRY(rewrite(b, &f));
    return CQ_OK;
}
