/* One call of a model of any kind: captured as a graph, or run. */
#include "export/front/front_end.h"

#include "base/sized.h"
#include "base/warn.h"

#include <stdio.h>

CQ_API void cq_run_options_init(cq_run_options *options)
{
    CQ_NEED_ELSE(options, );
    *options = (cq_run_options){ .struct_size = sizeof *options };
}

CQ_API void cq_run_options_like_export(cq_run_options *options, const cq_export_options *o)
{
    static const struct {
        uint32_t exported, run;
    } pairs[] = {
        { CQ_EXPORT_STATE, CQ_RUN_STATE },
        { CQ_EXPORT_KEEP_MUTATIONS, CQ_RUN_KEEP_MUTATIONS },
        { CQ_EXPORT_KEEP_ASSERTS, CQ_RUN_KEEP_ASSERTS },
    };

    CQ_NEED_ELSE(options && o, );
    cq_run_options_init(options);
    options->training = o->training;
    options->marks    = o->marks;
    options->n_marks  = o->n_marks;
    options->flags    = CQ_RUN_RESTORE;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (o->flags & pairs[i].exported)
            options->flags |= pairs[i].run;
}

/* ---- inputs and outputs ---- */

static cq_front_call *call_of(cq_port *port)
{
    return (cq_front_call *)port;
}

static const char *next_name(cq_port *port, const char *own)
{
    cq_front_call           *p = call_of(port);
    const cq_export_options *o = p->options;
    size_t                   i = p->n_inputs++;
    char                     made_up[32];

    if (i < o->n_input_names && o->input_names[i])
        return o->input_names[i];
    snprintf(made_up, sizeof made_up, "input_%zu", i);
    return cq_ir_text(p->capture->graph, own ? own : made_up);
}

/* The names of the dynamic axes of one input, into axes (NULL where the size is fixed). Made-up
 * names live in the graph. */
static cq_status input_axes(cq_graph *g, const cq_export_options *o, const char *name,
                            const cq_tensor *t, const char **axes)
{
    size_t made_up = 0;

    for (size_t i = 0; i < t->rank; i++)
        axes[i] = NULL;
    for (size_t i = 0; i < o->n_dynamic_axes; i++) {
        const cq_dynamic_axis *d    = &o->dynamic_axes[i];
        int64_t                axis = d->axis < 0 ? d->axis + (int64_t)t->rank : d->axis;

        if (strcmp(d->value, name) != 0)
            continue;
        if (axis < 0 || axis >= (int64_t)t->rank)
            return cq_fail(CQ_E_ARGUMENT, name, NULL,
                           "dynamic axis %d is out of range: the input has %u dimensions", d->axis,
                           t->rank);
        made_up++;
        axes[axis] =
            d->name
                ? d->name
                : cq_ir_text(g, cq_arena_printf(g->arena, "%s_dynamic_axes_%zu", name, made_up));
    }
    return CQ_OK;
}

/* Whether the user or an earlier input already uses the name. */
static bool is_taken(const cq_front_call *p, const char *name)
{
    const cq_export_options *o   = p->options;
    const cq_block          *top = p->capture->graph->top;

    for (size_t i = 0; i < o->n_input_names; i++)
        if (o->input_names[i] && strcmp(o->input_names[i], name) == 0)
            return true;
    for (size_t i = 0; i < o->n_output_names; i++)
        if (o->output_names[i] && strcmp(o->output_names[i], name) == 0)
            return true;
    for (size_t i = 0; i < top->params.n; i++)
        if (strcmp(top->params.items[i]->name, name) == 0)
            return true;
    return false;
}

static cq_tensor *graph_input(cq_front_call *p, cq_tensor *example, const char *own)
{
    const char *axes[CQ_MAX_RANK];
    const char *name = next_name(&p->port, own && !is_taken(p, own) ? own : NULL);
    cq_status   status;

    status = input_axes(p->capture->graph, p->options, name, example, axes);
    if (status != CQ_OK) {
        cq_ctx_fail(p->cx, status);
        return NULL;
    }
    return cq_capture_input(p->capture, p->cx, example, name, axes);
}

static cq_tensor *take_input(cq_port *port, cq_tensor *example, const char *own)
{
    cq_front_call *p      = call_of(port);
    cq_status      status = CQ_OK;

    if (p->cx->status != CQ_OK)
        return NULL;
    if (p->capture)
        return graph_input(p, example, own);
    p->n_inputs++;
    if (p->gradients)
        status = cq_gradients_add_input(p->gradients, example);
    if (status != CQ_OK) {
        cq_ctx_fail(p->cx, status);
        return NULL;
    }
    return cq_clone(p->cx, example);
}

static void take_sequence(cq_port *port, cq_dtype dtype, const char *own)
{
    cq_front_call *p = call_of(port);
    cq_graph      *g = p->capture->graph;
    cq_value      *v;

    if (p->cx->status != CQ_OK)
        return;
    own = next_name(&p->port, own && !is_taken(p, own) ? own : NULL);
    v   = cq_ir_param_new(g->top, (cq_type){ .kind = CQ_TYPE_LIST, .dtype = dtype, .rank = -1 });
    if (v)
        v->name = cq_ir_text(g, own);
    else
        cq_ctx_fail(p->cx, CQ_E_NO_MEMORY);
}

static cq_status give_output(cq_port *port, cq_tensor *t)
{
    cq_front_call *p = call_of(port);

    if (p->capture)
        cq_capture_output(p->capture, p->cx, t);
    else if (p->n_outputs < p->max)
        p->outputs[p->n_outputs] = cq_tensor_retain(t);
    p->n_outputs++;
    return p->cx->status;
}

static cq_status give_extra(cq_port *port, const char *name, cq_tensor *t)
{
    const cq_capture *capture = call_of(port)->capture;
    cq_graph         *g       = capture ? capture->graph : NULL;

    CQ_TRY(give_output(port, t));
    return g ? cq_vec_push(&g->named_outputs, cq_ir_text(g, name)) : CQ_OK;
}

/* The user's name for an axis, or NULL. */
static const char *axis_name(cq_port *port, const char *input, size_t rank, size_t axis)
{
    const cq_export_options *o = call_of(port)->options;

    for (size_t i = 0; o && i < o->n_dynamic_axes; i++) {
        const cq_dynamic_axis *d  = &o->dynamic_axes[i];
        int64_t                at = d->axis < 0 ? d->axis + (int64_t)rank : d->axis;

        if (strcmp(d->value, input) == 0 && at == (int64_t)axis)
            return d->name;
    }
    return NULL;
}

static bool has_rule(cq_port *port, const char *op)
{
    const cq_export_options *o = call_of(port)->options;

    return o && cq_symbolics_has(o, op);
}

static const cq_port_ends ends = { take_input, give_output, give_extra, take_sequence,
                                   next_name,  axis_name,   has_rule };

/* Sequences and optionals came with opsets 11 and 15. */
static cq_port port_of_export(const cq_export_options *o)
{
    return (cq_port){ .ends            = &ends,
                      .is_static       = o->flags & CQ_EXPORT_STATIC,
                      .sequences       = o->flags & CQ_EXPORT_LISTS_AS_SEQUENCES && o->opset >= 11,
                      .optionals       = o->flags & CQ_EXPORT_OPTIONAL_INPUTS && o->opset >= 15,
                      .quantized_parts = o->flags & CQ_EXPORT_QUANTIZED_PARTS,
                      .keep_mutations  = o->flags & CQ_EXPORT_KEEP_MUTATIONS,
                      .keep_asserts    = o->flags & CQ_EXPORT_KEEP_ASSERTS,
                      .keep_state      = o->flags & CQ_EXPORT_STATE,
                      .watch_state     = true };
}

static cq_port port_of_run(const cq_run_options *o)
{
    return (cq_port){ .ends           = &ends,
                      .keep_mutations = o->flags & CQ_RUN_KEEP_MUTATIONS,
                      .keep_asserts   = o->flags & CQ_RUN_KEEP_ASSERTS,
                      .keep_state     = o->flags & CQ_RUN_STATE,
                      .watch_state    = o->flags & CQ_RUN_STATE,
                      .restore        = o->flags & CQ_RUN_RESTORE,
                      .given          = o->state,
                      .n_given        = o->n_state };
}

/* ---- modes ---- */

static cq_status set_mode(const cq_front_end *f, void *self, cq_training training, void **saved)
{
    *saved = NULL;
    if (!f->set_training && training == CQ_TRAINING_TRAIN)
        cq_warn(
            NULL,
            "training mode has no effect: a program of torch.export has the mode of its export");
    if (!f->set_training || training == CQ_TRAINING_PRESERVE)
        return CQ_OK;
    return f->set_training(self, training == CQ_TRAINING_TRAIN, saved);
}

static void restore_mode(const cq_front_end *f, void *self, void *saved)
{
    if (f->restore)
        f->restore(self, saved);
}

/* ---- one call ---- */

/* Gives the call its context, unless the gradients have made it. */
static cq_status begin_call(cq_front_call *call, const cq_module_mark *marks, size_t n_marks,
                            cq_dtype default_float)
{
    CQ_TRY(cq_marking_init(&call->marking, marks, n_marks));
    CQ_TRY(call->gradients ? cq_gradients_start(call->gradients, &call->cx)
                           : cq_ctx_new(&call->cx));
    call->cx->marking       = n_marks ? &call->marking : NULL;
    call->cx->default_float = default_float;
    return CQ_OK;
}

static void end_call(cq_front_call *call)
{
    if (!call->gradients)
        cq_ctx_free(call->cx);
    cq_capture_free(call->capture);
    cq_marking_clear(&call->marking);
}

/* ---- capturing ---- */

static cq_status name_weight(void *user, const char *name, cq_tensor *t, bool is_parameter)
{
    (void)is_parameter;
    return cq_capture_weight(user, t, name);
}

static cq_status begin_capture(cq_front_call *call, const cq_front_end *f, void *self)
{
    CQ_TRY(cq_capture_new(&call->capture));
    CQ_TRY(begin_call(call, call->options->marks, call->options->n_marks,
                      call->options->default_dtype));
    call->capture->graph->default_float = call->options->default_dtype;
    CQ_TRY(f->each_weight(self, name_weight, call->capture));
    cq_capture_start(call->capture, call->cx);
    return CQ_OK;
}

/* Sets *out to the captured graph of aten operators, unless the call failed. */
static cq_status finish_capture(cq_front_call *call, cq_status status, cq_graph **out)
{
    cq_capture *cap = call->capture;

    cq_capture_stop(cap, call->cx);
    CQ_TRY(status);
    CQ_TRY(cq_ctx_status(call->cx));
    CQ_TRY(cq_capture_add_checks(cap));
    CQ_TRY(cq_capture_add_outputs(cap));
    CQ_TRY(cq_symbols_check(&cap->graph->symbols));
    CQ_TRY(cap->graph->status);
    if (!cap->graph->top->returns.n)
        return cq_fail(CQ_E_UNSUPPORTED, call->options->graph_name, NULL,
                       "the model returns no tensor");
    CQ_TRY(cq_marking_check(&call->marking));
    *out = cq_capture_take(cap);
    return CQ_OK;
}

/* ---- running ---- */

static cq_status add_parameter(void *user, const char *name, cq_tensor *t, bool is_parameter)
{
    return is_parameter ? cq_gradients_add_parameter(user, name, t) : CQ_OK;
}

static cq_status run(const cq_front_end *f, void *self, cq_front_call *call, size_t *n_outputs)
{
    cq_named_outputs named = { 0 };
    cq_status        status;

    cq_named_outputs_listen(&named, call->cx);
    status = f->call(self, call);
    if (status == CQ_OK)
        status = cq_ctx_status(call->cx);
    if (status == CQ_OK)
        *n_outputs = cq_named_outputs_take(&named, call->outputs, call->n_outputs, call->max);
    if (status == CQ_OK && call->gradients)
        status = cq_gradients_go_back(call->gradients, call->outputs,
                                      *n_outputs < call->max ? *n_outputs : call->max);
    cq_named_outputs_clear(&named);
    return status;
}

/* Runs the model in its current training mode. */
static cq_status run_marked(const cq_front_end *f, void *self, const cq_run_options *o,
                            cq_dtype default_float, cq_tensor **outputs, size_t max,
                            size_t *n_outputs)
{
    cq_front_call call = {
        .port = port_of_run(o), .gradients = o->gradients, .outputs = outputs, .max = max
    };
    cq_status status;

    *n_outputs = 0;
    for (size_t i = 0; i < max; i++)
        outputs[i] = NULL;
    CQ_TRY_OR_DONE(begin_call(&call, o->marks, o->n_marks, default_float));
    if (o->gradients)
        CQ_TRY_OR_DONE(f->each_weight(self, add_parameter, o->gradients));
    status = run(f, self, &call, n_outputs);
    for (size_t i = 0; i < max && status != CQ_OK; i++) {
        cq_tensor_release(outputs[i]);
        outputs[i] = NULL;
    }
done:
    end_call(&call);
    return status;
}

cq_status cq_front_end_run(const cq_front_end *f, void *self, const cq_run_options *given,
                           cq_tensor **outputs, size_t max, size_t *n_outputs)
{
    cq_run_options o;
    void          *modes;
    cq_status      status;

    *n_outputs = 0;
    cq_run_options_init(&o);
    CQ_TRY(cq_sized_take(&o, given, "cq_run_options"));
    CQ_TRY(set_mode(f, self, o.training, &modes));
    status = run_marked(f, self, &o, CQ_DTYPE_NONE, outputs, max, n_outputs);
    restore_mode(f, self, modes);
    return status;
}

/* ---- exporting ---- */

enum { MAX_CAPTURES = 16 /* of one export */ };

/* The options with all defaults filled in. */
static cq_status take_options(cq_export_options *o, const cq_front_end *f, const char *name,
                              const cq_export_options *given)
{
    CQ_TRY(cq_export_options_take(o, given));
    if (!o->opset)
        o->opset = f->opset;
    if (!o->graph_name)
        o->graph_name = name;
    return cq_export_check_options(o);
}

/* Converts the graph, which it frees, and runs the model for the outputs of the options. */
static cq_status finish_export(cq_onnx_model **out, cq_graph *graph, const cq_front_end *f,
                               void *self, const cq_export_options *o)
{
    cq_status      status = cq_export_graph(out, graph, o);
    cq_run_options run_options;

    cq_graph_free(graph);
    CQ_TRY(status);
    cq_run_options_like_export(&run_options, o);
    return o->outputs ? run_marked(f, self, &run_options, o->default_dtype, o->outputs,
                                   o->n_outputs, &(size_t){ 0 })
                      : CQ_OK;
}

cq_status cq_front_end_export(cq_onnx_model **out, const cq_front_end *f, void *self,
                              const char *name, const cq_export_options *options)
{
    cq_export_options o;
    cq_graph         *graph = NULL;
    void             *modes;
    cq_status         status;
    bool              again = true;

    *out = NULL;
    CQ_TRY(take_options(&o, f, name, options));
    CQ_TRY(set_mode(f, self, o.training, &modes));
    status = f->begin_export ? f->begin_export(self, &o) : CQ_OK;
    for (int i = 0; i < MAX_CAPTURES && again && status == CQ_OK; i++) {
        cq_front_call call = { .port = port_of_export(&o), .options = &o };

        cq_graph_free(graph);
        graph  = NULL;
        status = begin_capture(&call, f, self);
        if (status == CQ_OK)
            status = finish_capture(&call, f->call(self, &call), &graph);
        end_call(&call);
        again = status == CQ_OK && f->must_repeat && f->must_repeat(self);
    }
    if (again && status == CQ_OK)
        status = cq_fail(CQ_E_UNSUPPORTED, NULL, "export without --state",
                         "the state of the model differs after every capture");
    if (status == CQ_OK)
        status = finish_export(out, graph, f, self, &o);
    else
        cq_graph_free(graph);
    restore_mode(f, self, modes);
    if (status != CQ_OK) {
        cq_onnx_model_free(*out);
        *out = NULL;
    }
    return status;
}
