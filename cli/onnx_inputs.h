/* The inputs of an ONNX model for verbs that run it: from --input or --example, otherwise random
 * numbers of the types that the model declares. */
#ifndef CALQUE_CLI_ONNX_INPUTS_H
#define CALQUE_CLI_ONNX_INPUTS_H

#include "cli.h"

#include <calque/session.h>

/* inputs has space for all inputs of the session, initialized to NULL; an input with a default may
 * stay NULL. Returns the exit code; prints the error. */
int cli_onnx_inputs(cq_onnx_value **inputs, const cli_args *args, const cq_onnx_model *model,
                    const cq_session *session);

#endif
