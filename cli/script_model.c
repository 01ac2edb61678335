/* TorchScript as a model of the command line: archives, and source text with --entry. The library
 * tells them apart, by content. What the arguments look like is in the example: plain tensors in
 * order, or whatever tree its args.json makes of them. */
#include "cli.h"
#include "model.h"

#include <calque/info.h>
#include <calque/script.h>

#include <stdio.h>
#include <string.h>

enum { METHODS = 1 /* the table after that of facts */ };

/* Newer traces hold the sizes of the inputs that they were made with. */
static void describe_example(cli_signature *takes, const cq_script *script)
{
    int64_t sizes[CQ_MAX_RANK];

    takes->n_own = cq_script_n_example_inputs(script);
    if (takes->n_own > CLI_MAX_INPUTS)
        takes->n_own = 0;
    for (size_t i = 0; i < takes->n_own; i++) {
        cli_input *own = &takes->own[i];

        *own = (cli_input){ .is_declared = true };
        if (cq_script_example_input(script, i, &own->dtype, &own->rank, sizes) != CQ_OK)
            return;
        for (size_t k = 0; k < own->rank; k++)
            own->axes[k].size = sizes[k];
    }
}

/* What the method that is called takes. */
static void describe_params(cli_signature *takes, cq_script *script, const char *entry)
{
    size_t n = cq_script_n_params(script, entry);

    takes->n_params = n < CLI_MAX_INPUTS ? n : CLI_MAX_INPUTS;
    for (size_t i = 0; i < takes->n_params; i++) {
        cli_param *p = &takes->params[i];

        if (cq_script_param(script, entry, i, p->name, p->type, CLI_NAME_SIZE) != CQ_OK)
            takes->n_params = i;
        else if (cq_script_has_tensor(script, p->name))
            p->name[0] = '\0'; /* in the graph that is the name of a weight */
    }
}

static cq_status script_open(cli_model *model, const char *operand)
{
    cq_script *script = NULL;
    cq_status  status =
        cq_script_load_limited(&script, operand, model->limits.steps, model->limits.bytes);

    model->name        = cli_model_name(operand);
    model->takes.model = model->name;
    model->takes.n     = CLI_ANY_NUMBER; /* the program says it when it is called */
    model->handle      = script;
    if (status == CQ_OK) {
        describe_example(&model->takes, script);
        describe_params(&model->takes, script, model->call.entry);
    }
    return status;
}

/* A class of Python's is not a program yet: its constructor is Python. */
static int no_methods(const cli_model *model)
{
    return cli_fail_with("of a class of nn.Module Python makes an archive: "
                         "torch.jit.script(Net()).save(\"net.pt\"), or torch.export.save",
                         "%s defines no function that could be called", model->name);
}

/* Names of methods, apart by commas; whether entry is among them. */
static bool list_methods(const cq_info *info, const char *entry, char *out, size_t size)
{
    size_t len = 0;

    *out = '\0';
    for (size_t i = 0; i < cq_info_n_rows(info, METHODS); i++) {
        const char *name = cq_info_cell_text(info, METHODS, i, 0);

        if (strcmp(name, entry) == 0)
            return true;
        if (len < size)
            len += (size_t)snprintf(out + len, size - len, "%s%s", i ? ", " : "", name);
    }
    return false;
}

int cli_script_check_entry(const cli_model *model)
{
    const char *entry = model->call.entry;
    char        names[1024], hint[sizeof names + 32];
    cq_info    *info = NULL;
    bool        known, empty;

    if (cq_script_info(&info, model->handle) != CQ_OK)
        return CLI_DONE;
    /* A name that begins with _ may be one that the list leaves out. */
    known = !entry || *entry == '_' || list_methods(info, entry, names, sizeof names);
    empty = cq_info_n_rows(info, METHODS) == 0;
    cq_info_free(info);
    if (empty)
        return no_methods(model);
    if (known)
        return CLI_DONE;
    snprintf(hint, sizeof hint, "it has: %s", names);
    return cli_fail_with(*names ? hint : "", "%s has no method '%s'", model->name, entry);
}

static cq_status make_plain(cq_args **out, const cli_call *call, cq_tensor *const *inputs,
                            size_t n_inputs)
{
    cq_status status;

    if (call->structure)
        return cq_args_from_json(out, call->structure, inputs, n_inputs);
    status = cq_args_new(out);
    for (size_t i = 0; i < n_inputs && status == CQ_OK; i++)
        status = cq_args_add_tensor(*out, inputs[i]);
    return status;
}

static cq_status make_arguments(cq_args **out, const cli_model *model, cq_tensor *const *inputs,
                                size_t n_inputs)
{
    cq_status status = make_plain(out, &model->call, inputs, n_inputs);

    for (size_t i = 0; i < model->n_constants && status == CQ_OK; i++)
        status = cq_args_set_constant(*out, model->handle, model->call.entry,
                                      model->constants[i].name, model->constants[i].value);
    return status;
}

static cq_status script_export(cq_onnx_model **out, cli_model *model, cq_tensor *const *inputs,
                               size_t n_inputs, const cq_export_options *options)
{
    const cli_call *call   = &model->call;
    cq_args        *args   = NULL;
    cq_status       status = make_arguments(&args, model, inputs, n_inputs);

    if (status == CQ_OK)
        status = cq_script_export(out, model->handle, call->entry, args,
                                  call->trace ? CQ_SCRIPT_TRACE : 0, options);
    cq_args_free(args);
    return status;
}

static cq_status script_run(cli_model *model, cq_tensor *const *inputs, size_t n_inputs,
                            const cq_run_options *options, cq_tensor **outputs, size_t *n_outputs)
{
    cq_args  *args   = NULL;
    cq_status status = make_arguments(&args, model, inputs, n_inputs);

    if (status == CQ_OK)
        status = cq_script_run_as(model->handle, model->call.entry, args, options, outputs,
                                  CLI_MAX_OUTPUTS, n_outputs);
    cli_model_limit_outputs(n_outputs);
    cq_args_free(args);
    return status;
}

static cq_status script_flatten(cli_model *model, cq_tensor *const *inputs, size_t n_inputs,
                                cli_tensors *flat)
{
    cq_args  *args   = NULL;
    cq_status status = make_arguments(&args, model, inputs, n_inputs);

    if (status == CQ_OK) {
        cli_tensors_resize(flat, cq_args_n_inputs(args));
        status = cq_args_inputs(args, flat->items, flat->n);
    }
    cq_args_free(args);
    return status;
}

static void script_close(cli_model *model)
{
    cq_script_free(model->handle);
}

static cq_status script_define(cli_model *model, const char *text, const char *path)
{
    return cq_script_define(model->handle, text, path);
}

const cli_front_end cli_script_front_end = { script_open,    script_export, script_run,
                                             script_flatten, script_close,  script_define,
                                             NULL,           NULL };
