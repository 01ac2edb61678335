/* Running ONNX models, for `calque run`: outputs, values from the inside of the model, and a trace
 * of its nodes. Inputs are in onnx_inputs.c. */
#include "run_onnx.h"
#include "applies.h"
#include "json.h"
#include "load.h"
#include "model.h"
#include "onnx_inputs.h"
#include "show.h"

#include <calque/session.h>

#include <stdio.h>
#include <string.h>

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

static cq_status load_weights(void *model, cq_weights *weights, uint32_t flags)
{
    return cq_onnx_model_load_weights(model, weights, flags);
}

static int prepare(const cli_args *args)
{
    cq_session_options options;
    const char        *name;
    size_t             at = 0;
    cli_limits         limits;

    CLI_TRY(cli_check_kind(args, CLI_KIND_ONNX));
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
    if (cli_load_onnx(&job.model, args->operands[0]) != CQ_OK)
        return cli_fail();
    CLI_TRY(cli_weights(args, cli_weights_flags(args), load_weights, job.model));
    if (cq_session_prepare(&job.session, job.model, &options) != CQ_OK)
        return cli_fail();
    if (cq_session_n_outputs(job.session) > MAX_VALUES ||
        cq_session_n_inputs(job.session) > MAX_VALUES)
        return cli_fail_with("", "the model has more than %d inputs or outputs", MAX_VALUES);
    return CLI_DONE;
}

static int run_job(const cli_args *args, const char *folder)
{
    CLI_TRY(prepare(args));
    CLI_TRY(cli_onnx_inputs(job.inputs, args, job.model, job.session));
    CLI_TRY(cli_result(cq_session_run(job.session, NULL, job.inputs,
                                      cq_session_n_inputs(job.session), job.outputs)));
    CLI_TRY(give_outputs(folder, cli_wants_npy(args)));
    if (job.profile)
        CLI_TRY(cli_result(cq_profile_save(job.profile, cli_value(args, "profile"), job.session)));
    return CLI_DONE;
}

int cli_run_onnx(const cli_args *args, const char *folder, size_t *n_outputs)
{
    const int code = run_job(args, folder);

    *n_outputs = code == CLI_DONE ? cq_session_n_outputs(job.session) : 0;
    for (size_t i = 0; i < MAX_VALUES; i++) {
        cq_onnx_value_release(job.inputs[i]);
        cq_onnx_value_release(job.outputs[i]);
    }
    cq_session_free(job.session);
    cq_profile_free(job.profile);
    cq_onnx_model_free(job.model);
    return code;
}
