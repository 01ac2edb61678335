/* Comparisons: the order of numbers, which may be symbols, and the equality of values of all
 * kinds. */
#include "script/builtins/number.h"
#include "script/python/python.h"

/* ---- equality ---- */

/* The result of a comparison so far. */
typedef struct comparison {
    bool known;   /* does not depend on a symbol */
    bool example; /* whether all items are equal on the example */
} comparison;

/* Whether the numbers are equal on the example; *known is false if that depends on a symbol. */
static bool equal_numbers(cq_eval *ev, cq_val a, cq_val b, bool *known)
{
    if (a.kind == CQ_VAL_INT && b.kind == CQ_VAL_INT) {
        *known = cq_int_same(a.u.i, b.u.i) || !cq_int_sub(ev->cx->symbols, a.u.i, b.u.i).expr;
        return a.u.i.value == b.u.i.value;
    }
    *known = !cq_val_is_symbolic(a) && !cq_val_is_symbolic(b);
    return cq_val_real(a) == cq_val_real(b) &&
           (a.kind == CQ_VAL_COMPLEX ? a.u.c.im : 0) == (b.kind == CQ_VAL_COMPLEX ? b.u.c.im : 0);
}

static cq_status equal_texts(cq_eval *ev, const cq_text *a, const cq_text *b, bool *equal)
{
    *equal = a->len == b->len;
    if (*equal) {
        CQ_TRY(cq_eval_spend(ev, a->len));
        *equal = memcmp(a->text, b->text, a->len) == 0;
    }
    return CQ_OK;
}

static bool is_container(cq_val v)
{
    return cq_val_is_list(v) || v.kind == CQ_VAL_DICT || cq_object_as(v, CQ_OBJECT_NAMED);
}

/* Whether the value is an instance whose class defines ==. */
static bool has_equality(cq_eval *ev, cq_val v)
{
    const cq_object *t = cq_object_as(v, CQ_OBJECT_INSTANCE);

    return t && t->type && cq_python_has_special(ev, v, "__eq__");
}

static cq_status equal_by_method(cq_eval *ev, cq_val a, cq_val b, bool *equal)
{
    cq_val v;
    bool   found;

    *equal = cq_val_is_object(a) && cq_val_is_object(b) && a.u.box == b.u.box;
    if (*equal)
        return CQ_OK;
    CQ_TRY(cq_eval_step(ev));
    CQ_TRY(cq_python_binary(ev, CQ_AST_EQ, a, b, &v, &found));
    if (!found)
        return CQ_OK;
    CQ_TRY(cq_eval_truth(ev, v, &v));
    if (v.u.b.origin && !ev->tracing)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "the equality of these values is data-dependent");
    *equal = v.u.b.value;
    return CQ_OK;
}

static cq_status equal_pair(cq_visit *w, cq_val a, cq_val b, bool *equal, bool *by_parts)
{
    comparison      *c  = w->user;
    const cq_object *ta = cq_object_as(a, CQ_OBJECT_ENUM), *tb = cq_object_as(b, CQ_OBJECT_ENUM);

    *equal = false;
    if (is_container(a) && is_container(b)) {
        *by_parts = !w->owner || !((cq_eval *)w->owner)->program->python || a.kind == b.kind ||
                    (a.kind != CQ_VAL_LIST && b.kind != CQ_VAL_LIST);
    } else if (has_equality(w->owner, a) || has_equality(w->owner, b)) {
        return equal_by_method(w->owner, a, b, equal);
    } else if (cq_val_is_number(a) && cq_val_is_number(b)) {
        bool known, same = equal_numbers(w->owner, a, b, &known);

        *equal = same || !known; /* continue: a later pair may be known to differ */
        c->known &= known;
        c->example &= same;
    } else if (cq_object_as(a, CQ_OBJECT_RANGE) && cq_object_as(b, CQ_OBJECT_RANGE)) {
        const cq_object *x = cq_object_of(a), *y = cq_object_of(b);

        *equal = cq_int_same(x->start, y->start) && cq_int_same(x->stop, y->stop) &&
                 cq_int_same(x->step, y->step);
    } else if (ta && tb) {
        *equal = ta->cls == tb->cls && strcmp(ta->text, tb->text) == 0;
    } else if (a.kind == b.kind) {
        switch (a.kind) {
        case CQ_VAL_NONE: *equal = true; break;
        case CQ_VAL_STR:
        case CQ_VAL_DEVICE: return equal_texts(w->owner, a.u.text, b.u.text, equal);
        case CQ_VAL_TENSOR: *equal = a.u.tensor == b.u.tensor; break;
        case CQ_VAL_OBJECT: *equal = a.u.box == b.u.box; break;
        default: break;
        }
    }
    return CQ_OK;
}

cq_status cq_builtin_equal(cq_eval *ev, cq_val a, cq_val b, bool *known, bool *equal)
{
    comparison c = { true, true };
    cq_visit   w = cq_eval_visit(ev, &c);

    w.pair = equal_pair;
    CQ_TRY(cq_val_pair(&w, a, b, equal));
    *known = c.known || !*equal;
    *equal &= c.example;
    return CQ_OK;
}

/* ---- less, equal, more ---- */

enum { LESS = 1, EQUAL = 2, MORE = 4 }; /* the orders for which the comparison of a row is true */

/* Whether the order of a and b is one of those of the row. NaN is unordered: only != is true. */
static cq_val verdict(const cq_fncall *c, double a, double b)
{
    const int order = a < b ? LESS : a == b ? EQUAL : a > b ? MORE : 0;

    return cq_val_of_bool(order ? c->row->how & order : c->row->how == (LESS | MORE));
}

static bool is_open_bool(cq_val v)
{
    return v.kind == CQ_VAL_BOOL && v.u.b.origin;
}

static cq_status compare(cq_fncall *c)
{
    cq_ctx      *cx = c->ev->cx;
    const double a = cq_val_real(c->args[0]), b = cq_val_real(c->args[1]);

    if (cq_builtin_two_ints(c) && !is_open_bool(c->args[0]) && !is_open_bool(c->args[1])) {
        cq_int x = cq_val_int(c->args[0]), y = cq_val_int(c->args[1]);
        cq_int d;

        if (!x.expr && !y.expr) { /* their difference may not fit in 64 bits */
            c->result = verdict(c, x.value > y.value, x.value < y.value);
            return CQ_OK;
        }
        d = cq_int_sub(cx->symbols, x, y);
        if (!d.expr || (cq_int_symbol(x) && cq_int_is_plain(y) && y.value < 0)) {
            c->result = verdict(c, d.expr ? 1 : (double)d.value, 0); /* no size is negative */
            return CQ_OK;
        }
    }
    if (cq_builtin_needs_tensors(c, true) && !c->ev->tracing)
        return cq_builtin_by_tensors(c, c->name, CQ_VAL_BOOL);
    c->result = verdict(c, a, b); /* decided by the example */
    if (cq_builtin_needs_tensors(c, true) && cx->listener && c->args[0].kind == CQ_VAL_INT)
        cx->listener->baked(cx->listener_self, cx, "a comparison of sizes",
                            cq_i(c->result.u.b.value));
    return CQ_OK;
}

cq_status cq_builtin_any_equal(cq_eval *ev, const cq_val *a, const cq_val *b, size_t step, size_t n,
                               bool all, cq_val *out)
{

    *out = cq_val_of_bool(all);
    for (size_t i = 0; i < n; i++) {
        cq_val pair[2] = { a[i], b[i * step] }, equal;

        if (!cq_val_is_number(pair[0]) || !cq_val_is_number(pair[1]))
            return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                           "the equality of these values is data-dependent");
        CQ_TRY(cq_eval_call_name(ev, "aten::eq", pair, 2, &equal));
        CQ_TRY(CQ_CALL(ev, out, all ? "aten::__and__" : "aten::__or__", *out, equal));
    }
    return CQ_OK;
}

/* A tensor differs from None, texts and dictionaries, as in Python: Tensor.__eq__ returns
 * NotImplemented. */
static bool is_no_operand(cq_val v)
{
    return v.kind == CQ_VAL_NONE || v.kind == CQ_VAL_STR || v.kind == CQ_VAL_DICT;
}

/* eq and ne of all values except pairs of tensors and numbers. */
static cq_status any_eq(cq_fncall *c)
{
    const bool negated = c->row->how != EQUAL;
    bool       known, equal;

    if (c->ev->program->python && (is_no_operand(c->args[0]) || is_no_operand(c->args[1])) &&
        (c->args[0].kind == CQ_VAL_TENSOR || c->args[1].kind == CQ_VAL_TENSOR)) {
        c->result = cq_val_of_bool(negated);
        return CQ_OK;
    }
    if (c->args[0].kind == CQ_VAL_TENSOR || c->args[1].kind == CQ_VAL_TENSOR)
        return cq_fncall_decline(c);
    if (cq_builtin_two_numbers(c))
        return compare(c);
    CQ_TRY(cq_builtin_equal(c->ev, c->args[0], c->args[1], &known, &equal));
    if (!known && c->ev->capture && !c->ev->tracing) {
        const cq_val a = c->args[0], b = c->args[1];

        if (!cq_val_is_list(a) || !cq_val_is_list(b)) /* of equal lengths */
            return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                           "the equality of these values is data-dependent");
        CQ_TRY(cq_builtin_any_equal(c->ev, a.u.list->items, b.u.list->items, 1, a.u.list->n, true,
                                    &c->result));
        return negated ? CQ_CALL(c->ev, &c->result, "aten::__not__", c->result) : CQ_OK;
    }
    c->result = cq_val_of_bool(equal != negated);
    return CQ_OK;
}

const cq_builtin cq_builtins_compare[] = {
    { "lt(num a, num b)", .fn = compare, .how = LESS },
    { "le(num a, num b)", .fn = compare, .how = LESS | EQUAL },
    { "gt(num a, num b)", .fn = compare, .how = MORE },
    { "ge(num a, num b)", .fn = compare, .how = MORE | EQUAL },
    { "eq(a, b)", .fn = any_eq, .how = EQUAL },
    { "ne(a, b)", .fn = any_eq, .how = LESS | MORE },
    { 0 },
};
