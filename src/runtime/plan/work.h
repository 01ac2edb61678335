/* The cost of a node, in steps of about a tenth of a microsecond. A run has a limited number of
 * steps. A node is charged three times: before its kernel runs for its inputs, when the kernel
 * allocates an output, and afterwards for outputs that were allocated otherwise. So a computation
 * that exceeds the limit does not start. */
#ifndef CQ_RUNTIME_PLAN_WORK_H
#define CQ_RUNTIME_PLAN_WORK_H

#include "runtime/call.h"

enum { CQ_RT_NODE_STEPS = 8 }; /* of each node, and of each iteration of a subgraph */

/* The cost of an operator; never NULL. */
const cq_rt_work *cq_rt_work_find(const char *op);
unsigned          cq_rt_work_factor(const cq_rt_work *work); /* cost of an element, in copies of an
                                                              * element */

cq_status cq_rt_spend_before(cq_rt *rt);
cq_status cq_rt_spend_on_output(cq_rt *rt, size_t i, cq_dtype dtype, size_t rank,
                                const int64_t *sizes);
cq_status cq_rt_spend_after(cq_rt *rt);

/* Called by kernels whose cost differs from the table: charges products of numbers of that type,
 * and elements that are read or written. */
cq_status cq_rt_spend_on_products(cq_rt *rt, double n, cq_dtype dtype);
cq_status cq_rt_spend_on_elements(cq_rt *rt, double n);

/* Charges for the outputs of a run: the caller reads all of them, and several outputs may be the
 * same tensor. */
cq_status cq_rt_spend_on_outputs(cq_rt_run *run, const cq_val *outputs, size_t n);

/* The number of bytes of the weights, of the files that contain them, and of these inputs. */
double cq_rt_bytes(const cq_onnx_model *m, const cq_val *inputs, size_t n_inputs);

/* The default step limit of a run for a given number of bytes. */
uint64_t cq_rt_default_steps(double bytes);

/* Grants steps for work outside of loops. That work depends on the sizes of the weights and inputs,
 * not only on the size of the file: a convolution multiplies each weight with each position of the
 * feature map. So that many products are free, and each step that they take grants another step for
 * other work, such as activations. Synthetic inputs also grant some steps. */
void cq_rt_allow_straight(cq_rt_run *run, double weight_bytes, const cq_val *inputs, size_t n);

/* Charges steps; fails if too few are left. */
cq_status cq_rt_spend(cq_rt_run *run, uint64_t steps);

#endif
