/* calque profile: measures the time of a model by operator and by module. Models that are not ONNX
 * are exported first, in memory. */
#include "cli.h"
#include "example.h"
#include "export_options.h"
#include "json.h"
#include "load.h"
#include "model.h"
#include "onnx_inputs.h"

#include <calque/system.h>
#include <calque/threads.h>
#include <calque/view.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_VALUES = 1 << 16,
    MAX_RUNS   = 10000,
    LEAST_RUNS = 3, /* minimum number of runs without --repeat … */
    MOST_ROWS  = 20,
    BAR        = 24 /* columns of the longest bar */
};
#define ENOUGH_SECONDS 1.0 /* … which is increased until this time has passed */

static struct job {
    cq_onnx_model *model;
    cq_session    *session;
    cq_profile    *profile;
    cq_onnx_value *inputs[MAX_VALUES], *outputs[MAX_VALUES];
    size_t         n_runs;
    bool           is_recording;
} job;

/* ---- measuring ---- */

/* The first run is a warm-up: it packs weights and plans memory. */
static void note_node(void *user, const char *node, const char *op_type, int64_t begin, int64_t end)
{
    if (job.is_recording)
        cq_profile_note(user, node, op_type, begin, end);
}

static int prepare(void)
{
    cq_session_options options;

    cq_session_options_init(&options);
    if (cq_profile_new(&job.profile) != CQ_OK)
        return cli_fail();
    options.hook      = note_node;
    options.hook_user = job.profile;
    CLI_TRY(cli_result(cq_session_prepare(&job.session, job.model, &options)));
    if (cq_session_n_inputs(job.session) > MAX_VALUES ||
        cq_session_n_outputs(job.session) > MAX_VALUES)
        return cli_fail_with("", "the model has more than %d inputs or outputs", MAX_VALUES);
    return CLI_DONE;
}

static int run_once(void)
{
    const size_t n      = cq_session_n_outputs(job.session);
    cq_status    status = cq_session_run(job.session, NULL, job.inputs,
                                         cq_session_n_inputs(job.session), job.outputs);

    for (size_t i = 0; status == CQ_OK && i < n; i++)
        cq_onnx_value_release(job.outputs[i]);
    return cli_result(status);
}

static int measure(int64_t repeat)
{
    double begin;

    CLI_TRY(run_once());
    job.is_recording = true;
    begin            = cq_seconds();
    while (repeat ? job.n_runs < (size_t)repeat
                  : job.n_runs < LEAST_RUNS ||
                        (job.n_runs < MAX_RUNS && cq_seconds() - begin < ENOUGH_SECONDS)) {
        CLI_TRY(run_once());
        job.n_runs++;
    }
    return CLI_DONE;
}

/* ---- output ---- */

static void put_time(double seconds)
{
    if (seconds >= 1)
        printf("%8.2f s ", seconds);
    else if (seconds >= 1e-3)
        printf("%8.2f ms", seconds * 1e3);
    else
        printf("%8.2f us", seconds * 1e6);
}

static void put_bar(double part)
{
    const int n = (int)(part * BAR + 0.5);

    for (int i = 0; i < BAR; i++)
        fputs(i < n ? "█" : i ? " " : "▏", stdout);
    fputs("  ", stdout);
}

static void put_row(const cq_time_row *r, double seconds, double longest)
{
    put_time(r->seconds);
    printf("  %5.1f %%  %6" PRId64 "  ", 100 * r->seconds / seconds, r->count);
    if (r->flops > 0 && r->seconds > 0)
        printf("%8.1f  ", r->flops / r->seconds / 1e9);
    else
        printf("%8s  ", "");
    put_bar(r->seconds / longest);
    cli_put_text(stdout, r->name);
    putchar('\n');
}

/* Prints modules down to the level --depth. */
static void put_table(const cq_times *t, cq_time_kind kind, const char *title, int64_t depth)
{
    const double seconds = cq_times_seconds(t) > 0 ? cq_times_seconds(t) : 1e-30;
    double       longest = 0;
    size_t       shown = 0, hidden = 0;

    for (size_t i = 0; i < cq_times_count(t, kind); i++) {
        const cq_time_row *r = cq_times_at(t, kind, i);

        if (kind == CQ_TIME_MODULES && r->depth > depth)
            continue;
        if (shown == MOST_ROWS) {
            hidden++;
            continue;
        }
        if (!shown++) {
            longest = r->seconds > 0 ? r->seconds : 1e-30;
            printf("\n      time    share   steps   GFLOP/s  %*s%s\n", BAR + 2, "", title);
        }
        put_row(r, seconds, longest);
    }
    if (hidden)
        printf("%*sand %zu more\n", 39 + BAR + 2, "", hidden);
}

static void put_tables(const char *name, const cq_times *t, int64_t depth)
{
    const double seconds = cq_times_seconds(t);

    cli_put_text(stdout, name);
    printf(": %.2f ms a run, mean of %zu", seconds * 1e3, job.n_runs);
    if (cq_times_flops(t) > 0 && seconds > 0)
        printf("; %.2f GFLOP, %.1f GFLOP/s", cq_times_flops(t) / 1e9,
               cq_times_flops(t) / seconds / 1e9);
    putchar('\n');
    put_table(t, CQ_TIME_OPERATORS, "operator", depth);
    put_table(t, CQ_TIME_MODULES, "module", depth);
}

static void put_json(const cq_times *t)
{
    static const char *const names[] = { "operators", "modules", "nodes" };

    printf("{\"seconds\": %.9g, \"runs\": %zu, \"flops\": %.0f", cq_times_seconds(t), job.n_runs,
           cq_times_flops(t));
    for (int kind = CQ_TIME_OPERATORS; kind <= CQ_TIME_NODES; kind++) {
        printf(",\n \"%s\": [", names[kind]);
        for (size_t i = 0; i < cq_times_count(t, (cq_time_kind)kind); i++) {
            const cq_time_row *r = cq_times_at(t, (cq_time_kind)kind, i);

            fputs(i ? ",\n  {\"name\": " : "\n  {\"name\": ", stdout);
            cli_json_string(stdout, r->name);
            printf(", \"seconds\": %.9g, \"steps\": %" PRId64 ", \"flops\": %.0f}", r->seconds,
                   r->count, r->flops);
        }
        putchar(']');
    }
    puts("}");
}

static int tell(const cli_args *args)
{
    const char     *html = cli_value(args, "html"), *name;
    cq_view_options options;
    cq_times       *times = NULL;
    int64_t         depth = 1;
    int             code;

    CLI_TRY(cli_number(args, "depth", 1, 100, &depth));
    name = cq_path_name(cli_path_name(args->operands[0]));
    cq_view_options_init(&options);
    options.title    = name;
    options.trace    = job.profile;
    options.n_runs   = job.n_runs;
    options.inputs   = job.inputs;
    options.n_inputs = cq_session_n_inputs(job.session);
    cq_session_free(job.session); /* freed first, because counting FLOPs changes the model */
    job.session = NULL;
    CLI_TRY(cli_result(cq_times_new(&times, job.model, &options)));
    if (cli_has(args, "json"))
        put_json(times);
    else
        put_tables(name, times, depth);
    cq_times_free(times);
    if (!html)
        return CLI_DONE;
    cq_outputs_begin();
    code = cli_end_outputs(
        cli_result(cq_onnx_model_view_file(html, job.model, CQ_VIEW_HTML, &options)));
    if (code == CLI_DONE)
        cli_wrote(args, html, " %zu node%s,", cq_onnx_model_n_nodes(job.model),
                  cq_onnx_model_n_nodes(job.model) == 1 ? "" : "s");
    return code;
}

/* ---- the verb ---- */

static int profile_onnx(const cli_args *args, int64_t repeat)
{
    CLI_TRY(cli_result(cli_load_onnx(&job.model, args->operands[0])));
    CLI_TRY(prepare());
    CLI_TRY(cli_onnx_inputs(job.inputs, args, job.model, job.session));
    CLI_TRY(measure(repeat));
    return tell(args);
}

static int64_t runs_wanted;

/* Runs the exported model on the example. */
static int profile_example(const cli_args *args, cli_model *model, cli_example *example)
{
    static cli_export  export_job; /* both are too large for a stack frame */
    static cli_tensors flat;

    CLI_TRY(cli_export_read(&export_job, args, model, example));
    export_job.options.flags |= CQ_EXPORT_ORIGINS;
    CLI_TRY(
        cli_result_of_model(model, model->front_end->export_to(&job.model, model, example->tensors,
                                                               example->n, &export_job.options)));
    CLI_TRY(prepare());
    CLI_TRY(cli_result(model->front_end->flatten(model, example->tensors, example->n, &flat)));
    for (size_t i = 0; i < flat.n && i < cq_session_n_inputs(job.session); i++)
        CLI_TRY(cli_result(cq_onnx_value_new_tensor(&job.inputs[i], flat.items[i])));
    cli_tensors_clear(&flat);
    CLI_TRY(measure(runs_wanted));
    return tell(args);
}

static int run(const cli_args *args)
{
    int64_t threads = 0;
    int     code;

    CLI_TRY(cli_number(args, "threads", 1, 64, &threads));
    CLI_TRY(cli_number(args, "repeat", 1, MAX_RUNS, &runs_wanted));
    cq_set_threads((int)threads);
    code = cli_model_is_onnx(args->operands[0]) ? profile_onnx(args, runs_wanted)
                                                : cli_with_example(args, NULL, profile_example);
    for (size_t i = 0; i < MAX_VALUES; i++)
        cq_onnx_value_release(job.inputs[i]);
    cq_session_free(job.session);
    cq_profile_free(job.profile);
    cq_onnx_model_free(job.model);
    return code;
}

static const cli_option options[] = {
    { "html", "OUT", "also write the page of calque view, coloured by time", 0 },
    { "json", NULL, "a JSON object instead of tables, with the time of each node", 0 },
    { "depth", "N", "levels of modules that are shown (1)", 0 },
    { "threads", "N", "number of threads (one per core)", 0 },
    { "repeat", "N", "number of runs after a warm-up (as many as fit into about a second)", 0 },
    CLI_EXAMPLE_OPTIONS,
    CLI_LIMIT_OPTIONS,
    CLI_EXPORT_OPTIONS,
    { 0 },
};

const cli_verb cli_verb_profile = {
    .name     = "profile",
    .operands = "MODEL",
    .summary  = "where the time of a model goes, by operator and by module",
    .about =
        "Runs MODEL on --input, on its own example or on random numbers, and prints the time of\n"
        "one run by operator and by module: share, steps, GFLOP/s of convolutions and matrix\n"
        "products. Operators that run as one step have one row, Conv+Relu. MODEL is an ONNX\n"
        "model, or anything that calque export takes, with the same options.",
    .options      = options,
    .groups       = cli_export_groups,
    .min_operands = 1,
    .max_operands = 1,
    .n_read       = 1,
    .run          = run,
};
