/* Fuses chains of element-wise steps whose intermediate results have no other readers: one pass
 * over memory instead of many, and no buffers for intermediate results. The fused step replaces the
 * last step of the chain, because all inputs have been computed by then. */
#include "runtime/fuse/images.h"
#include "runtime/fuse/patterns.h"

#include "kernel/chain.h"
#include "runtime/kernels/chain.h"

#include <stdio.h>
#include <string.h>

/* Steps to be fused: the last one, and steps whose results only members of the group read. */
typedef struct group {
    int              n;
    cq_rt_node_step *parts[CQ_RT_CHAIN_PARTS];
} group;

static bool has(const group *g, const cq_rt_node_step *s)
{
    for (int i = 0; i < g->n; i++)
        if (g->parts[i] == s)
            return true;
    return false;
}

/* ---- steps ---- */

static bool is_clip(const cq_rt_node_step *s)
{
    return !strcmp(s->step.node->op_type, "Clip");
}

/* Describes the operation of a step; false if it cannot be fused. */
static bool describe_step(cq_rt_elementwise *out, const cq_rt_node_step *s)
{
    float lo, hi;

    if (!s || s->step.n_out != 1 || !s->out[0] || !s->step.n_in || !s->in[0] ||
        !cq_rt_is_op(s, s->step.node->op_type) || !cq_rt_elementwise_of(out, &s->step) ||
        !cq_chain_has(out->op))
        return false;
    if (is_clip(s)) {
        if (!cq_img_limits(&lo, &hi, s))
            return false;
        out->params = (cq_params){ .a = (double)lo, .b = (double)hi };
        return true;
    }
    for (uint32_t i = 0; i < s->step.n_in; i++)
        if (!s->in[i])
            return false;
    return true;
}

/* ---- groups ---- */

/* Whether all users of v are in the group and none uses it as a condition, which a fused step never
 * computes. */
static bool is_read_inside(const group *g, const cq_rt_node_value *v)
{
    uint32_t n = 0;

    for (int p = 0; p < g->n; p++) {
        const cq_rt_node_step *s = g->parts[p];

        for (uint32_t i = 0; i < s->step.n_in; i++) {
            n += s->in[i] == v;
            if (s->in[i] == v && i == 0 && !strcmp(s->step.node->op_type, "Where"))
                return false;
        }
    }
    return n == v->n_uses;
}

static int32_t place_of(cq_rt_node_value *const *values, int32_t n, const cq_rt_node_value *v)
{
    int32_t i = 0;

    while (i < n && values[i] != v)
        i++;
    return i;
}

/* Collects the inputs of the group; returns more than room if there are too many. */
static int32_t inputs_of(cq_rt_node_value **out, int32_t room, const group *g)
{
    int32_t n = 0;

    for (int p = 0; p < g->n; p++)
        for (uint32_t i = 0; i < g->parts[p]->step.n_in; i++) {
            cq_rt_node_value *v = g->parts[p]->in[i];

            if (!v || (v->maker && has(g, v->maker)) || place_of(out, n, v) < n)
                continue;
            if (n == room)
                return room + 1;
            out[n++] = v;
        }
    return n;
}

/* Adds a step whose result only the group reads. Returns false if no such step exists or the group
 * would exceed its limits. */
static bool grow(group *g)
{
    cq_rt_node_value *inputs[CQ_RT_CHAIN_INPUTS];
    cq_rt_elementwise what;

    for (int p = 0; p < g->n && g->n < CQ_RT_CHAIN_PARTS; p++)
        for (uint32_t i = 0; i < g->parts[p]->step.n_in; i++) {
            cq_rt_node_value *v = g->parts[p]->in[i];

            if (!v || !v->maker || has(g, v->maker) || !describe_step(&what, v->maker) ||
                !is_read_inside(g, v))
                continue;
            g->parts[g->n++] = v->maker;
            if (inputs_of(inputs, CQ_RT_CHAIN_INPUTS, g) <= CQ_RT_CHAIN_INPUTS)
                return true;
            g->n--;
        }
    return false;
}

/* Appends s after the steps whose results it reads. */
static void sort(group *to, const group *from, cq_rt_node_step *s)
{
    for (uint32_t i = 0; i < s->step.n_in; i++)
        if (s->in[i] && s->in[i]->maker && has(from, s->in[i]->maker) && !has(to, s->in[i]->maker))
            sort(to, from, s->in[i]->maker);
    to->parts[to->n++] = s;
}

/* ---- the fused step ---- */

static const char *label_of(cq_rt_builder *b, const group *g)
{
    char text[128];
    int  n = 0;

    for (int p = 0; p < g->n && n < (int)sizeof text; p++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%s", p ? "+" : "",
                      g->parts[p]->step.node->op_type);
    return cq_arena_strdup(b->all->arena, text);
}

static cq_status write_part(cq_rt_chain_part *to, cq_rt_builder *b, const group *g, int p,
                            cq_rt_node_value *const *inputs, int32_t n_inputs)
{
    cq_rt_node_step *s   = g->parts[p];
    int32_t         *in  = cq_arena_array(b->all->arena, s->step.n_in, sizeof *in);
    int32_t         *out = cq_arena_array(b->all->arena, 1, sizeof *out);
    const cq_tensor *power;
    cq_ew_op         simple;

    if (!in || !out)
        return CQ_E_NO_MEMORY;
    (void)describe_step(&to->what, s);
    for (uint32_t i = 0; i < s->step.n_in; i++) {
        in[i] = s->in[i] ? place_of(inputs, n_inputs, s->in[i]) : -1;
        for (int k = 0; in[i] == n_inputs + k && g->parts[k]->out[0] != s->in[i]; k++)
            in[i]++;
    }
    *out            = 0;
    to->step        = s->step;
    to->step.in     = in;
    to->step.out    = out;
    to->step.dead   = NULL;
    to->step.n_dead = 0;
    to->n_reads     = is_clip(s) ? 1 : (int)s->step.n_in;
    for (int i = 0; i < to->n_reads; i++)
        to->reads[i] = in[i];
    power = to->what.op == CQ_EW_POW ? cq_rt_constant_of(s, 1) : NULL;
    if (power && power->rank == 0 && cq_rt_power_is_simple(&simple, power)) {
        to->what.op = simple;
        to->n_reads = 1; /* the exponent is a scalar, so it does not change the shape */
    }
    return CQ_OK;
}

static cq_status rewrite(cq_rt_builder *b, const group *g)
{
    cq_rt_node_step *last = g->parts[g->n - 1];
    cq_rt_chain     *keep =
        cq_arena_zalloc(b->all->arena, sizeof *keep + (size_t)g->n * sizeof *keep->parts);
    cq_rt_node_value **in = cq_arena_array(b->all->arena, CQ_RT_CHAIN_INPUTS, sizeof *in);

    if (!keep || !in)
        return CQ_E_NO_MEMORY;
    keep->n_parts  = g->n;
    keep->n_inputs = inputs_of(in, CQ_RT_CHAIN_INPUTS, g);
    for (int p = 0; p < g->n; p++)
        CQ_TRY(write_part(&keep->parts[p], b, g, p, in, keep->n_inputs));
    for (int p = 0; p + 1 < g->n; p++)
        g->parts[p]->is_gone = true;
    last->in            = in;
    last->step.n_in     = (uint32_t)keep->n_inputs;
    last->step.row      = &cq_rt_row_chain;
    last->step.prepared = keep;
    last->step.label    = label_of(b, g);
    return last->step.label ? CQ_OK : CQ_E_NO_MEMORY;
}

cq_status cq_rt_optimize_chains(cq_rt_builder *b)
{
    cq_rt_elementwise what;

    for (size_t i = b->steps.n; i-- > 0;) {
        group g = { .n = 1, .parts = { b->steps.items[i] } }, sorted = { 0 };

        if (!describe_step(&what, b->steps.items[i]))
            continue;
        while (grow(&g))
            continue;
        sort(&sorted, &g, b->steps.items[i]);
        if (g.n > 1)
            CQ_TRY(rewrite(b, &sorted));
    }
    return CQ_OK;
}
