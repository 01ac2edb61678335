/* Programs of torch.export as a front end. */
#include "export/front/front_end.h"
#include "export/front/pt2_metadata.h"

#include <calque/pt2.h>

typedef struct pt2_call {
    cq_pt2           *model;
    cq_tensor *const *inputs;
    size_t            n_inputs; /* 0: the program's own */
    int               n_captures;
    bool              keeps_mutations;
} pt2_call;

/* ---- the front end ---- */

static cq_status each_weight(void *self, cq_weight_fn fn, void *user)
{
    return cq_pt2_each_weight(((pt2_call *)self)->model, fn, user);
}

/* The name that the user has for an axis; NULL: none. */
static const char *axis_name(void *user, const char *input, size_t rank, size_t axis)
{
    const cq_export_options *o = ((cq_port *)user)->options;

    for (size_t i = 0; o && i < o->n_dynamic_axes; i++) {
        const cq_dynamic_axis *d  = &o->dynamic_axes[i];
        int64_t                at = d->axis < 0 ? d->axis + (int64_t)rank : d->axis;

        if (strcmp(d->value, input) == 0 && at == (int64_t)axis)
            return d->name;
    }
    return NULL;
}

static const char *input_name(void *user, const char *own)
{
    return cq_port_next_name(user, own);
}

static cq_tensor *copy_input(void *user, cq_tensor *example)
{
    return cq_port_input(user, example, NULL);
}

static cq_status give_output(void *user, cq_tensor *t)
{
    return cq_port_output(user, t);
}

static cq_status give_extra(void *user, const char *name, cq_tensor *t)
{
    return cq_port_extra(user, name, t);
}

/* Outputs are called as the program has it, unless the user has names for them. */
static cq_status name_outputs(const cq_pt2 *model, cq_graph *g)
{
    for (size_t i = 0; i < g->top->returns.n && cq_pt2_output_name(model, i); i++)
        CQ_TRY(cq_ir_name_return(g, i, cq_pt2_output_name(model, i)));
    return CQ_OK;
}

static cq_status call(void *self, cq_port *port)
{
    pt2_call   *c    = self;
    cq_pt2_ends ends = { .name      = input_name,
                         .axis_name = axis_name,
                         .input     = copy_input,
                         .output    = give_output,
                         .extra     = give_extra,
                         .has_rule  = cq_port_has_rule,
                         .user      = port };

    if (port->run) {
        ends.keep_mutations = port->run->flags & CQ_RUN_KEEP_MUTATIONS;
        ends.keep_asserts   = port->run->flags & CQ_RUN_KEEP_ASSERTS;
        ends.state          = port->run->flags & CQ_RUN_STATE && c->model->has_state;
        ends.given          = port->run->state;
        ends.n_given        = port->run->n_state;
    } else {
        const uint32_t flags = port->options->flags;

        ends.is_static      = flags & CQ_EXPORT_STATIC;
        ends.keep_mutations = flags & CQ_EXPORT_KEEP_MUTATIONS;
        ends.keep_asserts   = flags & CQ_EXPORT_KEEP_ASSERTS;
        ends.state          = flags & CQ_EXPORT_STATE;
    }
    c->keeps_mutations = ends.keep_mutations;
    if (c->n_captures++ == 0 && (port->capture || !c->model->is_state.n))
        CQ_TRY(cq_pt2_forget_state(c->model));
    CQ_TRY(cq_pt2_call_through(port->cx, c->model, c->inputs, c->n_inputs, &ends));
    return port->capture ? name_outputs(c->model, port->capture->graph) : CQ_OK;
}

static bool must_repeat(void *self)
{
    const pt2_call *c = self;

    if (c->model->has_state && c->model->unsettled)
        return true;
    if (!c->keeps_mutations)
        cq_pt2_warn_of_state(c->model);
    return false;
}

static const cq_front_end programs = { NULL,       NULL, each_weight, call, CQ_PT2_OPSET_DEFAULT,
                                       must_repeat };

/* ---- its public calls ---- */

CQ_API int32_t cq_pt2_default_opset(const cq_pt2 *model)
{
    const cq_pt2_graph *g     = model ? model->program->graph : NULL;
    int32_t             opset = CQ_PT2_OPSET_DEFAULT;

    for (size_t i = 0; g && i < g->n_slots; i++)
        if (cq_dtype_since(g->metas[i].dtype) > opset)
            opset = cq_dtype_since(g->metas[i].dtype);
    return opset;
}

CQ_API cq_status cq_pt2_export(cq_onnx_model **out, cq_pt2 *model, cq_tensor *const *inputs,
                               size_t n_inputs, const cq_export_options *options)
{
    cq_front_end as = programs;
    cq_status    status;

    CQ_NEED_OUT(out, model && (inputs || !n_inputs));
    as.opset = cq_pt2_default_opset(model);
    status   = cq_front_end_export(
          out, &as, &(pt2_call){ .model = model, .inputs = inputs, .n_inputs = n_inputs }, NULL,
          options);
    if (status == CQ_OK && *out)
        status = cq_pt2_add_metadata(*out, model);
    if (status != CQ_OK) {
        cq_onnx_model_free(*out);
        *out = NULL;
    }
    return status;
}

CQ_API cq_status cq_pt2_run_as(cq_pt2 *model, cq_tensor *const *inputs, size_t n_inputs,
                               const cq_run_options *options, cq_tensor **outputs, size_t max,
                               size_t *n_outputs)
{
    CQ_NEED(model && (inputs || !n_inputs) && n_outputs && (outputs || !max));
    return cq_front_end_run(&programs,
                            &(pt2_call){ .model = model, .inputs = inputs, .n_inputs = n_inputs },
                            options, outputs, max, n_outputs);
}
