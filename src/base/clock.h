/* Monotonic time in nanoseconds. */
#ifndef CQ_BASE_CLOCK_H
#define CQ_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t cq_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
