/* Running ONNX models, for `calque run`: inputs by the types that the model declares, values from
 * its inside, and a trace of its nodes. */
#include "run_onnx.h"
#include "json.h"
#include "load.h"
#include "model.h"
#include "show.h"

#include <calque/session.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_VALUES (1 << 16) /* inputs; outputs and dumped values */
#define PATH_SIZE  4096

static struct job {
    cq_onnx_model *model;
    cq_session    *session;
    cq_onnx_value *inputs[MAX_VALUES], *outputs[MAX_VALUES];
    const char    *dumped[MAX_VALUES];
    size_t         n_dumped;
    cq_profile    *profile;
} job;

/* ---- inputs ---- */

void cli_declared_input(cli_input *out, const cq_onnx_model *model, size_t index)
{
    int32_t rank = cq_onnx_model_value_rank(model, CQ_ONNX_INPUTS, index);

    *out = (cli_input){ .dtype       = cq_onnx_model_value_dtype(model, CQ_ONNX_INPUTS, index),
                        .rank        = rank > 0 && rank <= CQ_MAX_RANK ? (size_t)rank : 0,
                        .is_declared = true };
    for (size_t k = 0; k < out->rank; k++) {
        int64_t size = cq_onnx_model_value_size(model, CQ_ONNX_INPUTS, index, k);

        out->axes[k].size = size < 0 ? 1 : size;
    }
}

/* NAME=SPEC gives the input of that name: which one, and where SPEC begins. Of names that begin
 * alike the longest counts. False: it names none. */
static bool find_name(size_t *index, const char **spec, const char *text)
{
    size_t longest = 0;

    for (size_t i = 0; i < cq_session_n_inputs(job.session); i++) {
        const char *name = cq_session_input_name(job.session, i);
        size_t      len  = strlen(name);

        if (len > longest && !strncmp(name, text, len) && text[len] == '=') {
            longest = len;
            *index  = i;
            *spec   = text + len + 1;
        }
    }
    return longest > 0;
}

/* The size that a --input gives the axis of that name; the first that does counts. */
static const cli_axis *sized_axis(const cli_args *args, const char *name)
{
    static cli_input other;
    const char      *text, *spec;
    size_t           at = 0, index;

    while ((text = cli_next_value(args, "input", &at))) {
        spec = text;
        find_name(&index, &spec, text);
        for (size_t k = 0; !cli_input_parse(&other, spec) && k < other.rank; k++)
            if (other.axes[k].is_sized && !strcmp(other.axes[k].name, name))
                return &other.axes[k];
    }
    return NULL;
}

/* Sizes that have a name and no number: as large as another input says, or the model. */
static void size_axes(cli_input *in, const cli_args *args, size_t index)
{
    cli_input own;

    cli_declared_input(&own, job.model, index);
    for (size_t k = 0; k < in->rank; k++) {
        cli_axis       *axis = &in->axes[k];
        const cli_axis *like = *axis->name && !axis->is_sized ? sized_axis(args, axis->name) : NULL;

        if (like)
            *axis = *like;
        else if (*axis->name && !axis->is_sized && in->rank == own.rank && own.axes[k].size > 1)
            axis->size = own.axes[k].size;
    }
}

static cq_status make_value(const cli_input *in, size_t index)
{
    cq_onnx_value **out    = &job.inputs[index];
    cq_tensor      *tensor = NULL;
    cq_status       status;

    if (in->path && cli_ends_with(in->path, ".pb"))
        return cq_onnx_value_load_for(out, in->path, job.model, CQ_ONNX_INPUTS, index);
    status = cli_input_tensor(&tensor, in, index);
    if (status == CQ_OK)
        status = cq_onnx_value_new_tensor(out, tensor);
    cq_tensor_release(tensor);
    return status;
}

static int make_given(const cli_args *args, const char *spec, size_t index)
{
    cli_input   in;
    const char *why = cli_input_parse(&in, spec);

    if (why)
        return cli_misuse(args->verb, "--input %s: %s", spec, why);
    if (job.inputs[index])
        return cli_misuse(args->verb, "--input: %s is given twice",
                          cq_session_input_name(job.session, index));
    size_axes(&in, args, index);
    return cli_result(make_value(&in, index));
}

static int too_many(const cli_args *args)
{
    size_t n = cq_session_n_inputs(job.session), n_given = 0, at = 0;

    while (cli_next_value(args, "input", &at))
        n_given++;
    return cli_misuse(
        args->verb, "%s takes %s%zu input%s, but %zu %s given", args->operands[0],
        cq_session_input_is_optional(job.session, cq_session_input_at(job.session, n - 1))
            ? "up to "
            : "",
        n, n == 1 ? "" : "s", n_given, n_given == 1 ? "is" : "are");
}

/* Those with a name first; the others are for the inputs that are left, in order. */
static int take_specs(const cli_args *args)
{
    size_t      n = cq_session_n_inputs(job.session), position = 0, index, at = 0;
    const char *text, *spec;
    int         code = CLI_DONE;

    while (code == CLI_DONE && (text = cli_next_value(args, "input", &at)))
        if (find_name(&index, &spec, text))
            code = make_given(args, spec, index);
    at = 0;
    while (code == CLI_DONE && (text = cli_next_value(args, "input", &at))) {
        if (find_name(&index, &spec, text))
            continue;
        while (position < n && job.inputs[cq_session_input_at(job.session, position)])
            position++;
        if (position == n)
            return too_many(args);
        code = make_given(args, text, cq_session_input_at(job.session, position));
    }
    return code;
}

/* DIR/input_0.pb or .npy, DIR/input_1.pb, … until there is none. */
static int take_folder(const cli_args *args, const char *folder)
{
    char   path[PATH_SIZE];
    size_t i = 0;

    if (strlen(folder) > PATH_SIZE - 32)
        return cli_misuse(args->verb, "--example: the path is too long");
    snprintf(path, sizeof path, "%s/args.json", folder);
    if (access(path, F_OK) == 0)
        return cli_fail_with("give the tensors alone, as input_0.pb, input_1.pb, …",
                             "%s says how arguments nest, but this model takes plain tensors",
                             path);
    for (; i < cq_session_n_inputs(job.session); i++) {
        snprintf(path, sizeof path, "%s/input_%zu.pb", folder, i);
        if (access(path, F_OK) != 0)
            snprintf(path, sizeof path, "%s/input_%zu.npy", folder, i);
        if (access(path, F_OK) != 0)
            break;
        if (make_value(&(cli_input){ .path = path }, cq_session_input_at(job.session, i)) != CQ_OK)
            return cli_fail();
    }
    if (i == 0)
        return cli_fail_with("", "'%s' has neither input_0.pb nor input_0.npy", folder);
    return CLI_DONE;
}

static int make_up(size_t index)
{
    cli_input own;

    cli_declared_input(&own, job.model, index);
    if (own.dtype == CQ_DTYPE_NONE)
        return cli_fail_with("give the inputs with --example DIR",
                             "input %s is not a tensor of numbers, so none can be made up",
                             cq_session_input_name(job.session, index));
    CLI_TRY(cli_input_check_size(&own, cq_session_input_name(job.session, index)));
    return cli_result(make_value(&own, index));
}

/* Inputs with a default are not asked for. */
static int make_inputs(const cli_args *args)
{
    const char *folder = cli_value(args, "example");
    bool        given  = folder || cli_has(args, "input");
    int         code   = CLI_DONE;

    if (folder && cli_has(args, "input"))
        return cli_misuse(args->verb, "--input and --example cannot be given together");
    code = folder ? take_folder(args, folder) : take_specs(args);
    for (size_t i = 0; i < cq_session_n_inputs(job.session) && code == CLI_DONE; i++) {
        if (job.inputs[i] || cq_session_input_is_optional(job.session, i))
            continue;
        code = given ? cli_misuse(args->verb, "input %s is not given; --input %s=SPEC would",
                                  cq_session_input_name(job.session, i),
                                  cq_session_input_name(job.session, i))
                     : make_up(i);
    }
    return code;
}

/* ---- outputs ---- */

static void show_value(const char *name, const cq_onnx_value *value)
{
    static const char *const kinds[] = { "nothing", "a tensor", "", "a sequence of", "a map of" };
    cq_tensor               *tensor  = cq_onnx_value_tensor(value);
    cq_onnx_kind_of_value    kind    = cq_onnx_value_kind(value);

    if (tensor) {
        cli_show_summary(name, tensor);
        return;
    }
    cli_put_text(stdout, name);
    printf("  %s", kinds[kind]);
    if (kind == CQ_ONNX_VALUE_STRINGS) {
        cli_show_strings(value, false);
        return;
    }
    if (kind != CQ_ONNX_VALUE_NONE)
        printf(" %zu", cq_onnx_value_count(value));
    putchar('\n');
}

/* A value of the inside is in a file of its name, but for slashes. */
static cq_status save_value(const char *folder, bool npy, size_t i, size_t n_own)
{
    const char *name = cq_session_output_name(job.session, i);
    char        path[PATH_SIZE];
    size_t      at;

    if (i < n_own && npy && cq_onnx_value_tensor(job.outputs[i])) {
        snprintf(path, sizeof path, "%s/output_%zu.npy", folder, i);
        return cq_tensor_save_npy(cq_onnx_value_tensor(job.outputs[i]), path);
    }
    if (i < n_own) {
        snprintf(path, sizeof path, "%s/output_%zu.pb", folder, i);
        return cq_onnx_value_save_for(job.outputs[i], path, job.model, CQ_ONNX_OUTPUTS, i);
    }
    at = (size_t)snprintf(path, sizeof path, "%s/", folder);
    if (at + strlen(name) + sizeof ".pb" > sizeof path || !cq_onnx_value_tensor(job.outputs[i]))
        return CQ_OK;
    snprintf(path + at, sizeof path - at, "%s.pb", name);
    for (char *c = path + at; *c; c++)
        *c = *c == '/' ? '_' : *c;
    return cq_tensor_save_pb(cq_onnx_value_tensor(job.outputs[i]), path, name);
}

static int give_outputs(const char *folder, bool npy)
{
    size_t n = cq_session_n_outputs(job.session), n_own = n - job.n_dumped;

    for (size_t i = 0; i < n; i++) {
        if (!folder)
            show_value(cq_session_output_name(job.session, i), job.outputs[i]);
        else if (save_value(folder, npy, i, n_own) != CQ_OK)
            return cli_fail();
    }
    return CLI_DONE;
}

/* ---- all of it ---- */

static int prepare(const cli_args *args)
{
    cq_session_options options;
    const char        *name;
    size_t             at = 0;
    cli_limits         limits;

    CLI_TRY(cli_limits_read(&limits, args));
    cq_session_options_init(&options);
    options.max_steps  = limits.steps;
    options.max_memory = limits.bytes;
    options.flags |= cli_has(args, "trap-nan") ? CQ_SESSION_TRAP_NAN : 0;
    options.flags |= cli_has(args, "no-constant-folding") ? CQ_SESSION_NO_FOLDING : 0;
    while ((name = cli_next_value(args, "dump", &at))) {
        if (job.n_dumped == MAX_VALUES)
            return cli_misuse(args->verb, "more than %d values to dump", MAX_VALUES);
        job.dumped[job.n_dumped++] = name;
    }
    options.fetch   = job.dumped;
    options.n_fetch = job.n_dumped;
    if (cli_has(args, "profile")) {
        if (cq_profile_new(&job.profile) != CQ_OK)
            return cli_fail();
        options.hook      = cq_profile_note;
        options.hook_user = job.profile;
    }
    if (cli_load_onnx(&job.model, args->operands[0]) != CQ_OK ||
        cq_session_prepare(&job.session, job.model, &options) != CQ_OK)
        return cli_fail();
    if (cq_session_n_outputs(job.session) > MAX_VALUES ||
        cq_session_n_inputs(job.session) > MAX_VALUES)
        return cli_fail_with("", "the model has more than %d inputs or outputs", MAX_VALUES);
    return CLI_DONE;
}

static int run_job(const cli_args *args, const char *folder)
{
    CLI_TRY(prepare(args));
    CLI_TRY(make_inputs(args));
    CLI_TRY(cli_result(cq_session_run(job.session, NULL, job.inputs,
                                      cq_session_n_inputs(job.session), job.outputs)));
    CLI_TRY(give_outputs(folder, cli_wants_npy(args)));
    if (job.profile)
        CLI_TRY(cli_result(cq_profile_save(job.profile, cli_value(args, "profile"), job.session)));
    cli_wrote_outputs(args, folder, cq_session_n_outputs(job.session));
    return CLI_DONE;
}

int cli_run_onnx(const cli_args *args, const char *folder)
{
    const int code = run_job(args, folder);

    for (size_t i = 0; i < MAX_VALUES; i++) {
        cq_onnx_value_release(job.inputs[i]);
        cq_onnx_value_release(job.outputs[i]);
    }
    cq_session_free(job.session);
    cq_profile_free(job.profile);
    cq_onnx_model_free(job.model);
    return code;
}
