/* calque cut: extracts a part of an ONNX model. */
#include "edit.h"
#include "names.h"

#include <calque/part.h>

#include <stdio.h>

static cq_status prove(const cli_edit *e, cq_proof *proof)
{
    return cq_onnx_prove_cut(proof, e->before, e->after, &e->proof);
}

static int cut(cli_edit *edit, const cli_args *args)
{
    static cli_names inputs, outputs;
    cq_cut_options   options;
    const size_t     n = cq_onnx_model_n_nodes(edit->after);

    cq_cut_options_init(&options);
    CLI_TRY(cli_names_read(&inputs, args, "inputs"));
    CLI_TRY(cli_names_read(&outputs, args, "outputs"));
    options.inputs    = inputs.items;
    options.n_inputs  = inputs.n;
    options.outputs   = outputs.items;
    options.n_outputs = outputs.n;
    options.module    = cli_value(args, "module");
    CLI_TRY(cli_result(cq_onnx_model_cut(edit->after, &options)));
    snprintf(edit->detail, sizeof edit->detail, "%zu of %zu nodes, %zu input%s, %zu output%s",
             cq_onnx_model_n_nodes(edit->after), n,
             cq_onnx_model_n_values(edit->after, CQ_ONNX_INPUTS),
             cq_onnx_model_n_values(edit->after, CQ_ONNX_INPUTS) == 1 ? "" : "s",
             cq_onnx_model_n_values(edit->after, CQ_ONNX_OUTPUTS),
             cq_onnx_model_n_values(edit->after, CQ_ONNX_OUTPUTS) == 1 ? "" : "s");
    return CLI_DONE;
}

static int run(const cli_args *args)
{
    static cli_edit edit;
    const bool      has_ends = cli_has(args, "inputs") || cli_has(args, "outputs");

    if (!has_ends && !cli_has(args, "module"))
        return cli_misuse(args->verb, "name the part: --inputs, --outputs or --module");
    if (has_ends && cli_has(args, "module"))
        return cli_misuse(args->verb, "--module and --inputs or --outputs exclude each other");
    CLI_TRY(cli_edit_open(&edit, args));
    edit.prove = prove;
    cli_edit_share_beside(&edit, args);
    return cli_edit_close(&edit, args, "cut", cut(&edit, args));
}

static const cli_option options[] = {
    CLI_EDIT_OPTIONS,
    CLI_COPY_OPTIONS,
    { "inputs", "NAMES", "values that become inputs (those of the model); repeatable", 0 },
    { "outputs", "NAMES", "values that become outputs (those of the model); repeatable", 0 },
    { "module", "NAME", "all nodes in the scope of a module: layer3, layer3.0.conv1", 0 },
    { 0 },
};

const cli_verb cli_verb_cut = {
    .name     = "cut",
    .operands = "FILE -o OUT",
    .summary  = "cut a part out of an ONNX model",
    .about =
        "Writes the part of the ONNX model FILE between the values --inputs and --outputs, or\n"
        "the nodes of a module by their names (/layer3/0/conv1/Conv). Types come from\n"
        "inference; weights are streamed. Both models are run, the part on the values that\n"
        "the whole model computes, and their results compared.",
    .options      = options,
    .min_operands = 1,
    .max_operands = 1,
    .n_read       = 1,
    .run          = run,
};
