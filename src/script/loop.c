/* A loop whose length only the data tells. Its body becomes the block of a Loop; every place
 * that the body changes is carried from round to round.
 *
 * The body is explored a first time to find those places. Then it is explored with each of them
 * holding a parameter of the block; if a carried tensor comes out with other sizes than it went
 * in, the parameter's sizes are left open where they differ, and the body is explored again. */
#include "script/builtin.h"

enum { MAX_ROUNDS = 4, MAX_CARRIED = 120 };

/* One number or tensor that is carried. */
typedef struct carried {
    const cq_change *place; /* of the first exploration */
    cq_track        *track; /* or: a tensor that the body changes in place */
    cq_val_kind      kind;  /* TENSOR, INT, FLOAT, BOOL */
    cq_value        *start; /* before the loop */
    cq_type          type;  /* open sizes are -1 */
    cq_int           sizes[8];
    cq_value        *param, *end;
} carried;

typedef struct loop {
    cq_eval           *ev;
    const cq_ast_stmt *stmt;
    cq_node           *node;
    cq_val             over; /* a RANGE, a tensor; None: a while */
    cq_path            found;
    carried            items[MAX_CARRIED];
    size_t             n;
    cq_value          *condition; /* at the end of the body */
} loop;

/* ---- leaves of values ---- */

typedef cq_status (*leaf_fn)(loop *l, const cq_change *place, cq_val leaf, size_t *next, cq_val *out);

/* The value with every tensor and number in it replaced by what fn gives. */
static cq_status map_leaves(loop *l, const cq_change *place, cq_val v, size_t *next, leaf_fn fn,
                            cq_val *out)
{
    *out = v;
    if (v.kind == CQ_VAL_TENSOR || v.kind == CQ_VAL_INT || v.kind == CQ_VAL_FLOAT ||
        v.kind == CQ_VAL_BOOL)
        return fn(l, place, v, next, out);
    if (cq_val_is_list(v)) {
        CQ_TRY(cq_eval_list(l->ev, NULL, 0, v.kind, out));
        for (size_t i = 0; i < v.u.list->n; i++) {
            cq_val item;

            CQ_TRY(map_leaves(l, place, v.u.list->items[i], next, fn, &item));
            CQ_TRY(cq_list_push(out->u.list, item));
        }
    }
    return CQ_OK;
}

static cq_value *value_of(loop *l, cq_val v)
{
    cq_tensor *t;

    return cq_eval_as_tensor(l->ev, v, &t) == CQ_OK ? cq_capture_value(l->ev->capture, l->ev->cx, t)
                                                    : NULL;
}

static cq_status too_many(loop *l)
{
    return cq_eval_fail(l->ev, l->stmt->at, CQ_E_UNSUPPORTED, "a loop carries more than %d values",
                        MAX_CARRIED);
}

static cq_status failed(loop *l)
{
    return l->ev->cx->status != CQ_OK ? l->ev->cx->status : CQ_E_NO_MEMORY;
}

static void set_type(carried *c, cq_type t)
{
    c->type       = t;
    c->type.sizes = c->sizes;
    for (int i = 0; i < t.rank && i < 8; i++)
        c->sizes[i] = t.sizes[i];
}

static cq_status add_leaf(loop *l, const cq_change *place, cq_val v, size_t *next, cq_val *out)
{
    carried *c = &l->items[l->n];

    (void)next;
    (void)out;
    if (l->n == MAX_CARRIED)
        return too_many(l);
    *c = (carried){ .place = place, .kind = v.kind, .start = value_of(l, v) };
    if (!c->start)
        return failed(l);
    if (c->start->type.rank > 8)
        return cq_eval_fail(l->ev, l->stmt->at, CQ_E_UNSUPPORTED,
                            "a loop carries a tensor of more than 8 dimensions");
    set_type(c, c->start->type);
    l->n++;
    return CQ_OK;
}

/* ---- which places are carried ---- */

static cq_status find_carried(loop *l)
{
    for (size_t i = 0; i < l->found.changes.n; i++) {
        const cq_change *p = &l->found.changes.items[i];
        size_t           next = 0;
        cq_val           before, after, ignored;

        if (p->kind == CQ_CHANGE_TRACK) {
            cq_track *t = p->where;

            if (t->base || p->old_value == t->value || !cq_value_is_visible(t->value, l->node->block))
                continue; /* a view, or a tensor that the body makes anew in every round */
            if (l->n == MAX_CARRIED)
                return too_many(l);
            l->items[l->n] = (carried){ .track = t, .kind = CQ_VAL_TENSOR, .start = t->value };
            set_type(&l->items[l->n], ((cq_value *)t->value)->type);
            l->n++;
            continue;
        }
        before = cq_place_value(p);
        after  = p->old;
        if (cq_thing_as(before, CQ_THING_UNDEFINED))
            continue; /* first set in the body: it has no value from the round before */
        if (cq_val_is_list(before) && cq_val_is_list(after) && before.u.list->n != after.u.list->n)
            return cq_eval_fail(l->ev, l->stmt->at, CQ_E_UNSUPPORTED,
                                "a list that grows in a loop of unknown length cannot be exported yet");
        if (before.kind == CQ_VAL_DICT)
            return cq_eval_fail(l->ev, l->stmt->at, CQ_E_UNSUPPORTED,
                                "a dict that changes in a loop of unknown length cannot be exported "
                                "yet");
        CQ_TRY(map_leaves(l, p, before, &next, add_leaf, &ignored));
    }
    return CQ_OK;
}

static bool is_carried(const loop *l, const cq_change *place)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->items[i].place == place)
            return true;
    return false;
}

/* ---- the body ---- */

static cq_status bind_leaf(loop *l, const cq_change *place, cq_val v, size_t *next, cq_val *out)
{
    cq_eval   *ev = l->ev;
    carried   *c;
    cq_tensor *t;

    (void)v;
    while (*next < l->n && l->items[*next].place != place)
        ++*next;
    c = &l->items[(*next)++];
    t = cq_capture_tensor(ev->capture, ev->cx, c->param);
    if (!t)
        return failed(l);
    *out = cq_val_of_tensor(t);
    if (c->kind == CQ_VAL_INT)
        *out = cq_val_of_int(cq_symbol_fresh(ev->cx->symbols, "i", v.u.i.value, c->param, -1));
    else if (c->kind == CQ_VAL_FLOAT)
        *out = (cq_val){ .kind = CQ_VAL_FLOAT, .u.f = { v.u.f.value, c->param } };
    else if (c->kind == CQ_VAL_BOOL)
        *out = (cq_val){ .kind = CQ_VAL_BOOL, .u.b = { v.u.b.value, c->param } };
    return CQ_OK;
}

static cq_status bind_all(loop *l, cq_block *body)
{
    cq_graph *g = l->ev->capture->graph;

    for (size_t i = 0; i < l->n; i++) {
        carried *c = &l->items[i];
        cq_int   sizes[8];

        c->param = cq_ir_param_new(body, c->type);
        if (!c->param)
            return g->status;
        for (int k = 0; k < c->type.rank; k++)
            sizes[k] = c->sizes[k].value < 0 && !c->sizes[k].expr
                           ? cq_symbol_fresh(&g->symbols, "d", c->start->type.sizes[k].value, c->param, k)
                           : c->sizes[k];
        c->param->type = cq_ir_tensor_type(g, c->type.dtype, (size_t)c->type.rank, sizes);
        if (c->track) {
            CQ_TRY(cq_track_will_change(&l->ev->capture->tracks, c->track));
            c->track->value = c->param;
            c->track->current++;
        }
    }
    for (size_t i = 0; i < l->found.changes.n; i++) {
        const cq_change *p = &l->found.changes.items[i];
        size_t           next = 0;
        cq_val           v;

        if (!is_carried(l, p))
            continue;
        CQ_TRY(map_leaves(l, p, cq_place_value(p), &next, bind_leaf, &v));
        CQ_TRY(cq_place_set(l->ev, p, v));
    }
    return CQ_OK;
}

/* The loop variable, from the number of the round. */
static cq_status set_target(loop *l, cq_value *round)
{
    cq_eval  *ev    = l->ev;
    cq_thing *range = cq_thing_as(l->over, CQ_THING_RANGE);
    cq_int    i     = cq_symbol_fresh(ev->cx->symbols, "i", 0, round, -1);
    cq_val    item;

    if (l->over.kind == CQ_VAL_NONE)
        return CQ_OK;
    if (range)
        item = cq_val_of_int(cq_int_add(ev->cx->symbols, range->start,
                                        cq_int_mul(ev->cx->symbols, i, range->step)));
    else
        CQ_TRY(cq_eval_get_item(ev, l->over, cq_val_of_int(i), &item));
    return cq_eval_assign(ev, l->stmt->u.loop.target, item);
}

static cq_status end_condition(loop *l)
{
    cq_eval  *ev   = l->ev;
    cq_val    test = cq_val_of_bool(true);
    bool      known, truth;
    cq_value *symbol;

    if (l->over.kind == CQ_VAL_NONE)
        CQ_TRY(cq_eval_expr(ev, l->stmt->u.loop.test, &test));
    CQ_TRY(cq_eval_truth(ev, test, &known, &truth, &symbol));
    l->condition = known ? value_of(l, cq_val_of_bool(truth)) : symbol;
    return l->condition ? CQ_OK : failed(l);
}

static cq_status end_leaf(loop *l, const cq_change *place, cq_val v, size_t *next, cq_val *out)
{
    carried *c;

    (void)out;
    while (*next < l->n && l->items[*next].place != place)
        ++*next;
    if (*next == l->n)
        return cq_eval_fail(l->ev, l->stmt->at, CQ_E_UNSUPPORTED,
                            "a value changes its structure in a loop of unknown length");
    c = &l->items[(*next)++];
    c->end = value_of(l, v);
    return c->end ? CQ_OK : failed(l);
}

/* What the carried places hold at the end of the body. Runs inside of the exploration. */
static cq_status read_ends(loop *l)
{
    for (size_t i = 0; i < l->found.changes.n; i++) {
        const cq_change *p = &l->found.changes.items[i];
        size_t           next = 0;
        cq_val           ignored;

        if (is_carried(l, p))
            CQ_TRY(map_leaves(l, p, cq_place_value(p), &next, end_leaf, &ignored));
    }
    for (size_t i = 0; i < l->n; i++)
        if (l->items[i].track)
            l->items[i].end = l->items[i].track->value;
    return CQ_OK;
}

static cq_status run_body(loop *l, cq_block *body, cq_path *path)
{
    cq_graph      *g = l->ev->capture->graph;
    cq_value      *round, *running;
    cq_exploration x;
    cq_status      status;
    cq_flow        flow = CQ_FLOW_NEXT;

    round   = cq_ir_param_new(body, cq_ir_tensor_type(g, CQ_DTYPE_I64, 0, NULL));
    running = cq_ir_param_new(body, cq_ir_tensor_type(g, CQ_DTYPE_BOOL, 0, NULL));
    if (!round || !running)
        return g->status;
    cq_explore_begin(l->ev, body, &x);
    status = bind_all(l, body);
    if (status == CQ_OK)
        status = set_target(l, round);
    if (status == CQ_OK)
        status = cq_eval_block(l->ev, &l->stmt->u.loop.body, 0, &flow);
    if (status == CQ_OK && (flow == CQ_FLOW_RETURN || flow == CQ_FLOW_BREAK))
        status = cq_eval_fail(l->ev, l->stmt->at, CQ_E_UNSUPPORTED,
                              "leaving a loop of unknown length in its middle cannot be exported yet");
    if (status == CQ_OK)
        status = end_condition(l);
    if (status == CQ_OK)
        status = read_ends(l);
    return cq_explore_end(l->ev, &x, status, path);
}

/* Opens the sizes that the body changes; false if all are as they were. */
static bool widen(loop *l)
{
    bool changed = false;

    for (size_t i = 0; i < l->n; i++) {
        carried *c = &l->items[i];

        for (int k = 0; k < c->type.rank && c->end->type.rank == c->type.rank; k++) {
            bool open = c->sizes[k].value < 0 && !c->sizes[k].expr;

            if (!open && !cq_int_same(c->sizes[k], c->end->type.sizes[k])) {
                c->sizes[k] = cq_i(-1);
                changed     = true;
            }
        }
        if (c->end->type.dtype != c->type.dtype && c->kind == CQ_VAL_TENSOR && !c->track) {
            cq_dtype both = cq_dtype_promote(c->type.dtype, c->end->type.dtype);

            changed |= both != c->type.dtype;
            c->type.dtype = both;
        }
    }
    return changed;
}

/* ---- after the loop ---- */

static cq_status result_leaf(loop *l, const cq_change *place, cq_val v, size_t *next, cq_val *out)
{
    carried *c;

    while (*next < l->n && l->items[*next].place != place)
        ++*next;
    c        = &l->items[(*next)++];
    c->param = c->end; /* bind_leaf makes a value of what param is */
    {
        size_t at = (size_t)(c - l->items);

        return bind_leaf(l, place, v, &at, out);
    }
}

static cq_status make_outputs(loop *l)
{
    cq_graph *g = l->ev->capture->graph;
    cq_node  *n = l->node;

    n->n_outputs = l->n;
    n->outputs   = cq_arena_array(g->arena, l->n, sizeof *n->outputs);
    if (!n->outputs)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < l->n; i++) {
        carried  *c = &l->items[i];
        cq_value *v = cq_ir_value_new(g, c->type);
        cq_int    sizes[8];

        if (!v)
            return g->status;
        v->node  = n;
        v->block = n->block;
        v->index = (uint32_t)i;
        for (int k = 0; k < c->type.rank; k++)
            sizes[k] = (c->sizes[k].value < 0 && !c->sizes[k].expr) ||
                               !cq_int_is_visible(c->sizes[k], n->block)
                           ? cq_symbol_fresh(&g->symbols, "d", c->start->type.sizes[k].value, v, k)
                           : c->sizes[k];
        v->type       = cq_ir_tensor_type(g, c->type.dtype, (size_t)c->type.rank, sizes);
        n->outputs[i] = v;
        CQ_TRY(cq_vec_push(&n->blocks[0]->returns, CQ_OPERAND_OF(c->end)));
        c->end = v;
        if (c->track) {
            if (l->ev->capture->tracks.will_change)
                CQ_TRY(cq_track_will_change(&l->ev->capture->tracks, c->track));
            c->track->value = v;
            c->track->current++;
        }
    }
    for (size_t i = 0; i < l->found.changes.n; i++) {
        const cq_change *p = &l->found.changes.items[i];
        size_t           next = 0;
        cq_val           v;

        if (!is_carried(l, p))
            continue;
        CQ_TRY(map_leaves(l, p, cq_place_value(p), &next, result_leaf, &v));
        CQ_TRY(cq_place_set(l->ev, p, v));
    }
    return CQ_OK;
}

/* Trip count, condition, and what is carried. */
static cq_status make_inputs(loop *l)
{
    cq_eval    *ev     = l->ev;
    cq_graph   *g      = ev->capture->graph;
    cq_operand *inputs = cq_arena_array(g->arena, l->n + 2, sizeof *inputs);
    cq_thing   *range  = cq_thing_as(l->over, CQ_THING_RANGE);
    cq_val      count  = cq_val_of_i64(INT64_MAX), test = cq_val_of_bool(true);
    bool        known, truth, found;
    cq_value   *symbol;

    if (!inputs)
        return CQ_E_NO_MEMORY;
    if (range) {
        cq_val args[3] = { cq_val_of_int(range->start), cq_val_of_int(range->stop),
                           cq_val_of_int(range->step) };

        CQ_TRY(cq_eval_builtin(ev, "aten::__range_length", args, 3, NULL, NULL, 0, &count, &found));
    } else if (l->over.kind == CQ_VAL_TENSOR) {
        count = cq_val_of_int(l->over.u.tensor->sizes[0]);
    } else {
        CQ_TRY(cq_eval_expr(ev, l->stmt->u.loop.test, &test));
    }
    CQ_TRY(cq_eval_truth(ev, test, &known, &truth, &symbol));
    inputs[0] = (cq_operand){ .kind = CQ_OPERAND_INT, .u.i = count.u.i };
    inputs[1] = known ? (cq_operand){ .kind = CQ_OPERAND_BOOL, .u.b = truth } : CQ_OPERAND_OF(symbol);
    for (size_t i = 0; i < l->n; i++)
        inputs[i + 2] = CQ_OPERAND_OF(l->items[i].start);
    l->node->inputs   = inputs;
    l->node->n_inputs = l->n + 2;
    return CQ_OK;
}

static cq_status fresh_body(loop *l, cq_block **body)
{
    l->node->n_blocks = 0;
    *body             = cq_ir_node_block(l->node);
    return *body ? CQ_OK : CQ_E_NO_MEMORY;
}

static cq_status convert(loop *l)
{
    cq_path   path;
    cq_block *body;
    bool      again = true;

    /* The node goes to its place when its inputs are known; until then it holds the blocks. */
    CQ_TRY(fresh_body(l, &body));
    CQ_TRY(run_body(l, body, &l->found));
    CQ_TRY(find_carried(l));
    for (int i = 0; again; i++) {
        cq_status status;

        if (i == MAX_ROUNDS)
            return cq_eval_fail(l->ev, l->stmt->at, CQ_E_UNSUPPORTED,
                                "the types of a loop of unknown length do not settle");
        path = (cq_path){ .result = CQ_NONE };
        CQ_TRY(fresh_body(l, &body));
        status = run_body(l, body, &path);
        cq_path_clear(&path);
        CQ_TRY(status);
        again = widen(l);
    }
    CQ_TRY(cq_vec_push(&body->returns, CQ_OPERAND_OF(l->condition)));
    CQ_TRY(make_inputs(l));
    /* The inputs were computed after the node was made: it follows them. */
    {
        cq_block *home = l->node->block;

        cq_ir_unlink(l->node);
        cq_ir_move_before(l->node, home, NULL);
    }
    return make_outputs(l);
}

cq_status cq_eval_loop(cq_eval *ev, const cq_ast_stmt *s, cq_val over, cq_flow *flow)
{
    loop     *l = cq_zalloc(sizeof *l);
    cq_status status;

    *flow = CQ_FLOW_NEXT;
    if (!l)
        return CQ_E_NO_MEMORY;
    l->ev   = ev;
    l->stmt = s;
    l->over = over;
    if (!cq_thing_as(over, CQ_THING_RANGE) && over.kind != CQ_VAL_TENSOR && over.kind != CQ_VAL_NONE)
        status = cq_eval_fail(ev, s->at, CQ_E_UNSUPPORTED,
                              "a list of unknown length cannot be gone through yet");
    else
        status = CQ_OK;
    if (status == CQ_OK) {
        l->node = cq_ir_node_new(ev->capture->block, NULL, "prim::Loop", NULL, 0, 0);
        status  = l->node ? convert(l) : ev->capture->graph->status;
    }
    cq_path_clear(&l->found);
    cq_free(l);
    return status;
}
