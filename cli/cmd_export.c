/* calque export: exports a model to ONNX. The front end of the model (model.c) does the work; this
 * file has the order of the steps. */
#include "cli.h"
#include "example.h"
#include "export_options.h"
#include "model.h"
#include "prove.h"
#include "report.h"

#include <calque/system.h>
#include <calque/testcase.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define PATH_SIZE 4096

enum { MAX_TRIES = 4 /* of saving, when another program creates a file of the same name */ };

/* The output path: -o, or a file in the current folder that is named after the model. */
static const char *output_path(const cli_args *args, const cli_model *model)
{
    static char path[PATH_SIZE];
    const char *given = cli_value(args, "output");

    snprintf(path, sizeof path, "%s.onnx", model->name);
    return given ? given : path;
}

/* Any file name is accepted, but the suffix of another format is probably a mistake. Names of
 * temporary files and copies have no such suffix. */
static void warn_of_suffix(const char *path)
{
    static const char *const fine[] = { "onnx", "tmp", "temp", "part", "new", "old", "bak", "bin" };
    const char              *name = cq_path_name(path), *dot = strrchr(name, '.');
    const cq_path_kind       kind = cq_path_look_up(path, NULL);

    if (!dot || dot == name || !isalpha((unsigned char)dot[1]) ||
        (kind != CQ_PATH_MISSING && kind != CQ_PATH_FILE))
        return;
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        if (cli_is_same_word(dot + 1, fine[i]))
            return;
    cli_warn_at(path, "the output is an ONNX model, whatever its name ends with; ONNX files are "
                      "named .onnx");
}

/* Size limits above which a tensor is stripped (in elements) or written to a separate file (in
 * bytes). */
typedef struct limits {
    int64_t stripped, external;
} limits;

/* Stripped tensors refer to external data that does not exist, so they are saved unchanged. */
static cq_status save(const cli_args *args, cq_onnx_model *onnx, const char *path,
                      char data_path[PATH_SIZE], const limits *from)
{
    cq_onnx_save_options options;
    cq_strip_options     strip;
    cq_status            status = CQ_OK;

    cq_onnx_save_options_init(&options);
    cq_strip_options_init(&strip);
    strip.threshold        = from->stripped;
    options.threshold      = (uint64_t)from->external;
    options.data_path      = data_path;
    options.data_path_size = PATH_SIZE;
    if (cli_has(args, "strip-large-tensor-data")) {
        options.flags |= CQ_ONNX_SAVE_AS_IS;
        status = cq_onnx_model_strip(onnx, &strip);
    } else if (cli_has(args, "external-data")) {
        options.flags |= CQ_ONNX_SAVE_EXTERNAL;
    }
    return status == CQ_OK ? cli_save_model(onnx, path, &options) : status;
}

static void say_success(const cli_args *args, const cq_onnx_model *onnx, const char *path,
                        const char *data_path)
{
    char     proved[256] = "", data[PATH_SIZE + 64] = "", size[32];
    uint64_t bytes;

    if (cli_has(args, "verify"))
        cli_describe_proof(proved, sizeof proved);
    if (*data_path && cq_path_look_up(data_path, &bytes) != CQ_PATH_MISSING) {
        cli_size_text(size, sizeof size, bytes);
        snprintf(data, sizeof data, " weights in %s (%s),", data_path, size);
    }
    cli_wrote(args, path, "%s %zu node%s,%s", data, cq_onnx_model_n_nodes(onnx),
              cq_onnx_model_n_nodes(onnx) == 1 ? "" : "s", proved);
}

/* The result of an export: the model, its path and the report. */
typedef struct made {
    cq_onnx_model *onnx;
    const char    *path, *report;
    char           data_path[PATH_SIZE];
    cli_report     about;
    int            misuse; /* the exit code if options do not apply to the exported model */
} made;

static cq_status make_model(const cli_args *args, cli_model *model, cli_example *example,
                            cli_export *job, made *m)
{
    cq_status status =
        model->front_end->export_to(&m->onnx, model, example->tensors, example->n, &job->options);

    cli_report_phase(CLI_PHASE_EXPORT);
    if (status == CQ_OK)
        m->misuse = cli_export_check_axes(job, args, m->onnx);
    if (status == CQ_OK && !m->misuse && cli_has(args, "verify"))
        status = cli_prove(model, m->onnx, example, &job->options);
    cli_report_phase(CLI_PHASE_VERIFY);
    return status;
}

/* The model, its data and the report: all of them or none. */
static int save_all_once(const cli_args *args, made *m, const limits *from)
{
    int code;

    cq_outputs_begin();
    m->about.status = save(args, m->onnx, m->path, m->data_path, from);
    cli_report_phase(CLI_PHASE_SAVE);
    code = cli_result_of_call(m->about.status);
    if (code == CLI_DONE && m->report)
        code = cli_report_write(&m->about, m->report);
    return cli_end_outputs(code);
}

/* Another program may create a file of the same name meanwhile. */
static int save_all(const cli_args *args, made *m, const limits *from)
{
    int code = CLI_FAILED;

    for (int i = 0; i < MAX_TRIES; i++) {
        code = save_all_once(args, m, from);
        if (code == CLI_DONE || !cq_outputs_collided())
            break;
    }
    return code;
}

static int check_options(const cli_args *args, const cli_export *job, const char *path,
                         const char *report)
{
    if (cli_has(args, "verify") &&
        (job->options.training != CQ_TRAINING_EVAL || (job->options.flags & CQ_EXPORT_NO_PARAMS)))
        return cli_misuse(args->verb, "--verify needs a model in eval mode, with its weights");
    CLI_TRY(cli_keep_inputs(args, path));
    if (report)
        CLI_TRY(cli_keep_inputs(args, report));
    if (cli_is_stdout(path) && cli_has(args, "external-data"))
        return cli_misuse(args->verb, "external data needs a file beside it, not -o -");
    if (cli_is_stdout(path) && cli_has(args, "verbose"))
        return cli_misuse(args->verb, "--verbose prints to standard output, where -o - writes");
    if (cli_has(args, "strip-large-tensor-data") && cli_has(args, "external-data"))
        return cli_misuse(args->verb,
                          "--strip-large-tensor-data and --external-data exclude each other");
    return CLI_DONE;
}

static int export_and_report(const cli_args *args, cli_model *model, cli_example *example,
                             cli_export *job)
{
    static made m;
    limits      from = { CQ_STRIP_THRESHOLD, 1024 };
    int         code;

    m.path   = output_path(args, model);
    m.report = cli_value(args, "report");
    CLI_TRY(cli_number(args, "large-tensor-threshold", 0, INT64_MAX, &from.stripped));
    CLI_TRY(cli_number(args, "external-data-threshold", 0, INT64_MAX, &from.external));
    CLI_TRY(check_options(args, job, m.path, m.report));
    warn_of_suffix(m.path);
    if (m.report && cq_export_report_new(&job->options.report) != CQ_OK)
        return cli_fail();
    m.about        = (cli_report){ model->name, m.path, &job->options, CQ_OK };
    m.about.status = make_model(args, model, example, job, &m);
    code           = m.misuse ? m.misuse : cli_result_of_model(model, m.about.status);
    if (code == CLI_DONE)
        code = save_all(args, &m, &from);
    if (code == CLI_DONE)
        say_success(args, m.onnx, m.path, m.data_path);
    if (m.about.status == CQ_E_TYPE || m.about.status == CQ_E_ARGUMENT)
        cli_example_explain(example);
    if (m.report && m.about.status != CQ_OK)
        cli_report_write(&m.about, m.report);
    cq_onnx_model_free(m.onnx);
    cq_export_report_free(job->options.report);
    return code;
}

static int export_example(const cli_args *args, cli_model *model, cli_example *example)
{
    static cli_export job; /* too large for a stack frame */

    model->call.trace = cli_has(args, "trace");
    CLI_TRY(cli_export_read(&job, args, model, example));
    if (cli_has(args, "optional-inputs")) /* no test-case can leave one out */
        job.options.flags |= CQ_EXPORT_OPTIONAL_INPUTS;
    cli_report_phase(CLI_PHASE_LOAD);
    return export_and_report(args, model, example, &job);
}

static int run(const cli_args *args)
{
    cli_report_begin();
    return cli_with_example(args, cli_value(args, "names"), export_example);
}

static const cli_option options[] = {
    { "output", "OUT", "the file to write (MODEL.onnx)", 'o' },
    CLI_EXAMPLE_OPTIONS,
    CLI_LIMIT_OPTIONS,
    CLI_EXPORT_OPTIONS,
    { "optional-inputs", NULL, "parameters declared as Optional[Tensor] become optional inputs",
      0 },
    { "external-data", NULL, "store weights in a file beside OUT, OUT.data", 0 },
    { "external-data-threshold", "BYTES", "minimum size of such weights (1024)", 0 },
    CLI_STRIP_OPTIONS,
    { "verify", NULL, "run the model and its export, and compare; on other dynamic sizes too", 0 },
    { "report", "OUT", "a report as JSON: operators, missing operators, warnings, times", 0 },
    { 0 },
};

const cli_verb cli_verb_export = {
    .name     = "export",
    .operands = "MODEL [-o OUT]",
    .summary  = "export a model to ONNX",
    .about =
        "Exports MODEL to ONNX: a program of torch.export (.pt2), a TorchScript archive,\n"
        "TorchScript or Python source, or a built-in model (calque zoo lists them). A .pt2\n"
        "contains its inputs and dynamic sizes; the others need an example. A size of --input\n"
        "may be a name: that axis is dynamic. Its size in the example is NAME=SIZE, or that of\n"
        "the model's own example, or 2. On failure no file is written, and an existing one is\n"
        "kept.",
    .options      = options,
    .groups       = cli_export_groups,
    .min_operands = 1,
    .max_operands = 1,
    .n_read       = 1,
    .run          = run,
};
