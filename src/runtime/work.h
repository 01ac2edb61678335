/* What a node costs, in steps: about a tenth of a microsecond each. A run may take only so many. */
#ifndef CQ_RUNTIME_WORK_H
#define CQ_RUNTIME_WORK_H

#include "runtime/call.h"

enum { CQ_RT_NODE_STEPS = 8 }; /* of any node, and of any turn of a graph inside */

/* Before a kernel is called: what its inputs say. After it: what it made of them. */
uint64_t cq_rt_work_before(const cq_rt *rt);
uint64_t cq_rt_work_after(const cq_rt *rt);

/* What a run may take unless its options say otherwise, but for its inputs: a base, and so much for
 * each byte of the weights. */
uint64_t cq_rt_default_steps(const cq_onnx_model *m);
uint64_t cq_rt_steps_of_inputs(const cq_val *inputs, size_t n);

/* Takes steps from what is left; refuses when there are too few. */
cq_status cq_rt_spend(cq_rt_run *run, uint64_t steps);

#endif
