/* calque export: a model carried over to ONNX. What the model is made of is the business of its
 * front end (model.c); this file is the order of the steps. */
#include "cli.h"
#include "example.h"
#include "export_options.h"
#include "model.h"
#include "prove.h"
#include "report.h"

#include <calque/testcase.h>

#include <stdio.h>
#include <string.h>

#define PATH_SIZE 4096

/* Where the model goes: -o, or a file in this folder that is named after the model. */
static const char *output_path(const cli_args *args, const cli_model *model)
{
    static char path[PATH_SIZE];
    const char *given = cli_value(args, "output");

    snprintf(path, sizeof path, "%s.onnx", model->name);
    return given ? given : path;
}

/* How large a tensor is that leaves the model: to be stripped, in elements, or for a file beside
 * it, in bytes. */
typedef struct limits {
    int64_t stripped, external;
} limits;

/* What was stripped is external data that is nowhere: saved as it is. */
static cq_status save(const cli_args *args, cq_onnx_model *onnx, const char *path,
                      const limits *from)
{
    cq_onnx_save_options options;
    cq_strip_options     strip;
    cq_status            status = CQ_OK;

    cq_onnx_save_options_init(&options);
    cq_strip_options_init(&strip);
    strip.threshold   = from->stripped;
    options.threshold = (uint64_t)from->external;
    if (cli_has(args, "strip-large-tensor-data")) {
        options.flags |= CQ_ONNX_SAVE_AS_IS;
        status = cq_onnx_model_strip(onnx, &strip);
    } else if (cli_has(args, "external-data")) {
        options.flags |= CQ_ONNX_SAVE_EXTERNAL;
    }
    return status == CQ_OK ? cli_save_model(onnx, path, &options) : status;
}

static void say_success(const cli_args *args, const cq_onnx_model *onnx, const char *path)
{
    const cli_proof *proof       = cli_last_proof();
    char             proved[128] = "";

    if (cli_has(args, "verify") && proof->n_steps)
        snprintf(proved, sizeof proved,
                 " %zu output%s verified over %zu steps (max |difference| %.2g),", proof->n_outputs,
                 proof->n_outputs == 1 ? "" : "s", proof->n_steps, proof->largest);
    else if (cli_has(args, "verify"))
        snprintf(proved, sizeof proved,
                 " %zu output%s verified on %zu input set%s (max |difference| %.2g),",
                 proof->n_outputs, proof->n_outputs == 1 ? "" : "s", proof->n_runs,
                 proof->n_runs == 1 ? "" : "s", proof->largest);
    cli_wrote(args, path, " %zu node%s,%s", cq_onnx_model_n_nodes(onnx),
              cq_onnx_model_n_nodes(onnx) == 1 ? "" : "s", proved);
}

/* Export and save; what came of it goes into the report, if one is wanted. */
static cq_status export_model(const cli_args *args, cli_model *model, cli_example *example,
                              cli_export *job, const char *path, const limits *from)
{
    cq_onnx_model *onnx = NULL;
    cq_status      status =
        model->front_end->export_to(&onnx, model, example->tensors, example->n, &job->options);

    cli_report_phase(CLI_PHASE_EXPORT);
    if (status == CQ_OK && cli_has(args, "verify"))
        status = cli_prove(model, onnx, example, &job->options);
    cli_report_phase(CLI_PHASE_VERIFY);
    if (status == CQ_OK)
        status = save(args, onnx, path, from);
    cli_report_phase(CLI_PHASE_SAVE);
    if (status == CQ_OK)
        say_success(args, onnx, path);
    cq_onnx_model_free(onnx);
    return status;
}

static int export_and_report(const cli_args *args, cli_model *model, cli_example *example,
                             cli_export *job)
{
    const char *report = cli_value(args, "report");
    const char *path   = output_path(args, model);
    limits      from   = { CQ_STRIP_THRESHOLD, 1024 };
    cq_status   status;
    int         code, report_code = CLI_DONE;

    if (cli_has(args, "verify") &&
        (job->options.training != CQ_TRAINING_EVAL || (job->options.flags & CQ_EXPORT_NO_PARAMS)))
        return cli_misuse(args->verb, "--verify needs a model in eval mode, with its weights");
    CLI_TRY(cli_number(args, "large-tensor-threshold", 0, INT64_MAX, &from.stripped));
    CLI_TRY(cli_number(args, "external-data-threshold", 0, INT64_MAX, &from.external));
    CLI_TRY(cli_keep_inputs(args, path));
    if (report)
        CLI_TRY(cli_keep_inputs(args, report));
    if (cli_is_stdout(path) && cli_has(args, "external-data"))
        return cli_misuse(args->verb, "external data needs a file beside it, not -o -");
    if (cli_is_stdout(path) && cli_has(args, "verbose"))
        return cli_misuse(args->verb, "--verbose prints to standard output, where -o - writes");
    if (cli_has(args, "strip-large-tensor-data") && cli_has(args, "external-data"))
        return cli_misuse(args->verb, "what is stripped has no external data");
    if (report && cq_export_report_new(&job->options.report) != CQ_OK)
        return cli_fail();
    status = export_model(args, model, example, job, path, &from);
    code   = cli_result_of_call(status);
    if (status == CQ_E_TYPE || status == CQ_E_ARGUMENT)
        cli_example_explain(example);
    if (report)
        report_code =
            cli_report_write(&(cli_report){ model->name, path, &job->options, status }, report);
    cq_export_report_free(job->options.report);
    return code ? code : report_code;
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
    { "optional-inputs", NULL,
      "what TorchScript declares as Optional[Tensor] is an input that a run may leave out", 0 },
    { "external-data", NULL, "weights into a file beside OUT, OUT.data", 0 },
    { "external-data-threshold", "BYTES", "of weights that are at least this large (1024)", 0 },
    CLI_STRIP_OPTIONS,
    { "verify", NULL, "run the model and its export, and compare; on other dynamic sizes too", 0 },
    { "report", "OUT", "what came of it, as JSON: operators, what is missing, warnings, times", 0 },
    { 0 },
};

const cli_verb cli_verb_export = {
    .name     = "export",
    .operands = "MODEL [-o OUT]",
    .summary  = "carry a model over to ONNX",
    .about =
        "Exports MODEL to ONNX: a program of torch.export (.pt2), a TorchScript archive,\n"
        "TorchScript source, or the name of a built-in model (calque zoo lists them). A .pt2\n"
        "knows its inputs and dynamic sizes; the others are given an example. A size of --input\n"
        "may be a name: then that axis is dynamic; in the example it is as large as NAME=SIZE\n"
        "says, or as in the model's own example, or 2. On failure no file is written, and an\n"
        "existing one is kept.",
    .options      = options,
    .min_operands = 1,
    .max_operands = 1,
    .n_read       = 1,
    .run          = run,
};
