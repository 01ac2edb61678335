/* malloc and its relatives, wrapped once: overflow checks, an error record, and a
 * switch that lets a test make any allocation fail. */
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static _Thread_local long fail_in;

long cq_alloc_fail_at(long n)
{
    long left = fail_in;

    fail_in = n;
    return left;
}

static int must_fail(void)
{
    return fail_in > 0 && --fail_in == 0;
}

static void *checked(void *p)
{
    if (!p)
        cq_no_memory();
    return p;
}

void *cq_alloc(size_t size)
{
    return checked(must_fail() ? NULL : malloc(size ? size : 1));
}

void *cq_zalloc(size_t size)
{
    return checked(must_fail() ? NULL : calloc(1, size ? size : 1));
}

void *cq_alloc_array(size_t n, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(n, size, &total))
        return checked(NULL);
    return cq_alloc(total);
}

void *cq_realloc_array(void *p, size_t n, size_t size)
{
    size_t total;

    if (must_fail() || __builtin_mul_overflow(n, size, &total))
        return checked(NULL);
    return checked(realloc(p, total ? total : 1));
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
    free(p);
}

CQ_API void cq_buffer_free(void *buffer)
{
    cq_free(buffer);
}

void *cq_alloc_aligned(size_t size)
{
    void *p = NULL;

    if (size > SIZE_MAX - 64 || must_fail() || posix_memalign(&p, 64, size ? size : 1))
        return checked(NULL);
    return p;
}

void cq_free_aligned(void *p)
{
    free(p);
}
