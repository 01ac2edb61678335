/* Determines the outputs of a command: the only files that the sandbox lets it write. */
#include "sandbox.h"

#include "model.h"

#include <calque/sandbox.h>
#include <calque/system.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE 4096

enum { MAX_OUTPUTS = 16 };

typedef struct outputs {
    const char *files[MAX_OUTPUTS], *folders[MAX_OUTPUTS];
    size_t      n_files, n_folders;
    bool        has_main; /* -o, or its default */
} outputs;

static bool is_folder(const char *path)
{
    return cq_path_look_up(path, NULL) == CQ_PATH_FOLDER;
}

static void add_file(outputs *o, const char *path)
{
    if (o->n_files < MAX_OUTPUTS)
        o->files[o->n_files++] = path;
}

static void add_folder(outputs *o, const char *path)
{
    if (o->n_folders < MAX_OUTPUTS)
        o->folders[o->n_folders++] = path;
}

/* Options write to what their help calls OUT; the DIR of run -o is a folder, and so is the OUT of
 * unstrip DIR. */
static void add_options(outputs *o, const cli_args *args)
{
    const bool makes_folder =
        strcmp(args->verb->name, "unstrip") == 0 && is_folder(args->operands[0]);

    for (size_t i = 0; i < args->n_given; i++) {
        const cli_option *option = args->given[i].option;
        const char       *value  = args->given[i].value;
        const bool        is_out = option->value && strcmp(option->value, "OUT") == 0;
        const bool        is_dir = option->value && !is_out && strcmp(option->name, "output") == 0;

        if (!value || (!is_out && !is_dir))
            continue;
        if (is_dir || makes_folder)
            add_folder(o, value);
        else
            add_file(o, value);
        o->has_main |= strcmp(option->name, "report") != 0 && strcmp(option->name, "profile") != 0;
    }
}

/* convert --external-data FILE: beside the output. */
static void add_data(outputs *o, const cli_args *args)
{
    static char path[PATH_SIZE];
    const char *out, *name, *slash;

    if (!cli_verb_has(args->verb, "split-size"))
        return;
    out   = cli_value(args, "output");
    name  = cli_value(args, "external-data");
    slash = out ? strrchr(out, '/') : NULL;
    if (name && snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash - out) + 1 : 0, out,
                         name) < (int)sizeof path)
        add_file(o, path);
}

/* The outputs of a verb without -o. */
static void add_operands(outputs *o, const cli_args *args)
{
    static char path[PATH_SIZE];
    const char *verb = args->verb->name, *operand = args->operands[0];

    if (strcmp(verb, "py") == 0) { /* a script names its outputs when it runs */
        add_folder(o, ".");
        add_folder(o, getenv("TMPDIR") && *getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
        for (size_t i = 1; i < args->n_operands; i++)
            if (args->operands[i][0] != '-')
                add_file(o, args->operands[i]);
    } else if (strcmp(verb, "testcase") == 0) {
        add_folder(o, args->operands[1]);
    } else if (o->has_main) {
        return;
    } else if (strcmp(verb, "export") == 0) {
        snprintf(path, sizeof path, "%s.onnx", cli_model_name(operand));
        add_file(o, path);
    } else if (strcmp(verb, "view") == 0) {
        snprintf(path, sizeof path, "%s.html", cli_model_name(operand));
        add_file(o, path);
    } else if (strcmp(verb, "unstrip") == 0 && is_folder(operand)) {
        add_folder(o, operand);
    } else if (strcmp(verb, "strip") == 0 || strcmp(verb, "unstrip") == 0) {
        add_file(o, operand);
    }
}

void cli_sandbox(const cli_args *args)
{
    outputs            o = { .n_files = 0 };
    cq_sandbox_options options;

    add_options(&o, args);
    add_data(&o, args);
    if (args->n_operands)
        add_operands(&o, args);
    cq_sandbox_options_init(&options);
    options.files     = o.files;
    options.n_files   = o.n_files;
    options.folders   = o.folders;
    options.n_folders = o.n_folders;
    (void)cq_sandbox_enter(&options); /* without one everything works as before */
}
