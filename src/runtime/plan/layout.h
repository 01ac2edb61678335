/* Assigns offsets in one piece of memory to blocks with known lifetimes. It handles numbers only;
 * memory.c knows the blocks. */
#ifndef CQ_RUNTIME_PLAN_LAYOUT_H
#define CQ_RUNTIME_PLAN_LAYOUT_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { CQ_RT_ALIGNMENT = 64 }; /* of every offset: a line of the cache */

/* Needed from the tick from until before the tick to; to <= from is never. */
typedef struct cq_rt_span {
    uint64_t size; /* at most INT64_MAX / 2 */
    uint32_t from, to;
    uint64_t offset; /* the result; of a span that is never needed or empty, 0 */
} cq_rt_span;

/* Gives every span an offset so that no two lie over each other while both are needed. *total is
 * the end of the last. Takes time in the square of n. */
cq_status cq_rt_layout(uint64_t *total, cq_rt_span *spans, size_t n);

#endif
