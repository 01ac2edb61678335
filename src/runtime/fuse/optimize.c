/* Replaces the steps of a graph by faster ones that compute the same results. Values that are
 * visible to the caller, because they are outputs or are read by a subgraph, are still computed. */
#include "runtime/fuse/build.h"

#include "base/huge_pages.h"

#include <string.h>

void cq_rt_count_uses(cq_rt_builder *b)
{
    for (size_t i = 0; i < b->values.n; i++) {
        b->values.items[i]->n_uses     = 0;
        b->values.items[i]->readers[0] = b->values.items[i]->readers[1] = NULL;
        b->values.items[i]->maker                                       = NULL;
    }
    for (size_t i = 0; i < b->steps.n; i++) {
        cq_rt_node_step *step = b->steps.items[i];

        for (uint32_t k = 0; k < step->step.n_in; k++) {
            if (step->in[k] && step->in[k]->n_uses < 2)
                step->in[k]->readers[step->in[k]->n_uses] = step;
            if (step->in[k])
                step->in[k]->n_uses++;
        }
        for (uint32_t k = 0; k < step->step.n_out; k++)
            if (step->out[k])
                step->out[k]->maker = step;
        for (cq_rt_builder *g = step->inner; g; g = g->next)
            for (size_t k = 0; k < g->plan->n_captures; k++)
                g->around[k]->n_uses += 2; /* counts as more than one, so it is never the only
                                            * use */
    }
    for (size_t i = 0; i < b->outputs.n; i++)
        b->outputs.items[i]->n_uses += 2;
}

cq_status cq_rt_own(cq_rt_builder *b, cq_rt_plan *plan, void *what, void (*release)(void *what))
{
    cq_rt_owned *o = cq_arena_zalloc(b->all->arena, sizeof *o);

    if (!o) {
        release(what);
        return CQ_E_NO_MEMORY;
    }
    o->what     = what;
    o->free     = release;
    o->next     = plan->owned;
    plan->owned = o;
    return CQ_OK;
}

/* ---- identity steps ---- */

static bool is_noop(const cq_rt_node_step *s)
{
    const char *op = s->step.node->op_type;

    if (s->step.node->domain && *s->step.node->domain)
        return false;
    for (uint32_t i = 1; i < s->step.n_out; i++)
        if (s->out[i] && s->out[i]->n_uses)
            return false;
    if (!strcmp(op, "Identity"))
        return true;
    /* The third input enables training; earlier versions do not have it. */
    return !strcmp(op, "Dropout") && s->step.n_in < 3;
}

/* Makes readers of an identity step read its input. */
static void remove_noops(cq_rt_builder *b)
{
    size_t n = 0;

    for (size_t i = 0; i < b->steps.n; i++) {
        cq_rt_node_step *s = b->steps.items[i];

        for (uint32_t k = 0; k < s->step.n_in; k++)
            if (s->in[k] && s->in[k]->same)
                s->in[k] = s->in[k]->same;
        for (cq_rt_builder *g = s->inner; g; g = g->next)
            for (size_t k = 0; k < g->plan->n_captures; k++)
                if (g->around[k]->same)
                    g->around[k] = g->around[k]->same;
        if (is_noop(s) && s->in[0] && s->out[0])
            s->out[0]->same = s->in[0];
        else
            b->steps.items[n++] = s;
    }
    b->steps.n = n;
    for (size_t i = 0; i < b->outputs.n; i++)
        if (b->outputs.items[i]->same)
            b->outputs.items[i] = b->outputs.items[i]->same;
}

/* Removes steps that others have absorbed. */
static void remove_gone(cq_rt_builder *b)
{
    size_t n = 0;

    for (size_t i = 0; i < b->steps.n; i++)
        if (!b->steps.items[i]->is_gone)
            b->steps.items[n++] = b->steps.items[i];
    b->steps.n = n;
}

/* Counts the bytes of constants that may be weights of convolutions. */
static double weights_of(const cq_rt_builder *b)
{
    double bytes = 0;

    for (size_t i = 0; i < b->values.n; i++) {
        const cq_rt_node_value *v = b->values.items[i];

        if (v->is_constant && v->constant.kind == CQ_VAL_TENSOR && v->constant.u.tensor->rank == 4)
            bytes += cq_tensor_given_bytes(v->constant.u.tensor);
    }
    return bytes;
}

static cq_status optimize_layers(cq_rt_builder *b, cq_rt_plan *plan)
{
    CQ_TRY(cq_rt_optimize_quantized(b, plan));
    cq_rt_count_uses(b);
    return cq_rt_optimize_images(b, plan);
}

cq_status cq_rt_optimize(cq_rt_builder *b, cq_rt_plan *plan)
{
    cq_huge_pages *before;
    cq_status      status;

    cq_rt_count_uses(b);
    remove_noops(b);
    cq_rt_count_uses(b);
    before = cq_huge_pages_begin(weights_of(b));
    status = optimize_layers(b, plan);
    cq_huge_pages_end(before);
    CQ_TRY(status);
    cq_rt_count_uses(b);
    CQ_TRY(cq_rt_optimize_layers(b));
    CQ_TRY(cq_rt_optimize_attentions(b));
    remove_gone(b);
    cq_rt_count_uses(b);
    CQ_TRY(cq_rt_optimize_linears(b, plan));
    remove_gone(b);
    cq_rt_count_uses(b);
    CQ_TRY(cq_rt_optimize_chains(b));
    remove_gone(b);
    return CQ_OK;
}
