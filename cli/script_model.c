/* TorchScript as a model of the command line: archives, and source text with --entry. The library
 * tells them apart by content. The example has the structure of the arguments: plain tensors in
 * order, or the tree of its args.json. */
#include "cli.h"
#include "model.h"

#include <calque/info.h>
#include <calque/script.h>
#include <calque/system.h>

#include <stdio.h>
#include <string.h>

enum { METHODS = 1 /* the table after that of facts */ };

/* A few lines of source can build a large model with initial weights. 1 GiB may be written, as
 * if a file of that size had been read. */
enum { SOURCE_OUTPUTS = 64 << 20 };

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

/* The parameters of the called method. */
static void describe_params(cli_signature *takes, cq_script *script, const char *entry)
{
    size_t n = cq_script_n_params(script, entry);

    takes->n_params = n < CLI_MAX_INPUTS ? n : CLI_MAX_INPUTS;
    for (size_t i = 0; i < takes->n_params; i++) {
        cli_param *p = &takes->params[i];

        if (cq_script_param(script, entry, i, p->name, p->type, CLI_NAME_SIZE) != CQ_OK)
            takes->n_params = i;
        p->is_hidden = cq_script_has_tensor(script, p->name);
    }
}

/* The tensors of a trace are the arguments of its forward. */
static void declare_inputs(cli_signature *takes, const char *entry)
{
    takes->n_declared = 0;
    if ((entry && strcmp(entry, "forward") != 0) || takes->n_own != takes->n_params)
        return;
    memcpy(takes->declared, takes->own, takes->n_own * sizeof *takes->own);
    takes->n_declared = takes->n_own;
}

/* The parameters that the file of --weights replaces are as large as that file. */
static cq_status expect_weights(cq_script *script, const char *path)
{
    cq_weights *weights = NULL;
    cq_status   status  = cq_weights_open(&weights, path);

    if (status == CQ_OK)
        cq_script_expect_weights(script, cq_weights_bytes(weights));
    cq_weights_free(weights);
    return status;
}

/* Python source: its entry is an expression, which makes the module or function that is called. */
static cq_status make_python(cli_model *model, cq_script *script)
{
    cq_status status = CQ_OK;

    for (size_t i = 0; i < model->n_paths && status == CQ_OK; i++)
        status = cq_script_add_path(script, model->paths[i]);
    for (size_t i = 0; i < model->n_codes && status == CQ_OK; i++)
        status = cq_script_add_code(script, model->codes[i]);
    if (status == CQ_OK && model->weights)
        status = expect_weights(script, model->weights);
    if (status != CQ_OK)
        return status;
    cli_allow_outputs(SOURCE_OUTPUTS);
    status            = cq_script_make(script, model->call.entry);
    model->call.entry = NULL;
    return status;
}

static cq_status script_open(cli_model *model, const char *operand)
{
    cq_script *script = NULL;
    cq_status  status =
        cq_script_load_limited(&script, operand, model->limits.steps, model->limits.bytes);

    model->name        = cli_model_name(operand);
    model->takes.model = model->name;
    model->takes.n     = CLI_ANY_NUMBER; /* the program checks the number when it is called */
    model->handle      = script;
    if (status == CQ_OK && cq_script_is_python(script))
        status = make_python(model, script);
    if (status == CQ_OK) {
        describe_example(&model->takes, script);
        describe_params(&model->takes, script, model->call.entry);
        declare_inputs(&model->takes, model->call.entry);
    }
    return status;
}

static int no_methods(const cli_model *model, const char *operand, bool is_archive)
{
    if (is_archive)
        return cli_fail_with("give the source of the model: calque export model.py --weights FILE; "
                             "or save it in Python "
                             "with torch.export.save",
                             "%s has weights but no methods, as torch::save of C++ writes it",
                             model->name);
    return cli_fail_with(cli_ends_with(operand, ".py")
                             ? "a model file defines a subclass of torch.nn.Module or a function"
                             : "an archive of PyTorch begins with the bytes PK; text that a "
                               "download wrote instead may say why it failed",
                         "%s is text that defines no subclass of torch.nn.Module and no function",
                         cli_path_name(operand));
}

static const char *method_at(const void *script, size_t i)
{
    return cq_script_method_name(script, i);
}

static bool has_method(const cq_script *script, const char *wanted)
{
    const char *name;

    for (size_t i = 0; (name = cq_script_method_name(script, i)); i++)
        if (strcmp(name, wanted) == 0)
            return true;
    return false;
}

int cli_script_check_entry(const cli_model *model, const char *operand, bool is_archive)
{
    const cq_script *script     = model->handle;
    const char      *entry      = model->call.entry, *name, *near;
    char             hint[1024] = "its methods are: ";
    size_t           len = strlen(hint), n = 0;

    for (; (name = cq_script_method_name(script, n)); n++)
        if (len < sizeof hint)
            len += (size_t)snprintf(hint + len, sizeof hint - len, "%s%s", n ? ", " : "", name);
    if (n == 0)
        return no_methods(model, operand, is_archive);
    /* A name that begins with _ may be one that the list leaves out. */
    if (entry && (*entry == '_' || has_method(script, entry)))
        return CLI_DONE;
    near = entry ? cli_suggest(entry, method_at, script) : NULL;
    if (near && len < sizeof hint)
        snprintf(hint + len, sizeof hint - len, "; did you mean %s?", near);
    if (entry)
        return cli_fail_with(hint, "%s has no method '%s'", model->name, entry);
    if ((n == 1 && !is_archive) || has_method(script, "forward") ||
        has_method(script, "forward__0"))
        return CLI_DONE;
    if (len < sizeof hint)
        snprintf(hint + len, sizeof hint - len, "; choose one with --entry %s",
                 n == 1 ? cq_script_method_name(script, 0) : "NAME");
    return cli_fail_with(hint, "%s has no method 'forward'", model->name);
}

/* The first inputs of the method; "": unknown. */
static const char *suggested_inputs(const cq_info *info, const char *entry)
{
    for (size_t i = 0; i < cq_info_n_rows(info, METHODS); i++)
        if (cq_info_n_rows(info, METHODS) == 1 ||
            strcmp(cq_info_cell_text(info, METHODS, i, 0), entry ? entry : "forward") == 0)
            return cq_info_cell_text(info, METHODS, i, 2);
    return "";
}

int cli_result_of_model(const cli_model *model, cq_status status)
{
    const int  code    = cli_result_of_call(status);
    const bool of_call = strncmp(cq_last_error()->hint, "the signature is", 16) == 0 ||
                         *cq_last_error()->excerpt; /* else options are wrong, not inputs */
    cq_info *info = NULL;

    if (!of_call || (status != CQ_E_ARGUMENT && status != CQ_E_TYPE) ||
        model->front_end != &cli_script_front_end || cq_script_info(&info, model->handle) != CQ_OK)
        return code;
    if (*suggested_inputs(info, model->call.entry))
        cli_say_hint("inputs that fit: %s", suggested_inputs(info, model->call.entry));
    cq_info_free(info);
    return code;
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

static cq_status script_load(cli_model *model, cq_weights *weights, uint32_t flags)
{
    return cq_script_load_weights(model->handle, weights, flags);
}

const cli_front_end cli_script_front_end = { script_open,    script_export, script_run,
                                             script_flatten, script_close,  script_define,
                                             NULL,           script_load };
