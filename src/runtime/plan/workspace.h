/* Caches workspaces between the runs of a session, and the memory layout for known input shapes.
 * Thread-safe. */
#ifndef CQ_RUNTIME_PLAN_WORKSPACE_H
#define CQ_RUNTIME_PLAN_WORKSPACE_H

#include "base/lock.h"
#include "runtime/plan/memory.h"
#include "tensor/value.h"

/* Types and shapes of a run's inputs. */
enum { CQ_RT_MAX_SIGNATURE = 64 };
typedef struct cq_rt_signature {
    size_t  n; /* 0: too long, never equal to another signature */
    int64_t at[CQ_RT_MAX_SIGNATURE];
} cq_rt_signature;

typedef struct cq_rt_seen cq_rt_seen;

typedef struct cq_rt_pool {
    cq_mutex lock;
    uint64_t peak, clock;
    CQ_VEC(cq_rt_workspace *) idle;
    CQ_VEC(cq_rt_seen *) seen;
} cq_rt_pool;

/* A workspace that is leased to a run. */
typedef struct cq_rt_lease {
    cq_rt_workspace *workspace;
    cq_rt_signature  signature;
    cq_rt_seen      *seen; /* NULL: these shapes are new */
} cq_rt_lease;

void cq_rt_pool_init(cq_rt_pool *p);
void cq_rt_pool_clear(cq_rt_pool *p);

/* Leases a workspace for a run on these inputs whose tensors may use limit bytes; 0: unlimited. */
cq_status cq_rt_pool_take(cq_rt_lease *out, cq_rt_pool *p, const cq_val *inputs, size_t n,
                          uint64_t limit);

/* Returns a workspace; its record is used if the run succeeded. */
void cq_rt_pool_give_back(cq_rt_pool *p, cq_rt_lease *lease, bool ok);

/* The peak number of bytes of tensors in one run. */
uint64_t cq_rt_pool_peak(cq_rt_pool *p);

#endif
