/* Functions of one number: abs, floor, and those of Python's math. */
#include "script/builtin_number.h"

#include <math.h>

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
        *out = cq_val_of_f64(-cq_val_real(v));
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
        *out = cq_val_of_f64(v.kind == CQ_VAL_COMPLEX ? hypot(v.u.c.re, v.u.c.im)
                                                      : fabs(cq_val_real(v)));
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
    f = fn(cq_val_real(v));
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
            return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL,
                           "what is rounded to digits must be known");
        return cq_builtin_by_tensors(c, "aten::round", CQ_VAL_FLOAT, out);
    }
    if (c->n == 2) {
        double scale = pow(10, cq_val_real(c->args[1]));

        *out = cq_val_of_f64(nearbyint(cq_val_real(v) * scale) / scale);
        return CQ_OK;
    }
    *out = cq_val_of_f64(nearbyint(cq_val_real(v)));
    return CQ_OK;
}

#define FUNCTION(id, op, fn)                                                                       \
    static cq_status num_##id(cq_builtin_call *c, cq_val *out)                                     \
    {                                                                                              \
        if (c->n != 1 || !cq_val_is_number(c->args[0]))                                            \
            return cq_builtin_decline(c);                                                          \
        if (cq_val_is_symbolic(c->args[0]))                                                        \
            return cq_builtin_by_tensors(c, op, CQ_VAL_FLOAT, out);                                \
        *out = cq_val_of_f64(fn(cq_val_real(c->args[0])));                                         \
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
        f    = cq_val_real(c->args[0]);                                                            \
        *out = cq_val_of_bool(expression);                                                         \
        return CQ_OK;                                                                              \
    }

QUESTION(isnan, f != f)
QUESTION(isinf, f == INFINITY || f == -INFINITY)
QUESTION(isfinite, f - f == 0)

static cq_status num_gcd(cq_builtin_call *c, cq_val *out)
{
    int64_t a, b;

    if (!cq_builtin_two_numbers(c))
        return cq_builtin_decline(c);
    CQ_TRY(cq_builtin_want_ints(c));
    if (cq_builtin_needs_tensors(c, true))
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

const cq_builtin cq_builtins_math[] = {
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
    { 0 },
};
