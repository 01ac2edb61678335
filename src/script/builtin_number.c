/* Arithmetic on numbers outside of tensors. Integers may be symbolic sizes; a float or bool that
 * comes from the graph is computed with as a 0-d tensor. */
#include "script/builtin.h"

#include <math.h>

/* ---- numbers of the graph ---- */

cq_status cq_eval_as_tensor(cq_eval *ev, cq_val v, cq_tensor **out)
{
    void *origin = v.kind == CQ_VAL_FLOAT  ? v.u.f.origin
                   : v.kind == CQ_VAL_BOOL ? v.u.b.origin
                                           : NULL;

    if (v.kind == CQ_VAL_TENSOR) {
        *out = v.u.tensor;
        return CQ_OK;
    }
    if (!cq_val_is_number(v))
        return cq_fail(CQ_E_TYPE, NULL, NULL, "%s is no number", cq_eval_type_name(v));
    if (origin) {
        *out = cq_capture_tensor(ev->capture, ev->cx, origin);
        return ev->cx->status;
    }
    *out = CQ_OP(ev->cx, "prim::NumToTensor.Scalar", v);
    if (*out && v.kind == CQ_VAL_INT && !(*out)->storage && !(*out)->known) {
        (*out)->known = cq_alloc(sizeof(cq_int));
        if (!(*out)->known)
            return CQ_E_NO_MEMORY;
        (*out)->known[0] = v.u.i;
    }
    return ev->cx->status;
}

/* What a number of the graph is on the example, so that sizes made of it are plausible; 1 where
 * that cannot be told, as inside of a branch. */
static double example_of(cq_eval *ev, cq_tensor *t)
{
    cq_tensor *data = NULL;
    double     f;

    if (ev->journaling ||
        ev->cx->listener->materialize(ev->cx->listener_self, ev->cx, &data, t) != CQ_OK)
        return 1;
    f = cq_tensor_get_f64(data, 0);
    return f > -0x1p62 && f < 0x1p62 ? f : 1;
}

cq_status cq_builtin_number_of(cq_eval *ev, cq_tensor *t, cq_val_kind kind, cq_val *out)
{
    cq_tensor *data = t;
    cq_value  *value;
    double     example;
    bool       has_data;

    if (cq_tensor_numel(t) != 1)
        return cq_fail(CQ_E_TYPE, NULL, NULL,
                       "only a tensor of one element is a number, not one of %lld",
                       (long long)cq_tensor_numel(t));
    if (kind == CQ_VAL_INT && t->known) {
        *out = cq_val_of_int(t->known[0]);
        return CQ_OK;
    }
    has_data = cq_capture_has_data(ev->capture, ev->cx, t);
    if (!has_data && ev->capture && !ev->tracing) {
        if (t->rank)
            t = CQ_OP(ev->cx, "aten::reshape", T(t), cq_i64s(ev->cx, NULL, 0));
        if (t && kind == CQ_VAL_BOOL && t->dtype != CQ_DTYPE_BOOL)
            t = CQ_OP(ev->cx, "aten::to.dtype", T(t), DTYPE(CQ_DTYPE_BOOL));
        value = t ? cq_capture_value(ev->capture, ev->cx, t) : NULL;
        if (!value)
            return ev->cx->status;
        example = example_of(ev, t);
        if (kind == CQ_VAL_INT)
            *out = cq_val_of_int(
                cq_symbol_fresh(ev->cx->symbols, "i", (int64_t)example, value, -1));
        else if (kind == CQ_VAL_FLOAT)
            *out = (cq_val){ .kind = kind, .u.f = { example, value } };
        else
            *out = (cq_val){ .kind = kind, .u.b = { example != 0, value } };
        return CQ_OK;
    }
    if (!has_data) {
        if (!ev->cx->listener)
            return cq_fail(CQ_E_INTERNAL, NULL, NULL, "a fake tensor outside of a capture");
        CQ_TRY(ev->cx->listener->materialize(ev->cx->listener_self, ev->cx, &data, t));
        ev->cx->listener->baked(ev->cx->listener_self, ev->cx, "the contents of a tensor",
                                cq_i(cq_tensor_get_i64(data, 0)));
    }
    switch (kind) {
    case CQ_VAL_INT: *out = cq_val_of_i64(cq_tensor_get_i64(data, 0)); break;
    case CQ_VAL_FLOAT: *out = cq_val_of_f64(cq_tensor_get_f64(data, 0)); break;
    default: *out = cq_val_of_bool(cq_tensor_get_f64(data, 0) != 0); break;
    }
    return CQ_OK;
}

cq_status cq_builtin_by_tensors(cq_builtin_call *c, const char *op, cq_val_kind kind, cq_val *out)
{
    cq_val     args[2];
    cq_tensor *t;

    if (c->n > 2)
        return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL, "it has more than two arguments");
    for (size_t i = 0; i < c->n; i++) {
        CQ_TRY(cq_eval_as_tensor(c->ev, c->args[i], &t));
        if (kind == CQ_VAL_FLOAT && !cq_dtype_is_float(t->dtype)) /* as exact as Python's floats */
            t = CQ_OP(c->ev->cx, "aten::to.dtype", T(t), DTYPE(CQ_DTYPE_F64));
        args[i] = cq_val_of_tensor(t);
    }
    CQ_TRY(cq_eval_operator(c->ev, op, args, c->n, NULL, NULL, 0, out));
    if (out->kind != CQ_VAL_TENSOR)
        return CQ_OK;
    return cq_builtin_number_of(c->ev, out->u.tensor, kind, out);
}

/* ---- two numbers ---- */

static double real_of(cq_val v)
{
    switch (v.kind) {
    case CQ_VAL_INT: return (double)v.u.i.value;
    case CQ_VAL_FLOAT: return v.u.f.value;
    case CQ_VAL_BOOL: return v.u.b.value;
    default: return v.u.c.re;
    }
}

static double floor_mod(double a, double b)
{
    double m = fmod(a, b);

    return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}

static bool two_numbers(const cq_builtin_call *c)
{
    return c->n == 2 && cq_val_is_number(c->args[0]) && cq_val_is_number(c->args[1]);
}

static bool two_ints(const cq_builtin_call *c)
{
    return (c->args[0].kind == CQ_VAL_INT || c->args[0].kind == CQ_VAL_BOOL) &&
           (c->args[1].kind == CQ_VAL_INT || c->args[1].kind == CQ_VAL_BOOL);
}

static cq_int int_of(cq_val v)
{
    return v.kind == CQ_VAL_INT ? v.u.i : cq_i(v.u.b.value);
}

static cq_status division_by_zero(void)
{
    return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "division by zero");
}

/* Symbols beside integers: floats, and sizes that become floats. */
static bool needs_tensors(const cq_builtin_call *c, bool ints_too)
{
    bool symbolic = cq_val_is_symbolic(c->args[0]) || cq_val_is_symbolic(c->args[1]);

    return symbolic && (ints_too || !two_ints(c) || c->args[0].kind == CQ_VAL_BOOL ||
                        c->args[1].kind == CQ_VAL_BOOL);
}

#define ARITHMETIC(id, op, on_ints, on_reals)                                                          \
    static cq_status id(cq_builtin_call *c, cq_val *out)                                           \
    {                                                                                              \
        cq_symbols *st = c->ev->cx->symbols;                                                       \
                                                                                                   \
        (void)st;                                                                                  \
        if (!two_numbers(c))                                                                       \
            return cq_builtin_decline(c);                                                          \
        if (c->args[0].kind == CQ_VAL_COMPLEX || c->args[1].kind == CQ_VAL_COMPLEX)                \
            return complex_op(c, #id[4], out);                                                     \
        if (needs_tensors(c, false))                                                               \
            return cq_builtin_by_tensors(c, op, CQ_VAL_FLOAT, out);                                \
        if (two_ints(c)) {                                                                         \
            cq_int a = int_of(c->args[0]), b = int_of(c->args[1]);                                 \
                                                                                                   \
            (void)a;                                                                               \
            (void)b;                                                                               \
            on_ints;                                                                               \
        } else {                                                                                   \
            double a = real_of(c->args[0]), b = real_of(c->args[1]);                               \
                                                                                                   \
            on_reals;                                                                              \
        }                                                                                          \
        return CQ_OK;                                                                              \
    }

static cq_status complex_op(const cq_builtin_call *c, char op, cq_val *out)
{
    cq_val a = c->args[0], b = c->args[1];
    double ai = a.kind == CQ_VAL_COMPLEX ? a.u.c.im : 0, bi = b.kind == CQ_VAL_COMPLEX ? b.u.c.im : 0;
    double ar = real_of(a), br = real_of(b), d;

    out->kind = CQ_VAL_COMPLEX;
    switch (op) {
    case 'a': out->u.c.re = ar + br, out->u.c.im = ai + bi; return CQ_OK;
    case 's': out->u.c.re = ar - br, out->u.c.im = ai - bi; return CQ_OK;
    case 'm': out->u.c.re = ar * br - ai * bi, out->u.c.im = ar * bi + ai * br; return CQ_OK;
    case 'd':
        d            = br * br + bi * bi;
        out->u.c.re  = (ar * br + ai * bi) / d;
        out->u.c.im  = (ai * br - ar * bi) / d;
        return CQ_OK;
    default: return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL, "complex numbers cannot do this");
    }
}

ARITHMETIC(num_add, "aten::add", *out = cq_val_of_int(cq_int_add(st, a, b)), *out = cq_val_of_f64(a + b))
ARITHMETIC(num_sub, "aten::sub", *out = cq_val_of_int(cq_int_sub(st, a, b)), *out = cq_val_of_f64(a - b))
ARITHMETIC(num_mul, "aten::mul", *out = cq_val_of_int(cq_int_mul(st, a, b)), *out = cq_val_of_f64(a *b))
ARITHMETIC(num_floordiv, "aten::floor_divide",
           if (cq_int_is(b, 0)) return division_by_zero();
           *out = cq_val_of_int(cq_int_floordiv(st, a, b)), *out = cq_val_of_f64(floor(a / b)))
ARITHMETIC(num_remainder, "aten::remainder",
           if (cq_int_is(b, 0)) return division_by_zero();
           *out = cq_val_of_int(cq_int_mod(st, a, b)), *out = cq_val_of_f64(floor_mod(a, b)))
ARITHMETIC(num_min, "aten::minimum", *out = cq_val_of_int(cq_int_min(st, a, b)), *out = cq_val_of_f64(b < a ? b : a))
ARITHMETIC(num_max, "aten::maximum", *out = cq_val_of_int(cq_int_max(st, a, b)), *out = cq_val_of_f64(b > a ? b : a))
/* Of two numbers a float, though they be ints: int ** int is one in TorchScript. */
#define REAL(id, fn)                                                                               \
    static cq_status num_##id(cq_builtin_call *c, cq_val *out)                                     \
    {                                                                                              \
        if (!two_numbers(c))                                                                       \
            return cq_builtin_decline(c);                                                          \
        if (c->args[0].kind == CQ_VAL_COMPLEX || c->args[1].kind == CQ_VAL_COMPLEX)                \
            return complex_op(c, 0, out);                                                          \
        if (needs_tensors(c, true))                                                                \
            return cq_builtin_by_tensors(c, "aten::" #id, CQ_VAL_FLOAT, out);                      \
        *out = cq_val_of_f64(fn(real_of(c->args[0]), real_of(c->args[1])));                        \
        return CQ_OK;                                                                              \
    }

REAL(fmod, fmod)
REAL(atan2, atan2)
REAL(copysign, copysign)
REAL(pow, pow)

/* int / int is a float in TorchScript. A size that divides exactly stays a size only as //. */
static cq_status num_div(cq_builtin_call *c, cq_val *out)
{
    if (!two_numbers(c))
        return cq_builtin_decline(c);
    if (c->args[0].kind == CQ_VAL_COMPLEX || c->args[1].kind == CQ_VAL_COMPLEX)
        return complex_op(c, 'd', out);
    if (needs_tensors(c, true))
        return cq_builtin_by_tensors(c, "aten::div", CQ_VAL_FLOAT, out);
    if (real_of(c->args[1]) == 0)
        return division_by_zero();
    *out = cq_val_of_f64(real_of(c->args[0]) / real_of(c->args[1]));
    return CQ_OK;
}

/* ---- comparisons ---- */

static cq_status compare(cq_builtin_call *c, cq_val *out, int want_less, int want_equal,
                         int want_more)
{
    cq_symbols *st = c->ev->cx->symbols;
    double      a, b;

    if (!two_numbers(c))
        return cq_builtin_decline(c);
    if (two_ints(c) && !c->args[0].u.b.origin) {
        cq_int d = cq_int_sub(st, int_of(c->args[0]), int_of(c->args[1]));

        if (!d.expr) {
            *out = cq_val_of_bool(d.value < 0 ? want_less : d.value == 0 ? want_equal : want_more);
            return CQ_OK;
        }
        /* A size is not negative. */
        if (cq_int_symbol(int_of(c->args[0])) && cq_int_is_plain(int_of(c->args[1])) &&
            int_of(c->args[1]).value < 0) {
            *out = cq_val_of_bool(want_more);
            return CQ_OK;
        }
    }
    if (needs_tensors(c, true)) {
        if (c->ev->tracing) { /* the example decides */
            a = real_of(c->args[0]);
            b = real_of(c->args[1]);
            if (c->ev->cx->listener && c->args[0].kind == CQ_VAL_INT)
                c->ev->cx->listener->baked(c->ev->cx->listener_self, c->ev->cx, "a comparison of sizes",
                                           cq_i(a < b ? want_less : a == b ? want_equal : want_more));
            *out = cq_val_of_bool(a < b ? want_less : a == b ? want_equal : want_more);
            return CQ_OK;
        }
        return cq_builtin_by_tensors(c, c->name, CQ_VAL_BOOL, out);
    }
    a    = real_of(c->args[0]);
    b    = real_of(c->args[1]);
    *out = cq_val_of_bool(a < b ? want_less : a == b ? want_equal : a > b ? want_more : 0);
    return CQ_OK;
}

static cq_status num_lt(cq_builtin_call *c, cq_val *out)
{
    return compare(c, out, 1, 0, 0);
}

static cq_status num_le(cq_builtin_call *c, cq_val *out)
{
    return compare(c, out, 1, 1, 0);
}

static cq_status num_gt(cq_builtin_call *c, cq_val *out)
{
    return compare(c, out, 0, 0, 1);
}

static cq_status num_ge(cq_builtin_call *c, cq_val *out)
{
    return compare(c, out, 0, 1, 1);
}

cq_status cq_builtin_any_equal(cq_eval *ev, const cq_val *a, const cq_val *b, size_t step, size_t n,
                               bool all, cq_val *out)
{
    bool found;

    *out = cq_val_of_bool(all);
    for (size_t i = 0; i < n; i++) {
        cq_val pair[2] = { a[i], b[i * step] }, equal;

        if (!cq_val_is_number(pair[0]) || !cq_val_is_number(pair[1]))
            return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                           "whether these values are equal is not known before the model runs");
        CQ_TRY(cq_eval_builtin(ev, "aten::eq", pair, 2, NULL, NULL, 0, &equal, &found));
        CQ_TRY(cq_eval_builtin(ev, all ? "aten::__and__" : "aten::__or__",
                               (cq_val[]){ *out, equal }, 2, NULL, NULL, 0, out, &found));
    }
    return CQ_OK;
}

/* eq and ne are of all values but tensors. */
static cq_status any_eq(cq_builtin_call *c, cq_val *out, bool negated)
{
    bool known, equal;

    if (c->n != 2 || c->args[0].kind == CQ_VAL_TENSOR || c->args[1].kind == CQ_VAL_TENSOR)
        return cq_builtin_decline(c);
    if (two_numbers(c))
        return compare(c, out, negated, !negated, negated);
    CQ_TRY(cq_builtin_equal(c->ev, c->args[0], c->args[1], &known, &equal));
    if (!known && c->ev->capture && !c->ev->tracing) {
        cq_val a = c->args[0], b = c->args[1], same;
        bool   found;

        if (!cq_val_is_list(a) || !cq_val_is_list(b)) /* of the same length, or it were known */
            return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                           "whether these values are equal is not known before the model runs");
        CQ_TRY(cq_builtin_any_equal(c->ev, a.u.list->items, b.u.list->items, 1, a.u.list->n, true,
                                    &same));
        *out = same;
        return negated ? cq_eval_builtin(c->ev, "aten::__not__", &same, 1, NULL, NULL, 0, out, &found)
                       : CQ_OK;
    }
    *out = cq_val_of_bool(equal != negated);
    return CQ_OK;
}

static cq_status num_eq(cq_builtin_call *c, cq_val *out)
{
    return any_eq(c, out, false);
}

static cq_status num_ne(cq_builtin_call *c, cq_val *out)
{
    return any_eq(c, out, true);
}

/* ---- bits and bools ---- */

static cq_status want_ints(const cq_builtin_call *c)
{
    if (c->args[0].kind == CQ_VAL_INT && c->args[1].kind == CQ_VAL_INT) /* as in TorchScript */
        return CQ_OK;
    return cq_fail(CQ_E_TYPE, c->name, NULL, "wants two ints but got %s and %s",
                   cq_eval_type_name(c->args[0]), cq_eval_type_name(c->args[1]));
}

static const char *bit_operator(char op, bool bools)
{
    switch (op) {
    case '&': return bools ? "aten::logical_and" : "aten::bitwise_and";
    case '|': return bools ? "aten::logical_or" : "aten::bitwise_or";
    default: return bools ? "aten::logical_xor" : "aten::bitwise_xor";
    }
}

static cq_status bits(cq_builtin_call *c, char op, cq_val *out)
{
    const bool bools = c->n == 2 && c->args[0].kind == CQ_VAL_BOOL && c->args[1].kind == CQ_VAL_BOOL;
    int64_t    a, b, r;

    if (!two_numbers(c))
        return cq_builtin_decline(c);
    if (!bools) {
        CQ_TRY(want_ints(c));
        if (needs_tensors(c, true))
            return cq_builtin_by_tensors(c, bit_operator(op, false), CQ_VAL_INT, out);
        a    = c->args[0].u.i.value;
        b    = c->args[1].u.i.value;
        *out = cq_val_of_i64(op == '&' ? a & b : op == '|' ? a | b : a ^ b);
        return CQ_OK;
    }
    if (cq_val_is_symbolic(c->args[0]) || cq_val_is_symbolic(c->args[1])) {
        /* A known operand may decide, or drop out. */
        for (size_t i = 0; i < 2; i++)
            if (!cq_val_is_symbolic(c->args[i]) && op != '^') {
                bool decides = op == '&' ? !c->args[i].u.b.value : c->args[i].u.b.value;

                *out = decides ? c->args[i] : c->args[1 - i];
                return CQ_OK;
            }
        return cq_builtin_by_tensors(c, bit_operator(op, true), CQ_VAL_BOOL, out);
    }
    a    = c->args[0].u.b.value;
    b    = c->args[1].u.b.value;
    r    = op == '&' ? a & b : op == '|' ? a | b : a ^ b;
    *out = cq_val_of_bool(r);
    return CQ_OK;
}

static cq_status num_and(cq_builtin_call *c, cq_val *out)
{
    return bits(c, '&', out);
}

static cq_status num_or(cq_builtin_call *c, cq_val *out)
{
    return bits(c, '|', out);
}

static cq_status num_xor(cq_builtin_call *c, cq_val *out)
{
    return bits(c, '^', out);
}

/* a << b is a * 2**b, a >> b is a // 2**b: so they are of sizes, too. */
static cq_status shift(cq_builtin_call *c, bool left, cq_val *out)
{
    cq_symbols *st = c->ev->cx->symbols;
    cq_int      a, b;

    if (!two_numbers(c))
        return cq_builtin_decline(c);
    CQ_TRY(want_ints(c));
    a = c->args[0].u.i;
    b = c->args[1].u.i;
    if (b.expr || (a.expr && (b.value < 0 || b.value > 62)))
        return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL,
                       "by how much is shifted must be known, and less than 63");
    if (!a.expr)
        *out = cq_val_of_i64(left ? (int64_t)((uint64_t)a.value << (b.value & 63))
                                  : a.value >> (b.value & 63));
    else
        *out = cq_val_of_int(left ? cq_int_mul(st, a, cq_i((int64_t)1 << b.value))
                                  : cq_int_floordiv(st, a, cq_i((int64_t)1 << b.value)));
    return CQ_OK;
}

static cq_status num_lshift(cq_builtin_call *c, cq_val *out)
{
    return shift(c, true, out);
}

static cq_status num_rshift(cq_builtin_call *c, cq_val *out)
{
    return shift(c, false, out);
}

static cq_status num_not(cq_builtin_call *c, cq_val *out)
{
    bool      known, truth;
    cq_value *symbol;

    CQ_TRY(cq_eval_truth(c->ev, c->args[0], &known, &truth, &symbol));
    if (known) {
        *out = cq_val_of_bool(!truth);
        return CQ_OK;
    }
    {
        cq_tensor *t = cq_capture_tensor(c->ev->capture, c->ev->cx, symbol);
        cq_tensor *n = CQ_OP(c->ev->cx, "aten::logical_not", T(t));

        return n ? cq_builtin_number_of(c->ev, n, CQ_VAL_BOOL, out) : c->ev->cx->status;
    }
}

/* ---- one number ---- */

static cq_status num_neg(cq_builtin_call *c, cq_val *out)
{
    cq_val v = c->args[0];

    if (c->n != 1 || !cq_val_is_number(v))
        return cq_builtin_decline(c);
    if (v.kind == CQ_VAL_FLOAT && v.u.f.origin)
        return cq_builtin_by_tensors(c, "aten::neg", CQ_VAL_FLOAT, out);
    if (v.kind == CQ_VAL_INT)
        *out = cq_val_of_int(cq_int_mul(c->ev->cx->symbols, v.u.i, cq_i(-1)));
    else if (v.kind == CQ_VAL_COMPLEX)
        *out = (cq_val){ .kind = CQ_VAL_COMPLEX, .u.c = { -v.u.c.re, -v.u.c.im } };
    else
        *out = cq_val_of_f64(-real_of(v));
    return CQ_OK;
}

static cq_status num_abs(cq_builtin_call *c, cq_val *out)
{
    cq_val v = c->args[0];

    if (c->n != 1 || !cq_val_is_number(v))
        return cq_builtin_decline(c);
    if (v.kind == CQ_VAL_INT && v.u.i.expr)
        *out = cq_int_is_natural(v.u.i)
                   ? v
                   : cq_val_of_int(cq_int_max(c->ev->cx->symbols, v.u.i,
                                              cq_int_sub(c->ev->cx->symbols, cq_i(0), v.u.i)));
    else if (cq_val_is_symbolic(v))
        return cq_builtin_by_tensors(c, "aten::abs", CQ_VAL_FLOAT, out);
    else if (v.kind == CQ_VAL_INT)
        *out = cq_val_of_i64(v.u.i.value < 0 ? (int64_t)(0 - (uint64_t)v.u.i.value) : v.u.i.value);
    else
        *out = cq_val_of_f64(v.kind == CQ_VAL_COMPLEX ? hypot(v.u.c.re, v.u.c.im) : fabs(real_of(v)));
    return CQ_OK;
}

/* floor, ceil: a float to an int. */
static cq_status to_int(cq_builtin_call *c, const char *op, double (*fn)(double), cq_val *out)
{
    cq_val v = c->args[0];
    double f;

    if (c->n != 1 || !cq_val_is_number(v))
        return cq_builtin_decline(c);
    if (v.kind == CQ_VAL_INT) {
        *out = v;
        return CQ_OK;
    }
    if (cq_val_is_symbolic(v))
        return cq_builtin_by_tensors(c, op, CQ_VAL_INT, out);
    f = fn(real_of(v));
    if (!(fabs(f) < 0x1p63))
        return cq_fail(CQ_E_ARGUMENT, c->name, NULL, "%g is no integer", f);
    *out = cq_val_of_i64((int64_t)f);
    return CQ_OK;
}

static cq_status num_floor(cq_builtin_call *c, cq_val *out)
{
    return to_int(c, "aten::floor", floor, out);
}

static cq_status num_ceil(cq_builtin_call *c, cq_val *out)
{
    return to_int(c, "aten::ceil", ceil, out);
}

static cq_status num_trunc(cq_builtin_call *c, cq_val *out)
{
    return to_int(c, "aten::trunc", trunc, out);
}

static cq_status num_round(cq_builtin_call *c, cq_val *out)
{
    cq_val v = c->args[0];

    if (!cq_val_is_number(v))
        return cq_builtin_decline(c);
    if (cq_val_is_symbolic(v) || (c->n == 2 && cq_val_is_symbolic(c->args[1]))) {
        if (c->n != 1)
            return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL, "what is rounded to digits must be known");
        return cq_builtin_by_tensors(c, "aten::round", CQ_VAL_FLOAT, out);
    }
    if (c->n == 2) {
        double scale = pow(10, real_of(c->args[1]));

        *out = cq_val_of_f64(nearbyint(real_of(v) * scale) / scale);
        return CQ_OK;
    }
    *out = cq_val_of_f64(nearbyint(real_of(v)));
    return CQ_OK;
}

#define FUNCTION(id, op, fn)                                                                         \
    static cq_status num_##id(cq_builtin_call *c, cq_val *out)                                     \
    {                                                                                              \
        if (c->n != 1 || !cq_val_is_number(c->args[0]))                                            \
            return cq_builtin_decline(c);                                                          \
        if (cq_val_is_symbolic(c->args[0]))                                                        \
            return cq_builtin_by_tensors(c, op, CQ_VAL_FLOAT, out);                                \
        *out = cq_val_of_f64(fn(real_of(c->args[0])));                                             \
        return CQ_OK;                                                                              \
    }

static double degrees(double x)
{
    return x * (180 / 3.14159265358979323846);
}

static double radians(double x)
{
    return x * (3.14159265358979323846 / 180);
}

FUNCTION(sqrt, "aten::sqrt", sqrt)
FUNCTION(exp, "aten::exp", exp)
FUNCTION(expm1, "aten::expm1", expm1)
FUNCTION(log, "aten::log", log)
FUNCTION(log2, "aten::log2", log2)
FUNCTION(log10, "aten::log10", log10)
FUNCTION(log1p, "aten::log1p", log1p)
FUNCTION(sin, "aten::sin", sin)
FUNCTION(cos, "aten::cos", cos)
FUNCTION(tan, "aten::tan", tan)
FUNCTION(asin, "aten::asin", asin)
FUNCTION(acos, "aten::acos", acos)
FUNCTION(atan, "aten::atan", atan)
FUNCTION(sinh, "aten::sinh", sinh)
FUNCTION(cosh, "aten::cosh", cosh)
FUNCTION(tanh, "aten::tanh", tanh)
FUNCTION(asinh, "aten::asinh", asinh)
FUNCTION(acosh, "aten::acosh", acosh)
FUNCTION(atanh, "aten::atanh", atanh)
FUNCTION(erf, "aten::erf", erf)
FUNCTION(erfc, "aten::erfc", erfc)
FUNCTION(gamma, "aten::gamma", tgamma)
FUNCTION(lgamma, "aten::lgamma", lgamma)
FUNCTION(fabs, "aten::abs", fabs)
FUNCTION(degrees, "aten::rad2deg", degrees)
FUNCTION(radians, "aten::deg2rad", radians)

#define QUESTION(id, expression)                                                                   \
    static cq_status num_##id(cq_builtin_call *c, cq_val *out)                                     \
    {                                                                                              \
        double f;                                                                                  \
                                                                                                   \
        if (c->n != 1 || !cq_val_is_number(c->args[0]))                                            \
            return cq_builtin_decline(c);                                                          \
        if (cq_val_is_symbolic(c->args[0]))                                                        \
            return cq_builtin_by_tensors(c, "aten::" #id, CQ_VAL_BOOL, out);                       \
        f    = real_of(c->args[0]);                                                                \
        *out = cq_val_of_bool(expression);                                                         \
        return CQ_OK;                                                                              \
    }

QUESTION(isnan, f != f)
QUESTION(isinf, f == INFINITY || f == -INFINITY)
QUESTION(isfinite, f - f == 0)

static cq_status num_gcd(cq_builtin_call *c, cq_val *out)
{
    int64_t a, b;

    if (!two_numbers(c))
        return cq_builtin_decline(c);
    CQ_TRY(want_ints(c));
    if (needs_tensors(c, true))
        return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL,
                       "a common divisor of numbers that only the run tells cannot be exported");
    a = c->args[0].u.i.value;
    b = c->args[1].u.i.value;
    while (b) {
        int64_t r = b == -1 ? 0 : a % b;

        a = b;
        b = r;
    }
    *out = cq_val_of_i64(a < 0 ? (int64_t)(0 - (uint64_t)a) : a);
    return CQ_OK;
}

static cq_status num_divmod(cq_builtin_call *c, cq_val *out)
{
    cq_val pair[2];

    CQ_TRY(num_floordiv(c, &pair[0]));
    if (c->declined)
        return CQ_OK;
    CQ_TRY(num_remainder(c, &pair[1]));
    return cq_eval_list(c->ev, pair, 2, CQ_VAL_TUPLE, out);
}

const cq_builtin cq_builtins_number[] = {
    { "add", num_add, 2 },
    { "sub", num_sub, 2 },
    { "mul", num_mul, 2 },
    { "div", num_div, 2 },
    { "truediv", num_div, 2 },
    { "floordiv", num_floordiv, 2 },
    { "floor_divide", num_floordiv, 2 },
    { "remainder", num_remainder, 2 },
    { "pow", num_pow, 2 },
    { "min", num_min, 2 },
    { "max", num_max, 2 },
    { "fmod", num_fmod, 2 },
    { "atan2", num_atan2, 2 },
    { "copysign", num_copysign, 2 },
    { "lt", num_lt, 2 },
    { "le", num_le, 2 },
    { "gt", num_gt, 2 },
    { "ge", num_ge, 2 },
    { "eq", num_eq, 2 },
    { "ne", num_ne, 2 },
    { "__and__", num_and, 2 },
    { "__or__", num_or, 2 },
    { "__xor__", num_xor, 2 },
    { "__lshift__", num_lshift, 2 },
    { "__rshift__", num_rshift, 2 },
    { "__not__", num_not, 1 },
    { "neg", num_neg, 1 },
    { "abs", num_abs, 1 },
    { "floor", num_floor, 1 },
    { "ceil", num_ceil, 1 },
    { "trunc", num_trunc, 1 },
    { "round", num_round, 1 },
    { "sqrt", num_sqrt, 1 },
    { "exp", num_exp, 1 },
    { "expm1", num_expm1, 1 },
    { "log", num_log, 1 },
    { "log2", num_log2, 1 },
    { "log10", num_log10, 1 },
    { "log1p", num_log1p, 1 },
    { "sin", num_sin, 1 },
    { "cos", num_cos, 1 },
    { "tan", num_tan, 1 },
    { "asin", num_asin, 1 },
    { "acos", num_acos, 1 },
    { "atan", num_atan, 1 },
    { "sinh", num_sinh, 1 },
    { "cosh", num_cosh, 1 },
    { "tanh", num_tanh, 1 },
    { "asinh", num_asinh, 1 },
    { "acosh", num_acosh, 1 },
    { "atanh", num_atanh, 1 },
    { "erf", num_erf, 1 },
    { "erfc", num_erfc, 1 },
    { "gamma", num_gamma, 1 },
    { "lgamma", num_lgamma, 1 },
    { "fabs", num_fabs, 1 },
    { "degrees", num_degrees, 1 },
    { "radians", num_radians, 1 },
    { "isnan", num_isnan, 1 },
    { "isinf", num_isinf, 1 },
    { "isfinite", num_isfinite, 1 },
    { "gcd", num_gcd, 2 },
    { "divmod", num_divmod, 2 },
    { 0 },
};
