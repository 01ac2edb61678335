/* Which node or module makes an export differ from its source. */
#ifndef CALQUE_CLI_BISECT_H
#define CALQUE_CLI_BISECT_H

#include "model.h"

/* What was compared. All is borrowed. */
typedef struct cli_compared {
    cli_model               *model;
    const cq_onnx_model     *onnx;
    const cli_example       *example;
    const cq_export_options *options;
    cq_tensor *const        *inputs; /* of the export, for the example */
    size_t                   n_inputs;
    cq_status (*compare)(cq_tensor *got, cq_tensor *wanted); /* CQ_E_TYPE: they differ */
} cli_compared;

/* Notes on standard error, and both results in numbers on standard output. It says nothing when
 * neither a node nor a module can be found: then the outputs are all there is to say. */
void cli_bisect(const cli_compared *compared);

#endif
