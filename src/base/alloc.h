/* All heap allocations. A function that returns NULL has recorded CQ_E_NO_MEMORY, so the caller
 * only returns that status. */
#ifndef CQ_BASE_ALLOC_H
#define CQ_BASE_ALLOC_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

void *cq_alloc(size_t size);                 /* uninitialised; never NULL for size 0 */
void *cq_zalloc(size_t size);                /* zeroed */
void *cq_alloc_array(size_t n, size_t size); /* also NULL if n * size overflows */
void *cq_realloc_array(void *p, size_t n, size_t size);
char *cq_strdup(const char *s);
char *cq_strndup(const char *s, size_t len);
void  cq_free(void *p);

/* 64-byte aligned, for tensor data; freed by cq_free_aligned. */
void *cq_alloc_aligned(size_t size);
void  cq_free_aligned(void *p);

/* Returns whole pages to the system before the block is freed: these bytes are not read any
 * more. */
void cq_alloc_discard(void *p, size_t size);

/* Allocates new pages, huge ones if possible, for long-lived data; a heap would return small pages
 * that were used before. size is a multiple of CQ_HUGE_PAGE. */
enum { CQ_HUGE_PAGE = 1 << 21 }; /* bytes */
void *cq_alloc_pages(size_t size);
void  cq_free_pages(void *p, size_t size);

/* A limit for the heap of this thread, for work on untrusted files. It counts allocations from now
 * on, minus memory that is freed. 0 means unlimited. Returns the previous budget, to be restored at
 * the end. */
typedef struct cq_alloc_budget {
    int64_t limit, used, peak; /* peak: INT64_MAX once a request exceeded the limit */
} cq_alloc_budget;

cq_alloc_budget cq_alloc_set_budget(cq_alloc_budget budget);

/* Bytes that this process could allocate now without causing memory pressure: the system's
 * available memory, or the limit of its control group if that is less. */
uint64_t cq_alloc_available(void);

/* The default memory limit for a file and its inputs: 1 GiB, plus 2 times the first 10 MiB of the
 * file and 256 times the rest, but at most three quarters of the memory that is (or was) available.
 * So a small file cannot exhaust a machine, and feature maps have enough memory. */
int64_t cq_default_bytes(double file_bytes, double input_bytes, uint64_t available);

/* For tests: makes the n-th allocation from now fail (1 is the next one); 0 disables it. Returns
 * the number of allocations left before the failure; 0 if it has happened. */
long cq_alloc_fail_at(long n);

#endif
