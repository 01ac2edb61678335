/* Exporting a TorchScript program: capture one call of it, then export the graph. */
#include "export/exporter.h"
#include "script/script.h"

static const char *name_of(void *user, size_t i, char *buffer, size_t size)
{
    return cq_export_input_name(user, i, buffer, size);
}

static cq_status axes_of(void *user, cq_graph *g, const char *name, const cq_tensor *t,
                         const char **axes)
{
    return cq_export_input_axes(g, user, name, t, axes);
}

static bool has_rule(void *user, const char *op)
{
    return cq_symbolics_has(user, op);
}

static cq_status set_mode(cq_script *script, const cq_export_options *o, cq_script_modes **saved)
{
    if (o->training == CQ_TRAINING_PRESERVE)
        return CQ_OK;
    return cq_script_set_training(script, o->training == CQ_TRAINING_TRAIN, saved);
}

CQ_API cq_status cq_script_run_as(cq_script *script, const char *method, const cq_args *args,
                                  const cq_export_options *options, cq_tensor **outputs,
                                  size_t max_outputs, size_t *n_outputs)
{
    cq_script_modes  *modes = NULL;
    cq_export_options o;
    cq_status         status;

    *n_outputs = 0;
    CQ_TRY(cq_export_options_take(&o, options));
    CQ_TRY(set_mode(script, &o, &modes));
    status = cq_script_run_marked(script, method, args, o.marks, o.n_marks, o.gradients, outputs,
                                  max_outputs, n_outputs);
    cq_script_restore_modes(modes);
    return status;
}

CQ_API cq_status cq_script_export(cq_onnx_model **out, cq_script *script, const char *method,
                                  const cq_args *args, uint32_t flags,
                                  const cq_export_options *options)
{
    cq_export_options o;
    cq_script_inputs  inputs = {
         .name = name_of, .axes = axes_of, .has_rule = has_rule, .user = &o
    };
    cq_script_modes *modes = NULL;
    cq_graph        *graph = NULL;
    cq_status        status;

    *out = NULL;
    CQ_TRY(cq_export_options_take(&o, options));
    CQ_TRY(cq_export_check_options(&o));
    CQ_TRY(set_mode(script, &o, &modes));
    inputs.marks   = o.marks;
    inputs.n_marks = o.n_marks;
    status         = cq_script_capture(&graph, script, method, args, flags, &inputs);
    if (status == CQ_OK)
        status = cq_export_graph(out, graph, &o);
    cq_graph_free(graph);
    if (status == CQ_OK && o.outputs) {
        size_t n;

        status = cq_script_run_marked(script, method, args, o.marks, o.n_marks, NULL, o.outputs,
                                      o.n_outputs, &n);
    }
    cq_script_restore_modes(modes);
    if (status != CQ_OK) {
        cq_onnx_model_free(*out);
        *out = NULL;
    }
    return status;
}
