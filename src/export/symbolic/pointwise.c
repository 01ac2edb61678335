/* Arithmetic of two and three operands. How dtypes are met is in arith.h. */
#include "export/arith.h"
#include "export/exporter.h"

#include <math.h>

static cq_status done(cq_sym *s, cq_value *x)
{
    return cq_sym_done(s, x);
}

/* other * alpha, where alpha is 1 most of the time. */
static cq_value *scaled(cq_sym *s, const char *arg, const char *factor)
{
    cq_value *x = cq_sym_operand(s, arg);
    double    a;

    if (cq_sym_is_tensor(s, factor) || cq_sym_int(s, factor).expr) /* a number of the graph */
        return CQ_2("Mul", x, cq_sym_in_as(s, factor, cq_sym_dtype(s, x)));
    a = cq_sym_f64(s, factor);
    if (a == 1)
        return x;
    if (!cq_sym_is_tensor(s, arg))
        return cq_sym_num(s, x, cq_sym_f64(s, arg) * a);
    return CQ_2("Mul", x, cq_sym_num(s, x, a));
}

static cq_status add(cq_sym *s)
{
    return done(s, CQ_2("Add", cq_sym_operand(s, "self"), scaled(s, "other", "alpha")));
}

static cq_status sub(cq_sym *s)
{
    return done(s, CQ_2("Sub", cq_sym_operand(s, "self"), scaled(s, "other", "alpha")));
}

static cq_status rsub(cq_sym *s)
{
    return done(s, CQ_2("Sub", cq_sym_operand(s, "other"), scaled(s, "self", "alpha")));
}

static cq_status floor_divide(cq_sym *s)
{
    return done(s, cq_sym_floor_divide(s, cq_sym_operand(s, "self"), cq_sym_operand(s, "other")));
}

static cq_status div_mode(cq_sym *s)
{
    cq_value   *x = cq_sym_operand(s, "self"), *y = cq_sym_operand(s, "other");
    const char *mode = cq_sym_str(s, "rounding_mode", "");

    if (mode[0] == 'f')
        return done(s, cq_sym_floor_divide(s, x, y));
    x = CQ_2("Div", x, y);
    return done(s, mode[0] == 't' ? cq_sym_trunc(s, x) : x);
}

static cq_status remainder_of(cq_sym *s)
{
    return done(s, cq_sym_remainder(s, cq_sym_operand(s, "self"), cq_sym_operand(s, "other")));
}

static cq_status fmod_of(cq_sym *s)
{
    return done(s, cq_sym_fmod(s, cq_sym_operand(s, "self"), cq_sym_operand(s, "other")));
}

/* Among integers, 0 to a negative power is 0 in PyTorch. ONNX Runtime goes by way of an infinity,
 * so it is shown a 1, and what comes of that is taken off again. */
static cq_status pow_of(cq_sym *s)
{
    cq_value *x = cq_sym_operand(s, "self"), *y = cq_sym_operand(s, "exponent"), *bad;
    cq_dtype  dtype = cq_sym_dtype(s, x);

    if (!cq_dtype_is_integer(dtype) || !cq_dtype_is_signed(dtype) || !cq_sym_is_tensor(s, "self"))
        return done(s, CQ_2("Pow", x, y));
    bad = cq_sym_op(
        s, "And",
        CQ_IN(cq_sym_equal(s, x, cq_sym_num(s, x, 0)), CQ_2("Less", y, cq_sym_num(s, y, 0))),
        CQ_NO_ATTR);
    cq_sym_set_dtype(s, bad, CQ_DTYPE_BOOL);
    bad = cq_sym_cast(s, bad, dtype);
    return done(s, CQ_2("Sub", CQ_2("Pow", CQ_2("Add", x, bad), y), bad));
}

/* As in the operator itself, roots and reciprocals are what they are for -inf too. */
static cq_status pow_scalar(cq_sym *s)
{
    cq_value *x    = cq_sym_operand(s, "self");
    bool      real = cq_dtype_is_float(cq_sym_dtype(s, x));
    double    exponent;

    if (!cq_sym_is_known(s, "exponent"))
        return pow_of(s);
    exponent = cq_sym_f64(s, "exponent");
    if (real && fabs(exponent) == 0.5)
        x = CQ_1("Sqrt", x);
    if (real && (exponent == -0.5 || exponent == -1))
        return done(s, CQ_1("Reciprocal", x));
    if (real && exponent == 0.5)
        return done(s, x);
    return done(s, CQ_2("Pow", x, cq_sym_num(s, x, exponent)));
}

/* ---- extremes and bounds ---- */

static cq_status maximum(cq_sym *s)
{
    return done(s, cq_sym_larger(s, cq_sym_operand(s, "self"), cq_sym_operand(s, "other"), false));
}

static cq_status minimum(cq_sym *s)
{
    return done(s, cq_sym_larger(s, cq_sym_operand(s, "self"), cq_sym_operand(s, "other"), true));
}

/* NaN loses. */
static cq_value *number_if_any(cq_sym *s, bool smaller)
{
    cq_value *x = cq_sym_operand(s, "self"), *y = cq_sym_operand(s, "other");
    cq_value *extreme = cq_sym_larger(s, x, y, smaller);

    if (!cq_dtype_is_float(cq_sym_dtype(s, x)))
        return extreme;
    extreme = cq_sym_where(s, cq_sym_is_nan(s, y), x, extreme);
    return cq_sym_where(s, cq_sym_is_nan(s, x), y, extreme);
}

static cq_status fmax_of(cq_sym *s)
{
    return done(s, number_if_any(s, false));
}

static cq_status fmin_of(cq_sym *s)
{
    return done(s, number_if_any(s, true));
}

static cq_status clamp(cq_sym *s)
{
    cq_value *low  = cq_sym_is_none(s, "min") ? NULL : cq_sym_operand(s, "min");
    cq_value *high = cq_sym_is_none(s, "max") ? NULL : cq_sym_operand(s, "max");

    return done(s, cq_sym_bounded(s, cq_sym_operand(s, "self"), low, high));
}

static cq_status clamp_tensor(cq_sym *s)
{
    cq_value *x = cq_sym_operand(s, "self");

    if (!cq_sym_is_none(s, "min"))
        x = cq_sym_larger(s, x, cq_sym_operand(s, "min"), false);
    if (!cq_sym_is_none(s, "max"))
        x = cq_sym_larger(s, x, cq_sym_operand(s, "max"), true);
    return done(s, x);
}

/* ---- three operands ---- */

static cq_status addc(cq_sym *s, const char *op)
{
    cq_value *x = CQ_2(op, cq_sym_operand(s, "tensor1"), cq_sym_operand(s, "tensor2"));
    double    value;

    if (!cq_sym_is_known(s, "value")) {
        x = CQ_2("Mul", x, cq_sym_in_as(s, "value", cq_sym_dtype(s, x)));
        return done(s, CQ_2("Add", cq_sym_operand(s, "self"), x));
    }
    value = cq_sym_f64(s, "value");
    if (!cq_dtype_is_float(cq_sym_dtype(s, x)))
        value = trunc(value);
    if (value != 1)
        x = CQ_2("Mul", x, cq_sym_num(s, x, value));
    return done(s, CQ_2("Add", cq_sym_operand(s, "self"), x));
}

static cq_status addcmul(cq_sym *s)
{
    return addc(s, "Mul");
}

static cq_status addcdiv(cq_sym *s)
{
    return addc(s, "Div");
}

/* From the nearer end, so that both ends are exact. */
static cq_status lerp(cq_sym *s)
{
    cq_value *x = cq_sym_operand(s, "self"), *y = cq_sym_operand(s, "end");
    cq_value *w = cq_sym_operand(s, "weight"), *way = CQ_2("Sub", y, x);
    cq_value *from_x = CQ_2("Add", x, CQ_2("Mul", w, way));
    cq_value *from_y = CQ_2("Sub", y, CQ_2("Mul", way, CQ_2("Sub", cq_sym_num(s, w, 1), w)));

    if (!cq_sym_is_tensor(s, "weight"))
        return done(s, fabs(cq_sym_f64(s, "weight")) < 0.5 ? from_x : from_y);
    if (cq_sym_opset(s) < 9)
        return done(s, from_x);
    w = CQ_2("Less", CQ_1("Abs", w), cq_sym_num(s, w, 0.5));
    return done(s, cq_sym_where(s, w, from_x, from_y));
}

/* ---- functions of two numbers ---- */

/* The angle of y / x, moved by half a turn where x is negative. */
static cq_status atan2_of(cq_sym *s)
{
    const double pi = 3.14159265358979323846;
    cq_value    *y = cq_sym_operand(s, "self"), *x = cq_sym_operand(s, "other");
    cq_value    *zero = cq_sym_num(s, x, 0), *turn, *angle;

    angle = CQ_2("Mul", cq_sym_sign(s, y), cq_sym_num(s, y, pi / 2));
    angle = cq_sym_where(s, cq_sym_equal(s, x, zero), angle, CQ_1("Atan", CQ_2("Div", y, x)));
    turn  = cq_sym_where(s, cq_sym_is_negative(s, y), cq_sym_num(s, x, -pi), cq_sym_num(s, x, pi));
    turn  = cq_sym_where(s, CQ_2("Less", x, zero), turn, zero);
    return done(s, CQ_2("Add", angle, turn));
}

static cq_status hypot_of(cq_sym *s)
{
    cq_value *x = cq_sym_operand(s, "self"), *y = cq_sym_operand(s, "other");

    return done(s, CQ_1("Sqrt", CQ_2("Add", CQ_2("Mul", x, x), CQ_2("Mul", y, y))));
}

static cq_status copysign_of(cq_sym *s)
{
    cq_value *x = CQ_1("Abs", cq_sym_operand(s, "self")), *y = cq_sym_operand(s, "other");

    return done(s, cq_sym_where(s, cq_sym_is_negative(s, y), CQ_1("Neg", x), x));
}

static cq_status xlogy(cq_sym *s)
{
    cq_value *x = cq_sym_operand(s, "self"), *y = cq_sym_operand(s, "other");
    cq_value *zero = cq_sym_num(s, x, 0), *none = cq_sym_equal(s, x, zero);

    none = CQ_2("And", none, CQ_1("Not", cq_sym_is_nan(s, y)));
    return done(s, cq_sym_where(s, none, zero, CQ_2("Mul", x, CQ_1("Log", y))));
}

/* The larger one, and what the other adds to it. For equal ones, infinities among them, that
 * is log(2). */
static cq_status logaddexp(cq_sym *s)
{
    cq_value *x = cq_sym_operand(s, "self"), *y = cq_sym_operand(s, "other"), *sum;

    sum = CQ_1("Exp", CQ_1("Neg", CQ_1("Abs", CQ_2("Sub", x, y))));
    sum = CQ_1("Log", CQ_2("Add", sum, cq_sym_num(s, x, 1)));
    sum = CQ_2("Add", cq_sym_larger(s, x, y, false), sum);
    if (cq_sym_opset(s) < 9)
        return done(s, sum);
    return done(s, cq_sym_where(s, cq_sym_equal(s, x, y),
                                CQ_2("Add", x, cq_sym_num(s, x, 0.69314718055994530942)), sum));
}

const cq_symbolic cq_symbolics_pointwise[] = {
    { "aten::add", 7, .fn = add },
    { "aten::sub", 7, .fn = sub },
    { "aten::rsub", 7, .fn = rsub },
    { "aten::mul", 7, .op = "Mul" },
    { "aten::div.Tensor_mode", 7, .fn = div_mode },
    { "aten::div.Scalar_mode", 7, .fn = div_mode },
    { "aten::div", 7, .op = "Div" },
    { "aten::floor_divide", 7, .fn = floor_divide },
    { "aten::remainder", 7, .fn = remainder_of },
    { "aten::fmod", 7, .fn = fmod_of },
    { "aten::pow.Tensor_Scalar", 7, .fn = pow_scalar },
    { "aten::pow", 7, .fn = pow_of },
    { "aten::maximum", 7, .fn = maximum },
    { "aten::minimum", 7, .fn = minimum },
    { "aten::fmax", 7, .fn = fmax_of },
    { "aten::fmin", 7, .fn = fmin_of },
    { "aten::clamp.Tensor", 7, .fn = clamp_tensor },
    { "aten::clamp", 7, .fn = clamp },
    { "aten::addcmul", 7, .fn = addcmul },
    { "aten::addcdiv", 7, .fn = addcdiv },
    { "aten::lerp", 7, .fn = lerp },
    { "aten::atan2", 7, .fn = atan2_of },
    { "aten::hypot", 7, .fn = hypot_of },
    { "aten::copysign", 7, .fn = copysign_of },
    { "aten::xlogy", 7, .fn = xlogy },
    { "aten::logaddexp", 7, .fn = logaddexp },
    { 0 },
};
