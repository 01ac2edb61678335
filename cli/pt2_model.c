/* Programs of torch.export as models of the command line. They contain an example; --input replaces
 * it. */
#include "cli.h"
#include "model.h"

#include <calque/pt2.h>

static void declare_input(cli_input *out, const cq_pt2 *program, size_t i)
{
    cq_tensor *example = NULL;

    *out = (cli_input){ .has_any_rank = true };
    if (cq_pt2_example_input(&example, program, i) == CQ_OK)
        *out = (cli_input){ .dtype = cq_tensor_dtype(example), .rank = cq_tensor_rank(example) };
    cq_tensor_release(example);
}

static cq_status pt2_open(cli_model *model, const char *operand)
{
    cli_signature *takes   = &model->takes;
    cq_pt2        *program = NULL;
    cq_status      status  = cq_pt2_load(&program, operand, model->call.entry);

    model->name   = cli_model_name(operand);
    model->handle = program;
    takes->model  = model->name;
    if (status != CQ_OK)
        return status;
    if (model->call.names)
        status = cq_pt2_name_as(program, model->call.names);
    if (status != CQ_OK)
        return status;
    cq_pt2_set_limits(program, model->limits.steps, model->limits.bytes);
    takes->n       = cq_pt2_n_inputs(program);
    takes->n_own   = 0;
    takes->is_flat = true;
    if (takes->n > CLI_MAX_INPUTS)
        takes->n = CLI_ANY_NUMBER;
    takes->n_needed   = takes->n == CLI_ANY_NUMBER ? 0 : takes->n;
    takes->n_declared = takes->n_needed;
    for (size_t i = 0; i < takes->n_needed; i++) {
        takes->names[i] = cq_pt2_input_name(program, i);
        declare_input(&takes->declared[i], program, i);
    }
    for (size_t i = 0; i < CLI_MAX_OUTPUTS && cq_pt2_output_name(program, i); i++)
        model->output_names[model->n_output_names++] = cq_pt2_output_name(program, i);
    return CQ_OK;
}

static cq_status pt2_export(cq_onnx_model **out, cli_model *model, cq_tensor *const *inputs,
                            size_t n_inputs, const cq_export_options *options)
{
    return cq_pt2_export(out, model->handle, inputs, n_inputs, options);
}

static cq_status pt2_run(cli_model *model, cq_tensor *const *inputs, size_t n_inputs,
                         const cq_run_options *options, cq_tensor **outputs, size_t *n_outputs)
{
    cq_status status = cq_pt2_run_as(model->handle, inputs, n_inputs, options, outputs,
                                     CLI_MAX_OUTPUTS, n_outputs);

    return cli_model_limit_outputs(n_outputs), status;
}

static cq_status pt2_flatten(cli_model *model, cq_tensor *const *inputs, size_t n_inputs,
                             cli_tensors *flat)
{
    cq_status status = CQ_OK;

    cli_tensors_resize(flat, n_inputs ? n_inputs : cq_pt2_n_inputs(model->handle));
    for (size_t i = 0; i < flat->n && status == CQ_OK; i++) {
        if (n_inputs)
            flat->items[i] = cq_tensor_retain(inputs[i]);
        else
            status = cq_pt2_example_input(&flat->items[i], model->handle, i);
    }
    return status;
}

static void pt2_close(cli_model *model)
{
    cq_pt2_free(model->handle);
}

static cq_status pt2_define(cli_model *model, const char *text, const char *path)
{
    return cq_pt2_define(model->handle, text, path);
}

static cq_status pt2_larger(cli_model *model, cq_tensor **inputs, size_t *n_inputs)
{
    size_t    n      = cq_pt2_n_inputs(model->handle);
    cq_status status = CQ_OK;
    bool      grown  = false;

    *n_inputs = 0;
    if (n > CLI_MAX_INPUTS)
        return CQ_OK;
    for (size_t i = 0; i < n && status == CQ_OK; i++) {
        cq_tensor *own = NULL;

        status = cq_pt2_larger_input(&inputs[i], model->handle, i);
        if (status == CQ_OK)
            status = cq_pt2_example_input(&own, model->handle, i);
        *n_inputs += status == CQ_OK;
        grown |= status == CQ_OK && cq_tensor_numel(own) != cq_tensor_numel(inputs[i]);
        cq_tensor_release(own);
    }
    for (size_t i = 0; !grown && i < *n_inputs; i++)
        cq_tensor_release(inputs[i]);
    *n_inputs = grown ? *n_inputs : 0;
    return status;
}

static cq_status pt2_load(cli_model *model, cq_weights *weights, uint32_t flags)
{
    return cq_pt2_load_weights(model->handle, weights, flags);
}

const cli_front_end cli_pt2_front_end = { pt2_open,  pt2_export, pt2_run,    pt2_flatten,
                                          pt2_close, pt2_define, pt2_larger, pt2_load };
