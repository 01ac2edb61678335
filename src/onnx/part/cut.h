/* Extracting the part of a model between named values (cut.c). module.c finds the values of a
 * module. */
#ifndef CQ_ONNX_PART_CUT_H
#define CQ_ONNX_PART_CUT_H

#include "base/map.h"
#include "onnx/model.h"

typedef CQ_VEC(const char *) cq_part_names;

/* The values that nodes in the scope of a module read from outside and that depend on inputs of the
 * model, and the values of the module that the rest of the model reads. Names belong to the model.
 * Clear both with cq_vec_clear, also on failure. */
cq_status cq_part_find_module(cq_part_names *inputs, cq_part_names *outputs, const cq_onnx_model *m,
                              const char *module);

/* Maps the outputs of all nodes of a graph to the index + 1 of their node. */
cq_status cq_part_index_makers(cq_map *out, const cq_onnx_graph *g);

#endif
