#include "base/cancel.h"

#include <stdint.h>
#include <time.h>

#define ASK_EVERY INT64_C(50000000) /* nanoseconds */

/* Per thread, as the other handlers are. */
static _Thread_local struct {
    cq_cancel_handler handler;
    void             *user;
    int64_t           next; /* when it is asked again */
} cancel;

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

CQ_API void cq_set_cancel_handler(cq_cancel_handler handler, void *user)
{
    cancel.handler = handler;
    cancel.user    = user;
    cancel.next    = handler ? now() + ASK_EVERY : 0;
}

cq_status cq_check_cancelled(void)
{
    int64_t time;

    if (!cancel.handler)
        return CQ_OK;
    time = now();
    if (time < cancel.next)
        return CQ_OK;
    cancel.next = time + ASK_EVERY;
    if (!cancel.handler(cancel.user))
        return CQ_OK;
    cancel.next = time; /* whoever goes on in spite of it is told again */
    return cq_fail(CQ_E_CANCELLED, NULL, NULL, "the work was cancelled");
}
