/* Layered layout of a canvas: assigns ranks by the longest path, inserts a dummy where an edge
 * passes a rank, orders each rank (crossings.c) and assigns coordinates (coordinates.c). Edges of
 * one value share their dummies, so a value with many readers is one line with branches. */
#include "view/view.h"

#include <math.h>

enum { MOST_DUMMIES = 1 << 18 };

/* ---- sizes ---- */

/* The width in an average sans-serif font. Bold letters are wider, so titles count as a size
 * larger. */
double cq_view_text_width(const char *text, double size)
{
    double width = 0;

    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;

        if ((c & 0xc0) == 0x80)
            continue;
        if (strchr("ijlI.,:;'|![]() ", c))
            width += 0.34;
        else if (strchr("mwMW", c))
            width += 0.88;
        else if (c >= 'A' && c <= 'Z')
            width += 0.68;
        else
            width += 0.575;
    }
    return width * size;
}

void cq_view_measure(const cq_view *v, cq_view_item *item)
{
    const double title  = cq_view_text_width(item->label ? item->label : "", 14);
    const double detail = cq_view_text_width(item->detail ? item->detail : "", 11.5);
    double       width  = (title > detail ? title : detail) + 26;

    (void)v;
    if (item->kind >= CQ_VIEW_PORT_IN) {
        item->closed_width = item->closed_height = 0;
        item->width                              = 2;
        return;
    }
    if (item->repeats)
        width += 44;
    if (item->kind == CQ_VIEW_BOX)
        width += 22;
    item->closed_width  = (int32_t)(width < 96 ? 96 : width > 360 ? 360 : width);
    item->closed_height = item->detail && *item->detail ? 46 : 32;
    item->width         = item->closed_width;
    item->height        = item->closed_height;
}

/* An open box is as large as its contents. */
static void measure_open(const cq_view *v, cq_view_item *item)
{
    const cq_view_canvas *c = &v->canvases.items[item->canvas];

    item->width  = c->width > item->closed_width ? c->width : item->closed_width;
    item->height = c->height;
}

/* ---- ranks ---- */

/* Items except ports are in topological order. Sources move down to their first reader. */
static void assign_ranks(cq_view_canvas *c)
{
    const uint32_t base = c->ports[0].n > 0;
    uint32_t       last = base;

    for (size_t i = 0; i < c->items.n; i++)
        c->items.items[i].rank = c->items.items[i].kind == CQ_VIEW_PORT_IN ? 0 : base;
    /* Edges are sorted by their upper end, ports aside, which have rank 0. */
    for (size_t i = 0; i < c->edges.n; i++) {
        const cq_view_item *from = &c->items.items[c->edges.items[i].from];
        cq_view_item       *to   = &c->items.items[c->edges.items[i].to];

        if (to->rank < from->rank + 1)
            to->rank = from->rank + 1;
    }
    for (size_t i = 0; i < c->items.n; i++)
        if (c->items.items[i].kind != CQ_VIEW_PORT_OUT && c->items.items[i].rank > last)
            last = c->items.items[i].rank;
    for (size_t i = 0; i < c->items.n; i++)
        if (c->items.items[i].kind == CQ_VIEW_PORT_OUT)
            c->items.items[i].rank = last + 1;
    c->n_ranks = last + 1 + (c->ports[1].n > 0);
}

/* Items without edges, such as the tensors of a checkpoint, form a column. */
static void stack(cq_view_canvas *c)
{
    for (size_t i = 0; i < c->items.n; i++)
        c->items.items[i].rank = (uint32_t)i;
    c->n_ranks = c->items.n ? (uint32_t)c->items.n : 1;
}

static cq_status pull_down(cq_view_canvas *c, cq_arena *arena)
{
    uint32_t *first  = cq_arena_array(arena, c->items.n + 1, sizeof *first);
    bool     *is_fed = cq_arena_array(arena, c->items.n + 1, sizeof *is_fed);

    if (!first || !is_fed)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < c->edges.n; i++)
        is_fed[c->edges.items[i].to] = true;
    for (size_t i = c->edges.n; i-- > 0;) {
        const cq_view_edge *e  = &c->edges.items[i];
        const uint32_t      to = c->items.items[e->to].rank;

        if (!first[e->from] || to < first[e->from])
            first[e->from] = to;
        if (i && c->edges.items[i - 1].from == e->from)
            continue;
        if (!is_fed[e->from] && c->items.items[e->from].kind != CQ_VIEW_PORT_IN)
            c->items.items[e->from].rank = first[e->from] - 1;
    }
    return CQ_OK;
}

/* ---- dummies ---- */

static cq_status add_dummies(cq_view_canvas *c, cq_arena *arena)
{
    for (size_t i = 0, end; i < c->edges.n; i = end) {
        const cq_view_edge *first = &c->edges.items[i];
        const uint32_t      from  = c->items.items[first->from].rank;
        const uint32_t      start = (uint32_t)c->dummies.n;
        uint32_t            n     = 0, *chain;

        for (end = i; end < c->edges.n && c->edges.items[end].from == first->from &&
                      c->edges.items[end].value == first->value;
             end++) {
            const uint32_t to = c->items.items[c->edges.items[end].to].rank;

            c->edges.items[end].n_bends = to > from ? to - from - 1 : 0;
            n = c->edges.items[end].n_bends > n ? c->edges.items[end].n_bends : n;
        }
        if (c->dummies.n + n > MOST_DUMMIES)
            n = 0;
        chain = cq_arena_array(arena, n + 1, sizeof *chain);
        if (!chain)
            return CQ_E_NO_MEMORY;
        for (uint32_t k = 0; k < n; k++) {
            chain[k] = start + k;
            CQ_TRY(cq_vec_push(&c->dummies, (cq_view_dummy){ .rank = from + 1 + k }));
        }
        for (size_t k = i; k < end; k++) {
            c->edges.items[k].bends = chain;
            if (c->edges.items[k].n_bends > n)
                c->edges.items[k].n_bends = 0;
        }
    }
    return CQ_OK;
}

/* ---- ranks as arrays ---- */

typedef struct segment {
    uint32_t upper, lower;
} segment;

typedef CQ_VEC(segment) segments;

/* Builds the lists of neighbours, in the order of the segments. */
static cq_status index_neighbours(uint32_t **at, uint32_t **list, const segments *s, uint32_t n,
                                  bool of_lower, cq_arena *arena)
{
    uint32_t *fill = cq_arena_array(arena, n + 2, sizeof *fill);

    *at   = cq_arena_array(arena, n + 2, sizeof **at);
    *list = cq_arena_array(arena, s->n + 1, sizeof **list);
    if (!fill || !*at || !*list)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < s->n; i++)
        (*at)[(of_lower ? s->items[i].lower : s->items[i].upper) + 1]++;
    for (uint32_t i = 0; i < n; i++)
        (*at)[i + 1] += (*at)[i];
    memcpy(fill, *at, (n + 1) * sizeof *fill);
    for (size_t i = 0; i < s->n; i++) {
        const uint32_t own = of_lower ? s->items[i].lower : s->items[i].upper;

        (*list)[fill[own]++] = of_lower ? s->items[i].upper : s->items[i].lower;
    }
    return CQ_OK;
}

static cq_status collect_segments(segments *s, const cq_view_canvas *c)
{
    const uint32_t n_items = (uint32_t)c->items.n;

    for (size_t i = 0; i < c->edges.n; i++) {
        const cq_view_edge *e     = &c->edges.items[i];
        const bool          same  = i && c->edges.items[i - 1].bends == e->bends;
        const uint32_t      known = same ? c->edges.items[i - 1].n_bends : 0;
        uint32_t            at    = e->from;

        if (c->items.items[e->to].rank != c->items.items[e->from].rank + 1 + e->n_bends)
            continue; /* too long for dummies */
        for (uint32_t k = 0; k <= e->n_bends; k++) {
            const uint32_t next = k < e->n_bends ? n_items + e->bends[k] : e->to;

            if (k >= known || k == e->n_bends)
                CQ_TRY(cq_vec_push(s, (segment){ at, next }));
            at = next;
        }
    }
    return CQ_OK;
}

/* The label of an edge is to the right of its start and needs space. */
static double label_end(const cq_view *v, const cq_view_canvas *c, const cq_view_edge *e)
{
    const cq_view_item *from = &c->items.items[e->from];
    cq_str              text = { 0 };
    size_t              n_letters;

    if (from->kind >= CQ_VIEW_INPUT || c->items.items[e->to].kind == CQ_VIEW_PORT_OUT)
        return 0;
    n_letters = cq_view_add_shape(&text, v->values.items[e->value].type);
    cq_str_clear(&text);
    return n_letters ? (double)n_letters * CQ_VIEW_LABEL_LETTER + 6 : 0;
}

double cq_view_port_offset(const cq_view *v, const cq_view_item *item, uint32_t port)
{
    const cq_view_canvas *c = item->is_open ? &v->canvases.items[item->canvas] : NULL;

    return c && port != CQ_VIEW_NONE ? c->items.items[port].x - c->width / 2.0 : 0;
}

/* The distance from the centre of an item to the right end of the labels of its edges. */
static void measure_labels(cq_view_grid *g, const cq_view *v, const cq_view_canvas *c)
{
    for (size_t i = 0; i < c->edges.n; i++) {
        const cq_view_edge *e      = &c->edges.items[i];
        const cq_view_item *from   = &c->items.items[e->from];
        const double        offset = cq_view_port_offset(v, from, e->from_port);

        g->label[e->from] = fmax(g->label[e->from], offset + label_end(v, c, e));
    }
}

static cq_status fill_grid(cq_view_grid *g, const cq_view *v, const cq_view_canvas *c,
                           cq_arena *arena)
{
    uint32_t *fill;

    g->n_items = (uint32_t)c->items.n;
    g->n       = g->n_items + (uint32_t)c->dummies.n;
    g->n_ranks = c->n_ranks;
    g->rank    = cq_arena_array(arena, g->n + 1, sizeof *g->rank);
    g->pos     = cq_arena_array(arena, g->n + 1, sizeof *g->pos);
    g->width   = cq_arena_array(arena, g->n + 1, sizeof *g->width);
    g->x       = cq_arena_array(arena, g->n + 1, sizeof *g->x);
    g->label   = cq_arena_array(arena, g->n + 1, sizeof *g->label);
    g->order   = cq_arena_array(arena, g->n + 1, sizeof *g->order);
    g->starts  = cq_arena_array(arena, g->n_ranks + 2, sizeof *g->starts);
    fill       = cq_arena_array(arena, g->n_ranks + 2, sizeof *fill);
    if (!g->rank || !g->pos || !g->width || !g->x || !g->label || !g->order || !g->starts || !fill)
        return CQ_E_NO_MEMORY;
    for (uint32_t i = 0; i < g->n; i++) {
        g->rank[i] =
            i < g->n_items ? c->items.items[i].rank : c->dummies.items[i - g->n_items].rank;
        g->width[i] = i < g->n_items ? c->items.items[i].width : 0;
        g->starts[g->rank[i] + 1]++;
    }
    for (uint32_t r = 0; r < g->n_ranks; r++)
        g->starts[r + 1] += g->starts[r];
    memcpy(fill, g->starts, (g->n_ranks + 1) * sizeof *fill);
    for (uint32_t i = 0; i < g->n; i++) {
        g->pos[i]                    = fill[g->rank[i]] - g->starts[g->rank[i]];
        g->order[fill[g->rank[i]]++] = i;
    }
    measure_labels(g, v, c);
    return CQ_OK;
}

static cq_status make_grid(cq_view_grid *g, const cq_view *v, const cq_view_canvas *c,
                           cq_arena *arena)
{
    segments  s      = { 0 };
    cq_status status = fill_grid(g, v, c, arena);

    if (status == CQ_OK)
        status = collect_segments(&s, c);
    if (status == CQ_OK)
        status = index_neighbours(&g->above_at, &g->above, &s, g->n, true, arena);
    if (status == CQ_OK)
        status = index_neighbours(&g->below_at, &g->below, &s, g->n, false, arena);
    cq_vec_clear(&s);
    return status;
}

/* ---- size of the canvas ---- */

/* Ranks of the canvas, and its size; the leftmost edge is at the padding. */
static cq_status take_over(cq_view *v, cq_view_canvas *c, const cq_view_grid *g)
{
    double  left = 0, right = 0, labels = 0;
    int32_t height = 0;

    c->ranks  = cq_arena_array(v->arena, g->n + 1, sizeof *c->ranks);
    c->starts = cq_arena_copy(v->arena, g->starts, (g->n_ranks + 1) * sizeof *g->starts);
    if (!c->ranks || !c->starts)
        return CQ_E_NO_MEMORY;
    for (uint32_t i = 0; i < g->n; i++) {
        left  = !i || g->x[i] - g->width[i] / 2 < left ? g->x[i] - g->width[i] / 2 : left;
        right = !i || g->x[i] + g->width[i] / 2 > right ? g->x[i] + g->width[i] / 2 : right;
    }
    for (uint32_t i = 0; i < g->n; i++)
        labels = fmax(labels, g->x[i] + g->label[i] - 10 - right);
    left -= labels; /* on both sides, so that a column stays in the middle of its box */
    right += labels;
    for (uint32_t i = 0; i < g->n; i++) {
        const double x = (double)(int64_t)(g->x[i] - left + CQ_VIEW_PAD + 0.5);

        if (i < g->n_items)
            c->items.items[i].x = x;
        else
            c->dummies.items[i - g->n_items].x = x;
        c->ranks[i] = g->order[i] < g->n_items ? g->order[i] : ~(g->order[i] - g->n_items);
    }
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        int32_t tallest = 0;

        for (uint32_t i = g->starts[r]; i < g->starts[r + 1]; i++)
            if (g->order[i] < g->n_items && c->items.items[g->order[i]].height > tallest)
                tallest = c->items.items[g->order[i]].height;
        height += tallest + (r ? CQ_VIEW_GAP_Y : 0);
    }
    if (c->ports[0].n)
        height -= CQ_VIEW_GAP_Y - CQ_VIEW_GAP_PORT;
    if (c->ports[1].n)
        height -= CQ_VIEW_GAP_Y - CQ_VIEW_GAP_PORT;
    c->width  = (int32_t)(right - left + 0.5) + 2 * CQ_VIEW_PAD;
    c->height = height + CQ_VIEW_HEADER + (c->ports[0].n ? 0 : CQ_VIEW_PAD / 2) +
                (c->ports[1].n ? 0 : CQ_VIEW_PAD);
    return CQ_OK;
}

cq_status cq_view_layout(cq_view *v, cq_view_canvas *c)
{
    cq_view_grid g      = { 0 };
    cq_arena    *arena  = c->is_laid_out ? NULL : cq_arena_new();
    cq_status    status = CQ_OK;

    if (c->is_laid_out)
        return CQ_OK;
    c->is_laid_out = true;
    if (!arena)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < c->items.n && status == CQ_OK; i++)
        if (c->items.items[i].is_open) {
            status = cq_view_layout(v, &v->canvases.items[c->items.items[i].canvas]);
            measure_open(v, &c->items.items[i]);
        }
    if (c->edges.n)
        assign_ranks(c);
    else
        stack(c);
    if (status == CQ_OK)
        status = pull_down(c, arena);
    if (status == CQ_OK)
        status = add_dummies(c, v->arena);
    if (status == CQ_OK)
        status = make_grid(&g, v, c, arena);
    if (status == CQ_OK)
        status = cq_view_untangle(&g, arena);
    if (status == CQ_OK)
        status = cq_view_place(&g, arena);
    if (status == CQ_OK)
        status = take_over(v, c, &g);
    cq_arena_free(arena);
    return status;
}
