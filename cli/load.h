#ifndef CALQUE_CLI_LOAD_H
#define CALQUE_CLI_LOAD_H

#include <calque/onnx.h>

/* Reads an ONNX model. If its nodes are out of order, prints a note and sorts them; `check` reports
 * that as an error instead. */
cq_status cli_load_onnx(cq_onnx_model **out, const char *path);

#endif
