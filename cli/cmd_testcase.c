/* calque testcase: exports a model with its inputs and outputs. */
#include "cli.h"
#include "example.h"
#include "export_options.h"
#include "model.h"

#include <calque/system.h>
#include <calque/testcase.h>

#include <stdio.h>
#include <string.h>

enum { MAX_TRIES = 4 };

/* The model and its example. A test-case has flat tensors, which may differ from the arguments of
 * the model. */
typedef struct source {
    cli_model         *model;
    const cli_example *example;
    cli_tensors        flat;
    const cli_args    *args;
    const cli_export  *job;
    int                misuse; /* exit code if options do not apply to the exported model */
} source;

static cq_status export_to(cq_onnx_model **out, void *user, cq_tensor *const *inputs,
                           size_t n_inputs, const cq_export_options *options)
{
    source   *s = user;
    cq_status status;

    (void)inputs, (void)n_inputs;
    status =
        s->model->front_end->export_to(out, s->model, s->example->tensors, s->example->n, options);
    if (status == CQ_OK)
        s->misuse = cli_export_check_axes(s->job, s->args, *out);
    return s->misuse ? CQ_E_ARGUMENT : status;
}

static cq_status run_model(void *user, cq_tensor *const *inputs, size_t n_inputs,
                           const cq_run_options *options, cq_tensor **outputs, size_t *n_outputs)
{
    const source *s = user;

    (void)inputs, (void)n_inputs;
    return s->model->front_end->run(s->model, s->example->tensors, s->example->n, options, outputs,
                                    n_outputs);
}

static cq_status write_flat(source *s, const char *folder, const cq_testcase_options *options)
{
    const cq_testcase_source from = { s, export_to, run_model };
    cq_status                status =
        s->model->front_end->flatten(s->model, s->example->tensors, s->example->n, &s->flat);

    if (status == CQ_OK)
        status = cq_testcase_write(folder, &from, s->flat.items, s->flat.n, options);
    cli_tensors_clear(&s->flat);
    return status;
}

/* Tries again if another program creates the folder. */
static int write_whole(cli_model *model, const cli_example *example, const cli_args *args,
                       const cli_export *job, const cq_testcase_options *options)
{
    static source from; /* too large for a stack frame */
    int           code = CLI_FAILED;

    for (int left = MAX_TRIES; left-- > 0;) {
        cq_status status;

        memset(&from, 0, sizeof from); /* a compound literal would be a copy on the stack */
        from.model   = model;
        from.example = example;
        from.args    = args;
        from.job     = job;
        cq_outputs_begin();
        status = write_flat(&from, args->operands[1], options);
        code =
            cli_try_outputs(from.misuse ? from.misuse : cli_result_of_model(model, status), left);
        if (code == CLI_DONE || !cq_outputs_collided())
            break;
    }
    return code;
}

static const struct {
    const char *option;
    uint32_t    flag;
} flags[] = {
    { "no-metadata", CQ_TESTCASE_NO_METADATA },
    { "keep-model", CQ_TESTCASE_KEEP_MODEL },
    { "strip-large-tensor-data", CQ_TESTCASE_STRIP },
    { "export-chrome-tracing", CQ_TESTCASE_TRACE },
    { "no-trace", CQ_TESTCASE_NO_TRACE },
    { "grad", CQ_TESTCASE_GRADIENTS },
};

/* The gradients of outputs from DIR/gradient_input_i.pb or .npy; outputs without a file get
 * ones. */
typedef struct seeds {
    cq_tensor *tensors[CLI_MAX_OUTPUTS];
    size_t     n;
} seeds;

static cq_status read_seeds(seeds *s, const char *folder)
{
    static const struct {
        const char *ending;
        cq_status (*load)(cq_tensor **out, const char *path);
    } kinds[] = { { "pb", cq_tensor_load_pb }, { "npy", cq_tensor_load_npy } };
    char path[4096];

    for (size_t i = 0; i < CLI_MAX_OUTPUTS; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0] && !s->tensors[i]; k++) {
            cq_status status;

            snprintf(path, sizeof path, "%s/gradient_input_%zu.%s", folder, i, kinds[k].ending);
            if (!cq_path_exists(path))
                continue;
            status = kinds[k].load(&s->tensors[i], path);
            if (status != CQ_OK)
                return status;
            s->n = i + 1;
        }
    return CQ_OK;
}

static void clear_seeds(seeds *s)
{
    for (size_t i = 0; i < s->n; i++)
        cq_tensor_release(s->tensors[i]);
}

/* Reads JSON, or the file of @FILE. */
static int read_user_meta(const char **out, const cli_args *args)
{
    static char text[1 << 20];
    size_t      len;

    *out = cli_value(args, "user-meta");
    if (!*out || **out != '@')
        return CLI_DONE;
    if (cli_read_text(*out + 1, text, sizeof text, &len) != CLI_DONE)
        return CLI_FAILED;
    *out = text;
    return CLI_DONE;
}

static int write_testcase(const cli_args *args, cli_model *model, const cli_example *example,
                          const cli_export *job)
{
    cq_testcase_options options;
    seeds               given = { .n = 0 };
    int                 code;

    cq_testcase_options_init(&options);
    options.export_options = &job->options;
    CLI_TRY(read_user_meta(&options.user_meta, args));
    if (cli_has(args, "export-torch-script"))
        options.torch_script = args->operands[0];
    if (cli_has(args, "export-torch-trace"))
        options.torch_trace = args->operands[0];
    if ((options.torch_script || options.torch_trace) && !cli_model_is_archive(args->operands[0]))
        return cli_misuse(args->verb,
                          "expected a TorchScript archive to write beside the model, got '%s'",
                          args->operands[0]);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        options.flags |= cli_has(args, flags[i].option) ? flags[i].flag : 0;
    CLI_TRY(cli_number(args, "large-tensor-threshold", 0, INT64_MAX, &options.threshold));
    if (cli_has(args, "grad-input") && !cli_has(args, "grad"))
        return cli_misuse(args->verb, "--grad-input requires --grad");
    if (cli_has(args, "grad-input") &&
        (code = cli_result(read_seeds(&given, cli_value(args, "grad-input")))))
        goto done;
    if (cli_has(args, "grad-input") && !given.n) {
        code = cli_fail_with("", "'%s' has no gradient_input_0.pb", cli_value(args, "grad-input"));
        goto done;
    }
    options.output_gradients   = given.tensors;
    options.n_output_gradients = given.n;
    code                       = write_whole(model, example, args, job, &options);
done:
    clear_seeds(&given);
    return code;
}

static void say_success(const cli_args *args, const char *path)
{
    cq_onnx_model *onnx = NULL;
    uint64_t       bytes;
    char           size[32] = "";

    if (cq_path_look_up(path, &bytes) != CQ_PATH_MISSING)
        cli_size_text(size, sizeof size, bytes);
    if (cq_onnx_model_load(&onnx, path) == CQ_OK)
        cli_wrote(args, args->operands[1], " a model of %s, %zu node%s,", size,
                  cq_onnx_model_n_nodes(onnx), cq_onnx_model_n_nodes(onnx) == 1 ? "" : "s");
    cq_onnx_model_free(onnx);
}

static int write_example(const cli_args *args, cli_model *model, cli_example *example)
{
    static cli_export job; /* too large for a stack frame */
    char              path[4096];

    /* As in pytorch-pfn-extras, inputs of a test-case are called input_0, … unless they are
     * named. */
    memset(example->names, 0, sizeof example->names);
    model->call.trace = cli_has(args, "trace");
    CLI_TRY(cli_export_read(&job, args, model, example));
    snprintf(path, sizeof path, "%s/model.onnx", args->operands[1]);
    CLI_TRY(cli_keep_inputs(args, path));
    CLI_TRY(write_testcase(args, model, example, &job));
    say_success(args, path);
    return CLI_DONE;
}

static int run(const cli_args *args)
{
    return cli_with_example(args, cli_value(args, "names"), write_example);
}

static const cli_option options[] = {
    { "keep-model", NULL, "keep an existing model.onnx, add the next test_data_set_N", 0 },
    CLI_STRIP_OPTIONS,
    { "grad", NULL, "also gradients of the parameters: gradient_i.pb, gradient_input_i.pb", 0 },
    { "grad-input", "DIR", "gradients of the outputs, DIR/gradient_input_i.pb (ones)", 0 },
    { "no-metadata", NULL, "no meta.json", 0 },
    { "user-meta", "JSON", "an object to add to meta.json, or @FILE", 0 },
    { "export-torch-script", NULL, "also write the archive as model_script.pt", 0 },
    { "export-torch-trace", NULL, "also write the archive as model_trace.pt", 0 },
    { "export-chrome-tracing", NULL, "export_trace.json.gz, the duration of each step", 0 },
    { "no-trace", NULL, "no export_trace.json.gz (the default)", 0 },
    CLI_EXAMPLE_OPTIONS,
    CLI_LIMIT_OPTIONS,
    CLI_EXPORT_OPTIONS,
    { 0 },
};

const cli_verb cli_verb_testcase = {
    .name     = "testcase",
    .operands = "MODEL OUTDIR",
    .summary  = "export a model with inputs and outputs",
    .about =
        "Writes OUTDIR/model.onnx, meta.json, and test_data_set_N with the inputs (input_0.pb,\n"
        "…) and the outputs of MODEL (output_0.pb, …); with --grad also the gradients of its\n"
        "parameters (gradient_0.pb, …, by name) and of its outputs (gradient_input_0.pb, …).\n"
        "calque verify OUTDIR replays it. MODEL and its options are as for calque export.",
    .options      = options,
    .groups       = cli_export_groups,
    .min_operands = 2,
    .max_operands = 2,
    .n_read       = 1,
    .run          = run,
};
