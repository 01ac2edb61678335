/* Concatenation of tensors. */
#ifndef CQ_RUNTIME_KERNELS_JOIN_H
#define CQ_RUNTIME_KERNELS_JOIN_H

#include "runtime/call.h"

/* Concatenates along an existing axis, or along a new one (new_axis). Fails unless items are
 * tensors of one dtype with matching sizes. axis may be negative. */
cq_status cq_rt_join(cq_tensor **out, cq_rt *rt, const cq_val *items, size_t n, int64_t axis,
                     bool new_axis);

#endif
