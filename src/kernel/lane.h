/* Walks tensors lane by lane: a lane is the run of elements along one dimension. For what
 * works on one dimension and repeats over the others: sorting, scans, softmax.
 *
 *     cq_lanes l;
 *     cq_lanes_init(&l, dim);
 *     CQ_TRY(cq_lanes_add(&l, out));
 *     CQ_TRY(cq_lanes_add(&l, x));
 *     for (bool more = cq_lanes_start(&l); more; more = cq_lanes_next(&l))
 *         scan(l.at[0], l.step[0], l.at[1], l.step[1], l.n[1]);
 *
 * Operands have the same sizes but along dim. A tensor of rank 0 is a lane of one. */
#ifndef CQ_KERNEL_LANE_H
#define CQ_KERNEL_LANE_H

#include "tensor/walk.h"

typedef struct cq_lanes {
    cq_walk  w;
    uint32_t dim, rank;
    int64_t  column; /* in the walk's row */
    char    *at[CQ_WALK_OPERANDS];
    int64_t  step[CQ_WALK_OPERANDS]; /* bytes */
    int64_t  n[CQ_WALK_OPERANDS];    /* elements of the lane */
} cq_lanes;

void      cq_lanes_init(cq_lanes *l, uint32_t dim);
cq_status cq_lanes_add(cq_lanes *l, const cq_tensor *t);
bool      cq_lanes_start(cq_lanes *l);
bool      cq_lanes_next(cq_lanes *l);

#endif
