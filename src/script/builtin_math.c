/* Functions of one number: abs, floor, and those of Python's math. */
#include "script/builtin_number.h"

#include <math.h>

static cq_status num_neg(cq_fncall *c)
{
    cq_val v = c->args[0];

    if (c->n != 1 || !cq_val_is_number(v))
        return cq_fncall_decline(c);
    if (v.kind == CQ_VAL_FLOAT && v.u.f.origin)
        return cq_builtin_by_tensors(c, "aten::neg", CQ_VAL_FLOAT);
    if (v.kind == CQ_VAL_INT)
        c->result = cq_val_of_int(cq_int_mul(c->ev->cx->symbols, v.u.i, cq_i(-1)));
    else if (v.kind == CQ_VAL_COMPLEX)
        c->result = (cq_val){ .kind = CQ_VAL_COMPLEX, .u.c = { -v.u.c.re, -v.u.c.im } };
    else
        c->result = cq_val_of_f64(-cq_val_real(v));
    return CQ_OK;
}

static cq_status num_abs(cq_fncall *c)
{
    cq_val v = c->args[0];

    if (c->n != 1 || !cq_val_is_number(v))
        return cq_fncall_decline(c);
    if (v.kind == CQ_VAL_INT && v.u.i.expr)
        c->result = cq_int_is_natural(v.u.i)
                        ? v
                        : cq_val_of_int(cq_int_max(c->ev->cx->symbols, v.u.i,
                                                   cq_int_sub(c->ev->cx->symbols, cq_i(0), v.u.i)));
    else if (cq_val_is_symbolic(v))
        return cq_builtin_by_tensors(c, "aten::abs", CQ_VAL_FLOAT);
    else if (v.kind == CQ_VAL_INT)
        c->result =
            cq_val_of_i64(v.u.i.value < 0 ? (int64_t)(0 - (uint64_t)v.u.i.value) : v.u.i.value);
    else
        c->result = cq_val_of_f64(v.kind == CQ_VAL_COMPLEX ? hypot(v.u.c.re, v.u.c.im)
                                                           : fabs(cq_val_real(v)));
    return CQ_OK;
}

/* floor, ceil: a float to an int. */
static cq_status to_int(cq_fncall *c, const char *op, double (*fn)(double))
{
    cq_val v = c->args[0];
    double f;

    if (c->n != 1 || !cq_val_is_number(v))
        return cq_fncall_decline(c);
    if (v.kind == CQ_VAL_INT) {
        c->result = v;
        return CQ_OK;
    }
    if (cq_val_is_symbolic(v))
        return cq_builtin_by_tensors(c, op, CQ_VAL_INT);
    f = fn(cq_val_real(v));
    if (!(fabs(f) < 0x1p63))
        return cq_fail(CQ_E_ARGUMENT, c->name, NULL, "%g is no integer", f);
    c->result = cq_val_of_i64((int64_t)f);
    return CQ_OK;
}

static cq_status num_floor(cq_fncall *c)
{
    return to_int(c, "aten::floor", floor);
}

static cq_status num_ceil(cq_fncall *c)
{
    return to_int(c, "aten::ceil", ceil);
}

static cq_status num_trunc(cq_fncall *c)
{
    return to_int(c, "aten::trunc", trunc);
}

static cq_status num_round(cq_fncall *c)
{
    cq_val v = c->args[0];

    if (!cq_val_is_number(v))
        return cq_fncall_decline(c);
    if (cq_val_is_symbolic(v) || (c->n == 2 && cq_val_is_symbolic(c->args[1]))) {
        if (c->n != 1)
            return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL,
                           "what is rounded to digits must be known");
        return cq_builtin_by_tensors(c, "aten::round", CQ_VAL_FLOAT);
    }
    if (c->n == 2) {
        double scale = pow(10, cq_val_real(c->args[1]));

        c->result = cq_val_of_f64(nearbyint(cq_val_real(v) * scale) / scale);
        return CQ_OK;
    }
    c->result = cq_val_of_f64(nearbyint(cq_val_real(v)));
    return CQ_OK;
}

#define FUNCTION(id, op, fn)                                                                       \
    static cq_status num_##id(cq_fncall *c)                                                        \
    {                                                                                              \
        if (c->n != 1 || !cq_val_is_number(c->args[0]))                                            \
            return cq_fncall_decline(c);                                                           \
        if (cq_val_is_symbolic(c->args[0]))                                                        \
            return cq_builtin_by_tensors(c, op, CQ_VAL_FLOAT);                                     \
        c->result = cq_val_of_f64(fn(cq_val_real(c->args[0])));                                    \
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
    static cq_status num_##id(cq_fncall *c)                                                        \
    {                                                                                              \
        double f;                                                                                  \
                                                                                                   \
        if (c->n != 1 || !cq_val_is_number(c->args[0]))                                            \
            return cq_fncall_decline(c);                                                           \
        if (cq_val_is_symbolic(c->args[0]))                                                        \
            return cq_builtin_by_tensors(c, "aten::" #id, CQ_VAL_BOOL);                            \
        f         = cq_val_real(c->args[0]);                                                       \
        c->result = cq_val_of_bool(expression);                                                    \
        return CQ_OK;                                                                              \
    }

QUESTION(isnan, f != f)
QUESTION(isinf, f == INFINITY || f == -INFINITY)
QUESTION(isfinite, f - f == 0)

static cq_status num_gcd(cq_fncall *c)
{
    int64_t a, b;

    if (!cq_builtin_two_numbers(c))
        return cq_fncall_decline(c);
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
    c->result = cq_val_of_i64(a < 0 ? (int64_t)(0 - (uint64_t)a) : a);
    return CQ_OK;
}

const cq_builtin cq_builtins_math[] = {
    { "neg(self)", num_neg },
    { "abs(self)", num_abs },
    { "floor(self)", num_floor },
    { "ceil(self)", num_ceil },
    { "trunc(self)", num_trunc },
    { "round(x, digits?)", num_round },
    { "sqrt(self)", num_sqrt },
    { "exp(self)", num_exp },
    { "expm1(self)", num_expm1 },
    { "log(self)", num_log },
    { "log2(self)", num_log2 },
    { "log10(self)", num_log10 },
    { "log1p(self)", num_log1p },
    { "sin(self)", num_sin },
    { "cos(self)", num_cos },
    { "tan(self)", num_tan },
    { "asin(self)", num_asin },
    { "acos(self)", num_acos },
    { "atan(self)", num_atan },
    { "sinh(self)", num_sinh },
    { "cosh(self)", num_cosh },
    { "tanh(self)", num_tanh },
    { "asinh(self)", num_asinh },
    { "acosh(self)", num_acosh },
    { "atanh(self)", num_atanh },
    { "erf(self)", num_erf },
    { "erfc(self)", num_erfc },
    { "gamma(self)", num_gamma },
    { "lgamma(self)", num_lgamma },
    { "fabs(self)", num_fabs },
    { "degrees(self)", num_degrees },
    { "radians(self)", num_radians },
    { "isnan(self)", num_isnan },
    { "isinf(self)", num_isinf },
    { "isfinite(self)", num_isfinite },
    { "gcd(a, b)", num_gcd },
    { 0 },
};
