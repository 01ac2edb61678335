#include "base/huge_pages.h"

#include "base/alloc.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    HEAD  = 64,              /* bytes before a block for its header */
    PAGE  = CQ_HUGE_PAGE,    /* minimum expected size; a larger block has separate pages */
    SHELF = 2 * CQ_HUGE_PAGE /* bytes allocated at once: unwritten pages take no physical memory */
};

/* Header of a block of pages. users counts its allocations and the thread that fills it; the last
 * one frees the block. */
struct shelf {
    atomic_size_t users;
    size_t        used;
};

struct cq_huge_pages {
    struct shelf *shelf; /* NULL: none yet */
};

static _Thread_local cq_huge_pages *current;

static void leave(struct shelf *s)
{
    if (s && atomic_fetch_sub(&s->users, 1) == 1)
        cq_free_pages(s, SHELF);
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
        leave(current->shelf);
    cq_free(current);
    current = before;
}

/* Finds space for size bytes; allocates a new block of pages if necessary. */
static char *place_on(cq_huge_pages *l, size_t size)
{
    if (!l->shelf || size > SHELF - l->shelf->used) {
        struct shelf *new = cq_alloc_pages(SHELF);

        if (!new)
            return NULL;
        leave(l->shelf);
        l->shelf = new;
        atomic_init(&new->users, 1);
        new->used = HEAD;
    }
    l->shelf->used += size;
    return (char *)l->shelf + l->shelf->used - size;
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
    p    = is_shared ? place_on(current, size) : cq_alloc_aligned(size);
    if (!p)
        return NULL;
    *(struct shelf **)p = is_shared ? current->shelf : NULL;
    if (is_shared)
        atomic_fetch_add(&current->shelf->users, 1);
    return p + HEAD;
}

void cq_huge_free(void *p)
{
    char *head = p ? (char *)p - HEAD : NULL;

    if (head && *(struct shelf **)head)
        leave(*(struct shelf **)head);
    else
        cq_free_aligned(head);
}
