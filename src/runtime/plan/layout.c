/* Best fit in order of decreasing size: each block is placed in the smallest gap between blocks
 * that are live at the same time. Large blocks decide the total, and small ones fill the gaps
 * between them. In the order of allocation, a small block would split a gap that a large one
 * needs. */
#include "runtime/plan/layout.h"

#include "base/alloc.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_needed(const cq_rt_span *s)
{
    return s->size && s->to > s->from;
}

static bool meet(const cq_rt_span *a, const cq_rt_span *b)
{
    return a->from < b->to && b->from < a->to;
}

static uint64_t rounded(uint64_t size)
{
    return (size + CQ_RT_ALIGNMENT - 1) / CQ_RT_ALIGNMENT * CQ_RT_ALIGNMENT;
}

/* Orders by decreasing size, then by index, so that the result does not depend on qsort. */
static int by_size(const void *x, const void *y)
{
    const cq_rt_span *a = *(cq_rt_span *const *)x, *b = *(cq_rt_span *const *)y;

    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return a->from < b->from ? -1 : a->from > b->from;
}

/* Assigns an offset to s. placed is sorted by offset; returns the index at which to insert s. */
static size_t place(cq_rt_span *s, cq_rt_span *const *placed, size_t n)
{
    uint64_t end = 0, best = UINT64_MAX; /* end of all previous blocks that overlap s in time */
    size_t   at = 0;

    for (size_t i = 0; i < n; i++) {
        const cq_rt_span *p = placed[i];

        if (!meet(s, p))
            continue;
        if (p->offset > end && p->offset - end >= rounded(s->size) && p->offset - end < best) {
            best      = p->offset - end;
            s->offset = end;
        }
        if (p->offset + rounded(p->size) > end)
            end = p->offset + rounded(p->size);
    }
    if (best == UINT64_MAX)
        s->offset = end;
    while (at < n && placed[at]->offset <= s->offset)
        at++;
    return at;
}

cq_status cq_rt_layout(uint64_t *total, cq_rt_span *spans, size_t n)
{
    cq_rt_span **order    = cq_alloc_array(2 * n + 1, sizeof *order), **placed;
    size_t       n_needed = 0;

    *total = 0;
    if (!order)
        return CQ_E_NO_MEMORY;
    placed = order + n;
    for (size_t i = 0; i < n; i++) {
        spans[i].offset = 0;
        if (is_needed(&spans[i]))
            order[n_needed++] = &spans[i];
    }
    qsort(order, n_needed, sizeof *order, by_size);
    for (size_t i = 0; i < n_needed; i++) {
        size_t at = place(order[i], placed, i);

        memmove(placed + at + 1, placed + at, (i - at) * sizeof *placed);
        placed[at] = order[i];
        if (order[i]->offset + rounded(order[i]->size) > *total)
            *total = order[i]->offset + rounded(order[i]->size);
    }
    cq_free(order);
    return CQ_OK;
}
