/* calque strip: removes the data of a model or tensor. calque unstrip, its inverse, is in this file
 * too. */
#include "cli.h"
#include "load.h"
#include "model.h"

#include <calque/testcase.h>

/* Stripping sorts the nodes silently; this note reports it. */
static int note_order(const char *path)
{
    cq_onnx_model *model = NULL;
    int            code  = cli_need_onnx(path);

    if (code == CLI_DONE && !cli_ends_with(path, ".pb"))
        code = cli_result(cli_load_onnx(&model, path));
    cq_onnx_model_free(model);
    return code;
}

static int run(const cli_args *args)
{
    const char      *out = cli_value(args, "output");
    cq_strip_options options;

    cq_strip_options_init(&options);
    out = out ? out : cli_value(args, "out_onnx_path");
    out = out ? out : cli_value(args, "out_path");
    if (out && cli_has(args, "in-place"))
        return cli_misuse(args->verb, "-o OUT and --in-place exclude each other");
    if (!out && cli_has(args, "in-place") && cli_is_stdin(args->operands[0]))
        return cli_misuse(args->verb, "--in-place requires a file, got standard input; use -o OUT");
    if (!out && !cli_has(args, "in-place"))
        return cli_misuse(args->verb, "-o OUT is missing: the file to write; --in-place replaces "
                                      "FILE and its weights");
    CLI_TRY(cli_number(args, "large-tensor-threshold", 0, INT64_MAX, &options.threshold));
    CLI_TRY(cli_number(args, "large_tensor_threshold", 0, INT64_MAX, &options.threshold));
    CLI_TRY(note_order(args->operands[0]));
    if (cli_has(args, "runnable"))
        options.flags |= CQ_STRIP_RUNNABLE;
    CLI_TRY(cli_result(cq_strip_file(args->operands[0], out, &options)));
    cli_wrote(args, out ? out : args->operands[0], "%s", "");
    return CLI_DONE;
}

static const cli_option options[] = {
    { "output", "OUT", "the file to write", 'o' },
    { "in-place", NULL, "replace FILE; its weights are lost", 0 },
    { "large-tensor-threshold", "N", "strip tensors with more than N elements (100)", 0 },
    { "runnable", NULL,
      "replace weights by nodes that compute similar ones, so that the model still runs", 0 },
    { "out_onnx_path", "OUT", NULL, 0 },
    { "out_path", "OUT", NULL, 0 },
    { "large_tensor_threshold", "N", NULL, 0 },
    { 0 },
};

const cli_verb cli_verb_strip = {
    .name     = "strip",
    .operands = "FILE -o OUT",
    .summary  = "remove the data of large tensors",
    .about =
        "Removes the data of the large initializers of an ONNX model, or of a tensor (.pb), and\n"
        "keeps their mean and variance, in the format of pytorch-pfn-extras. --runnable\n"
        "replaces float weights by nodes that compute a tensor of that type, shape, mean and\n"
        "variance; it needs opset 9 or newer. External data is unchanged.",
    .options      = options,
    .min_operands = 1,
    .max_operands = 1,
    .n_read       = 1,
    .run          = run,
};
