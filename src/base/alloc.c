/* Wraps malloc and its variants: overflow checks, an error record, a budget, and a switch that lets
 * a test make any allocation fail. */
#define _DEFAULT_SOURCE /* madvise */
#include "base/alloc.h"

#include "base/posix.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- the system's heap ---- */

#ifdef _WIN32

static size_t heap_size(void *p)
{
    return _msize(p);
}

/* On Windows, free does not accept aligned blocks: a block is aligned here, and the address of
 * malloc is stored before it. */
static void *heap_aligned(size_t alignment, size_t size)
{
    char  *whole = malloc(size + alignment + sizeof(void *));
    void **begin;

    if (!whole)
        return NULL;
    begin = (void **)(((uintptr_t)whole + sizeof(void *) + alignment - 1) / alignment * alignment);
    begin[-1] = whole;
    return begin;
}

static size_t heap_aligned_size(void *p)
{
    return _msize(((void **)p)[-1]);
}

static void heap_free_aligned(void *p)
{
    free(p ? ((void **)p)[-1] : NULL);
}

#else

#ifdef __APPLE__
#include <malloc/malloc.h>
#define malloc_usable_size malloc_size
#else
#include <malloc.h>
#endif

static size_t heap_size(void *p)
{
    return malloc_usable_size(p);
}

static void *heap_aligned(size_t alignment, size_t size)
{
    void *p = NULL;

    return posix_memalign(&p, alignment, size) == 0 ? p : NULL;
}

static size_t heap_aligned_size(void *p)
{
    return heap_size(p);
}

static void heap_free_aligned(void *p)
{
    free(p);
}

#endif

static _Thread_local long            fail_in;
static _Thread_local cq_alloc_budget budget;

long cq_alloc_fail_at(long n)
{
    long left = fail_in;

    fail_in = n;
    return left;
}

/* ---- the budget ---- */

cq_alloc_budget cq_alloc_set_budget(cq_alloc_budget b)
{
    cq_alloc_budget before = budget;

    budget = b;
    return before;
}

static int is_too_much(size_t size)
{
    const int64_t left = budget.limit - budget.used;

    return budget.limit && (left < 0 || (uint64_t)size > (uint64_t)left);
}

static void spend(size_t size)
{
    budget.used += (int64_t)size;
    if (budget.used > budget.peak)
        budget.peak = budget.used;
}

/* The heap's own size of a block, so that blocks need no header. */
static size_t size_of(void *p, bool is_aligned)
{
    return is_aligned ? heap_aligned_size(p) : heap_size(p);
}

static void take(void *p, bool is_aligned)
{
    if (budget.limit && p)
        spend(size_of(p, is_aligned));
}

static void give_back(void *p, bool is_aligned)
{
    if (budget.limit && p)
        budget.used -= (int64_t)size_of(p, is_aligned);
}

/* ---- allocation ---- */

static int must_fail(size_t size)
{
    return (fail_in > 0 && --fail_in == 0) || is_too_much(size);
}

/* Counts a block of size bytes, or records the failure. */
static void *checked(void *p, size_t size, bool is_aligned)
{
    if (p) {
        take(p, is_aligned);
    } else if (is_too_much(size)) {
        budget.peak = INT64_MAX;
        cq_fail(CQ_E_NO_MEMORY, NULL, "allow more memory with --max-memory",
                "this needs more than the %" PRId64 " bytes that are allowed", budget.limit);
    } else {
        cq_no_memory();
    }
    return p;
}

void *cq_alloc(size_t size)
{
    return checked(must_fail(size) ? NULL : malloc(size ? size : 1), size, false);
}

void *cq_zalloc(size_t size)
{
    return checked(must_fail(size) ? NULL : calloc(1, size ? size : 1), size, false);
}

void *cq_alloc_array(size_t n, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(n, size, &total))
        return checked(NULL, 0, false);
    return cq_alloc(total);
}

void *cq_realloc_array(void *p, size_t n, size_t size)
{
    size_t total;
    void  *moved;

    if (__builtin_mul_overflow(n, size, &total))
        return checked(NULL, 0, false);
    give_back(p, false);
    moved = must_fail(total) ? NULL : realloc(p, total ? total : 1);
    if (!moved)
        take(p, false); /* the block still exists */
    return checked(moved, total, false);
}

char *cq_strndup(const char *s, size_t len)
{
    char *copy = cq_alloc(len + 1);

    if (!copy)
        return NULL;
    memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

char *cq_strdup(const char *s)
{
    return cq_strndup(s, strlen(s));
}

void cq_free(void *p)
{
    give_back(p, false);
    free(p);
}

void cq_heap_free(void *p)
{
    free(p);
}

CQ_API void cq_buffer_free(void *buffer)
{
    cq_free(buffer);
}

/* Large blocks use huge pages if the system supports them: with small pages, walking over weights
 * or feature maps causes many TLB misses. Only whole huge pages are used, so that no block
 * grows. */
void *cq_alloc_aligned(size_t size)
{
    const bool is_large = size >= CQ_HUGE_PAGE;
    void      *p        = NULL;

    if (size <= SIZE_MAX - 2 * CQ_HUGE_PAGE && !must_fail(size))
        p = heap_aligned(is_large ? CQ_HUGE_PAGE : 64, size ? size : 1);
    if (!p)
        return checked(NULL, size, true);
#ifdef MADV_HUGEPAGE
    if (is_large)
        (void)madvise(p, size / CQ_HUGE_PAGE * CQ_HUGE_PAGE, MADV_HUGEPAGE);
#endif
    return checked(p, size, true);
}

void cq_free_aligned(void *p)
{
    give_back(p, true);
    heap_free_aligned(p);
}

void cq_alloc_discard(void *p, size_t size)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t from = ((uintptr_t)p + page - 1) / page * page;
    const uintptr_t to   = ((uintptr_t)p + size) / page * page;

    if (from < to)
        (void)madvise((void *)from, to - from, MADV_DONTNEED);
}

#ifdef MADV_HUGEPAGE
/* Maps additional pages to align the start to a huge page, and unmaps the rest. */
void *cq_alloc_pages(size_t size)
{
    const size_t all = size + CQ_HUGE_PAGE;
    char        *p, *begin;

    p = must_fail(size)
            ? MAP_FAILED
            : mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return checked(NULL, size, true);
    begin = p + (CQ_HUGE_PAGE - (uintptr_t)p % CQ_HUGE_PAGE);
    (void)munmap(p, (size_t)(begin - p));
    if (begin + size < p + all)
        (void)munmap(begin + size, (size_t)(p + all - begin) - size);
    (void)madvise(begin, size, MADV_HUGEPAGE);
    if (budget.limit)
        spend(size);
    return begin;
}

void cq_free_pages(void *p, size_t size)
{
    if (!p)
        return;
    if (budget.limit)
        budget.used -= (int64_t)size;
    (void)munmap(p, size);
}
#else
void *cq_alloc_pages(size_t size)
{
    return cq_alloc_aligned(size);
}

void cq_free_pages(void *p, size_t size)
{
    (void)size;
    cq_free_aligned(p);
}
#endif
