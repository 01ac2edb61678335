/* Calls become nodes. Every tensor that a call makes gets a graph value; tensors from
 * outside become constants of the graph when they are first used. */
#include "capture/capture.h"
#include "base/str.h"
#include "base/warn.h"

#include <stdio.h>

/* ---- operands ---- */

static cq_operand operand_of(cq_capture *cap, cq_ctx *cx, cq_val v);

static cq_operand list_operand(cq_capture *cap, cq_ctx *cx, const cq_list *list)
{
    cq_operand o = { .kind = CQ_OPERAND_LIST, .u.list.n = list->n };

    o.u.list.items = cq_arena_array(cap->graph->arena, list->n, sizeof *o.u.list.items);
    if (!o.u.list.items) {
        cq_ctx_fail(cx, CQ_E_NO_MEMORY);
        return (cq_operand){ 0 };
    }
    for (size_t i = 0; i < list->n; i++)
        o.u.list.items[i] = operand_of(cap, cx, list->items[i]);
    return o;
}

static cq_operand operand_of(cq_capture *cap, cq_ctx *cx, cq_val v)
{
    cq_track *track;

    switch (v.kind) {
    case CQ_VAL_NONE: return (cq_operand){ 0 };
    case CQ_VAL_TENSOR:
        track = cq_track_of(&cap->tracks, cx, v.u.tensor);
        return track ? CQ_OPERAND_OF(track->value) : (cq_operand){ 0 };
    case CQ_VAL_INT: return (cq_operand){ .kind = CQ_OPERAND_INT, .u.i = v.u.i };
    case CQ_VAL_FLOAT:
        if (v.u.f.origin)
            return CQ_OPERAND_OF(v.u.f.origin);
        return (cq_operand){ .kind = CQ_OPERAND_FLOAT, .u.f = v.u.f.value };
    case CQ_VAL_BOOL:
        if (v.u.b.origin)
            return CQ_OPERAND_OF(v.u.b.origin);
        return (cq_operand){ .kind = CQ_OPERAND_BOOL, .u.b = v.u.b.value };
    case CQ_VAL_COMPLEX:
        return (cq_operand){ .kind = CQ_OPERAND_COMPLEX, .u.c = { v.u.c.re, v.u.c.im } };
    case CQ_VAL_STR:
    case CQ_VAL_DEVICE: return (cq_operand){ .kind = CQ_OPERAND_STR, .u.s = v.u.text->text };
    case CQ_VAL_LIST:
    case CQ_VAL_TUPLE: return list_operand(cap, cx, v.u.list);
    default:
        cq_ctx_fail(cx, cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                                "a graph cannot hold an argument of type %s",
                                cq_val_kind_name(v.kind)));
        return (cq_operand){ 0 };
    }
}

/* ---- scopes ---- */

/* The graph's own copy of the context's scopes, made once per frame. */
static const cq_origin *origin_of(cq_capture *cap, const cq_scope *s)
{
    cq_graph  *g = cap->graph;
    cq_origin *o;

    if (!s)
        return NULL;
    if (s->seen)
        return s->seen;
    o = cq_arena_zalloc(g->arena, sizeof *o);
    if (!o)
        return NULL;
    o->parent     = origin_of(cap, s->parent);
    o->path       = cq_ir_text(g, s->path);
    o->name       = cq_ir_text(g, s->name);
    o->class_name = cq_ir_text(g, s->class_name);
    o->call       = s->call;

    ((cq_scope *)s)->seen = o;
    return o;
}

cq_node *cq_capture_node(cq_capture *cap, cq_ctx *cx, const char *op, const cq_operand *inputs,
                         size_t n_inputs, size_t n_outputs)
{
    cq_node *node = cq_ir_node_new(cap->block, NULL, op, inputs, n_inputs, n_outputs);

    if (node) {
        node->origin   = origin_of(cap, cx->scope);
        node->location = cx->location;
        node->no_grad  = cx->no_grad;
        node->marks    = cq_capture_marks(cap, cap->marks);
    }
    return node;
}

/* ---- the listener ---- */

static bool wants_whole(void *self, const cq_opcall *c)
{
    cq_capture *cap = self;

    if (!(c->op->def->flags & CQ_OP_PARTS))
        return true;
    /* x.view_as(y) takes y, of which its parts read only the sizes. */
    for (size_t i = 0; i < c->op->schema->n_args; i++) {
        const cq_track *t = c->args[i].kind == CQ_VAL_TENSOR
                                ? cq_track_of_new(&cap->tracks, c->args[i].u.tensor)
                                : NULL;

        if (t)
            ((cq_value *)t->value)->is_taken = true;
    }
    return false;
}

/* Sets the origin of a data-dependent size (cq_unknown_size) in the graph. */
static void settle_unknown_sizes(cq_tensor *t, cq_value *v)
{
    for (size_t i = 0; i < t->rank; i++) {
        cq_atom *atom = (cq_atom *)cq_int_symbol(t->sizes[i]);

        if (atom && !atom->origin) {
            atom->origin = v;
            atom->axis   = (int)i;
        }
    }
}

static cq_track *new_track(cq_capture *cap, cq_tensor *t, cq_value *v)
{
    cq_track *track = cq_track_new(&cap->tracks, t, v);

    if (track)
        track->home = cap->block;
    return track;
}

static cq_status bind(cq_capture *cap, cq_opcall *c, cq_tensor *t, cq_value *v, size_t result)
{
    if (!new_track(cap, t, v))
        return CQ_E_NO_MEMORY;
    v->type = cq_ir_type_of(cap->graph, t);
    settle_unknown_sizes(t, v);
    return c->op->def->view && !c->copied ? cq_track_view(&cap->tracks, c, t, result) : CQ_OK;
}

static cq_status bind_number(cq_opcall *c, size_t i, cq_value *v)
{
    static const cq_type_kind kinds[] = {
        [CQ_VAL_INT] = CQ_TYPE_INT, [CQ_VAL_FLOAT] = CQ_TYPE_FLOAT, [CQ_VAL_BOOL] = CQ_TYPE_BOOL
    };
    cq_val *r = &c->results[i];

    if (r->kind != CQ_VAL_INT && r->kind != CQ_VAL_FLOAT && r->kind != CQ_VAL_BOOL)
        return CQ_OK;
    v->type = (cq_type){ .kind = kinds[r->kind] };
    return CQ_OK;
}

static cq_status called(void *self, cq_opcall *c)
{
    cq_capture *cap     = self;
    cq_val     *results = c->results;
    size_t      n       = c->n_results;
    cq_operand  inputs[CQ_MAX_ARGS];
    cq_node    *node;
    bool        news = false;

    if (c->op->def->flags & CQ_OP_HOST)
        return CQ_OK; /* the number itself has what a graph needs */
    if (n == 1 && results[0].kind == CQ_VAL_LIST) {
        n       = results[0].u.list->n;
        results = results[0].u.list->items;
    }
    for (size_t i = 0; i < n; i++)
        news |=
            results[i].kind != CQ_VAL_TENSOR || !cq_is_tracked(&cap->tracks, results[i].u.tensor);
    if (!news && n)
        return CQ_OK; /* it returned an argument */
    for (size_t i = 0; i < c->op->schema->n_args; i++)
        inputs[i] = operand_of(cap, c->cx, c->args[i]);
    CQ_TRY(c->cx->status);
    node = cq_capture_node(cap, c->cx, c->op->schema->full, inputs, c->op->schema->n_args, n);
    if (!node)
        return cap->graph->status;
    node->def         = c->op;
    node->list_result = results != c->results;
    for (size_t i = 0; i < n; i++) {
        if (results[i].kind != CQ_VAL_TENSOR)
            CQ_TRY(bind_number(c, i, node->outputs[i]));
        else if (!cq_is_tracked(&cap->tracks, results[i].u.tensor))
            CQ_TRY(bind(cap, c, results[i].u.tensor, node->outputs[i], i));
    }
    return cap->graph->status;
}

static void baked(void *self, cq_ctx *cx, const char *what, cq_int value)
{
    cq_capture *cap = self;
    char        module[640], where[640 + CQ_LOCATION_SIZE], key[1280], location[CQ_LOCATION_SIZE];

    if (cap->is_tape)
        return;
    module[0] = '\0';
    if (cx->scope)
        snprintf(module, sizeof module, cx->scope->path[0] ? "%.500s (%.100s)" : "%.0s%.100s",
                 cx->scope->path, cx->scope->class_name);
    cq_location_text(cx->location, location);
    snprintf(where, sizeof where, "%.600s%s%.500s", module, module[0] && location[0] ? ", " : "",
             location);
    snprintf(key, sizeof key, "%.1150s|%.100s", where, what);
    if (cq_map_has(&cap->warned, key) || cq_map_set(&cap->warned, key, NULL) != CQ_OK ||
        cq_vec_push(&cap->graph->baked, (cq_baked){ cq_ir_text(cap->graph, what),
                                                    cq_ir_text(cap->graph, where), value.value }) !=
            CQ_OK)
        return;
    cq_warn(where,
            "%s is read as the plain number %lld and baked into the graph; it will not follow "
            "other inputs",
            what, (long long)value.value);
}

static const cq_listener listener = {
    .wants_whole = wants_whole,
    .called      = called,
    .changed     = cq_track_changed,
    .refresh     = cq_track_refresh,
    .baked       = baked,
    .materialize = cq_capture_materialize,
};

/* ---- the capture itself ---- */

void cq_capture_clear(cq_capture *cap)
{
    for (size_t i = 0; i < cap->computed.n; i++)
        cq_tensor_release(cap->computed.items[i]);
    cq_vec_clear(&cap->computed);
    cq_vec_clear(&cap->spans);
    cq_vec_clear(&cap->outputs);
    cq_tracks_clear(&cap->tracks);
    cq_map_clear(&cap->weights);
    cq_map_clear(&cap->warned);
    cq_map_clear(&cap->called);
}

void cq_capture_free(cq_capture *cap)
{
    if (!cap)
        return;
    cq_capture_clear(cap);
    cq_graph_free(cap->graph);
    cq_free(cap);
}

cq_graph *cq_capture_take(cq_capture *cap)
{
    cq_graph *g = cap->graph;

    cap->graph = NULL;
    return g;
}

void cq_capture_start(cq_capture *cap, cq_ctx *cx)
{
    cx->listener      = &listener;
    cx->listener_self = cap;
    cx->observer      = &cq_capture_observer;
    cx->observer_self = cap;
    cx->symbols       = &cap->graph->symbols;
    cx->fake          = true;
    cx->exporting     = true;
}

cq_capture *cq_capture_of(const cq_ctx *cx)
{
    return cx->listener == &listener ? cx->listener_self : NULL;
}

void cq_capture_stop(cq_capture *cap, cq_ctx *cx)
{
    (void)cap;
    cx->listener      = NULL;
    cx->listener_self = NULL;
    cx->observer      = NULL;
    cx->observer_self = NULL;
    cx->symbols       = NULL;
    cx->fake          = false;
    cx->exporting     = false;
}

/* The value of a tensor with data, by its memory. */
static cq_value *constant_of(cq_capture *cap, cq_tensor *t, const char *name)
{
    cq_str    key   = { 0 };
    cq_value *v     = NULL;
    bool      empty = cq_tensor_numel(t) == 0; /* no memory to tell them apart */

    cq_tensor_identity(&key, t);
    if (key.status == CQ_OK && !empty)
        v = cq_map_get(&cap->weights, key.text);
    if (!v && key.status == CQ_OK) {
        v = cq_ir_constant_new(cap->graph, t, name != NULL);
        if (v && name)
            v->name = cq_ir_text(cap->graph, name);
        if (v && !empty && cq_map_set(&cap->weights, key.text, v) != CQ_OK)
            v = NULL;
    }
    cq_str_clear(&key);
    return v;
}

cq_status cq_capture_weight(cq_capture *cap, cq_tensor *t, const char *name)
{
    return constant_of(cap, t, name) ? CQ_OK : CQ_E_NO_MEMORY;
}

cq_status cq_capture_constant(cq_capture *cap, cq_tensor *t)
{
    cq_value *v = constant_of(cap, t, NULL);

    return v && new_track(cap, t, v) ? CQ_OK : CQ_E_NO_MEMORY;
}

bool cq_capture_has_data(cq_capture *cap, cq_ctx *cx, cq_tensor *t)
{
    cq_track *track;

    if (!t->storage || !cap || !cq_is_tracked(&cap->tracks, t))
        return t->storage != NULL;
    track = cq_track_of(&cap->tracks, cx, t);
    return track && ((cq_value *)cq_track_root(track)->value)->data;
}

static void *value_of_outsider(cq_tracks *tracks, cq_ctx *cx, cq_tensor *t)
{
    cq_value *v;

    if (!t->storage) {
        cq_ctx_fail(cx, cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                                "a tensor without data was used that is not of this capture"));
        return NULL;
    }
    v = constant_of((cq_capture *)tracks, t, NULL);
    if (!v)
        cq_ctx_fail(cx, CQ_E_NO_MEMORY);
    return v;
}

void cq_capture_init(cq_capture *cap, cq_graph *graph, cq_block *block)
{
    *cap = (cq_capture){ .graph = graph, .block = block };
    cq_tracks_init(&cap->tracks, graph->arena, value_of_outsider);
}

cq_status cq_capture_new(cq_capture **out)
{
    cq_capture *cap = *out = cq_zalloc(sizeof *cap);
    cq_graph   *graph;

    if (!cap)
        return CQ_E_NO_MEMORY;
    if (cq_graph_new(&graph) != CQ_OK) {
        cq_free(cap);
        *out = NULL;
        return CQ_E_NO_MEMORY;
    }
    cq_capture_init(cap, graph, graph->top);
    return CQ_OK;
}

cq_tensor *cq_capture_tensor(cq_capture *cap, cq_ctx *cx, cq_value *v)
{
    cq_tensor *t;
    cq_status  status;

    if (cx->status != CQ_OK)
        return NULL;
    status = cq_tensor_new_fake(&t, v->type.dtype, (size_t)v->type.rank, v->type.sizes);
    if (status == CQ_OK && !new_track(cap, t, v)) {
        cq_tensor_release(t);
        status = CQ_E_NO_MEMORY;
    }
    if (status != CQ_OK) {
        cq_ctx_fail(cx, status);
        return NULL;
    }
    return cq_ctx_own_tensor(cx, t);
}

cq_tensor *cq_capture_sized_input(cq_capture *cap, cq_ctx *cx, cq_tensor *example, const char *name,
                                  const cq_int *sizes)
{
    cq_graph *g = cap->graph;
    cq_value *v =
        cq_ir_param_new(g->top, cq_ir_tensor_type(g, example->dtype, example->rank, sizes));
    cq_tensor *t;

    if (!v) {
        cq_ctx_fail(cx, CQ_E_NO_MEMORY);
        return NULL;
    }
    v->name = cq_ir_text(g, name);
    if (example->storage && cq_ir_keep_tensor(g, example) == CQ_OK)
        v->example = example;
    t = cq_capture_tensor(cap, cx, v);
    if (t)
        settle_unknown_sizes(t, v);
    return t;
}

cq_tensor *cq_capture_input(cq_capture *cap, cq_ctx *cx, cq_tensor *example, const char *name,
                            const char *const *axis_names)
{
    cq_int sizes[CQ_MAX_RANK];

    for (size_t i = 0; i < example->rank; i++) {
        sizes[i] = cq_i(example->sizes[i].value);
        if (axis_names && axis_names[i])
            sizes[i] = cq_symbol(&cap->graph->symbols, axis_names[i], sizes[i].value, NULL, (int)i);
    }
    return cq_capture_sized_input(cap, cx, example, name, sizes);
}

cq_value *cq_capture_value(cq_capture *cap, cq_ctx *cx, cq_tensor *t)
{
    cq_track *track;
    cq_status status;

    if (cx->status != CQ_OK || !t)
        return NULL;
    status = cq_track_refresh(&cap->tracks, cx, t);
    if (status != CQ_OK) {
        cq_ctx_fail(cx, status);
        return NULL;
    }
    track = cq_track_of(&cap->tracks, cx, t);
    return track ? track->value : NULL;
}

const cq_value *cq_capture_truth(const cq_operand *condition, bool *negated)
{
    const cq_operand *o = condition;

    *negated = false;
    while (o->kind == CQ_OPERAND_VALUE && o->u.value->node &&
           strcmp(o->u.value->node->op, "aten::logical_not") == 0) {
        o        = &o->u.value->node->inputs[0];
        *negated = !*negated;
    }
    return o->kind == CQ_OPERAND_VALUE ? o->u.value : NULL;
}

cq_val cq_operand_val(const cq_operand *o, cq_ctx *cx, cq_operand_leaf leaf, void *user)
{
    cq_list *list;

    switch (o->kind) {
    case CQ_OPERAND_FLOAT: return cq_val_of_f64(o->u.f);
    case CQ_OPERAND_BOOL: return cq_val_of_bool(o->u.b);
    case CQ_OPERAND_STR: return cq_str_val(cx, o->u.s);
    case CQ_OPERAND_LIST:
        if (cq_list_new(&list, o->u.list.n) != CQ_OK) {
            cq_ctx_fail(cx, CQ_E_NO_MEMORY);
            return CQ_NONE;
        }
        for (size_t i = 0; i < o->u.list.n; i++)
            list->items[i] = cq_val_retain(cq_operand_val(&o->u.list.items[i], cx, leaf, user));
        return cq_ctx_own(cx, cq_val_of_list(list));
    default: return leaf(user, cx, o);
    }
}

/* A value of the graph, or an integer with its dependencies. */
static cq_val captured(void *user, cq_ctx *cx, const cq_operand *o)
{
    if (o->kind == CQ_OPERAND_INT)
        return cq_val_of_int(o->u.i);
    return o->kind == CQ_OPERAND_VALUE ? cq_val_of_tensor(cq_capture_tensor(user, cx, o->u.value))
                                       : CQ_NONE;
}

cq_val cq_capture_val(cq_capture *cap, cq_ctx *cx, const cq_operand *o)
{
    return cq_operand_val(o, cx, captured, cap);
}

void cq_capture_output(cq_capture *cap, cq_ctx *cx, cq_tensor *t)
{
    cq_value *v = cq_capture_value(cap, cx, t);

    if (v && cq_vec_push(&cap->graph->top->returns, CQ_OPERAND_OF(v)) != CQ_OK)
        cq_ctx_fail(cx, CQ_E_NO_MEMORY);
}

/* Passes the value through if the condition holds; otherwise nothing: CQ_RAISE has no ONNX form, so
 * the exporter inserts nodes that fail. */
static cq_value *checked(cq_graph *g, const cq_check *c, cq_value *v)
{
    const size_t side = c->wanted ? 0 : 1;
    cq_node  *node = cq_ir_node_new(g->top, NULL, "prim::If", &CQ_OPERAND_OF(c->condition), 1, 1);
    cq_block *blocks[2];
    cq_node  *raise;

    for (size_t i = 0; i < 2; i++)
        blocks[i] = node ? cq_ir_node_block(node) : NULL;
    raise = blocks[0] && blocks[1] ? cq_ir_node_new(blocks[1 - side], NULL, CQ_RAISE, NULL, 0, 1)
                                   : NULL;
    if (!raise)
        return NULL;
    node->untaken           = (uint8_t)(2 - side);
    node->location          = c->location;
    node->outputs[0]->type  = v->type;
    raise->outputs[0]->type = v->type;
    if (cq_vec_push(&blocks[side]->returns, CQ_OPERAND_OF(v)) != CQ_OK ||
        cq_vec_push(&blocks[1 - side]->returns, CQ_OPERAND_OF(raise->outputs[0])) != CQ_OK)
        return NULL;
    return node->outputs[0];
}

cq_status cq_capture_add_checks(cq_capture *cap)
{
    cq_graph   *g     = cap->graph;
    cq_operand *first = NULL;

    for (size_t i = 0; i < g->top->returns.n && !first; i++)
        if (g->top->returns.items[i].u.value->type.kind == CQ_TYPE_TENSOR)
            first = &g->top->returns.items[i];
    for (size_t i = 0; i < g->checks.n; i++) {
        cq_value *v = first ? checked(g, &g->checks.items[i], first->u.value) : NULL;

        if (!first)
            return cq_fail(CQ_E_UNSUPPORTED, NULL, "let the example decide (--trace)",
                           "a branch cannot be exported, and no output is a tensor that could "
                           "tell of it");
        if (!v)
            return g->status != CQ_OK ? g->status : CQ_E_NO_MEMORY;
        first->u.value = v;
    }
    return CQ_OK;
}
