/* Boxes: modules, bodies of If and Loop, functions, repeated blocks, and parts of long sequences.
 * Every box but that of a body or function is a range of its graph's order. */
#include "view/view.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    MANY_PORTS  = 8,  /* inputs or outputs of a graph that become one box */
    FIRST_BOXES = 12, /* the first view has about as many items */
    MOST_BOXES  = 26
};

static cq_status build_range(uint32_t *out, cq_view *v, uint32_t graph, uint32_t lo, uint32_t hi,
                             uint32_t depth);

/* ---- canvases ---- */

static cq_status add_port(cq_view *v, uint32_t canvas, uint32_t value, bool is_out, uint32_t *local)
{
    cq_view_canvas *c     = &v->canvases.items[canvas];
    const void     *key   = (const void *)((uintptr_t)value + 1);
    void           *found = cq_ptr_map_get(&c->ports[is_out], key);
    cq_view_item    item  = { .kind   = is_out ? CQ_VIEW_PORT_OUT : CQ_VIEW_PORT_IN,
                              .op     = CQ_VIEW_NONE,
                              .canvas = CQ_VIEW_NONE,
                              .value  = value };

    if (found) {
        *local = (uint32_t)((uintptr_t)found - 1);
        return CQ_OK;
    }
    *local = (uint32_t)c->items.n;
    CQ_TRY(cq_vec_push(&c->items, item));
    return cq_ptr_map_set(&c->ports[is_out], key, (void *)((uintptr_t)*local + 1));
}

static uint32_t port_of(const cq_view *v, const cq_view_item *item, uint32_t value, bool is_out)
{
    const void *key = (const void *)((uintptr_t)value + 1);
    const void *found;

    if (item->kind != CQ_VIEW_BOX || item->canvas == CQ_VIEW_NONE)
        return CQ_VIEW_NONE;
    found = cq_ptr_map_get(&v->canvases.items[item->canvas].ports[is_out], key);
    return found ? (uint32_t)((uintptr_t)found - 1) : CQ_VIEW_NONE;
}

static cq_status connect(cq_view *v, uint32_t canvas, uint32_t from, uint32_t to, uint32_t value)
{
    cq_view_canvas *c = &v->canvases.items[canvas];
    cq_view_edge    e = { .from = from, .to = to, .value = value };

    e.from_port = port_of(v, &c->items.items[from], value, true);
    e.to_port   = port_of(v, &c->items.items[to], value, false);
    return cq_vec_push(&c->edges, e);
}

static int compare_edges(const void *a, const void *b)
{
    const cq_view_edge *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

static void remove_duplicates(cq_view_canvas *c)
{
    size_t n = 0;

    if (c->edges.n)
        qsort(c->edges.items, c->edges.n, sizeof *c->edges.items, compare_edges);
    for (size_t i = 0; i < c->edges.n; i++)
        if (!n || compare_edges(&c->edges.items[n - 1], &c->edges.items[i]) != 0)
            c->edges.items[n++] = c->edges.items[i];
    c->edges.n = n;
}

/* Adds an edge to an item of the canvas, from the producer of the value or from the border. */
static cq_status connect_input(cq_view *v, uint32_t canvas, const uint32_t *locals, size_t n_own,
                               uint32_t to, uint32_t value)
{
    const cq_view_canvas *c = &v->canvases.items[canvas];
    const cq_view_value  *x = value == CQ_VIEW_NONE ? NULL : &v->values.items[value];
    uint32_t              from;

    if (!x || x->weight != CQ_VIEW_NONE)
        return CQ_OK;
    if (x->graph == c->graph && !x->producer)
        return CQ_OK;
    if (x->graph == c->graph && x->producer - 1 >= c->lo && x->producer - 1 < c->hi)
        from = locals[x->producer - 1 - c->lo];
    else
        CQ_TRY(add_port(v, canvas, value, false, &from));
    /* An edge points backwards only on a cycle, which a valid file does not have. */
    return from == to || (from > to && from < n_own) ? CQ_OK : connect(v, canvas, from, to, value);
}

static cq_status connect_op(cq_view *v, uint32_t canvas, const uint32_t *locals, size_t n_own,
                            uint32_t position)
{
    const cq_view_canvas *c  = &v->canvases.items[canvas];
    const uint32_t        hi = c->hi, to = locals[position - c->lo];
    const cq_view_op     *op = &v->ops.items[v->graphs.items[c->graph].ops[position]];

    for (uint32_t i = 0; i < op->n_inputs; i++)
        CQ_TRY(connect_input(v, canvas, locals, n_own, to, op->inputs[i]));
    for (uint32_t i = 0; i < op->n_captured; i++)
        CQ_TRY(connect_input(v, canvas, locals, n_own, to, op->captured[i]));
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        uint32_t port;

        if (op->outputs[i] == CQ_VIEW_NONE || v->values.items[op->outputs[i]].last_use < hi)
            continue;
        CQ_TRY(add_port(v, canvas, op->outputs[i], true, &port));
        CQ_TRY(connect(v, canvas, to, port, op->outputs[i]));
    }
    return CQ_OK;
}

cq_status cq_view_canvas_of(uint32_t *out, cq_view *v, uint32_t graph, uint32_t lo, uint32_t hi,
                            const cq_view_items *items)
{
    cq_view_canvas c = { .graph = graph, .lo = lo, .hi = hi };
    uint32_t      *locals;
    cq_status      status = CQ_OK;

    *out = (uint32_t)v->canvases.n;
    CQ_TRY(cq_vec_push(&v->canvases, c));
    locals = cq_alloc((hi - lo + 1) * sizeof *locals);
    if (!locals)
        return CQ_E_NO_MEMORY;
    for (uint32_t i = 0; i < items->n && status == CQ_OK; i++) {
        for (uint32_t p = items->items[i].lo; p < items->items[i].hi; p++)
            locals[p - lo] = i;
        status = cq_vec_push(&v->canvases.items[*out].items, items->items[i]);
    }
    for (uint32_t p = lo; p < hi && status == CQ_OK; p++)
        status = connect_op(v, *out, locals, items->n, p);
    cq_free(locals);
    remove_duplicates(&v->canvases.items[*out]);
    return status;
}

/* ---- nodes with graphs inside ---- */

/* A node with several bodies gets a canvas with a box for each body. */
static cq_status canvas_of_bodies(uint32_t *out, cq_view *v, const cq_view_op *op)
{
    *out = (uint32_t)v->canvases.n;
    CQ_TRY(cq_vec_push(&v->canvases, (cq_view_canvas){ .graph = CQ_VIEW_NONE }));
    for (uint32_t i = 0; i < op->n_bodies; i++) {
        const cq_view_graph *g = &v->graphs.items[op->bodies[i]];
        cq_view_item item      = { .kind = CQ_VIEW_BOX, .op = CQ_VIEW_NONE, .canvas = g->canvas };

        item.label   = op->body_names[i];
        item.path    = g->name;
        item.n_nodes = g->n_ops;
        CQ_TRY(cq_vec_push(&v->canvases.items[*out].items, item));
    }
    for (uint32_t i = 0; i < op->n_captured; i++) {
        uint32_t port;

        CQ_TRY(add_port(v, *out, op->captured[i], false, &port));
        for (uint32_t b = 0; b < op->n_bodies; b++)
            if (port_of(v, &v->canvases.items[*out].items.items[b], op->captured[i], false) !=
                CQ_VIEW_NONE)
                CQ_TRY(connect(v, *out, port, b, op->captured[i]));
    }
    remove_duplicates(&v->canvases.items[*out]);
    return CQ_OK;
}

/* The item of a canvas that shows a position of its graph; NONE: not found. */
static uint32_t local_of(const cq_view_canvas *c, uint32_t position)
{
    for (uint32_t i = 0; i < c->items.n; i++)
        if (c->items.items[i].kind < CQ_VIEW_PORT_IN && position >= c->items.items[i].lo &&
            position < c->items.items[i].hi)
            return i;
    return CQ_VIEW_NONE;
}

static cq_status link_port(cq_view *v, uint32_t canvas, uint32_t position, uint32_t value,
                           bool is_out)
{
    const uint32_t item = local_of(&v->canvases.items[canvas], position);
    uint32_t       port;

    if (item == CQ_VIEW_NONE || value == CQ_VIEW_NONE ||
        v->values.items[value].weight != CQ_VIEW_NONE)
        return CQ_OK;
    CQ_TRY(add_port(v, canvas, value, is_out, &port));
    return is_out ? connect(v, canvas, item, port, value) : connect(v, canvas, port, item, value);
}

/* Lines of a Loop or Scan go on from the border of its box to the inputs of the body, and from the
 * outputs of the body to the border. The body of a Loop has the condition as its first output. */
static cq_status link_body(cq_view *v, const cq_view_op *op)
{
    const cq_view_graph *g        = &v->graphs.items[op->bodies[0]];
    const bool           is_loop  = strcmp(cq_view_op_type(op), "Loop") == 0;
    uint32_t             n_inputs = 0, n_outputs = 0;

    if (!is_loop && strcmp(cq_view_op_type(op), "Scan") != 0)
        return CQ_OK;
    for (uint32_t p = 0; p < g->n_ops; p++) {
        const cq_view_op *inner = &v->ops.items[g->ops[p]];

        if (inner->is_input && n_inputs < op->n_inputs)
            CQ_TRY(link_port(v, g->canvas, p, op->inputs[n_inputs], false));
        if (inner->is_output && n_outputs >= is_loop && n_outputs - is_loop < op->n_outputs)
            CQ_TRY(link_port(v, g->canvas, p, op->outputs[n_outputs - is_loop], true));
        n_inputs += inner->is_input;
        n_outputs += inner->is_output;
    }
    remove_duplicates(&v->canvases.items[g->canvas]);
    return CQ_OK;
}

static cq_status item_of_op(cq_view_item *out, cq_view *v, uint32_t graph, uint32_t position)
{
    const uint32_t    index = v->graphs.items[graph].ops[position];
    const cq_view_op *op    = &v->ops.items[index];
    cq_view_item      item  = {
              .op = index, .canvas = CQ_VIEW_NONE, .lo = position, .hi = position + 1, .flops = op->flops
    };

    item.kind  = op->is_input ? CQ_VIEW_INPUT : op->is_output ? CQ_VIEW_OUTPUT : CQ_VIEW_OP;
    item.label = op->node ? cq_view_op_type(op) : op->name;
    if (op->n_bodies || op->function != CQ_VIEW_NONE)
        item.kind = CQ_VIEW_BOX;
    if (op->n_bodies == 1) {
        CQ_TRY(link_body(v, op));
        item.canvas = v->graphs.items[op->bodies[0]].canvas;
    }
    if (op->n_bodies > 1)
        CQ_TRY(canvas_of_bodies(&item.canvas, v, op));
    for (uint32_t i = 0; i < op->n_bodies; i++)
        item.n_nodes += v->graphs.items[op->bodies[i]].n_ops;
    if (op->function != CQ_VIEW_NONE)
        item.n_nodes = v->graphs.items[op->function].n_ops;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t w =
            op->inputs[i] == CQ_VIEW_NONE ? CQ_VIEW_NONE : v->values.items[op->inputs[i]].weight;

        if (w != CQ_VIEW_NONE)
            item.param_bytes += (double)v->weights.items[w].bytes;
    }
    *out = item;
    return CQ_OK;
}

/* ---- modules ---- */

static const cq_view_scope *ancestor_at(const cq_view_scope *s, uint32_t depth)
{
    while (s && s->depth > depth)
        s = s->parent;
    return s && s->depth == depth ? s : NULL;
}

static const cq_view_op *op_at(const cq_view *v, uint32_t graph, uint32_t position)
{
    return &v->ops.items[v->graphs.items[graph].ops[position]];
}

/* The end of the range of nodes from lo on that belong to the same module at that depth. */
static uint32_t run_end(const cq_view *v, uint32_t graph, uint32_t lo, uint32_t hi, uint32_t depth)
{
    const cq_view_op    *first = op_at(v, graph, lo);
    const cq_view_scope *s     = first->node ? ancestor_at(first->scope, depth) : NULL;
    uint32_t             end   = lo + 1;

    while (end < hi && s && op_at(v, graph, end)->node &&
           ancestor_at(op_at(v, graph, end)->scope, depth) == s)
        end++;
    /* Many inputs or outputs of a graph become one box. */
    while (end < hi && !first->node && op_at(v, graph, end)->is_input == first->is_input &&
           op_at(v, graph, end)->is_output == first->is_output)
        end++;
    return !first->node && end - lo <= MANY_PORTS ? lo + 1 : end;
}

/* "layer1.0" from the names of the modules below depth. */
static const char *label_of(cq_view *v, const cq_view_scope *s, uint32_t depth)
{
    const char *label = s->name;

    for (s = s->parent; s && s->depth >= depth && label; s = s->parent)
        label = cq_arena_printf(v->arena, "%s.%s", s->name, label);
    return label;
}

static const char *box_of_module(cq_view_item *item, cq_view *v, uint32_t graph, uint32_t depth)
{
    const cq_view_op *first = op_at(v, graph, item->lo);
    uint32_t          deep  = depth;

    if (!first->node)
        return cq_arena_printf(v->arena, "%u %s", item->hi - item->lo,
                               first->is_input ? "inputs" : "outputs");
    while (run_end(v, graph, item->lo, item->hi, deep + 1) == item->hi)
        deep++;
    item->class_name = ancestor_at(first->scope, deep)->class_name;
    item->path       = label_of(v, ancestor_at(first->scope, deep), 1);
    item->repeats    = 0;
    item->rank       = deep; /* depth of the content, until the layout assigns the rank */
    return item->path ? label_of(v, ancestor_at(first->scope, deep), depth) : NULL;
}

static cq_status fill_box(cq_view *v, uint32_t graph, cq_view_item *item, uint32_t depth)
{
    item->kind  = CQ_VIEW_BOX;
    item->op    = CQ_VIEW_NONE;
    item->rank  = depth;
    item->label = box_of_module(item, v, graph, depth);
    if (!item->label)
        return CQ_E_NO_MEMORY;
    return build_range(&item->canvas, v, graph, item->lo, item->hi,
                       op_at(v, graph, item->lo)->node ? item->rank : CQ_VIEW_MAX_SCOPE + 1);
}

/* Sums over the contents of a box, from its canvas. */
static void add_up(const cq_view *v, cq_view_item *item)
{
    const cq_view_canvas *c = &v->canvases.items[item->canvas];

    for (size_t i = 0; i < c->items.n; i++) {
        const cq_view_item *inner = &c->items.items[i];

        item->flops += inner->flops;
        item->param_bytes += inner->param_bytes;
        item->n_nodes += inner->kind == CQ_VIEW_OP ? 1
                         : inner->kind == CQ_VIEW_BOX && inner->op != CQ_VIEW_NONE
                             ? inner->n_nodes + 1
                         : inner->kind == CQ_VIEW_BOX ? inner->n_nodes
                                                      : 0;
    }
}

static cq_status items_of_range(cq_view_items *items, cq_view *v, uint32_t graph, uint32_t lo,
                                uint32_t hi, uint32_t depth)
{
    for (uint32_t i = lo, end; i < hi; i = end) {
        cq_view_item item = { .lo = i, .canvas = CQ_VIEW_NONE, .op = CQ_VIEW_NONE };

        end = run_end(v, graph, i, hi, depth + 1);
        /* A range that covers everything would be a box with a single box inside. */
        if (end - i == hi - lo && depth > CQ_VIEW_MAX_SCOPE)
            end = i + 1;
        item.hi = end;
        if (end - i == 1)
            CQ_TRY(item_of_op(&item, v, graph, i));
        else {
            CQ_TRY(fill_box(v, graph, &item, depth + 1));
            add_up(v, &item);
        }
        CQ_TRY(cq_vec_push(items, item));
    }
    return CQ_OK;
}

static cq_status build_range(uint32_t *out, cq_view *v, uint32_t graph, uint32_t lo, uint32_t hi,
                             uint32_t depth)
{
    cq_view_items items  = { 0 };
    cq_status     status = items_of_range(&items, v, graph, lo, hi, depth);

    if (status == CQ_OK)
        status = cq_view_fold_repeats(v, graph, depth, &items);
    if (status == CQ_OK)
        status = cq_view_split(v, graph, depth, &items);
    if (status == CQ_OK)
        status = cq_view_canvas_of(out, v, graph, lo, hi, &items);
    if (status == CQ_OK)
        v->canvases.items[*out].depth = depth;
    cq_vec_clear(&items);
    return status;
}

/* ---- the first view ---- */

static size_t n_visible_of(const cq_view *v, uint32_t canvas)
{
    const cq_view_canvas *c = &v->canvases.items[canvas];
    size_t                n = 0;

    for (size_t i = 0; i < c->items.n; i++) {
        const cq_view_item *item = &c->items.items[i];

        n += item->kind < CQ_VIEW_PORT_IN;
        if (item->is_open)
            n += n_visible_of(v, item->canvas);
    }
    return n;
}

static bool can_open(const cq_view *v, const cq_view_item *item, size_t room)
{
    return item->kind == CQ_VIEW_BOX && !item->is_open && !item->repeats && item->n_nodes &&
           (item->op == CQ_VIEW_NONE || v->ops.items[item->op].function == CQ_VIEW_NONE) &&
           item->canvas != CQ_VIEW_NONE && n_visible_of(v, item->canvas) <= room;
}

/* The closed box with the most nodes among those that fit, including boxes inside open ones. */
static cq_view_item *largest_box(cq_view *v, uint32_t canvas, size_t room)
{
    cq_view_canvas *c    = &v->canvases.items[canvas];
    cq_view_item   *best = NULL;

    for (size_t i = 0; i < c->items.n; i++) {
        cq_view_item *item  = &c->items.items[i];
        cq_view_item *inner = item->is_open ? largest_box(v, item->canvas, room) : NULL;

        if (can_open(v, item, room) && (!best || item->n_nodes > best->n_nodes))
            best = item;
        if (inner && (!best || inner->n_nodes > best->n_nodes))
            best = inner;
    }
    return best;
}

static void open_first(cq_view *v)
{
    for (;;) {
        const size_t  n   = n_visible_of(v, v->root);
        cq_view_item *box = n < FIRST_BOXES ? largest_box(v, v->root, MOST_BOXES - n) : NULL;

        if (!box)
            return;
        box->is_open = true;
    }
}

/* Functions come first, and bodies after their enclosing graph. */
cq_status cq_view_build(cq_view *v)
{
    for (uint32_t i = (uint32_t)v->graphs.n; i-- > 0;) {
        uint32_t canvas = CQ_VIEW_NONE;

        CQ_TRY(build_range(&canvas, v, i, 0, v->graphs.items[i].n_ops, 0));
        v->graphs.items[i].canvas = canvas;
    }
    v->root = v->graphs.items[v->main_graph].canvas;
    for (size_t i = 0; i < v->canvases.n; i++)
        for (size_t k = 0; k < v->canvases.items[i].items.n; k++) {
            cq_view_item *item = &v->canvases.items[i].items.items[k];

            if (item->op != CQ_VIEW_NONE && v->ops.items[item->op].function != CQ_VIEW_NONE &&
                !v->ops.items[item->op].n_bodies)
                item->canvas = v->graphs.items[v->ops.items[item->op].function].canvas;
            CQ_TRY(cq_view_describe(v, item, v->canvases.items[i].depth));
            cq_view_measure(v, item);
        }
    open_first(v);
    for (size_t i = 0; i < v->canvases.n; i++)
        CQ_TRY(cq_view_layout(v, &v->canvases.items[i]));
    return CQ_OK;
}
