/* The operations of element-wise operators, for passes that fuse several steps. */
#ifndef CQ_RUNTIME_KERNELS_ELEMENTWISE_H
#define CQ_RUNTIME_KERNELS_ELEMENTWISE_H

#include "runtime/call.h"

/* Describes the operation on float32. A binary operation with more inputs is applied from left to
 * right. Limits of a Clip that are inputs are not in params. */
typedef struct cq_rt_elementwise {
    cq_ew_op  op;
    cq_params params;
    bool      is_like_first; /* the result always has the shape of the first input */
} cq_rt_elementwise;

/* False if it is not an element-wise operator. */
bool cq_rt_elementwise_of(cq_rt_elementwise *out, const cq_rt_step *step);

/* The operation that computes x to this power, if the exponent is one number and such an operation
 * exists. */
bool cq_rt_power_is_simple(cq_ew_op *out, const cq_tensor *exponent);

#endif
