/* calque print: what is in a file, as text. */
#include "cli.h"
#include "input.h"
#include "show.h"

#include <calque/onnx.h>

#include <stdio.h>

static int print_model(const char *path)
{
    cq_onnx_model *model = NULL;
    char          *text  = NULL;
    cq_status      status;

    status = cq_onnx_model_load(&model, path);
    if (status == CQ_OK)
        status = cq_onnx_model_print(&text, model);
    if (status == CQ_OK)
        printf("%s\n", text);
    cq_buffer_free(text);
    cq_onnx_model_free(model);
    return cli_result(status);
}

static int print_tensor(const char *path)
{
    cq_tensor *tensor = NULL;

    if (cli_load_tensor(&tensor, path) != CQ_OK)
        return cli_fail();
    cli_show_tensor(tensor);
    cq_tensor_release(tensor);
    return CLI_DONE;
}

static int run(const cli_args *args)
{
    const char *path = args->operands[0];

    return cli_is_tensor_file(path) ? print_tensor(path) : print_model(path);
}

const cli_verb cli_verb_print = {
    .name         = "print",
    .operands     = "FILE",
    .summary      = "what is in a file: the listing of an ONNX model, or a tensor",
    .about        = "Prints FILE. For an ONNX model it is the listing of onnx.helper.printable_graph;\n"
                    "for a tensor (.pb, .npy) its type, its shape and its values.",
    .min_operands = 1,
    .max_operands = 1,
    .run          = run,
};
