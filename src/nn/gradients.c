/* The gradients of a module: one run on a tape, and back. */
#include "autograd/gradients.h"
#include "nn/module.h"

static cq_status add_parameter(void *user, const char *name, cq_module_state *state)
{
    return state->is_buffer ? CQ_OK : cq_gradients_add_parameter(user, name, state->tensor);
}

static cq_status run(cq_gradients *g, cq_module *module, cq_tensor *const *inputs, size_t n_inputs,
                     size_t n_outputs, cq_tensor *const *seeds)
{
    cq_tensor **outputs = cq_alloc_array(n_outputs + 1, sizeof *outputs);
    cq_status   status  = outputs ? CQ_OK : CQ_E_NO_MEMORY;

    if (status == CQ_OK)
        status = cq_module_each_state(module, add_parameter, g);
    for (size_t i = 0; i < n_inputs && status == CQ_OK; i++)
        status = cq_gradients_add_input(g, inputs[i]);
    if (status == CQ_OK) {
        cq_call_n(g->cx, module, inputs, n_inputs, outputs, n_outputs);
        status = cq_ctx_status(g->cx);
    }
    for (size_t i = 0; i < n_outputs && status == CQ_OK; i++)
        if (!outputs[i])
            status = cq_fail(CQ_E_ARGUMENT, module->cls->name, NULL,
                             "the module has no output %zu", i);
    if (status == CQ_OK)
        status = cq_gradients_go_back(g, outputs, n_outputs, seeds, seeds ? n_outputs : 0);
    cq_free(outputs);
    return status;
}

CQ_API cq_status cq_module_gradients(cq_gradients **out, cq_module *module,
                                     cq_tensor *const *inputs, size_t n_inputs, size_t n_outputs,
                                     cq_tensor *const *seeds)
{
    cq_status status;

    *out = NULL;
    CQ_TRY(cq_module_status(module));
    CQ_TRY(cq_gradients_new(out));
    status = run(*out, module, inputs, n_inputs, n_outputs, seeds);
    if (status != CQ_OK) {
        cq_gradients_free(*out);
        *out = NULL;
    }
    return status;
}
