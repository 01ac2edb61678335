/* Functions of Python that TorchScript has, and primitives of printed code. */
#include "script/builtin.h"
#include "base/printable.h"
#include "base/str.h"

#include <stdio.h>

static cq_status any_range(cq_fncall *c)
{
    cq_int     v[3] = { { 0, NULL }, { 0, NULL }, { 1, NULL } };
    cq_object *t;

    for (size_t i = 0; i < c->n && i < 3; i++) {
        cq_val n = c->args[i];

        if (n.kind == CQ_VAL_TENSOR || n.kind == CQ_VAL_BOOL || n.kind == CQ_VAL_FLOAT)
            CQ_TRY(cq_eval_call_name(c->ev, "aten::Int", &c->args[i], 1, &n));
        if (n.kind != CQ_VAL_INT)
            return cq_fail(CQ_E_TYPE, "range", NULL, "wants ints, not %s",
                           cq_eval_type_name(c->args[i]));
        v[c->n == 1 ? 1 : i] = n.u.i;
    }
    if (cq_int_is(v[2], 0))
        return cq_fail(CQ_E_ARGUMENT, "range", NULL, "the step cannot be 0");
    CQ_TRY(cq_object_new(&t, CQ_OBJECT_RANGE));
    t->start  = v[0];
    t->stop   = v[1];
    t->step   = v[2];
    c->result = cq_ctx_own(c->ev->cx, cq_val_of_object(t));
    return c->ev->cx->status;
}

static cq_status range_length(cq_fncall *c)
{
    cq_symbols *st = c->ev->cx->symbols;
    cq_int      a, b, s;

    a = c->args[0].u.i;
    b = c->args[1].u.i;
    s = c->args[2].u.i;
    if (s.expr || s.value == 0)
        return cq_fail(CQ_E_UNSUPPORTED, "range", NULL, "the step must be known and not 0");
    if (s.value > 0)
        a = cq_int_floordiv(st, cq_int_add(st, cq_int_sub(st, b, a), cq_i(s.value - 1)), s);
    else
        a = cq_int_floordiv(st, cq_int_add(st, cq_int_sub(st, a, b), cq_i(-s.value - 1)),
                            cq_i(-s.value));
    c->result = cq_val_of_int(cq_int_max(st, a, cq_i(0)));
    return CQ_OK;
}

static cq_status derive_index(cq_fncall *c)
{
    cq_symbols *st = c->ev->cx->symbols;

    for (size_t i = 0; i < 3; i++)
        if (i >= c->n || c->args[i].kind != CQ_VAL_INT)
            return cq_fail(CQ_E_TYPE, c->name, NULL, "a range is made of three ints");
    c->result = cq_val_of_int(
        cq_int_add(st, c->args[1].u.i, cq_int_mul(st, c->args[0].u.i, c->args[2].u.i)));
    return CQ_OK;
}

/* Iterables side by side, one at least of unknown length. */
static cq_status open_zip(cq_fncall *c, const cq_val *parts, size_t n)
{
    cq_val tuple;

    CQ_TRY(cq_eval_list(c->ev, parts, n, CQ_VAL_TUPLE, &tuple));
    CQ_TRY(cq_eval_new_object(c->ev, CQ_OBJECT_ZIP, "zip", &c->result));
    cq_object_of(c->result)->self = cq_val_retain(tuple);
    return CQ_OK;
}

enum { TUPLE_ITEMS = 3 * CQ_EVAL_STEP_ITEMS }; /* that take as long as a new tuple */

cq_status cq_builtin_zip(cq_fncall *c)
{
    cq_val lists[16];
    size_t shortest = SIZE_MAX;
    bool   known;

    if (c->n > 16)
        return cq_fail(CQ_E_UNSUPPORTED, "zip", NULL, "takes at most 16 lists");
    for (size_t i = 0; i < c->n; i++) {
        CQ_TRY(cq_eval_items(c->ev, c->args[i], &lists[i], &known));
        if (!known)
            return open_zip(c, c->args, c->n);
        if (lists[i].u.list->n < shortest)
            shortest = lists[i].u.list->n;
    }
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &c->result));
    for (size_t k = 0; c->n && k < shortest; k++) {
        cq_val row[16], tuple;

        CQ_TRY(cq_eval_spend(c->ev, TUPLE_ITEMS));
        for (size_t i = 0; i < c->n; i++)
            row[i] = lists[i].u.list->items[k];
        CQ_TRY(cq_eval_list(c->ev, row, c->n, CQ_VAL_TUPLE, &tuple));
        CQ_TRY(cq_list_push(c->result.u.list, tuple));
    }
    return CQ_OK;
}

cq_status cq_builtin_enumerate(cq_fncall *c)
{
    cq_val  items, first = cq_builtin_arg(c, 1);
    int64_t start = first.kind == CQ_VAL_INT ? first.u.i.value : 0;
    bool    known;

    CQ_TRY(cq_eval_items(c->ev, c->args[0], &items, &known));
    if (!known) {
        cq_val parts[2] = { CQ_NONE, c->args[0] };

        CQ_TRY(cq_eval_call_name(c->ev, "range",
                                 (cq_val[]){ cq_val_of_i64(start), cq_val_of_i64(INT64_MAX) }, 2,
                                 &parts[0]));
        return open_zip(c, parts, 2);
    }
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &c->result));
    for (size_t i = 0; i < items.u.list->n; i++) {
        cq_val tuple;

        CQ_TRY(cq_eval_spend(c->ev, TUPLE_ITEMS));
        CQ_TRY(cq_eval_list(c->ev,
                            (cq_val[]){ cq_val_of_i64(start + (int64_t)i), items.u.list->items[i] },
                            2, CQ_VAL_TUPLE, &tuple));
        CQ_TRY(cq_list_push(c->result.u.list, tuple));
    }
    return CQ_OK;
}

static cq_status any_reversed(cq_fncall *c)
{
    cq_val items;
    bool   known;

    CQ_TRY(cq_eval_items(c->ev, c->args[0], &items, &known));
    if (!known)
        return cq_fail(CQ_E_UNSUPPORTED, "reversed", NULL,
                       "the length of a list is not known here");
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &c->result));
    for (size_t i = items.u.list->n; i-- > 0;)
        CQ_TRY(cq_list_push(c->result.u.list, items.u.list->items[i]));
    return CQ_OK;
}

/* What numbers are folded onto. */
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
        cq_val args[2] = { c->result, items[i] };

        CQ_TRY(cq_eval_step(c->ev));
        if (onto >= ONTO_FALSE && items[i].kind != CQ_VAL_BOOL && items[i].kind != CQ_VAL_TENSOR)
            CQ_TRY(cq_eval_call_name(c->ev, "aten::Bool", &items[i], 1, &args[1]));
        CQ_TRY(cq_eval_call_name(c->ev, c->row->op, args, 2, &c->result));
    }
    return CQ_OK;
}

/* ---- identity ---- */

static bool same(cq_val a, cq_val b)
{
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case CQ_VAL_NONE: return true;
    case CQ_VAL_TENSOR: return a.u.tensor == b.u.tensor;
    case CQ_VAL_BOOL: return a.u.b.value == b.u.b.value && a.u.b.origin == b.u.b.origin;
    case CQ_VAL_OBJECT: {
        cq_object *x = cq_object_of(a), *y = cq_object_of(b);

        if (x && y && x->kind == CQ_OBJECT_ENUM && y->kind == CQ_OBJECT_ENUM)
            return x->cls == y->cls && strcmp(x->text, y->text) == 0;
        return a.u.box == b.u.box;
    }
    case CQ_VAL_INT: return cq_int_same(a.u.i, b.u.i);
    case CQ_VAL_FLOAT: return a.u.f.value == b.u.f.value;
    case CQ_VAL_STR:
    case CQ_VAL_DEVICE: return strcmp(a.u.text->text, b.u.text->text) == 0;
    default: return a.u.list == b.u.list;
    }
}

static cq_status any_is_not(cq_fncall *c)
{
    for (int i = 0; i < 2; i++) {
        cq_object *t = cq_object_as(c->args[i], CQ_OBJECT_OPTIONAL);

        if (t && c->args[1 - i].kind == CQ_VAL_NONE) {
            c->result = (cq_val){ .kind = CQ_VAL_BOOL, .u.b = { true, t->has } };
            return CQ_OK;
        }
    }
    c->result = cq_val_of_bool(!same(c->args[0], c->args[1]));
    return CQ_OK;
}

static cq_status any_is(cq_fncall *c)
{
    CQ_TRY(any_is_not(c));
    return cq_eval_call_name(c->ev, "aten::__not__", &c->result, 1, &c->result);
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
    cq_object *cls = c->n ? cq_object_as(c->args[0], CQ_OBJECT_CLASS) : NULL, *t;

    if (!cls)
        return cq_fail(CQ_E_TYPE, "__new__", NULL, "wants a class");
    CQ_TRY(cq_object_new(&t, CQ_OBJECT_INSTANCE));
    t->cls       = cls->cls;
    t->unit      = cls->unit;
    t->qualified = cls->qualified;
    c->result    = cq_ctx_own(c->ev->cx, cq_val_of_object(t));
    return c->ev->cx->status;
}

/* ---- output and failure ---- */

/* A line is a call of the system, and somebody reads it: a program that prints for ever should not
 * fill a disk before it is stopped. */
enum { LINE_STEPS = 64 };

static cq_status print_values(cq_fncall *c)
{
    cq_str    s      = { 0 };
    cq_status status = CQ_OK;

    for (size_t i = 0; i < c->n && status == CQ_OK; i++) {
        cq_str_add(&s, i ? " " : "");
        status = cq_eval_format(c->ev, &s, c->args[i], false);
    }
    if (status == CQ_OK)
        status = cq_eval_spend(c->ev, (LINE_STEPS + s.len) * CQ_EVAL_STEP_ITEMS);
    if (status == CQ_OK && !c->ev->capture) {
        cq_put_lines(stderr, cq_str_text(&s));
        fputc('\n', stderr);
    }
    cq_str_clear(&s);
    return status;
}

static cq_status raise_exception(cq_fncall *c)
{
    return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "the model raises an exception: %s",
                   c->n && c->args[0].kind == CQ_VAL_STR ? c->args[0].u.text->text : "");
}

/* ValueError("…"): what a raise statement gets is the text. */
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
    { "__derive_index(a, b, c)", .fn = derive_index },
    { "zip(...)", .fn = cq_builtin_zip },
    { "enumerate(iterable, start?)", .fn = cq_builtin_enumerate },
    { "reversed(self)", .fn = any_reversed },
    { "min(x, ...)", .fn = fold, .how = ONTO_FIRST, .op = "aten::min" },
    { "max(x, ...)", .fn = fold, .how = ONTO_FIRST, .op = "aten::max" },
    { "sum(self)", .fn = fold, .how = ONTO_ZERO, .op = "aten::add" },
    { "any(self)", .fn = fold, .how = ONTO_FALSE, .op = "aten::__or__" },
    { "all(self)", .fn = fold, .how = ONTO_TRUE, .op = "aten::__and__" },
    { "__is__(a, b)", .fn = any_is },
    { "__isnot__(a, b)", .fn = any_is_not },
    { "hasattr(object, str name)", .fn = any_hasattr },
    { "getattr(object, str name, default?)", .fn = any_getattr },
    { "__new__(self, ...)", .fn = new_object },
    { "print(...)", .fn = print_values },
    { "Print(...)", .fn = print_values },
    { "RaiseException(msg?, ...)", .fn = raise_exception },
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
