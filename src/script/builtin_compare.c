/* Comparisons: of numbers, which may be symbols, and of values of all kinds for equality. */
#include "script/builtin_number.h"

/* ---- equality ---- */

static cq_status equal_items(cq_eval *ev, const cq_list *a, const cq_list *b, bool *known,
                             bool *equal)
{
    *equal = a->n == b->n;
    for (size_t i = 0; i < a->n && *equal && *known; i++)
        CQ_TRY(cq_builtin_equal(ev, a->items[i], b->items[i], known, equal));
    return CQ_OK;
}

static cq_status equal_dicts(cq_eval *ev, const cq_dict *a, const cq_dict *b, bool *known,
                             bool *equal)
{
    *equal = a->n == b->n;
    for (size_t i = 0; i < a->n && *equal && *known; i++) {
        cq_val *other = cq_dict_get(b, a->entries[i].key);

        if (!other)
            *equal = false;
        else
            CQ_TRY(cq_builtin_equal(ev, a->entries[i].value, *other, known, equal));
    }
    return CQ_OK;
}

static cq_status equal_containers(cq_eval *ev, cq_val a, cq_val b, bool *known, bool *equal)
{
    cq_status status = cq_eval_down(ev, a);

    if (status != CQ_OK)
        return status;
    status = a.kind == CQ_VAL_DICT ? equal_dicts(ev, a.u.dict, b.u.dict, known, equal)
                                   : equal_items(ev, a.u.list, b.u.list, known, equal);
    cq_eval_up(ev);
    return status;
}

cq_status cq_builtin_equal(cq_eval *ev, cq_val a, cq_val b, bool *known, bool *equal)
{
    cq_thing *ta = cq_thing_of(a), *tb = cq_thing_of(b);

    *known = true;
    *equal = false;
    if (ta && ta->kind == CQ_THING_NAMED)
        a = ta->self;
    if (tb && tb->kind == CQ_THING_NAMED)
        b = tb->self;
    if (ta && tb && ta->kind == CQ_THING_ENUM && tb->kind == CQ_THING_ENUM) {
        *equal = ta->cls == tb->cls && strcmp(ta->text, tb->text) == 0;
        return CQ_OK;
    }
    if (cq_val_is_number(a) && cq_val_is_number(b)) {
        double x = a.kind == CQ_VAL_INT    ? (double)a.u.i.value
                   : a.kind == CQ_VAL_BOOL ? a.u.b.value
                                           : a.u.f.value;
        double y = b.kind == CQ_VAL_INT    ? (double)b.u.i.value
                   : b.kind == CQ_VAL_BOOL ? b.u.b.value
                                           : b.u.f.value;

        if (a.kind == CQ_VAL_INT && b.kind == CQ_VAL_INT) {
            *known = cq_int_same(a.u.i, b.u.i) || !cq_int_sub(ev->cx->symbols, a.u.i, b.u.i).expr;
            *equal = a.u.i.value == b.u.i.value; /* on the example, if it is not known */
            return CQ_OK;
        }
        *known = !cq_val_is_symbolic(a) && !cq_val_is_symbolic(b);
        *equal = x == y && (a.kind != CQ_VAL_COMPLEX || a.u.c.im == b.u.c.im);
        return CQ_OK;
    }
    if (cq_val_is_list(a) && cq_val_is_list(b))
        return equal_containers(ev, a, b, known, equal);
    if (a.kind != b.kind)
        return CQ_OK;
    switch (a.kind) {
    case CQ_VAL_NONE: *equal = true; break;
    case CQ_VAL_STR:
    case CQ_VAL_DEVICE:
        if (a.u.text->len == b.u.text->len)
            CQ_TRY(cq_eval_spend(ev, a.u.text->len));
        *equal = a.u.text->len == b.u.text->len &&
                 memcmp(a.u.text->text, b.u.text->text, a.u.text->len) == 0;
        break;
    case CQ_VAL_TENSOR: *equal = a.u.tensor == b.u.tensor; break;
    case CQ_VAL_DICT: return equal_containers(ev, a, b, known, equal);
    case CQ_VAL_OBJECT: *equal = a.u.box == b.u.box; break;
    default: break;
    }
    return CQ_OK;
}

/* ---- less, equal, more ---- */

static cq_status compare(cq_fncall *c, int want_less, int want_equal, int want_more)
{
    cq_symbols *st = c->ev->cx->symbols;
    double      a, b;

    if (!cq_builtin_two_numbers(c))
        return cq_fncall_decline(c);
    if (cq_builtin_two_ints(c) && !c->args[0].u.b.origin) {
        cq_int d = cq_int_sub(st, cq_val_int(c->args[0]), cq_val_int(c->args[1]));

        if (!d.expr) {
            c->result = cq_val_of_bool(d.value < 0    ? want_less
                                       : d.value == 0 ? want_equal
                                                      : want_more);
            return CQ_OK;
        }
        /* A size is not negative. */
        if (cq_int_symbol(cq_val_int(c->args[0])) && cq_int_is_plain(cq_val_int(c->args[1])) &&
            cq_val_int(c->args[1]).value < 0) {
            c->result = cq_val_of_bool(want_more);
            return CQ_OK;
        }
    }
    if (cq_builtin_needs_tensors(c, true)) {
        if (c->ev->tracing) { /* the example decides */
            a = cq_val_real(c->args[0]);
            b = cq_val_real(c->args[1]);
            if (c->ev->cx->listener && c->args[0].kind == CQ_VAL_INT)
                c->ev->cx->listener->baked(c->ev->cx->listener_self, c->ev->cx,
                                           "a comparison of sizes",
                                           cq_i(a < b    ? want_less
                                                : a == b ? want_equal
                                                         : want_more));
            c->result = cq_val_of_bool(a < b ? want_less : a == b ? want_equal : want_more);
            return CQ_OK;
        }
        return cq_builtin_by_tensors(c, c->name, CQ_VAL_BOOL);
    }
    a         = cq_val_real(c->args[0]);
    b         = cq_val_real(c->args[1]);
    c->result = cq_val_of_bool(a < b ? want_less : a == b ? want_equal : a > b ? want_more : 0);
    return CQ_OK;
}

static cq_status num_lt(cq_fncall *c)
{
    return compare(c, 1, 0, 0);
}

static cq_status num_le(cq_fncall *c)
{
    return compare(c, 1, 1, 0);
}

static cq_status num_gt(cq_fncall *c)
{
    return compare(c, 0, 0, 1);
}

static cq_status num_ge(cq_fncall *c)
{
    return compare(c, 0, 1, 1);
}

cq_status cq_builtin_any_equal(cq_eval *ev, const cq_val *a, const cq_val *b, size_t step, size_t n,
                               bool all, cq_val *out)
{

    *out = cq_val_of_bool(all);
    for (size_t i = 0; i < n; i++) {
        cq_val pair[2] = { a[i], b[i * step] }, equal;

        if (!cq_val_is_number(pair[0]) || !cq_val_is_number(pair[1]))
            return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                           "whether these values are equal is not known before the model runs");
        CQ_TRY(cq_eval_call_name(ev, "aten::eq", pair, 2, &equal));
        CQ_TRY(cq_eval_call_name(ev, all ? "aten::__and__" : "aten::__or__",
                                 (cq_val[]){ *out, equal }, 2, out));
    }
    return CQ_OK;
}

/* eq and ne are of all values but tensors. */
static cq_status any_eq(cq_fncall *c, bool negated)
{
    bool known, equal;

    if (c->n != 2 || c->args[0].kind == CQ_VAL_TENSOR || c->args[1].kind == CQ_VAL_TENSOR)
        return cq_fncall_decline(c);
    if (cq_builtin_two_numbers(c))
        return compare(c, negated, !negated, negated);
    CQ_TRY(cq_builtin_equal(c->ev, c->args[0], c->args[1], &known, &equal));
    if (!known && c->ev->capture && !c->ev->tracing) {
        cq_val a = c->args[0], b = c->args[1], same;

        if (!cq_val_is_list(a) || !cq_val_is_list(b)) /* of the same length, or it were known */
            return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                           "whether these values are equal is not known before the model runs");
        CQ_TRY(cq_builtin_any_equal(c->ev, a.u.list->items, b.u.list->items, 1, a.u.list->n, true,
                                    &same));
        c->result = same;
        return negated ? cq_eval_call_name(c->ev, "aten::__not__", &same, 1, &c->result) : CQ_OK;
    }
    c->result = cq_val_of_bool(equal != negated);
    return CQ_OK;
}

static cq_status num_eq(cq_fncall *c)
{
    return any_eq(c, false);
}

static cq_status num_ne(cq_fncall *c)
{
    return any_eq(c, true);
}

const cq_builtin cq_builtins_compare[] = {
    { "lt(a, b)", num_lt },
    { "le(a, b)", num_le },
    { "gt(a, b)", num_gt },
    { "ge(a, b)", num_ge },
    { "eq(a, b)", num_eq },
    { "ne(a, b)", num_ne },
    { 0 },
};
