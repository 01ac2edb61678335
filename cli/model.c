/* Determines the kind of a model. Files are recognised by their first bytes, never by their
 * names. */
#include "model.h"
#include "applies.h"
#include "cli.h"

#include <calque/system.h>
#include <calque/pt2.h>
#include <calque/script.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { DEFINITIONS_SIZE = 1 << 20 };

/* ---- built-in models ---- */

static void zoo_describe(cli_model *model, const cq_zoo_model *zoo)
{
    cli_signature *takes = &model->takes;

    model->name  = zoo->name;
    takes->model = zoo->name;
    takes->n = takes->n_needed = takes->n_own = zoo->n_inputs;
    for (size_t i = 0; i < zoo->n_inputs; i++) {
        const cq_zoo_input *from = &zoo->inputs[i];

        takes->names[i] = from->name;
        takes->own[i]   = (cli_input){ .dtype = from->dtype, .rank = from->rank };
        if (from->dtype == CQ_DTYPE_F32) { /* pixels are in [0, 1] */
            takes->own[i].fill = CLI_UNIFORM;
            takes->own[i].b    = 1;
        }
        for (size_t k = 0; k < from->rank; k++)
            takes->own[i].axes[k].size = from->sizes[k];
        takes->declared[i] = takes->own[i];
    }
    takes->n_declared     = zoo->n_inputs;
    model->n_output_names = zoo->n_outputs;
    for (size_t i = 0; i < zoo->n_outputs; i++)
        model->output_names[i] = zoo->output_names[i];
}

static cq_status zoo_open(cli_model *model, const char *operand)
{
    const cq_zoo_model *zoo = cq_zoo_find(operand);

    zoo_describe(model, zoo);
    model->handle = zoo->make();
    return model->handle ? cq_module_status(model->handle) : CQ_E_NO_MEMORY;
}

static cq_status zoo_export(cq_onnx_model **out, cli_model *model, cq_tensor *const *inputs,
                            size_t n_inputs, const cq_export_options *options)
{
    return cq_module_export(out, model->handle, inputs, n_inputs, options);
}

static cq_status zoo_run(cli_model *model, cq_tensor *const *inputs, size_t n_inputs,
                         const cq_run_options *options, cq_tensor **outputs, size_t *n_outputs)
{
    return cq_module_run_as(model->handle, inputs, n_inputs, options, outputs, CLI_MAX_OUTPUTS,
                            n_outputs);
}

static cq_status zoo_flatten(cli_model *model, cq_tensor *const *inputs, size_t n_inputs,
                             cli_tensors *flat)
{
    (void)model;
    cli_tensors_resize(flat, n_inputs);
    for (size_t i = 0; i < flat->n; i++)
        flat->items[i] = cq_tensor_retain(inputs[i]);
    return CQ_OK;
}

static void zoo_close(cli_model *model)
{
    cq_module_free(model->handle);
}

static cq_status zoo_load(cli_model *model, cq_weights *weights, uint32_t flags)
{
    return cq_module_load_weights(model->handle, weights, flags);
}

static const cli_front_end zoo_front_end = { zoo_open,  zoo_export, zoo_run, zoo_flatten,
                                             zoo_close, NULL,       NULL,    zoo_load };

/* ---- files ---- */

/* Kinds of files other than TorchScript, by their first bytes. */
static const struct kind {
    const char *magic;
    const char *is, *hint;
} kinds[] = {
    { "\x08", "already an ONNX model", "use calque check, print, infer or run" },
    { "\x7f"
      "ELF",
      "a program", NULL },
};

/* Whether a file may be TorchScript, an archive or text; otherwise prints its kind. */
static int look_at_file(const char *path)
{
    const char *name    = cli_path_name(path);
    char        head[8] = "";
    size_t      n;

    if (!cq_path_read_start(path, head, sizeof head - 1, &n))
        return errno == EISDIR ? cli_fail_with("", "'%s' is a folder", name)
               : errno == EIO  ? cli_fail_with("", "cannot read '%s'", name)
                               : cli_no_such_model(path);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const struct kind *k = &kinds[i];

        if (strncmp(k->magic, head, strlen(k->magic)) == 0)
            return cli_fail_with(k->hint ? k->hint : "", "'%s' is %s", name, k->is);
    }
    return CLI_DONE;
}

static const char *model_name_at(const void *table, size_t i)
{
    const cq_zoo_model *model = cq_zoo_at(i);

    (void)table;
    return model ? model->name : NULL;
}

int cli_no_such_model(const char *name)
{
    const char *near      = cli_suggest(name, model_name_at, NULL);
    char        hint[128] = "use calque zoo to list the built-in models";

    if (near)
        snprintf(hint, sizeof hint, "did you mean %s? calque zoo lists the built-in models", near);
    return cli_fail_with(hint, "'%s' is neither a file nor a built-in model", name);
}

bool cli_model_is_built_in(const char *operand)
{
    return cq_zoo_find(operand) != NULL;
}

/* Reads the first bytes of an operand that is a file; returns their number. */
static size_t read_head(const char *operand, char *head, size_t size)
{
    size_t n = 0;

    if (!cli_model_is_built_in(operand))
        cq_path_read_start(operand, head, size, &n);
    return n;
}

/* A model begins with its IR version, field 1; no pickle, archive or text begins with that byte.
 * For damaged files the file name decides, so that the error is about ONNX. */
bool cli_model_is_onnx(const char *operand)
{
    char first;

    return read_head(operand, &first, 1) &&
           (first == 0x08 || (cli_ends_with(operand, ".onnx") && !cli_model_is_archive(operand)));
}

/* Whether the text is of a kind that the reader of ONNX models reports better: JSON, HTML, a Git
 * LFS pointer. */
static bool is_known_text(const char *operand)
{
    static const char lfs[] = "version https://git-lfs";
    char              head[sizeof lfs - 1];
    const size_t      n = read_head(operand, head, sizeof head);

    return n && (*head == '{' || *head == '<' || (n == sizeof head && !memcmp(head, lfs, n)));
}

int cli_need_onnx(const char *operand)
{
    if (cli_model_is_built_in(operand))
        return cli_fail_with("calque export makes one of it",
                             "'%s' is a built-in model, but this takes ONNX models", operand);
    if (cli_model_is_archive(operand))
        return cli_fail_with(
            "calque export converts archives of PyTorch; calque info describes them",
            "'%s' is a zip archive, but this takes ONNX models", cli_path_name(operand));
    if (cli_model_is_text(operand) && !is_known_text(operand) &&
        cq_onnx_form_of(operand) == CQ_ONNX_FORM_BINARY)
        return cli_fail_with(
            "calque export makes one of TorchScript, calque print --parse of ONNX's "
            "text syntax",
            "'%s' is text, but this takes ONNX models", cli_path_name(operand));
    return CLI_DONE;
}

bool cli_model_is_archive(const char *operand)
{
    char head[2];

    return read_head(operand, head, 2) == 2 && head[0] == 'P' && head[1] == 'K';
}

bool cli_model_is_text(const char *operand)
{
    char         head[512];
    const size_t n    = read_head(operand, head, sizeof head);
    bool         text = n > 0 && !(n > 1 && head[0] == 'P' && head[1] == 'K');

    for (size_t i = 0; i < n; i++)
        text &= (unsigned char)head[i] >= ' ' || (head[i] && strchr("\n\t\r", head[i]));
    return text;
}

int cli_limits_read(cli_limits *limits, const cli_args *args)
{
    int64_t steps = 0, megabytes = 0;

    CLI_TRY(cli_number(args, "max-steps", 1, INT64_MAX, &steps));
    CLI_TRY(cli_number(args, "max-memory", 1, INT64_MAX >> 20, &megabytes));
    *limits = (cli_limits){ (uint64_t)steps, (uint64_t)megabytes << 20 };
    return CLI_DONE;
}

static int open_any(cli_model *model, const char *operand, bool has_weights)
{
    int code;

    model->front_end      = NULL;
    model->takes.n        = 0;
    model->takes.n_params = model->takes.n_declared = 0;
    model->takes.is_flat                            = false;
    model->n_output_names                           = 0;
    if (cli_model_is_built_in(operand)) {
        model->front_end = &zoo_front_end;
        cli_allow_outputs(UINT64_MAX);
        cq_skip_init(has_weights); /* no initial numbers: --weights replaces all of them */
        code = cli_result(model->front_end->open(model, operand));
        cq_skip_init(false);
        return code;
    }
    code = look_at_file(operand);
    if (code != CLI_DONE)
        return code;
    model->front_end = cli_model_is_archive(operand) && cq_pt2_is_archive_file(operand)
                           ? &cli_pt2_front_end
                           : &cli_script_front_end;
    code             = cli_result(model->front_end->open(model, operand));
    if (code == CLI_DONE && model->front_end == &cli_script_front_end)
        code = cli_script_check_entry(model, operand, cli_model_is_archive(operand));
    return code;
}

/* Reads the operators that --define defines. */
static int define(cli_model *model, const cli_args *args)
{
    static char text[DEFINITIONS_SIZE];
    const char *path = cli_value(args, "define");
    size_t      len;

    if (!path)
        return CLI_DONE;
    CLI_TRY(cli_read_text(path, text, sizeof text, &len));
    return cli_result(model->front_end->define(model, text, path));
}

static int choose_engine(const cli_model *model, const cli_args *args)
{
    const char *name = cli_value(args, "quantized-engine");

    if (!name)
        return CLI_DONE;
    return cli_result(cq_script_set_quantized_engine(model->handle, name));
}

/* Removes a parameter that --constant sets: it is not an input of the model. */
static int remove_param(cli_signature *takes, const cli_args *args, const char *name)
{
    char names[1024] = "";

    for (size_t i = 0; i < takes->n_params; i++) {
        if (strcmp(takes->params[i].name, name) != 0)
            continue;
        memmove(&takes->params[i], &takes->params[i + 1],
                (takes->n_params - i - 1) * sizeof takes->params[0]);
        takes->n_params--;
        takes->n_declared = 0; /* the declared inputs are for all parameters */
        return CLI_DONE;
    }
    for (size_t i = 0, n = 0; i < takes->n_params && n < sizeof names; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "",
                              takes->params[i].name);
    return cli_misuse(args->verb, "--constant %s: %s has no parameter of that name; there are: %s",
                      name, takes->model, *names ? names : "none");
}

/* Reads the arguments of --constant NAME=VALUE. */
static int read_constants(cli_model *model, const cli_args *args)
{
    const char *spec;
    size_t      at   = 0;
    int         code = CLI_DONE;

    model->n_constants = 0;
    while (code == CLI_DONE && (spec = cli_next_value(args, "constant", &at))) {
        const char   *equals = strchr(spec, '=');
        cli_constant *c      = &model->constants[model->n_constants];

        if (!equals || equals == spec || (size_t)(equals - spec) >= sizeof c->name)
            return cli_misuse(args->verb, "--constant: expected NAME=VALUE, got '%s'", spec);
        if (model->n_constants++ == CLI_MAX_CONSTANTS)
            return cli_misuse(args->verb, "more than %d constants", CLI_MAX_CONSTANTS);
        snprintf(c->name, sizeof c->name, "%.*s", (int)(equals - spec), spec);
        c->value = equals + 1;
        code     = remove_param(&model->takes, args, c->name);
    }
    return code;
}

/* Reads all values of a repeatable option. */
static int read_all(const cli_args *args, const char *option, const char **values, size_t *n)
{
    const char *value;
    size_t      at = 0;

    *n = 0;
    while ((value = cli_next_value(args, option, &at))) {
        if (*n == CLI_MAX_PATHS)
            return cli_misuse(args->verb, "more than %d times --%s", CLI_MAX_PATHS, option);
        values[(*n)++] = value;
    }
    return CLI_DONE;
}

uint32_t cli_weights_flags(const cli_args *args)
{
    return cli_has(args, "weights-not-strict") ? CQ_WEIGHTS_NOT_STRICT : 0;
}

int cli_weights(const cli_args *args, uint32_t flags, cli_load_weights load, void *model)
{
    const char *path    = cli_value(args, "weights");
    cq_weights *weights = NULL;
    cq_status   status;

    if (!path)
        return CLI_DONE;
    status = cq_weights_open(&weights, path);
    if (status == CQ_OK)
        status = load(model, weights, flags);
    if (status == CQ_OK && *cq_weights_note(weights))
        cli_note("%s", cq_weights_note(weights));
    cq_weights_free(weights);
    return cli_result(status);
}

static cq_status load_into(void *model, cq_weights *weights, uint32_t flags)
{
    cli_model *m = model;

    return m->front_end->load(m, weights, flags);
}

int cli_model_open(cli_model *model, const cli_args *args)
{
    model->front_end  = NULL;
    model->handle     = NULL;
    model->call.entry = cli_value(args, "entry");
    CLI_TRY(cli_limits_read(&model->limits, args));
    CLI_TRY(read_all(args, "path", model->paths, &model->n_paths));
    CLI_TRY(read_all(args, "code", model->codes, &model->n_codes));
    model->weights = cli_value(args, "weights");
    CLI_TRY(open_any(model, args->operands[0],
                     cli_value(args, "weights") && !cli_has(args, "weights-not-strict")));
    CLI_TRY(cli_check_kind(args, model->front_end == &zoo_front_end          ? CLI_KIND_BUILT_IN
                                 : model->front_end == &cli_script_front_end ? CLI_KIND_SCRIPT
                                                                             : CLI_KIND_PT2));
    CLI_TRY(cli_check_pairs(args));
    CLI_TRY(read_constants(model, args));
    CLI_TRY(define(model, args));
    CLI_TRY(choose_engine(model, args));
    return cli_weights(args, cli_weights_flags(args), load_into, model);
}

int cli_open_with_example(const cli_args *args, const char *names, cli_model *model,
                          cli_example *example)
{
    model->call = (cli_call){ .names = names };
    CLI_TRY(cli_model_open(model, args));
    CLI_TRY(cli_example_read(example, args, &model->takes));
    CLI_TRY(cli_example_load(example));
    model->call.structure = example->structure;
    return CLI_DONE;
}

void cli_close_with_example(cli_model *model, cli_example *example)
{
    cli_example_clear(example);
    cli_model_close(model);
}

int cli_with_example(const cli_args *args, const char *names, cli_work work)
{
    static cli_model   model; /* both are too large for a stack frame */
    static cli_example example;
    int                code = cli_open_with_example(args, names, &model, &example);

    if (code == CLI_DONE)
        code = work(args, &model, &example);
    cli_close_with_example(&model, &example);
    return code;
}

const char *cli_model_name(const char *path)
{
    static char name[256];

    if (cli_is_stdin(path))
        return "stdin";
    const char *slash = cq_path_separator(path);
    const char *base  = slash ? slash + 1 : path;
    const char *dot   = strrchr(base, '.');
    int         len   = dot && dot != base ? (int)(dot - base) : (int)strlen(base);

    snprintf(name, sizeof name, "%.*s", len, base);
    return name;
}

void cli_tensors_resize(cli_tensors *list, size_t n)
{
    if (n > CLI_MAX_TENSORS)
        cli_warn("only %d of %zu inputs and states are inspected", CLI_MAX_TENSORS, n);
    for (; list->n < n && list->n < CLI_MAX_TENSORS; list->n++)
        list->items[list->n] = NULL;
}

void cli_tensors_clear(cli_tensors *list)
{
    for (size_t i = 0; i < list->n; i++)
        cq_tensor_release(list->items[i]);
    list->n = 0;
}

void cli_model_limit_outputs(size_t *n_outputs)
{
    if (*n_outputs <= CLI_MAX_OUTPUTS)
        return;
    cli_warn("only %d of %zu outputs are inspected", CLI_MAX_OUTPUTS, *n_outputs);
    *n_outputs = CLI_MAX_OUTPUTS;
}

cq_run_options cli_run_options(const cq_export_options *options)
{
    cq_run_options run;

    cq_run_options_like_export(&run, options);
    return run;
}

void cli_model_close(cli_model *model)
{
    if (model->front_end)
        model->front_end->close(model);
    model->front_end = NULL;
}
