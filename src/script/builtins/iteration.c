/* Builtins of Python source that iterate over their argument: sum, min, sorted, zip and others
 * (object.c describes builtins of Python source). */
#include "script/builtins/builtin.h"
#include "script/values/sequence.h"
#include "script/python/python.h"

/* ---- iteration ---- */

static cq_status any_iter(cq_fncall *c)
{
    cq_val function;
    bool   found;

    if (c->n == 2) {
        CQ_TRY(
            cq_python_builtin(c->ev, cq_name(c->ev->program, "_native_until"), &function, &found));
        return cq_eval_call(c->ev, function, c->args, 2, &c->result);
    }
    return cq_python_iter(c->ev, c->args[0], &c->result);
}

/* Raises StopIteration, with the value that a generator returned. */
static cq_status stop_iteration(cq_eval *ev, cq_val iterator)
{
    const cq_object *g      = cq_object_as(iterator, CQ_OBJECT_GENERATOR);
    const cq_val     result = g ? cq_generator_result(g) : CQ_NONE;
    cq_val           v;
    bool             found;

    CQ_TRY(cq_python_builtin(ev, cq_name(ev->program, "StopIteration"), &v, &found));
    CQ_TRY(cq_eval_call(ev, v, &result, result.kind != CQ_VAL_NONE, &v));
    return cq_python_fail_with(ev, (cq_span){ 0 }, v);
}

static cq_status any_next(cq_fncall *c)
{
    bool over;

    CQ_TRY(cq_python_next(c->ev, c->args[0], &c->result, &over));
    if (over && c->n < 2)
        return stop_iteration(c->ev, c->args[0]);
    if (over)
        c->result = c->args[1];
    return CQ_OK;
}

/* Methods of generators. how: whether the argument is thrown. */
static cq_status generator_send(cq_fncall *c)
{
    cq_object *g = cq_object_as(c->args[0], CQ_OBJECT_GENERATOR);
    cq_val     v = c->args[1];
    bool       over;

    if (!g)
        return cq_fncall_decline(c);
    if (c->row->how && c->n > 2 && cq_object_as(c->args[2], CQ_OBJECT_INSTANCE))
        v = c->args[2]; /* throw(class, exception) */
    else if (c->row->how && c->n > 2 && c->args[2].kind != CQ_VAL_NONE)
        CQ_TRY(cq_eval_call(c->ev, v, &c->args[2], 1, &v)); /* throw(class, argument) */
    CQ_TRY(c->row->how ? cq_generator_throw(c->ev, g, v, &c->result, &over)
                       : cq_generator_next(c->ev, g, v, &c->result, &over));
    return over ? stop_iteration(c->ev, c->args[0]) : CQ_OK;
}

static cq_status generator_close(cq_fncall *c)
{
    cq_object *g = cq_object_as(c->args[0], CQ_OBJECT_GENERATOR);

    if (!g)
        return cq_fncall_decline(c);
    c->result = CQ_NONE;
    return cq_generator_close(c->ev, g);
}

static cq_status iterator_method(cq_fncall *c)
{
    if (!cq_object_as(c->args[0], CQ_OBJECT_GENERATOR) &&
        !cq_object_as(c->args[0], CQ_OBJECT_ITERATOR))
        return cq_fncall_decline(c);
    return c->row->how ? any_next(c) : any_iter(c);
}

/* Handles f(iterable, …) for instances, iterators and ranges: converts them to lists and calls the
 * builtin. */
static cq_status with_lists(cq_fncall *c)
{
    cq_fncall call   = *c;
    bool      change = false;
    cq_val    list;

    for (size_t i = 0; i < c->n; i++) {
        const cq_object *t = cq_object_of(c->args[i]);

        change |= t && (t->kind == CQ_OBJECT_ITERATOR || t->kind == CQ_OBJECT_GENERATOR ||
                        ((t->kind == CQ_OBJECT_INSTANCE || t->kind == CQ_OBJECT_CLASS) && t->type));
    }
    if (!change)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &list));
    for (size_t i = 0; i < c->n; i++) {
        const cq_object *t = cq_object_of(c->args[i]);
        cq_val           v = c->args[i];

        if (t && (t->kind == CQ_OBJECT_ITERATOR || t->kind == CQ_OBJECT_GENERATOR || t->type) &&
            !(cq_python_dict_of(v) && c->row->how)) {
            cq_list *items;

            CQ_TRY(cq_eval_known_items(c->ev, v, NULL, &items));
            v = cq_val_of_list(items);
        }
        CQ_TRY(cq_list_push(list.u.list, v));
    }
    call.args = list.u.list->items;
    CQ_TRY(cq_eval_new_object(c->ev, CQ_OBJECT_BUILTIN, c->name, &call.callee));
    call.name = NULL;
    CQ_TRY(cq_fncall_run(&call, CQ_CALL_ANY));
    c->result = call.result;
    return CQ_OK;
}

/* The builtin in C makes a list, of which this is the iterator. */
static cq_status as_iterator(cq_fncall *c)
{
    static const char *const names[] = { "_zip", "_enumerate" };

    CQ_TRY(cq_eval_call_name(c->ev, names[c->row->how], c->args, c->n, &c->result));
    return c->result.kind == CQ_VAL_LIST && cq_val_is_list(c->result)
               ? cq_python_new_iterator(c->ev, c->result, &c->result)
               : CQ_OK;
}

static cq_status any_reversed(cq_fncall *c)
{
    bool     found;
    cq_list *items;
    cq_val   list = c->args[0];

    CQ_TRY(cq_python_special(c->ev, list, "__reversed__", NULL, 0, &c->result, &found));
    if (found)
        return CQ_OK;
    if (cq_val_is_object(list) && cq_object_of(list)->type &&
        cq_python_has_special(c->ev, list, "__getitem__") &&
        cq_python_native(list).kind == CQ_VAL_NONE)
        return with_lists(c);
    if (cq_val_is_object(list)) {
        CQ_TRY(cq_eval_known_items(c->ev, list, "reversed", &items));
        list = cq_val_of_list(items);
    }
    CQ_TRY(cq_eval_call_name(c->ev, "_reversed", &list, 1, &c->result));
    return c->result.kind == CQ_VAL_LIST && cq_val_is_list(c->result)
               ? cq_python_new_iterator(c->ev, c->result, &c->result)
               : CQ_OK;
}

/* zip and enumerate of a generator, or of another iterator that may be endless, request one item
 * after the other: a generator of lib/python/builtins.py does it. */
static cq_status lazily(cq_fncall *c)
{
    const size_t n    = c->row->how ? c->n > 0 : c->n; /* number of iterables */
    bool         lazy = false, known = true, found;
    cq_val       function;

    for (size_t i = 0; i < n; i++)
        lazy |= cq_python_is_lazy_iterable(c->ev, c->args[i]) ||
                cq_object_as(c->args[i], CQ_OBJECT_ITERATOR);
    for (size_t i = 0; i < n && lazy && known; i++)
        if (!cq_python_is_lazy_iterable(c->ev, c->args[i]) &&
            !cq_object_as(c->args[i], CQ_OBJECT_ITERATOR))
            CQ_TRY(cq_eval_items(c->ev, c->args[i], &function, &known));
    if (!lazy || !known)
        return as_iterator(c);
    CQ_TRY(cq_python_builtin(
        c->ev, cq_name(c->ev->program, c->row->how ? "_native_lazy_enumerate" : "_native_lazy_zip"),
        &function, &found));
    return cq_eval_call(c->ev, function, c->args, c->n, &c->result);
}

static cq_status any_len(cq_fncall *c)
{
    bool     found;
    cq_list *items;

    if (!cq_val_is_object(c->args[0]))
        return cq_fncall_decline(c);
    CQ_TRY(cq_python_special(c->ev, c->args[0], "__len__", NULL, 0, &c->result, &found));
    if (found)
        return CQ_OK;
    if (cq_object_as(c->args[0], CQ_OBJECT_NAMED) || cq_object_as(c->args[0], CQ_OBJECT_RANGE)) {
        const cq_object *r = cq_object_as(c->args[0], CQ_OBJECT_RANGE);

        if (r && (r->start.expr || r->stop.expr || r->step.expr))
            return CQ_CALL(c->ev, &c->result, "aten::__range_length", cq_val_of_int(r->start),
                           cq_val_of_int(r->stop), cq_val_of_int(r->step));
        CQ_TRY(cq_eval_known_items(c->ev, c->args[0], "len", &items));
        c->result = cq_val_of_i64((int64_t)items->n);
        return CQ_OK;
    }
    return cq_fncall_decline(c);
}

static cq_status plus(cq_eval *ev, cq_val a, cq_val b, cq_val *out)
{
    bool found;

    CQ_TRY(cq_python_binary(ev, CQ_AST_ADD, a, b, out, &found));
    return found ? CQ_OK : CQ_CALL(ev, out, "aten::add", a, b);
}

/* sum() of values that are not all numbers, by their +. */
static cq_status any_sum(cq_fncall *c)
{
    cq_list *items;

    if (c->args[0].kind == CQ_VAL_TENSOR)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_known_items(c->ev, c->args[0], "sum", &items));
    c->result = c->n > 1 ? c->args[1] : cq_val_of_i64(0);
    for (size_t i = 0; i < items->n; i++) {
        CQ_TRY(cq_eval_step(c->ev));
        CQ_TRY(plus(c->ev, c->result, items->items[i], &c->result));
    }
    return CQ_OK;
}

/* any() and all() of known conditions stop at the first item that decides. */
static cq_status any_all(cq_fncall *c)
{
    const bool all = c->row->how, lazy = cq_python_is_lazy_iterable(c->ev, c->args[0]);
    bool       over = false;
    cq_list   *items;
    cq_val     truth, iterator, item;

    if (c->args[0].kind == CQ_VAL_TENSOR)
        return cq_fncall_decline(c);
    if (!lazy)
        CQ_TRY(cq_eval_known_items(c->ev, c->args[0], "any", &items));
    else
        CQ_TRY(cq_python_iter(c->ev, c->args[0], &iterator));
    c->result = cq_val_of_bool(all);
    for (size_t i = 0; lazy || i < items->n; i++) {
        CQ_TRY(cq_eval_step(c->ev));
        item = lazy ? CQ_NONE : items->items[i];
        if (lazy)
            CQ_TRY(cq_python_next(c->ev, iterator, &item, &over));
        if (over)
            return CQ_OK;
        CQ_TRY(cq_eval_truth(c->ev, item, &truth));
        if (!truth.u.b.origin && truth.u.b.value == all)
            continue;
        if (!truth.u.b.origin) {
            c->result = truth;
            return CQ_OK;
        }
        CQ_TRY(
            CQ_CALL(c->ev, &c->result, all ? "aten::__and__" : "aten::__or__", c->result, truth));
    }
    return CQ_OK;
}

enum { MAX_COMPARE_DEPTH = 30 /* for nested tuples: the work doubles with each level */ };

/* The tuple of a named tuple, or of an instance of a class that extends tuple or list. */
static cq_val tuple_of(cq_val v)
{
    const cq_object *named = cq_object_as(v, CQ_OBJECT_NAMED);

    return named ? named->self : cq_python_native(v);
}

static bool are_sequences(cq_val a, cq_val b)
{
    return a.kind == b.kind && (a.kind == CQ_VAL_TUPLE || a.kind == CQ_VAL_LIST) &&
           !cq_sequence_of(a) && !cq_sequence_of(b);
}

static cq_status less_in(cq_eval *ev, cq_val a, cq_val b, int depth, bool *out)
{
    cq_val v;
    bool   found;

    a = tuple_of(a);
    b = tuple_of(b);
    if (are_sequences(a, b)) {
        const cq_list *x = a.u.list, *y = b.u.list;

        if (depth == MAX_COMPARE_DEPTH)
            return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                           "tuples of more than %d levels cannot be compared", MAX_COMPARE_DEPTH);
        for (size_t i = 0; i < x->n && i < y->n; i++) {
            CQ_TRY(less_in(ev, x->items[i], y->items[i], depth + 1, out));
            if (*out)
                return CQ_OK;
            CQ_TRY(less_in(ev, y->items[i], x->items[i], depth + 1, &found));
            if (found) {
                *out = false;
                return CQ_OK;
            }
        }
        *out = x->n < y->n;
        return CQ_OK;
    }
    CQ_TRY(cq_eval_step(ev));
    CQ_TRY(cq_python_binary(ev, CQ_AST_LT, a, b, &v, &found));
    if (!found)
        CQ_TRY(CQ_CALL(ev, &v, "aten::lt", a, b));
    CQ_TRY(cq_eval_truth(ev, v, &v));
    *out = v.u.b.value;
    return v.u.b.origin && !ev->tracing
               ? cq_fail(
                     CQ_E_UNSUPPORTED, NULL, NULL,
                     "a comparison of tuples or lists that is data-dependent cannot be exported")
               : CQ_OK;
}

static cq_status less(cq_eval *ev, cq_val a, cq_val b, bool *out)
{
    return less_in(ev, a, b, 0, out);
}

/* <, <=, > and >= of tuples and lists: the first items that differ decide. how: whether the
 * operands are exchanged and the result is negated. */
enum { EXCHANGED = 1, NEGATED = 2 };

static cq_status compare_sequences(cq_fncall *c)
{
    const int how = c->row->how;
    bool      is_less;

    if (!c->ev->program->python || !are_sequences(tuple_of(c->args[0]), tuple_of(c->args[1])))
        return cq_fncall_decline(c);
    CQ_TRY(
        less(c->ev, c->args[how & EXCHANGED ? 1 : 0], c->args[how & EXCHANGED ? 0 : 1], &is_less));
    c->result = cq_val_of_bool(is_less != !!(how & NEGATED));
    return CQ_OK;
}

static cq_status keys_of(cq_fncall *c, const cq_list *items, cq_val key, cq_val *out)
{
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, out));
    for (size_t i = 0; i < items->n; i++) {
        cq_val v = items->items[i];

        if (key.kind != CQ_VAL_NONE)
            CQ_TRY(cq_eval_call(c->ev, key, &v, 1, &v));
        CQ_TRY(cq_list_push(out->u.list, v));
    }
    return CQ_OK;
}

/* min and max of values that can be compared, with key and default. */
static cq_status extreme(cq_fncall *c)
{
    const cq_val *key      = cq_fncall_find(c, SIZE_MAX, "key"),
                 *fallback = cq_fncall_find(c, SIZE_MAX, "default");
    cq_list *items, given = { .n = c->n, .items = (cq_val *)c->args };
    cq_val   keys;
    size_t   best = 0;
    bool     is_less, numbers = !key && c->n > 1;

    if (c->n == 0 || c->args[0].kind == CQ_VAL_TENSOR)
        return cq_fncall_decline(c);
    for (size_t i = 0; i < c->n; i++)
        numbers &= cq_val_is_number(c->args[i]);
    if (numbers)
        return cq_fncall_decline(c); /* sizes may be symbols */
    items = &given;
    if (c->n == 1)
        CQ_TRY(cq_eval_known_items(c->ev, c->args[0], c->name, &items));
    if (!items->n && fallback) {
        c->result = *fallback;
        return CQ_OK;
    }
    if (!items->n)
        return cq_python_raise(c->ev, "ValueError", "%s() arg is an empty sequence", c->name);
    if (!key && cq_val_is_list(c->args[0])) {
        bool all = true;

        for (size_t i = 0; i < items->n; i++)
            all &= cq_val_is_number(items->items[i]);
        if (all)
            return cq_fncall_decline(c);
    }
    CQ_TRY(keys_of(c, items, key ? *key : CQ_NONE, &keys));
    for (size_t i = 1; i < items->n; i++) {
        const cq_val a = keys.u.list->items[i], b = keys.u.list->items[best];

        CQ_TRY(c->row->how ? less(c->ev, b, a, &is_less) : less(c->ev, a, b, &is_less));
        if (is_less)
            best = i;
    }
    c->result = items->items[best];
    return CQ_OK;
}

typedef struct sort_state {
    cq_eval      *ev;
    const cq_val *keys;
    size_t       *order, *other;
    bool          reverse;
} sort_state;

/* A stable merge sort. qsort cannot be used because comparisons can fail. */
static cq_status merge_sort(sort_state *s, size_t from, size_t to)
{
    const size_t middle = from + (to - from) / 2;
    size_t       a = from, b = middle, n = from;

    if (to - from < 2)
        return CQ_OK;
    CQ_TRY(merge_sort(s, from, middle));
    CQ_TRY(merge_sort(s, middle, to));
    while (a < middle || b < to) {
        bool second = a == middle;

        if (a < middle && b < to)
            CQ_TRY(s->reverse ? less(s->ev, s->keys[s->order[a]], s->keys[s->order[b]], &second)
                              : less(s->ev, s->keys[s->order[b]], s->keys[s->order[a]], &second));
        s->other[n++] = second ? s->order[b++] : s->order[a++];
    }
    memcpy(s->order + from, s->other + from, (to - from) * sizeof *s->order);
    return CQ_OK;
}

static cq_status sort_items(cq_fncall *c, const cq_list *items, cq_val key, bool reverse,
                            cq_val *out)
{
    size_t    *order;
    cq_val     keys;
    cq_status  status;
    sort_state s;

    if (key.kind == CQ_VAL_NONE && cq_builtin_is_order_of_tensors(items)) {
        CQ_TRY(cq_eval_list(c->ev, items->items, items->n, CQ_VAL_LIST, out));
        return cq_builtin_sort_tensors(c, out->u.list, reverse);
    }
    order  = cq_alloc_array(2 * items->n + 1, sizeof *order);
    status = order ? keys_of(c, items, key, &keys) : CQ_E_NO_MEMORY;
    if (status == CQ_OK) {
        for (size_t i = 0; i < items->n; i++)
            order[i] = i;
        s      = (sort_state){ c->ev, keys.u.list->items, order, order + items->n, reverse };
        status = merge_sort(&s, 0, items->n);
    }
    if (status == CQ_OK)
        status = cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, out);
    for (size_t i = 0; i < items->n && status == CQ_OK; i++)
        status = cq_list_push(out->u.list, items->items[order[i]]);
    cq_free(order);
    return status;
}

static cq_status any_sorted(cq_fncall *c)
{
    const cq_val key     = cq_fncall_arg(c, SIZE_MAX, "key");
    cq_val       reverse = cq_fncall_arg(c, SIZE_MAX, "reverse");
    cq_list     *items;

    if (c->n != 1)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_known_items(c->ev, c->args[0], "sorted", &items));
    CQ_TRY(cq_eval_truth(c->ev, reverse, &reverse));
    return sort_items(c, items, key, reverse.u.b.value, &c->result);
}

static cq_status list_sort(cq_fncall *c)
{
    cq_val v       = cq_python_native(c->args[0]), sorted;
    cq_val reverse = cq_fncall_arg(c, SIZE_MAX, "reverse");

    if (!cq_val_is_list(v) || v.kind != CQ_VAL_LIST)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_truth(c->ev, reverse, &reverse));
    CQ_TRY(sort_items(c, v.u.list, cq_fncall_arg(c, SIZE_MAX, "key"), reverse.u.b.value, &sorted));
    CQ_TRY(cq_eval_will_change(c->ev, v));
    for (size_t i = 0; i < v.u.list->n && i < sorted.u.list->n; i++)
        cq_val_set(&v.u.list->items[i], sorted.u.list->items[i]);
    return cq_builtin_return_none(c);
}

/* x in generator: it is advanced until the item. */
static cq_status contains_lazily(cq_fncall *c, cq_val whole, cq_val item)
{
    cq_val iterator, v, tuple;
    bool   over;

    CQ_TRY(cq_python_iter(c->ev, whole, &iterator));
    for (;;) {
        CQ_TRY(cq_eval_step(c->ev));
        CQ_TRY(cq_python_next(c->ev, iterator, &v, &over));
        c->result = cq_val_of_bool(false);
        if (over)
            return CQ_OK;
        CQ_TRY(cq_eval_list(c->ev, &v, 1, CQ_VAL_TUPLE, &tuple));
        CQ_TRY(CQ_CALL(c->ev, &c->result, "aten::__contains__", tuple, item));
        if (c->result.u.b.value || c->result.u.b.origin)
            return CQ_OK;
    }
}

/* x in items: an item that is identical or equal (==). */
static cq_status any_contains(cq_fncall *c)
{
    const cq_val   whole = cq_python_native(c->args[0]), item = c->args[1];
    const cq_list *list = cq_val_is_list(whole) ? whole.u.list : NULL;
    bool           found;

    if (cq_val_is_object(whole) && !cq_object_as(whole, CQ_OBJECT_NAMED)) {
        cq_list *items;

        if (cq_python_is_lazy_iterable(c->ev, whole) &&
            !cq_python_has_special(c->ev, whole, "__contains__"))
            return contains_lazily(c, whole, item);
        if (!cq_object_as(whole, CQ_OBJECT_ITERATOR) && !cq_object_of(whole)->type &&
            !cq_object_as(whole, CQ_OBJECT_RANGE))
            return cq_fncall_decline(c);
        CQ_TRY(cq_eval_known_items(c->ev, whole, "in", &items));
        list = items;
    }
    if (!list)
        return cq_fncall_decline(c);
    for (size_t i = 0; i < list->n; i++) {
        const cq_val v = list->items[i];
        cq_val       same;

        CQ_TRY(cq_eval_step(c->ev));
        if (cq_val_is_object(v) && cq_val_is_object(item) && v.u.box == item.u.box) {
            c->result = cq_val_of_bool(true);
            return CQ_OK;
        }
        if (!cq_val_is_object(v) && !cq_val_is_object(item))
            return cq_fncall_decline(c); /* the builtin for plain values handles it */
        CQ_TRY(cq_python_binary(c->ev, CQ_AST_EQ, v, item, &same, &found));
        if (!found)
            continue;
        CQ_TRY(cq_eval_truth(c->ev, same, &same));
        if (same.u.b.value && !same.u.b.origin) {
            c->result = same;
            return CQ_OK;
        }
    }
    c->result = cq_val_of_bool(false);
    return CQ_OK;
}

const cq_builtin cq_builtins_iteration[] = {
    { "iter(object, sentinel?)", .fn = any_iter },
    { "next(iterator, default?)", .fn = any_next },
    { "__iter__(iterator)", .fn = iterator_method },
    { "__next__(iterator)", .fn = iterator_method, .how = 1 },
    { "send(generator, value)", .fn = generator_send },
    { "throw(generator, kind, value?, traceback?)", .fn = generator_send, .how = 1 },
    { "close(generator)", .fn = generator_close },
    { "len(object)", .fn = any_len },
    { "sum(iterable, start?)", .fn = any_sum },
    { "any(iterable)", .fn = any_all, .how = 0 },
    { "all(iterable)", .fn = any_all, .how = 1 },
    { "min(...)", .fn = extreme, .how = 0 },
    { "max(...)", .fn = extreme, .how = 1 },
    { "sorted(...)", .fn = any_sorted },
    { "sort(self, ...)", .fn = list_sort },
    { "zip(...)", .fn = lazily, .how = 0 },
    { "list(iterable)", .fn = with_lists },
    { "tuple(iterable)", .fn = with_lists },
    { "enumerate(iterable, start?)", .fn = lazily, .how = 1 },
    { "reversed(iterable)", .fn = any_reversed },
    { "extend(self, iterable)", .fn = with_lists, .how = 1 },
    { "join(self, iterable)", .fn = with_lists, .how = 1 },
    { "__contains__(items self, item)", .fn = any_contains },
    { "__contains__(object self, item)", .fn = any_contains },
    { "lt(a, b)", .fn = compare_sequences, .how = 0 },
    { "gt(a, b)", .fn = compare_sequences, .how = EXCHANGED },
    { "le(a, b)", .fn = compare_sequences, .how = EXCHANGED | NEGATED },
    { "ge(a, b)", .fn = compare_sequences, .how = NEGATED },
    { 0 },
};
