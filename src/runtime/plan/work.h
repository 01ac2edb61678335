/* What a node costs, in steps: about a tenth of a microsecond each. A run may take only so many.
 *
 * A node is charged three times: before its kernel is called for what its inputs say, when the
 * kernel makes an output for what it takes to fill it, and after it for outputs that it made
 * otherwise. So nothing large begins that the run cannot pay for. */
#ifndef CQ_RUNTIME_PLAN_WORK_H
#define CQ_RUNTIME_PLAN_WORK_H

#include "runtime/call.h"

enum { CQ_RT_NODE_STEPS = 8 }; /* of any node, and of any turn of a graph inside */

/* What is known of an operator's cost; never NULL. */
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

/* For what a run gives back: somebody reads all of it, and one tensor may be many outputs. */
cq_status cq_rt_spend_on_outputs(cq_rt_run *run, const cq_val *outputs, size_t n);

/* Of the weights, and the files that they lie in, and of these inputs. */
double cq_rt_bytes(const cq_onnx_model *m, const cq_val *inputs, size_t n_inputs);

/* What a run for so many bytes may take unless its options say otherwise. */
uint64_t cq_rt_default_steps(double bytes);

/* Work outside of loops follows from the sizes of the weights and inputs, not from the size of the
 * file alone: a convolution multiplies each weight with each position of the feature map. So many
 * products are free, and each step that they take allows for one of other work, such as
 * activations. Inputs that are made up allow for some, too. */
void cq_rt_allow_straight(cq_rt_run *run, double weight_bytes, const cq_val *inputs, size_t n);

/* Takes steps from what is left; refuses when there are too few. */
cq_status cq_rt_spend(cq_rt_run *run, uint64_t steps);

#endif
