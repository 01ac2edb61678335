#include "runtime/plan/workspace.h"

#include "kernel/operand.h"

#include <string.h>

enum {
    MAX_IDLE = 16, /* workspaces that are cached for later runs */
    MAX_SEEN = 32  /* input shapes that are remembered */
};

struct cq_rt_seen {
    cq_rt_signature signature;
    cq_rt_placing  *placing;
    size_t          n_users;
    uint64_t        last; /* time of last use, by the pool's clock */
};

static void seen_free(cq_rt_seen *s)
{
    if (s)
        cq_rt_placing_free(s->placing);
    cq_free(s);
}

void cq_rt_pool_init(cq_rt_pool *p)
{
    *p = (cq_rt_pool){ 0 };
    cq_mutex_init(&p->lock);
}

void cq_rt_pool_clear(cq_rt_pool *p)
{
    for (size_t i = 0; i < p->idle.n; i++)
        cq_rt_workspace_release(p->idle.items[i]);
    for (size_t i = 0; i < p->seen.n; i++)
        seen_free(p->seen.items[i]);
    cq_vec_clear(&p->idle);
    cq_vec_clear(&p->seen);
    cq_mutex_clear(&p->lock);
}

/* ---- shapes ---- */

static bool add(cq_rt_signature *s, int64_t number)
{
    if (s->n == CQ_RT_MAX_SIGNATURE)
        return false;
    s->at[s->n++] = number;
    return true;
}

/* Values that are not tensors are represented by their kind: their sizes are unknown before the
 * run. */
static void sign(cq_rt_signature *s, const cq_val *inputs, size_t n)
{
    bool ok = true;

    s->n = 0;
    for (size_t i = 0; i < n && ok; i++) {
        const cq_tensor *t = inputs[i].kind == CQ_VAL_TENSOR ? inputs[i].u.tensor : NULL;

        ok = add(s, t ? -1 - (int64_t)t->dtype : (int64_t)inputs[i].kind);
        for (uint32_t k = 0; t && k < t->rank && ok; k++)
            ok = add(s, cq_size_of(t, k));
    }
    ok   = ok && add(s, 0); /* a model without inputs also needs a signature */
    s->n = ok ? s->n : 0;
}

static bool is_same(const cq_rt_signature *a, const cq_rt_signature *b)
{
    return a->n && a->n == b->n && !memcmp(a->at, b->at, a->n * sizeof *a->at);
}

static cq_rt_seen *find(const cq_rt_pool *p, const cq_rt_signature *s)
{
    for (size_t i = 0; i < p->seen.n; i++)
        if (is_same(&p->seen.items[i]->signature, s))
            return p->seen.items[i];
    return NULL;
}

/* Evicts the least recently used entry if the list is full. Returns false if all are in use. */
static bool make_room(cq_rt_pool *p)
{
    size_t oldest = SIZE_MAX;

    if (p->seen.n < MAX_SEEN)
        return true;
    for (size_t i = 0; i < p->seen.n; i++)
        if (!p->seen.items[i]->n_users &&
            (oldest == SIZE_MAX || p->seen.items[i]->last < p->seen.items[oldest]->last))
            oldest = i;
    if (oldest == SIZE_MAX)
        return false;
    seen_free(p->seen.items[oldest]);
    p->seen.items[oldest] = p->seen.items[--p->seen.n];
    return true;
}

/* Takes ownership of the placing. If memory is exhausted it is dropped, which is not a failure. */
static void remember(cq_rt_pool *p, const cq_rt_signature *s, cq_rt_placing *placing)
{
    cq_rt_seen *seen = NULL;

    if (s->n && !find(p, s) && make_room(p))
        seen = cq_zalloc(sizeof *seen);
    if (!seen) {
        cq_rt_placing_free(placing);
        return;
    }
    *seen = (cq_rt_seen){ .signature = *s, .placing = placing, .last = ++p->clock };
    if (cq_vec_push(&p->seen, seen) != CQ_OK)
        seen_free(seen);
}

/* ---- workspaces ---- */

cq_status cq_rt_pool_take(cq_rt_lease *out, cq_rt_pool *p, const cq_val *inputs, size_t n,
                          uint64_t limit)
{
    cq_status status = CQ_OK;

    *out = (cq_rt_lease){ 0 };
    sign(&out->signature, inputs, n);
    cq_mutex_lock(&p->lock);
    if (p->idle.n)
        out->workspace = p->idle.items[--p->idle.n];
    out->seen = find(p, &out->signature);
    if (out->seen) { /* the layout is computed on the second use, because many shapes occur only
                      * once */
        out->seen->n_users++;
        out->seen->last = ++p->clock;
        status          = cq_rt_placing_lay_out(out->seen->placing);
    }
    cq_mutex_unlock(&p->lock);
    if (status == CQ_OK && !out->workspace)
        status = cq_rt_workspace_new(&out->workspace, limit);
    if (status == CQ_OK) {
        cq_rt_workspace_set_limit(out->workspace, limit);
        status = cq_rt_workspace_begin(out->workspace, out->seen ? out->seen->placing : NULL);
    }
    if (status != CQ_OK)
        cq_rt_pool_give_back(p, out, false);
    return status;
}

void cq_rt_pool_give_back(cq_rt_pool *p, cq_rt_lease *lease, bool ok)
{
    cq_rt_placing *written = NULL;
    uint64_t       peak    = 0;
    bool           kept;

    if (lease->workspace)
        peak = cq_rt_workspace_end(lease->workspace, &written);
    cq_mutex_lock(&p->lock);
    p->peak = peak > p->peak ? peak : p->peak;
    if (lease->seen)
        lease->seen->n_users--;
    if (written && ok)
        remember(p, &lease->signature, written);
    kept = lease->workspace && p->idle.n < MAX_IDLE &&
           cq_vec_push(&p->idle, lease->workspace) == CQ_OK;
    cq_mutex_unlock(&p->lock);
    if (!ok)
        cq_rt_placing_free(written);
    if (!kept)
        cq_rt_workspace_release(lease->workspace);
    *lease = (cq_rt_lease){ 0 };
}

uint64_t cq_rt_pool_peak(cq_rt_pool *p)
{
    uint64_t peak;

    cq_mutex_lock(&p->lock);
    peak = p->peak;
    cq_mutex_unlock(&p->lock);
    return peak;
}
