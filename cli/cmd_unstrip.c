/* calque unstrip: fills tensors whose data was removed by calque strip, or pytorch-pfn-extras, with
 * random numbers. */
#include "cli.h"
#include "model.h"

#include <calque/testcase.h>

static int run(const cli_args *args)
{
    const char *out  = cli_value(args, "output");
    int64_t     seed = 0;

    CLI_TRY(cli_number(args, "seed", 0, INT64_MAX, &seed));
    out = out ? out : cli_value(args, "out_path");
    out = out ? out : cli_value(args, "out_onnx_path");
    if (!out && cli_is_stdin(args->operands[0]))
        return cli_misuse(args->verb, "-o OUT is missing: the file to write");
    CLI_TRY(cli_need_onnx(args->operands[0]));
    CLI_TRY(cli_result(cq_unstrip(args->operands[0], out, (uint64_t)seed)));
    cli_wrote(args, out ? out : args->operands[0], "%s", "");
    return CLI_DONE;
}

static const cli_option options[] = {
    { "output", "OUT", "the file or folder to write (FILE or DIR itself)", 'o' },
    { "seed", "N", "of the random numbers (0)", 0 },
    { "out_path", "OUT", NULL, 0 },
    { "out_onnx_path", "OUT", NULL, 0 },
    { 0 },
};

const cli_verb cli_verb_unstrip = {
    .name     = "unstrip",
    .operands = "FILE|DIR [-o OUT]",
    .summary  = "fill stripped tensors with random numbers",
    .about =
        "Fills tensors that were stripped by calque or pytorch-pfn-extras with random numbers\n"
        "of the original mean and variance: in an ONNX model, in a tensor (.pb), or in all\n"
        "files of a test case DIR, whose meta.json is updated.",
    .options      = options,
    .min_operands = 1,
    .max_operands = 1,
    .n_read       = 1,
    .fills        = true,
    .run          = run,
};
