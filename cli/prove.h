/* `export --verify`: the source and its export, run side by side. */
#ifndef CALQUE_CLI_PROVE_H
#define CALQUE_CLI_PROVE_H

#include "example.h"
#include "export_options.h"
#include "model.h"

/* Runs both on the example, and, if the model has dynamic axes, on an example where each of them is
 * one larger; a model with state for several steps. CQ_OK when all outputs agree; the tolerances
 * are those of whole models (judge.h). */
cq_status cli_prove(cli_model *model, const cq_onnx_model *onnx, cli_example *example,
                    const cq_export_options *options);

/* What was compared: how many outputs, on how many sets of inputs, and the largest difference. */
typedef struct cli_proof {
    size_t n_outputs, n_runs;
    double largest;
    size_t n_steps; /* of a model with state; else 0 */
} cli_proof;

const cli_proof *cli_last_proof(void);

#endif
