/* Numbers, lists and text of library functions, and the builtins of Python on them. Sizes stay
 * symbolic through integer arithmetic. */
#include "lang/eval.h"
#include "lang/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

bool cq_lang_is_number(cq_val v)
{
    return v.kind == CQ_VAL_INT || v.kind == CQ_VAL_FLOAT || v.kind == CQ_VAL_BOOL;
}

/* A symbol, or a value of the host, is replaced by its value on the example. */
static cq_val fixed(cq_lang *l, cq_val v)
{
    const bool is_open = v.kind == CQ_VAL_TENSOR || v.kind == CQ_VAL_OBJECT ||
                         (v.kind == CQ_VAL_INT && v.u.i.expr) ||
                         (v.kind == CQ_VAL_FLOAT && v.u.f.origin);

    return is_open && !cq_lang_failed(l) ? l->host->fix(l, v) : v;
}

int64_t cq_lang_i64(cq_lang *l, cq_val v)
{
    v = fixed(l, v);
    switch (v.kind) {
    case CQ_VAL_INT: return v.u.i.value;
    case CQ_VAL_BOOL: return v.u.b.value;
    case CQ_VAL_FLOAT: return (int64_t)v.u.f.value;
    default: cq_lang_fail(l, CQ_E_TYPE, "expected an int, got %s", cq_val_kind_name(v.kind));
    }
    return 0;
}

double cq_lang_f64(cq_lang *l, cq_val v)
{
    v = fixed(l, v);
    return v.kind == CQ_VAL_FLOAT     ? v.u.f.value
           : v.kind == CQ_VAL_COMPLEX ? v.u.c.re
                                      : (double)cq_lang_i64(l, v);
}

bool cq_lang_truth(cq_lang *l, cq_val v)
{
    switch (v.kind) {
    case CQ_VAL_NONE: return false;
    case CQ_VAL_BOOL: return v.u.b.value;
    case CQ_VAL_LIST:
    case CQ_VAL_TUPLE: return v.u.list->n > 0;
    case CQ_VAL_DICT: return v.u.dict->n > 0;
    case CQ_VAL_STR: return v.u.text->len > 0;
    default: return cq_lang_f64(l, v) != 0;
    }
}

/* ---- lists ---- */

cq_val cq_lang_list(cq_lang *l, const cq_val *items, size_t n)
{
    cq_list *list;

    if (cq_lang_failed(l))
        return CQ_NONE;
    if (cq_list_new(&list, n) != CQ_OK)
        return cq_lang_fail(l, CQ_E_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < n && items; i++)
        list->items[i] = cq_val_retain(items[i]);
    return l->host->own(l, cq_val_of_list(list));
}

cq_val cq_lang_tuple(cq_lang *l, const cq_val *items, size_t n)
{
    cq_val v = cq_lang_list(l, items, n);

    if (v.kind == CQ_VAL_LIST)
        v.kind = CQ_VAL_TUPLE;
    return v;
}

cq_val cq_lang_text(cq_lang *l, const char *text)
{
    cq_text *t;

    if (cq_lang_failed(l))
        return CQ_NONE;
    if (cq_text_new(&t, text, strlen(text)) != CQ_OK)
        return cq_lang_fail(l, CQ_E_NO_MEMORY, "out of memory");
    return l->host->own(l, cq_val_of_text(t));
}

const cq_val *cq_lang_items(const cq_val *v, size_t *n)
{
    *n = v->kind == CQ_VAL_NONE ? 0 : 1;
    if (v->kind != CQ_VAL_LIST && v->kind != CQ_VAL_TUPLE)
        return v;
    *n = v->u.list->n;
    return v->u.list->items;
}

cq_val cq_lang_item(cq_lang *l, cq_val list, cq_val at)
{
    size_t        n;
    const cq_val *items = cq_lang_items(&list, &n);
    int64_t       i     = cq_lang_i64(l, at);

    if (i < -(int64_t)n || i >= (int64_t)n)
        return cq_lang_fail(l, CQ_E_ARGUMENT, "index %lld is out of range for a list of %zu",
                            (long long)i, n);
    return items[i < 0 ? i + (int64_t)n : i];
}

/* As Python clamps the bounds of slices. */
static size_t clamp(int64_t i, size_t n)
{
    i += i < 0 ? (int64_t)n : 0;
    return i < 0 ? 0 : i > (int64_t)n ? n : (size_t)i;
}

cq_val cq_lang_slice(cq_lang *l, cq_val list, cq_val start, cq_val stop)
{
    size_t        n, from, to;
    const cq_val *items = cq_lang_items(&list, &n);

    from = clamp(cq_lang_i64(l, start), n);
    to   = stop.kind == CQ_VAL_NONE ? n : clamp(cq_lang_i64(l, stop), n);
    return cq_lang_list(l, n ? items + from : NULL, to > from ? to - from : 0);
}

static cq_val concatenate(cq_lang *l, cq_val a, cq_val b)
{
    size_t        n_a, n_b;
    const cq_val *left = cq_lang_items(&a, &n_a), *right = cq_lang_items(&b, &n_b);
    cq_val        out = cq_lang_list(l, NULL, n_a + n_b);

    for (size_t i = 0; i < n_a + n_b && out.kind == CQ_VAL_LIST; i++)
        out.u.list->items[i] = cq_val_retain(i < n_a ? left[i] : right[i - n_a]);
    return out;
}

static cq_val repeat(cq_lang *l, cq_val list, int64_t times)
{
    cq_val out = cq_lang_list(l, NULL, 0);

    for (; times > 0 && cq_lang_step(l, 1) && !cq_lang_failed(l); times--)
        out = concatenate(l, out, list);
    return out;
}

/* ---- operators ---- */

static double plain(cq_val v)
{
    return v.kind == CQ_VAL_FLOAT  ? v.u.f.value
           : v.kind == CQ_VAL_BOOL ? v.u.b.value
                                   : (double)v.u.i.value;
}

bool cq_lang_equal(cq_val a, cq_val b)
{
    size_t        n_a, n_b;
    const cq_val *left = cq_lang_items(&a, &n_a), *right = cq_lang_items(&b, &n_b);

    if (cq_lang_is_number(a) && cq_lang_is_number(b))
        return plain(a) == plain(b);
    if (a.kind == CQ_VAL_STR && b.kind == CQ_VAL_STR)
        return strcmp(a.u.text->text, b.u.text->text) == 0;
    if (left == &a || right == &b || n_a != n_b)
        return a.kind == CQ_VAL_NONE && b.kind == CQ_VAL_NONE;
    for (size_t i = 0; i < n_a; i++)
        if (!cq_lang_equal(left[i], right[i]))
            return false;
    return true;
}

/* Whether a comparison of integers has the same result in every run: of a symbol with itself, or of
 * a size with a number below zero. */
static bool is_decided(cq_ast_op op, cq_int a, cq_int b)
{
    bool at_zero = op == CQ_AST_LT || op == CQ_AST_GE;

    return a.expr == b.expr ||
           (cq_int_is_natural(a) && !b.expr && (b.value < 0 || (b.value == 0 && at_zero)));
}

/* As cq_lang_equal, but symbols are equal only to themselves. */
static bool is_same(cq_val a, cq_val b)
{
    size_t        n_a, n_b;
    const cq_val *left = cq_lang_items(&a, &n_a), *right = cq_lang_items(&b, &n_b);

    if (a.kind == CQ_VAL_INT && b.kind == CQ_VAL_INT)
        return cq_int_same(a.u.i, b.u.i);
    if (left == &a || right == &b || n_a != n_b)
        return cq_lang_equal(a, b);
    for (size_t i = 0; i < n_a; i++)
        if (!is_same(left[i], right[i]))
            return false;
    return true;
}

static cq_val compare(cq_lang *l, cq_ast_op op, cq_val a, cq_val b)
{
    double x, y;

    if (l->host->compares_symbols && (op == CQ_AST_EQ || op == CQ_AST_NE) &&
        (a.kind == b.kind || !cq_lang_is_number(a)))
        return cq_val_of_bool(is_same(a, b) == (op == CQ_AST_EQ));
    if (!cq_lang_is_number(a) || !cq_lang_is_number(b)) {
        if (op != CQ_AST_EQ && op != CQ_AST_NE)
            return cq_lang_fail(l, CQ_E_TYPE, "%s and %s cannot be compared",
                                cq_val_kind_name(a.kind), cq_val_kind_name(b.kind));
        return cq_val_of_bool(cq_lang_equal(a, b) == (op == CQ_AST_EQ));
    }
    if (a.kind == CQ_VAL_INT && b.kind == CQ_VAL_INT && is_decided(op, a.u.i, b.u.i)) {
        x = plain(a);
        y = plain(b);
    } else {
        x = cq_lang_f64(l, a);
        y = cq_lang_f64(l, b);
    }
    return cq_val_of_bool(op == CQ_AST_EQ   ? x == y
                          : op == CQ_AST_NE ? x != y
                          : op == CQ_AST_LT ? x < y
                          : op == CQ_AST_LE ? x <= y
                          : op == CQ_AST_GT ? x > y
                                            : x >= y);
}

static cq_int int_of(cq_val v)
{
    return v.kind == CQ_VAL_INT ? v.u.i : (cq_int){ v.u.b.value, NULL };
}

static cq_val on_ints(cq_lang *l, cq_ast_op op, cq_int a, cq_int b)
{
    if (!a.expr && !b.expr && !cq_number_fits(op, a.value, b.value))
        return cq_lang_fail(l, CQ_E_ARGUMENT, CQ_NUMBER_TOO_LARGE);
    if (op == CQ_AST_ADD)
        return cq_val_of_int(cq_int_add(l->symbols, a, b));
    if (op == CQ_AST_SUB)
        return cq_val_of_int(cq_int_sub(l->symbols, a, b));
    if (op == CQ_AST_MUL)
        return cq_val_of_int(cq_int_mul(l->symbols, a, b));
    if (b.value == 0)
        return cq_lang_fail(l, CQ_E_ARGUMENT, "division by zero");
    return cq_val_of_int(op == CQ_AST_MOD ? cq_int_mod(l->symbols, a, b)
                                          : cq_int_floordiv(l->symbols, a, b));
}

static cq_val on_floats(cq_lang *l, cq_ast_op op, double x, double y)
{
    if (y == 0 && (op == CQ_AST_DIV || op == CQ_AST_FLOOR_DIV || op == CQ_AST_MOD))
        return cq_lang_fail(l, CQ_E_ARGUMENT, "division by zero");
    switch (op) {
    case CQ_AST_ADD: return cq_val_of_f64(x + y);
    case CQ_AST_SUB: return cq_val_of_f64(x - y);
    case CQ_AST_MUL: return cq_val_of_f64(x * y);
    case CQ_AST_DIV: return cq_val_of_f64(x / y);
    case CQ_AST_FLOOR_DIV: return cq_val_of_f64(cq_number_floor_divide(x, y));
    case CQ_AST_MOD: return cq_val_of_f64(cq_number_modulo(x, y));
    case CQ_AST_POW: return cq_val_of_f64(pow(x, y));
    default: return cq_lang_fail(l, CQ_E_INTERNAL, "the operator is not available for floats");
    }
}

cq_val cq_lang_binary(cq_lang *l, cq_ast_op op, cq_val a, cq_val b)
{
    const bool numbers = cq_lang_is_number(a) && cq_lang_is_number(b);
    double     x, y;
    int64_t    power;

    if (op >= CQ_AST_EQ && op <= CQ_AST_GE)
        return compare(l, op, a, b);
    if (!cq_lang_is_number(a) && cq_lang_is_number(b) && op == CQ_AST_MUL)
        return repeat(l, a, cq_lang_i64(l, b));
    if (!cq_lang_is_number(a) && !cq_lang_is_number(b) && op == CQ_AST_ADD)
        return concatenate(l, a, b);
    if (!numbers)
        return cq_lang_fail(l, CQ_E_TYPE, "unsupported operands %s and %s",
                            cq_val_kind_name(a.kind), cq_val_kind_name(b.kind));
    if (a.kind != CQ_VAL_FLOAT && b.kind != CQ_VAL_FLOAT && op != CQ_AST_DIV && op != CQ_AST_POW)
        return on_ints(l, op, int_of(a), int_of(b));
    x = cq_lang_f64(l, a);
    y = cq_lang_f64(l, b);
    if (op == CQ_AST_POW && a.kind == CQ_VAL_INT && b.kind == CQ_VAL_INT && y >= 0)
        return cq_number_power(&power, cq_lang_i64(l, a), cq_lang_i64(l, b))
                   ? cq_val_of_i64(power)
                   : cq_lang_fail(l, CQ_E_ARGUMENT, CQ_NUMBER_TOO_LARGE);
    return on_floats(l, op, x, y);
}

/* ---- builtins ---- */

static cq_val len(cq_lang *l, const cq_val *args, size_t n)
{
    size_t count;

    (void)l, (void)n;
    cq_lang_items(&args[0], &count);
    return cq_val_of_i64((int64_t)(args[0].kind == CQ_VAL_DICT ? args[0].u.dict->n : count));
}

static cq_val fold(cq_lang *l, cq_ast_op op, cq_val list, cq_val first)
{
    size_t        n;
    const cq_val *items = cq_lang_items(&list, &n);

    for (size_t i = 0; i < n && !cq_lang_failed(l); i++)
        first = items[i].kind == CQ_VAL_TENSOR || items[i].kind == CQ_VAL_OBJECT
                    ? l->host->binary(l, op, first, items[i])
                    : cq_lang_binary(l, op, first, items[i]);
    return first;
}

static cq_val sum(cq_lang *l, const cq_val *args, size_t n)
{
    (void)n;
    return fold(l, CQ_AST_ADD, args[0], cq_val_of_i64(0));
}

static cq_val prod(cq_lang *l, const cq_val *args, size_t n)
{
    (void)n;
    return fold(l, CQ_AST_MUL, args[0], cq_val_of_i64(1));
}

/* min(a, b) or min([a, b]) */
static cq_val extreme(cq_lang *l, const cq_val *args, size_t n, bool least)
{
    cq_val out;

    if (n == 1)
        args = cq_lang_items(args, &n);
    if (n == 0)
        return cq_lang_fail(l, CQ_E_ARGUMENT, "an empty list has no %s",
                            least ? "minimum" : "maximum");
    out = args[0];
    for (size_t i = 1; i < n; i++)
        if (out.kind == CQ_VAL_INT && args[i].kind == CQ_VAL_INT)
            out = cq_val_of_int(least ? cq_int_min(l->symbols, out.u.i, args[i].u.i)
                                      : cq_int_max(l->symbols, out.u.i, args[i].u.i));
        else if ((cq_lang_f64(l, args[i]) < cq_lang_f64(l, out)) == least)
            out = args[i];
    return out;
}

static cq_val min(cq_lang *l, const cq_val *args, size_t n)
{
    return extreme(l, args, n, true);
}

static cq_val max(cq_lang *l, const cq_val *args, size_t n)
{
    return extreme(l, args, n, false);
}

/* The negative of the least integer does not exist; the result is the greatest integer. */
static cq_val absolute(cq_lang *l, const cq_val *args, size_t n)
{
    int64_t i;

    (void)n;
    if (args[0].kind == CQ_VAL_FLOAT)
        return cq_val_of_f64(fabs(cq_lang_f64(l, args[0])));
    i = cq_lang_i64(l, args[0]);
    return cq_val_of_i64(i == INT64_MIN ? INT64_MAX : llabs(i));
}

static cq_val to_int(cq_lang *l, const cq_val *args, size_t n)
{
    (void)n;
    return cq_val_of_i64(cq_lang_i64(l, args[0]));
}

static cq_val to_float(cq_lang *l, const cq_val *args, size_t n)
{
    (void)n;
    return args[0].kind == CQ_VAL_FLOAT ? args[0] : cq_val_of_f64(cq_lang_f64(l, args[0]));
}

static cq_val to_bool(cq_lang *l, const cq_val *args, size_t n)
{
    (void)n;
    return cq_val_of_bool(cq_lang_truth(l, args[0]));
}

static cq_val to_list(cq_lang *l, const cq_val *args, size_t n)
{
    const cq_val *items = cq_lang_items(&args[0], &n);

    return cq_lang_list(l, items, n);
}

static cq_val range(cq_lang *l, const cq_val *args, size_t n)
{
    int64_t start = n > 1 ? cq_lang_i64(l, args[0]) : 0, end = cq_lang_i64(l, args[n > 1]);
    int64_t step = n > 2 ? cq_lang_i64(l, args[2]) : 1;
    int64_t count;
    cq_val  out;

    if (step == 0)
        return cq_lang_fail(l, CQ_E_ARGUMENT, "the step of a range is 0");
    count = step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step;
    count = count > 0 ? count : 0;
    if (!cq_lang_step(l, (size_t)count))
        return CQ_NONE;
    out = cq_lang_list(l, NULL, (size_t)count);
    for (int64_t i = 0; i < count && out.kind == CQ_VAL_LIST; i++)
        out.u.list->items[i] = cq_val_of_i64(start + i * step);
    return out;
}

static cq_val reverse(cq_lang *l, const cq_val *args, size_t n)
{
    const cq_val *items = cq_lang_items(&args[0], &n);
    cq_val        out   = cq_lang_list(l, items, n);

    for (size_t i = 0; i < n && out.kind == CQ_VAL_LIST; i++)
        out.u.list->items[i] = items[n - 1 - i];
    return out;
}

/* Halves are rounded to even; the result is clamped to int64. */
static cq_val nearest(cq_lang *l, const cq_val *args, size_t n)
{
    (void)n;
    return cq_val_of_i64((int64_t)fmax(fmin(nearbyint(cq_lang_f64(l, args[0])), 0x1p62), -0x1p62));
}

static cq_val real(cq_lang *l, const cq_val *args, size_t n)
{
    (void)l, (void)n;
    return args[0].kind == CQ_VAL_COMPLEX ? cq_val_of_f64(args[0].u.c.re) : args[0];
}

static cq_val imag(cq_lang *l, const cq_val *args, size_t n)
{
    (void)l, (void)n;
    return args[0].kind == CQ_VAL_COMPLEX ? cq_val_of_f64(args[0].u.c.im) : cq_val_of_i64(0);
}

static cq_val is_instance(cq_lang *l, const cq_val *args, size_t n)
{
    (void)l, (void)n;
    return cq_val_of_bool((int64_t)args[0].kind == args[1].u.i.value);
}

static cq_val warn(cq_lang *l, const cq_val *args, size_t n)
{
    (void)n;
    l->host->warn(l, args[0].u.text->text);
    return CQ_NONE;
}

#define MATH(name, function)                                                                       \
    static cq_val name(cq_lang *l, const cq_val *args, size_t n)                                   \
    {                                                                                              \
        (void)n;                                                                                   \
        return cq_val_of_f64(function(cq_lang_f64(l, args[0])));                                   \
    }

MATH(math_sqrt, sqrt)
MATH(math_exp, exp)
MATH(math_log, log)
/* Rounding gives an int, as in Python. */
#define WHOLE(name, function)                                                                      \
    static cq_val name(cq_lang *l, const cq_val *args, size_t n)                                   \
    {                                                                                              \
        (void)n;                                                                                   \
        return cq_val_of_i64((int64_t)function(cq_lang_f64(l, args[0])));                          \
    }

WHOLE(math_floor, floor)
WHOLE(math_ceil, ceil)

#define KIND(kind) (1u << CQ_VAL_##kind)
#define NUMBER     (KIND(INT) | KIND(FLOAT) | KIND(BOOL) | KIND(COMPLEX))
#define LIST       KIND(LIST)
#define ANY        (~0u)

const cq_builtin_function cq_builtin_functions[] = {
    { "len", 1, 1, ANY, len },
    { "sum", 1, 1, LIST, sum },
    { "math.prod", 1, 1, LIST, prod },
    { "min", 1, 8, NUMBER | LIST, min },
    { "max", 1, 8, NUMBER | LIST, max },
    { "abs", 1, 1, NUMBER, absolute },
    { "int", 1, 1, NUMBER, to_int },
    { "float", 1, 1, NUMBER, to_float },
    { "bool", 1, 1, ANY, to_bool },
    { "list", 1, 1, LIST, to_list },
    { "range", 1, 3, NUMBER, range },
    { "reversed", 1, 1, ANY, reverse },
    { "round", 1, 1, NUMBER, nearest },
    { ".real", 1, 1, NUMBER, real },
    { ".imag", 1, 1, NUMBER, imag },
    { "isinstance", 2, 2, ANY, is_instance },
    { "warnings.warn", 1, 1, KIND(STR), warn },
    { "math.sqrt", 1, 1, ANY, math_sqrt },
    { "math.exp", 1, 1, ANY, math_exp },
    { "math.log", 1, 1, ANY, math_log },
    { "math.floor", 1, 1, ANY, math_floor },
    { "math.ceil", 1, 1, ANY, math_ceil },
    { 0 },
};
