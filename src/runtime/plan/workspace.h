/* Workspaces kept between the runs of a session and, for known input shapes, the layout of their
 * tensors. Several threads may use it at once. */
#ifndef CQ_RUNTIME_PLAN_WORKSPACE_H
#define CQ_RUNTIME_PLAN_WORKSPACE_H

#include "base/lock.h"
#include "runtime/plan/memory.h"
#include "tensor/value.h"

/* Types and shapes of a run's inputs. */
enum { CQ_RT_MAX_SIGNATURE = 64 };
typedef struct cq_rt_signature {
    size_t  n; /* 0: too long, never the same as another */
    int64_t at[CQ_RT_MAX_SIGNATURE];
} cq_rt_signature;

typedef struct cq_rt_seen cq_rt_seen;

typedef struct cq_rt_pool {
    cq_mutex lock;
    uint64_t peak, clock;
    CQ_VEC(cq_rt_workspace *) idle;
    CQ_VEC(cq_rt_seen *) seen;
} cq_rt_pool;

/* A workspace during one run. */
typedef struct cq_rt_lease {
    cq_rt_workspace *workspace;
    cq_rt_signature  signature;
    cq_rt_seen      *seen; /* NULL: these shapes have not been seen */
} cq_rt_lease;

void cq_rt_pool_init(cq_rt_pool *p);
void cq_rt_pool_clear(cq_rt_pool *p);

/* A workspace for a run on these inputs whose tensors may take limit bytes; 0: no limit. */
cq_status cq_rt_pool_take(cq_rt_lease *out, cq_rt_pool *p, const cq_val *inputs, size_t n,
                          uint64_t limit);

/* Ends a run; its record is used if the run succeeded. */
void cq_rt_pool_give_back(cq_rt_pool *p, cq_rt_lease *lease, bool ok);

/* The most bytes that the tensors of one run have taken. */
uint64_t cq_rt_pool_peak(cq_rt_pool *p);

#endif
