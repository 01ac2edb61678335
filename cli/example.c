/* Where example inputs come from. The specs themselves are taken apart in input.c. */
#include "example.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE 4096
#define STRUCTURE_SIZE (1 << 20)

static int read_specs(cli_example *e, const cli_args *args)
{
    const char *spec, *why;
    size_t      at = 0;

    while ((spec = cli_next_value(args, "input", &at))) {
        if (e->n == CLI_MAX_INPUTS)
            return cli_misuse(args->verb, "more than %d inputs", CLI_MAX_INPUTS);
        why = cli_input_parse(&e->inputs[e->n++], spec);
        if (why)
            return cli_misuse(args->verb, "--input %s: %s", spec, why);
    }
    return CLI_DONE;
}

/* DIR/args.json, if it is there. */
static int read_structure(cli_example *e, const char *path, const cli_model *model)
{
    static char text[STRUCTURE_SIZE];
    FILE       *file = fopen(path, "rb");
    size_t      n;

    if (!file)
        return CLI_DONE;
    n = fread(text, 1, sizeof text, file);
    fclose(file);
    if (model->examples)
        return cli_fail_with("give the tensors alone, as input_0.pb, input_1.pb, …",
                             "%s says how arguments nest, but a built-in model takes plain tensors",
                             path);
    if (n == sizeof text)
        return cli_fail_with("", "'%s' is too large", path);
    text[n]      = '\0';
    e->structure = text;
    return CLI_DONE;
}

/* DIR/input_0.pb or .npy, DIR/input_1.pb, … until there is none. */
static int read_folder(cli_example *e, const cli_args *args, const char *folder,
                       const cli_model *model)
{
    static const char *const endings[] = { "pb", "npy" };
    static char              paths[CLI_MAX_INPUTS][PATH_SIZE]; /* the example refers to them */
    bool                     found = true;
    int                      code;

    if (strlen(folder) > PATH_SIZE - 32)
        return cli_misuse(args->verb, "--example: the path is too long");
    snprintf(paths[0], PATH_SIZE, "%s/args.json", folder);
    code = read_structure(e, paths[0], model);
    if (code != CLI_DONE)
        return code;
    while (found && e->n < CLI_MAX_INPUTS) {
        char *path = paths[e->n];

        found = false;
        for (size_t i = 0; i < sizeof endings / sizeof endings[0] && !found; i++) {
            snprintf(path, PATH_SIZE, "%s/input_%zu.%s", folder, e->n, endings[i]);
            found = access(path, F_OK) == 0;
        }
        if (found)
            e->inputs[e->n++] = (cli_input){ .path = path };
    }
    if (e->n == 0 && !e->structure)
        return cli_fail_with("", "'%s' has neither input_0.pb nor input_0.npy", folder);
    return CLI_DONE;
}

static void take_own(cli_example *e, const cli_model *model)
{
    for (; e->n < model->n_inputs; e->n++) {
        const cq_zoo_input *from = &model->examples[e->n];
        cli_input          *to   = &e->inputs[e->n];

        *to = (cli_input){ .dtype = from->dtype, .rank = from->rank };
        for (size_t i = 0; i < from->rank; i++)
            to->axes[i].size = from->sizes[i];
    }
}

static void size_named_axes(cli_example *e, const cli_model *model)
{
    for (size_t i = 0; i < e->n && model->examples; i++) {
        const cq_zoo_input *own = &model->examples[i];
        cli_input          *in  = &e->inputs[i];

        for (size_t k = 0; k < in->rank && in->rank == own->rank; k++)
            if (*in->axes[k].name && own->sizes[k] > 1)
                in->axes[k].size = own->sizes[k];
    }
}

int cli_example_read(cli_example *e, const cli_args *args, const cli_model *model)
{
    const char *folder = cli_value(args, "example");
    int         code;

    *e = (cli_example){ 0 };
    if (folder && cli_has(args, "input"))
        return cli_misuse(args->verb, "--input and --example cannot be given together");
    code = folder ? read_folder(e, args, folder, model) : read_specs(e, args);
    if (code != CLI_DONE)
        return code;
    if (e->n && model->examples && e->n != model->n_inputs)
        return cli_misuse(args->verb, "%s takes %zu input%s, but %zu %s given", model->name,
                          model->n_inputs, model->n_inputs == 1 ? "" : "s", e->n,
                          e->n == 1 ? "is" : "are");
    take_own(e, model);
    size_named_axes(e, model);
    for (size_t i = 0; i < e->n; i++)
        if (cli_input_tensor(&e->tensors[i], &e->inputs[i], i) != CQ_OK)
            return cli_fail();
    return CLI_DONE;
}

void cli_example_clear(cli_example *e)
{
    for (size_t i = 0; i < e->n; i++)
        cq_tensor_release(e->tensors[i]);
    e->n = 0;
}
