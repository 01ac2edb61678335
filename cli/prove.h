/* `export --verify`: the source and its export, run side by side. */
#ifndef CALQUE_CLI_PROVE_H
#define CALQUE_CLI_PROVE_H

#include "example.h"
#include "export_options.h"
#include "model.h"

/* Runs both on the example and, if the model has dynamic axes, on an example where each of them is
 * one larger; a model with state for several steps. CQ_OK if all outputs agree; the tolerances are
 * those of whole models (judge.h). */
cq_status cli_prove(cli_model *model, const cq_onnx_model *onnx, cli_example *example,
                    const cq_export_options *options);

/* Formats the compared and skipped outputs for the success line: " 1 output verified on 2 input
 * sets (max |difference| 0), 1 output not compared (random)," */
void cli_describe_proof(char *out, size_t size);

#endif
