/* Reads the options of an export. The library checks whether they suit the model. */
#include "export_options.h"

#include <calque/pt2.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })

const cli_group cli_export_groups[] = {
    { "output", NAMES("output", "opset", "external-data", "external-data-threshold",
                      "strip-large-tensor-data", "large-tensor-threshold", "verify", "report",
                      "verbose", "keep-model", "no-metadata", "user-meta", "export-torch-script",
                      "export-torch-trace", "export-chrome-tracing", "no-trace") },
    { "gradients", NAMES("grad", "grad-input") },
    { "the model and its inputs",
      NAMES("input", "example", "entry", "path", "code", "constant", "define", "quantized-engine",
            "weights", "weights-not-strict", "optional-inputs", "complex-as-pairs", "max-steps",
            "max-memory") },
    { "names and dynamic sizes", NAMES("input-names", "output-names", "dynamic-axes", "names",
                                       "static", "graph-name", "producer") },
    { "weights and constants",
      NAMES("no-constant-folding", "no-params", "keep-initializers-as-inputs",
            "no-initializers-as-inputs", "drop-unused-inputs") },
    { "control flow, modes and state",
      NAMES("trace", "script", "training", "state", "keep-mutations", "keep-asserts") },
    { "operators",
      NAMES("operator-export-type", "custom-opset", "modules-as-functions", "symbolics") },
    { "annotations", NAMES("annotate", "annotate-all", "anchor", "annotations", "as-output") },
    { NULL, NULL },
};

char *cli_export_keep(cli_export *e, const char *text)
{
    size_t len  = strlen(text) + 1;
    char  *copy = e->text + e->text_len;

    if (len > sizeof e->text - e->text_len)
        return NULL;
    memcpy(copy, text, len);
    e->text_len += len;
    return copy;
}

/* Splits "a,b,c" into names. For omitted names, the names of the model, which are already set, are
 * kept. */
static int read_names(cli_export *e, const cli_args *args, const char *option, const char **names,
                      size_t *n)
{
    const char *list = cli_value(args, option);
    char       *at   = list ? cli_export_keep(e, list) : NULL;
    size_t      i    = 0;

    if (!list)
        return CLI_DONE;
    while (at && i < CLI_MAX_NAMES) {
        size_t len  = strcspn(at, ",");
        char  *next = at[len] ? at + len + 1 : NULL;

        if (len == 0)
            return cli_misuse(args->verb, "--%s has an empty name", option);
        at[len]    = '\0';
        names[i++] = at;
        at         = next;
    }
    if (at || i == 0)
        return cli_misuse(args->verb, "--%s has too many names", option);
    *n = i > *n ? i : *n;
    return CLI_DONE;
}

/* The index of an option's value in a list of words; 0 if the option is not given. */
static int read_word(const cli_args *args, const char *option, const char *const *words, int *out)
{
    const char *text      = cli_value(args, option);
    char        list[256] = "";

    *out = 0;
    if (!text)
        return CLI_DONE;
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0) {
            *out = i;
            return CLI_DONE;
        }
    for (int i = 0; words[i]; i++) {
        size_t len = strlen(list);

        snprintf(list + len, sizeof list - len, "%s%s", i ? ", " : "", words[i]);
    }
    return cli_misuse(args->verb, "--%s: expected one of %s, got '%s'", option, list, text);
}

/* Parses DOMAIN=VERSION. */
static int read_custom_opsets(cli_export *e, const cli_args *args)
{
    const char *text;
    size_t      at = 0;

    while ((text = cli_next_value(args, "custom-opset", &at))) {
        char     *domain  = cli_export_keep(e, text);
        char     *equals  = domain ? strrchr(domain, '=') : NULL;
        char     *end     = NULL;
        long long version = 0;

        errno = 0;
        if (equals)
            version = strtoll(equals + 1, &end, 10);
        if (!equals || equals == domain || !equals[1] || *end || errno || version < 1)
            return cli_misuse(args->verb, "--custom-opset expects DOMAIN=VERSION, got '%s'", text);
        if (e->options.n_custom_opsets == CLI_MAX_CUSTOM_OPSETS)
            return cli_misuse(args->verb, "more than %d custom opsets", CLI_MAX_CUSTOM_OPSETS);
        *equals                                        = '\0';
        e->custom_opsets[e->options.n_custom_opsets++] = (cq_custom_opset){ domain, version };
    }
    return CLI_DONE;
}

static int read_functions(cli_export *e, const cli_args *args)
{
    const char *which = cli_value(args, "modules-as-functions");

    if (which && strcmp(which, "all") == 0) {
        e->options.flags |= CQ_EXPORT_ALL_MODULES_AS_FUNCTIONS;
        return CLI_DONE;
    }
    return read_names(e, args, "modules-as-functions", e->classes, &e->options.n_function_classes);
}

/* Reads the file of symbolic functions into the buffer of names. */
static int read_symbolics(cli_export *e, const cli_args *args)
{
    const char *path = cli_value(args, "symbolics");
    char       *text = e->text + e->text_len;
    size_t      n;

    if (!path)
        return CLI_DONE;
    CLI_TRY(cli_read_text(path, text, sizeof e->text - e->text_len, &n));
    e->text_len += n + 1;
    e->options.symbolics      = text;
    e->options.symbolics_name = path;
    return CLI_DONE;
}

static const struct {
    const char *option;
    uint32_t    flag;
} flags[] = {
    { "no-params", CQ_EXPORT_NO_PARAMS },
    { "no-constant-folding", CQ_EXPORT_NO_CONSTANT_FOLDING },
    { "keep-initializers-as-inputs", CQ_EXPORT_KEEP_INITIALIZERS_AS_INPUTS },
    { "no-initializers-as-inputs", CQ_EXPORT_NO_INITIALIZERS_AS_INPUTS },
    { "drop-unused-inputs", CQ_EXPORT_DROP_UNUSED_INPUTS },
    { "verbose", CQ_EXPORT_VERBOSE },
    { "static", CQ_EXPORT_STATIC },
    { "keep-mutations", CQ_EXPORT_KEEP_MUTATIONS },
    { "keep-asserts", CQ_EXPORT_KEEP_ASSERTS },
    { "state", CQ_EXPORT_STATE },
    { "complex-as-pairs", CQ_EXPORT_COMPLEX_AS_PAIRS },
};

/* Reads a number, or latest. */
static int read_opset(cli_export *e, const cli_args *args, const cli_model *model)
{
    const char *text   = cli_value(args, "opset");
    bool        latest = text && strcmp(text, "latest") == 0;
    int64_t     opset  = latest                                   ? CQ_OPSET_NEWEST
                         : model->front_end == &cli_pt2_front_end ? cq_pt2_default_opset(model->handle)
                                                                  : CQ_OPSET_DEFAULT;
    int         code   = CLI_DONE;

    if (!latest)
        code = cli_number(args, "opset", CQ_OPSET_OLDEST, CQ_OPSET_NEWEST, &opset);
    e->options.opset = (int32_t)opset;
    return code;
}

void cli_print_text(void *user, const char *text)
{
    (void)user;
    fputs(text, stdout);
}

static int read_choices(cli_export *e, const cli_args *args, const cli_model *model)
{
    static const char *const modes[] = { "eval", "train", "preserve", NULL };
    static const char *const types[] = { "onnx", "onnx_aten", "onnx_aten_fallback",
                                         "onnx_fallthrough", NULL };
    static const char *const homes[] = { "attribute", "metadata", NULL };
    int                      mode, type, home;

    CLI_TRY(read_opset(e, args, model));
    CLI_TRY(read_word(args, "training", modes, &mode));
    CLI_TRY(read_word(args, "operator-export-type", types, &type));
    CLI_TRY(read_word(args, "annotations", homes, &home));
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        e->options.flags |= cli_has(args, flags[i].option) ? flags[i].flag : 0;
    e->options.print       = cli_print_text;
    e->options.training    = (cq_training)mode;
    e->options.operators   = (cq_operator_export_type)type;
    e->options.annotations = (cq_annotations)home;
    return CLI_DONE;
}

static void take_names_of_model(cli_export *e, const cli_model *model)
{
    e->options.n_input_names  = model->takes.n == CLI_ANY_NUMBER ? 0 : model->takes.n;
    e->options.n_output_names = model->n_output_names;
    for (size_t i = 0; i < e->options.n_input_names; i++)
        e->input_names[i] = model->takes.names[i];
    for (size_t i = 0; i < model->n_output_names; i++)
        e->output_names[i] = model->output_names[i];
}

/* The name of an input; the library's default name if neither the command line nor the model has
 * one. */
static const char *input_name(cli_export *e, size_t i)
{
    char name[32];

    for (size_t k = e->options.n_input_names; k <= i; k++) {
        snprintf(name, sizeof name, "input_%zu", k);
        e->input_names[k] = cli_export_keep(e, name);
        if (!e->input_names[k])
            return NULL;
        e->options.n_input_names = k + 1;
    }
    return e->input_names[i];
}

static bool is_among(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Names inputs of a program after its parameters, unless the command line names them or uses the
 * name for another value. */
static int take_names_of_params(cli_export *e, const cli_args *args, const cli_example *example)
{
    cq_export_options *o = &e->options;
    size_t             n = example->n;

    while (n && !*example->names[n - 1])
        n--;
    for (size_t i = o->n_input_names; i < n; i++) {
        const char *name = example->names[i];

        if (!*name || is_among(name, e->output_names, o->n_output_names) ||
            is_among(name, e->input_names, o->n_input_names)) {
            if (!input_name(e, i))
                return cli_misuse(args->verb, "too many names");
            continue;
        }
        e->input_names[o->n_input_names++] = name;
    }
    return CLI_DONE;
}

/* Axes with named sizes are dynamic axes. */
static int take_named_sizes(cli_export *e, const cli_args *args, const cli_example *example)
{
    for (size_t i = 0; i < example->n; i++)
        for (size_t k = 0; k < example->inputs[i].rank; k++) {
            const char *name = example->inputs[i].axes[k].name;

            if (!*name)
                continue;
            if (!input_name(e, i))
                return cli_misuse(args->verb, "too many names");
            if (e->options.n_dynamic_axes == CLI_MAX_AXES)
                return cli_misuse(args->verb, "more than %d dynamic axes", CLI_MAX_AXES);
            e->axes[e->options.n_dynamic_axes++] =
                (cq_dynamic_axis){ e->input_names[i], (int32_t)k, name };
        }
    return CLI_DONE;
}

int cli_export_read(cli_export *e, const cli_args *args, const cli_model *model,
                    const cli_example *example)
{
    cq_export_options *o = &e->options;

    e->text_len = 0;
    cq_export_options_init(o);
    take_names_of_model(e, model);
    CLI_TRY(read_choices(e, args, model));
    CLI_TRY(read_names(e, args, "input-names", e->input_names, &o->n_input_names));
    CLI_TRY(read_names(e, args, "output-names", e->output_names, &o->n_output_names));
    CLI_TRY(take_names_of_params(e, args, example));
    CLI_TRY(read_custom_opsets(e, args));
    CLI_TRY(read_functions(e, args));
    CLI_TRY(read_symbolics(e, args));
    CLI_TRY(take_named_sizes(e, args, example));
    CLI_TRY(cli_export_read_axes(e, args));
    CLI_TRY(cli_export_read_marks(e, args));
    if (cli_has(args, "script") && cli_has(args, "trace"))
        return cli_misuse(args->verb, "--trace and --script cannot be given together");
    if (cli_has(args, "keep-initializers-as-inputs") && cli_has(args, "no-initializers-as-inputs"))
        return cli_misuse(args->verb,
                          "options that make weights inputs and options that prevent it exclude "
                          "each other");
    o->graph_name       = cli_value(args, "graph-name");
    o->producer         = cli_value(args, "producer");
    o->input_names      = e->input_names;
    o->output_names     = e->output_names;
    o->dynamic_axes     = e->axes;
    o->custom_opsets    = e->custom_opsets;
    o->function_classes = e->classes;
    return CLI_DONE;
}
