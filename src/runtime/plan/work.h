/* The cost of a node, in steps of about a tenth of a microsecond. A run has a limited number of
 * steps.
 *
 * A node is charged three times: before its kernel for its inputs, when the kernel allocates an
 * output, and afterwards for outputs that were made otherwise. So no expensive computation starts
 * that exceeds the limit. */
#ifndef CQ_RUNTIME_PLAN_WORK_H
#define CQ_RUNTIME_PLAN_WORK_H

#include "runtime/call.h"

enum { CQ_RT_NODE_STEPS = 8 }; /* of any node, and of any turn of a graph inside */

/* The cost of an operator; never NULL. */
const cq_rt_work *cq_rt_work_find(const char *op);
unsigned          cq_rt_work_factor(const cq_rt_work *work); /* of an element, in copies of one */

cq_status cq_rt_spend_before(cq_rt *rt);
cq_status cq_rt_spend_on_output(cq_rt *rt, size_t i, cq_dtype dtype, size_t rank,
                                const int64_t *sizes);
cq_status cq_rt_spend_after(cq_rt *rt);

/* For kernels that know better than the table: products of numbers of that type, and elements that
 * are read or written. */
cq_status cq_rt_spend_on_products(cq_rt *rt, double n, cq_dtype dtype);
cq_status cq_rt_spend_on_elements(cq_rt *rt, double n);

/* Charges for outputs of a run: the caller reads all of them, and one tensor may be many
 * outputs. */
cq_status cq_rt_spend_on_outputs(cq_rt_run *run, const cq_val *outputs, size_t n);

/* The bytes of the weights, of the files that contain them, and of these inputs. */
double cq_rt_bytes(const cq_onnx_model *m, const cq_val *inputs, size_t n_inputs);

/* The default limit of a run for a given number of bytes. */
uint64_t cq_rt_default_steps(double bytes);

/* Work outside of loops follows from the sizes of the weights and inputs, not from the size of the
 * file alone: a convolution multiplies each weight with each position of the feature map. So many
 * products are free, and each step that they take allows for one of other work, such as
 * activations. Inputs that are made up allow for some, too. */
void cq_rt_allow_straight(cq_rt_run *run, double weight_bytes, const cq_val *inputs, size_t n);

/* Charges steps; fails if too few are left. */
cq_status cq_rt_spend(cq_rt_run *run, uint64_t steps);

#endif
