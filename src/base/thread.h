/* Work on all cores: one pool for the whole process, fork and join.
 *
 * Every block of a job writes its own part of the result, and sums are never cut by how many
 * threads there are; so the numbers do not depend on that.
 * No thread is started before a job first has more than one block. */
#ifndef CQ_BASE_THREAD_H
#define CQ_BASE_THREAD_H

#include "base/error.h"

#include <calque/threads.h>

#include <stdint.h>

enum { CQ_MAX_THREADS = 64 }; /* as <calque/threads.h> has it */

/* This thread's own number, for its jobs, instead of cq_set_threads's; 0: none. Returns the one
 * before. */
int cq_use_threads(int n);

typedef cq_status (*cq_block_fn)(void *user, int64_t block);

/* Calls fn(user, 0) to fn(user, n_blocks - 1), in any order, and returns when all are done.
 * After a failure blocks that have not begun are left out, and the error becomes the
 * caller's. Inside a block, and while another thread has the pool, it is a plain loop. */
cq_status cq_parallel_for(int64_t n_blocks, cq_block_fn fn, void *user);

/* The same for blocks that need separate memory: no two concurrent blocks have the same lane, 0 to
 * n_lanes - 1. So memory is needed for n_lanes, not for n_blocks. */
typedef cq_status (*cq_lane_fn)(void *user, int64_t block, int lane);

cq_status cq_parallel_lanes(int64_t n_blocks, int n_lanes, cq_lane_fn fn, void *user);

#endif
