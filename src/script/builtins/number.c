/* Arithmetic on numbers outside of tensors. Integers may be symbolic sizes; a float or bool that
 * comes from the graph is computed with as a 0-d tensor. Comparisons are in compare.c, functions of
 * one number in math.c. */
#include "script/builtins/number.h"
#include "lang/number.h"
#include "script/python/python.h"

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
    cq_value *origin = v.kind == CQ_VAL_FLOAT  ? v.u.f.origin
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

/* The value of a graph number on the example, so that sizes computed from it are plausible; 1 if
 * the value is unknown, as inside a branch. */
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

/* A data-dependent number that t holds. */
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
        return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL, "expected at most two arguments");
    for (size_t i = 0; i < c->n; i++) {
        CQ_TRY(cq_eval_as_tensor(c->ev, c->args[i], &t));
        if (kind == CQ_VAL_FLOAT && !cq_dtype_is_float(t->dtype)) /* float64, the precision of
                                                                   * Python's floats */
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
    return cq_fail(CQ_E_TYPE, c->name, NULL, "expected two ints, got %s and %s",
                   cq_eval_type_name(c->args[0]), cq_eval_type_name(c->args[1]));
}

static double real_add(double a, double b)
{
    return a + b;
}

static double real_sub(double a, double b)
{
    return a - b;
}

static double real_mul(double a, double b)
{
    return a * b;
}

static double real_div(double a, double b)
{
    return a / b;
}

/* TorchScript divides and rounds down; for Python, see cq_number_floor_divide. */
static double real_floordiv(double a, double b)
{
    return floor(a / b);
}

static double real_min(double a, double b)
{
    return b < a ? b : a;
}

static double real_max(double a, double b)
{
    return b > a ? b : a;
}

static cq_status complex_op(cq_fncall *c)
{
    cq_val a = c->args[0], b = c->args[1];
    double ai = a.kind == CQ_VAL_COMPLEX ? a.u.c.im : 0,
           bi = b.kind == CQ_VAL_COMPLEX ? b.u.c.im : 0;
    double ar = cq_val_real(a), br = cq_val_real(b), d = br * br + bi * bi;

    c->result.kind = CQ_VAL_COMPLEX;
    switch (c->row->how) {
    case '+': c->result.u.c.re = ar + br, c->result.u.c.im = ai + bi; return CQ_OK;
    case '-': c->result.u.c.re = ar - br, c->result.u.c.im = ai - bi; return CQ_OK;
    case '*':
        c->result.u.c.re = ar * br - ai * bi, c->result.u.c.im = ar * bi + ai * br;
        return CQ_OK;
    case '/':
        c->result.u.c.re = (ar * br + ai * bi) / d;
        c->result.u.c.im = (ai * br - ar * bi) / d;
        return CQ_OK;
    default: return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL, "not implemented for complex numbers");
    }
}

static bool overflows(int op, cq_int a, cq_int b)
{
    const cq_ast_op known = op == '+'   ? CQ_AST_ADD
                            : op == '-' ? CQ_AST_SUB
                            : op == '*' ? CQ_AST_MUL
                            : op == '%' ? CQ_AST_MOD
                                        : CQ_AST_POW;

    return !a.expr && !b.expr && !cq_number_fits(known, a.value, b.value);
}

static cq_status too_large(const cq_fncall *c)
{
    return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL, CQ_NUMBER_TOO_LARGE);
}

/* Arithmetic of two numbers. If the row has no function of ints the result is a float, even for two
 * ints: int / int and int ** int are floats in TorchScript. A size stays a size only with //. */
static cq_status arithmetic(cq_fncall *c)
{
    const cq_builtin *row     = c->row;
    const bool        of_ints = row->ints && cq_builtin_two_ints(c);
    double (*const reals)(double a, double b) =
        row->reals == real_floordiv && c->ev->program->python ? cq_number_floor_divide : row->reals;

    if (c->args[0].kind == CQ_VAL_COMPLEX || c->args[1].kind == CQ_VAL_COMPLEX)
        return complex_op(c);
    if (cq_builtin_needs_tensors(c, !row->ints))
        return cq_builtin_by_tensors(c, row->op, CQ_VAL_FLOAT);
    if (of_ints ? row->how == '%' && cq_int_is(cq_val_int(c->args[1]), 0)
                : (row->how == '/' || (row->how == '%' && c->ev->program->python)) &&
                      cq_val_real(c->args[1]) == 0) {
        c->ev->raised_class = "ZeroDivisionError";
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "division by zero");
    }
    if (of_ints && c->ev->program->python &&
        overflows(row->how, cq_val_int(c->args[0]), cq_val_int(c->args[1])))
        return too_large(c);
    c->result = of_ints ? cq_val_of_int(row->ints(c->ev->cx->symbols, cq_val_int(c->args[0]),
                                                  cq_val_int(c->args[1])))
                        : cq_val_of_f64(reals(cq_val_real(c->args[0]), cq_val_real(c->args[1])));
    return CQ_OK;
}

static cq_status num_divmod(cq_fncall *c)
{
    cq_val pair[2];

    CQ_TRY(cq_eval_call_name(c->ev, "aten::floordiv", c->args, 2, &pair[0]));
    CQ_TRY(cq_eval_call_name(c->ev, "aten::remainder", c->args, 2, &pair[1]));
    return cq_eval_list(c->ev, pair, 2, CQ_VAL_TUPLE, &c->result);
}

/* ---- bits and bools ---- */

static int64_t bits_of(char op, int64_t a, int64_t b)
{
    return op == '&' ? a & b : op == '|' ? a | b : a ^ b;
}

/* `and` and `or` of bools, one of which is data-dependent: a known operand either decides the
 * result, or the result is the other operand. */
static cq_status open_bools(cq_fncall *c, char op)
{
    for (size_t i = 0; i < 2; i++)
        if (!cq_val_is_symbolic(c->args[i]) && op != '^') {
            const bool decides = c->args[i].u.b.value == (op == '|');

            c->result = decides ? c->args[i] : c->args[1 - i];
            return CQ_OK;
        }
    return cq_builtin_by_tensors(c,
                                 op == '&'   ? "aten::logical_and"
                                 : op == '|' ? "aten::logical_or"
                                             : "aten::logical_xor",
                                 CQ_VAL_BOOL);
}

static cq_status bits(cq_fncall *c)
{
    const cq_val a = c->args[0], b = c->args[1];
    const char   op   = (char)c->row->how;
    const bool   open = cq_builtin_needs_tensors(c, true);

    if (a.kind == CQ_VAL_BOOL && b.kind == CQ_VAL_BOOL) {
        c->result = cq_val_of_bool(bits_of(op, a.u.b.value, b.u.b.value));
        return open ? open_bools(c, op) : CQ_OK;
    }
    CQ_TRY(cq_builtin_want_ints(c));
    c->result = cq_val_of_i64(bits_of(op, a.u.i.value, b.u.i.value));
    return open ? cq_builtin_by_tensors(c, c->row->op, CQ_VAL_INT) : CQ_OK;
}

/* a << b is a * 2**b and a >> b is a // 2**b, so shifts also work on sizes. */
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
                       "expected a known shift count of less than 63");
    if (!a.expr && c->ev->program->python) {
        if (b.value < 0)
            return cq_python_raise(c->ev, "ValueError", "negative shift count");
        if (left && a.value &&
            (b.value > 62 || a.value > INT64_MAX >> b.value || a.value < INT64_MIN >> b.value))
            return too_large(c);
        b.value = b.value > 63 ? 63 : b.value;
    }
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
    cq_tensor *t;

    CQ_TRY(cq_eval_truth(c->ev, c->args[0], &c->result));
    c->result.u.b.value = !c->result.u.b.value;
    if (!c->result.u.b.origin)
        return CQ_OK;
    CQ_TRY(cq_eval_as_tensor(c->ev, c->result, &t));
    t = CQ_OP(c->ev->cx, "aten::logical_not", TENSOR(t));
    return t ? cq_builtin_number_of(c->ev, t, CQ_VAL_BOOL, &c->result) : c->ev->cx->status;
}

#define OF_INTS(name, sign, operator, int_function, real_function)                                 \
    {                                                                                              \
        name "(num a, num b)", .fn = arithmetic, .how = sign, .op = operator,                      \
                               .ints = int_function, .reals = real_function                        \
    }
#define OF_REALS(name, sign, operator, function) OF_INTS(name, sign, operator, NULL, function)

const cq_builtin cq_builtins_number[] = {
    OF_INTS("add", '+', "aten::add", cq_int_add, real_add),
    OF_INTS("sub", '-', "aten::sub", cq_int_sub, real_sub),
    OF_INTS("mul", '*', "aten::mul", cq_int_mul, real_mul),
    OF_INTS("floordiv", '%', "aten::floor_divide", cq_int_floordiv, real_floordiv),
    OF_INTS("floor_divide", '%', "aten::floor_divide", cq_int_floordiv, real_floordiv),
    OF_INTS("remainder", '%', "aten::remainder", cq_int_mod, cq_number_modulo),
    OF_INTS("min", 0, "aten::minimum", cq_int_min, real_min),
    OF_INTS("max", 0, "aten::maximum", cq_int_max, real_max),
    OF_REALS("div", '/', "aten::div", real_div),
    OF_REALS("truediv", '/', "aten::div", real_div),
    OF_REALS("pow", 0, "aten::pow", pow),
    OF_REALS("fmod", 0, "aten::fmod", fmod),
    OF_REALS("atan2", 0, "aten::atan2", atan2),
    OF_REALS("copysign", 0, "aten::copysign", copysign),
    { "__and__(num a, num b)", .fn = bits, .how = '&', .op = "aten::bitwise_and" },
    { "__or__(num a, num b)", .fn = bits, .how = '|', .op = "aten::bitwise_or" },
    { "__xor__(num a, num b)", .fn = bits, .how = '^', .op = "aten::bitwise_xor" },
    { "__lshift__(num a, num b)", .fn = shift, .how = '<' },
    { "__rshift__(num a, num b)", .fn = shift, .how = '>' },
    { "__not__(self)", .fn = num_not },
    { "divmod(num a, num b)", .fn = num_divmod },
    { 0 },
};
