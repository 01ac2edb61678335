/* Executing a plan. */
#ifndef CQ_RUNTIME_RUN_H
#define CQ_RUNTIME_RUN_H

#include "runtime/call.h"

/* Runs a plan on its inputs, which are borrowed; NONE is an omitted input. around is the frame of
 * the enclosing graph, for captures; NULL for a whole model. The caller releases the outputs; on
 * failure all are NONE. */
cq_status cq_rt_plan_run(cq_rt_run *run, const cq_rt_plan *plan, const cq_val *around,
                         const cq_val *inputs, cq_val *outputs);

/* Runs one step. in is borrowed, out is filled; on failure all of out are NONE. */
cq_status cq_rt_step_run(cq_rt_run *run, const cq_rt_step *step, const cq_val *frame,
                         const cq_val *in, cq_val *out);

/* texts.c: calls the kernel of a step whose inputs have tensors of strings. */
cq_status cq_rt_call_with_texts(cq_rt *rt);

/* check.c: checks the types of inputs against the step's schema. */
cq_status cq_rt_check_types(const cq_rt *rt);

/* check.c: fails if an output has a NaN or infinity and no input had. */
cq_status cq_rt_check_finite(const cq_rt *rt);

#endif
