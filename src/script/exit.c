/* break, continue and return when only the run tells whether they are reached.
 *
 * A path that leaves says so in a flag, a variable of the frame that no program can name. Where
 * two paths meet, the flag becomes a value of the graph like any other variable; what follows is
 * done under a condition: unless a flag is set. Return keeps its value in a variable as well. */
#include "script/join.h"
#include "script/builtin.h"

#define RESULT "%result"

static const struct {
    cq_exit_flags flag;
    cq_flow       flow;
    const char   *name;
} flags[] = {
    { CQ_EXIT_BREAK, CQ_FLOW_BREAK, "%break" },
    { CQ_EXIT_CONTINUE, CQ_FLOW_CONTINUE, "%continue" },
    { CQ_EXIT_RETURN, CQ_FLOW_RETURN, "%return" },
};
enum { N_FLAGS = sizeof flags / sizeof *flags };

/* The variable as it is now; NULL if there is none, or only outside of a branch. */
static cq_val *variable(cq_eval *ev, const char *name)
{
    size_t  at = (size_t)(uintptr_t)cq_ptr_map_get(&ev->frame->slots, cq_name(ev->program, name));
    cq_val *v  = at ? &ev->frame->values.items[at - 1] : NULL;

    return v && !cq_val_is_undefined(*v) ? v : NULL;
}

static cq_status set(cq_eval *ev, const char *name, cq_val v)
{
    return cq_frame_set(ev, ev->frame, cq_name(ev->program, name), v);
}

bool cq_exit_is_result(cq_eval *ev, const cq_change *place)
{
    const cq_frame *f = place->kind == CQ_CHANGE_SLOT ? place->where : NULL;

    return f && place->index + 1 ==
                    (size_t)(uintptr_t)cq_ptr_map_get(&f->slots, cq_name(ev->program, RESULT));
}

cq_status cq_exit_note(cq_eval *ev, cq_flow flow)
{
    for (size_t i = 0; i < N_FLAGS; i++)
        if (flags[i].flow == flow)
            CQ_TRY(set(ev, flags[i].name, cq_val_of_bool(true)));
        else if (!variable(ev, flags[i].name))
            CQ_TRY(set(ev, flags[i].name, cq_val_of_bool(false)));
    return flow == CQ_FLOW_RETURN ? set(ev, RESULT, ev->result) : CQ_OK;
}

cq_status cq_exit_clear(cq_eval *ev, int which)
{
    for (size_t i = 0; i < N_FLAGS; i++)
        if ((which & flags[i].flag) && variable(ev, flags[i].name))
            CQ_TRY(set(ev, flags[i].name, cq_val_of_bool(false)));
    return CQ_OK;
}

cq_status cq_exit_flag(cq_eval *ev, int which, cq_val *out)
{
    bool found;

    *out = cq_val_of_bool(false);
    for (size_t i = 0; i < N_FLAGS; i++) {
        cq_val *v = (which & flags[i].flag) ? variable(ev, flags[i].name) : NULL;

        if (!v || (!v->u.b.origin && !v->u.b.value))
            continue;
        if (!out->u.b.origin && !out->u.b.value) {
            *out = *v;
            continue;
        }
        CQ_TRY(cq_eval_builtin(ev, "aten::__or__", (cq_val[]){ *out, *v }, 2, NULL, NULL, 0, out,
                               &found));
    }
    return CQ_OK;
}

/* ---- what is done unless a flag is set ---- */

/* The one flag that may be set, if there is only one: on the way where it is, it is true. */
static const char *only_flag(cq_eval *ev)
{
    const char *name = NULL;

    for (size_t i = 0; i < N_FLAGS; i++) {
        cq_val *v = variable(ev, flags[i].name);

        if (!v || (!v->u.b.origin && !v->u.b.value))
            continue;
        if (name)
            return NULL;
        name = flags[i].name;
    }
    return name;
}

static cq_status unless(cq_eval *ev, cq_val flag, const cq_ast_block *b, cq_flow *flow)
{
    const char  *name   = only_flag(ev);
    cq_span      at     = b->items[0]->at;
    cq_ast_expr  target = { .kind = CQ_X_NAME, .at = at }, truth = { .kind = CQ_X_TRUE, .at = at };
    cq_ast_expr *targets = &target;
    cq_ast_stmt  assign = { .kind = CQ_S_ASSIGN, .at = at }, s = { .kind = CQ_S_IF, .at = at };
    cq_ast_stmt *items = &assign;

    if (!flag.u.b.origin) {
        if (!flag.u.b.value)
            return cq_eval_block(ev, b, 0, flow);
        *flow = CQ_FLOW_NEXT;
        return CQ_OK;
    }
    target.u.name           = cq_name(ev->program, name ? name : "");
    assign.u.assign.targets = (cq_ast_exprs){ &targets, 1 };
    assign.u.assign.value   = &truth;
    s.u.branch.then         = (cq_ast_block){ &items, name ? 1 : 0 };
    s.u.branch.other        = *b;
    return cq_eval_if(ev, &s, &(cq_ast_block){ NULL, 0 }, 0, flag.u.b.origin, flag.u.b.value, flow);
}

cq_status cq_eval_rest(cq_eval *ev, const cq_ast_block *b, size_t first, cq_flow *flow)
{
    cq_ast_block rest;
    cq_flow      after;
    cq_val       flag;

    if (*flow == CQ_FLOW_NEXT)
        return cq_eval_block(ev, b, first, flow);
    if (*flow != CQ_FLOW_MAYBE || first >= b->n)
        return CQ_OK;
    rest = (cq_ast_block){ b->items + first, b->n - first };
    CQ_TRY(cq_exit_flag(ev, CQ_EXIT_BREAK | CQ_EXIT_CONTINUE | CQ_EXIT_RETURN, &flag));
    CQ_TRY(unless(ev, flag, &rest, &after));
    /* Left for certain, on the only way on: as surely as the flags say. */
    if (after != CQ_FLOW_NEXT && after != CQ_FLOW_MAYBE && !flag.u.b.origin)
        *flow = after;
    return CQ_OK;
}

cq_status cq_exit_round(cq_eval *ev, const cq_ast_stmt *loop, cq_val item, cq_flow *flow)
{
    cq_span      at     = loop->at;
    cq_ast_expr  value  = { .kind = CQ_X_NAME, .at = at, .u.name = cq_name(ev->program, "%item") };
    cq_ast_stmt  assign = { .kind = CQ_S_ASSIGN, .at = at };
    cq_ast_block round  = { NULL, 0 };
    cq_ast_expr *target = loop->u.loop.target;
    cq_val       flag;
    cq_status    status;

    CQ_TRY(set(ev, value.u.name, item));
    assign.u.assign.targets = (cq_ast_exprs){ &target, 1 };
    assign.u.assign.value   = &value;
    round.items             = cq_alloc_array(loop->u.loop.body.n + 1, sizeof *round.items);
    if (!round.items)
        return CQ_E_NO_MEMORY;
    if (target)
        round.items[round.n++] = &assign;
    for (size_t i = 0; i < loop->u.loop.body.n; i++)
        round.items[round.n++] = loop->u.loop.body.items[i];
    status = cq_exit_flag(ev, CQ_EXIT_BREAK | CQ_EXIT_RETURN, &flag);
    if (status == CQ_OK)
        status = unless(ev, flag, &round, flow);
    cq_free(round.items);
    return status;
}

cq_status cq_exit_result(cq_eval *ev, cq_val *out)
{
    cq_val *returned = variable(ev, "%return"), *result = variable(ev, RESULT);

    *out = CQ_NONE;
    if (!returned || !result || (!returned->u.b.origin && !returned->u.b.value))
        return CQ_OK;
    if (!returned->u.b.origin || result->kind == CQ_VAL_NONE) {
        *out = *result;
        return CQ_OK;
    }
    return cq_eval_new_optional(ev, returned->u.b.origin, cq_val_unwrap(*result), out);
}
