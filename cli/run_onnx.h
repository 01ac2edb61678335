#ifndef CALQUE_CLI_RUN_ONNX_H
#define CALQUE_CLI_RUN_ONNX_H

#include "cli.h"
#include "input.h"

#include <calque/onnx.h>

/* What the model declares of an input, with 1 for sizes that it leaves open; its dtype is NONE when
 * it is not a tensor of numbers. */
void cli_declared_input(cli_input *out, const cq_onnx_model *model, size_t index);

/* Runs the ONNX model that is the first operand, and prints its outputs or writes them to folder,
 * which may be NULL. The exit code. */
int cli_run_onnx(const cli_args *args, const char *folder);

/* After a run: says how many outputs went to folder, if there is one. */
void cli_wrote_outputs(const cli_args *args, const char *folder, size_t n);

/* Whether --format asks for .npy files. */
bool cli_wants_npy(const cli_args *args);

#endif
