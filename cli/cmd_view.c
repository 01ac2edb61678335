/* calque view: writes a model as an HTML page or a still picture. Models that are not ONNX are
 * exported first, in memory. */
#include "cli.h"
#include "example.h"
#include "export_options.h"
#include "load.h"
#include "model.h"
#include "onnx_inputs.h"

#include <calque/system.h>
#include <calque/view.h>

#include <stdio.h>
#include <string.h>

#define PATH_SIZE 4096

/* OUT, or a file in the current folder named after the model. */
static const char *output_path(const cli_args *args)
{
    static char path[PATH_SIZE];
    const char *given = cli_value(args, "output");

    snprintf(path, sizeof path, "%s.html", cli_model_name(args->operands[0]));
    return given ? given : path;
}

#define MAX_INPUTS 1024

/* The inputs of an ONNX model; FLOPs and memory are computed for their sizes. */
static struct {
    cq_onnx_value *values[MAX_INPUTS];
    size_t         n;
} sizes;

static int read_sizes(const cli_args *args, const cq_onnx_model *model)
{
    cq_session        *session = NULL;
    cq_session_options options;
    int                code;

    cq_session_options_init(&options);
    CLI_TRY(cli_result(cq_session_prepare(&session, model, &options)));
    sizes.n = cq_session_n_inputs(session);
    code    = sizes.n > MAX_INPUTS
                  ? cli_fail_with("", "the model has %zu inputs; --input takes up to %d", sizes.n,
                                  MAX_INPUTS)
                  : cli_onnx_inputs(sizes.values, args, model, session);
    cq_session_free(session);
    return code;
}

/* Writes the page, unless only a picture is requested. */
static int write_view(const cli_args *args, cq_onnx_model *model)
{
    const char     *svg = cli_value(args, "svg"), *diff = cli_value(args, "diff");
    const bool      has_page = cli_value(args, "output") || !svg;
    cq_view_options options;
    const char     *path = output_path(args);
    int             code = CLI_DONE;

    cq_view_options_init(&options);
    options.title   = cq_path_name(cli_path_name(args->operands[0]));
    options.profile = cli_value(args, "profile");
    options.report  = cli_value(args, "report");
    if (sizes.n) {
        options.inputs   = sizes.values;
        options.n_inputs = sizes.n;
    }
    if (diff) {
        CLI_TRY(cli_need_onnx(diff));
        CLI_TRY(cli_result(cli_load_onnx(&options.other, diff)));
        options.other_title = cq_path_name(cli_path_name(diff));
    }
    cq_outputs_begin();
    if (has_page)
        code = cli_result(cq_onnx_model_view_file(path, model, CQ_VIEW_HTML, &options));
    if (code == CLI_DONE && svg)
        code = cli_result(cq_onnx_model_view_file(svg, model, CQ_VIEW_SVG, &options));
    code = cli_end_outputs(code);
    cq_onnx_model_free(options.other);
    if (code == CLI_DONE)
        cli_wrote(args, has_page ? path : svg, " %zu node%s,", cq_onnx_model_n_nodes(model),
                  cq_onnx_model_n_nodes(model) == 1 ? "" : "s");
    if (code == CLI_DONE && cli_has(args, "open"))
        code = cli_result(cq_opener_open(has_page ? path : svg));
    return code;
}

/* Shows a file of weights without a model. */
static int view_weights(const cli_args *args)
{
    const char *svg      = cli_value(args, "svg");
    const bool  has_page = cli_value(args, "output") || !svg;
    const char *name = args->operands[0], *path = has_page ? output_path(args) : svg;
    cq_weights *weights = NULL;
    int         code    = cli_result(cq_weights_open(&weights, name));

    cq_outputs_begin();
    if (code == CLI_DONE && has_page)
        code = cli_result(
            cq_weights_view_file(path, weights, CQ_VIEW_HTML, cq_path_name(cli_path_name(name))));
    if (code == CLI_DONE && svg)
        code = cli_result(
            cq_weights_view_file(svg, weights, CQ_VIEW_SVG, cq_path_name(cli_path_name(name))));
    code = cli_end_outputs(code);
    if (code == CLI_DONE)
        cli_wrote(args, path, " %zu tensors,", cq_weights_count(weights));
    cq_weights_free(weights);
    return code == CLI_DONE && cli_has(args, "open") ? cli_result(cq_opener_open(path)) : code;
}

static int view_example(const cli_args *args, cli_model *model, cli_example *example)
{
    static cli_export job; /* too large for a stack frame */
    cq_onnx_model    *onnx = NULL;
    int               code;

    CLI_TRY(cli_export_read(&job, args, model, example));
    job.options.flags |= CQ_EXPORT_ORIGINS;
    code = cli_result_of_model(model, model->front_end->export_to(&onnx, model, example->tensors,
                                                                  example->n, &job.options));
    if (code == CLI_DONE)
        code = write_view(args, onnx);
    cq_onnx_model_free(onnx);
    return code;
}

static int run(const cli_args *args)
{
    cq_onnx_model *model = NULL;
    int            code;

    if (cq_is_weights_file(args->operands[0]))
        return view_weights(args);
    if (!cli_model_is_onnx(args->operands[0]))
        return cli_with_example(args, NULL, view_example);
    code = cli_result(cli_load_onnx(&model, args->operands[0]));
    if (code == CLI_DONE && (cli_has(args, "input") || cli_has(args, "example")))
        code = read_sizes(args, model);
    if (code == CLI_DONE)
        code = write_view(args, model);
    for (size_t i = 0; i < sizes.n; i++)
        cq_onnx_value_release(sizes.values[i]);
    cq_onnx_model_free(model);
    return code;
}

static const cli_option options[] = {
    { "output", "OUT", "the page to write (MODEL.html)", 'o' },
    { "open", NULL, "open the page in the browser", 0 },
    { "svg", "OUT", "write a still picture; without -o instead of the page", 0 },
    { "profile", "FILE", "colour the nodes by time: a file of calque run --profile", 0 },
    { "diff", "OTHER", "show another ONNX model beside it, and what differs", 0 },
    { "report", "FILE", "mark what could not be exported, or errors of quantization", 0 },
    CLI_EXAMPLE_OPTIONS,
    CLI_LIMIT_OPTIONS,
    CLI_EXPORT_OPTIONS,
    { 0 },
};

const cli_verb cli_verb_view = {
    .name     = "view",
    .operands = "MODEL [-o OUT]",
    .summary  = "show a model as a page in the browser",
    .about =
        "Writes MODEL as one HTML page that needs no network: modules as boxes that open, shapes,\n"
        "source lines, statistics of weights, FLOPs and memory. MODEL is an ONNX model, a "
        "checkpoint\n"
        "or anything that calque export takes, with the same options. FLOPs and memory of an ONNX\n"
        "model are those of the sizes of --input; without it dynamic sizes are 1. FILE of "
        "--report\n"
        "is of calque export --report or calque quantize --errors.",
    .options      = options,
    .groups       = cli_export_groups,
    .min_operands = 1,
    .max_operands = 1,
    .n_read       = 1,
    .run          = run,
};
