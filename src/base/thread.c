/* The thread pool. There is one job at a time, and workers join it through a gate: an atomic count
 * of those inside with a bit for closed. The caller opens the gate, works on the job itself, closes
 * the gate when no block is left and waits only for those inside. So a worker that is parked or not
 * scheduled never delays a job, and a forked process keeps a working pool without workers.
 *
 * Each thread has a share of the blocks, the same one in every job with the same number of blocks,
 * and steals blocks of others only when its own are done. Blocks follow the memory that they write,
 * so that a thread reads what it has written in the previous job: data in the cache of another core
 * is read at a quarter of the speed if the cores are far apart, and so is a shared counter.
 *
 * Waking a parked worker costs 30 to 50 µs, joining from a spin 0.2 µs: between the layers of a
 * model a worker spins, and it parks after SPIN_ROUNDS without a job. It is woken when the caller
 * has worked alone for as long as waking takes: a model that finishes earlier, or a small layer
 * between long pauses, is not worth it.
 *
 * Schedulers tend to wake a thread on the core of the waking thread. There it waits for the caller,
 * or the caller for it, for milliseconds, while another core is idle. So a worker is woken on
 * another core, and its affinity is reset as soon as it is awake. */
#define _GNU_SOURCE /* affinities */
#include "base/thread.h"
#include "base/clock.h"
#include "base/posix.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

enum {
    SPIN_ROUNDS       = 4000, /* 50 to 100 µs */
    ROUNDS_TO_YIELD   = 1000,
    WORKER_STACK_SIZE = 1 << 20,
    WAKE_AFTER        = 30000,  /* nanoseconds of work that parked workers could have shared */
    FORGET_AFTER      = 1000000 /* nanoseconds without a job: a new model, or another run */
};
static const unsigned CLOSED = 1u << 31;

/* ---- shares ---- */

struct share {
    _Alignas(64) atomic_llong next; /* a separate cache line */
    int64_t end;
};

static void share_out(struct share *shares, int n, int64_t n_blocks)
{
    int64_t begin = 0;

    for (int i = 0; i < n; i++) {
        shares[i].end = begin + n_blocks / n + (i < n_blocks % n);
        atomic_store_explicit(&shares[i].next, begin, memory_order_relaxed);
        begin = shares[i].end;
    }
}

/* The next block for the thread with share `own`, after *passed empty shares; -1: none is left. */
static int64_t next_block(struct share *shares, int n, int own, int *passed)
{
    for (; *passed < n; ++*passed) {
        struct share *s     = &shares[(own + *passed) % n];
        int64_t       block = atomic_load_explicit(&s->next, memory_order_relaxed);

        if (block < s->end && (block = atomic_fetch_add(&s->next, 1)) < s->end)
            return block;
    }
    return -1;
}

/* ---- the pool ---- */

static struct {
    pthread_mutex_t caller; /* held by the thread whose job it is */
    pthread_mutex_t mutex;  /* guards parking, and the error of a job */
    pthread_cond_t  wake;
    atomic_uint     door;
    atomic_int      n_parked;
    int             n_workers; /* started so far; the caller lock's */
    pthread_t       workers[CQ_MAX_THREADS];
    pid_t           process; /* that started them: a fork has none */

    cq_block_fn     fn;
    void           *user;
    unsigned        n_wanted; /* workers that may come in */
    struct share    shares[CQ_MAX_THREADS];
    int             n_shares;
    atomic_bool     failed;
    int64_t         failed_block;
    cq_error_record error;

    /* The caller lock's: work that was done while workers were parked. */
    int64_t alone, began, ended; /* how long; since when, and until when, by the clock */
    bool    has_parked;          /* of this job: some are, and have not been woken */
} pool = { .caller = PTHREAD_MUTEX_INITIALIZER,
           .mutex  = PTHREAD_MUTEX_INITIALIZER,
           .wake   = PTHREAD_COND_INITIALIZER,
           .door   = 1u << 31 };

static atomic_int         wanted_threads;
static _Thread_local bool inside_block;
static _Thread_local int  own_threads;

static int limited(int n)
{
    return n < 0 ? 0 : n > CQ_MAX_THREADS ? CQ_MAX_THREADS : n;
}

void cq_set_threads(int n)
{
    atomic_store(&wanted_threads, limited(n));
}

int cq_use_threads(int n)
{
    int before = own_threads;

    own_threads = limited(n);
    return before;
}

int cq_threads(void)
{
    int n = own_threads ? own_threads : atomic_load(&wanted_threads);

    if (n == 0) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);

        n = cores < 1 ? 1 : cores > CQ_MAX_THREADS ? CQ_MAX_THREADS : (int)cores;
        atomic_store(&wanted_threads, n);
    }
    return n;
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void keep_error(int64_t block)
{
    pthread_mutex_lock(&pool.mutex);
    if (!atomic_load(&pool.failed) || block < pool.failed_block) {
        cq_error_save(&pool.error);
        pool.failed_block = block;
        atomic_store(&pool.failed, true);
    }
    pthread_mutex_unlock(&pool.mutex);
}

static bool run_next_block(int own, int *passed)
{
    int64_t block;

    if (atomic_load_explicit(&pool.failed, memory_order_relaxed) ||
        (block = next_block(pool.shares, pool.n_shares, own, passed)) < 0)
        return false;
    if (pool.fn(pool.user, block) != CQ_OK)
        keep_error(block);
    return true;
}

static void work(int own)
{
    int passed = 0;

    inside_block = true;
    while (run_next_block(own, &passed))
        continue;
    inside_block = false;
}

/* ---- where workers are woken; both with the mutex held ---- */

#ifdef __linux__
static cpu_set_t everywhere; /* where the caller may run */

static void send_elsewhere(void)
{
    const int here = sched_getcpu();
    cpu_set_t others;

    if (here < 0 || pool.process != getpid() ||
        sched_getaffinity(0, sizeof everywhere, &everywhere) != 0)
        return;
    others = everywhere;
    CPU_CLR(here, &others);
    for (int i = 0; i < pool.n_workers && CPU_COUNT(&others) > 0; i++)
        pthread_setaffinity_np(pool.workers[i], sizeof others, &others);
}

static void go_anywhere(void)
{
    if (CPU_COUNT(&everywhere) > 0)
        sched_setaffinity(0, sizeof everywhere, &everywhere);
}
#else
static void send_elsewhere(void)
{
}

static void go_anywhere(void)
{
}
#endif

static void wake_parked(void)
{
    pthread_mutex_lock(&pool.mutex);
    send_elsewhere();
    pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.mutex);
    pool.has_parked = false;
    pool.alone      = 0;
}

/* The caller's part: between blocks it checks whether it has worked alone for too long. */
static void work_as_caller(void)
{
    int passed = 0;

    inside_block = true;
    while (run_next_block(0, &passed))
        if (pool.has_parked && pool.alone + cq_now() - pool.began >= WAKE_AFTER)
            wake_parked();
    inside_block = false;
    if (pool.has_parked) {
        pool.ended = cq_now();
        pool.alone += pool.ended - pool.began;
    }
}

/* The fields of a job may be read only inside, so n_wanted is read after joining. */
static bool join_job(int own)
{
    unsigned door = atomic_load(&pool.door);

    if (door & CLOSED)
        return false;
    if (!atomic_compare_exchange_strong(&pool.door, &door, door + 1))
        return false;
    if (door < pool.n_wanted)
        work(own);
    atomic_fetch_sub(&pool.door, 1);
    return true;
}

static void await_closed(unsigned bits)
{
    int rounds = 0;

    while ((atomic_load(&pool.door) & bits) != CLOSED) {
        if (++rounds % ROUNDS_TO_YIELD == 0)
            sched_yield();
        relax();
    }
}

static void park(void)
{
    pthread_mutex_lock(&pool.mutex);
    atomic_fetch_add(&pool.n_parked, 1);
    while (atomic_load(&pool.door) & CLOSED) /* checked after n_parked: see open_door */
        pthread_cond_wait(&pool.wake, &pool.mutex);
    atomic_fetch_sub(&pool.n_parked, 1);
    go_anywhere();
    pthread_mutex_unlock(&pool.mutex);
}

static void *worker_main(void *self)
{
    const int own = (int)(intptr_t)self; /* share */

    for (;;) {
        for (int i = 0; i < SPIN_ROUNDS; i++) {
            if (join_job(own)) {
                await_closed(CLOSED); /* other threads work on the remaining blocks */
                i = 0;
            }
            relax();
        }
        park();
    }
    return NULL;
}

/* A worker that parks after this look sees the open door itself. */
static void open_door(void)
{
    atomic_store(&pool.door, 0);
    pool.has_parked = atomic_load(&pool.n_parked) > 0;
    if (!pool.has_parked)
        return;
    pool.began = cq_now();
    if (pool.began - pool.ended > FORGET_AFTER)
        pool.alone = 0;
}

static void close_door(void)
{
    atomic_fetch_or(&pool.door, CLOSED);
    await_closed(~0u); /* and no thread is inside */
}

/* A thread that does not start is not a failure: the others do its work. */
static void start_workers(int n)
{
    pthread_attr_t attr;
    pthread_t      thread;

    if (pool.n_workers >= n || pthread_attr_init(&attr) != 0)
        return;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, WORKER_STACK_SIZE);
    if (!pool.n_workers)
        pool.process = getpid();
    while (pool.n_workers < n &&
           pthread_create(&thread, &attr, worker_main, (void *)(intptr_t)(pool.n_workers + 1)) == 0)
        pool.workers[pool.n_workers++] = thread;
    pthread_attr_destroy(&attr);
}

static cq_status run_alone(int64_t n_blocks, cq_block_fn fn, void *user)
{
    for (int64_t i = 0; i < n_blocks; i++)
        CQ_TRY(fn(user, i));
    return CQ_OK;
}

cq_status cq_parallel_for(int64_t n_blocks, cq_block_fn fn, void *user)
{
    int       n      = cq_threads();
    cq_status status = CQ_OK;

    if (n == 1 || n_blocks <= 1 || inside_block || pthread_mutex_trylock(&pool.caller) != 0)
        return run_alone(n_blocks, fn, user);
    start_workers(n - 1);
    n             = n_blocks < n ? (int)n_blocks : n;
    pool.fn       = fn;
    pool.user     = user;
    pool.n_wanted = (unsigned)n - 1;
    pool.n_shares = n;
    share_out(pool.shares, n, n_blocks);
    atomic_store_explicit(&pool.failed, false, memory_order_relaxed);
    open_door();
    work_as_caller();
    close_door();
    if (atomic_load(&pool.failed)) {
        cq_error_restore(&pool.error);
        status = pool.error.status;
    }
    pthread_mutex_unlock(&pool.caller);
    return status;
}

struct lanes {
    cq_lane_fn   fn;
    void        *user;
    int          n;
    struct share shares[CQ_MAX_THREADS];
};

static cq_status run_lane(void *user, int64_t lane)
{
    struct lanes *l = user;
    int64_t       block;
    int           passed = 0;

    while ((block = next_block(l->shares, l->n, (int)lane, &passed)) >= 0)
        CQ_TRY(l->fn(l->user, block, (int)lane));
    return CQ_OK;
}

cq_status cq_parallel_lanes(int64_t n_blocks, int n_lanes, cq_lane_fn fn, void *user)
{
    struct lanes l;

    l.fn   = fn;
    l.user = user;
    l.n    = n_lanes < CQ_MAX_THREADS ? n_lanes : CQ_MAX_THREADS;
    l.n    = n_blocks < l.n ? (int)n_blocks : l.n;
    share_out(l.shares, l.n, n_blocks);
    return cq_parallel_for(l.n, run_lane, &l);
}
