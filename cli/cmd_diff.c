/* calque diff: compares two ONNX models. */
#include "cli.h"
#include "json.h"
#include "load.h"
#include "model.h"
#include "tolerance.h"

#include <calque/onnx.h>

#include <math.h>
#include <stdio.h>

static void put_line(const cq_onnx_finding *f)
{
    cli_put_text(stdout, f->code);
    fputs(": ", stdout);
    cli_put_text(stdout, f->where);
    fputs(": ", stdout);
    cli_put_text(stdout, f->what);
    putchar('\n');
}

static void put_object(const cq_onnx_finding *f, bool first)
{
    fputs(first ? "\n  {\"code\": " : ",\n  {\"code\": ", stdout);
    cli_json_string(stdout, f->code);
    fputs(", \"where\": ", stdout);
    cli_json_string(stdout, f->where);
    fputs(", \"what\": ", stdout);
    cli_json_string(stdout, f->what);
    putchar('}');
}

static int compare(const cli_args *args, const cq_onnx_model *a, const cq_onnx_model *b,
                   double rtol, double atol)
{
    const bool        json     = cli_has(args, "json");
    cq_onnx_findings *findings = NULL;
    size_t            n;

    if (cq_onnx_model_diff(&findings, a, b, rtol, atol) != CQ_OK)
        return cli_fail();
    n = cq_onnx_findings_count(findings);
    if (json)
        putchar('[');
    for (size_t i = 0; i < n; i++) {
        const cq_onnx_finding *f = cq_onnx_findings_at(findings, i);

        if (json)
            put_object(f, i == 0);
        else
            put_line(f);
    }
    if (json)
        puts(n ? "\n]" : "]");
    cq_onnx_findings_free(findings);
    return n ? CLI_FAILED : CLI_DONE;
}

static int run(const cli_args *args)
{
    cq_onnx_model *a = NULL, *b = NULL;
    double         rtol = 0, atol = 0;
    int            code;

    CLI_TRY(cli_tolerance(&rtol, args, "rtol"));
    CLI_TRY(cli_tolerance(&atol, args, "atol"));
    if (cli_has(args, "no-weights"))
        atol = INFINITY;
    for (size_t i = 0; i < 2; i++)
        CLI_TRY(cli_need_onnx(args->operands[i]));
    code = cli_result(cli_load_onnx(&a, args->operands[0]));
    if (code == CLI_DONE)
        code = cli_result(cli_load_onnx(&b, args->operands[1]));
    if (code == CLI_DONE)
        code = compare(args, a, b, rtol, atol);
    cq_onnx_model_free(a);
    cq_onnx_model_free(b);
    return code;
}

static const cli_option options[] = {
    { "rtol", "X", "relative tolerance for weights (0)", 0 },
    { "atol", "X", "absolute tolerance for weights (0)", 0 },
    { "no-weights", NULL, "ignore the values of weights", 0 },
    { "json", NULL, "a JSON list of objects: code, where, what", 0 },
    { 0 },
};

const cli_verb cli_verb_diff = {
    .name     = "diff",
    .operands = "A.onnx B.onnx",
    .summary  = "compare two ONNX models, ignoring names",
    .about =
        "Prints the differences between two ONNX models, one per line, CODE: where: what, in\n"
        "the order of A. Names, documentation and the order of nodes and initializers are\n"
        "ignored; weights are compared by value, also if one model has external data. Silent if\n"
        "the models are equal; otherwise the exit code is 1.",
    .options      = options,
    .min_operands = 2,
    .max_operands = 2,
    .n_read       = 2,
    .run          = run,
};
