/* Operators that are written in terms of ONNX's own: those of com.microsoft that ONNX Runtime's
 * optimizer and quantizer leave in files, and experiments of early exporters. A call of one is
 * expanded into a function, made for the inputs and attributes of that call by Python
 * (lib/onnx/microsoft.py, compose/compose.h). Therefore inference and runtime need no rule or
 * kernel for it. */
#ifndef CQ_ONNX_EXPAND_H
#define CQ_ONNX_EXPAND_H

#include "onnx/model.h"

/* *out is NULL if the operator is not one of them. Functions are stored in *store, which is created
 * on first use; free it with cq_onnx_model_free, which takes NULL. */
cq_status cq_onnx_expand(const cq_onnx_function **out, cq_onnx_model **store,
                         const cq_onnx_node *node, int64_t version);

#endif
