/* What inference knows of every value, for callers that want more than types in the model: the
 * elements of small integer tensors too. */
#ifndef CQ_ONNX_INFER_VALUES_H
#define CQ_ONNX_INFER_VALUES_H

#include "onnx/infer/rule.h"

/* Called for every named value of a graph, top graph first. v and its parts are valid during the
 * call. */
typedef cq_status (*cq_onnx_value_fn)(void *user, const cq_onnx_graph *graph, const cq_ivalue *v);

/* Infers without changing the model. */
cq_status cq_onnx_model_each_value(cq_onnx_model *m, cq_onnx_value_fn fn, void *user);

/* dim_text.c: `2*batch+1` becomes an expression again if it prints the same, else it is the
 * name of a symbol. */
cq_int cq_dim_parse(cq_symbols *symbols, const char *text);

#endif
