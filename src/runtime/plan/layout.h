/* Assigns offsets in one arena to blocks with known lifetimes. This file handles numbers only;
 * memory.c manages the blocks. */
#ifndef CQ_RUNTIME_PLAN_LAYOUT_H
#define CQ_RUNTIME_PLAN_LAYOUT_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { CQ_RT_ALIGNMENT = 64 }; /* alignment of every offset: a cache line */

/* A block that is live from tick `from` until before tick `to`; if to <= from, it is never live. */
typedef struct cq_rt_span {
    uint64_t size; /* at most INT64_MAX / 2 */
    uint32_t from, to;
    uint64_t offset; /* the result; 0 for blocks that are empty or never live */
} cq_rt_span;

/* Assigns offsets so that blocks that are live at the same time do not overlap. *total is the end
 * of the last block. Time is quadratic in n. */
cq_status cq_rt_layout(uint64_t *total, cq_rt_span *spans, size_t n);

#endif
