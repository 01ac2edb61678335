/* Horizontal coordinates after Brandes and Köpf, "Fast and Simple Horizontal Coordinate Assignment"
 * (2001): vertices are aligned with the median of their neighbours into vertical blocks, the blocks
 * are compacted, and the result is the mean of the two middle ones of four such assignments (by the
 * neighbours above and below, from the left and from the right). Segments between two dummies win
 * over other segments that cross them, so long edges are straight. */
#include "view/view.h"

#include <math.h>
#include <stdlib.h>

typedef struct placer {
    cq_view_grid *g;
    bool          up, right;   /* the direction of the current assignment */
    bool         *is_conflict; /* by index into `above`: the segment yields to a long edge */
    uint32_t     *root, *align, *n_left, *queue;
    uint32_t     *next_at, *next; /* blocks to the right of a block */
    double       *gap;            /* to each of them */
    double       *x[4];
} placer;

static bool is_dummy(const cq_view_grid *g, uint32_t v)
{
    return v >= g->n_items;
}

/* ---- segments that yield ---- */

/* The dummy above a dummy; NONE if the segment above it begins at an item. */
static uint32_t inner_above(const cq_view_grid *g, uint32_t v)
{
    if (!is_dummy(g, v))
        return CQ_VIEW_NONE;
    for (uint32_t k = g->above_at[v]; k < g->above_at[v + 1]; k++)
        if (is_dummy(g, g->above[k]))
            return g->above[k];
    return CQ_VIEW_NONE;
}

static void mark_conflicts(placer *p, uint32_t rank)
{
    const cq_view_grid *g  = p->g;
    uint32_t            k0 = 0, scanned = g->starts[rank];

    for (uint32_t i = g->starts[rank]; i < g->starts[rank + 1]; i++) {
        const uint32_t inner = inner_above(g, g->order[i]);
        const bool     last  = i + 1 == g->starts[rank + 1];
        uint32_t       k1;

        if (!last && inner == CQ_VIEW_NONE)
            continue;
        k1 = inner == CQ_VIEW_NONE ? g->starts[rank] - g->starts[rank - 1] : g->pos[inner];
        for (; scanned <= i; scanned++) {
            const uint32_t v = g->order[scanned];

            for (uint32_t k = g->above_at[v]; k < g->above_at[v + 1]; k++) {
                const uint32_t pos = g->pos[g->above[k]];

                if ((pos < k0 || pos > k1) && !(is_dummy(g, v) && is_dummy(g, g->above[k])))
                    p->is_conflict[k] = true;
            }
        }
        k0 = k1;
    }
}

/* ---- alignment ---- */

static uint32_t position(const placer *p, uint32_t v)
{
    const cq_view_grid *g = p->g;
    const uint32_t      n = g->starts[g->rank[v] + 1] - g->starts[g->rank[v]];

    return p->right ? n - 1 - g->pos[v] : g->pos[v];
}

static bool yields(const placer *p, uint32_t u, uint32_t v)
{
    const cq_view_grid *g     = p->g;
    const uint32_t      lower = p->up ? u : v, upper = p->up ? v : u;

    for (uint32_t k = g->above_at[lower]; k < g->above_at[lower + 1]; k++)
        if (g->above[k] == upper)
            return p->is_conflict[k];
    return false;
}

typedef struct neighbour {
    uint32_t pos, vertex;
} neighbour;

static int compare_neighbours(const void *a, const void *b)
{
    const neighbour *x = a, *y = b;

    return x->pos < y->pos ? -1 : x->pos > y->pos;
}

static void align_vertex(placer *p, uint32_t v, neighbour *list, int64_t *reached)
{
    const cq_view_grid *g  = p->g;
    const uint32_t     *at = p->up ? g->below_at : g->above_at;
    const uint32_t     *of = p->up ? g->below : g->above;
    const uint32_t      n  = at[v + 1] - at[v];

    for (uint32_t i = 0; i < n; i++)
        list[i] = (neighbour){ position(p, of[at[v] + i]), of[at[v] + i] };
    qsort(list, n, sizeof *list, compare_neighbours);
    for (uint32_t m = n ? (n - 1) / 2 : 1; n && m <= n / 2 && p->align[v] == v; m++) {
        const uint32_t u = list[m].vertex;

        if (*reached >= (int64_t)list[m].pos || yields(p, u, v))
            continue;
        p->align[u] = v;
        p->root[v]  = p->root[u];
        p->align[v] = p->root[v];
        *reached    = list[m].pos;
    }
}

static uint32_t vertex_at(const placer *p, uint32_t rank, uint32_t i)
{
    const cq_view_grid *g = p->g;

    return g->order[p->right ? g->starts[rank + 1] - 1 - i : g->starts[rank] + i];
}

static void align_all(placer *p, neighbour *list)
{
    const cq_view_grid *g = p->g;

    for (uint32_t i = 0; i < g->n; i++)
        p->root[i] = p->align[i] = i;
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        const uint32_t rank    = p->up ? g->n_ranks - 1 - r : r;
        int64_t        reached = -1;

        for (uint32_t i = 0; i < g->starts[rank + 1] - g->starts[rank]; i++)
            align_vertex(p, vertex_at(p, rank, i), list, &reached);
    }
}

/* ---- compaction ---- */

/* From a to b, which is right of it. */
static double distance(const cq_view_grid *g, uint32_t a, uint32_t b)
{
    const double gap = is_dummy(g, a) || is_dummy(g, b) ? CQ_VIEW_GAP_BEND : CQ_VIEW_GAP_X;

    return fmax(g->width[a] / 2 + gap, g->label[a] + CQ_VIEW_GAP_LABEL) + g->width[b] / 2;
}

/* Which blocks are right of which, as lists. */
static void index_blocks(placer *p)
{
    const cq_view_grid *g = p->g;

    memset(p->next_at, 0, (g->n + 2) * sizeof *p->next_at);
    memset(p->n_left, 0, (g->n + 1) * sizeof *p->n_left);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t r = 0; r < g->n_ranks; r++)
            for (uint32_t i = 0; i + 1 < g->starts[r + 1] - g->starts[r]; i++) {
                const uint32_t a = vertex_at(p, r, i), b = vertex_at(p, r, i + 1);

                if (pass == 0) {
                    p->next_at[p->root[a] + 2]++;
                    p->n_left[p->root[b]]++;
                } else {
                    const uint32_t at = p->next_at[p->root[a] + 1]++;

                    p->next[at] = p->root[b];
                    p->gap[at]  = p->right ? distance(g, b, a) : distance(g, a, b);
                }
            }
        for (uint32_t i = 2; i <= g->n + 1 && pass == 0; i++)
            p->next_at[i] += p->next_at[i - 1];
    }
}

/* As far left as the blocks before allow, then back to the right where there is room. */
static void compact(placer *p, double *x)
{
    const cq_view_grid *g = p->g;
    uint32_t            n = 0;

    for (uint32_t i = 0; i < g->n; i++) {
        x[i] = 0;
        if (p->root[i] == i && !p->n_left[i])
            p->queue[n++] = i;
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t a = p->queue[i];

        for (uint32_t k = p->next_at[a]; k < p->next_at[a + 1]; k++) {
            const uint32_t b = p->next[k];

            if (x[b] < x[a] + p->gap[k])
                x[b] = x[a] + p->gap[k];
            if (--p->n_left[b] == 0)
                p->queue[n++] = b;
        }
    }
    for (uint32_t i = n; i-- > 0;) {
        const uint32_t a     = p->queue[i];
        double         limit = 0;
        bool           found = false;

        for (uint32_t k = p->next_at[a]; k < p->next_at[a + 1]; k++) {
            const double room = x[p->next[k]] - p->gap[k];

            limit = !found || room < limit ? room : limit;
            found = true;
        }
        if (found && limit > x[a])
            x[a] = limit;
    }
    for (uint32_t i = 0; i < g->n; i++)
        if (p->root[i] != i)
            x[i] = x[p->root[i]];
    for (uint32_t i = 0; i < g->n && p->right; i++)
        x[i] = -x[i];
}

/* ---- the mean of four ---- */

static void bounds(const cq_view_grid *g, const double *x, double *left, double *right)
{
    for (uint32_t i = 0; i < g->n; i++) {
        *left  = !i || x[i] - g->width[i] / 2 < *left ? x[i] - g->width[i] / 2 : *left;
        *right = !i || x[i] + g->width[i] / 2 > *right ? x[i] + g->width[i] / 2 : *right;
    }
}

static void balance(placer *p)
{
    cq_view_grid *g       = p->g;
    double        left[4] = { 0 }, right[4] = { 0 };
    int           best = 0;

    for (int i = 0; i < 4; i++) {
        bounds(g, p->x[i], &left[i], &right[i]);
        if (right[i] - left[i] < right[best] - left[best])
            best = i;
    }
    for (uint32_t v = 0; v < g->n; v++) {
        double sorted[4];

        for (int i = 0; i < 4; i++) { /* odd ones were made from the right */
            double x = p->x[i][v] + (i % 2 ? right[best] - right[i] : left[best] - left[i]);
            int    k = i;

            for (; k > 0 && sorted[k - 1] > x; k--)
                sorted[k] = sorted[k - 1];
            sorted[k] = x;
        }
        g->x[v] = (sorted[1] + sorted[2]) / 2;
    }
}

static bool allocate(placer *p, cq_arena *arena, neighbour **list)
{
    const size_t n = p->g->n + 2, m = p->g->above_at[p->g->n] + 1;

    p->is_conflict = cq_arena_array(arena, m, sizeof *p->is_conflict);
    *list          = cq_arena_array(arena, m, sizeof **list);
    p->root        = cq_arena_array(arena, n, sizeof *p->root);
    p->align       = cq_arena_array(arena, n, sizeof *p->align);
    p->n_left      = cq_arena_array(arena, n, sizeof *p->n_left);
    p->queue       = cq_arena_array(arena, n, sizeof *p->queue);
    p->next_at     = cq_arena_array(arena, n, sizeof *p->next_at);
    p->next        = cq_arena_array(arena, n, sizeof *p->next);
    p->gap         = cq_arena_array(arena, n, sizeof *p->gap);
    for (int i = 0; i < 4; i++)
        p->x[i] = cq_arena_array(arena, n, sizeof *p->x[i]);
    return p->is_conflict && *list && p->root && p->align && p->n_left && p->queue && p->next_at &&
           p->next && p->gap && p->x[0] && p->x[1] && p->x[2] && p->x[3];
}

cq_status cq_view_place(cq_view_grid *g, cq_arena *arena)
{
    placer     p = { .g = g };
    neighbour *list;

    if (!allocate(&p, arena, &list))
        return CQ_E_NO_MEMORY;
    for (uint32_t r = 2; r < g->n_ranks; r++)
        mark_conflicts(&p, r);
    for (int i = 0; i < 4; i++) {
        p.right = i % 2;
        p.up    = i / 2;
        align_all(&p, list);
        index_blocks(&p);
        compact(&p, p.x[i]);
    }
    balance(&p);
    return CQ_OK;
}
