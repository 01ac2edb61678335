/* Applies a function of one number to every element, for operators too rare to have a dedicated
 * loop: everything is computed in double. */
#ifndef CQ_RUNTIME_KERNELS_MAP_H
#define CQ_RUNTIME_KERNELS_MAP_H

#include "tensor/minifloat.h"
#include "tensor/tensor.h"

/* out may be x, and has its shape. */
cq_status cq_rt_map(cq_tensor *out, const cq_tensor *x, double (*fn)(double x, const double *p),
                    const double *p);

/* x rounded to the small floats of out; saturates: larger values become the largest. round is for
 * powers of two only. */
cq_status cq_rt_map_to_minifloat(cq_tensor *out, const cq_tensor *x, bool saturates,
                                 cq_e8m0_round round);

#endif
