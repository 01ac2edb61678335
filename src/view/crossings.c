/* Orders the vertices within each rank by barycentre sweeps: each vertex moves to the mean position
 * of its neighbours, then adjacent vertices are exchanged if that removes crossings. The result is
 * the best order of all sweeps. */
#include "view/view.h"

#include <stdlib.h>

enum { SWEEPS = 12, SWEEPS_OF_MANY = 4, MANY = 4000 };

typedef struct keyed {
    double   key;
    uint32_t vertex, pos;
} keyed;

typedef struct untangler {
    cq_view_grid *g;
    keyed        *keys;
    uint32_t     *tree, *ends, *best;
} untangler;

static int compare_keys(const void *a, const void *b)
{
    const keyed *x = a, *y = b;

    if (x->key < y->key || x->key > y->key)
        return x->key < y->key ? -1 : 1;
    return x->pos < y->pos ? -1 : x->pos > y->pos;
}

static int compare_numbers(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Vertices without neighbours in that direction keep their position. */
static void sort_rank(untangler *u, uint32_t rank, bool by_above)
{
    cq_view_grid   *g    = u->g;
    const uint32_t *at   = by_above ? g->above_at : g->below_at;
    const uint32_t *list = by_above ? g->above : g->below;
    const uint32_t  lo = g->starts[rank], n = g->starts[rank + 1] - lo;

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t v   = g->order[lo + i];
        double         sum = 0;

        for (uint32_t k = at[v]; k < at[v + 1]; k++)
            sum += g->pos[list[k]];
        u->keys[i] =
            (keyed){ at[v + 1] > at[v] ? sum / (double)(at[v + 1] - at[v]) : (double)i, v, i };
    }
    qsort(u->keys, n, sizeof *u->keys, compare_keys);
    for (uint32_t i = 0; i < n; i++) {
        g->order[lo + i]          = u->keys[i].vertex;
        g->pos[u->keys[i].vertex] = i;
    }
}

/* Counts the crossings between a rank and the next one with a Fenwick tree over the positions in
 * the lower rank. */
static uint64_t count_rank(untangler *u, uint32_t rank)
{
    const cq_view_grid *g       = u->g;
    const uint32_t      n_below = g->starts[rank + 2] - g->starts[rank + 1];
    uint64_t            total = 0, seen = 0;

    memset(u->tree, 0, (n_below + 1) * sizeof *u->tree);
    for (uint32_t i = g->starts[rank]; i < g->starts[rank + 1]; i++) {
        const uint32_t v = g->order[i], n = g->below_at[v + 1] - g->below_at[v];

        for (uint32_t k = 0; k < n; k++)
            u->ends[k] = g->pos[g->below[g->below_at[v] + k]];
        qsort(u->ends, n, sizeof *u->ends, compare_numbers);
        for (uint32_t k = 0; k < n; k++) { /* earlier edges that end further right */
            uint64_t before = 0;

            for (uint32_t t = u->ends[k] + 1; t; t &= t - 1)
                before += u->tree[t];
            total += seen - before;
        }
        for (uint32_t k = 0; k < n; k++, seen++)
            for (uint32_t t = u->ends[k] + 1; t <= n_below; t += t & (0 - t))
                u->tree[t]++;
    }
    return total;
}

static uint64_t count_all(untangler *u)
{
    uint64_t total = 0;

    for (uint32_t r = 0; r + 1 < u->g->n_ranks; r++)
        total += count_rank(u, r);
    return total;
}

/* Counts the crossings of the edges of a and b in one direction if a is to the left of b. */
static uint32_t crossings_of(const cq_view_grid *g, const uint32_t *at, const uint32_t *list,
                             uint32_t a, uint32_t b)
{
    uint32_t n = 0;

    for (uint32_t i = at[a]; i < at[a + 1]; i++)
        for (uint32_t k = at[b]; k < at[b + 1]; k++)
            n += g->pos[list[i]] > g->pos[list[k]];
    return n;
}

static uint32_t degree(const cq_view_grid *g, uint32_t v)
{
    return g->above_at[v + 1] - g->above_at[v] + g->below_at[v + 1] - g->below_at[v];
}

static bool exchange(cq_view_grid *g, uint32_t rank)
{
    bool changed = false;

    for (uint32_t i = g->starts[rank]; i + 1 < g->starts[rank + 1]; i++) {
        const uint32_t a = g->order[i], b = g->order[i + 1];

        if (degree(g, a) > 64 || degree(g, b) > 64)
            continue;
        if (crossings_of(g, g->above_at, g->above, a, b) +
                crossings_of(g, g->below_at, g->below, a, b) <=
            crossings_of(g, g->above_at, g->above, b, a) +
                crossings_of(g, g->below_at, g->below, b, a))
            continue;
        g->order[i] = b, g->order[i + 1] = a;
        g->pos[a]++, g->pos[b]--;
        changed = true;
    }
    return changed;
}

/* Vertices in the order in which a depth-first search from the top meets them. */
static cq_status start(untangler *u, cq_arena *arena)
{
    cq_view_grid *g     = u->g;
    uint32_t     *fill  = cq_arena_array(arena, g->n_ranks + 1, sizeof *fill);
    uint32_t     *stack = cq_arena_array(arena, g->n + 1, sizeof *stack);
    bool         *seen  = cq_arena_array(arena, g->n + 1, sizeof *seen);
    uint32_t     *order = cq_arena_array(arena, g->n + 1, sizeof *order);

    if (!fill || !stack || !seen || !order)
        return CQ_E_NO_MEMORY;
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t n = 0;

        if (!seen[g->order[i]])
            stack[n++] = g->order[i], seen[g->order[i]] = true;
        while (n) {
            const uint32_t v = stack[--n];

            g->pos[v]                                = fill[g->rank[v]]++;
            order[g->starts[g->rank[v]] + g->pos[v]] = v;
            for (uint32_t k = g->below_at[v + 1]; k-- > g->below_at[v];)
                if (!seen[g->below[k]])
                    seen[g->below[k]] = true, stack[n++] = g->below[k];
        }
    }
    memcpy(g->order, order, g->n * sizeof *order);
    return CQ_OK;
}

static void sweep(untangler *u, bool down)
{
    cq_view_grid *g = u->g;

    for (uint32_t i = 1; i < g->n_ranks; i++)
        sort_rank(u, down ? i : g->n_ranks - 1 - i, down);
    for (int round = 0; round < 4; round++) {
        bool changed = false;

        for (uint32_t r = 0; r < g->n_ranks; r++)
            changed |= exchange(g, r);
        if (!changed)
            break;
    }
}

cq_status cq_view_untangle(cq_view_grid *g, cq_arena *arena)
{
    untangler u      = { .g = g };
    uint64_t  fewest = UINT64_MAX;
    const int sweeps = g->n > MANY ? SWEEPS_OF_MANY : SWEEPS;

    u.keys = cq_arena_array(arena, g->n + 1, sizeof *u.keys);
    u.tree = cq_arena_array(arena, g->n + 2, sizeof *u.tree);
    u.ends = cq_arena_array(arena, g->below_at[g->n] + 1, sizeof *u.ends);
    u.best = cq_arena_array(arena, g->n + 1, sizeof *u.best);
    if (!u.keys || !u.tree || !u.ends || !u.best)
        return CQ_E_NO_MEMORY;
    CQ_TRY(start(&u, arena));
    for (int i = 0; i <= sweeps; i++) {
        const uint64_t n = count_all(&u);

        if (n < fewest) {
            fewest = n;
            memcpy(u.best, g->order, g->n * sizeof *u.best);
        }
        if (!n || i == sweeps)
            break;
        sweep(&u, i % 2 == 0);
    }
    memcpy(g->order, u.best, g->n * sizeof *u.best);
    for (uint32_t r = 0; r < g->n_ranks; r++)
        for (uint32_t i = g->starts[r]; i < g->starts[r + 1]; i++)
            g->pos[g->order[i]] = i - g->starts[r];
    return CQ_OK;
}
