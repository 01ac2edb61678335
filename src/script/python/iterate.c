/* Iterators of Python source: over lists, and instances with __next__. generator.c has
 * generators. */
#include "script/python/python.h"
#include "script/builtins/builtin.h"

enum { POSITION = 0 /* the attribute of an ITERATOR */ };

cq_status cq_python_new_iterator(cq_eval *ev, cq_val list, cq_val *out)
{
    cq_object *t;

    CQ_TRY(cq_object_new(&t, CQ_OBJECT_ITERATOR));
    t->self = cq_val_retain(list);
    CQ_TRY(cq_eval_own(ev, cq_val_of_object(t), out));
    return cq_vec_push(&t->attributes, (cq_attribute){ "position", cq_val_of_i64(0) });
}

static cq_status move_to(cq_eval *ev, cq_object *t, size_t position)
{
    return cq_slot_set(ev,
                       &(cq_change){ .kind = CQ_CHANGE_ATTRIBUTE, .where = t, .index = POSITION },
                       cq_val_of_i64((int64_t)position));
}

static size_t position_of(const cq_object *t)
{
    return (size_t)t->attributes.items[POSITION].value.u.i.value;
}

cq_status cq_python_iter(cq_eval *ev, cq_val v, cq_val *out)
{
    cq_list *items;
    bool     found;

    if (cq_object_as(v, CQ_OBJECT_ITERATOR) || cq_object_as(v, CQ_OBJECT_GENERATOR)) {
        *out = v;
        return CQ_OK;
    }
    CQ_TRY(cq_python_special(ev, v, "__iter__", NULL, 0, out, &found));
    if (found)
        return CQ_OK;
    CQ_TRY(cq_eval_known_items(ev, v, "iter", &items));
    return cq_python_new_iterator(ev, cq_val_of_list(items), out);
}

cq_status cq_python_next(cq_eval *ev, cq_val iterator, cq_val *out, bool *over)
{
    cq_object *t = cq_object_as(iterator, CQ_OBJECT_ITERATOR);
    cq_status  status;
    bool       found;

    *over = false;
    *out  = CQ_NONE;
    if (t) {
        const size_t at = position_of(t);

        *over = at >= t->self.u.list->n;
        if (*over)
            return CQ_OK;
        *out = t->self.u.list->items[at];
        return move_to(ev, t, at + 1);
    }
    if (cq_object_as(iterator, CQ_OBJECT_GENERATOR))
        return cq_generator_next(ev, cq_object_of(iterator), CQ_NONE, out, over);
    status = cq_python_special(ev, iterator, "__next__", NULL, 0, out, &found);
    if (status != CQ_OK) {
        *over = cq_eval_catch(ev, status, "StopIteration");
        return *over ? CQ_OK : status;
    }
    return found ? CQ_OK
                 : cq_python_raise(ev, "TypeError", "'%s' object is not an iterator",
                                   cq_eval_type_name(iterator));
}

bool cq_python_is_lazy_iterable(cq_eval *ev, cq_val v)
{
    const cq_object *t = cq_object_as(v, CQ_OBJECT_INSTANCE);

    if (cq_object_as(v, CQ_OBJECT_GENERATOR))
        return true;
    return t && t->type && cq_python_has_special(ev, v, "__next__");
}

cq_status cq_python_rest(cq_eval *ev, cq_val iterator, cq_val *list)
{
    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, list));
    for (;;) {
        cq_val item;
        bool   over;

        CQ_TRY(cq_eval_step(ev));
        CQ_TRY(cq_python_next(ev, iterator, &item, &over));
        if (over)
            return CQ_OK;
        if (list->u.list->n >= CQ_EVAL_MAX_ITEMS)
            return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "an iterator has more than %d items",
                           CQ_EVAL_MAX_ITEMS);
        CQ_TRY(cq_list_push(list->u.list, item));
    }
}

/* A class with __getitem__ and without __iter__ has the items 0, 1, … until IndexError. */
static cq_status by_index(cq_eval *ev, cq_val v, cq_val *list)
{
    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, list));
    for (int64_t i = 0; i < CQ_EVAL_MAX_ITEMS; i++) {
        cq_val    item, index = cq_val_of_i64(i);
        bool      found;
        cq_status status = cq_python_special(ev, v, "__getitem__", &index, 1, &item, &found);

        if (status != CQ_OK)
            return cq_eval_catch(ev, status, "IndexError") ? CQ_OK : status;
        CQ_TRY(cq_list_push(list->u.list, item));
    }
    return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "an object has more than %d items",
                   CQ_EVAL_MAX_ITEMS);
}

cq_status cq_python_items(cq_eval *ev, cq_val v, cq_val *list)
{
    cq_object *t = cq_object_of(v);
    cq_val     iterator;
    cq_status  status;
    bool       known;

    if (t->kind == CQ_OBJECT_ITERATOR) {
        const size_t at = position_of(t), n = t->self.u.list->n;

        CQ_TRY(cq_eval_list(ev, t->self.u.list->items + at, n - at, CQ_VAL_LIST, list));
        return move_to(ev, t, n);
    }
    if (cq_python_has_special(ev, v, "__iter__")) {
        CQ_TRY(cq_python_iter(ev, v, &iterator));
        if (cq_object_as(iterator, CQ_OBJECT_ITERATOR))
            return cq_python_items(ev, iterator, list);
        if (cq_object_as(iterator, CQ_OBJECT_GENERATOR))
            return cq_generator_items(ev, cq_object_of(iterator), list);
        if (cq_python_has_special(ev, iterator, "__next__"))
            return cq_python_rest(ev, iterator, list);
        CQ_TRY(cq_eval_enter_call(ev, "__iter__")); /* which may return its object */
        status = cq_eval_items(ev, iterator, list, &known);
        cq_eval_leave_call(ev);
        return status;
    }
    if (cq_python_has_special(ev, v, "__next__"))
        return cq_python_rest(ev, v, list);
    if (t->kind == CQ_OBJECT_INSTANCE && t->self.kind != CQ_VAL_NONE)
        return cq_eval_items(ev, t->self, list, &known);
    if (cq_python_has_special(ev, v, "__getitem__"))
        return by_index(ev, v, list);
    return cq_python_raise(ev, "TypeError", "'%s' object is not iterable", cq_eval_type_name(v));
}
