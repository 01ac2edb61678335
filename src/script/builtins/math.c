/* Functions of one number: abs, floor, and those of Python's math. */
#include "script/builtins/number.h"

#include <math.h>

static cq_status num_neg(cq_fncall *c)
{
    cq_val v = c->args[0];

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

static cq_status num_round(cq_fncall *c)
{
    cq_val v = c->args[0];

    if (cq_val_is_symbolic(v) || (c->n == 2 && cq_val_is_symbolic(c->args[1]))) {
        if (c->n != 1)
            return cq_fail(
                CQ_E_UNSUPPORTED, c->name, NULL,
                "round() with a number of digits needs a number that is not data-dependent");
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

static double degrees(double x)
{
    return x * (180 / 3.14159265358979323846);
}

static double radians(double x)
{
    return x * (3.14159265358979323846 / 180);
}

static double is_nan(double x)
{
    return x != x;
}

static double is_inf(double x)
{
    return x == INFINITY || x == -INFINITY;
}

static double is_finite(double x)
{
    return x - x == 0;
}

/* A function of one number; row.how is the kind of its result. */
static cq_status real_function(cq_fncall *c)
{
    const cq_val_kind kind = (cq_val_kind)c->row->how;
    cq_val            v    = c->args[0];
    double            f;

    if (kind == CQ_VAL_INT && v.kind == CQ_VAL_INT) {
        c->result = v;
        return CQ_OK;
    }
    if (cq_val_is_symbolic(v))
        return cq_builtin_by_tensors(c, c->row->op, kind);
    f = c->row->real(cq_val_real(v));
    if (kind == CQ_VAL_INT && !(fabs(f) < 0x1p63))
        return cq_fail(CQ_E_ARGUMENT, c->name, NULL, "%g does not fit in a 64-bit integer", f);
    c->result = kind == CQ_VAL_INT     ? cq_val_of_i64((int64_t)f)
                : kind == CQ_VAL_FLOAT ? cq_val_of_f64(f)
                                       : cq_val_of_bool(f != 0);
    return CQ_OK;
}

static cq_status num_gcd(cq_fncall *c)
{
    int64_t a, b;

    CQ_TRY(cq_builtin_want_ints(c));
    if (cq_builtin_needs_tensors(c, true))
        return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL,
                       "a common divisor of data-dependent numbers cannot be exported");
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

#define FLOAT_FUNCTION(name, function)                                                             \
    {                                                                                              \
        name "(num x)", .fn = real_function, .how = CQ_VAL_FLOAT, .op = "aten::" name,             \
                        .real = function                                                           \
    }

const cq_builtin cq_builtins_math[] = {
    { "neg(num x)", .fn = num_neg },
    { "abs(num x)", .fn = num_abs },
    { "floor(num x)", .fn = real_function, .how = CQ_VAL_INT, .op = "aten::floor", .real = floor },
    { "ceil(num x)", .fn = real_function, .how = CQ_VAL_INT, .op = "aten::ceil", .real = ceil },
    { "trunc(num x)", .fn = real_function, .how = CQ_VAL_INT, .op = "aten::trunc", .real = trunc },
    { "round(num x, digits?)", .fn = num_round },
    FLOAT_FUNCTION("sqrt", sqrt),
    FLOAT_FUNCTION("exp", exp),
    FLOAT_FUNCTION("expm1", expm1),
    FLOAT_FUNCTION("log", log),
    FLOAT_FUNCTION("log2", log2),
    FLOAT_FUNCTION("log10", log10),
    FLOAT_FUNCTION("log1p", log1p),
    FLOAT_FUNCTION("sin", sin),
    FLOAT_FUNCTION("cos", cos),
    FLOAT_FUNCTION("tan", tan),
    FLOAT_FUNCTION("asin", asin),
    FLOAT_FUNCTION("acos", acos),
    FLOAT_FUNCTION("atan", atan),
    FLOAT_FUNCTION("sinh", sinh),
    FLOAT_FUNCTION("cosh", cosh),
    FLOAT_FUNCTION("tanh", tanh),
    FLOAT_FUNCTION("asinh", asinh),
    FLOAT_FUNCTION("acosh", acosh),
    FLOAT_FUNCTION("atanh", atanh),
    FLOAT_FUNCTION("erf", erf),
    FLOAT_FUNCTION("erfc", erfc),
    FLOAT_FUNCTION("gamma", tgamma),
    FLOAT_FUNCTION("lgamma", lgamma),
    { "fabs(num x)", .fn = real_function, .how = CQ_VAL_FLOAT, .op = "aten::abs", .real = fabs },
    { "degrees(num x)", .fn = real_function, .how = CQ_VAL_FLOAT, .op = "aten::rad2deg",
      .real = degrees },
    { "radians(num x)", .fn = real_function, .how = CQ_VAL_FLOAT, .op = "aten::deg2rad",
      .real = radians },
    { "isnan(num x)", .fn = real_function, .how = CQ_VAL_BOOL, .op = "aten::isnan",
      .real = is_nan },
    { "isinf(num x)", .fn = real_function, .how = CQ_VAL_BOOL, .op = "aten::isinf",
      .real = is_inf },
    { "isfinite(num x)", .fn = real_function, .how = CQ_VAL_BOOL, .op = "aten::isfinite",
      .real = is_finite },
    { "gcd(num a, num b)", .fn = num_gcd },
    { 0 },
};
