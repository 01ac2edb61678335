/* Everything that inference knows about a value, for callers that need more than the types in the
 * model: also the elements of small integer tensors. */
#ifndef CQ_ONNX_INFER_VALUES_H
#define CQ_ONNX_INFER_VALUES_H

#include "onnx/infer/rule.h"

/* Called for every named value of a graph, top graph first. v and its parts are valid during the
 * call. */
typedef cq_status (*cq_onnx_value_fn)(void *user, const cq_onnx_graph *graph, const cq_ivalue *v);

/* Infers without changing the model. */
cq_status cq_onnx_model_each_value(cq_onnx_model *m, cq_onnx_value_fn fn, void *user);

/* Inference that a caller takes part in: before each node of a graph it may replace what is known
 * of the node's inputs (r->inputs). Symbols and what the caller allocates from r->arena last as
 * long as the caller's arena. */
typedef struct cq_infer_guide {
    cq_symbols *symbols; /* made by the caller; a symbol that it has keeps its example */
    cq_status (*before)(void *user, cq_rule *r, cq_onnx_graph *graph);
    void *user;
} cq_infer_guide;

cq_status cq_onnx_model_infer_guided(cq_onnx_model *m, uint32_t flags, const cq_infer_guide *guide);

/* dim_text.c: `2*batch+1` becomes an expression again if it prints the same, else it is the
 * name of a symbol. */
cq_int cq_dim_parse(cq_symbols *symbols, const char *text);

#endif
