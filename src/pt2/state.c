/* What a program of torch.export changes: buffers, and inputs of the user. Its signature tells of
 * it where the program is functional; before PyTorch decomposes it, nodes change their arguments in
 * place, which a capture notices. */
#include "pt2/model.h"

#include "base/str.h"
#include "script/state.h"

#include <stdio.h>

cq_status cq_pt2_forget_state(cq_pt2 *p)
{
    const size_t n = p->program->graph->n_inputs;

    CQ_TRY(cq_vec_reserve(&p->is_state, n));
    p->is_state.n = n;
    for (size_t i = 0; i < n; i++)
        p->is_state.items[i] = false;
    p->has_state = false;
    p->unsettled = false;
    return CQ_OK;
}

/* The place of an input of the graph among those of the user; n: it is a weight. */
static size_t place_of(const cq_pt2 *p, size_t input)
{
    for (size_t i = 0; i < p->user.n; i++)
        if (p->user.items[i] == input)
            return i;
    return p->user.n;
}

static const char *name_of(const cq_pt2 *p, size_t input)
{
    const size_t user = place_of(p, input);

    return user < p->user.n ? cq_pt2_input_name(p, user) : p->program->inputs[input].name;
}

void cq_pt2_warn_of_state(const cq_pt2 *p)
{
    cq_str weights = { 0 }, inputs = { 0 };

    for (size_t i = 0; i < p->is_state.n && !p->has_state; i++) {
        cq_str *names = place_of(p, i) < p->user.n ? &inputs : &weights;

        if (p->is_state.items[i])
            cq_state_add_name(names, name_of(p, i));
    }
    cq_state_warn_of("the program", &weights, &inputs);
}

/* ---- inputs ---- */

cq_status cq_pt2_state_value(cq_pt2 *p, cq_eval *ev, const cq_pt2_ends *ends, size_t input,
                             cq_tensor *t, size_t *next, cq_val *out)
{
    const char  *name = name_of(p, input);
    const size_t at   = (*next)++;
    char         in[600], after[600];

    if (!ev->capture) {
        *out = cq_val_of_tensor(cq_clone(ev->cx, at < ends->n_given ? ends->given[at] : t));
        return ev->cx->status;
    }
    snprintf(in, sizeof in, "state.%.500s_in", name);
    snprintf(after, sizeof after, "state.%.500s_out", name);
    *out = cq_val_of_tensor(cq_capture_input(ev->capture, ev->cx, t, in, NULL));
    CQ_TRY(ev->cx->status);
    return cq_ir_note_state(ev->capture->graph, in, after, t);
}

/* ---- outputs ---- */

/* What the signature says that an input became; None: nothing. */
static cq_val result_of(const cq_pt2 *p, size_t input, const cq_val *results)
{
    const cq_pt2_program *program = p->program;
    const cq_pt2_graph   *g       = program->graph;
    const char           *name    = program->inputs[input].name;

    if (place_of(p, input) < p->user.n)
        name = g->slots[g->inputs[input].u.slot];
    for (size_t i = 0; i < g->n_outputs; i++)
        if (program->outputs[i].role == CQ_PT2_MUTATION &&
            strcmp(program->outputs[i].name, name) == 0)
            return results[i];
    return CQ_NONE;
}

static cq_status finish(cq_pt2 *p, cq_eval *ev, const cq_pt2_ends *ends, size_t input, cq_val arg,
                        cq_val result)
{
    bool is_changed = p->is_state.items[input];
    char name[600];

    if (ev->capture)
        is_changed =
            result.kind == CQ_VAL_TENSOR || cq_track_is_written(&ev->capture->tracks, arg.u.tensor);
    p->unsettled |= is_changed && !p->is_state.items[input];
    p->is_state.items[input] = is_changed || p->is_state.items[input];
    if (!ends->state || !is_changed)
        return CQ_OK;
    snprintf(name, sizeof name, "state.%.500s_out", name_of(p, input));
    cq_as_output(ev->cx, name, result.kind == CQ_VAL_TENSOR ? result.u.tensor : arg.u.tensor);
    return ev->cx->status;
}

cq_status cq_pt2_finish_state(cq_pt2 *p, cq_eval *ev, const cq_pt2_ends *ends, const cq_val *args,
                              const cq_val *results)
{
    if (ev->capture) {
        p->unsettled = false;
        p->has_state = ends->state;
    }
    for (int weights = 0; weights < 2; weights++)
        for (size_t i = 0; i < p->is_state.n; i++)
            if (args[i].kind == CQ_VAL_TENSOR && (place_of(p, i) == p->user.n) == weights)
                CQ_TRY(finish(p, ev, ends, i, args[i], result_of(p, i, results)));
    return CQ_OK;
}
