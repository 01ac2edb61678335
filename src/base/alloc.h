/* The only door to the heap. Every function that returns NULL has recorded
 * CQ_E_NO_MEMORY, so a caller just returns that status. */
#ifndef CQ_BASE_ALLOC_H
#define CQ_BASE_ALLOC_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

void *cq_alloc(size_t size);  /* uninitialised; never NULL for size 0 */
void *cq_zalloc(size_t size); /* zeroed */
void *cq_alloc_array(size_t n, size_t size); /* NULL too when n * size overflows */
void *cq_realloc_array(void *p, size_t n, size_t size);
char *cq_strdup(const char *s);
char *cq_strndup(const char *s, size_t len);
void  cq_free(void *p);

/* 64-byte aligned, for tensor data; freed by cq_free_aligned. */
void *cq_alloc_aligned(size_t size);
void  cq_free_aligned(void *p);

/* For tests: let the n-th allocation from now fail (1 is the next); 0 turns it off. Returns how
 * many were left until then; 0 if it has come to that. */
long cq_alloc_fail_at(long n);

#endif
