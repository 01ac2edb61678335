/* Lazy one-time initialization, such as of a table built from rows. Unlike pthread_once it can
 * fail, and is retried then. */
#ifndef CQ_BASE_ONCE_H
#define CQ_BASE_ONCE_H

#include "base/error.h"
#include "base/lock.h"

#include <stdatomic.h>

typedef struct cq_once {
    cq_mutex    lock;
    atomic_bool done;
} cq_once;

#define CQ_ONCE_INIT                                                                               \
    {                                                                                              \
        .lock = CQ_MUTEX_INIT                                                                      \
    }

/* make must clean up when it fails. Its memory is not charged to any budget. */
cq_status cq_once_call(cq_once *once, cq_status (*make)(void));

#endif
