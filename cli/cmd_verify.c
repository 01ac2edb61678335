/* calque verify: replays folders of test data. */
#include "cli.h"
#include "json.h"
#include "tolerance.h"

#include <calque/session.h>
#include <calque/threads.h>

#include <stdio.h>
#include <stdlib.h>

/* Prints the message on one line. */
static void put_failure(const char *folder)
{
    const cq_error *error = cq_last_error();

    fputs("FAIL ", stdout);
    cli_put_text(stdout, folder);
    fputs(": ", stdout);
    cli_put_text(stdout, error->message);
    if (*error->where) {
        fputs(" (", stdout);
        cli_put_text(stdout, error->where);
        putchar(')');
    }
    if (*error->hint) {
        fputs("; ", stdout);
        cli_put_text(stdout, error->hint);
    }
    putchar('\n');
}

static void put_ok(const char *folder)
{
    fputs("ok ", stdout);
    cli_put_text(stdout, folder);
    putchar('\n');
}

static void put_object(const char *folder, bool ok, bool first)
{
    const cq_error *error = cq_last_error();

    fputs(first ? "\n  {\"folder\": " : ",\n  {\"folder\": ", stdout);
    cli_json_string(stdout, folder);
    printf(", \"ok\": %s, \"why\": ", ok ? "true" : "false");
    cli_json_string(stdout, ok ? "" : error->message);
    fputs(", \"where\": ", stdout);
    cli_json_string(stdout, ok ? "" : error->where);
    fputs(", \"hint\": ", stdout);
    cli_json_string(stdout, ok ? "" : error->hint);
    putchar('}');
}

static int run(const cli_args *args)
{
    double  rtol = 1e-3, atol = 1e-7;
    size_t  n_failed = 0;
    bool    json     = cli_has(args, "json");
    int64_t threads  = 0;

    CLI_TRY(cli_tolerance(&rtol, args, "rtol"));
    CLI_TRY(cli_tolerance(&atol, args, "atol"));
    CLI_TRY(cli_number(args, "threads", 1, 64, &threads));
    cq_set_threads((int)threads);
    if (json)
        putchar('[');
    for (size_t i = 0; i < args->n_operands; i++) {
        const char *folder = args->operands[i];

        bool ok = cq_onnx_verify(folder, cli_value(args, "model"), rtol, atol, NULL) == CQ_OK;

        n_failed += !ok;
        if (json)
            put_object(folder, ok, i == 0);
        else if (ok)
            put_ok(folder);
        else
            put_failure(folder);
    }
    if (json)
        puts("\n]");
    else
        printf("%zu passed, %zu failed\n", args->n_operands - n_failed, n_failed);
    return n_failed ? CLI_FAILED : CLI_DONE;
}

static const cli_option options[] = {
    { "model", "FILE", "the model to run, instead of DIR/model.onnx", 0 },
    { "rtol", "X", "relative tolerance (1e-3)", 0 },
    { "atol", "X", "absolute tolerance (1e-7)", 0 },
    { "json", NULL, "a JSON list of objects: folder, ok, why, where, hint", 0 },
    { "threads", "N", "number of threads (one per core)", 0 },
    { 0 },
};

const cli_verb cli_verb_verify = {
    .name     = "verify",
    .operands = "DIR…",
    .summary  = "run models on test data and compare",
    .about =
        "Runs DIR/model.onnx on the inputs of each DIR/test_data_set_N and compares the results\n"
        "with the outputs in the folder. Gradients of parameters, if there are any, are\n"
        "compared with finite differences. Prints `ok DIR` or `FAIL DIR: why` for each folder,\n"
        "then `N passed, M failed`.",
    .options      = options,
    .min_operands = 1,
    .max_operands = CLI_ANY_NUMBER,
    .run          = run,
};
