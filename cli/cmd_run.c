/* calque run: runs a model and prints its outputs. ONNX models are run by a session (run_onnx.c),
 * all others by their front end. */
#include "cli.h"
#include "example.h"
#include "model.h"
#include "run_onnx.h"
#include "show.h"

#include <calque/threads.h>

#include <stdio.h>
#include <string.h>

#define PATH_SIZE 4096

/* Outputs of a program have no names, so they are numbered. */
static const char *output_name(const cli_model *model, size_t i, char *buffer, size_t size)
{
    if (i < model->n_output_names)
        return model->output_names[i];
    snprintf(buffer, size, "output_%zu", i);
    return buffer;
}

static int give_outputs(const char *folder, bool npy, const cli_model *model,
                        cq_tensor *const *outputs, size_t n)
{
    cq_status status;
    char      path[PATH_SIZE], buffer[32];

    for (size_t i = 0; i < n; i++) {
        const char *name = output_name(model, i, buffer, sizeof buffer);

        if (!folder) {
            cli_show_summary(name, outputs[i]);
            continue;
        }
        snprintf(path, sizeof path, "%s/output_%zu.%s", folder, i, npy ? "npy" : "pb");
        status =
            npy ? cq_tensor_save_npy(outputs[i], path) : cq_tensor_save_pb(outputs[i], path, name);
        if (status != CQ_OK)
            return cli_fail();
    }
    return CLI_DONE;
}

static size_t n_outputs; /* number of outputs written */

static int run_eagerly(const cli_args *args, cli_model *model, cli_example *example)
{
    const char *folder                   = cli_value(args, "output");
    cq_tensor  *outputs[CLI_MAX_OUTPUTS] = { NULL };
    size_t      n                        = 0;
    int         code;

    if (cli_has(args, "no-constant-folding"))
        return cli_misuse(args->verb, "--no-constant-folding is for ONNX models, but %s is not one",
                          model->name);
    code = cli_result_of_model(
        model, model->front_end->run(model, example->tensors, example->n, NULL, outputs, &n));
    if (code == CLI_DONE)
        code = give_outputs(folder, cli_wants_npy(args), model, outputs, n);
    n_outputs = n;
    for (size_t i = 0; i < CLI_MAX_OUTPUTS; i++)
        cq_tensor_release(outputs[i]);
    return code;
}

bool cli_wants_npy(const cli_args *args)
{
    const char *format = cli_value(args, "format");

    return format && strcmp(format, "npy") == 0;
}

static int run(const cli_args *args)
{
    const char *format  = cli_value(args, "format");
    const char *folder  = cli_value(args, "output");
    int64_t     threads = 0;
    int         code    = CLI_DONE;

    CLI_TRY(cli_number(args, "threads", 1, 64, &threads));
    if (format && strcmp(format, "npy") && strcmp(format, "pb"))
        return cli_misuse(args->verb, "--format: expected pb or npy, got '%s'", format);
    if (format && !folder)
        return cli_misuse(args->verb, "--format requires -o DIR");
    if (!folder && cli_has(args, "profile") && cli_is_stdout(cli_value(args, "profile")))
        return cli_misuse(args->verb, "standard output is used for the outputs; with -o DIR "
                                      "--profile can be -");
    cq_set_threads((int)threads);
    cq_outputs_begin();
    if (folder)
        code = cli_result(cq_outputs_folder(folder));
    if (code == CLI_DONE)
        code = cli_model_is_onnx(args->operands[0]) ? cli_run_onnx(args, folder, &n_outputs)
                                                    : cli_with_example(args, NULL, run_eagerly);
    code = cli_end_outputs(code);
    if (code == CLI_DONE && folder)
        cli_wrote(args, folder, " %zu output%s,", n_outputs, n_outputs == 1 ? "" : "s");
    return code;
}

static const cli_option options[] = {
    { "output", "DIR", "write output_0.pb, output_1.pb, … to DIR instead", 'o' },
    { "format", "FORMAT", "of these files: pb or npy (pb)", 0 },
    CLI_EXAMPLE_OPTIONS,
    CLI_LIMIT_OPTIONS,
    { "dump", "NAME", "also an intermediate value of an ONNX model, repeatable", 0 },
    { "trap-nan", NULL, "fail at a node that computes NaN or infinity from finite numbers", 0 },
    { "no-constant-folding", NULL, "do not compute constants of an ONNX model before the run", 0 },
    { "threads", "N", "number of threads (one per core)", 0 },
    { "profile", "OUT", "times of the nodes of an ONNX model, as a trace for chrome://tracing", 0 },
    { 0 },
};

const cli_verb cli_verb_run = {
    .name     = "run",
    .operands = "MODEL",
    .summary  = "run a model and show its outputs",
    .about =
        "Runs MODEL, an ONNX model, a .pt2, TorchScript, or a built-in model (calque zoo lists\n"
        "them), and prints a summary of each output: type, range, first values. Without inputs\n"
        "it uses the example of the built-in model, or random numbers of the types that the\n"
        "ONNX model declares, with 1 for dynamic sizes. Weights of built-in models are random,\n"
        "the same each time.",
    .options      = options,
    .min_operands = 1,
    .max_operands = 1,
    .n_read       = 1,
    .run          = run,
};
