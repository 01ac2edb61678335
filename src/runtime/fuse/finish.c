/* The second half of building a plan: constant folding, dead-code elimination, slot assignment, and
 * last uses of values. */
#include "runtime/fuse/build.h"

#include <string.h>

/* ---- folding ---- */

static bool is_foldable(const cq_rt_builder *b, const cq_rt_node_step *step)
{
    if (!b->all->fold || step->step.row->flags & (CQ_RT_RANDOM | CQ_RT_NO_FOLDING))
        return false;
    for (uint32_t i = 0; i < step->step.n_in; i++)
        if (step->in[i] && !step->in[i]->is_constant)
            return false;
    for (const cq_rt_builder *g = step->inner; g; g = g->next)
        if (g->plan->n_captures || g->plan->is_random)
            return false;
    return true;
}

/* Assigns dummy slots, which only show which optional inputs and outputs exist. */
static cq_status give_dummy_slots(cq_rt_node_step *step, cq_arena *arena)
{
    step->step.in  = cq_arena_array(arena, step->step.n_in, sizeof *step->step.in);
    step->step.out = cq_arena_array(arena, step->step.n_out, sizeof *step->step.out);
    if (!step->step.in || !step->step.out)
        return CQ_E_NO_MEMORY;
    for (uint32_t i = 0; i < step->step.n_out; i++)
        step->step.out[i] = step->out[i] ? 0 : -1;
    return CQ_OK;
}

enum { FOLD_STEPS = 1000000 }; /* limit per node; longer computations are left to the run */

bool cq_rt_fold(cq_rt_builder *b, cq_rt_node_step *step)
{
    cq_rt_run      *run = &b->all->run;
    cq_val         *args, *out;
    bool            done = false;
    size_t          n_in = step->step.n_in, n_out = step->step.n_out;
    uint64_t        given;
    cq_alloc_budget before;
    cq_status       status;

    if (!is_foldable(b, step) || give_dummy_slots(step, b->all->arena) != CQ_OK)
        return false;
    args = cq_alloc_array(n_in + n_out + 1, sizeof *args);
    if (!args)
        return false;
    memset(args, 0, (n_in + n_out + 1) * sizeof *args);
    out = args + n_in;
    for (size_t i = 0; i < n_in; i++)
        args[i] = step->in[i] ? step->in[i]->constant : CQ_NONE;
    given           = b->all->fold_steps < FOLD_STEPS ? b->all->fold_steps : FOLD_STEPS;
    run->steps_left = given;
    before = cq_alloc_set_budget((cq_alloc_budget){ .limit = 4 * (int64_t)CQ_RT_MAX_FOLDED });
    status = cq_rt_step_run(run, &step->step, NULL, args, out);
    before.used += cq_alloc_set_budget(before).used; /* memory that the plan keeps counts for the
                                                      * plan */
    cq_alloc_set_budget(before);
    b->all->fold_steps -= given - run->steps_left;
    if (status == CQ_OK) {
        done = true;
        for (size_t i = 0; i < n_out; i++) {
            if (!step->out[i]) {
                cq_val_release(out[i]);
                continue;
            }
            step->out[i]->is_constant = true;
            step->out[i]->constant    = out[i];
        }
    }
    cq_free(args);
    return done;
}

/* ---- live steps ---- */

static void use(cq_rt_node_value *v, int32_t at)
{
    v->is_live = true;
    if (at > v->last)
        v->last = at;
}

static void use_all(cq_rt_node_step *step, int32_t at)
{
    for (uint32_t i = 0; i < step->step.n_in; i++)
        if (step->in[i])
            use(step->in[i], at);
    for (cq_rt_builder *g = step->inner; g; g = g->next)
        for (size_t i = 0; i < g->plan->n_captures; i++)
            use(g->around[i], at);
}

/* Marks live steps from the outputs backwards; returns their number. */
static uint32_t mark_live(cq_rt_builder *b)
{
    uint32_t n = 0;

    for (size_t i = 0; i < b->outputs.n; i++)
        use(b->outputs.items[i], INT32_MAX);
    for (size_t i = b->steps.n; i-- > 0;) {
        cq_rt_node_step *step = b->steps.items[i];

        for (uint32_t k = 0; k < step->step.n_out; k++)
            step->is_live |= step->out[k] && step->out[k]->is_live;
        if (!step->is_live)
            continue;
        use_all(step, (int32_t)i);
        n++;
    }
    return n;
}

/* ---- slots ---- */

static void give_slot(cq_rt_plan *plan, cq_rt_node_value *v)
{
    plan->names[plan->n_slots] = v->name;
    v->slot                    = (int32_t)plan->n_slots++;
}

static cq_status give_slots(cq_rt_plan *plan, cq_rt_builder *b)
{
    cq_arena *arena = b->all->arena;

    plan->names     = cq_arena_array(arena, b->values.n, sizeof *plan->names);
    plan->constants = cq_arena_array(arena, b->values.n, sizeof *plan->constants);
    plan->captures  = cq_arena_array(arena, b->captures.n, sizeof *plan->captures);
    plan->outputs   = cq_arena_array(arena, b->outputs.n, sizeof *plan->outputs);
    plan->defaults  = cq_arena_array(arena, b->inputs.n, sizeof *plan->defaults);
    if (!plan->names || !plan->constants || !plan->captures || !plan->outputs || !plan->defaults)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < b->values.n; i++) {
        cq_rt_node_value *v = b->values.items[i];

        if (!v->is_constant || !v->is_live)
            continue;
        plan->constants[plan->n_constants++] = v->constant;
        v->constant                          = CQ_NONE;
        give_slot(plan, v);
    }
    for (size_t i = 0; i < b->captures.n; i++, plan->n_captures++)
        give_slot(plan, b->captures.items[i]);
    for (size_t i = 0; i < b->inputs.n; i++) {
        plan->defaults[plan->n_inputs++] = b->inputs.items[i]->constant;
        b->inputs.items[i]->constant     = CQ_NONE;
        give_slot(plan, b->inputs.items[i]);
    }
    for (size_t i = 0; i < b->values.n; i++)
        if (b->values.items[i]->slot < 0 && !b->values.items[i]->is_constant)
            give_slot(plan, b->values.items[i]);
    for (size_t i = 0; i < b->outputs.n; i++)
        plan->outputs[plan->n_outputs++] = b->outputs.items[i]->slot;
    return CQ_OK;
}

/* Whether v is last used by step `at`. */
static bool dies_at(const cq_rt_node_value *v, int32_t at)
{
    return v && !v->is_constant && !v->is_capture && !v->is_input && v->last == at;
}

static void note_dead(cq_rt_step *step, cq_rt_node_value *v, int32_t at)
{
    if (!dies_at(v, at))
        return;
    step->dead[step->n_dead++] = v->slot;
    v->last                    = INT32_MAX; /* so that it is released only once */
}

static cq_status finish_step(cq_rt_plan *plan, cq_rt_builder *b, cq_rt_node_step *from, int32_t at)
{
    cq_arena   *arena = b->all->arena;
    cq_rt_step *to    = &plan->steps[plan->n_steps++];
    size_t      n     = from->step.n_in;

    for (cq_rt_builder *g = from->inner; g; g = g->next)
        n += g->plan->n_captures;
    *to      = from->step;
    to->in   = cq_arena_array(arena, to->n_in, sizeof *to->in);
    to->out  = cq_arena_array(arena, to->n_out, sizeof *to->out);
    to->dead = cq_arena_array(arena, n, sizeof *to->dead);
    if (!to->in || !to->out || !to->dead)
        return CQ_E_NO_MEMORY;
    for (uint32_t i = 0; i < to->n_in; i++)
        to->in[i] = from->in[i] ? from->in[i]->slot : -1;
    for (uint32_t i = 0; i < to->n_out; i++)
        to->out[i] = from->out[i] && from->out[i]->is_live ? from->out[i]->slot : -1;
    for (uint32_t i = 0; i < to->n_in; i++)
        note_dead(to, from->in[i], at);
    for (cq_rt_builder *g = from->inner; g; g = g->next) {
        for (size_t i = 0; i < g->plan->n_captures; i++) {
            g->plan->captures[i] = g->around[i]->slot;
            note_dead(to, g->around[i], at);
        }
        plan->is_random |= g->plan->is_random;
    }
    plan->is_random |= (to->row->flags & CQ_RT_RANDOM) != 0;
    plan->max_in  = to->n_in > plan->max_in ? to->n_in : plan->max_in;
    plan->max_out = to->n_out > plan->max_out ? to->n_out : plan->max_out;
    return CQ_OK;
}

cq_status cq_rt_finish(cq_rt_plan **out, cq_rt_builder *b)
{
    cq_rt_plan *plan = *out = cq_arena_zalloc(b->all->arena, sizeof *plan);
    uint32_t    n;

    if (!plan)
        return CQ_E_NO_MEMORY;
    plan->next     = *b->all->plans;
    *b->all->plans = plan;
    if (b->all->optimize && !b->all->missing.n)
        CQ_TRY(cq_rt_optimize(b, plan));
    n = mark_live(b);
    CQ_TRY(give_slots(plan, b));
    plan->steps = cq_arena_array(b->all->arena, n, sizeof *plan->steps);
    if (!plan->steps)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < b->steps.n; i++)
        if (b->steps.items[i]->is_live)
            CQ_TRY(finish_step(plan, b, b->steps.items[i], (int32_t)i));
    return CQ_OK;
}

/* ---- the plan ---- */

void cq_rt_builder_clear(cq_rt_builder *b)
{
    for (size_t i = 0; i < b->values.n; i++)
        cq_val_release(b->values.items[i]->constant);
    cq_vec_clear(&b->values);
    cq_vec_clear(&b->inputs);
    cq_vec_clear(&b->outputs);
    cq_vec_clear(&b->captures);
    cq_vec_clear(&b->captured);
    cq_vec_clear(&b->steps);
}

void cq_rt_plans_clear(cq_rt_plan *all)
{
    for (cq_rt_plan *p = all; p; p = p->next) {
        for (uint32_t i = 0; p->constants && i < p->n_constants; i++)
            cq_val_release(p->constants[i]);
        for (uint32_t i = 0; p->defaults && i < p->n_inputs; i++)
            cq_val_release(p->defaults[i]);
        for (cq_rt_owned *o = p->owned; o; o = o->next)
            o->free(o->what);
    }
}

const char *cq_rt_step_name(const cq_rt_step *step)
{
    const cq_onnx_node *node = step->node;

    if (node->name && *node->name)
        return node->name;
    for (uint32_t i = 0; i < node->output.n; i++)
        if (*node->output.items[i])
            return node->output.items[i];
    return "without a name";
}

const char *cq_rt_step_op(const cq_rt_step *step)
{
    return step->label ? step->label : step->node->op_type;
}
