#ifndef CALQUE_CLI_RUN_ONNX_H
#define CALQUE_CLI_RUN_ONNX_H

#include "cli.h"

/* Runs the ONNX model that is the first operand, and prints its outputs or writes them to folder,
 * which may be NULL. The exit code. */
int cli_run_onnx(const cli_args *args, const char *folder);

#endif
