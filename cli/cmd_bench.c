/* calque bench: measures the run time of a model. */
#include "cli.h"
#include "example.h"
#include "json.h"
#include "load.h"
#include "model.h"
#include "onnx_inputs.h"

#include <calque/session.h>
#include <calque/system.h>
#include <calque/threads.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_INPUTS   = 1 << 16,
    MAX_OUTPUTS  = 1 << 16,
    MAX_RUNS     = 10000,
    LEAST_RUNS   = 10, /* minimum number of runs without --runs … */
    MOST_RUNS    = 1000,
    MAX_OP_TYPES = 256
};
#define ENOUGH_SECONDS  2.0 /* … which is increased until this time has passed */
#define WARM_UP_SECONDS 0.3

typedef struct op_time {
    char    name[64];
    int64_t nanoseconds;
    size_t  count;
} op_time;

static struct job {
    cq_onnx_model *model;
    cq_session    *session;
    cq_onnx_value *inputs[MAX_INPUTS], *outputs[MAX_OUTPUTS];
    double         runs[MAX_RUNS]; /* milliseconds */
    size_t         n_runs;
    double         flops;
    op_time        ops[MAX_OP_TYPES];
    size_t         n_ops;
} job;

/* If there are more operators than rows, the last row has the sum of the others. */
static void note_node(void *user, const char *node, const char *op_type, int64_t begin, int64_t end)
{
    size_t i = 0;

    (void)user, (void)node;
    while (i < job.n_ops && strncmp(job.ops[i].name, op_type, sizeof job.ops[i].name - 1) != 0)
        i++;
    if (i == MAX_OP_TYPES)
        i--;
    if (i == job.n_ops) {
        job.ops[job.n_ops++] = (op_time){ .nanoseconds = 0 };
        snprintf(job.ops[i].name, sizeof job.ops[i].name, "%s", op_type);
    }
    job.ops[i].nanoseconds += end - begin;
    job.ops[i].count++;
}

/* ---- preparation ---- */

static int prepare(const cli_args *args, bool by_operator)
{
    const char        *path = args->operands[0];
    cq_session_options options;
    cq_onnx_model     *copy = NULL; /* a copy, because counting FLOPs fixes its sizes */

    cq_session_options_init(&options);
    options.hook = by_operator ? note_node : NULL;
    if (cq_onnx_model_load(&copy, path) != CQ_OK ||
        cq_onnx_model_sort(&(bool){ false }, copy) != CQ_OK)
        return cli_fail();
    if (cq_onnx_model_count_flops(&job.flops, copy) != CQ_OK)
        job.flops = 0;
    cq_onnx_model_free(copy);
    if (cli_load_onnx(&job.model, path) != CQ_OK ||
        cq_session_prepare(&job.session, job.model, &options) != CQ_OK)
        return cli_fail();
    if (cq_session_n_inputs(job.session) > MAX_INPUTS ||
        cq_session_n_outputs(job.session) > MAX_OUTPUTS)
        return cli_fail_with("", "the model has more than %d inputs or outputs", MAX_INPUTS);
    return cli_onnx_inputs(job.inputs, args, job.model, job.session);
}

/* ---- measuring ---- */

static int run_once(double *milliseconds)
{
    size_t    n      = cq_session_n_outputs(job.session);
    double    begin  = cq_seconds();
    cq_status status = cq_session_run(job.session, NULL, job.inputs,
                                      cq_session_n_inputs(job.session), job.outputs);

    *milliseconds = (cq_seconds() - begin) * 1e3;
    for (size_t i = 0; status == CQ_OK && i < n; i++)
        cq_onnx_value_release(job.outputs[i]);
    return cli_result(status);
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static int measure(int64_t repeat)
{
    double begin = cq_seconds(), time;
    int    code;

    do
        code = run_once(&time);
    while (code == CLI_DONE && cq_seconds() - begin < WARM_UP_SECONDS);
    job.n_ops = 0;
    begin     = cq_seconds();
    while (code == CLI_DONE && job.n_runs < MAX_RUNS &&
           (repeat ? job.n_runs < (size_t)repeat
                   : job.n_runs < LEAST_RUNS ||
                         (job.n_runs < MOST_RUNS && cq_seconds() - begin < ENOUGH_SECONDS)))
        code = run_once(&job.runs[job.n_runs++]);
    qsort(job.runs, job.n_runs, sizeof *job.runs, compare_times);
    return code;
}

/* The time that this fraction of all runs does not exceed. */
static double percentile(double part)
{
    size_t i = (size_t)(part * (double)job.n_runs + 0.999999);

    return job.runs[i ? i - 1 : 0];
}

/* ---- output ---- */

static int compare_ops(const void *a, const void *b)
{
    int64_t x = ((const op_time *)a)->nanoseconds, y = ((const op_time *)b)->nanoseconds;

    return x > y ? -1 : x < y;
}

static void print_line(void)
{
    printf("min %.2f ms  median %.2f ms  p99 %.2f ms  GFLOP/s %.1f\n", job.runs[0], percentile(0.5),
           percentile(0.99), job.flops / job.runs[0] / 1e6);
}

static void print_operators(void)
{
    int64_t all = 1;

    for (size_t i = 0; i < job.n_ops; i++)
        all += job.ops[i].nanoseconds;
    for (size_t i = 0; i < job.n_ops; i++) {
        const op_time *op = &job.ops[i];

        printf("%8.3f ms %5.1f %% %6zu  ", (double)op->nanoseconds / 1e6 / (double)job.n_runs,
               100.0 * (double)op->nanoseconds / (double)all, op->count / job.n_runs);
        cli_put_text(stdout, op->name);
        putchar('\n');
    }
}

static void print_json(void)
{
    printf("{\"min_ms\": %.6g, \"median_ms\": %.6g, \"p90_ms\": %.6g, \"p99_ms\": %.6g, "
           "\"max_ms\": %.6g, \"runs\": %zu, \"flops\": %.0f, \"gflops\": %.6g, "
           "\"peak_bytes\": %" PRIu64 ", \"operators\": [",
           job.runs[0], percentile(0.5), percentile(0.9), percentile(0.99),
           job.runs[job.n_runs - 1], job.n_runs, job.flops, job.flops / job.runs[0] / 1e6,
           cq_session_peak_memory(job.session));
    for (size_t i = 0; i < job.n_ops; i++) {
        printf("%s\n  {\"op_type\": ", i ? "," : "");
        cli_json_string(stdout, job.ops[i].name);
        printf(", \"nodes\": %zu, \"ms\": %.6g}", job.ops[i].count / job.n_runs,
               (double)job.ops[i].nanoseconds / 1e6 / (double)job.n_runs);
    }
    puts(job.n_ops ? "\n]}" : "]}");
}

static int bench(const cli_args *args, int64_t repeat)
{
    const bool json = cli_has(args, "json"), by_operator = json || cli_has(args, "operators");

    CLI_TRY(prepare(args, by_operator));
    CLI_TRY(measure(repeat));
    qsort(job.ops, job.n_ops, sizeof *job.ops, compare_ops);
    if (json)
        print_json();
    else
        print_line();
    if (by_operator && !json)
        print_operators();
    return CLI_DONE;
}

static int run(const cli_args *args)
{
    int64_t threads = 0, repeat = 0;
    int     code;

    CLI_TRY(cli_number(args, "threads", 1, 64, &threads));
    CLI_TRY(cli_number(args, "repeat", 1, MAX_RUNS, &repeat));
    CLI_TRY(cli_need_onnx(args->operands[0]));
    cq_set_threads((int)threads);
    code = bench(args, repeat);
    for (size_t i = 0; i < MAX_INPUTS; i++)
        cq_onnx_value_release(job.inputs[i]);
    cq_session_free(job.session);
    cq_onnx_model_free(job.model);
    return code;
}

static const cli_option options[] = {
    CLI_INPUT_OPTIONS,
    { "threads", "N", "number of threads (one per core)", 0 },
    { "repeat", "N", "number of runs (about two seconds)", 0 },
    { "operators", NULL, "also the time that each kind of operator takes in a run", 0 },
    { "json", NULL, "a JSON object instead, with more percentiles", 0 },
    { 0 },
};

const cli_verb cli_verb_bench = {
    .name     = "bench",
    .operands = "FILE.onnx",
    .summary  = "measure the run time of an ONNX model",
    .about =
        "Runs FILE.onnx on --input, or on random numbers with 1 for dynamic sizes, and prints\n"
        "the time of a run after a warm-up: minimum, median, 99th percentile, and the GFLOP/s\n"
        "of convolutions and matrix products.",
    .options      = options,
    .min_operands = 1,
    .max_operands = 1,
    .n_read       = 1,
    .run          = run,
};
