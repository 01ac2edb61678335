#include "runtime/plan/memory.h"

#include "base/file.h"
#include "base/lock.h"

#include <inttypes.h>

/* Under a sanitizer blocks are not reused, and unused parts of an arena are poisoned, so that late
 * reads are detected. */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#ifdef HAS_SANITIZER
#include <sanitizer/asan_interface.h>
enum { KEEPS_BLOCKS = 0 };
#else
enum { KEEPS_BLOCKS = 1 };
#define ASAN_POISON_MEMORY_REGION(p, n)   ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

enum {
    MIN_KEPT       = 4096, /* smaller blocks are not cached, because the heap is fast enough */
    MAX_SPANS      = 4096, /* limit per run, because the layout takes quadratic time */
    MAX_SPANS_STEP = 256,  /* limit per step, so that inner loops do not fill the list */
    SHRINKS_BELOW  = 4     /* an arena is freed if it is larger by this factor than needed */
};

/* Memory for the blocks of a placing. */
typedef struct arena {
    char         *data;
    size_t        size, n_taken;
    struct block *taken;   /* list of blocks in use */
    bool          is_left; /* the workspace has another arena; this one is freed with its last
                            * block */
} arena;

typedef struct block {
    cq_rt_workspace *owner;
    char            *data;
    size_t           size;
    uint32_t         span;        /* index of the recorded span + 1; 0: not recorded */
    uint64_t         run;         /* number of the run that allocated it */
    arena           *in;          /* NULL: separately allocated */
    struct block    *prev, *next; /* of the arena */
} block;

struct cq_rt_workspace {
    cq_mutex lock;
    uint64_t limit, used, peak; /* used: bytes of the arena and of separate blocks of this run */
    uint64_t kept;              /* bytes of idle blocks */
    size_t   refs;              /* references: the holder of the workspace, and each tensor */
    CQ_VEC(block *) idle;

    uint64_t             run;
    cq_rt_placing       *writes; /* NULL: nothing is recorded */
    uint32_t             tick;
    const cq_rt_placing *follows;        /* NULL: no layout is followed */
    uint32_t             next, step_end; /* next span, and the end of the spans of this step */
    arena               *arena;
};

/* ---- placings ---- */

cq_status cq_rt_placing_lay_out(cq_rt_placing *p)
{
    if (p->total != UINT64_MAX)
        return CQ_OK;
    return cq_rt_layout(&p->total, p->spans.items, p->spans.n);
}

void cq_rt_placing_free(cq_rt_placing *p)
{
    if (!p)
        return;
    cq_vec_clear(&p->spans);
    cq_vec_clear(&p->first);
    cq_free(p);
}

/* ---- the arena ---- */

static void arena_free(arena *a)
{
    if (a)
        ASAN_UNPOISON_MEMORY_REGION(a->data, a->size);
    if (a)
        cq_free_aligned(a->data);
    cq_free(a);
}

static cq_status arena_new(arena **out, size_t size)
{
    arena *a = *out = cq_zalloc(sizeof *a);

    if (!a)
        return CQ_E_NO_MEMORY;
    a->size = size;
    a->data = cq_alloc_aligned(size);
    if (!a->data) {
        cq_free(a);
        *out = NULL;
        return CQ_E_NO_MEMORY;
    }
    ASAN_POISON_MEMORY_REGION(a->data, a->size);
    return CQ_OK;
}

/* Detaches the arena from the workspace. */
static void detach_arena(cq_rt_workspace *w)
{
    if (w->arena && w->arena->n_taken)
        w->arena->is_left = true;
    else
        arena_free(w->arena);
    w->arena = NULL;
}

static bool is_taken(const arena *a, uint64_t offset, uint64_t size)
{
    for (const block *b = a->taken; b; b = b->next) {
        uint64_t begin = (uint64_t)(b->data - a->data);

        if (offset < begin + b->size && begin < offset + size)
            return true;
    }
    return false;
}

static void arena_take(arena *a, block *b)
{
    b->in   = a;
    b->prev = NULL;
    b->next = a->taken;
    if (a->taken)
        a->taken->prev = b;
    a->taken = b;
    a->n_taken++;
    ASAN_UNPOISON_MEMORY_REGION(b->data, b->size);
}

static void arena_give_back(block *b)
{
    arena *a = b->in;

    if (b->prev)
        b->prev->next = b->next;
    else
        a->taken = b->next;
    if (b->next)
        b->next->prev = b->prev;
    ASAN_POISON_MEMORY_REGION(b->data, b->size);
    if (--a->n_taken == 0 && a->is_left)
        arena_free(a);
}

/* ---- blocks ---- */

static void block_free(block *b)
{
    if (b && b->in)
        arena_give_back(b);
    else if (b)
        cq_free_aligned(b->data);
    cq_free(b);
}

static void drop_idle(cq_rt_workspace *w)
{
    while (w->idle.n)
        block_free(w->idle.items[--w->idle.n]);
    w->kept = 0;
}

static void release_reference(cq_rt_workspace *w) /* called with the lock, which it releases */
{
    bool last = --w->refs == 0;

    cq_mutex_unlock(&w->lock);
    if (!last)
        return;
    drop_idle(w);
    detach_arena(w);
    cq_vec_clear(&w->idle);
    cq_rt_placing_free(w->writes);
    cq_mutex_clear(&w->lock);
    cq_free(w);
}

/* Called when the last tensor on a block is freed. */
static void block_release(void *user)
{
    block           *b = user;
    cq_rt_workspace *w = b->owner;

    cq_mutex_lock(&w->lock);
    if (b->run == w->run && b->span && w->writes)
        w->writes->spans.items[b->span - 1].to = w->tick++;
    if (b->run == w->run && !b->in)
        w->used -= b->size;
    /* This does not fail: space in the list was reserved when the block was allocated. */
    if (KEEPS_BLOCKS && !b->in && b->size >= MIN_KEPT && w->idle.n < w->idle.cap) {
        w->idle.items[w->idle.n++] = b;
        w->kept += b->size;
    } else {
        block_free(b);
    }
    release_reference(w);
}

bool cq_rt_workspace_is_only_owner(const cq_tensor *t)
{
    return atomic_load(&t->refs) == 1 && t->storage && atomic_load(&t->storage->refs) == 1 &&
           t->storage->release == block_release;
}

/* ---- allocation ---- */

/* The smallest idle block that is large enough and does not waste memory, or NULL. Requires the
 * lock. */
static block *take_idle(cq_rt_workspace *w, size_t size)
{
    size_t best = SIZE_MAX;
    block *b;

    for (size_t i = 0; i < w->idle.n; i++) {
        size_t has = w->idle.items[i]->size;

        if (has >= size && has <= size + size / 4 &&
            (best == SIZE_MAX || has < w->idle.items[best]->size))
            best = i;
    }
    if (best == SIZE_MAX)
        return NULL;
    b                   = w->idle.items[best];
    w->idle.items[best] = w->idle.items[--w->idle.n];
    w->kept -= b->size;
    return b;
}

static cq_status block_on_heap(block **out, cq_rt_workspace *w, size_t size)
{
    block *b;

    *out = NULL;
    if (w->limit && (size > w->limit || w->used > w->limit - size))
        return cq_fail(
            CQ_E_NO_MEMORY, NULL,
            "allow more memory with max_memory of the session's options, or --max-memory",
            "a tensor of %zu bytes is needed, and %" PRIu64 " of %" PRIu64 " bytes are in use",
            size, w->used, w->limit);
    b = take_idle(w, size);
    if (!b) {
        if (w->kept > w->used + size) /* sizes have changed, so the cached blocks are useless */
            drop_idle(w);
        CQ_TRY(cq_vec_reserve(&w->idle, w->idle.n + w->refs + 1));
        b = cq_zalloc(sizeof *b);
        if (!b)
            return CQ_E_NO_MEMORY;
        b->size = size;
        b->data = cq_alloc_aligned(size);
        if (!b->data) {
            cq_free(b);
            return CQ_E_NO_MEMORY;
        }
    }
    w->used += b->size;
    w->peak = w->used > w->peak ? w->used : w->peak;
    *out    = b;
    return CQ_OK;
}

/* Allocates a block at the offset of the next span. *out is NULL if there is no span, it is too
 * small, or its memory is still in use. */
static cq_status block_in_arena(block **out, cq_rt_workspace *w, size_t size)
{
    const cq_rt_span *s;
    block            *b;

    *out = NULL;
    if (!w->follows || size < MIN_KEPT || w->next == w->step_end)
        return CQ_OK;
    s = &w->follows->spans.items[w->next++];
    if (s->to <= s->from || size > s->size || is_taken(w->arena, s->offset, size))
        return CQ_OK;
    b = *out = cq_zalloc(sizeof *b);
    if (!b)
        return CQ_E_NO_MEMORY;
    b->data = w->arena->data + s->offset;
    b->size = size;
    arena_take(w->arena, b);
    return CQ_OK;
}

static cq_status write_down(cq_rt_workspace *w, block *b, size_t size)
{
    cq_rt_placing *p = w->writes;

    b->span = 0;
    if (!p || size < MIN_KEPT || p->spans.n == MAX_SPANS || !p->first.n ||
        p->spans.n - p->first.items[p->first.n - 1] == MAX_SPANS_STEP)
        return CQ_OK;
    CQ_TRY(cq_vec_push(&p->spans, (cq_rt_span){ .size = size, .from = w->tick++ }));
    b->span = (uint32_t)p->spans.n;
    return CQ_OK;
}

/* Allocates a block, counts it as used, and adds a reference to w. */
static cq_status block_get(block **out, cq_rt_workspace *w, size_t size)
{
    cq_status status;
    block    *b;

    cq_mutex_lock(&w->lock);
    status = block_in_arena(&b, w, size);
    if (status == CQ_OK && !b)
        status = block_on_heap(&b, w, size);
    if (status == CQ_OK) {
        b->owner = w;
        b->run   = w->run;
        w->refs++;
        status = write_down(w, b, size);
        *out   = b;
    }
    cq_mutex_unlock(&w->lock);
    if (status != CQ_OK && b)
        block_release(b);
    return status;
}

/* ---- workspaces ---- */

cq_status cq_rt_workspace_new(cq_rt_workspace **out, uint64_t limit)
{
    cq_rt_workspace *w = *out = cq_zalloc(sizeof *w);

    if (!w)
        return CQ_E_NO_MEMORY;
    cq_mutex_init(&w->lock);
    w->limit = limit;
    w->refs  = 1;
    return CQ_OK;
}

void cq_rt_workspace_set_limit(cq_rt_workspace *w, uint64_t limit)
{
    w->limit = limit;
}

void cq_rt_workspace_release(cq_rt_workspace *w)
{
    if (!w)
        return;
    cq_mutex_lock(&w->lock);
    release_reference(w);
}

/* Allocates the arena for a placing if the limit allows it. Requires the lock. */
static cq_status follow(cq_rt_workspace *w, const cq_rt_placing *placing)
{
    uint64_t has = w->arena ? w->arena->size : 0, wants = placing->total;

    if (w->limit && wants > w->limit)
        return CQ_OK;
    if (has < wants || has / SHRINKS_BELOW > wants) {
        detach_arena(w);
        drop_idle(w);
        CQ_TRY(arena_new(&w->arena, (size_t)wants));
    }
    w->follows = placing;
    return CQ_OK;
}

cq_status cq_rt_workspace_begin(cq_rt_workspace *w, const cq_rt_placing *placing)
{
    cq_status status = CQ_OK;

    cq_mutex_lock(&w->lock);
    w->run++;
    w->tick = w->next = w->step_end = 0;
    if (placing) {
        status = follow(w, placing);
    } else {
        detach_arena(w);
        w->writes = cq_zalloc(sizeof *w->writes);
        status    = w->writes ? CQ_OK : CQ_E_NO_MEMORY;
    }
    w->used = w->peak = w->arena ? w->arena->size : 0;
    cq_mutex_unlock(&w->lock);
    return status;
}

cq_status cq_rt_workspace_step(cq_rt_workspace *w, uint32_t step)
{
    cq_status status = CQ_OK;

    cq_mutex_lock(&w->lock);
    if (w->writes)
        status = cq_vec_push(&w->writes->first, (uint32_t)w->writes->spans.n);
    if (w->follows) {
        w->next     = w->follows->first.items[step];
        w->step_end = w->follows->first.items[step + 1];
    }
    cq_mutex_unlock(&w->lock);
    return status;
}

uint64_t cq_rt_workspace_end(cq_rt_workspace *w, cq_rt_placing **written)
{
    cq_rt_placing *p;
    uint64_t       peak;

    cq_mutex_lock(&w->lock);
    p = w->writes;
    if (p && cq_vec_push(&p->first, (uint32_t)p->spans.n) != CQ_OK) {
        cq_rt_placing_free(p);
        p = NULL;
    }
    if (p)
        p->total = UINT64_MAX;
    *written   = p;
    peak       = w->peak;
    w->writes  = NULL;
    w->follows = NULL;
    w->run++; /* later releases do not belong to this run */
    cq_mutex_unlock(&w->lock);
    return peak;
}

cq_status cq_rt_workspace_tensor(cq_tensor **out, cq_rt_workspace *w, cq_dtype dtype, size_t rank,
                                 const int64_t *sizes)
{
    int64_t     strides[CQ_MAX_RANK], size = (int64_t)cq_dtype_size(dtype);
    cq_storage *storage;
    cq_status   status;
    block      *b;

    *out = NULL;
    if (rank > CQ_MAX_RANK)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "a tensor has %zu dimensions, at most %d work",
                       rank, CQ_MAX_RANK);
    for (size_t i = rank; i-- > 0;) {
        strides[i] = i + 1 < rank ? strides[i + 1] * (sizes[i + 1] ? sizes[i + 1] : 1) : 1;
        if (sizes[i] < 0)
            return cq_fail(CQ_E_INVALID, NULL, NULL,
                           "size %" PRId64 " of dimension %zu is negative", sizes[i], i);
        if (__builtin_mul_overflow(size, sizes[i] ? sizes[i] : 1, &size))
            return cq_fail(CQ_E_NO_MEMORY, NULL, NULL,
                           "a tensor of %zu dimensions from %" PRId64
                           " on has more bytes than can be counted",
                           rank - i, sizes[i]);
    }
    for (size_t i = 0; i < rank; i++)
        if (sizes[i] == 0)
            size = 0;
    CQ_TRY(block_get(&b, w, (size_t)size));
    status = cq_storage_wrap(&storage, b->data, b->size, false, block_release, b);
    if (status != CQ_OK) {
        block_release(b);
        return status;
    }
    status = cq_tensor_new_on(out, storage, dtype, rank, sizes, strides, 0);
    cq_storage_release(storage);
    return status;
}

void cq_rt_was_packed(const cq_tensor *weight)
{
    cq_mapping_read(cq_tensor_data(weight),
                    (size_t)cq_tensor_numel(weight) * cq_dtype_size(weight->dtype));
}
