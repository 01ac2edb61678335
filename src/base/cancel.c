#include "base/cancel.h"
#include "base/clock.h"

#define ASK_EVERY INT64_C(50000000) /* nanoseconds */

/* Per thread, like the other handlers. */
static _Thread_local struct {
    cq_cancel_handler handler;
    void             *user;
    int64_t           next; /* the time of the next query */
} cancel;

CQ_API void cq_set_cancel_handler(cq_cancel_handler handler, void *user)
{
    cancel.handler = handler;
    cancel.user    = user;
    cancel.next    = handler ? cq_now() + ASK_EVERY : 0;
}

cq_status cq_check_cancelled(void)
{
    int64_t time;

    if (!cancel.handler)
        return CQ_OK;
    time = cq_now();
    if (time < cancel.next)
        return CQ_OK;
    cancel.next = time + ASK_EVERY;
    if (!cancel.handler(cancel.user))
        return CQ_OK;
    cancel.next = time; /* a caller that continues fails again */
    return cq_fail(CQ_E_CANCELLED, NULL, NULL, "the work was cancelled");
}
