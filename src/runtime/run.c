#include "runtime/run.h"
#include "base/clock.h"
#include "base/progress.h"
#include "runtime/plan/work.h"

#include <string.h>

/* Allocates the frame of a plan and the arrays for the arguments of its steps. */
static cq_val *frame_new(const cq_rt_plan *plan)
{
    size_t  n     = (size_t)plan->n_slots + plan->max_in + plan->max_out;
    cq_val *frame = cq_alloc_array(n, sizeof *frame);

    if (frame)
        memset(frame, 0, n * sizeof *frame); /* NONE is 0 */
    return frame;
}

/* Slots that the frame does not own: constants, captures, inputs. */
static uint32_t n_borrowed(const cq_rt_plan *plan)
{
    return plan->n_constants + plan->n_captures + plan->n_inputs;
}

static void frame_free(const cq_rt_plan *plan, cq_val *frame)
{
    for (uint32_t i = n_borrowed(plan); i < plan->n_slots; i++)
        cq_val_release(frame[i]);
    cq_free(frame);
}

static void frame_fill(cq_val *frame, const cq_rt_plan *plan, const cq_val *around,
                       const cq_val *inputs)
{
    cq_val *to = frame;

    for (uint32_t i = 0; i < plan->n_constants; i++)
        *to++ = plan->constants[i];
    for (uint32_t i = 0; i < plan->n_captures; i++)
        *to++ = around[plan->captures[i]];
    for (uint32_t i = 0; i < plan->n_inputs; i++, to++) {
        *to = inputs[i];
        if (to->kind == CQ_VAL_NONE && plan->defaults)
            *to = plan->defaults[i];
    }
}

/* Whether an input has tensors of strings, or a sequence of them. */
static bool has_texts(const cq_rt *rt)
{
    for (size_t i = 0; i < rt->n_in; i++)
        if (rt->in[i].kind == CQ_VAL_OBJECT ||
            (rt->in[i].kind == CQ_VAL_LIST && rt->in[i].u.list->n &&
             rt->in[i].u.list->items[0].kind == CQ_VAL_OBJECT))
            return true;
    return false;
}

static cq_status call(cq_rt *rt)
{
    const cq_rt_row *row = rt->step->row;

    if (!(row->flags & CQ_RT_OWN))
        CQ_TRY(cq_rt_check_types(rt));
    if (has_texts(rt) && !(row->flags & CQ_RT_TEXT_OWN))
        CQ_TRY(cq_rt_call_with_texts(rt));
    else
        CQ_TRY(row->fn(rt));
    return rt->run->traps_nan ? cq_rt_check_finite(rt) : CQ_OK;
}

cq_status cq_rt_step_run(cq_rt_run *run, const cq_rt_step *step, const cq_val *frame,
                         const cq_val *in, cq_val *out)
{
    cq_rt     rt    = { .step  = step,
                        .run   = run,
                        .frame = frame,
                        .n_in  = step->n_in,
                        .n_out = step->n_out,
                        .in    = in,
                        .out   = out };
    int64_t   begin = run->hook ? cq_now() : 0;
    cq_status status;

    status = cq_rt_spend_before(&rt);
    if (status == CQ_OK)
        status = call(&rt);
    cq_rt_release_kept(&rt);
    if (status == CQ_OK)
        status = cq_rt_spend_after(&rt);
    if (status == CQ_OK) {
        if (run->hook)
            run->hook(run->hook_user, cq_rt_step_name(step), cq_rt_step_op(step), begin, cq_now());
        return CQ_OK;
    }
    for (size_t i = 0; i < rt.n_out; i++) {
        cq_val_release(out[i]);
        out[i] = CQ_NONE;
    }
    if (status == CQ_E_NO_MEMORY && step->n_out && *step->node->output.items[0])
        return cq_error_add_where(status, "node %s (%s), value %s", cq_rt_step_name(step),
                                  cq_rt_step_op(step), step->node->output.items[0]);
    return cq_error_add_where(status, "node %s (%s)", cq_rt_step_name(step), cq_rt_step_op(step));
}

static cq_status run_step(cq_rt_run *run, const cq_rt_plan *plan, const cq_rt_step *step,
                          cq_val *frame)
{
    cq_val *in = frame + plan->n_slots, *out = in + plan->max_in;

    for (uint32_t i = 0; i < step->n_in; i++)
        in[i] = step->in[i] >= 0 ? frame[step->in[i]] : CQ_NONE;
    for (uint32_t i = 0; i < step->n_out; i++)
        out[i] = CQ_NONE;
    CQ_TRY(cq_rt_step_run(run, step, frame, in, out));
    for (uint32_t i = 0; i < step->n_out; i++) {
        if (step->out[i] >= 0)
            frame[step->out[i]] = out[i];
        else
            cq_val_release(out[i]);
    }
    for (uint32_t i = 0; i < step->n_dead; i++) {
        cq_val_release(frame[step->dead[i]]);
        frame[step->dead[i]] = CQ_NONE;
    }
    return CQ_OK;
}

cq_status cq_rt_plan_run(cq_rt_run *run, const cq_rt_plan *plan, const cq_val *around,
                         const cq_val *inputs, cq_val *outputs)
{
    cq_val   *frame  = frame_new(plan);
    cq_status status = frame ? CQ_OK : CQ_E_NO_MEMORY;

    for (uint32_t i = 0; i < plan->n_outputs; i++)
        outputs[i] = CQ_NONE;
    if (!frame)
        return status;
    frame_fill(frame, plan, around, inputs);
    if (!around)
        cq_progress_begin("running", plan->n_steps);
    for (uint32_t i = 0; i < plan->n_steps && status == CQ_OK; i++) {
        if (!around) /* steps of subgraphs belong to the step that runs the subgraph */
            status = cq_rt_workspace_step(run->workspace, i);
        if (status == CQ_OK)
            status = run_step(run, plan, &plan->steps[i], frame);
        if (!around)
            cq_progress_step(1);
    }
    if (!around)
        cq_progress_end();
    for (uint32_t i = 0; i < plan->n_outputs && status == CQ_OK; i++)
        outputs[i] = cq_val_retain(frame[plan->outputs[i]]);
    frame_free(plan, frame);
    return status;
}

cq_status cq_rt_run_graph(cq_rt *rt, const cq_rt_plan *plan, const cq_val *inputs, size_t n_inputs,
                          cq_val *outputs, size_t n_outputs)
{
    const bool in_loop = rt->run->in_loop;
    cq_status  status;

    for (size_t i = 0; i < n_outputs; i++)
        outputs[i] = CQ_NONE;
    CQ_TRY(cq_rt_spend(rt->run, CQ_RT_NODE_STEPS)); /* charged because a loop over an empty subgraph
                                                     * could run forever */
    if (plan->n_inputs != n_inputs || plan->n_outputs != n_outputs)
        return cq_fail(CQ_E_INVALID, NULL, NULL,
                       "the inner graph has %u inputs and %u outputs, expected %zu and %zu",
                       plan->n_inputs, plan->n_outputs, n_inputs, n_outputs);
    rt->run->in_loop |= n_inputs > 0; /* a branch of an If has no inputs, so this is a loop body */
    status           = cq_rt_plan_run(rt->run, plan, rt->frame, inputs, outputs);
    rt->run->in_loop = in_loop;
    return status;
}
