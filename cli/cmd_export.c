/* calque export: exports a model to ONNX. The front end of the model (model.c) does the work; this
 * file controls the steps. */
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

enum { MAX_TRIES = 4 /* attempts to save, if other programs create a file of the same name */ };

/* The output path: -o, or a file in the current folder named after the model. */
static const char *output_path(const cli_args *args, const cli_model *model)
{
    static char path[PATH_SIZE];
    const char *given = cli_value(args, "output");

    snprintf(path, sizeof path, "%s.onnx", model->name);
    return given ? given : path;
}

/* Warns about the suffix of another format, which is probably a mistake, although every file name
 * is accepted. Names of temporary files and copies have no such suffix. */
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

/* An export: the model and its example, the result, where it is written, and the report. */
typedef struct export
{
    cli_model      model;
    cli_example    example;
    cli_export     job;
    limits         from;
    cq_onnx_model *onnx;
    const char    *path, *report;
    char           data_path[PATH_SIZE];
    cli_report     about;
}
export;

/* Saves the model, its data and the report: all of them or none. */
static int save_all_once(const cli_args *args, export *m, int tries_left)
{
    int code;

    cq_outputs_begin();
    m->about.status = save(args, m->onnx, m->path, m->data_path, &m->from);
    cli_report_phase(CLI_PHASE_SAVE);
    code = cli_result_of_call(m->about.status);
    if (code == CLI_DONE && m->report)
        code = cli_report_write(&m->about, m->report);
    return cli_try_outputs(code, tries_left);
}

/* Tries again if another program creates a file of the same name. */
static int save_all(const cli_args *args, export *m)
{
    int code = CLI_FAILED;

    for (int left = MAX_TRIES; left-- > 0;) {
        code = save_all_once(args, m, left);
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

/* Opens the model and its example and reads the options. */
static int prepare(export *e, const cli_args *args)
{
    CLI_TRY(cli_open_with_example(args, cli_value(args, "names"), &e->model, &e->example));
    e->model.call.trace = cli_has(args, "trace");
    CLI_TRY(cli_export_read(&e->job, args, &e->model, &e->example));
    if (cli_has(args, "optional-inputs")) /* test-cases do not support omitted inputs */
        e->job.options.flags |= CQ_EXPORT_OPTIONAL_INPUTS;
    cli_report_phase(CLI_PHASE_LOAD);
    e->path   = output_path(args, &e->model);
    e->report = cli_value(args, "report");
    e->from   = (limits){ CQ_STRIP_THRESHOLD, 1024 };
    CLI_TRY(cli_number(args, "large-tensor-threshold", 0, INT64_MAX, &e->from.stripped));
    CLI_TRY(cli_number(args, "external-data-threshold", 0, INT64_MAX, &e->from.external));
    CLI_TRY(check_options(args, &e->job, e->path, e->report));
    warn_of_suffix(e->path);
    if (e->report && cq_export_report_new(&e->job.options.report) != CQ_OK)
        return cli_fail();
    e->about = (cli_report){ e->model.name, e->path, &e->job.options, CQ_OK };
    return CLI_DONE;
}

/* Checks the exported model, saves it and reports. about.status has the result of the export. */
static int finish(export *e, const cli_args *args)
{
    int misuse = CLI_DONE, code;

    cli_report_phase(CLI_PHASE_EXPORT);
    if (e->about.status == CQ_OK)
        misuse = cli_export_check_axes(&e->job, args, e->onnx);
    if (e->about.status == CQ_OK && !misuse && cli_has(args, "verify"))
        e->about.status = cli_prove(&e->model, e->onnx, &e->example, &e->job.options);
    cli_report_phase(CLI_PHASE_VERIFY);
    code = misuse ? misuse : cli_result_of_model(&e->model, e->about.status);
    if (code == CLI_DONE)
        code = save_all(args, e);
    if (code == CLI_DONE)
        say_success(args, e->onnx, e->path, e->data_path);
    if (e->about.status == CQ_E_TYPE || e->about.status == CQ_E_ARGUMENT)
        cli_example_explain(&e->example);
    if (e->report && e->about.status != CQ_OK)
        cli_report_write(&e->about, e->report);
    return code;
}

static int run(const cli_args *args)
{
    static export e; /* too large for a stack frame */
    int code;

    cli_report_begin();
    code = prepare(&e, args);
    if (code == CLI_DONE) {
        e.about.status = e.model.front_end->export_to(&e.onnx, &e.model, e.example.tensors,
                                                      e.example.n, &e.job.options);
        code           = finish(&e, args);
    }
    cq_onnx_model_free(e.onnx);
    cq_export_report_free(e.job.options.report);
    cli_close_with_example(&e.model, &e.example);
    return code;
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
