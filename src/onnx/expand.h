/* Operators that are expressed by standard ones: those of com.microsoft that ONNX Runtime's
 * optimizer and quantizer write into files, and experimental operators of early exporters. A call
 * is expanded into a function, which Python code generates for the inputs and attributes of that
 * call (lib/onnx/microsoft.py, compose/compose.h). Therefore inference and runtime need no rules or
 * kernels for them. */
#ifndef CQ_ONNX_EXPAND_H
#define CQ_ONNX_EXPAND_H

#include "onnx/model.h"

/* *out is NULL for other operators. Functions are stored in *store, which is created on first use;
 * free it with cq_onnx_model_free, which accepts NULL. */
cq_status cq_onnx_expand(const cq_onnx_function **out, cq_onnx_model **store,
                         const cq_onnx_node *node, int64_t version);

#endif
