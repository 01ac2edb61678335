/* Modules as a front end: the arguments are nests of tensors, and so are the results. */
#include "export/front/front_end.h"
#include "nn/module.h"
#include "nn/nest.h"

#include <calque/export.h>

typedef struct module_call {
    cq_module     *module;
    const cq_nest *args;
} module_call;

/* ---- the front end ---- */

static cq_status set_training(void *self, bool training, void **saved)
{
    module_call       *m     = self;
    cq_training_modes *modes = NULL;
    cq_status          status;

    CQ_TRY(cq_module_status(m->module));
    status = cq_module_set_training(m->module, training, &modes);
    *saved = modes;
    return status;
}

static void restore(void *self, void *saved)
{
    cq_module_restore_training(((module_call *)self)->module, saved);
}

typedef struct weights {
    cq_weight_fn fn;
    void        *user;
} weights;

static cq_status tell_weight(void *user, const char *name, cq_module_state *state)
{
    weights *w = user;

    return w->fn(w->user, name, state->tensor, !state->is_buffer);
}

static cq_status each_weight(void *self, cq_weight_fn fn, void *user)
{
    module_call *m = self;

    CQ_TRY(cq_module_status(m->module));
    return cq_module_each_state(m->module, tell_weight, &(weights){ fn, user });
}

static cq_tensor *take_input(void *user, cq_tensor *example)
{
    cq_port *port = user;

    return port->ends->input(port, example, NULL);
}

static cq_status call(void *self, cq_front_call *call)
{
    module_call *m    = self;
    cq_port     *port = &call->port;
    cq_ctx      *cx   = call->cx;
    cq_nest      in   = cq_nest_map(cx, m->args, take_input, port), result;
    cq_tensor  **out;
    size_t       n;

    result = cq_call_nested(cx, m->module, &in);
    out    = cq_nest_tensors(cx, &result, &n);
    CQ_TRY(cq_ctx_status(cx));
    for (size_t i = 0; out && i < n; i++)
        CQ_TRY(port->ends->output(port, out[i]));
    return CQ_OK;
}

static const cq_front_end modules = { .set_training = set_training,
                                      .restore      = restore,
                                      .each_weight  = each_weight,
                                      .call         = call,
                                      .opset        = CQ_OPSET_DEFAULT };

/* ---- its public calls ---- */

CQ_API cq_status cq_module_export_nested(cq_onnx_model **out, cq_module *module,
                                         const cq_nest *args, const cq_export_options *options)
{
    CQ_NEED_OUT(out, module && args);
    return cq_front_end_export(out, &modules, &(module_call){ module, args }, module->cls->name,
                               options);
}

/* The tensors as a tuple, whose items the caller frees; items is NULL if memory runs out. */
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
    CQ_NEED_OUT(out, module && (inputs || !n_inputs));
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
                                  const cq_run_options *options, cq_tensor **outputs, size_t max,
                                  size_t *n_outputs)
{
    CQ_NEED(module && (inputs || !n_inputs) && n_outputs && (outputs || !max));
    cq_nest   args = tuple_of(inputs, n_inputs);
    cq_status status;

    *n_outputs = 0;
    if (!args.items)
        return CQ_E_NO_MEMORY;
    status = cq_front_end_run(&modules, &(module_call){ module, &args }, options, outputs, max,
                              n_outputs);
    cq_free((void *)args.items);
    return status;
}

CQ_API cq_status cq_module_export_file(const char *path, cq_module *module,
                                       cq_tensor *const *inputs, size_t n_inputs,
                                       const cq_export_options *options)
{
    CQ_NEED(path && module && (inputs || !n_inputs));
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
    CQ_NEED(module && (inputs || !n_inputs) && (outputs || !n_outputs));
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
