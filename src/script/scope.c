/* Calls of modules as the rest of calque hears of them: the path of the module, and the tensors
 * among its arguments and results, however deep they lie. */
#include "script/eval.h"

#include "aten/observe.h"

enum {
    CALL_TENSORS = 64, /* that are told of */
    NESTING      = 8   /* of lists and tuples that are looked into */
};

typedef struct tensors {
    cq_tensor *items[CALL_TENSORS];
    size_t     n;
} tensors;

static cq_list *items_of(cq_val v)
{
    cq_object *named = cq_object_as(v, CQ_OBJECT_NAMED);

    if (named)
        v = named->self;
    return v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_TUPLE ? v.u.list : NULL;
}

static void find_tensors(tensors *t, cq_val v, int depth)
{
    const cq_list *list = items_of(v);

    if (v.kind == CQ_VAL_TENSOR && t->n < CALL_TENSORS)
        t->items[t->n++] = v.u.tensor;
    for (size_t i = 0; list && i < list->n && depth < NESTING; i++)
        find_tensors(t, list->items[i], depth + 1);
    for (size_t i = 0; v.kind == CQ_VAL_DICT && i < v.u.dict->n && depth < NESTING; i++)
        find_tensors(t, v.u.dict->entries[i].value, depth + 1);
}

/* Puts an anchor where the first tensor is. A list is changed in place, for it may be others' too;
 * to all of them the anchor is the same tensor. In a dict or named tuple the tensor stays, and the
 * anchor stands beside the way. */
static cq_status swap_first(cq_eval *ev, cq_val *v, cq_tensor *anchor, int depth)
{
    cq_list *list = v->kind == CQ_VAL_LIST || v->kind == CQ_VAL_TUPLE ? v->u.list : NULL;
    tensors  t    = { .n = 0 };
    size_t   at   = 0;
    cq_val   item;

    if (v->kind == CQ_VAL_TENSOR)
        *v = cq_val_of_tensor(anchor);
    if (!list || depth == NESTING)
        return CQ_OK;
    while (at < list->n) {
        find_tensors(&t, list->items[at], depth + 1);
        if (t.n)
            break;
        at++;
    }
    if (at == list->n)
        return CQ_OK;
    item = list->items[at];
    CQ_TRY(swap_first(ev, &item, anchor, depth + 1));
    if (v->kind == CQ_VAL_TUPLE)
        CQ_TRY(cq_eval_list(ev, list->items, list->n, CQ_VAL_TUPLE, v));
    else
        CQ_TRY(cq_eval_will_change_list(ev, list));
    cq_val_retain(item);
    cq_val_release(v->u.list->items[at]);
    v->u.list->items[at] = item;
    return CQ_OK;
}

cq_status cq_eval_enter(cq_eval *ev, cq_scope *scope, const cq_object *module, cq_val *args,
                        size_t n)
{
    const char *dot = strrchr(module->text, '.');
    tensors     in  = { .n = 0 };
    cq_tensor  *anchor;
    size_t      at = n;

    scope->path       = module->text;
    scope->name       = dot ? dot + 1 : module->text;
    scope->class_name = module->cls ? module->cls->name : "";
    for (size_t i = 0; i < n; i++) {
        find_tensors(&in, args[i], 0);
        at = in.n && at == n ? i : at;
    }
    anchor = cq_scope_enter(ev->cx, scope, in.items, in.n);
    return anchor ? swap_first(ev, &args[at], anchor, 0) : ev->cx->status;
}

cq_status cq_eval_leave(cq_eval *ev, cq_scope *scope, cq_val *result)
{
    tensors    out = { .n = 0 };
    cq_tensor *anchor;

    find_tensors(&out, *result, 0);
    anchor = cq_scope_leave(ev->cx, scope, out.items, out.n);
    return anchor ? swap_first(ev, result, anchor, 0) : ev->cx->status;
}
