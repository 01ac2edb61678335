/* Layer normalisation that a model contains as separate steps; fuse/layers.c fuses them. Inputs are
 * x, and weight and bias of its last axis. */
#ifndef CQ_RUNTIME_KERNELS_NORM_H
#define CQ_RUNTIME_KERNELS_NORM_H

#include "runtime/call.h"

typedef struct cq_rt_layer_norm {
    double epsilon;
} cq_rt_layer_norm;

extern const cq_rt_row cq_rt_row_layer_norm;

#endif
