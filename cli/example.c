/* Reads example inputs. input.c parses the specs. */
#include "example.h"
#include "value.h"

#include <calque/script.h>
#include <calque/system.h>

#include <stdio.h>
#include <string.h>

#define PATH_SIZE      4096
#define STRUCTURE_SIZE (1 << 20)

/* Reads DIR/args.json, if it exists. */
static int read_structure(cli_example *e, const char *path, const cli_signature *s)
{
    static char text[STRUCTURE_SIZE];
    size_t      n;

    if (s->is_flat || !cq_path_read_start(path, text, sizeof text, &n))
        return CLI_DONE;
    if (s->n != CLI_ANY_NUMBER)
        return cli_fail_with("give only tensors, as input_0.pb, input_1.pb, …",
                             "%s describes nested arguments, but this model takes plain tensors",
                             path);
    if (n == sizeof text)
        return cli_fail_with("", "'%s' is too large", path);
    text[n]      = '\0';
    e->structure = text;
    return CLI_DONE;
}

/* Reads DIR/input_0.pb or .npy, DIR/input_1.pb, … until a file is missing. */
static int read_folder(cli_example *e, const cli_args *args, const char *folder,
                       const cli_signature *s)
{
    static const char *const endings[] = { "pb", "npy" };
    static char              paths[CLI_MAX_INPUTS][PATH_SIZE]; /* the example refers to them */
    bool                     found = true;

    if (strlen(folder) > PATH_SIZE - 32)
        return cli_misuse(args->verb, "--example: the path is too long");
    snprintf(paths[0], PATH_SIZE, "%s/args.json", folder);
    CLI_TRY(read_structure(e, paths[0], s));
    while (found) {
        char *path = paths[e->n < CLI_MAX_INPUTS ? e->n : 0];

        found = false;
        for (size_t i = 0; i < sizeof endings / sizeof endings[0] && !found; i++) {
            snprintf(path, PATH_SIZE, "%s/input_%zu.%s", folder, e->n, endings[i]);
            found = cq_path_exists(path);
        }
        if (found && e->n == CLI_MAX_INPUTS)
            return cli_fail_with("", "'%s' has more than %d inputs", folder, CLI_MAX_INPUTS);
        if (found)
            e->inputs[e->n++] = (cli_input){ .path = path };
    }
    if (e->n == 0 && !e->structure)
        return !cq_path_exists(folder)
                   ? cli_fail_with("", "the folder '%s' does not exist", folder)
                   : cli_fail_with("", "'%s' has neither input_0.pb nor input_0.npy", folder);
    return CLI_DONE;
}

static void size_named_axes(cli_example *e, const cli_signature *s)
{
    for (size_t i = 0; i < e->n; i++) {
        const cli_input *own = &s->own[i];
        cli_input       *in  = &e->inputs[i];

        for (size_t k = 0; k < in->rank && in->rank == own->rank; k++)
            if (*in->axes[k].name && !in->axes[k].is_sized && own->axes[k].size > 1)
                in->axes[k].size = own->axes[k].size;
    }
}

/* The first axis of that name with an explicit size. */
static const cli_axis *sized_axis(const cli_example *e, const char *name)
{
    for (size_t i = 0; i < e->n; i++)
        for (size_t k = 0; k < e->inputs[i].rank; k++)
            if (e->inputs[i].axes[k].is_sized && strcmp(e->inputs[i].axes[k].name, name) == 0)
                return &e->inputs[i].axes[k];
    return NULL;
}

/* Gives all axes of the same name the same size. */
static void share_sizes(cli_example *e)
{
    for (size_t i = 0; i < e->n; i++)
        for (size_t k = 0; k < e->inputs[i].rank; k++) {
            cli_axis       *axis = &e->inputs[i].axes[k];
            const cli_axis *like =
                *axis->name && !axis->is_sized ? sized_axis(e, axis->name) : NULL;

            if (like)
                *axis = *like;
        }
}

static int wrong_number(const cli_example *e, const cli_args *args, const cli_signature *s)
{
    return cli_misuse(args->verb, "%s takes %s%zu input%s, but %zu %s given", s->model,
                      s->n_needed < s->n ? "up to " : "", s->n, s->n == 1 ? "" : "s", e->n,
                      e->n == 1 ? "is" : "are");
}

/* Whether another entry is called, so that a model's own example, which is for forward, does not
 * apply. */
static bool is_of_another_entry(const cli_args *args)
{
    const char *entry = cli_value(args, "entry");

    return entry && strcmp(entry, "forward") != 0;
}

typedef struct naming {
    cli_example *example;
    size_t       n;
} naming;

static void keep_name(void *user, const char *name)
{
    naming *to = user;

    if (to->n < CLI_MAX_INPUTS)
        snprintf(to->example->names[to->n++], CLI_NAME_SIZE, "%s", name);
}

/* Arguments with the nesting of the example; their values are placeholders. */
static cq_status outline(cq_args **out, const cli_example *e)
{
    static cq_tensor *same[CLI_MAX_INPUTS];
    cq_tensor        *number = NULL;
    cq_status         status = cq_tensor_new(&number, CQ_DTYPE_I64, 0, NULL, &(int64_t){ 0 });

    *out = NULL;
    for (size_t i = 0; i < e->n; i++)
        same[i] = number;
    if (status == CQ_OK && e->structure)
        status = cq_args_from_json(out, e->structure, same, e->n);
    else if (status == CQ_OK)
        status = cq_args_new(out);
    for (size_t i = 0; i < e->n && status == CQ_OK && !e->structure; i++)
        status = cq_args_add_tensor(*out, number);
    cq_tensor_release(number);
    return status;
}

/* Names the inputs of a program after the parameters that they belong to. */
static int name_by_params(cli_example *e, const cli_signature *s)
{
    static const char *params[CLI_MAX_INPUTS];
    cq_status          status = CQ_OK;
    cq_args           *args   = NULL;

    for (size_t i = 0; i < s->n_params; i++)
        params[i] = s->params[i].is_hidden ? "" : s->params[i].name;
    if (s->n_params)
        status = outline(&args, e);
    if (s->n_params && status == CQ_OK)
        status = cq_args_each_name(args, params, s->n_params, keep_name, &(naming){ e, 0 });
    cq_args_free(args);
    for (size_t i = 0; i < s->n_params; i++)
        for (size_t k = 0; s->params[i].is_hidden && k < e->n; k++)
            if (strcmp(e->names[k], s->params[i].name) == 0)
                e->names[k][0] = '\0';
    return cli_result(status);
}

int cli_example_read(cli_example *e, const cli_args *args, const cli_signature *s)
{
    const char *folder = cli_value(args, "example");

    e->n         = 0;
    e->structure = NULL;
    memset(e->names, 0, sizeof e->names);
    if (folder && cli_has(args, "input"))
        return cli_misuse(args->verb, "--input and --example cannot be given together");
    CLI_TRY(folder ? read_folder(e, args, folder, s) : cli_values_read(e, args, s));
    if (e->n && (e->n < s->n_needed || e->n > s->n))
        return wrong_number(e, args, s);
    if (!folder || !e->structure) /* the export names inputs of an args.json */
        CLI_TRY(name_by_params(e, s));
    size_named_axes(e, s);
    share_sizes(e);
    if (e->n || e->structure || is_of_another_entry(args))
        return CLI_DONE;
    for (; e->n < s->n_own; e->n++)
        e->inputs[e->n] = s->own[e->n];
    return name_by_params(e, s);
}

/* Checks the sizes that are given for a file: sizes that are numbers must match. */
static int check_file(const cli_input *in, const cq_tensor *t)
{
    bool fits = !in->rank || in->rank == cq_tensor_rank(t);

    for (size_t i = 0; fits && i < in->rank; i++)
        fits = *in->axes[i].name || in->axes[i].size == cq_tensor_size(t, i);
    return fits ? CLI_DONE
                : cli_fail_with("", "the sizes of '%s' do not match those of --input", in->path);
}

int cli_example_load(cli_example *e)
{
    for (size_t i = 0; i < e->n; i++)
        e->tensors[i] = NULL;
    for (size_t i = 0; i < e->n; i++) {
        cq_status status;

        CLI_TRY(cli_input_check_size(&e->inputs[i], *e->names[i] ? e->names[i] : "an input"));
        status = cli_input_tensor(&e->tensors[i], &e->inputs[i], i);
        if (status == CQ_E_NO_MEMORY)
            return cli_fail_with("", "there is not enough memory for example input %zu", i);
        if (status != CQ_OK)
            return cli_fail();
        if (e->inputs[i].path && check_file(&e->inputs[i], e->tensors[i]) != CLI_DONE)
            return CLI_FAILED;
    }
    return CLI_DONE;
}

void cli_example_explain(const cli_example *e)
{
    for (size_t i = 0; i < e->n; i++)
        for (size_t k = 0; k < e->inputs[i].rank; k++) {
            const cli_axis *axis = &e->inputs[i].axes[k];

            if (*axis->name && !axis->is_sized && axis->size == CLI_DYNAMIC_EXAMPLE) {
                cli_note("%s is %d in the example, as its size was not given; %s=64 in --input "
                         "would make "
                         "it 64",
                         axis->name, CLI_DYNAMIC_EXAMPLE, axis->name);
                return;
            }
        }
}

void cli_example_clear(cli_example *e)
{
    for (size_t i = 0; i < e->n; i++) {
        cq_tensor_release(e->tensors[i]);
        e->tensors[i] = NULL;
    }
}
