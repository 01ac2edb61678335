/* Inputs of ONNX models. The model declares dtypes and ranks, so a SPEC may omit both. An args.json
 * beside the files of an example is for programs and is ignored. */
#include "onnx_inputs.h"
#include "input.h"
#include "model.h"
#include "value.h"

#include <calque/system.h>

#include <stdio.h>
#include <string.h>

#define PATH_SIZE 4096

/* The inputs that are to be set. */
typedef struct target {
    cq_onnx_value      **inputs;
    const cq_onnx_model *model;
    const cq_session    *session;
} target;

/* The model's declaration of an input, with 1 for dynamic sizes; the dtype is NONE if it is not a
 * tensor of numbers. */
static cli_input declared_input(const target *t, size_t index)
{
    const int32_t rank = cq_onnx_model_value_rank(t->model, CQ_ONNX_INPUTS, index);
    cli_input     in   = { .dtype        = cq_onnx_model_value_dtype(t->model, CQ_ONNX_INPUTS, index),
                           .rank         = rank > 0 && rank <= CQ_MAX_RANK ? (size_t)rank : 0,
                           .has_any_rank = rank < 0,
                           .is_declared  = true };

    for (size_t k = 0; k < in.rank; k++) {
        int64_t size = cq_onnx_model_value_size(t->model, CQ_ONNX_INPUTS, index, k);

        in.axes[k].size = size < 0 ? 1 : size;
    }
    return in;
}

static const char *name_at(const void *session, size_t i)
{
    return i < cq_session_n_inputs(session) ? cq_session_input_name(session, i) : NULL;
}

/* Parses NAME=SPEC: finds the index of the input and the start of SPEC. The longest matching name
 * counts. Returns false if text does not begin with a name. */
static bool find_name(const target *t, size_t *index, const char **spec, const char *text)
{
    size_t longest = 0;

    for (size_t i = 0; i < cq_session_n_inputs(t->session); i++) {
        const char *name = cq_session_input_name(t->session, i);
        size_t      len  = strlen(name);

        if (len > longest && !strncmp(name, text, len) && text[len] == '=') {
            longest = len;
            *index  = i;
            *spec   = text + len + 1;
        }
    }
    return longest > 0;
}

/* The size that an --input gives to the axis of that name; the first one counts. */
static const cli_axis *sized_axis(const target *t, const cli_args *args, const char *name)
{
    static cli_input other;
    const char      *text, *spec;
    size_t           at = 0, index;

    while ((text = cli_next_value(args, "input", &at))) {
        spec = text;
        find_name(t, &index, &spec, text);
        for (size_t k = 0; !cli_input_parse(&other, spec) && k < other.rank; k++)
            if (other.axes[k].is_sized && !strcmp(other.axes[k].name, name))
                return &other.axes[k];
    }
    return NULL;
}

/* Sets named sizes to the value of the same size in another input or in the model. */
static void size_axes(cli_input *in, const target *t, const cli_args *args, const cli_input *own)
{
    for (size_t k = 0; k < in->rank; k++) {
        cli_axis       *axis = &in->axes[k];
        const cli_axis *like =
            *axis->name && !axis->is_sized ? sized_axis(t, args, axis->name) : NULL;

        if (like)
            *axis = *like;
        else if (*axis->name && !axis->is_sized && in->rank == own->rank && own->axes[k].size > 1)
            axis->size = own->axes[k].size;
    }
}

static cq_status make_value(const target *t, const cli_input *in, size_t index)
{
    cq_onnx_value **out    = &t->inputs[index];
    cq_tensor      *tensor = NULL;
    cq_status       status;

    if (in->path && cli_ends_with(in->path, ".pb"))
        return cq_onnx_value_load_for(out, in->path, t->model, CQ_ONNX_INPUTS, index);
    status = cli_input_tensor(&tensor, in, index);
    if (status == CQ_OK)
        status = cq_onnx_value_new_tensor(out, tensor);
    cq_tensor_release(tensor);
    return status;
}

static int make_given(const target *t, const cli_args *args, const char *spec, size_t index)
{
    const cli_input own = declared_input(t, index);
    cli_input       in;
    const char     *why = cli_input_parse_as(&in, spec, &own);

    if (why)
        return cli_misuse(args->verb, "--input %s: %s", spec, why);
    if (t->inputs[index])
        return cli_misuse(args->verb, "--input: %s is given twice",
                          cq_session_input_name(t->session, index));
    size_axes(&in, t, args, &own);
    return cli_result(make_value(t, &in, index));
}

static int too_many(const target *t, const cli_args *args)
{
    size_t n = cq_session_n_inputs(t->session), n_given = 0, at = 0;
    bool   some_optional =
        n && cq_session_input_is_optional(t->session, cq_session_input_at(t->session, n - 1));

    while (cli_next_value(args, "input", &at))
        n_given++;
    return cli_misuse(args->verb, "%s takes %s%zu input%s, but %zu %s given", args->operands[0],
                      some_optional ? "up to " : "", n, n == 1 ? "" : "s", n_given,
                      n_given == 1 ? "is" : "are");
}

/* Whether text begins with the name of a dynamic size of the model and a number: batch=2x3. */
static bool begins_with_axis(const target *t, const char *text)
{
    const size_t len = strcspn(text, "=");

    for (size_t i = 0; i < cq_session_n_inputs(t->session); i++) {
        const int32_t rank = cq_onnx_model_value_rank(t->model, CQ_ONNX_INPUTS, i);

        for (int32_t k = 0; k < rank; k++) {
            const char *name = cq_onnx_model_value_axis(t->model, CQ_ONNX_INPUTS, i, (size_t)k);

            if (name && strlen(name) == len && strncmp(name, text, len) == 0)
                return true;
        }
    }
    return false;
}

/* Assigns specs with a name first; the others are for the remaining inputs, in order. */
static int take_specs(const target *t, const cli_args *args)
{
    size_t      n = cq_session_n_inputs(t->session), position = 0, index, at = 0;
    const char *text, *spec;

    while ((text = cli_next_value(args, "input", &at))) {
        if (find_name(t, &index, &spec, text))
            CLI_TRY(make_given(t, args, spec, index));
        else if (!begins_with_axis(t, text))
            CLI_TRY(cli_check_input_name(args, text, cli_path_name(args->operands[0]), false,
                                         name_at, t->session));
    }
    at = 0;
    while ((text = cli_next_value(args, "input", &at))) {
        if (find_name(t, &index, &spec, text))
            continue;
        while (position < n && t->inputs[cq_session_input_at(t->session, position)])
            position++;
        if (position == n)
            return too_many(t, args);
        CLI_TRY(make_given(t, args, text, cq_session_input_at(t->session, position)));
    }
    return CLI_DONE;
}

/* Reads DIR/input_0.pb or .npy, DIR/input_1.pb, … until a file is missing. */
static int take_folder(const target *t, const cli_args *args, const char *folder)
{
    char   path[PATH_SIZE];
    size_t i = 0;

    if (strlen(folder) > PATH_SIZE - 32)
        return cli_misuse(args->verb, "--example: the path is too long");
    if (!cq_path_exists(folder))
        return cli_fail_with("", "the folder '%s' does not exist", folder);
    for (; i < cq_session_n_inputs(t->session); i++) {
        snprintf(path, sizeof path, "%s/input_%zu.pb", folder, i);
        if (!cq_path_exists(path))
            snprintf(path, sizeof path, "%s/input_%zu.npy", folder, i);
        if (!cq_path_exists(path))
            break;
        if (make_value(t, &(cli_input){ .path = path }, cq_session_input_at(t->session, i)) !=
            CQ_OK)
            return cli_fail();
    }
    if (i == 0 && cq_session_n_inputs(t->session))
        return cli_fail_with("", "'%s' has neither input_0.pb nor input_0.npy", folder);
    return CLI_DONE;
}

static int make_up(const target *t, size_t index)
{
    const cli_input own  = declared_input(t, index);
    const char     *name = cq_session_input_name(t->session, index);

    if (own.dtype == CQ_DTYPE_NONE)
        return cli_fail_with("give the inputs with --example DIR",
                             "input %s is not a tensor of numbers, so it cannot be generated",
                             name);
    CLI_TRY(cli_input_check_size(&own, name));
    return cli_result(make_value(t, &own, index));
}

/* Inputs with a default are optional. */
int cli_onnx_inputs(cq_onnx_value **inputs, const cli_args *args, const cq_onnx_model *model,
                    const cq_session *session)
{
    const target t      = { inputs, model, session };
    const char  *folder = cli_value(args, "example");
    bool         given  = folder || cli_has(args, "input");

    if (folder && cli_has(args, "input"))
        return cli_misuse(args->verb, "--input and --example cannot be given together");
    CLI_TRY(folder ? take_folder(&t, args, folder) : take_specs(&t, args));
    for (size_t i = 0; i < cq_session_n_inputs(session); i++) {
        if (inputs[i] || cq_session_input_is_optional(session, i))
            continue;
        CLI_TRY(given ? cli_misuse(args->verb, "missing input %s; give it with --input %s=SPEC",
                                   cq_session_input_name(session, i),
                                   cq_session_input_name(session, i))
                      : make_up(&t, i));
    }
    return CLI_DONE;
}
