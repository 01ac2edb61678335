/* Sorts the nodes topologically and keeps those of a module adjacent as far as their dependencies
 * allow. Of the ready nodes, the next one belongs to the innermost module around the previous one;
 * file order breaks ties. Every range of the order is convex: no path leaves it and returns. */
#include "view/view.h"

typedef struct ready_heap {
    CQ_VEC(uint32_t) items; /* positions in the file; some nodes may already be in the order */
} ready_heap;

typedef struct use {
    uint32_t position, next;
} use;

typedef struct orderer {
    cq_view        *v;
    uint32_t        graph;
    const uint32_t *ops; /* in the order of the file */
    uint32_t        n;
    uint32_t       *waits; /* inputs that are not computed yet, by position */
    CQ_VEC(use) uses;
    bool      *is_done;
    cq_ptr_map heaps; /* of the scopes */
    cq_arena  *arena;
} orderer;

static cq_status push(ready_heap *h, uint32_t x)
{
    size_t i;

    CQ_TRY(cq_vec_push(&h->items, x));
    for (i = h->items.n - 1; i && h->items.items[(i - 1) / 2] > x; i = (i - 1) / 2)
        h->items.items[i] = h->items.items[(i - 1) / 2];
    h->items.items[i] = x;
    return CQ_OK;
}

static void pop(ready_heap *h)
{
    uint32_t x = h->items.items[--h->items.n];
    size_t   i = 0, n = h->items.n;

    for (size_t k; (k = 2 * i + 1) < n; i = k) {
        k += k + 1 < n && h->items.items[k + 1] < h->items.items[k];
        if (h->items.items[k] >= x)
            break;
        h->items.items[i] = h->items.items[k];
    }
    if (n)
        h->items.items[i] = x;
}

static cq_status make_ready(orderer *o, uint32_t position)
{
    for (const cq_view_scope *s = o->v->ops.items[o->ops[position]].scope; s; s = s->parent) {
        ready_heap *h = cq_ptr_map_get(&o->heaps, s);

        if (!h) {
            h = cq_arena_zalloc(o->arena, sizeof *h);
            if (!h)
                return CQ_E_NO_MEMORY;
            CQ_TRY(cq_ptr_map_set(&o->heaps, s, h));
        }
        CQ_TRY(push(h, position));
    }
    return CQ_OK;
}

/* Chooses the next node: of the previous node's scope, or of the nearest scope around it. */
static uint32_t choose(orderer *o, const cq_view_scope *scope)
{
    for (; scope; scope = scope->parent) {
        ready_heap *h = cq_ptr_map_get(&o->heaps, scope);

        while (h && h->items.n && o->is_done[h->items.items[0]])
            pop(h);
        if (h && h->items.n)
            return h->items.items[0];
    }
    return CQ_VIEW_NONE;
}

static cq_status add_use(orderer *o, uint32_t value, uint32_t position)
{
    cq_view_value *x = value == CQ_VIEW_NONE ? NULL : &o->v->values.items[value];

    if (!x || x->graph != o->graph || !x->producer)
        return CQ_OK;
    CQ_TRY(cq_vec_push(&o->uses, (use){ position, x->first_use }));
    x->first_use = (uint32_t)o->uses.n;
    o->waits[position]++;
    return CQ_OK;
}

static cq_status note_uses(orderer *o)
{
    for (uint32_t i = 0; i < o->n; i++) {
        const cq_view_op *op = &o->v->ops.items[o->ops[i]];

        for (uint32_t k = 0; k < op->n_outputs; k++)
            if (op->outputs[k] != CQ_VIEW_NONE)
                o->v->values.items[op->outputs[k]].producer = i + 1;
    }
    for (uint32_t i = 0; i < o->n; i++) {
        const cq_view_op *op = &o->v->ops.items[o->ops[i]];

        for (uint32_t k = 0; k < op->n_inputs; k++)
            CQ_TRY(add_use(o, op->inputs[k], i));
        for (uint32_t k = 0; k < op->n_captured; k++)
            CQ_TRY(add_use(o, op->captured[k], i));
    }
    return CQ_OK;
}

static cq_status finish(orderer *o, uint32_t position)
{
    const cq_view_op *op = &o->v->ops.items[o->ops[position]];

    o->is_done[position] = true;
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        cq_view_value *x =
            op->outputs[k] == CQ_VIEW_NONE ? NULL : &o->v->values.items[op->outputs[k]];

        for (uint32_t at = x ? x->first_use : 0; at; at = o->uses.items[at - 1].next)
            if (--o->waits[o->uses.items[at - 1].position] == 0)
                CQ_TRY(make_ready(o, o->uses.items[at - 1].position));
        if (x)
            x->first_use = 0;
    }
    return CQ_OK;
}

/* ---- modules of nodes without one ---- */

static const cq_view_scope *common_scope(const cq_view_scope *a, const cq_view_scope *b)
{
    if (!a || !b)
        return a ? a : b;
    while (a != b) {
        const cq_view_scope **deeper = a->depth >= b->depth ? &a : &b;

        *deeper = (*deeper)->parent;
    }
    return a;
}

static const cq_view_scope *scope_of_readers(const orderer *o, const cq_view_op *op)
{
    const cq_view_scope *scope = NULL;

    for (uint32_t k = 0; k < op->n_outputs; k++) {
        if (op->outputs[k] == CQ_VIEW_NONE)
            continue;
        for (uint32_t at = o->v->values.items[op->outputs[k]].first_use; at;
             at          = o->uses.items[at - 1].next)
            scope =
                common_scope(scope, o->v->ops.items[o->ops[o->uses.items[at - 1].position]].scope);
    }
    return scope;
}

static const cq_view_scope *scope_of_producers(const orderer *o, const cq_view_op *op)
{
    const cq_view_scope *scope = NULL;

    for (uint32_t k = 0; k < op->n_inputs; k++) {
        const cq_view_value *x =
            op->inputs[k] == CQ_VIEW_NONE ? NULL : &o->v->values.items[op->inputs[k]];

        if (x && x->graph == o->graph && x->producer)
            scope = common_scope(scope, o->v->ops.items[o->ops[x->producer - 1]].scope);
    }
    return scope;
}

/* A node that tools insert, such as QuantizeLinear, often has a name without a module. It joins the
 * innermost module that contains its neighbours; otherwise it would cut the modules around it into
 * pieces. The file is in topological order, so readers are known in the first pass and producers in
 * the second. */
static void adopt(const orderer *o)
{
    for (uint32_t i = o->n; i-- > 0;) {
        cq_view_op *op = &o->v->ops.items[o->ops[i]];

        if (!op->has_module)
            op->scope = scope_of_readers(o, op);
    }
    for (uint32_t i = 0; i < o->n; i++) {
        cq_view_op *op = &o->v->ops.items[o->ops[i]];

        if (!op->has_module)
            op->scope = common_scope(op->scope, scope_of_producers(o, op));
        if (!op->scope)
            op->scope = o->v->root_scope;
    }
}

/* Nodes on a cycle, which only an invalid file has, are never ready; they come last, in file order.
 */
static cq_status sort(orderer *o, uint32_t *out)
{
    const cq_view_scope *scope = o->v->root_scope;
    uint32_t             n     = 0;

    for (uint32_t i = 0; i < o->n; i++)
        if (!o->waits[i])
            CQ_TRY(make_ready(o, i));
    for (uint32_t i; (i = choose(o, scope)) != CQ_VIEW_NONE;) {
        out[n++] = o->ops[i];
        scope    = o->v->ops.items[o->ops[i]].scope;
        CQ_TRY(finish(o, i));
    }
    for (uint32_t i = 0; i < o->n; i++)
        if (!o->is_done[i])
            out[n++] = o->ops[i];
    return CQ_OK;
}

/* Records the positions of the producer and the last reader of each value in the new order. */
static void note_positions(cq_view *v, const cq_view_graph *g)
{
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const cq_view_op *op = &v->ops.items[g->ops[i]];

        for (uint32_t k = 0; k < op->n_outputs; k++)
            if (op->outputs[k] != CQ_VIEW_NONE)
                v->values.items[op->outputs[k]].producer = i + 1;
        for (uint32_t k = 0; k < op->n_inputs; k++)
            if (op->inputs[k] != CQ_VIEW_NONE)
                v->values.items[op->inputs[k]].last_use = i;
        for (uint32_t k = 0; k < op->n_captured; k++)
            v->values.items[op->captured[k]].last_use = i;
    }
}

cq_status cq_view_order(cq_view *v, uint32_t graph)
{
    cq_view_graph *g    = &v->graphs.items[graph];
    orderer        o    = { .v = v, .graph = graph, .arena = cq_arena_new() };
    uint32_t       from = 0, to = g->n_ops;
    uint32_t      *out;
    cq_status      status = CQ_OK;

    while (from < to && v->ops.items[g->ops[from]].is_input)
        from++;
    while (to > from && v->ops.items[g->ops[to - 1]].is_output)
        to--;
    o.ops = g->ops + from;
    o.n   = to - from;
    if (!o.arena)
        return CQ_E_NO_MEMORY;
    o.waits   = cq_arena_array(o.arena, o.n + 1, sizeof *o.waits);
    o.is_done = cq_arena_array(o.arena, o.n + 1, sizeof *o.is_done);
    out       = cq_arena_array(o.arena, o.n + 1, sizeof *out);
    if (!o.waits || !o.is_done || !out)
        status = CQ_E_NO_MEMORY;
    if (status == CQ_OK)
        status = note_uses(&o);
    if (status == CQ_OK)
        adopt(&o);
    if (status == CQ_OK)
        status = sort(&o, out);
    if (status == CQ_OK)
        memcpy(g->ops + from, out, o.n * sizeof *out);
    for (size_t i = 0; i < o.heaps.cap; i++)
        if (o.heaps.slots && o.heaps.slots[i].key)
            cq_vec_clear(&((ready_heap *)o.heaps.slots[i].value)->items);
    cq_ptr_map_clear(&o.heaps);
    cq_vec_clear(&o.uses);
    cq_arena_free(o.arena);
    if (status == CQ_OK)
        note_positions(v, g);
    return status;
}
