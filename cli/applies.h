/* Checks that options apply to the kind of the model. */
#ifndef CALQUE_CLI_APPLIES_H
#define CALQUE_CLI_APPLIES_H

#include "cli.h"

typedef enum cli_kind {
    CLI_KIND_BUILT_IN = 1 << 0,
    CLI_KIND_SCRIPT   = 1 << 1,
    CLI_KIND_PT2      = 1 << 2,
    CLI_KIND_ONNX     = 1 << 3,
    CLI_KIND_OTHER    = 1 << 4 /* a tensor, a state dict, an archive of several programs */
} cli_kind;

/* Prints an error if an option does not apply to the kind of the first operand. Returns the exit
 * code. */
int cli_check_kind(const cli_args *args, cli_kind kind);

/* The same for options that have no effect without another option. */
int cli_check_pairs(const cli_args *args);

#endif
