/* A chain of blocks, each twice the size of the last up to a limit. */
#include "base/arena.h"

#include <stdio.h>
#include <string.h>

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20, ALIGN = 16 };

typedef struct block block;
struct block {
    block *next;
    size_t size, used;
    /* the payload follows at the next multiple of ALIGN */
};

struct cq_arena {
    block *blocks;
    size_t next_size, total;
};

static size_t header_size(void)
{
    return (sizeof(block) + ALIGN - 1) / ALIGN * ALIGN;
}

cq_arena *cq_arena_new(void)
{
    cq_arena *arena = cq_zalloc(sizeof *arena);

    if (arena)
        arena->next_size = FIRST_BLOCK;
    return arena;
}

static void free_blocks(block *b)
{
    for (block *next; b; b = next) {
        next = b->next;
        cq_free(b);
    }
}

void cq_arena_free(cq_arena *arena)
{
    if (!arena)
        return;
    free_blocks(arena->blocks);
    cq_free(arena);
}

void cq_arena_reset(cq_arena *arena)
{
    if (!arena->blocks)
        return;
    free_blocks(arena->blocks->next);
    arena->blocks->next = NULL;
    arena->blocks->used = 0;
    arena->total        = 0;
}

static block *add_block(cq_arena *arena, size_t payload)
{
    size_t size = arena->next_size > payload ? arena->next_size : payload;
    block *b;

    if (size > SIZE_MAX - header_size()) {
        cq_no_memory();
        return NULL;
    }
    b = cq_alloc(header_size() + size);
    if (!b)
        return NULL;
    b->size = size;
    b->used = 0;
    if (size > arena->next_size && arena->blocks) {
        b->next             = arena->blocks->next; /* keep filling the block with more space */
        arena->blocks->next = b;
    } else {
        b->next       = arena->blocks;
        arena->blocks = b;
    }
    if (arena->next_size < LARGEST_BLOCK)
        arena->next_size *= 2;
    return b;
}

void *cq_arena_alloc(cq_arena *arena, size_t size)
{
    block *b = arena->blocks;
    void  *p;

    if (size > SIZE_MAX - ALIGN) {
        cq_no_memory();
        return NULL;
    }
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (!b || b->size - b->used < size) {
        b = add_block(arena, size);
        if (!b)
            return NULL;
    }
    p = (char *)b + header_size() + b->used;
    b->used += size;
    arena->total += size;
    return p;
}

void *cq_arena_zalloc(cq_arena *arena, size_t size)
{
    void *p = cq_arena_alloc(arena, size);

    return p ? memset(p, 0, size) : NULL;
}

void *cq_arena_array(cq_arena *arena, size_t n, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(n, size, &total)) {
        cq_no_memory();
        return NULL;
    }
    return cq_arena_zalloc(arena, total);
}

void *cq_arena_copy(cq_arena *arena, const void *src, size_t size)
{
    void *p = cq_arena_alloc(arena, size);

    if (p && size)
        memcpy(p, src, size);
    return p;
}

char *cq_arena_strndup(cq_arena *arena, const char *s, size_t len)
{
    char *p = cq_arena_alloc(arena, len + 1);

    if (!p)
        return NULL;
    if (len)
        memcpy(p, s, len);
    p[len] = '\0';
    return p;
}

char *cq_arena_strdup(cq_arena *arena, const char *s)
{
    return cq_arena_strndup(arena, s, strlen(s));
}

char *cq_arena_printf(cq_arena *arena, const char *format, ...)
{
    va_list args, again;
    int     len;
    char   *p;

    va_start(args, format);
    va_copy(again, args);
    len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    p = len < 0 ? NULL : cq_arena_alloc(arena, (size_t)len + 1);
    if (p)
        vsnprintf(p, (size_t)len + 1, format, again);
    va_end(again);
    return p;
}

size_t cq_arena_used(const cq_arena *arena)
{
    return arena->total;
}
