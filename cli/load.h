#ifndef CALQUE_CLI_LOAD_H
#define CALQUE_CLI_LOAD_H

#include <calque/onnx.h>

/* Reads an ONNX model; says so when its nodes are out of order, and puts them in order. `check`
 * reports that instead. */
cq_status cli_load_onnx(cq_onnx_model **out, const char *path);

#endif
