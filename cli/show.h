/* Tensors as text, for people. */
#ifndef CALQUE_CLI_SHOW_H
#define CALQUE_CLI_SHOW_H

#include <calque/session.h>
#include <calque/tensor.h>

/* Type and shape on a line, "float32[2,3]", then the values in brackets, a row a line. Of a large
 * tensor only the edges are shown. */
void cli_show_tensor(const cq_tensor *t);

/* One line: name, type and shape, least, greatest and mean value, the first few values. */
void cli_show_summary(const char *name, const cq_tensor *t);

/* Type and shape of a tensor of strings, and all of them, in row-major order, or the first few. */
void cli_show_strings(const cq_onnx_value *value, bool in_full);

#endif
