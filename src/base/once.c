#include "base/once.h"

#include "base/alloc.h"

cq_status cq_once_call(cq_once *once, cq_status (*make)(void))
{
    cq_status       status = CQ_OK;
    cq_alloc_budget outer;

    if (atomic_load_explicit(&once->done, memory_order_acquire))
        return CQ_OK;
    cq_mutex_lock(&once->lock);
    if (!atomic_load_explicit(&once->done, memory_order_relaxed)) {
        outer  = cq_alloc_set_budget((cq_alloc_budget){ 0 });
        status = make();
        cq_alloc_set_budget(outer);
        atomic_store_explicit(&once->done, status == CQ_OK, memory_order_release);
    }
    cq_mutex_unlock(&once->lock);
    return status;
}
