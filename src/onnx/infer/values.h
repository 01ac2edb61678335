/* All facts that inference has about a value, for callers that need more than the types in the
 * model, such as the elements of small integer tensors. */
#ifndef CQ_ONNX_INFER_VALUES_H
#define CQ_ONNX_INFER_VALUES_H

#include "onnx/infer/rule.h"

/* Called for every named value of a graph, starting with the main graph. v and its parts are valid
 * during the call. */
typedef cq_status (*cq_onnx_value_fn)(void *user, const cq_onnx_graph *graph, const cq_ivalue *v);

/* Infers without changing the model. */
cq_status cq_onnx_model_each_value(cq_onnx_model *m, cq_onnx_value_fn fn, void *user);

/* Inference with a guide: before each node of a graph the caller may replace the facts about the
 * node's inputs (r->inputs). Symbols and memory from r->arena live as long as the caller's
 * arena. */
typedef struct cq_infer_guide {
    cq_symbols *symbols; /* created by the caller; existing symbols keep their example */
    cq_status (*before)(void *user, cq_rule *r, cq_onnx_graph *graph);
    void *user;
} cq_infer_guide;

cq_status cq_onnx_model_infer_guided(cq_onnx_model *m, uint32_t flags, const cq_infer_guide *guide);

/* dim_text.c: converts `2*batch+1` back to an expression if its print is identical; otherwise the
 * text is the name of a symbol. */
cq_int cq_dim_parse(cq_symbols *symbols, const char *text);

#endif
