/* Exporting a module: capture one run of it, then export the graph. */
#include "autograd/gradients.h"
#include "export/exporter.h"
#include "nn/module.h"
#include "nn/nest.h"

#include <calque/export.h>
#include <stdio.h>

/* ---- dynamic axes ---- */

const char *cq_export_input_name(const cq_export_options *o, size_t i, char *buffer, size_t size)
{
    if (i < o->n_input_names && o->input_names[i])
        return o->input_names[i];
    snprintf(buffer, size, "input_%zu", i);
    return buffer;
}

/* The names of the dynamic axes of one input, into axes (NULL where the size is fixed). Made-up
 * names live in the graph. */
cq_status cq_export_input_axes(cq_graph *g, const cq_export_options *o, const char *name,
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

/* ---- the capture ---- */

static cq_status name_weight(void *user, const char *name, cq_module_state *state)
{
    return cq_capture_weight(user, state->tensor, name);
}

typedef struct recording {
    cq_capture              *cap;
    cq_ctx                  *cx;
    const cq_export_options *options;
    size_t                   n_inputs; /* so far */
    cq_status                status;
} recording;

static cq_tensor *record_input(void *user, cq_tensor *example)
{
    recording  *r = user;
    const char *axes[CQ_MAX_RANK], *name;
    char        buffer[32];

    name = cq_export_input_name(r->options, r->n_inputs++, buffer, sizeof buffer);
    if (r->status == CQ_OK)
        r->status = cq_export_input_axes(r->cap->graph, r->options, name, example, axes);
    return r->status == CQ_OK ? cq_capture_input(r->cap, r->cx, example, name, axes) : NULL;
}

static cq_status record(cq_capture *cap, cq_ctx *cx, cq_module *module, const cq_nest *args,
                        const cq_export_options *o)
{
    recording   r = { cap, cx, o, 0, CQ_OK };
    cq_nest     in, result;
    cq_tensor **out;
    size_t      n_out;

    CQ_TRY(cq_module_each_state(module, name_weight, cap));
    cq_capture_start(cap, cx);
    in = cq_nest_map(cx, args, record_input, &r);
    CQ_TRY(r.status);
    result = cq_call_nested(cx, module, &in);
    out    = cq_nest_tensors(cx, &result, &n_out);
    for (size_t i = 0; out && i < n_out; i++)
        cq_capture_output(cap, cx, out[i]);
    cq_capture_stop(cap, cx);
    CQ_TRY(cq_ctx_status(cx));
    CQ_TRY(cq_capture_add_outputs(cap));
    CQ_TRY(cq_symbols_check(&cap->graph->symbols));
    CQ_TRY(cap->graph->status);
    if (n_out == 0)
        return cq_fail(CQ_E_ARGUMENT, module->cls->name, NULL, "the model returns no tensor");
    return CQ_OK;
}

/* One run of the module, as an aten graph. */
static cq_status capture(cq_graph **out, cq_module *module, const cq_nest *args,
                         const cq_export_options *options)
{
    cq_capture *cap     = NULL;
    cq_ctx     *cx      = NULL;
    cq_marking  marking = { 0 };
    cq_status   status;

    CQ_TRY_OR_DONE(cq_marking_init(&marking, options->marks, options->n_marks));
    CQ_TRY_OR_DONE(cq_capture_new(&cap));
    CQ_TRY_OR_DONE(cq_ctx_new(&cx));
    cx->marking = options->n_marks ? &marking : NULL;
    CQ_TRY_OR_DONE(record(cap, cx, module, args, options));
    CQ_TRY_OR_DONE(cq_marking_check(&marking));
    *out = cq_capture_take(cap);
done:
    cq_ctx_free(cx);
    cq_capture_free(cap);
    cq_marking_clear(&marking);
    return status;
}

static cq_tensor *copy_of(void *user, cq_tensor *t)
{
    return cq_clone(user, t);
}

static cq_status add_parameter(void *user, const char *name, cq_module_state *state)
{
    return state->is_buffer ? CQ_OK : cq_gradients_add_parameter(user, name, state->tensor);
}

/* A context for a run, of which g, if it is not NULL, gets the gradients. */
static cq_status begin_run(cq_gradients *g, cq_ctx **cx, cq_module *module, const cq_nest *args)
{
    cq_tensor **inputs;
    size_t      n;

    if (!g)
        return cq_ctx_new(cx);
    CQ_TRY(cq_gradients_start(g, cx));
    CQ_TRY(cq_module_each_state(module, add_parameter, g));
    inputs = cq_nest_tensors(*cx, args, &n);
    for (size_t i = 0; i < n && inputs; i++)
        CQ_TRY(cq_gradients_add_input(g, inputs[i]));
    return cq_ctx_status(*cx);
}

/* The results for the example itself, of which a model that works in place gets a copy. */
static cq_status run_example(cq_module *module, const cq_nest *args, const cq_export_options *o,
                             cq_gradients *g, cq_tensor **outputs, size_t max, size_t *n_outputs)
{
    cq_marking       marking = { 0 };
    cq_named_outputs named   = { 0 };
    cq_ctx          *cx      = NULL;
    cq_nest          in, result;
    cq_status        status;
    size_t           n;

    for (size_t i = 0; i < max; i++)
        outputs[i] = NULL;
    CQ_TRY_OR_DONE(begin_run(g, &cx, module, args));
    cq_named_outputs_listen(&named, cx);
    CQ_TRY_OR_DONE(cq_marking_init(&marking, o->marks, o->n_marks));
    cx->marking = o->n_marks ? &marking : NULL;
    in          = cq_nest_map(cx, args, copy_of, cx);
    result      = cq_call_nested(cx, module, &in);
    n           = cq_nest_flatten(&result, outputs, max);
    status      = cq_ctx_status(cx);
    for (size_t i = 0; i < max; i++)
        outputs[i] = status == CQ_OK ? cq_tensor_retain(outputs[i]) : NULL;
    if (status == CQ_OK)
        *n_outputs = cq_named_outputs_take(&named, outputs, n, max);
    if (status == CQ_OK && g)
        status = cq_gradients_go_back(g, outputs, *n_outputs < max ? *n_outputs : max);
    for (size_t i = 0; i < max && status != CQ_OK; i++) {
        cq_tensor_release(outputs[i]);
        outputs[i] = NULL;
    }
done:
    cq_named_outputs_clear(&named);
    cq_marking_clear(&marking);
    if (!g) /* else it is the gradients' */
        cq_ctx_free(cx);
    return status;
}

static cq_status export_as_it_is(cq_onnx_model **out, cq_module *module, const cq_nest *args,
                                 const cq_export_options *o)
{
    cq_graph *graph;
    cq_status status;

    CQ_TRY(capture(&graph, module, args, o));
    status = cq_export_graph(out, graph, o);
    cq_graph_free(graph);
    if (status == CQ_OK && o->outputs)
        status = run_example(module, args, o, NULL, o->outputs, o->n_outputs, &(size_t){ 0 });
    return status;
}

CQ_API cq_status cq_module_export_nested(cq_onnx_model **out, cq_module *module,
                                         const cq_nest *args, const cq_export_options *options)
{
    cq_training_modes *modes = NULL;
    cq_export_options  o;
    cq_status          status;

    *out = NULL;
    CQ_TRY(cq_export_options_take(&o, options));
    CQ_TRY(cq_export_check_options(&o));
    CQ_TRY(cq_module_status(module));
    if (!o.graph_name)
        o.graph_name = module->cls->name;
    if (o.training != CQ_TRAINING_PRESERVE)
        CQ_TRY(cq_module_set_training(module, o.training == CQ_TRAINING_TRAIN, &modes));
    status = export_as_it_is(out, module, args, &o);
    cq_module_restore_training(module, modes);
    if (status != CQ_OK) {
        cq_onnx_model_free(*out);
        *out = NULL;
    }
    return status;
}

/* The tensors as a tuple, whose items the caller frees; NULL items: no memory. */
static cq_nest tuple_of(cq_tensor *const *tensors, size_t n)
{
    cq_nest *items = cq_alloc_array(n ? n : 1, sizeof *items);

    for (size_t i = 0; items && i < n; i++)
        items[i] = cq_nest_tensor(tensors[i]);
    return (cq_nest){ CQ_NEST_TUPLE, NULL, n, items, NULL };
}

CQ_API cq_status cq_module_export(cq_onnx_model **out, cq_module *module, cq_tensor *const *inputs,
                                  size_t n_inputs, const cq_export_options *options)
{
    cq_nest   args = tuple_of(inputs, n_inputs);
    cq_status status;

    *out = NULL;
    if (!args.items)
        return CQ_E_NO_MEMORY;
    status = cq_module_export_nested(out, module, &args, options);
    cq_free((void *)args.items);
    return status;
}

CQ_API cq_status cq_module_run_as(cq_module *module, cq_tensor *const *inputs, size_t n_inputs,
                                  const cq_export_options *options, cq_tensor **outputs, size_t max,
                                  size_t *n_outputs)
{
    cq_nest            args  = tuple_of(inputs, n_inputs);
    cq_training_modes *modes = NULL;
    cq_export_options  o;
    cq_status          status = CQ_OK;

    *n_outputs = 0;
    if (!args.items)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_export_options_take(&o, options));
    if (o.training != CQ_TRAINING_PRESERVE)
        status = cq_module_set_training(module, o.training == CQ_TRAINING_TRAIN, &modes);
    if (status == CQ_OK)
        status = run_example(module, &args, &o, o.gradients, outputs, max, n_outputs);
    cq_module_restore_training(module, modes);
    cq_free((void *)args.items);
    return status;
}

CQ_API cq_status cq_module_export_file(const char *path, cq_module *module,
                                       cq_tensor *const *inputs, size_t n_inputs,
                                       const cq_export_options *options)
{
    cq_onnx_save_options save;
    cq_onnx_model       *model;
    cq_status            status;

    CQ_TRY(cq_module_export(&model, module, inputs, n_inputs, options));
    cq_onnx_save_options_init(&save);
    if (options && (options->flags & CQ_EXPORT_EXTERNAL_DATA))
        save.flags |= CQ_ONNX_SAVE_EXTERNAL;
    status = cq_onnx_model_save(model, path, &save);
    cq_onnx_model_free(model);
    return status;
}

CQ_API cq_status cq_module_run(cq_module *module, cq_tensor *const *inputs, size_t n_inputs,
                               cq_tensor **outputs, size_t n_outputs)
{
    cq_ctx   *cx;
    cq_status status;

    for (size_t i = 0; i < n_outputs; i++)
        outputs[i] = NULL;
    CQ_TRY(cq_ctx_new(&cx));
    cq_call_n(cx, module, inputs, n_inputs, outputs, n_outputs);
    status = cq_ctx_status(cx);
    for (size_t i = 0; i < n_outputs; i++)
        outputs[i] = status == CQ_OK ? cq_tensor_retain(outputs[i]) : NULL;
    cq_ctx_free(cx);
    return status;
}
