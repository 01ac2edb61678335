/* calque check: reports all violations in ONNX models, one finding per line. */
#include "cli.h"
#include "json.h"
#include "model.h"

#include <calque/onnx.h>

#include <stdio.h>

/* The output of findings. */
typedef struct check_report {
    bool   json, full;
    size_t n; /* number of findings in all files */
} check_report;

static void write_field(const char *name, const char *text)
{
    printf(", \"%s\": ", name);
    cli_json_string(stdout, text);
}

static void write_finding(check_report *report, const char *path, const cq_onnx_finding *f)
{
    if (report->json) {
        printf("%s\n  {\"file\": ", report->n ? "," : "");
        cli_json_string(stdout, path);
        write_field("code", f->code);
        write_field("where", f->where);
        write_field("what", f->what);
        write_field("hint", f->hint);
        write_field("severity", f->is_warning ? "warning" : "error");
        putchar('}');
        report->n++;
    } else {
        const char *const fields[] = { path, f->code, f->where, f->what };
        FILE             *out      = f->is_warning ? stderr : stdout;

        fputs(f->is_warning ? "warning: " : "", out);
        for (size_t i = 0; i < 4; i++) {
            fputs(i ? ": " : "", out);
            cli_put_path(out, fields[i]);
        }
        fputc('\n', out);
    }
}

/* The last failure of the library as a finding. */
static void write_failure(check_report *report, const char *path, const char *code)
{
    const cq_error       *error = cq_last_error();
    const cq_onnx_finding f     = { code, error->where, error->message, error->hint, false };

    write_finding(report, path, &f);
}

/* Checks the structure; then, with --full, types and shapes. The second check requires a sound
 * structure. */
static bool check_model(check_report *report, const char *path, cq_onnx_model *model)
{
    cq_onnx_findings *findings = NULL;
    size_t            n_errors = 0;

    if (cq_onnx_model_check(&findings, model) != CQ_OK) {
        cli_fail();
        return false;
    }
    for (size_t i = 0; i < cq_onnx_findings_count(findings); i++) {
        const cq_onnx_finding *f = cq_onnx_findings_at(findings, i);

        write_finding(report, path, f);
        n_errors += !f->is_warning;
    }
    cq_onnx_findings_free(findings);
    if (n_errors == 0 && report->full &&
        cq_onnx_model_infer(model, CQ_ONNX_INFER_STRICT | CQ_ONNX_INFER_CHECK_TYPES) != CQ_OK) {
        write_failure(report, path, "inference");
        n_errors = 1;
    }
    return n_errors == 0;
}

/* Whether the file is a valid model. A file that cannot be read is an error, but the others are
 * still checked; in JSON it is an entry of the list. */
static bool check_file(check_report *report, const char *path)
{
    cq_onnx_model *model = NULL;
    bool           ok    = false;

    if (!report->json && cli_need_onnx(path) != CLI_DONE)
        return false;
    if (cq_onnx_model_load(&model, path) == CQ_OK)
        ok = check_model(report, path, model);
    else if (report->json)
        write_failure(report, path, "unreadable");
    else
        cli_fail();
    cq_onnx_model_free(model);
    return ok;
}

static int run(const cli_args *args)
{
    check_report report = { .json = cli_has(args, "json"), .full = cli_has(args, "full") };
    int          code   = CLI_DONE;

    if (report.json)
        putchar('[');
    for (size_t i = 0; i < args->n_operands; i++)
        if (!check_file(&report, args->operands[i]))
            code = CLI_FAILED;
    if (report.json)
        puts(report.n ? "\n]" : "]");
    return code;
}

static const cli_option options[] = {
    { "full", NULL, "also check types and shapes", 0 },
    { "json", NULL, "a JSON list of objects: file, code, where, what, hint, severity", 0 },
    { 0 },
};

const cli_verb cli_verb_check = {
    .name     = "check",
    .operands = "FILE…",
    .summary  = "report all violations in ONNX models",
    .about = "Prints every violation of the rules of ONNX, one per line, FILE: CODE: where: what.\n"
             "Silent if all models are valid; otherwise the exit code is 1. Violations that\n"
             "onnx.checker 1.12 accepts are warnings on standard error.",
    .options      = options,
    .min_operands = 1,
    .max_operands = CLI_ANY_NUMBER,
    .n_read       = CLI_ANY_NUMBER,
    .run          = run,
};
