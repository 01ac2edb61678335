/* Exporting a module: capture one run of it, then export the graph. */
#include "export/exporter.h"
#include "nn/module.h"

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
        axes[axis] = d->name ? d->name
                             : cq_ir_text(g, cq_arena_printf(g->arena, "%s_dynamic_axes_%zu", name,
                                                             made_up));
    }
    return CQ_OK;
}

/* ---- the capture ---- */

static cq_status name_weight(void *user, const char *name, cq_module_state *state)
{
    return cq_capture_weight(user, state->tensor, name);
}

static cq_status record(cq_capture *cap, cq_ctx *cx, cq_module *module, cq_tensor *const *inputs,
                        size_t n_inputs, const cq_export_options *o)
{
    cq_tensor *in[64], *out[64];
    size_t     n_out = module->cls->n_out ? module->cls->n_out : 1;
    char       buffer[32];

    if (n_inputs > 64 || n_out > 64)
        return cq_fail(CQ_E_ARGUMENT, module->cls->name, NULL,
                       "a model can have 64 inputs and 64 outputs at most");
    CQ_TRY(cq_module_each_state(module, name_weight, cap));
    cq_capture_start(cap, cx);
    for (size_t i = 0; i < n_inputs; i++) {
        const char *name = cq_export_input_name(o, i, buffer, sizeof buffer);
        const char *axes[CQ_MAX_RANK];

        CQ_TRY(cq_export_input_axes(cap->graph, o, name, inputs[i], axes));
        in[i] = cq_capture_input(cap, cx, inputs[i], name, axes);
    }
    cq_call_n(cx, module, in, n_inputs, out, n_out);
    for (size_t i = 0; i < n_out; i++)
        if (out[i])
            cq_capture_output(cap, cx, out[i]);
    cq_capture_stop(cap, cx);
    CQ_TRY(cq_ctx_status(cx));
    if (cap->graph->symbols.failed)
        return CQ_E_NO_MEMORY;
    return cap->graph->status;
}

cq_status cq_module_capture(cq_graph **out, cq_module *module, cq_tensor *const *inputs,
                            size_t n_inputs, const cq_export_options *options)
{
    cq_training_modes *modes = NULL;
    cq_capture        *cap   = NULL;
    cq_ctx            *cx    = NULL;
    cq_status          status;

    *out = NULL;
    CQ_TRY(cq_module_status(module));
    CQ_TRY_OR_DONE(cq_capture_new(&cap));
    CQ_TRY_OR_DONE(cq_ctx_new(&cx));
    if (options->training != CQ_TRAINING_PRESERVE)
        CQ_TRY_OR_DONE(
            cq_module_set_training(module, options->training == CQ_TRAINING_TRAIN, &modes));
    CQ_TRY_OR_DONE(record(cap, cx, module, inputs, n_inputs, options));
    if (cap->graph->top->returns.n == 0)
        status = cq_fail(CQ_E_ARGUMENT, module->cls->name, NULL, "the model returns no tensor");
    else
        *out = cq_capture_take(cap);
done:
    cq_module_restore_training(module, modes);
    cq_ctx_free(cx);
    cq_capture_free(cap);
    return status;
}

CQ_API cq_status cq_module_export(cq_onnx_model **out, cq_module *module, cq_tensor *const *inputs,
                                  size_t n_inputs, const cq_export_options *options)
{
    cq_export_options defaults;
    cq_graph         *graph;
    cq_status         status;

    *out = NULL;
    cq_export_options_init(&defaults);
    if (options)
        memcpy(&defaults, options,
               options->struct_size < sizeof defaults ? options->struct_size : sizeof defaults);
    defaults.struct_size = sizeof defaults;
    CQ_TRY(cq_export_check_options(&defaults));
    CQ_TRY(cq_module_capture(&graph, module, inputs, n_inputs, &defaults));
    if (!defaults.graph_name)
        defaults.graph_name = module->cls->name;
    status = cq_export_graph(out, graph, &defaults);
    cq_graph_free(graph);
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
