/* An if on a data-dependent condition. Both sides are evaluated speculatively into the blocks of an
 * If; every slot that either of them changed becomes a result of the If. A branch that only raises
 * is dropped: the graph has no exceptions. docs/architecture/control-flow.md has the invariants. */
#include "lang/desugar.h"
#include "script/flow/join.h"
#include "base/warn.h"

/* The value of a tensor at the end of a side; *stale is set if its memory is stale. */
static cq_value *track_in(const cq_path *path, const cq_change *slot, cq_track **stale)
{
    const cq_change *change = cq_path_change(path, slot);

    if (!change)
        return ((cq_track *)slot->where)->value;
    if (change->old_state.stale)
        *stale = change->old_state.stale;
    return change->old_state.value;
}

static cq_status join_track(cq_join *j, const cq_change *c)
{
    cq_track *t         = c->where;
    cq_track *stale     = NULL;
    cq_value *values[2] = { track_in(j->paths[0], c, &stale), track_in(j->paths[1], c, &stale) };
    cq_value *joined;
    cq_int    sizes[CQ_MAX_RANK];
    cq_type   type;

    /* A stale view is refreshed from its base. A tensor created by a side is not visible
     * outside. */
    if (stale && cq_track_is_visible(t, j->node->block))
        CQ_TRY(cq_track_set_stale(&j->ev->capture->tracks, t, stale));
    if (values[0] == values[1] || t->base || !cq_track_is_visible(t, j->node->block))
        return CQ_OK;
    type       = values[0]->type;
    type.sizes = sizes;
    for (int k = 0; k < type.rank; k++)
        sizes[k] = values[0]->type.sizes[k];
    CQ_TRY(cq_join_output(j, type, values[0], values[1], &joined));
    CQ_TRY(cq_track_will_change(&j->ev->capture->tracks, t));
    t->value = joined;
    t->current++;
    return CQ_OK;
}

typedef struct joined {
    const cq_change *slot;
    cq_val           value;
} joined;

typedef CQ_VEC(joined) joined_places;

static cq_status join_place(cq_join *j, const cq_path *path, const cq_change *c, joined_places *all)
{
    cq_val a = cq_path_value(j->paths[0], c), b = cq_path_value(j->paths[1], c), v;
    bool   contents = c->kind == CQ_CHANGE_LIST || c->kind == CQ_CHANGE_DICT;

    if (cq_path_is_only_holder(j->ev, path, c))
        return CQ_OK; /* created on this side and visible only there */
    j->slot = c;
    CQ_TRY(contents ? cq_join_contents(j, a, b, &v) : cq_join_values(j, a, b, &v));
    if (contents && cq_val_is_undefined(v))
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "%s", cq_object_of(v)->text);
    return cq_vec_push(all, (joined){ c, v });
}

static cq_status join_changes(cq_join *j, bool tracks, joined_places *all)
{
    for (int p = 0; p < 2; p++)
        for (size_t i = 0; i < j->paths[p]->changes.n; i++) {
            const cq_change *c = &j->paths[p]->changes.items[i];

            if ((c->kind == CQ_CHANGE_TRACK) != tracks ||
                (p == 1 && cq_path_change(j->paths[0], c)))
                continue;
            CQ_TRY(tracks ? join_track(j, c) : join_place(j, j->paths[p], c, all));
        }
    return CQ_OK;
}

/* Joins the values of slots, then the contents of tensors. Slots are assigned last, because their
 * values may be lists and tensors in the state at the end of a side. */
static cq_status join_all(cq_join *j, cq_val *result)
{
    joined_places all = { 0 };
    cq_status     status;

    CQ_TRY_OR_DONE(join_changes(j, false, &all));
    j->slot = NULL;
    if (result)
        CQ_TRY_OR_DONE(cq_join_values(j, j->paths[0]->result, j->paths[1]->result, result));
    CQ_TRY_OR_DONE(join_changes(j, true, &all));
    for (size_t i = 0; i < all.n; i++)
        CQ_TRY_OR_DONE(cq_slot_set(j->ev, all.items[i].slot, all.items[i].value));
done:
    cq_vec_clear(&all);
    return status;
}

static cq_status finish(cq_join *j)
{
    cq_graph *g = j->ev->capture->graph;

    if (!j->outputs.n) { /* neither side has an effect */
        cq_ir_unlink(j->node);
        return CQ_OK;
    }
    j->node->n_outputs = j->outputs.n;
    j->node->outputs =
        cq_arena_copy(g->arena, j->outputs.items, j->outputs.n * sizeof *j->outputs.items);
    return j->node->outputs ? CQ_OK : CQ_E_NO_MEMORY;
}

/* The two sides of a branch: statements, or expressions. */
typedef struct side {
    const cq_ast_block *block;
    const cq_ast_expr  *value;
} side;

/* Creates the If and evaluates both sides speculatively. */
static cq_status explore_sides(cq_join *j, const side sides[2], cq_value *condition)
{
    cq_eval  *ev     = j->ev;
    bool      beside = ev->cx->untaken;
    cq_status status = CQ_OK;

    j->node = cq_capture_node(ev->capture, ev->cx, "prim::If", &CQ_OPERAND_OF(condition), 1, 0);
    if (!j->node || !cq_ir_node_block(j->node) || !cq_ir_node_block(j->node))
        return ev->capture->graph->status;
    j->node->untaken = j->example ? 2 : 1;
    for (size_t i = 0; i < 2 && status == CQ_OK; i++) {
        ev->cx->untaken = beside || j->example == (i == 1);
        status =
            cq_eval_explore(ev, j->node->blocks[i], sides[i].block, sides[i].value, j->paths[i]);
        /* Whether a run can reach this side is checked at the end, when the condition is known. */
        j->failed_untaken = status != CQ_OK && ev->cx->untaken && !beside &&
                            j->node->block == ev->capture->graph->top;
    }
    ev->cx->untaken = beside;
    return status;
}

/* The state of the evaluator that a failed evaluation must restore. */
typedef struct position {
    cq_frame       *frame;
    unsigned        depth, operators;
    int             levels;
    const cq_scope *scope;
    cq_location     location;
    bool            in_grid, no_grad;
} position;

static position position_of(const cq_eval *ev)
{
    const cq_ctx *cx = ev->cx;

    return (position){ ev->frame, ev->depth,    cx->depth,   ev->levels,
                       cx->scope, cx->location, cx->in_grid, cx->no_grad };
}

static void return_to(cq_eval *ev, const position *p)
{
    cq_ctx *cx = ev->cx;

    ev->frame    = p->frame;
    ev->depth    = p->depth;
    ev->levels   = p->levels;
    cx->depth    = p->operators;
    cx->scope    = p->scope;
    cx->location = p->location;
    cx->in_grid  = p->in_grid;
    cx->no_grad  = p->no_grad;
    cx->status   = CQ_OK;
}

/* Exports only the side that the example takes, because the other one cannot be exported. */
static cq_status only_taken(cq_join *j, const side *taken, const position *p, cq_val *result)
{
    char location[CQ_LOCATION_SIZE];

    return_to(j->ev, p);
    cq_warn(cq_location_text(p->location, location),
            "the branch that the example does not take cannot be exported (%s): a run that "
            "takes it fails; --constant makes the argument that selects it a part of the "
            "program",
            cq_last_error()->message);
    CQ_TRY(cq_vec_push(&j->ev->capture->graph->checks,
                       (cq_check){ j->node->inputs[0].u.value, j->example, j->node->location }));
    cq_ir_unlink(j->node);
    return taken->value ? cq_eval_expr(j->ev, taken->value, result)
                        : cq_eval_block(j->ev, taken->block);
}

/* Evaluates both sides. If result is not NULL, it receives the value of the expression. */
static cq_status both_sides(cq_eval *ev, const side sides[2], cq_val condition, cq_val *result)
{
    cq_path   then = { .result = CQ_NONE }, other = { .result = CQ_NONE };
    cq_join   j      = { .ev = ev, .paths = { &then, &other }, .example = condition.u.b.value };
    position  before = position_of(ev);
    cq_status status;

    status = explore_sides(&j, sides, condition.u.b.origin);
    if ((status == CQ_E_UNSUPPORTED || status == CQ_E_NOT_FOUND) && j.failed_untaken) {
        status = only_taken(&j, &sides[j.example ? 0 : 1], &before, result);
        goto done;
    }
    CQ_TRY_OR_DONE(status);
    CQ_TRY_OR_DONE(join_all(&j, result));
    status = finish(&j);
done:
    cq_path_clear(&then);
    cq_path_clear(&other);
    cq_vec_clear(&j.outputs);
    cq_vec_clear(&j.pairs);
    return status;
}

cq_status cq_eval_if(cq_eval *ev, const cq_ast_stmt *s, cq_val condition)
{
    const side sides[2] = { { .block = &s->u.branch.then }, { .block = &s->u.branch.other } };

    for (size_t i = 0; i < 2; i++)
        if (cq_ast_raises(sides[i].block)) {
            if (condition.u.b.origin)
                condition.u.b.origin->is_taken = true; /* PyTorch keeps a branch here */
            return cq_eval_block(ev, sides[1 - i].block);
        }
    return both_sides(ev, sides, condition, NULL);
}

/* a if c else b: a block for each operand. */
cq_status cq_eval_if_else(cq_eval *ev, const cq_ast_expr *x, cq_val condition, cq_val *out)
{
    const side sides[2] = { { .value = x->u.choice.then }, { .value = x->u.choice.other } };

    return both_sides(ev, sides, condition, out);
}
