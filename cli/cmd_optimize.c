/* calque optimize: makes an ONNX model smaller without changing its results. */
#include "edit.h"
#include "json.h"

#include <stdio.h>
#include <string.h>

enum { MAX_NAMES = 64, TEXT = 1024 };

/* A list of names, "fold,merge". */
typedef struct name_list {
    char        text[TEXT];
    const char *names[MAX_NAMES];
    size_t      n;
} name_list;

static int read_names(name_list *out, const cli_args *args, const char *option)
{
    const char *value;
    size_t      at = 0, used = 0;

    while ((value = cli_next_value(args, option, &at))) {
        size_t len = strlen(value) + 1;

        if (used + len > sizeof out->text)
            return cli_misuse(args->verb, "--%s: the list is too long", option);
        memcpy(out->text + used, value, len);
        for (char *name = strtok(out->text + used, ","); name; name = strtok(NULL, ",")) {
            if (out->n == MAX_NAMES)
                return cli_misuse(args->verb, "--%s: more than %d names", option, MAX_NAMES);
            out->names[out->n++] = name;
        }
        used += len;
    }
    return CLI_DONE;
}

static int list_passes(void)
{
    const char *name, *about;

    for (size_t i = 0; (name = cq_optimize_pass(i, &about)); i++)
        printf("%-12s %s\n", name, about);
    return CLI_DONE;
}

/* Writes a table to standard output, or JSON to a file. */
static int write_report(const cli_args *args, const cq_optimize_report *r)
{
    const char *path = cli_value(args, "report");
    char        text[8192];
    size_t      at = 0;

    if (!path)
        return CLI_DONE;
    at += (size_t)snprintf(text + at, sizeof text - at,
                           "{\"nodes_before\": %zu, \"nodes_after\": %zu, \"passes\": [",
                           r->n_before, r->n_after);
    for (size_t i = 0; i < r->n_passes; i++)
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "%s\n  {\"name\": \"%s\", \"removed\": %lld}", i ? "," : "",
                               r->passes[i].name, (long long)r->passes[i].removed);
    at += (size_t)snprintf(text + at, sizeof text - at, "\n]}\n");
    return cli_result(cq_buffer_save(path, text, at));
}

static int optimize(cli_edit *e, const cli_args *args)
{
    static name_list    only, skip;
    const char         *target = cli_value(args, "for");
    cq_optimize_options options;
    cq_optimize_report  report;

    cq_optimize_options_init(&options);
    CLI_TRY(read_names(&only, args, "only"));
    CLI_TRY(read_names(&skip, args, "skip"));
    if (target && strcmp(target, "onnxruntime") != 0 && strcmp(target, "onnx") != 0)
        return cli_misuse(args->verb, "--for: expected onnx or onnxruntime, got '%s'", target);
    if (target && strcmp(target, "onnxruntime") == 0)
        options.flags |= CQ_OPTIMIZE_FOR_ONNXRUNTIME;
    options.only   = only.names;
    options.n_only = only.n;
    options.skip   = skip.names;
    options.n_skip = skip.n;
    options.flags |= cli_has(args, "inline") ? CQ_OPTIMIZE_INLINE : 0;
    options.flags |= cli_has(args, "drop-unread-inputs") ? CQ_OPTIMIZE_DROP_UNREAD_INPUTS : 0;
    CLI_TRY(cli_result_of_call(cq_onnx_model_optimize(e->after, &report, &options)));
    return write_report(args, &report);
}

static int run(const cli_args *args)
{
    static cli_edit edit;

    if (cli_has(args, "list-passes"))
        return list_passes();
    if (!args->n_operands)
        return cli_misuse(args->verb, "IN is missing: the ONNX model to optimize");
    CLI_TRY(cli_edit_open(&edit, args));
    return cli_edit_close(&edit, args, "optimized", optimize(&edit, args));
}

static const cli_option options[] = {
    CLI_EDIT_OPTIONS,
    CLI_SHARE_OPTION,
    { "list-passes", NULL, "print the names and descriptions of all passes", 0 },
    { "only", "A,B", "run these passes only; repeatable", 0 },
    { "skip", "A,B", "do not run these passes; repeatable", 0 },
    { "for", "TARGET", "onnx, or onnxruntime, which adds operators of com.microsoft (onnx)", 0 },
    { "inline", NULL, "replace calls of functions by their nodes first", 0 },
    { "drop-unread-inputs", NULL, "remove inputs of the model that nothing reads", 0 },
    { "report", "OUT", "write how many nodes each pass removed, as JSON", 0 },
    { 0 },
};

const cli_verb cli_verb_optimize = {
    .name     = "optimize",
    .operands = "IN -o OUT",
    .summary  = "make an ONNX model smaller without changing its results",
    .about =
        "Writes the ONNX model IN to OUT with fewer nodes: constants are computed, nodes that\n"
        "change nothing are removed, and nodes that one operator can do are fused. Names,\n"
        "metadata, functions and external data are kept. Both models are run on the same\n"
        "inputs; a difference is an error that names the first node, and OUT is not written.",
    .options      = options,
    .min_operands = 0,
    .max_operands = 1,
    .n_read       = 1,
    .run          = run,
};
