/* The arguments of a pooling, for the operators and their gradients. */
#ifndef CQ_ATEN_OPS_POOL_H
#define CQ_ATEN_OPS_POOL_H

#include "aten/ops/image.h"
#include "kernel/conv/pool.h"

typedef struct cq_pool {
    cq_tensor *x;
    size_t     n; /* spatial axes */
    cq_window  window;
    bool       ceil_mode;
} cq_pool;

size_t      cq_pool_axes(const cq_opcall *c);
cq_status   cq_pool_read(const cq_opcall *c, cq_pool *p); /* of one with a window */
cq_avg_pool cq_pool_options(const cq_opcall *c);

#endif
