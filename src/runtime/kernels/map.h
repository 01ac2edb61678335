/* Applies a scalar function to every element, in double precision, for operators too rare to have a
 * dedicated loop. */
#ifndef CQ_RUNTIME_KERNELS_MAP_H
#define CQ_RUNTIME_KERNELS_MAP_H

#include "tensor/minifloat.h"
#include "tensor/tensor.h"

/* out may be x; both have the same shape. */
cq_status cq_rt_map(cq_tensor *out, const cq_tensor *x, double (*fn)(double x, const double *p),
                    const double *p);

/* Rounds x to the small float type of out. If saturates is set, larger values become the largest.
 * round is for powers of two only. */
cq_status cq_rt_map_to_minifloat(cq_tensor *out, const cq_tensor *x, bool saturates,
                                 cq_e8m0_round round);

#endif
