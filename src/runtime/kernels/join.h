/* Concatenation of tensors. */
#ifndef CQ_RUNTIME_KERNELS_JOIN_H
#define CQ_RUNTIME_KERNELS_JOIN_H

#include "runtime/call.h"

/* Along an axis that they have, or along a new one (new_axis). Items must be tensors of one dtype
 * with matching sizes; others are an error. axis may be negative. */
cq_status cq_rt_join(cq_tensor **out, cq_rt *rt, const cq_val *items, size_t n, int64_t axis,
                     bool new_axis);

#endif
