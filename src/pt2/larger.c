/* Inputs of other sizes than the example's, for trying an export out. Every open size is to grow,
 * by as little as the program's ranges and guards allow: where the length of a mask is that of the
 * past and of the new tokens, it grows with each of them. */
#include "pt2/model.h"

/* ---- sizes ---- */

/* A file can have thousands of sizes and of guards on them, and pairs of sizes are their square. */
enum { MOST_WORK = 8 << 20 };

static int64_t largest(const cq_pt2_program *p, const char *symbol)
{
    const cq_pt2_range *range = cq_map_get(&p->range_of, symbol);

    return range ? range->max : INT64_MAX;
}

static cq_pt2_sized *find(const cq_pt2 *p, const char *symbol)
{
    const uintptr_t at = (uintptr_t)cq_map_get(&p->sized, symbol);

    return at ? &p->larger.items[at - 1] : NULL;
}

static const cq_pt2_meta *meta_of(const cq_pt2 *p, size_t input)
{
    const cq_pt2_graph *g = p->program->graph;

    return &g->metas[g->inputs[p->user.items[input]].u.slot];
}

/* The symbols that are an axis of an input alone. */
static cq_status list_symbols(cq_pt2 *p)
{
    for (size_t i = 0; i < p->user.n; i++) {
        const cq_pt2_meta *m = meta_of(p, i);

        for (size_t k = 0; k < m->rank && m->dtype != CQ_DTYPE_NONE; k++) {
            cq_pt2_sized sized = { .size = p->examples.items[i]->sizes[k].value };

            if (!m->sizes[k].expr ||
                !cq_pt2_lone_symbol(m->sizes[k].expr, sized.symbol, sizeof sized.symbol) ||
                find(p, sized.symbol))
                continue;
            sized.example = sized.size;
            sized.max     = largest(p->program, sized.symbol);
            CQ_TRY(cq_vec_push(&p->larger, sized));
            CQ_TRY(cq_map_set(&p->sized, sized.symbol, (void *)(uintptr_t)p->larger.n));
        }
    }
    return CQ_OK;
}

static bool size_of_symbol(void *user, const char *symbol, cq_int *out)
{
    const cq_pt2_sized *s = find(user, symbol);

    if (s)
        *out = cq_i(s->size);
    return s != NULL;
}

static cq_int size_of_axis(void *user, size_t input, size_t axis)
{
    cq_pt2            *p   = user;
    const cq_pt2_env   env = { NULL, size_of_symbol, user };
    const cq_pt2_meta *m   = input < p->user.n ? meta_of(p, input) : NULL;
    cq_int             size;

    if (!m || axis >= m->rank || axis >= p->examples.items[input]->rank)
        return cq_i(0);
    p->work += m->sizes[axis].expr ? strlen(m->sizes[axis].expr) : 1;
    return m->sizes[axis].expr && cq_pt2_expr(m->sizes[axis].expr, &env, &size) && size.value > 0
               ? size
               : cq_i(p->examples.items[input]->sizes[axis].value);
}

/* Makes two sizes, or one twice the same, larger by one; takes that back if the program would not
 * take them. */
static bool grow(cq_pt2 *p, cq_pt2_sized *a, cq_pt2_sized *b)
{
    p->work++;
    if (a->size >= a->max || (b && b->size >= b->max) || p->work > MOST_WORK)
        return false;
    p->work += p->guards_len;
    a->size++;
    if (b)
        b->size++;
    if (!cq_pt2_broken_guard(p, size_of_axis, p))
        return true;
    a->size--;
    if (b)
        b->size--;
    return false;
}

/* If the example itself violates the guards, they were misread, so they are ignored. */
static cq_status choose_sizes(cq_pt2 *p)
{
    CQ_TRY(list_symbols(p));
    if (cq_pt2_broken_guard(p, size_of_axis, p))
        p->guards.n = 0;
    for (size_t i = 0; i < p->larger.n; i++) {
        cq_pt2_sized *s     = &p->larger.items[i];
        bool          grown = s->size > s->example || grow(p, s, NULL);

        for (size_t k = 0; k < p->larger.n && !grown; k++)
            grown = k != i && grow(p, s, &p->larger.items[k]);
    }
    return CQ_OK;
}

/* ---- tensors ---- */

/* The example over and over again: its numbers may be indices. */
static cq_status repeat(cq_tensor **out, const cq_tensor *from, const int64_t *sizes)
{
    const size_t item = cq_dtype_size(from->dtype);
    cq_tensor   *dense;
    int64_t      n;
    cq_status    status;

    CQ_TRY(cq_tensor_clone(&dense, from, from->dtype));
    n      = cq_tensor_numel(dense);
    status = cq_tensor_new(out, from->dtype, from->rank, sizes, NULL);
    if (status == CQ_OK)
        cq_tensor_set_made_up(*out);
    for (int64_t i = 0; status == CQ_OK && n && i < cq_tensor_numel(*out); i++)
        memcpy(cq_tensor_bytes(*out) + i * (int64_t)item,
               cq_tensor_bytes(dense) + i % n * (int64_t)item, item);
    cq_tensor_release(dense);
    return status;
}

CQ_API cq_status cq_pt2_larger_input(cq_tensor **out, cq_pt2 *p, size_t i)
{
    int64_t sizes[CQ_MAX_RANK];

    CQ_TRY(cq_pt2_example_input(out, p, i));
    if (meta_of(p, i)->dtype == CQ_DTYPE_NONE)
        return CQ_OK;
    cq_tensor_release(*out);
    *out = NULL;
    if (!p->larger.n)
        CQ_TRY(choose_sizes(p));
    for (size_t k = 0; k < p->examples.items[i]->rank; k++)
        sizes[k] = size_of_axis(p, i, k).value;
    return repeat(out, p->examples.items[i], sizes);
}
