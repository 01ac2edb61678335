/* GELU that a model contains as separate steps; fuse/layers.c fuses them. */
#ifndef CQ_RUNTIME_KERNELS_GELU_H
#define CQ_RUNTIME_KERNELS_GELU_H

#include "runtime/call.h"

/* step->prepared points to one of these. */
extern const cq_ew_op  cq_rt_gelu_ops[2];
extern const cq_rt_row cq_rt_row_gelu;

#endif
