/* Calls of modules as the rest of calque hears of them: the path of the module, and the tensors
 * among its arguments and results, however deep they lie. */
#include "script/eval.h"

#include "aten/observe.h"
#include "base/map.h"

/* Lists and tuples inside of each other that are looked into. */
enum { NESTING = CQ_EVAL_MAX_LEVELS };

typedef struct tensors {
    CQ_VEC(cq_tensor *) found;
    cq_ptr_map seen; /* containers: those that are there twice, or hold themselves */
    cq_status  status;
} tensors;

static cq_status clear(tensors *t)
{
    cq_vec_clear(&t->found);
    cq_ptr_map_clear(&t->seen);
    return t->status;
}

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
    const cq_dict *dict = v.kind == CQ_VAL_DICT ? v.u.dict : NULL;
    const void    *box  = list ? (const void *)list : dict;

    if (v.kind == CQ_VAL_TENSOR && t->status == CQ_OK)
        t->status = cq_vec_push(&t->found, v.u.tensor);
    if (!box || depth == NESTING || t->status != CQ_OK || cq_ptr_map_get(&t->seen, box))
        return;
    t->status = cq_ptr_map_set(&t->seen, box, t);
    for (size_t i = 0; list && i < list->n; i++)
        find_tensors(t, list->items[i], depth + 1);
    for (size_t i = 0; dict && i < dict->n; i++)
        find_tensors(t, dict->entries[i].value, depth + 1);
}

/* Whether there is a tensor in v, and so a place for an anchor. */
static cq_status has_tensors(cq_val v, bool *has)
{
    tensors t = { 0 };

    find_tensors(&t, v, 0);
    *has = t.found.n > 0;
    return clear(&t);
}

/* Puts an anchor where the first tensor is. A list is changed in place, for it may be others' too;
 * to all of them the anchor is the same tensor. In a dict or named tuple the tensor stays, and the
 * anchor stands beside the way. */
static cq_status swap_first(cq_eval *ev, cq_val *v, cq_tensor *anchor, int depth)
{
    cq_list *list = v->kind == CQ_VAL_LIST || v->kind == CQ_VAL_TUPLE ? v->u.list : NULL;
    bool     has  = false;
    size_t   at   = 0;
    cq_val   item;

    if (v->kind == CQ_VAL_TENSOR)
        *v = cq_val_of_tensor(anchor);
    if (!list || depth == NESTING)
        return CQ_OK;
    for (; at < list->n && !has; at += !has)
        CQ_TRY(has_tensors(list->items[at], &has));
    if (!has)
        return CQ_OK;
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
    const char *dot = strrchr(module->text, '.');
    tensors     in  = { 0 };
    cq_tensor  *anchor;
    size_t      at = n;

    scope->path       = module->text;
    scope->name       = dot ? dot + 1 : module->text;
    scope->class_name = module->cls ? module->cls->name : "";
    for (size_t i = 0; i < n; i++) {
        find_tensors(&in, args[i], 0);
        at = in.found.n && at == n ? i : at;
    }
    anchor = cq_scope_enter(ev->cx, scope, in.found.items, in.found.n);
    CQ_TRY(clear(&in));
    return anchor ? swap_first(ev, &args[at], anchor, 0) : ev->cx->status;
}

cq_status cq_eval_leave(cq_eval *ev, cq_scope *scope, cq_val *result)
{
    tensors    out = { 0 };
    cq_tensor *anchor;

    find_tensors(&out, *result, 0);
    anchor = cq_scope_leave(ev->cx, scope, out.found.items, out.found.n);
    CQ_TRY(clear(&out));
    return anchor ? swap_first(ev, result, anchor, 0) : ev->cx->status;
}
