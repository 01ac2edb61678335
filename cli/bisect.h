/* Finds the node or module that makes an export differ from its source. */
#ifndef CALQUE_CLI_BISECT_H
#define CALQUE_CLI_BISECT_H

#include "model.h"

/* The two sides of a comparison. All pointers are borrowed. */
typedef struct cli_compared {
    cli_model               *model;
    const cq_onnx_model     *onnx;
    const cli_example       *example;
    const cq_export_options *options;
    cq_tensor *const        *inputs; /* inputs of the export for the example */
    size_t                   n_inputs;
    cq_status (*compare)(cq_tensor *got, cq_tensor *wanted); /* returns CQ_E_TYPE if they differ */
} cli_compared;

/* Prints notes to standard error, and both results to standard output. Prints nothing if neither a
 * node nor a module is found. */
void cli_bisect(const cli_compared *compared);

#endif
