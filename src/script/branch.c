/* Control flow that depends on data. A branch that only raises is dropped: the graph has no
 * exceptions, and the model's author says that it does not happen. */
#include "script/eval.h"

/* ---- branches that raise ---- */

static bool is_raise_call(const cq_ast_expr *x)
{
    return x->kind == CQ_X_CALL && x->u.call.function->kind == CQ_X_ATTR &&
           strcmp(x->u.call.function->u.attr.name, "RaiseException") == 0;
}

/* It ends in a raise, whatever it does before. */
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

cq_status cq_eval_if(cq_eval *ev, const cq_ast_stmt *s, const cq_ast_block *rest, size_t rest_at,
                     cq_value *condition, cq_flow *flow)
{
    (void)rest;
    (void)rest_at;
    (void)condition;
    if (raises(&s->u.branch.then))
        return cq_eval_block(ev, &s->u.branch.other, 0, flow);
    if (raises(&s->u.branch.other))
        return cq_eval_block(ev, &s->u.branch.then, 0, flow);
    return cq_eval_fail(ev, s->at, CQ_E_UNSUPPORTED,
                        "this branch depends on the data, which cannot be exported yet");
}

cq_status cq_eval_if_else(cq_eval *ev, const cq_ast_expr *x, cq_value *condition, cq_val *out)
{
    (void)condition;
    (void)out;
    return cq_eval_fail(ev, x->at, CQ_E_UNSUPPORTED,
                        "this choice depends on the data, which cannot be exported yet");
}

cq_status cq_eval_loop(cq_eval *ev, const cq_ast_stmt *s, cq_val count, cq_flow *flow)
{
    (void)count;
    (void)flow;
    return cq_eval_fail(ev, s->at, CQ_E_UNSUPPORTED,
                        "how often this loop runs depends on the data, which cannot be exported yet");
}
