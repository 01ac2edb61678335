#include "base/progress.h"

#include <stddef.h>

/* Per thread, like the warnings, so that concurrent exports have separate progress. */
static _Thread_local struct {
    cq_progress_handler handler;
    void               *user;
    const char         *what; /* NULL: no work in progress */
    uint64_t            done, total;
} progress;

CQ_API void cq_set_progress_handler(cq_progress_handler handler, void *user)
{
    progress.handler = handler;
    progress.user    = user;
}

void cq_progress_begin(const char *what, uint64_t total)
{
    progress.what  = what;
    progress.done  = 0;
    progress.total = total;
}

void cq_progress_step(uint64_t amount)
{
    if (!progress.what)
        return;
    progress.done += amount;
    if (progress.handler)
        progress.handler(progress.user, progress.what, progress.done, progress.total);
}

void cq_progress_end(void)
{
    if (progress.what && progress.handler)
        progress.handler(progress.user, NULL, progress.done, progress.total);
    progress.what = NULL;
}
