/* Programs of torch.export as a front end. */
#include "export/front/front_end.h"
#include "export/front/pt2_metadata.h"

#include <calque/pt2.h>

typedef struct pt2_call {
    cq_pt2           *model;
    cq_tensor *const *inputs;
    size_t            n_inputs; /* 0: the program's own */
    bool              keeps_mutations;
} pt2_call;

/* ---- the front end ---- */

static cq_status begin_export(void *self, const cq_export_options *options)
{
    (void)options;
    return cq_pt2_forget_state(((pt2_call *)self)->model);
}

static cq_status each_weight(void *self, cq_weight_fn fn, void *user)
{
    return cq_pt2_each_weight(((pt2_call *)self)->model, fn, user);
}

/* Outputs have the names of the program, unless the user gives others. */
static cq_status name_outputs(const cq_pt2 *model, cq_graph *g)
{
    for (size_t i = 0; i < g->top->returns.n && cq_pt2_output_name(model, i); i++)
        CQ_TRY(cq_ir_name_return(g, i, cq_pt2_output_name(model, i)));
    return CQ_OK;
}

static cq_status call(void *self, cq_front_call *call)
{
    pt2_call *c    = self;
    cq_port  *port = &call->port;

    port->keep_state &= call->capture || c->model->has_state;
    c->keeps_mutations = port->keep_mutations;
    if (!c->model->is_state.n)
        CQ_TRY(cq_pt2_forget_state(c->model));
    CQ_TRY(cq_pt2_call_through(call->cx, c->model, c->inputs, c->n_inputs, port));
    return call->capture ? name_outputs(c->model, call->capture->graph) : CQ_OK;
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

static const cq_front_end programs = { .begin_export = begin_export,
                                       .each_weight  = each_weight,
                                       .call         = call,
                                       .opset        = CQ_PT2_OPSET_DEFAULT,
                                       .must_repeat  = must_repeat };

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
