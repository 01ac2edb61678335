/* Arithmetic on numbers outside of tensors. Integers may be symbolic sizes; a float or bool that
 * comes from the graph is computed with as a 0-d tensor. Comparisons are in builtin_compare.c,
 * functions of one number in builtin_math.c. */
#include "script/builtin_number.h"

#include <math.h>

/* ---- numbers of the graph ---- */

cq_status cq_builtin_set_known(cq_tensor *t, cq_int i)
{
    if (!t->known)
        t->known = cq_alloc(sizeof i);
    if (!t->known)
        return CQ_E_NO_MEMORY;
    t->known[0] = i;
    return CQ_OK;
}

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
        return cq_fail(CQ_E_TYPE, NULL, NULL, "%s is not a number", cq_eval_type_name(v));
    if (origin) {
        *out = cq_capture_tensor(ev->capture, ev->cx, origin);
        return ev->cx->status;
    }
    *out = CQ_OP(ev->cx, "prim::NumToTensor.Scalar", v);
    if (*out && v.kind == CQ_VAL_INT && !(*out)->storage && !(*out)->known) {
        CQ_TRY(cq_builtin_set_known(*out, v.u.i));
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

/* A number of the graph: it is not known before the run. */
static cq_status open_number(cq_eval *ev, cq_tensor *t, cq_val_kind kind, cq_val *out)
{
    cq_value *value;
    double    example;

    if (t->rank)
        t = CQ_OP(ev->cx, "aten::reshape", TENSOR(t), cq_i64s(ev->cx, NULL, 0));
    if (t && kind == CQ_VAL_BOOL && t->dtype != CQ_DTYPE_BOOL)
        t = CQ_OP(ev->cx, "aten::to.dtype", TENSOR(t), DTYPE(CQ_DTYPE_BOOL));
    value = t ? cq_capture_value(ev->capture, ev->cx, t) : NULL;
    if (!value)
        return ev->cx->status;
    example = example_of(ev, t);
    if (kind == CQ_VAL_INT)
        *out = cq_val_of_int(cq_symbol_fresh(ev->cx->symbols, "i", (int64_t)example, value, -1));
    else if (kind == CQ_VAL_FLOAT)
        *out = (cq_val){ .kind = kind, .u.f = { example, value } };
    else
        *out = (cq_val){ .kind = kind, .u.b = { example != 0, value } };
    return CQ_OK;
}

cq_status cq_builtin_number_of(cq_eval *ev, cq_tensor *t, cq_val_kind kind, cq_val *out)
{
    cq_tensor *data = t;
    cq_value  *value;
    bool       has_data, is_fixed = false;

    if (cq_tensor_numel(t) != 1)
        return cq_fail(CQ_E_TYPE, NULL, NULL,
                       "only a tensor of one element is a number, not one of %lld",
                       (long long)cq_tensor_numel(t));
    if (kind == CQ_VAL_INT && t->known && cq_tensor_is_fake(t)) {
        *out = cq_val_of_int(t->known[0]);
        return CQ_OK;
    }
    has_data = cq_capture_has_data(ev->capture, ev->cx, t);
    if (!has_data && ev->capture) {
        value = cq_capture_value(ev->capture, ev->cx, t);
        if (!value)
            return ev->cx->status;
        is_fixed = cq_capture_is_fixed(value);
    }
    if (!has_data && ev->capture && !ev->tracing && !is_fixed)
        return open_number(ev, t, kind, out);
    if (!has_data) {
        if (!ev->cx->listener)
            return cq_fail(CQ_E_INTERNAL, NULL, NULL, "a fake tensor outside of a capture");
        CQ_TRY(ev->cx->listener->materialize(ev->cx->listener_self, ev->cx, &data, t));
        if (!is_fixed)
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

cq_status cq_builtin_by_tensors(cq_fncall *c, const char *op, cq_val_kind kind)
{
    cq_val     args[2];
    cq_tensor *t;

    if (c->n > 2)
        return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL, "it has more than two arguments");
    for (size_t i = 0; i < c->n; i++) {
        CQ_TRY(cq_eval_as_tensor(c->ev, c->args[i], &t));
        if (kind == CQ_VAL_FLOAT && !cq_dtype_is_float(t->dtype)) /* as exact as Python's floats */
            t = CQ_OP(c->ev->cx, "aten::to.dtype", TENSOR(t), DTYPE(CQ_DTYPE_F64));
        args[i] = cq_val_of_tensor(t);
    }
    CQ_TRY(cq_eval_operator(c->ev, op, args, c->n, &c->result));
    if (c->result.kind != CQ_VAL_TENSOR)
        return CQ_OK;
    return cq_builtin_number_of(c->ev, c->result.u.tensor, kind, &c->result);
}

/* ---- two numbers ---- */

bool cq_builtin_needs_tensors(const cq_fncall *c, bool ints_too)
{
    bool symbolic = cq_val_is_symbolic(c->args[0]) || cq_val_is_symbolic(c->args[1]);

    return symbolic && (ints_too || !cq_builtin_two_ints(c) || c->args[0].kind == CQ_VAL_BOOL ||
                        c->args[1].kind == CQ_VAL_BOOL);
}

cq_status cq_builtin_want_ints(const cq_fncall *c)
{
    if (c->args[0].kind == CQ_VAL_INT && c->args[1].kind == CQ_VAL_INT) /* as in TorchScript */
        return CQ_OK;
    return cq_fail(CQ_E_TYPE, c->name, NULL, "wants two ints but got %s and %s",
                   cq_eval_type_name(c->args[0]), cq_eval_type_name(c->args[1]));
}

static double floor_mod(double a, double b)
{
    double m = fmod(a, b);

    return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}

static cq_status division_by_zero(void)
{
    return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "division by zero");
}

#define ARITHMETIC(id, op, on_ints, on_reals)                                                      \
    static cq_status id(cq_fncall *c)                                                              \
    {                                                                                              \
        cq_symbols *st = c->ev->cx->symbols;                                                       \
                                                                                                   \
        (void)st;                                                                                  \
        if (c->args[0].kind == CQ_VAL_COMPLEX || c->args[1].kind == CQ_VAL_COMPLEX)                \
            return complex_op(c, #id[4]);                                                          \
        if (cq_builtin_needs_tensors(c, false))                                                    \
            return cq_builtin_by_tensors(c, op, CQ_VAL_FLOAT);                                     \
        if (cq_builtin_two_ints(c)) {                                                              \
            cq_int a = cq_val_int(c->args[0]), b = cq_val_int(c->args[1]);                         \
                                                                                                   \
            (void)a;                                                                               \
            (void)b;                                                                               \
            on_ints;                                                                               \
        } else {                                                                                   \
            double a = cq_val_real(c->args[0]), b = cq_val_real(c->args[1]);                       \
                                                                                                   \
            on_reals;                                                                              \
        }                                                                                          \
        return CQ_OK;                                                                              \
    }

static cq_status complex_op(cq_fncall *c, char op)
{
    cq_val a = c->args[0], b = c->args[1];
    double ai = a.kind == CQ_VAL_COMPLEX ? a.u.c.im : 0,
           bi = b.kind == CQ_VAL_COMPLEX ? b.u.c.im : 0;
    double ar = cq_val_real(a), br = cq_val_real(b), d;

    c->result.kind = CQ_VAL_COMPLEX;
    switch (op) {
    case 'a': c->result.u.c.re = ar + br, c->result.u.c.im = ai + bi; return CQ_OK;
    case 's': c->result.u.c.re = ar - br, c->result.u.c.im = ai - bi; return CQ_OK;
    case 'm':
        c->result.u.c.re = ar * br - ai * bi, c->result.u.c.im = ar * bi + ai * br;
        return CQ_OK;
    case 'd':
        d                = br * br + bi * bi;
        c->result.u.c.re = (ar * br + ai * bi) / d;
        c->result.u.c.im = (ai * br - ar * bi) / d;
        return CQ_OK;
    default: return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL, "complex numbers cannot do this");
    }
}

ARITHMETIC(num_add, "aten::add", c->result = cq_val_of_int(cq_int_add(st, a, b)),
           c->result = cq_val_of_f64(a + b))
ARITHMETIC(num_sub, "aten::sub", c->result = cq_val_of_int(cq_int_sub(st, a, b)),
           c->result = cq_val_of_f64(a - b))
ARITHMETIC(num_mul, "aten::mul", c->result = cq_val_of_int(cq_int_mul(st, a, b)),
           c->result = cq_val_of_f64(a * b))
ARITHMETIC(num_floordiv, "aten::floor_divide", if (cq_int_is(b, 0)) return division_by_zero();
           c->result = cq_val_of_int(cq_int_floordiv(st, a, b)),
           c->result = cq_val_of_f64(floor(a / b)))
ARITHMETIC(num_remainder, "aten::remainder", if (cq_int_is(b, 0)) return division_by_zero();
           c->result = cq_val_of_int(cq_int_mod(st, a, b)),
           c->result = cq_val_of_f64(floor_mod(a, b)))
ARITHMETIC(num_min, "aten::minimum", c->result = cq_val_of_int(cq_int_min(st, a, b)),
           c->result = cq_val_of_f64(b < a ? b : a))
ARITHMETIC(num_max, "aten::maximum", c->result = cq_val_of_int(cq_int_max(st, a, b)),
           c->result = cq_val_of_f64(b > a ? b : a))
/* Of two numbers a float, though they be ints: int ** int is one in TorchScript. */
#define REAL(id, fn)                                                                               \
    static cq_status num_##id(cq_fncall *c)                                                        \
    {                                                                                              \
        if (c->args[0].kind == CQ_VAL_COMPLEX || c->args[1].kind == CQ_VAL_COMPLEX)                \
            return complex_op(c, 0);                                                               \
        if (cq_builtin_needs_tensors(c, true))                                                     \
            return cq_builtin_by_tensors(c, "aten::" #id, CQ_VAL_FLOAT);                           \
        c->result = cq_val_of_f64(fn(cq_val_real(c->args[0]), cq_val_real(c->args[1])));           \
        return CQ_OK;                                                                              \
    }

REAL(fmod, fmod)
REAL(atan2, atan2)
REAL(copysign, copysign)
REAL(pow, pow)

/* int / int is a float in TorchScript. A size that divides exactly stays a size only as //. */
static cq_status num_div(cq_fncall *c)
{
    if (c->args[0].kind == CQ_VAL_COMPLEX || c->args[1].kind == CQ_VAL_COMPLEX)
        return complex_op(c, 'd');
    if (cq_builtin_needs_tensors(c, true))
        return cq_builtin_by_tensors(c, "aten::div", CQ_VAL_FLOAT);
    if (cq_val_real(c->args[1]) == 0)
        return division_by_zero();
    c->result = cq_val_of_f64(cq_val_real(c->args[0]) / cq_val_real(c->args[1]));
    return CQ_OK;
}

static cq_status num_divmod(cq_fncall *c)
{
    cq_val pair[2];

    CQ_TRY(num_floordiv(c));
    pair[0] = c->result;
    CQ_TRY(num_remainder(c));
    pair[1] = c->result;
    return cq_eval_list(c->ev, pair, 2, CQ_VAL_TUPLE, &c->result);
}

/* ---- bits and bools ---- */

static const char *bit_operator(char op, bool bools)
{
    switch (op) {
    case '&': return bools ? "aten::logical_and" : "aten::bitwise_and";
    case '|': return bools ? "aten::logical_or" : "aten::bitwise_or";
    default: return bools ? "aten::logical_xor" : "aten::bitwise_xor";
    }
}

static cq_status bits(cq_fncall *c)
{
    const char op    = (char)c->row->how;
    const bool bools = c->args[0].kind == CQ_VAL_BOOL && c->args[1].kind == CQ_VAL_BOOL;
    int64_t    a, b, r;

    if (!bools) {
        CQ_TRY(cq_builtin_want_ints(c));
        if (cq_builtin_needs_tensors(c, true))
            return cq_builtin_by_tensors(c, bit_operator(op, false), CQ_VAL_INT);
        a         = c->args[0].u.i.value;
        b         = c->args[1].u.i.value;
        c->result = cq_val_of_i64(op == '&' ? a & b : op == '|' ? a | b : a ^ b);
        return CQ_OK;
    }
    if (cq_val_is_symbolic(c->args[0]) || cq_val_is_symbolic(c->args[1])) {
        /* A known operand may decide, or drop out. */
        for (size_t i = 0; i < 2; i++)
            if (!cq_val_is_symbolic(c->args[i]) && op != '^') {
                bool decides = op == '&' ? !c->args[i].u.b.value : c->args[i].u.b.value;

                c->result = decides ? c->args[i] : c->args[1 - i];
                return CQ_OK;
            }
        return cq_builtin_by_tensors(c, bit_operator(op, true), CQ_VAL_BOOL);
    }
    a         = c->args[0].u.b.value;
    b         = c->args[1].u.b.value;
    r         = op == '&' ? a & b : op == '|' ? a | b : a ^ b;
    c->result = cq_val_of_bool(r);
    return CQ_OK;
}

/* a << b is a * 2**b, a >> b is a // 2**b: so they are of sizes, too. */
static cq_status shift(cq_fncall *c)
{
    const bool  left = c->row->how == '<';
    cq_symbols *st   = c->ev->cx->symbols;
    cq_int      a, b;

    CQ_TRY(cq_builtin_want_ints(c));
    a = c->args[0].u.i;
    b = c->args[1].u.i;
    if (b.expr || (a.expr && (b.value < 0 || b.value > 62)))
        return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL,
                       "by how much is shifted must be known, and less than 63");
    if (!a.expr)
        c->result = cq_val_of_i64(left ? (int64_t)((uint64_t)a.value << (b.value & 63))
                                       : a.value >> (b.value & 63));
    else
        c->result = cq_val_of_int(left ? cq_int_mul(st, a, cq_i((int64_t)1 << b.value))
                                       : cq_int_floordiv(st, a, cq_i((int64_t)1 << b.value)));
    return CQ_OK;
}

static cq_status num_not(cq_fncall *c)
{
    bool      known, truth;
    cq_value *symbol;

    CQ_TRY(cq_eval_truth(c->ev, c->args[0], &known, &truth, &symbol));
    if (known) {
        c->result = cq_val_of_bool(!truth);
        return CQ_OK;
    }
    {
        cq_tensor *t = cq_capture_tensor(c->ev->capture, c->ev->cx, symbol);
        cq_tensor *n = CQ_OP(c->ev->cx, "aten::logical_not", TENSOR(t));

        return n ? cq_builtin_number_of(c->ev, n, CQ_VAL_BOOL, &c->result) : c->ev->cx->status;
    }
}

const cq_builtin cq_builtins_number[] = {
    { "add(num a, num b)", .fn = num_add },
    { "sub(num a, num b)", .fn = num_sub },
    { "mul(num a, num b)", .fn = num_mul },
    { "div(num a, num b)", .fn = num_div },
    { "truediv(num a, num b)", .fn = num_div },
    { "floordiv(num a, num b)", .fn = num_floordiv },
    { "floor_divide(num a, num b)", .fn = num_floordiv },
    { "remainder(num a, num b)", .fn = num_remainder },
    { "pow(num a, num b)", .fn = num_pow },
    { "min(num a, num b)", .fn = num_min },
    { "max(num a, num b)", .fn = num_max },
    { "fmod(num a, num b)", .fn = num_fmod },
    { "atan2(num a, num b)", .fn = num_atan2 },
    { "copysign(num a, num b)", .fn = num_copysign },
    { "__and__(num a, num b)", .fn = bits, .how = '&' },
    { "__or__(num a, num b)", .fn = bits, .how = '|' },
    { "__xor__(num a, num b)", .fn = bits, .how = '^' },
    { "__lshift__(num a, num b)", .fn = shift, .how = '<' },
    { "__rshift__(num a, num b)", .fn = shift, .how = '>' },
    { "__not__(self)", .fn = num_not },
    { "divmod(num a, num b)", .fn = num_divmod },
    { 0 },
};
