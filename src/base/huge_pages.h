/* The huge-page arena: memory for data that is prepared once and read in every run, such as packed
 * weights. Blocks that one thread allocates for the same purpose are contiguous on huge pages, so
 * that the TLB covers the whole model; separate blocks would be many small pages. */
#ifndef CQ_BASE_HUGE_PAGES_H
#define CQ_BASE_HUGE_PAGES_H

#include <stddef.h>

typedef struct cq_huge_pages cq_huge_pages;

/* From now on this thread's blocks are contiguous, with about `expected` bytes in total; small
 * totals are ignored. Returns the previous arena, to be restored at the end. */
cq_huge_pages *cq_huge_pages_begin(double expected);
void           cq_huge_pages_end(cq_huge_pages *before);

/* 64-byte aligned; NULL like cq_alloc. Any thread may free it, before or after the end. */
void *cq_huge_alloc(size_t size);
void  cq_huge_free(void *p); /* accepts NULL */

#endif
