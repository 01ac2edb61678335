/* Functions of Python that TorchScript also has, and primitives of printed code. */
#include "script/builtins/builtin.h"
#include "base/printable.h"
#include "base/str.h"
#include "script/flow/join.h"
#include "script/python/python.h"
#include "script/flow/aliases.h"

#include <stdio.h>

static cq_status any_range(cq_fncall *c)
{
    cq_int     v[3] = { cq_i(0), cq_i(0), cq_i(1) };
    cq_object *t;

    for (size_t i = 0; i < c->n; i++) {
        cq_val n = c->args[i];

        if (n.kind == CQ_VAL_FLOAT)
            CQ_TRY(CQ_CALL(c->ev, &n, "aten::Int", n));
        CQ_TRY(cq_eval_int(c->ev, n, &v[c->n == 1 ? 1 : i]));
    }
    if (cq_int_is(v[2], 0))
        return cq_fail(CQ_E_ARGUMENT, "range", NULL, "the step cannot be 0");
    CQ_TRY(cq_object_new(&t, CQ_OBJECT_RANGE));
    t->start = v[0];
    t->stop  = v[1];
    t->step  = v[2];
    return cq_eval_own(c->ev, cq_val_of_object(t), &c->result);
}

/* (stop - start) / step, rounded up, and not less than 0. */
static cq_status range_length(cq_fncall *c)
{
    cq_symbols *st   = c->ev->cx->symbols;
    cq_int      span = cq_int_sub(st, c->args[1].u.i, c->args[0].u.i), step = c->args[2].u.i;

    if (step.expr || step.value == 0)
        return cq_fail(CQ_E_UNSUPPORTED, "range", NULL, "the step must be known and not 0");
    if (step.value < 0) {
        span = cq_int_sub(st, c->args[0].u.i, c->args[1].u.i);
        step = cq_i(step.value == INT64_MIN ? INT64_MAX : -step.value);
    }
    span      = cq_int_floordiv(st, cq_int_add(st, span, cq_i(step.value - 1)), step);
    c->result = cq_val_of_int(cq_int_max(st, span, cq_i(0)));
    return CQ_OK;
}

static cq_status derive_index(cq_fncall *c)
{
    cq_symbols *st = c->ev->cx->symbols;

    c->result = cq_val_of_int(
        cq_int_add(st, c->args[1].u.i, cq_int_mul(st, c->args[0].u.i, c->args[2].u.i)));
    return CQ_OK;
}

/* zip of iterables, at least one of which has a data-dependent length. */
static cq_status open_zip(cq_fncall *c, const cq_val *parts, size_t n)
{
    cq_val tuple;

    CQ_TRY(cq_eval_list(c->ev, parts, n, CQ_VAL_TUPLE, &tuple));
    CQ_TRY(cq_eval_new_object(c->ev, CQ_OBJECT_ZIP, "zip", &c->result));
    cq_object_of(c->result)->self = cq_val_retain(tuple);
    return CQ_OK;
}

enum {
    TUPLE_ITEMS = 3 * CQ_EVAL_STEP_ITEMS
}; /* of a new tuple: it costs as much as this many
    * items */

static cq_status zip(cq_fncall *c)
{
    size_t shortest = c->n ? SIZE_MAX : 0;
    bool   known;
    cq_val lists;

    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &lists));
    for (size_t i = 0; i < c->n; i++) {
        cq_val items;

        CQ_TRY(cq_eval_items(c->ev, c->args[i], &items, &known));
        if (!known)
            return open_zip(c, c->args, c->n);
        CQ_TRY(cq_list_push(lists.u.list, items));
        shortest = items.u.list->n < shortest ? items.u.list->n : shortest;
    }
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &c->result));
    for (size_t k = 0; k < shortest; k++) {
        cq_val tuple;

        CQ_TRY(cq_eval_spend(c->ev, TUPLE_ITEMS + c->n));
        CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_TUPLE, &tuple));
        for (size_t i = 0; i < c->n; i++)
            CQ_TRY(cq_list_push(tuple.u.list, lists.u.list->items[i].u.list->items[k]));
        CQ_TRY(cq_list_push(c->result.u.list, tuple));
    }
    return CQ_OK;
}

/* zip(range(start, …), iterable) */
static cq_status enumerate(cq_fncall *c)
{
    const cq_val start = c->n > 1 ? c->args[1] : cq_val_of_i64(0);
    cq_val       range, items, last = cq_val_of_i64(INT64_MAX);
    bool         known;

    CQ_TRY(cq_eval_items(c->ev, c->args[0], &items, &known));
    if (known)
        CQ_TRY(CQ_CALL(c->ev, &last, "aten::add", start, INT((int64_t)items.u.list->n)));
    CQ_TRY(CQ_CALL(c->ev, &range, "range", start, last));
    return known ? CQ_CALL(c->ev, &c->result, "zip", range, items)
                 : open_zip(c, (cq_val[]){ range, c->args[0] }, 2);
}

/* The initial value of a fold; ONTO_FIRST is the first item. */
enum { ONTO_FIRST, ONTO_ZERO, ONTO_FALSE, ONTO_TRUE };

/* min and max of a list, or of more than two numbers; sum, any, all of a list. */
static cq_status fold(cq_fncall *c)
{
    const int     onto  = c->row->how;
    const bool    many  = onto == ONTO_FIRST && c->n > 2;
    const bool    list  = c->n == 1 && cq_val_is_list(c->args[0]);
    const cq_val *items = list ? c->args[0].u.list->items : c->args;
    const size_t  n     = list ? c->args[0].u.list->n : c->n;

    if (!list && !many)
        return cq_fncall_decline(c);
    for (size_t i = 0; i < n; i++)
        if (!cq_val_is_number(items[i]))
            return cq_fncall_decline(c);
    if (onto == ONTO_FIRST && !n)
        return cq_fail(CQ_E_ARGUMENT, c->name, NULL, "the list is empty");
    c->result = onto == ONTO_FIRST  ? items[0]
                : onto == ONTO_ZERO ? cq_val_of_i64(0)
                                    : cq_val_of_bool(onto == ONTO_TRUE);
    for (size_t i = onto == ONTO_FIRST; i < n; i++) {
        cq_val item = items[i];

        CQ_TRY(cq_eval_step(c->ev));
        if (onto >= ONTO_FALSE)
            CQ_TRY(cq_eval_truth(c->ev, item, &item));
        CQ_TRY(CQ_CALL(c->ev, &c->result, c->row->op, c->result, item));
    }
    return CQ_OK;
}

/* ---- identity ---- */

static bool same(cq_val a, cq_val b)
{
    const cq_object *x = cq_object_as(a, CQ_OBJECT_ENUM), *y = cq_object_as(b, CQ_OBJECT_ENUM);

    if (x && y)
        return x->cls == y->cls && strcmp(x->text, y->text) == 0;
    if (cq_object_as(a, CQ_OBJECT_ELLIPSIS))
        return cq_object_as(b, CQ_OBJECT_ELLIPSIS) != NULL;
    if (a.kind == b.kind && (a.kind == CQ_VAL_TENSOR || cq_val_container(a)))
        return a.kind == CQ_VAL_TENSOR ? a.u.tensor == b.u.tensor
                                       : cq_val_container(a) == cq_val_container(b);
    return cq_val_plainly_equal(a, b);
}

static cq_status any_is_not(cq_fncall *c)
{
    for (int i = 0; i < 2; i++) {
        cq_object *t = cq_object_as(c->args[i], CQ_OBJECT_OPTIONAL);

        if (t && c->args[1 - i].kind == CQ_VAL_NONE) {
            c->result = cq_val_of_truth(true, t->has);
            return CQ_OK;
        }
    }
    c->result = cq_val_of_bool(!same(c->args[0], c->args[1]));
    return CQ_OK;
}

static cq_status any_is(cq_fncall *c)
{
    CQ_TRY(any_is_not(c));
    return CQ_CALL(c->ev, &c->result, "aten::__not__", c->result);
}

static cq_status any_hasattr(cq_fncall *c)
{
    cq_val v;
    bool   has = false;

    if (cq_object_as(c->args[0], CQ_OBJECT_INSTANCE))
        has = cq_eval_attribute(c->ev, c->args[0], c->args[1].u.text->text, &v) == CQ_OK;
    c->result = cq_val_of_bool(has);
    return CQ_OK;
}

static cq_status any_getattr(cq_fncall *c)
{
    if (c->n > 2 && cq_object_as(c->args[0], CQ_OBJECT_INSTANCE) &&
        cq_eval_attribute(c->ev, c->args[0], c->args[1].u.text->text, &c->result) != CQ_OK) {
        c->result = c->args[2];
        return CQ_OK;
    }
    return cq_eval_attribute(c->ev, c->args[0], c->args[1].u.text->text, &c->result);
}

static cq_status new_object(cq_fncall *c)
{
    const cq_object *cls = cq_object_as(c->args[0], CQ_OBJECT_CLASS);

    return cls ? cq_eval_new_instance(c->ev, cls, &c->result)
               : cq_fail(CQ_E_TYPE, "__new__", NULL, "expected a class");
}

/* ---- output and failure ---- */

/* A line costs a system call: a program that prints in an endless loop must not fill a disk before
 * the limit stops it. */
enum { LINE_STEPS = 64 };

/* A string among the keywords of print(); the default if it is None or missing. */
static const char *print_option(const cq_fncall *c, const char *name, const char *fallback)
{
    const cq_val v = cq_fncall_arg(c, SIZE_MAX, name);

    return v.kind == CQ_VAL_STR ? v.u.text->text : fallback;
}

static cq_status print_values(cq_fncall *c)
{
    const cq_python *py      = c->ev->program->python;
    const char      *between = print_option(c, "sep", " "), *end = print_option(c, "end", "\n");
    FILE            *to     = py && py->is_script ? stdout : stderr;
    cq_str           s      = { 0 };
    cq_status        status = CQ_OK;

    for (size_t i = 0; i < c->n && status == CQ_OK; i++) {
        cq_str_add(&s, i ? between : "");
        status = cq_eval_format(c->ev, &s, c->args[i], false);
    }
    if (status == CQ_OK)
        status = cq_eval_spend(c->ev, (LINE_STEPS + s.len) * CQ_EVAL_STEP_ITEMS);
    if (status == CQ_OK && !c->ev->capture) {
        cq_put_lines(to, cq_str_text(&s));
        cq_put_lines(to, end);
    }
    cq_str_clear(&s);
    return status;
}

static cq_status raise_exception(cq_fncall *c)
{
    return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "the model raises an exception: %s",
                   c->n && c->args[0].kind == CQ_VAL_STR ? c->args[0].u.text->text : "");
}

/* ValueError("…") evaluates to its message, which the raise statement reports. */
static cq_status exception(cq_fncall *c)
{
    if (c->n && c->args[0].kind == CQ_VAL_STR) {
        c->result = c->args[0];
        return CQ_OK;
    }
    return cq_builtin_text(c->ev, c->name, strlen(c->name), &c->result);
}

const cq_builtin cq_builtins_python[] = {
    { "range(start, stop?, step?)", .fn = any_range },
    { "rangelist(start, stop?, step?)", .fn = any_range },
    { "__range_length(int start, int stop, int step)", .fn = range_length },
    { "__derive_index(int a, int b, int c)", .fn = derive_index },
    { "_zip(...)", .fn = zip, .of_all_lists = true },
    { "_enumerate(iterable, start?)", .fn = enumerate, .of_all_lists = true },
    { "zip(...)", .fn = zip, .of_all_lists = true },
    { "enumerate(iterable, start?)", .fn = enumerate, .of_all_lists = true },
    { "min(x, ...)", .fn = fold, .how = ONTO_FIRST, .op = "aten::min" },
    { "max(x, ...)", .fn = fold, .how = ONTO_FIRST, .op = "aten::max" },
    { "sum(self)", .fn = fold, .how = ONTO_ZERO, .op = "aten::add" },
    { "any(self)", .fn = fold, .how = ONTO_FALSE, .op = "aten::__or__" },
    { "all(self)", .fn = fold, .how = ONTO_TRUE, .op = "aten::__and__" },
    { "__is__(a, b)", .fn = any_is, .of_all_lists = true },
    { "__isnot__(a, b)", .fn = any_is_not, .of_all_lists = true },
    { "hasattr(object, str name)", .fn = any_hasattr },
    { "getattr(object, str name, default?)", .fn = any_getattr },
    { "__new__(self, ...)", .fn = new_object },
    { "print(...)", .fn = print_values, .of_all_lists = true },
    { "Print(...)", .fn = print_values, .of_all_lists = true },
    { "RaiseException(msg?, ...)", .fn = raise_exception, .of_all_lists = true },
    { "Exception(...)", .fn = exception },
    { "ValueError(...)", .fn = exception },
    { "RuntimeError(...)", .fn = exception },
    { "AssertionError(...)", .fn = exception },
    { "NotImplementedError(...)", .fn = exception },
    { "IndexError(...)", .fn = exception },
    { "KeyError(...)", .fn = exception },
    { "TypeError(...)", .fn = exception },
    { 0 },
};
