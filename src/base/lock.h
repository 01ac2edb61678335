/* Mutexes, one-time initialization and thread identity: thin wrappers of the system's. base/once.h
 * is for initialization that can fail. */
#ifndef CQ_BASE_LOCK_H
#define CQ_BASE_LOCK_H

#include <pthread.h>
#include <stdbool.h>

typedef pthread_mutex_t cq_mutex;
typedef pthread_once_t  cq_once_flag;
typedef pthread_t       cq_thread_id;

#define CQ_MUTEX_INIT     PTHREAD_MUTEX_INITIALIZER
#define CQ_ONCE_FLAG_INIT PTHREAD_ONCE_INIT

static inline void cq_mutex_init(cq_mutex *m)
{
    pthread_mutex_init(m, NULL);
}

static inline void cq_mutex_clear(cq_mutex *m)
{
    pthread_mutex_destroy(m);
}

static inline void cq_mutex_lock(cq_mutex *m)
{
    pthread_mutex_lock(m);
}

static inline void cq_mutex_unlock(cq_mutex *m)
{
    pthread_mutex_unlock(m);
}

static inline void cq_once_do(cq_once_flag *once, void (*fn)(void))
{
    pthread_once(once, fn);
}

static inline cq_thread_id cq_thread_self(void)
{
    return pthread_self();
}

static inline bool cq_thread_is(cq_thread_id a, cq_thread_id b)
{
    return pthread_equal(a, b);
}

#endif
