#ifndef CALQUE_CLI_RUN_ONNX_H
#define CALQUE_CLI_RUN_ONNX_H

#include "cli.h"

#include <calque/onnx.h>

/* Runs the ONNX model that is the first operand, and prints its outputs or writes them to folder,
 * which may be NULL. The exit code; *n_outputs is how many there are. */
int cli_run_onnx(const cli_args *args, const char *folder, size_t *n_outputs);

/* Whether --format selects .npy files. */
bool cli_wants_npy(const cli_args *args);

#endif
