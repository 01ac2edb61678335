#include "base/huge_pages.h"

#include "base/alloc.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    HEAD  = 64,              /* bytes before a block for its header */
    PAGE  = CQ_HUGE_PAGE,    /* minimum expected size; a larger block has separate pages */
    CHUNK = 2 * CQ_HUGE_PAGE /* bytes allocated at once: unwritten pages take no physical memory */
};

/* Header of a block of pages. users counts its allocations and the thread that fills it; the last
 * one frees the block. */
struct chunk {
    atomic_size_t users;
    size_t        used;
};

struct cq_huge_pages {
    struct chunk *chunk; /* NULL: none yet */
};

static _Thread_local cq_huge_pages *current;

static void release_chunk(struct chunk *s)
{
    if (s && atomic_fetch_sub(&s->users, 1) == 1)
        cq_free_pages(s, CHUNK);
}

cq_huge_pages *cq_huge_pages_begin(double expected)
{
    cq_huge_pages *before = current;

    /* Failure is harmless: the arena only improves locality. */
    current = expected >= PAGE ? cq_zalloc(sizeof *current) : NULL;
    return before;
}

void cq_huge_pages_end(cq_huge_pages *before)
{
    if (current)
        release_chunk(current->chunk);
    cq_free(current);
    current = before;
}

/* Finds space for size bytes; allocates a new block of pages if necessary. */
static char *take_space(cq_huge_pages *l, size_t size)
{
    if (!l->chunk || size > CHUNK - l->chunk->used) {
        struct chunk *new = cq_alloc_pages(CHUNK);

        if (!new)
            return NULL;
        release_chunk(l->chunk);
        l->chunk = new;
        atomic_init(&new->users, 1);
        new->used = HEAD;
    }
    l->chunk->used += size;
    return (char *)l->chunk + l->chunk->used - size;
}

void *cq_huge_alloc(size_t size)
{
    const bool is_shared = current && size < PAGE;
    char      *p;

    if (size > SIZE_MAX - 2 * HEAD) {
        (void)cq_no_memory();
        return NULL;
    }
    size = (size + 2 * HEAD - 1) / HEAD * HEAD;
    p    = is_shared ? take_space(current, size) : cq_alloc_aligned(size);
    if (!p)
        return NULL;
    *(struct chunk **)p = is_shared ? current->chunk : NULL;
    if (is_shared)
        atomic_fetch_add(&current->chunk->users, 1);
    return p + HEAD;
}

void cq_huge_free(void *p)
{
    char *head = p ? (char *)p - HEAD : NULL;

    if (head && *(struct chunk **)head)
        release_chunk(*(struct chunk **)head);
    else
        cq_free_aligned(head);
}
