/* Functions of one number. Those that ONNX has only since opset 9, or that ONNX Runtime has
 * only in float32, are put together from others when need be. */
#include "export/arith.h"

#include <float.h>
#include <math.h>

static cq_value *self_of(cq_sym *s)
{
    return cq_sym_operand(s, "self");
}

/* The node if it takes the dtype as it is. */
static bool has(cq_sym *s, const char *op, cq_value *x)
{
    return cq_sym_fits(s, op, cq_sym_dtype(s, x)) ||
           (cq_sym_opset(s) >= 9 && cq_sym_dtype(s, x) != CQ_DTYPE_F64);
}

static cq_value *plus(cq_sym *s, cq_value *x, double n)
{
    return CQ_2("Add", x, cq_sym_num(s, x, n));
}

static cq_value *times(cq_sym *s, cq_value *x, double n)
{
    return CQ_2("Mul", x, cq_sym_num(s, x, n));
}

static cq_status rsqrt(cq_sym *s)
{
    return cq_sym_done(s, CQ_1("Reciprocal", CQ_1("Sqrt", self_of(s))));
}

static cq_status exp2_of(cq_sym *s)
{
    cq_value *x = self_of(s);

    return cq_sym_done(s, CQ_2("Pow", cq_sym_num(s, x, 2), x));
}

static cq_status expm1_of(cq_sym *s)
{
    return cq_sym_done(s, plus(s, CQ_1("Exp", self_of(s)), -1));
}

static cq_status log1p_of(cq_sym *s)
{
    return cq_sym_done(s, CQ_1("Log", plus(s, self_of(s), 1)));
}

static cq_status log2_of(cq_sym *s)
{
    return cq_sym_done(s, times(s, CQ_1("Log", self_of(s)), 1.44269504088896340736));
}

static cq_status log10_of(cq_sym *s)
{
    return cq_sym_done(s, times(s, CQ_1("Log", self_of(s)), 0.43429448190325182765));
}

static cq_status tan_of(cq_sym *s)
{
    cq_value *x = self_of(s);

    if (has(s, "Tan", x))
        return cq_sym_done(s, CQ_1("Tan", x));
    return cq_sym_done(s, CQ_2("Div", CQ_1("Sin", x), CQ_1("Cos", x)));
}

/* (exp(x) -+ exp(-x)) / 2 */
static cq_value *half_of_exponentials(cq_sym *s, const char *op, cq_value *x)
{
    return times(s, CQ_2(op, CQ_1("Exp", x), CQ_1("Exp", CQ_1("Neg", x))), 0.5);
}

static cq_status sinh_of(cq_sym *s)
{
    cq_value *x = self_of(s);

    return cq_sym_done(s, has(s, "Sinh", x) ? CQ_1("Sinh", x) : half_of_exponentials(s, "Sub", x));
}

static cq_status cosh_of(cq_sym *s)
{
    cq_value *x = self_of(s);

    return cq_sym_done(s, has(s, "Cosh", x) ? CQ_1("Cosh", x) : half_of_exponentials(s, "Add", x));
}

/* sign(x) * log(|x| + sqrt(x * x + 1)): from the positive side no digits cancel. */
static cq_status asinh_of(cq_sym *s)
{
    cq_value *x = self_of(s), *size;

    if (has(s, "Asinh", x))
        return cq_sym_done(s, CQ_1("Asinh", x));
    size = CQ_1("Sqrt", plus(s, CQ_2("Mul", x, x), 1));
    size = CQ_1("Log", CQ_2("Add", CQ_1("Abs", x), size));
    return cq_sym_done(s, CQ_2("Mul", cq_sym_sign(s, x), size));
}

static cq_status acosh_of(cq_sym *s)
{
    cq_value *x = self_of(s);

    if (has(s, "Acosh", x))
        return cq_sym_done(s, CQ_1("Acosh", x));
    /* sqrt(x - 1) * sqrt(x + 1) is NaN below 1, as it should be. */
    return cq_sym_done(s, CQ_1("Log", CQ_2("Add", x,
                                           CQ_2("Mul", CQ_1("Sqrt", plus(s, x, -1)),
                                                CQ_1("Sqrt", plus(s, x, 1))))));
}

static cq_status atanh_of(cq_sym *s)
{
    cq_value *x = self_of(s);

    if (has(s, "Atanh", x))
        return cq_sym_done(s, CQ_1("Atanh", x));
    return cq_sym_done(
        s, times(s, CQ_1("Log", CQ_2("Div", plus(s, x, 1), CQ_2("Sub", cq_sym_num(s, x, 1), x))),
                 0.5));
}

static cq_status erfc_of(cq_sym *s)
{
    cq_value *x = self_of(s);

    return cq_sym_done(s, CQ_2("Sub", cq_sym_num(s, x, 1), CQ_1("Erf", x)));
}

/* ---- rounding ---- */

/* Integers are what they are already. */
static cq_status whole(cq_sym *s, const char *op)
{
    cq_value *x = self_of(s);

    return cq_sym_done(s, cq_dtype_is_float(cq_sym_dtype(s, x)) ? CQ_1(op, x) : x);
}

static cq_status floor_of(cq_sym *s)
{
    return whole(s, "Floor");
}

static cq_status ceil_of(cq_sym *s)
{
    return whole(s, "Ceil");
}

static cq_status round_of(cq_sym *s)
{
    return cq_sym_done(s, cq_sym_round(s, self_of(s)));
}

static cq_status trunc_of(cq_sym *s)
{
    return cq_sym_done(s, cq_sym_trunc(s, self_of(s)));
}

static cq_status frac_of(cq_sym *s)
{
    cq_value *x = self_of(s);

    return cq_sym_done(s, CQ_2("Sub", x, cq_sym_trunc(s, x)));
}

/* The sign of NaN is 0 in PyTorch, and NaN in ONNX Runtime. */
static cq_status sign_of(cq_sym *s)
{
    cq_value *x = self_of(s), *sign = cq_sym_sign(s, x);

    if (cq_dtype_is_float(cq_sym_dtype(s, x)) && cq_sym_opset(s) >= 9)
        sign = cq_sym_where(s, cq_sym_is_nan(s, x), cq_sym_num(s, x, 0), sign);
    return cq_sym_done(s, sign);
}

static cq_status signbit_of(cq_sym *s)
{
    return cq_sym_done(s, cq_sym_is_negative(s, cq_sym_in(s, "self")));
}

/* ---- infinities ---- */

static double highest(cq_dtype d)
{
    return d == CQ_DTYPE_F16   ? 65504
           : d == CQ_DTYPE_F64 ? DBL_MAX
           : d == CQ_DTYPE_F32 ? FLT_MAX
                               : 3.3895313892515355e38;
}

static cq_value *is_above(cq_sym *s, cq_value *x, double most, bool negative)
{
    return CQ_2(negative ? "Less" : "Greater", x, cq_sym_num(s, x, negative ? -most : most));
}

static double given(cq_sym *s, const char *arg, double otherwise)
{
    return cq_sym_is_none(s, arg) ? otherwise : cq_sym_f64(s, arg);
}

static cq_status nan_to_num(cq_sym *s)
{
    cq_value *x    = self_of(s), *y;
    double    most = highest(cq_sym_result_type(s, 0).dtype);

    if (!cq_dtype_is_float(cq_sym_dtype(s, x)))
        return cq_sym_done(s, x);
    y = cq_sym_where(s, cq_sym_is_nan(s, x), cq_sym_num(s, x, given(s, "nan", 0)), x);
    y = cq_sym_where(s, is_above(s, x, most, false), cq_sym_num(s, x, given(s, "posinf", most)), y);
    y = cq_sym_where(s, is_above(s, x, most, true), cq_sym_num(s, x, given(s, "neginf", -most)), y);
    return cq_sym_done(s, y);
}

static cq_status logit(cq_sym *s)
{
    cq_value *x = self_of(s);

    if (!cq_sym_is_none(s, "eps") && cq_sym_f64(s, "eps") >= 0)
        x = cq_sym_bounded(s, x, cq_sym_num(s, x, cq_sym_f64(s, "eps")),
                           cq_sym_num(s, x, 1 - cq_sym_f64(s, "eps")));
    return cq_sym_done(s, CQ_1("Log", CQ_2("Div", x, CQ_2("Sub", cq_sym_num(s, x, 1), x))));
}

const cq_symbolic cq_symbolics_functions[] = {
    { "aten::neg", 7, .op = "Neg" },
    { "aten::abs", 7, .op = "Abs" },
    { "aten::sqrt", 7, .op = "Sqrt" },
    { "aten::rsqrt", 7, .fn = rsqrt },
    { "aten::exp", 7, .op = "Exp" },
    { "aten::exp2", 7, .fn = exp2_of },
    { "aten::expm1", 7, .fn = expm1_of },
    { "aten::log", 7, .op = "Log" },
    { "aten::log2", 7, .fn = log2_of },
    { "aten::log10", 7, .fn = log10_of },
    { "aten::log1p", 7, .fn = log1p_of },
    { "aten::sin", 7, .op = "Sin" },
    { "aten::cos", 7, .op = "Cos" },
    { "aten::tan", 7, .fn = tan_of },
    { "aten::asin", 7, .op = "Asin" },
    { "aten::acos", 7, .op = "Acos" },
    { "aten::atan", 7, .op = "Atan" },
    { "aten::sinh", 7, .fn = sinh_of },
    { "aten::cosh", 7, .fn = cosh_of },
    { "aten::tanh", 7, .op = "Tanh" },
    { "aten::asinh", 7, .fn = asinh_of },
    { "aten::acosh", 7, .fn = acosh_of },
    { "aten::atanh", 7, .fn = atanh_of },
    { "aten::sigmoid", 7, .op = "Sigmoid" },
    { "aten::erf", 7, .op = "Erf" },
    { "aten::erfc", 7, .fn = erfc_of },
    { "aten::floor", 7, .fn = floor_of },
    { "aten::ceil", 7, .fn = ceil_of },
    { "aten::round", 7, .fn = round_of },
    { "aten::trunc", 7, .fn = trunc_of },
    { "aten::frac", 7, .fn = frac_of },
    { "aten::sign", 7, .fn = sign_of },
    { "aten::signbit", 7, .fn = signbit_of },
    { "aten::reciprocal", 7, .op = "Reciprocal" },
    { "aten::nan_to_num", 7, .fn = nan_to_num },
    { "aten::logit", 7, .fn = logit },
    { 0 },
};
