/* An if on a condition that only the data decides. Both sides are explored into the blocks of
 * an If; every place that either of them changed becomes a result of the If. A branch that only
 * raises is dropped: the graph has no exceptions. */
#include "script/builtin.h"

#include <stdio.h>

/* ---- branches that raise, and those that leave ---- */

static bool is_raise_call(const cq_ast_expr *x)
{
    return x->kind == CQ_X_CALL && x->u.call.function->kind == CQ_X_ATTR &&
           strcmp(x->u.call.function->u.attr.name, "RaiseException") == 0;
}

static bool raises(const cq_ast_block *b)
{
    for (size_t i = 0; i < b->n; i++) {
        const cq_ast_stmt *s = b->items[i];

        if (s->kind == CQ_S_RAISE || (s->kind == CQ_S_EXPR && is_raise_call(s->u.value)))
            return true;
        if (s->kind == CQ_S_IF && raises(&s->u.branch.then) && raises(&s->u.branch.other))
            return true;
    }
    return false;
}

/* return, or break and continue of a loop around it */
static bool leaves(const cq_ast_block *b, bool in_loop)
{
    for (size_t i = 0; i < b->n; i++) {
        const cq_ast_stmt *s = b->items[i];

        if (s->kind == CQ_S_RETURN || (!in_loop && (s->kind == CQ_S_BREAK || s->kind == CQ_S_CONTINUE)))
            return true;
        if (s->kind == CQ_S_IF &&
            (leaves(&s->u.branch.then, in_loop) || leaves(&s->u.branch.other, in_loop)))
            return true;
        if ((s->kind == CQ_S_FOR || s->kind == CQ_S_WHILE) && leaves(&s->u.loop.body, true))
            return true;
        if (s->kind == CQ_S_WITH && leaves(&s->u.with.body, in_loop))
            return true;
    }
    return false;
}

/* ---- joining two values ---- */

typedef struct join {
    cq_eval  *ev;
    cq_node  *node;      /* the If */
    cq_path  *paths[2];  /* what its sides did */
    CQ_VEC(cq_value *) outputs;
} join;

static cq_status undefined(join *j, const char *why, cq_val *out)
{
    cq_thing *t;

    CQ_TRY(cq_thing_new(&t, CQ_THING_UNDEFINED));
    t->text = cq_name(j->ev->program, why);
    *out    = cq_ctx_own(j->ev->cx, cq_val_of_thing(t));
    return j->ev->cx->status;
}

static cq_tensor *tensor_in(join *j, size_t i, cq_val v, cq_status *status)
{
    cq_capture *cap   = j->ev->capture;
    cq_block   *outer = cap->block;
    cq_tensor  *t     = NULL;

    cap->block = j->node->blocks[i];
    *status    = cq_eval_as_tensor(j->ev, v, &t);
    cap->block = outer;
    return t;
}

/* Exchanges what tensors hold now and what they held at the end of a side. */
static void swap_tracks(cq_path *path)
{
    for (size_t i = 0; i < path->changes.n; i++) {
        cq_change *c = &path->changes.items[i];
        cq_track  *t = c->where, was;

        if (c->kind != CQ_CHANGE_TRACK)
            continue;
        was            = *t;
        t->value       = c->old_value;
        t->version     = c->old_version;
        t->current     = c->old_current;
        c->old_value   = was.value;
        c->old_version = was.version;
        c->old_current = was.current;
    }
}

/* What a tensor holds at the end of the i-th side, which may have written to it. */
static cq_value *value_in(join *j, size_t i, cq_tensor *t)
{
    cq_capture *cap   = j->ev->capture;
    cq_block   *outer = cap->block;
    cq_value   *v;

    cap->block = j->node->blocks[i];
    swap_tracks(j->paths[i]);
    v = cq_capture_value(cap, j->ev->cx, t);
    swap_tracks(j->paths[i]);
    cap->block = outer;
    return v;
}

static cq_status new_output(join *j, cq_type type, cq_value *then, cq_value *other, cq_tensor **out)
{
    cq_graph *g = j->ev->capture->graph;
    cq_value *v = cq_ir_value_new(g, type);
    cq_int    sizes[CQ_MAX_RANK];

    if (!v)
        return g->status;
    v->node  = j->node;
    v->block = j->node->block;
    v->index = (uint32_t)j->outputs.n;
    for (int i = 0; i < type.rank; i++) /* an unknown size is the output's own */
        sizes[i] = type.sizes[i].value < 0 ? cq_symbol_fresh(&g->symbols, "d", 1, v, i) : type.sizes[i];
    v->type = cq_ir_tensor_type(g, type.dtype, (size_t)type.rank, sizes);
    CQ_TRY(cq_vec_push(&j->outputs, v));
    CQ_TRY(cq_vec_push(&j->node->blocks[0]->returns, CQ_OPERAND_OF(then)));
    CQ_TRY(cq_vec_push(&j->node->blocks[1]->returns, CQ_OPERAND_OF(other)));
    *out = cq_capture_tensor(j->ev->capture, j->ev->cx, v);
    return j->ev->cx->status;
}

static cq_status join_tensors(join *j, cq_tensor *a, cq_tensor *b, cq_val *out)
{
    cq_int     sizes[CQ_MAX_RANK];
    cq_type    type = { .kind = CQ_TYPE_TENSOR, .rank = (int)a->rank, .sizes = sizes };
    cq_value  *then = value_in(j, 0, a), *other = value_in(j, 1, b);
    cq_tensor *t;

    if (!then || !other)
        return j->ev->cx->status;
    if (a->rank != b->rank)
        return undefined(j, "the two sides of a branch give it different numbers of dimensions", out);
    type.dtype = a->dtype == b->dtype ? a->dtype : cq_dtype_promote(a->dtype, b->dtype);
    for (size_t i = 0; i < a->rank; i++)
        sizes[i] = cq_int_same(a->sizes[i], b->sizes[i]) &&
                           cq_int_is_visible(a->sizes[i], j->node->block)
                       ? a->sizes[i]
                       : cq_i(-1);
    CQ_TRY(new_output(j, type, then, other, &t));
    *out = cq_val_of_tensor(t);
    return CQ_OK;
}

/* No value on one side: whatever stands there is never used, but must be of the type. */
static cq_status join_with_nothing(join *j, cq_val v, size_t side, cq_val *out)
{
    cq_capture *cap   = j->ev->capture;
    cq_block   *outer = cap->block;
    cq_int      ones[CQ_MAX_RANK];
    cq_tensor  *dummy, *t = v.u.tensor;

    for (size_t i = 0; i < t->rank; i++)
        ones[i] = t->sizes[i].expr ? cq_i(1) : t->sizes[i];
    cap->block = j->node->blocks[1 - side];
    dummy      = CQ_OP(j->ev->cx, "aten::zeros", cq_ints(j->ev->cx, ones, t->rank), DTYPE(t->dtype));
    cap->block = outer;
    if (!dummy)
        return j->ev->cx->status;
    return side == 0 ? join_tensors(j, t, dummy, out) : join_tensors(j, dummy, t, out);
}

static cq_status join_values(join *j, cq_val a, cq_val b, cq_val *out);

static cq_status join_lists(join *j, const cq_list *a, const cq_list *b, cq_val_kind kind, cq_val *out)
{
    if (a->n != b->n)
        return undefined(j, "the two sides of a branch give it different lengths", out);
    CQ_TRY(cq_eval_list(j->ev, NULL, 0, kind, out));
    for (size_t i = 0; i < a->n; i++) {
        cq_val v;

        CQ_TRY(join_values(j, a->items[i], b->items[i], &v));
        CQ_TRY(cq_list_push(out->u.list, v));
    }
    return CQ_OK;
}

static cq_status join_dicts(join *j, const cq_dict *a, const cq_dict *b, cq_val *out)
{
    cq_dict *dict;

    CQ_TRY(cq_dict_new(&dict));
    *out = cq_ctx_own(j->ev->cx, (cq_val){ .kind = CQ_VAL_DICT, .u.dict = dict });
    CQ_TRY(j->ev->cx->status);
    for (size_t i = 0; i < a->n; i++) {
        cq_val *other = cq_dict_get(b, a->entries[i].key), v;

        if (!other || a->n != b->n)
            return undefined(j, "the two sides of a branch give it different keys", out);
        CQ_TRY(join_values(j, a->entries[i].value, *other, &v));
        CQ_TRY(cq_dict_set(dict, a->entries[i].key, v));
    }
    return CQ_OK;
}

static bool is_undefined(cq_val v)
{
    return cq_thing_as(v, CQ_THING_UNDEFINED) != NULL;
}

static bool plainly_equal(cq_val a, cq_val b)
{
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case CQ_VAL_NONE: return true;
    case CQ_VAL_INT: return cq_int_same(a.u.i, b.u.i);
    case CQ_VAL_FLOAT:
        return a.u.f.origin == b.u.f.origin && (a.u.f.origin || a.u.f.value == b.u.f.value);
    case CQ_VAL_BOOL:
        return a.u.b.origin == b.u.b.origin && (a.u.b.origin || a.u.b.value == b.u.b.value);
    case CQ_VAL_STR:
    case CQ_VAL_DEVICE: return strcmp(a.u.text->text, b.u.text->text) == 0;
    case CQ_VAL_OBJECT: return a.u.box == b.u.box;
    default: return false;
    }
}

static cq_status join_values(join *j, cq_val a, cq_val b, cq_val *out)
{
    cq_status  status;
    cq_tensor *ta, *tb, *t;

    *out = a;
    if (is_undefined(a) && b.kind == CQ_VAL_TENSOR)
        return join_with_nothing(j, b, 1, out);
    if (is_undefined(b) && a.kind == CQ_VAL_TENSOR)
        return join_with_nothing(j, a, 0, out);
    if (is_undefined(a) || is_undefined(b)) {
        size_t side = is_undefined(a) ? 1 : 0;
        cq_val v    = side ? b : a;

        *out = v;
        if (!cq_val_is_number(v))
            return CQ_OK;
        t = tensor_in(j, side, v, &status);
        CQ_TRY(status);
        CQ_TRY(join_with_nothing(j, cq_val_of_tensor(t), side, out));
        t = out->u.tensor;
        return cq_builtin_number_of(j->ev, t, v.kind, out);
    }
    if (plainly_equal(a, b))
        return CQ_OK;
    if (a.kind == CQ_VAL_TENSOR && b.kind == CQ_VAL_TENSOR) /* of one, the contents are joined */
        return a.u.tensor == b.u.tensor ? CQ_OK : join_tensors(j, a.u.tensor, b.u.tensor, out);
    if (cq_val_is_number(a) && cq_val_is_number(b)) {
        cq_val_kind kind = a.kind == b.kind ? a.kind : CQ_VAL_FLOAT;

        ta = tensor_in(j, 0, a, &status);
        CQ_TRY(status);
        tb = tensor_in(j, 1, b, &status);
        CQ_TRY(status);
        CQ_TRY(join_tensors(j, ta, tb, out));
        t = out->u.tensor;
        return cq_builtin_number_of(j->ev, t, kind, out);
    }
    if (cq_val_is_list(a) && a.kind == b.kind)
        return join_lists(j, a.u.list, b.u.list, a.kind, out);
    if (a.kind == CQ_VAL_DICT && b.kind == CQ_VAL_DICT)
        return join_dicts(j, a.u.dict, b.u.dict, out);
    return undefined(j, "the two sides of a branch give it values that do not go together", out);
}

/* ---- the If ---- */

static cq_status join_tracks(join *j, const cq_path *then, const cq_path *other)
{
    const cq_path *paths[2] = { then, other };

    for (int p = 0; p < 2; p++)
        for (size_t i = 0; i < paths[p]->changes.n; i++) {
            const cq_change *c = &paths[p]->changes.items[i];
            cq_track        *t = c->where;
            cq_value        *values[2];
            cq_tensor       *joined;
            cq_int           sizes[CQ_MAX_RANK];
            cq_type          type;
            bool             seen = false;

            if (c->kind != CQ_CHANGE_TRACK)
                continue;
            for (size_t k = 0; p == 1 && k < then->changes.n; k++)
                seen |= cq_place_same(&then->changes.items[k], c);
            if (seen)
                continue;
            for (int q = 0; q < 2; q++) {
                values[q] = t->value;
                for (size_t k = 0; k < paths[q]->changes.n; k++)
                    if (cq_place_same(&paths[q]->changes.items[k], c))
                        values[q] = paths[q]->changes.items[k].old_value;
            }
            if (values[0] == values[1])
                continue;
            if (t->base) { /* a view: it will be taken again from its base */
                continue;
            }
            type       = values[0]->type;
            type.sizes = sizes;
            for (int k = 0; k < type.rank; k++)
                sizes[k] = values[0]->type.sizes[k];
            CQ_TRY(new_output(j, type, values[0], values[1], &joined));
            t->value = ((cq_track *)joined->track)->value;
            t->current++;
        }
    return CQ_OK;
}

static cq_status join_places(join *j, const cq_path *then, const cq_path *other)
{
    const cq_path *paths[2] = { then, other };

    for (int p = 0; p < 2; p++)
        for (size_t i = 0; i < paths[p]->changes.n; i++) {
            const cq_change *c = &paths[p]->changes.items[i];
            bool             seen = false;
            cq_val           v;

            if (c->kind == CQ_CHANGE_TRACK)
                continue;
            for (size_t k = 0; p == 1 && k < then->changes.n; k++)
                seen |= cq_place_same(&then->changes.items[k], c);
            if (seen)
                continue;
            CQ_TRY(join_values(j, cq_path_value(then, c), cq_path_value(other, c), &v));
            if ((c->kind == CQ_CHANGE_LIST || c->kind == CQ_CHANGE_DICT) && is_undefined(v))
                return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                               "%s", cq_thing_of(v)->text);
            CQ_TRY(cq_place_set(j->ev, c, v));
        }
    return CQ_OK;
}

static cq_status finish(join *j)
{
    cq_graph *g = j->ev->capture->graph;

    j->node->n_outputs = j->outputs.n;
    j->node->outputs   = cq_arena_copy(g->arena, j->outputs.items,
                                       j->outputs.n * sizeof *j->outputs.items);
    cq_vec_clear(&j->outputs);
    return j->node->outputs ? CQ_OK : CQ_E_NO_MEMORY;
}

static cq_status new_if(cq_eval *ev, cq_value *condition, join *j)
{
    j->ev   = ev;
    j->node = cq_ir_node_new(ev->capture->block, NULL, "prim::If", &CQ_OPERAND_OF(condition), 1, 0);
    if (!j->node || !cq_ir_node_block(j->node) || !cq_ir_node_block(j->node))
        return ev->capture->graph->status;
    return CQ_OK;
}

cq_status cq_eval_if(cq_eval *ev, const cq_ast_stmt *s, const cq_ast_block *rest, size_t rest_at,
                     cq_value *condition, cq_flow *flow)
{
    bool      leaving = leaves(&s->u.branch.then, false) || leaves(&s->u.branch.other, false);
    cq_path   then = { .result = CQ_NONE }, other = { .result = CQ_NONE };
    join      j = { .paths = { &then, &other } };
    cq_status status;

    if (raises(&s->u.branch.then))
        return cq_eval_block(ev, &s->u.branch.other, 0, flow);
    if (raises(&s->u.branch.other))
        return cq_eval_block(ev, &s->u.branch.then, 0, flow);
    CQ_TRY_OR_DONE(new_if(ev, condition, &j));
    CQ_TRY_OR_DONE(cq_eval_explore(ev, j.node->blocks[0], &s->u.branch.then, leaving ? rest : NULL,
                                   rest_at, &then));
    CQ_TRY_OR_DONE(cq_eval_explore(ev, j.node->blocks[1], &s->u.branch.other, leaving ? rest : NULL,
                                   rest_at, &other));
    if (then.flow != other.flow) {
        status = cq_eval_fail(ev, s->at, CQ_E_UNSUPPORTED,
                              "one side of a branch that depends on the data leaves the loop or "
                              "function and the other does not");
        goto done;
    }
    CQ_TRY_OR_DONE(join_places(&j, &then, &other));
    CQ_TRY_OR_DONE(join_tracks(&j, &then, &other));
    *flow = leaving && then.flow == CQ_FLOW_NEXT ? CQ_FLOW_CONTINUE : then.flow;
    if (then.flow == CQ_FLOW_RETURN)
        CQ_TRY_OR_DONE(join_values(&j, then.result, other.result, &ev->result));
    CQ_TRY_OR_DONE(finish(&j));
done:
    cq_path_clear(&then);
    cq_path_clear(&other);
    cq_vec_clear(&j.outputs);
    return status;
}

/* a if c else b, with a block for each. */
cq_status cq_eval_if_else(cq_eval *ev, const cq_ast_expr *x, cq_value *condition, cq_val *out)
{
    cq_ast_stmt   returns[2] = { { .kind = CQ_S_RETURN, .at = x->at, .u.value = x->u.choice.then },
                                 { .kind = CQ_S_RETURN, .at = x->at, .u.value = x->u.choice.other } };
    cq_ast_stmt  *items[2]   = { &returns[0], &returns[1] };
    cq_ast_stmt   s          = { .kind = CQ_S_IF, .at = x->at };
    cq_flow       flow;
    cq_status     status;

    s.u.branch.then  = (cq_ast_block){ &items[0], 1 };
    s.u.branch.other = (cq_ast_block){ &items[1], 1 };
    status           = cq_eval_if(ev, &s, &(cq_ast_block){ NULL, 0 }, 0, condition, &flow);
    *out             = ev->result;
    ev->result       = CQ_NONE;
    return status;
}
