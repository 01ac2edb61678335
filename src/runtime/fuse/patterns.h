/* Pattern matching for fusions, shared by the passes of optimize.c. */
#ifndef CQ_RUNTIME_FUSE_PATTERNS_H
#define CQ_RUNTIME_FUSE_PATTERNS_H

#include "runtime/fuse/build.h"

/* The tensor of a float32 constant; NULL for other values. v may be NULL. */
cq_tensor *cq_rt_constant(const cq_rt_node_value *v);

/* Input i if it is a float32 constant; otherwise NULL. */
cq_tensor *cq_rt_constant_of(const cq_rt_node_step *s, uint32_t i);

/* Whether s is a step of that ONNX operator that no pass has changed. s may be NULL. */
bool cq_rt_is_op(const cq_rt_node_step *s, const char *op);

/* Reads input i if it is a single constant number; otherwise returns false. */
bool cq_rt_number_of(double *out, const cq_rt_node_step *s, uint32_t i);

/* The index of v among the inputs of a step with two inputs; -1 if it is no input or the step has
 * another number of inputs. */
int cq_rt_place_of(const cq_rt_node_step *s, const cq_rt_node_value *v);

/* The only reader of v if it is that operator; otherwise NULL. v may be NULL. */
cq_rt_node_step *cq_rt_only_reader(const cq_rt_node_value *v, const char *op);

#endif
