/* Reports module calls to observers: the path of the module, and the tensors among its arguments
 * and results at any depth. */
#include "script/eval.h"

#include "aten/core/observe.h"

/* Maximum nesting of lists and tuples that are searched for tensors. */
enum { NESTING = CQ_EVAL_MAX_LEVELS };

typedef CQ_VEC(cq_tensor *) tensors;

static cq_status add_tensor(cq_visit *w, cq_val v)
{
    tensors *found = w->user;

    return v.kind == CQ_VAL_TENSOR ? cq_vec_push(found, v.u.tensor) : CQ_OK;
}

/* Collects the tensors in values; *first is the index of the first value with a tensor, or n. */
static cq_status find_tensors(cq_eval *ev, const cq_val *values, size_t n, tensors *found,
                              size_t *first)
{
    cq_visit  w      = cq_eval_visit(ev, found);
    cq_status status = CQ_OK;

    *first  = n;
    w.each  = add_tensor;
    w.enter = NULL;
    w.once  = true;
    for (size_t i = 0; i < n && status == CQ_OK; i++) {
        status = cq_val_each(&w, values[i]);
        *first = found->n && *first == n ? i : *first;
    }
    cq_visit_clear(&w);
    return status;
}

/* Replaces the first tensor by an anchor. A list is changed in place, because it may be shared; all
 * holders see the anchor. In a dict or named tuple the tensor stays, and the anchor is unused. */
static cq_status swap_first(cq_eval *ev, cq_val *v, cq_tensor *anchor, int depth)
{
    cq_list  *list  = v->kind == CQ_VAL_LIST || v->kind == CQ_VAL_TUPLE ? v->u.list : NULL;
    tensors   found = { 0 };
    size_t    at;
    cq_val    item;
    cq_status status;

    if (v->kind == CQ_VAL_TENSOR)
        *v = cq_val_of_tensor(anchor);
    if (!list || depth == NESTING)
        return CQ_OK;
    status = find_tensors(ev, list->items, list->n, &found, &at);
    cq_vec_clear(&found);
    if (status != CQ_OK || at == list->n)
        return status;
    item = list->items[at];
    CQ_TRY(swap_first(ev, &item, anchor, depth + 1));
    if (v->kind == CQ_VAL_TUPLE)
        CQ_TRY(cq_eval_list(ev, list->items, list->n, CQ_VAL_TUPLE, v));
    else
        CQ_TRY(cq_eval_will_change(ev, *v));
    cq_val_set(&v->u.list->items[at], item);
    return CQ_OK;
}

cq_status cq_eval_enter(cq_eval *ev, cq_scope *scope, const cq_object *module, cq_val *args,
                        size_t n)
{
    const char *dot    = strrchr(module->text, '.');
    tensors     in     = { 0 };
    cq_tensor  *anchor = NULL;
    size_t      at;
    cq_status   status = find_tensors(ev, args, n, &in, &at);

    scope->path       = module->text;
    scope->name       = dot ? dot + 1 : module->text;
    scope->class_name = module->cls ? module->cls->name : "";
    anchor            = cq_scope_enter(ev->cx, scope, in.items, in.n);
    cq_vec_clear(&in);
    CQ_TRY(status);
    return anchor ? swap_first(ev, &args[at], anchor, 0) : ev->cx->status;
}

cq_status cq_eval_leave(cq_eval *ev, cq_scope *scope, cq_val *result)
{
    tensors    out = { 0 };
    size_t     at;
    cq_status  status = find_tensors(ev, result, 1, &out, &at);
    cq_tensor *anchor = cq_scope_leave(ev->cx, scope, out.items, out.n);

    cq_vec_clear(&out);
    CQ_TRY(status);
    return anchor ? swap_first(ev, result, anchor, 0) : ev->cx->status;
}
