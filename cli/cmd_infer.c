/* calque infer: infers types and shapes of all values of an ONNX model. */
#include "cli.h"
#include "load.h"
#include "model.h"

#include <calque/onnx.h>

static int run(const cli_args *args)
{
    const char    *to    = cli_value(args, "output");
    cq_onnx_model *model = NULL;
    cq_status      status;

    if (!to)
        return cli_misuse(args->verb, "-o OUT is missing: the file to write");
    CLI_TRY(cli_need_onnx(args->operands[0]));
    status = cli_load_onnx(&model, args->operands[0]);
    if (status == CQ_OK)
        status = cq_onnx_model_infer(
            model, cli_has(args, "strict") ? CQ_ONNX_INFER_STRICT | CQ_ONNX_INFER_KNOWN_ONLY : 0);
    if (status == CQ_OK)
        status = cli_save_model(model, to, NULL);
    if (status == CQ_OK)
        cli_wrote(args, to, " %zu node%s,", cq_onnx_model_n_nodes(model),
                  cq_onnx_model_n_nodes(model) == 1 ? "" : "s");
    cq_onnx_model_free(model);
    return cli_result(status);
}

static const cli_option options[] = {
    { "output", "OUT", "the file to write", 'o' },
    { "strict", NULL, "fail on contradictory shapes and on operators that are unknown", 0 },
    { 0 },
};

const cli_verb cli_verb_infer = {
    .name     = "infer",
    .operands = "FILE -o OUT",
    .summary  = "infer types and shapes of an ONNX model",
    .about = "Infers types and shapes of all values of the ONNX model FILE, and writes it to OUT.\n"
             "Sizes may be names or expressions, 2*batch+1.",
    .options      = options,
    .min_operands = 1,
    .max_operands = 1,
    .n_read       = 1,
    .run          = run,
};
