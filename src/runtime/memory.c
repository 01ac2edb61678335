#include "runtime/memory.h"

#include "base/vec.h"

#include <inttypes.h>
#include <pthread.h>

/* Under a sanitizer blocks are not used again, so that it sees what is read too late. */
#if defined(__SANITIZE_ADDRESS__)
#define KEEPS_BLOCKS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KEEPS_BLOCKS 0
#endif
#endif
#ifndef KEEPS_BLOCKS
#define KEEPS_BLOCKS 1
#endif

/* Blocks below this come from the heap quickly enough. */
enum { MIN_KEPT = 4096 };

typedef struct block {
    cq_rt_workspace *owner;
    void            *data;
    size_t           size;
} block;

struct cq_rt_workspace {
    pthread_mutex_t lock;
    uint64_t        limit, used; /* used: by tensors that are alive */
    uint64_t        kept;        /* in idle blocks */
    size_t          refs;        /* of its holder, and one for each tensor */
    CQ_VEC(block *) idle;
};

cq_status cq_rt_workspace_new(cq_rt_workspace **out, uint64_t limit)
{
    cq_rt_workspace *w = *out = cq_zalloc(sizeof *w);

    if (!w)
        return CQ_E_NO_MEMORY;
    pthread_mutex_init(&w->lock, NULL);
    w->limit = limit;
    w->refs  = 1;
    return CQ_OK;
}

static void block_free(block *b)
{
    if (b)
        cq_free_aligned(b->data);
    cq_free(b);
}

static void drop_idle(cq_rt_workspace *w)
{
    while (w->idle.n)
        block_free(w->idle.items[--w->idle.n]);
    w->kept = 0;
}

static void let_go(cq_rt_workspace *w) /* locked; unlocks */
{
    bool last = --w->refs == 0;

    pthread_mutex_unlock(&w->lock);
    if (!last)
        return;
    drop_idle(w);
    cq_vec_clear(&w->idle);
    pthread_mutex_destroy(&w->lock);
    cq_free(w);
}

void cq_rt_workspace_release(cq_rt_workspace *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    let_go(w);
}

/* When the last tensor on a block is gone. */
static void block_release(void *user)
{
    block           *b = user;
    cq_rt_workspace *w = b->owner;

    pthread_mutex_lock(&w->lock);
    w->used -= b->size;
    /* Room for it was made when the block was. */
    if (KEEPS_BLOCKS && b->size >= MIN_KEPT && w->idle.n < w->idle.cap) {
        w->idle.items[w->idle.n++] = b;
        w->kept += b->size;
    } else {
        block_free(b);
    }
    let_go(w);
}

/* The smallest idle block that is large enough and not wasteful, or NULL. Locked. */
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

static cq_status block_new(block **out, cq_rt_workspace *w, size_t size)
{
    block *b = *out = cq_zalloc(sizeof *b);

    if (!b)
        return CQ_E_NO_MEMORY;
    b->owner = w;
    b->size  = size;
    b->data  = cq_alloc_aligned(size);
    if (b->data)
        return CQ_OK;
    block_free(b);
    *out = NULL;
    return CQ_E_NO_MEMORY;
}

/* A block that counts as used, and holds a reference to w. */
static cq_status block_get(block **out, cq_rt_workspace *w, size_t size)
{
    cq_status status = CQ_OK;

    *out = NULL;
    pthread_mutex_lock(&w->lock);
    if (w->limit && (size > w->limit || w->used > w->limit - size))
        status = cq_fail(CQ_E_NO_MEMORY, NULL, "max_memory of the session's options sets the limit",
                         "a tensor of %zu bytes is needed, and %" PRIu64 " of %" PRIu64
                         " bytes are in use",
                         size, w->used, w->limit);
    if (status == CQ_OK)
        *out = take_idle(w, size);
    /* Sizes have changed for good: what is kept is of no use. */
    if (status == CQ_OK && !*out && w->kept > w->used + size)
        drop_idle(w);
    if (status == CQ_OK && !*out)
        status = cq_vec_reserve(&w->idle, w->idle.n + w->refs + 1);
    if (status == CQ_OK && !*out)
        status = block_new(out, w, size);
    if (status == CQ_OK) {
        w->used += (*out)->size;
        w->refs++;
    }
    pthread_mutex_unlock(&w->lock);
    return status;
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
            return cq_no_memory();
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
