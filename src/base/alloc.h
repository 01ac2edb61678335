/* The only door to the heap. Every function that returns NULL has recorded
 * CQ_E_NO_MEMORY, so a caller just returns that status. */
#ifndef CQ_BASE_ALLOC_H
#define CQ_BASE_ALLOC_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

void *cq_alloc(size_t size);                 /* uninitialised; never NULL for size 0 */
void *cq_zalloc(size_t size);                /* zeroed */
void *cq_alloc_array(size_t n, size_t size); /* NULL too when n * size overflows */
void *cq_realloc_array(void *p, size_t n, size_t size);
char *cq_strdup(const char *s);
char *cq_strndup(const char *s, size_t len);
void  cq_free(void *p);

/* 64-byte aligned, for tensor data; freed by cq_free_aligned. */
void *cq_alloc_aligned(size_t size);
void  cq_free_aligned(void *p);

/* Gives whole pages of it back though it is not freed yet: nobody reads these bytes any more. */
void cq_alloc_discard(void *p, size_t size);

/* Fresh pages, huge ones where the system has them, for what stays; a heap would hand out small
 * pages that something else has left behind. size is a multiple of CQ_HUGE_PAGE. */
enum { CQ_HUGE_PAGE = 1 << 21 }; /* bytes */
void *cq_alloc_pages(size_t size);
void  cq_free_pages(void *p, size_t size);

/* A limit of what this thread may take from the heap, for work on files that cannot be trusted:
 * counted from here on, less what it gives back. 0 means no limit. Returns what was in force, to be
 * put back in the end. */
typedef struct cq_alloc_budget {
    int64_t limit, used, peak; /* peak: INT64_MAX once more was asked for than is left */
} cq_alloc_budget;

cq_alloc_budget cq_alloc_set_budget(cq_alloc_budget budget);

/* Bytes that this process could take now without others, or itself, being driven out of memory:
 * what the system calls available, or what its control group leaves if that is less. */
uint64_t cq_alloc_available(void);

/* What work for so many bytes, of a file and of the inputs that came with it, may hold unless the
 * user says otherwise: 1 GiB, 2 times the first 10 MiB of the file and 256 times the rest, or three
 * quarters of what is (or was)
 * available. So a small file cannot take a machine down, and images have room for their layers. */
int64_t cq_default_bytes(double file_bytes, double input_bytes, uint64_t available);

/* For tests: let the n-th allocation from now fail (1 is the next); 0 turns it off. Returns how
 * many were left until then; 0 if it has come to that. */
long cq_alloc_fail_at(long n);

#endif
