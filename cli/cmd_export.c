/* calque export: a model carried over to ONNX: so far the built-in ones; archives and source of
 * TorchScript are not read yet. */
#include "cli.h"
#include "input.h"

#include <calque/export.h>
#include <calque/zoo.h>

#include <stdio.h>
#include <string.h>

#define MAX_INPUTS 16
#define MAX_NAMES 256
#define MAX_CUSTOM 32
#define NAMES_SIZE 16384 /* of all names together */

/* All that an export is asked for. Too large for a stack frame, and there is one at a time. */
static struct job {
    const cq_zoo_model *model;
    cq_export_options   options;
    cli_input           inputs[MAX_INPUTS];
    cq_tensor          *tensors[MAX_INPUTS];
    size_t              n_inputs;
    const char         *input_names[MAX_NAMES], *output_names[MAX_NAMES];
    cq_dynamic_axis     axes[MAX_INPUTS * CQ_MAX_RANK];
    cq_custom_opset     custom[MAX_CUSTOM];
    char                text[NAMES_SIZE]; /* where names are cut out of lists */
    size_t              text_len;
} job;

/* Cuts "a,b,c" into names after the first n of out; the number there is now, or 0 if there is
 * no room. */
static size_t cut_names(const char **out, size_t n, const char *list)
{
    size_t len   = strlen(list) + 1;
    char  *start = job.text + job.text_len;
    char  *comma;

    if (len > sizeof job.text - job.text_len)
        return 0;
    memcpy(start, list, len);
    job.text_len += len;
    for (;; start = comma + 1) {
        if (n == MAX_NAMES)
            return 0;
        out[n++] = start;
        comma    = strchr(start, ',');
        if (!comma)
            return n;
        *comma = '\0';
    }
}

/* Names of an option, or those that the model brings along for what the option leaves out. */
static int read_names(const cli_args *args, const char *option, const char **names, size_t *n)
{
    const char *list = cli_value(args, option);
    size_t      given;

    if (!list)
        return CLI_DONE;
    given = cut_names(names, 0, list);
    if (given == 0)
        return cli_misuse(args->verb, "--%s has too many names", option);
    *n = given > *n ? given : *n;
    return CLI_DONE;
}

static int read_inputs(const cli_args *args)
{
    const char *spec;
    const char *why;
    size_t      at = 0;

    while ((spec = cli_next_value(args, "input", &at))) {
        if (job.n_inputs == MAX_INPUTS)
            return cli_misuse(args->verb, "more than %d inputs", MAX_INPUTS);
        why = cli_input_parse(&job.inputs[job.n_inputs++], spec);
        if (why)
            return cli_misuse(args->verb, "--input %s: %s", spec, why);
    }
    if (job.n_inputs && job.n_inputs != job.model->n_inputs)
        return cli_misuse(args->verb, "%s takes %zu inputs, but %zu are given", job.model->name,
                          job.model->n_inputs, job.n_inputs);
    return CLI_DONE;
}

/* The model's own example, where none is given. */
static void take_example(void)
{
    for (; job.n_inputs < job.model->n_inputs; job.n_inputs++) {
        const cq_zoo_input *from = &job.model->inputs[job.n_inputs];
        cli_input          *to   = &job.inputs[job.n_inputs];

        *to = (cli_input){ .dtype = from->dtype, .rank = from->rank };
        for (size_t i = 0; i < from->rank; i++)
            to->axes[i].size = from->sizes[i];
    }
}

/* Sizes with names are dynamic axes. */
static void take_axes(void)
{
    for (size_t i = 0; i < job.n_inputs; i++)
        for (size_t j = 0; j < job.inputs[i].rank; j++)
            if (*job.inputs[i].axes[j].name)
                job.axes[job.options.n_dynamic_axes++] = (cq_dynamic_axis){
                    job.input_names[i], (int32_t)j, job.inputs[i].axes[j].name
                };
}

/* DOMAIN=VERSION */
static int read_custom_opsets(const cli_args *args)
{
    const char *text;
    size_t      at = 0;

    while ((text = cli_next_value(args, "custom-opset", &at))) {
        const char *domain[MAX_NAMES];
        long long   version;
        int         used = 0;
        const char *equals = strrchr(text, '=');

        if (!equals || sscanf(equals + 1, "%lld%n", &version, &used) != 1 || equals[1 + used] ||
            version < 1 || job.options.n_custom_opsets == MAX_CUSTOM ||
            !cut_names(domain, 0, text))
            return cli_misuse(args->verb, "--custom-opset wants DOMAIN=VERSION, not '%s'", text);
        *strrchr((char *)domain[0], '=') = '\0'; /* in job.text */
        job.custom[job.options.n_custom_opsets++] = (cq_custom_opset){ domain[0], version };
    }
    return CLI_DONE;
}

/* The index of an option's value in a list of words; 0 when it is not given. */
static int read_word(const cli_args *args, const char *option, const char *const *words, int *out)
{
    const char *text = cli_value(args, option);

    *out = 0;
    if (!text)
        return CLI_DONE;
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0) {
            *out = i;
            return CLI_DONE;
        }
    return cli_misuse(args->verb, "--%s has no '%s'; see its words in the help", option, text);
}

static const struct {
    const char *option;
    uint32_t    flag;
} flags[] = {
    { "no-params", CQ_EXPORT_NO_PARAMS },
    { "no-constant-folding", CQ_EXPORT_NO_CONSTANT_FOLDING },
    { "keep-initializers-as-inputs", CQ_EXPORT_KEEP_INITIALIZERS_AS_INPUTS },
    { "external-data", CQ_EXPORT_EXTERNAL_DATA },
    { "verbose", CQ_EXPORT_VERBOSE },
};

static int read_options(const cli_args *args)
{
    static const char *const modes[] = { "eval", "train", "preserve", NULL };
    static const char *const types[] = { "onnx", "onnx_aten", "onnx_aten_fallback",
                                         "onnx_fallthrough", NULL };
    cq_export_options *o = &job.options;
    int64_t            opset;
    int                mode, type, code;

    cq_export_options_init(o);
    opset = o->opset;
    o->n_input_names  = job.model->n_inputs;
    o->n_output_names = job.model->n_outputs;
    for (size_t i = 0; i < o->n_input_names; i++)
        job.input_names[i] = job.model->inputs[i].name;
    for (size_t i = 0; i < o->n_output_names; i++)
        job.output_names[i] = job.model->output_names[i];
    if ((code = cli_number(args, "opset", CQ_OPSET_OLDEST, CQ_OPSET_NEWEST, &opset)) ||
        (code = read_word(args, "training", modes, &mode)) ||
        (code = read_word(args, "operator-export-type", types, &type)) ||
        (code = read_names(args, "input-names", job.input_names, &o->n_input_names)) ||
        (code = read_names(args, "output-names", job.output_names, &o->n_output_names)) ||
        (code = read_custom_opsets(args)) || (code = read_inputs(args)))
        return code;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        o->flags |= cli_has(args, flags[i].option) ? flags[i].flag : 0;
    o->opset         = (int32_t)opset;
    o->training      = (cq_training)mode;
    o->operators     = (cq_operator_export_type)type;
    o->input_names   = job.input_names;
    o->output_names  = job.output_names;
    o->dynamic_axes  = job.axes;
    o->custom_opsets = job.custom;
    take_example();
    take_axes();
    return CLI_DONE;
}

static cq_status export_to(const char *path)
{
    cq_module *module = job.model->make();
    cq_status  status = module ? cq_module_status(module) : CQ_E_NO_MEMORY;

    for (size_t i = 0; i < job.n_inputs && status == CQ_OK; i++)
        status = cli_input_tensor(&job.tensors[i], &job.inputs[i], i);
    if (status == CQ_OK)
        status = cq_module_export_file(path, module, job.tensors, job.n_inputs, &job.options);
    for (size_t i = 0; i < job.n_inputs; i++)
        cq_tensor_release(job.tensors[i]);
    cq_module_free(module);
    return status;
}

static const char *model_name_at(const void *table, size_t i)
{
    const cq_zoo_model *model = cq_zoo_at(i);

    (void)table;
    return model ? model->name : NULL;
}

static int no_such_model(const char *name)
{
    const char *near = cli_suggest(name, model_name_at, NULL);
    char        hint[128] = "calque zoo lists the built-in models";

    if (near)
        snprintf(hint, sizeof hint, "did you mean %s? calque zoo lists the built-in models", near);
    return cli_fail_with(hint, "'%s' is not a built-in model, and files cannot be exported yet",
                         name);
}

static int run(const cli_args *args)
{
    char        path[256];
    const char *to = cli_value(args, "output");
    int         code;

    job.model = cq_zoo_find(args->operands[0]);
    if (!job.model)
        return no_such_model(args->operands[0]);
    code = read_options(args);
    if (code != CLI_DONE)
        return code;
    snprintf(path, sizeof path, "%s.onnx", job.model->name);
    return cli_result(export_to(to ? to : path));
}

static const cli_option options[] = {
    { "output", "OUT", "the file to write (MODEL.onnx)", 'o' },
    { "input", "SPEC", "an example input, repeatable: 1x3x224x224, batchx3x8x8, int64[2,3]=zeros, x.npy", 0 },
    { "opset", "N", "ONNX opset, 7 to 17 (17)", 0 },
    { "input-names", "A,B", "names of the inputs, in order", 0 },
    { "output-names", "Y,Z", "names of the outputs, in order", 0 },
    { "training", "MODE", "eval, train or preserve (eval)", 0 },
    { "no-constant-folding", NULL, "keep what could be computed now", 0 },
    { "no-params", NULL, "weights become inputs", 0 },
    { "keep-initializers-as-inputs", NULL, "weights are inputs as well", 0 },
    { "operator-export-type", "TYPE", "onnx, onnx_aten, onnx_aten_fallback or onnx_fallthrough (onnx)", 0 },
    { "custom-opset", "DOMAIN=VERSION", "opset of a domain of your own, repeatable", 0 },
    { "external-data", NULL, "weights into a file beside OUT", 0 },
    { "verbose", NULL, "print the graph", 0 },
    { 0 },
};

const cli_verb cli_verb_export = {
    .name         = "export",
    .operands     = "MODEL [-o OUT]",
    .summary      = "carry a model over to ONNX",
    .about        = "Exports MODEL, the name of a built-in model (calque zoo lists them), to ONNX. A size\n"
                    "of --input may be a name: then that axis is dynamic.",
    .options      = options,
    .min_operands = 1,
    .max_operands = 1,
    .run          = run,
};
