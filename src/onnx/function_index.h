/* Index of a model's functions by name: a file may have as many functions as nodes that call
 * them. */
#ifndef CQ_ONNX_FUNCTION_INDEX_H
#define CQ_ONNX_FUNCTION_INDEX_H

#include "base/map.h"
#include "onnx/model.h"

/* The first of several functions with the same name counts. Clear out with cq_map_clear, also on
 * failure. */
cq_status cq_onnx_index_functions(cq_map *out, const cq_onnx_model *m);

/* *out is NULL if the function does not exist; a NULL name counts as "". */
cq_status cq_onnx_indexed_function(const cq_onnx_function **out, const cq_map *index,
                                   const char *domain, const char *name, const char *overload);

#endif
