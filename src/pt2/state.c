/* The state of a torch.export program: mutated buffers and user inputs. The signature of a
 * functional program lists them; before decomposition, nodes change their arguments in place, which
 * a capture detects. */
#include "pt2/model.h"

#include "base/str.h"
#include "script/flow/state.h"

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

/* The index of an input of the graph among those of the user, which are in its order; n: it is a
 * weight. */
static size_t place_of(const cq_pt2 *p, size_t input)
{
    size_t low = 0, high = p->user.n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (p->user.items[middle] < input)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->user.n && p->user.items[low] == input ? low : p->user.n;
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

cq_status cq_pt2_state_value(cq_pt2 *p, cq_eval *ev, cq_port *port, size_t input, cq_tensor *t,
                             size_t *next, cq_val *out)
{
    const char  *name = name_of(p, input);
    const size_t at   = (*next)++;
    char         in[600], after[600];

    if (!ev->capture) {
        *out = cq_val_of_tensor(cq_clone(ev->cx, at < port->n_given ? port->given[at] : t));
        return ev->cx->status;
    }
    snprintf(in, sizeof in, "state.%.500s_in", name);
    snprintf(after, sizeof after, "state.%.500s_out", name);
    *out = cq_val_of_tensor(cq_capture_input(ev->capture, ev->cx, t, in, NULL));
    CQ_TRY(ev->cx->status);
    return cq_ir_note_state(ev->capture->graph, in, after, t);
}

/* ---- outputs ---- */

/* Outputs that are new values, by the name of the mutated value; of several the first. */
static cq_status find_mutations(const cq_pt2 *p, const cq_val *results, cq_map *out)
{
    const cq_pt2_program *program = p->program;

    for (size_t i = program->graph->n_outputs; i-- > 0;)
        if (program->outputs[i].role == CQ_PT2_MUTATION)
            CQ_TRY(cq_map_set(out, program->outputs[i].name, (void *)&results[i]));
    return CQ_OK;
}

/* The new value of an input according to the signature; None: it is unchanged. */
static cq_val result_of(const cq_pt2 *p, size_t input, const cq_map *mutations)
{
    const cq_pt2_graph *g    = p->program->graph;
    const char         *name = p->program->inputs[input].name;
    const cq_val       *result;

    if (place_of(p, input) < p->user.n)
        name = g->slots[g->inputs[input].u.slot];
    result = cq_map_get(mutations, name);
    return result ? *result : CQ_NONE;
}

static cq_status finish(cq_pt2 *p, cq_eval *ev, cq_port *port, size_t input, cq_val arg,
                        cq_val result)
{
    bool is_changed = p->is_state.items[input];
    char name[600];

    if (ev->capture)
        is_changed =
            result.kind == CQ_VAL_TENSOR || cq_track_is_written(&ev->capture->tracks, arg.u.tensor);
    p->unsettled |= is_changed && !p->is_state.items[input];
    p->is_state.items[input] = is_changed || p->is_state.items[input];
    if (!port->keep_state || !is_changed)
        return CQ_OK;
    snprintf(name, sizeof name, "state.%.500s_out", name_of(p, input));
    cq_as_output(ev->cx, name, result.kind == CQ_VAL_TENSOR ? result.u.tensor : arg.u.tensor);
    return ev->cx->status;
}

cq_status cq_pt2_finish_state(cq_pt2 *p, cq_eval *ev, cq_port *port, const cq_val *args,
                              const cq_val *results)
{
    cq_map    mutations = { 0 };
    cq_status status    = find_mutations(p, results, &mutations);

    if (ev->capture) {
        p->unsettled = false;
        p->has_state = port->keep_state;
    }
    for (int weights = 0; weights < 2; weights++)
        for (size_t i = 0; i < p->is_state.n && status == CQ_OK; i++)
            if (args[i].kind == CQ_VAL_TENSOR && (place_of(p, i) == p->user.n) == weights)
                status = finish(p, ev, port, i, args[i], result_of(p, i, &mutations));
    cq_map_clear(&mutations);
    return status;
}
