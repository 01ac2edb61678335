/* Arithmetic and functions, element by element. Comparisons and logic are in compare.c, activations
 * in activation.c; common helpers are in elementwise.h. */
#include "aten/ops/elementwise.h"

#include <float.h>
#include <math.h>

#define SAME     cq_shape_of_operands
#define TO_FLOAT cq_shape_of_operands_in_float

static cq_status sub_shape(cq_opcall *c)
{
    if (cq_result_type(c->cx->default_float, c->args, 2) == CQ_DTYPE_BOOL)
        return cq_call_fail(c, CQ_E_TYPE,
                            "bool tensors cannot be subtracted; use logical_xor or "
                            "logical_not");
    return cq_shape_of_operands(c);
}

static cq_status nextafter_shape(cq_opcall *c)
{
    cq_dtype dtype = cq_result_type(c->cx->default_float, c->args, 2);

    if (dtype != CQ_DTYPE_F32 && dtype != CQ_DTYPE_F64)
        return cq_call_fail(c, CQ_E_TYPE, "expected float32 or float64, got %s",
                            cq_dtype_name(dtype));
    return cq_shape_of_operands(c);
}

/* other - alpha * self */
static cq_status rsub_run(cq_opcall *c)
{
    cq_tensor *out   = cq_result_tensor(c, 0);
    cq_tensor *other = cq_operand_tensor(c, c->args[1], out->dtype);
    cq_params  p     = { .a = cq_arg_f64(c, "alpha") };

    p.ia = cq_dtype_is_float(out->dtype) ? 0 : cq_arg_i64(c, "alpha");
    CQ_TRY(c->cx->status);
    return cq_apply2(out, CQ_EW_SUB, &p, out->dtype, other, c->args[0].u.tensor);
}

/* ---- division with a rounding mode ---- */

/* DIV for None, DIV_TRUNC, DIV_FLOOR; COUNT for an unknown mode. */
static cq_ew_op rounding(const cq_opcall *c)
{
    const char *mode = cq_arg_str(c, "rounding_mode", "");

    return mode[0] == '\0'              ? CQ_EW_DIV
           : strcmp(mode, "trunc") == 0 ? CQ_EW_DIV_TRUNC
           : strcmp(mode, "floor") == 0 ? CQ_EW_DIV_FLOOR
                                        : CQ_EW_COUNT;
}

static cq_status div_mode_shape(cq_opcall *c)
{
    cq_ew_op op = rounding(c);
    cq_int   sizes[CQ_MAX_RANK];
    cq_dtype dtype = cq_result_type(c->cx->default_float, c->args, 2);
    size_t   rank;

    if (op == CQ_EW_COUNT)
        return cq_call_fail(c, CQ_E_ARGUMENT, "rounding_mode is \"%s\", not None, trunc or floor",
                            cq_arg_str(c, "rounding_mode", ""));
    CQ_TRY(cq_broadcast_vals(c, &rank, sizes, c->args, 2));
    return cq_result(c, 0, op == CQ_EW_DIV ? cq_float_of(c->cx, dtype) : dtype, rank, sizes);
}

static cq_status div_mode_run(cq_opcall *c)
{
    cq_tensor *out   = cq_result_tensor(c, 0);
    cq_tensor *other = cq_operand_tensor(c, c->args[1], out->dtype);

    CQ_TRY(c->cx->status);
    return cq_apply2(out, rounding(c), NULL, out->dtype, c->args[0].u.tensor, other);
}

/* ---- powers ---- */

static cq_status pow_scalar_shape(cq_opcall *c)
{
    cq_dtype dtype = cq_result_type(c->cx->default_float, c->args, 2);

    if (!cq_dtype_is_float(dtype) && cq_arg_i64(c, "exponent") < 0)
        return cq_call_fail(c, CQ_E_ARGUMENT, "integers have no power of %lld that is an integer",
                            (long long)cq_arg_i64(c, "exponent"));
    return cq_shape_of_operands(c);
}

/* Exponents with a dedicated function use that function, also for the root of -inf. */
static cq_status pow_scalar_run(cq_opcall *c)
{
    static const struct {
        double   exponent;
        cq_ew_op op;
    } simple[] = {
        { 2, CQ_EW_SQUARE }, { 0.5, CQ_EW_SQRT }, { -0.5, CQ_EW_RSQRT }, { -1, CQ_EW_RECIPROCAL }
    };
    cq_tensor *out = cq_result_tensor(c, 0);

    for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
        if (cq_arg_f64(c, "exponent") == simple[i].exponent && cq_dtype_is_float(out->dtype))
            return cq_apply1(out, simple[i].op, NULL, out->dtype, c->args[0].u.tensor);
    return cq_run_elementwise(c);
}

/* ---- bounds ---- */

static cq_status check_bounds(const cq_opcall *c)
{
    if (cq_arg_is_none(c, "min") && cq_arg_is_none(c, "max"))
        return cq_call_fail(c, CQ_E_ARGUMENT, "neither min nor max is given");
    return CQ_OK;
}

static cq_status clamp_shape(cq_opcall *c)
{
    cq_int sizes[CQ_MAX_RANK];
    size_t rank;

    CQ_TRY(check_bounds(c));
    CQ_TRY(cq_broadcast_vals(c, &rank, sizes, c->args, 3));
    return cq_result(c, 0, cq_result_type(c->cx->default_float, c->args, 3), rank, sizes);
}

static cq_status clamp_run(cq_opcall *c)
{
    cq_tensor *out  = cq_result_tensor(c, 0);
    bool       real = cq_dtype_is_float(out->dtype);
    cq_params  p    = { .a = -INFINITY, .b = INFINITY, .ia = INT64_MIN, .ib = INT64_MAX };

    if (!cq_arg_is_none(c, "min")) {
        p.a  = cq_arg_f64(c, "min");
        p.ia = real ? 0 : cq_arg_i64(c, "min");
    }
    if (!cq_arg_is_none(c, "max")) {
        p.b  = cq_arg_f64(c, "max");
        p.ib = real ? 0 : cq_arg_i64(c, "max");
    }
    return cq_apply1(out, CQ_EW_CLAMP, &p, out->dtype, c->args[0].u.tensor);
}

static cq_status clamp_tensor_run(cq_opcall *c)
{
    cq_tensor *out = cq_result_tensor(c, 0), *x = c->args[0].u.tensor;
    cq_tensor *low = cq_arg_tensor(c, "min"), *high = cq_arg_tensor(c, "max");

    if (low && high)
        return cq_apply3(out, CQ_EW_CLAMP_BETWEEN, NULL, out->dtype, x, low, high);
    return cq_apply2(out, low ? CQ_EW_MAXIMUM : CQ_EW_MINIMUM, NULL, out->dtype, x,
                     low ? low : high);
}

/* ---- the rest ---- */

static cq_status addcdiv_shape(cq_opcall *c)
{
    if (!cq_dtype_is_float(cq_result_type(c->cx->default_float, c->args, 3)))
        return cq_call_fail(c, CQ_E_TYPE,
                            "integers are not divided here; use true_divide or "
                            "floor_divide");
    return cq_shape_of_operands(c);
}

static cq_status lerp_shape(cq_opcall *c)
{
    for (size_t i = 1; i < 3; i++)
        if (c->args[i].kind == CQ_VAL_TENSOR &&
            c->args[i].u.tensor->dtype != c->args[0].u.tensor->dtype)
            return cq_call_fail(c, CQ_E_TYPE, "all tensors must be of %s, but one is of %s",
                                cq_dtype_name(c->args[0].u.tensor->dtype),
                                cq_dtype_name(c->args[i].u.tensor->dtype));
    return cq_shape_of_operands(c);
}

static cq_status nan_to_num_run(cq_opcall *c)
{
    static const double highest[CQ_DTYPE_COUNT] = { [CQ_DTYPE_F16]  = 65504,
                                                    [CQ_DTYPE_BF16] = 3.3895313892515355e38,
                                                    [CQ_DTYPE_F32]  = FLT_MAX,
                                                    [CQ_DTYPE_F64]  = DBL_MAX };
    cq_tensor          *out                     = cq_result_tensor(c, 0);
    cq_params           p = { .b = highest[out->dtype], .c = -highest[out->dtype] };

    if (!cq_arg_is_none(c, "nan"))
        p.a = cq_arg_f64(c, "nan");
    if (!cq_arg_is_none(c, "posinf"))
        p.b = cq_arg_f64(c, "posinf");
    if (!cq_arg_is_none(c, "neginf"))
        p.c = cq_arg_f64(c, "neginf");
    return cq_apply1(out, CQ_EW_NAN_TO_NUM, &p, out->dtype, c->args[0].u.tensor);
}

static cq_status logit_run(cq_opcall *c)
{
    cq_tensor *out = cq_result_tensor(c, 0);
    cq_params  p   = { .a = cq_arg_is_none(c, "eps") ? -1 : cq_arg_f64(c, "eps") };

    return cq_apply1(out, CQ_EW_LOGIT, &p, out->dtype, c->args[0].u.tensor);
}

#define ROW  CQ_EW_ROW
#define ROW1 CQ_EW_ROW1

const cq_op_def cq_ops_pointwise[] = {
    ROW("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", ADD, SAME,
        "self + alpha * other"),
    ROW("aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", ADD, SAME,
        "self + alpha * other"),
    ROW("aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", SUB, sub_shape,
        "self - alpha * other"),
    ROW("aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", SUB, sub_shape,
        "self - alpha * other"),
    { .schema  = "aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
      .about   = "other - alpha * self",
      .shape   = sub_shape,
      .run     = rsub_run,
      .variant = CQ_EW_SUB },
    { .schema  = "aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
      .about   = "other - alpha * self",
      .shape   = sub_shape,
      .run     = rsub_run,
      .variant = CQ_EW_SUB },
    ROW("aten::mul.Tensor(Tensor self, Tensor other) -> Tensor", MUL, SAME, "the product"),
    ROW("aten::mul.Scalar(Tensor self, Scalar other) -> Tensor", MUL, SAME, "the product"),
    ROW("aten::div.Tensor(Tensor self, Tensor other) -> Tensor", DIV, TO_FLOAT, "the quotient"),
    ROW("aten::div.Scalar(Tensor self, Scalar other) -> Tensor", DIV, TO_FLOAT, "the quotient"),
    CQ_KERNEL("aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
              "the quotient, rounded", div_mode_shape, div_mode_run),
    CQ_KERNEL("aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
              "the quotient, rounded", div_mode_shape, div_mode_run),
    ROW("aten::floor_divide(Tensor self, Tensor other) -> Tensor", DIV_FLOOR, SAME,
        "the quotient, rounded down"),
    ROW("aten::floor_divide.Scalar(Tensor self, Scalar other) -> Tensor", DIV_FLOOR, SAME,
        "the quotient, rounded down"),
    ROW("aten::remainder.Tensor(Tensor self, Tensor other) -> Tensor", REMAINDER, SAME,
        "the remainder of the division, with the sign of other"),
    ROW("aten::remainder.Scalar(Tensor self, Scalar other) -> Tensor", REMAINDER, SAME,
        "the remainder of the division, with the sign of other"),
    ROW("aten::remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", REMAINDER, SAME,
        "the remainder of the division, with the sign of other"),
    ROW("aten::fmod.Tensor(Tensor self, Tensor other) -> Tensor", FMOD, SAME,
        "the remainder of the division, with the sign of self"),
    ROW("aten::fmod.Scalar(Tensor self, Scalar other) -> Tensor", FMOD, SAME,
        "the remainder of the division, with the sign of self"),

    ROW("aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", POW, SAME, "the power"),
    { .schema  = "aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
      .about   = "the power",
      .shape   = pow_scalar_shape,
      .run     = pow_scalar_run,
      .variant = CQ_EW_POW },
    ROW("aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor", POW, SAME, "the power"),

    ROW("aten::atan2(Tensor self, Tensor other) -> Tensor", ATAN2, TO_FLOAT,
        "the angle of the vector (other, self)"),
    ROW("aten::hypot(Tensor self, Tensor other) -> Tensor", HYPOT, SAME,
        "the square root of self ** 2 + other ** 2"),
    ROW("aten::copysign.Tensor(Tensor self, Tensor other) -> Tensor", COPYSIGN, TO_FLOAT,
        "self with the sign of other"),
    ROW("aten::copysign.Scalar(Tensor self, Scalar other) -> Tensor", COPYSIGN, TO_FLOAT,
        "self with the sign of other"),
    ROW("aten::nextafter(Tensor self, Tensor other) -> Tensor", NEXTAFTER, nextafter_shape,
        "the next number from self towards other"),
    ROW("aten::xlogy.Tensor(Tensor self, Tensor other) -> Tensor", XLOGY, TO_FLOAT,
        "self * log(other), or 0 where self is 0"),
    ROW("aten::xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor", XLOGY, TO_FLOAT,
        "self * log(other), or 0 where self is 0"),
    ROW("aten::xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor", XLOGY, TO_FLOAT,
        "self * log(other), or 0 where self is 0"),
    ROW("aten::logaddexp(Tensor self, Tensor other) -> Tensor", LOGADDEXP, SAME,
        "log(exp(self) + exp(other))"),
    ROW("aten::minimum(Tensor self, Tensor other) -> Tensor", MINIMUM, SAME, "the smaller element"),
    ROW("aten::maximum(Tensor self, Tensor other) -> Tensor", MAXIMUM, SAME, "the larger element"),
    ROW("aten::fmin(Tensor self, Tensor other) -> Tensor", FMIN, SAME,
        "the smaller element; a number rather than NaN"),
    ROW("aten::fmax(Tensor self, Tensor other) -> Tensor", FMAX, SAME,
        "the larger element; a number rather than NaN"),

    CQ_KERNEL("aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
              "the elements limited to min … max", clamp_shape, clamp_run),
    CQ_KERNEL("aten::clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
              "the elements limited to min … max", clamp_shape, clamp_tensor_run),

    ROW("aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
        ADDCMUL, SAME, "self + value * tensor1 * tensor2"),
    ROW("aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
        ADDCDIV, addcdiv_shape, "self + value * tensor1 / tensor2"),
    ROW("aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor", LERP, lerp_shape,
        "self + weight * (end - self)"),
    ROW("aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor", LERP, lerp_shape,
        "self + weight * (end - self)"),
    CQ_KERNEL("aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? "
              "neginf=None) -> Tensor",
              "NaN and infinities replaced by numbers", cq_shape_of_self, nan_to_num_run),
    CQ_KERNEL("aten::logit(Tensor self, float? eps=None) -> Tensor", "log(x / (1 - x))",
              cq_shape_of_self_in_float, logit_run),
    { 0 },
};

const cq_op_def cq_ops_functions[] = {
    ROW1("neg", NEG, SAME, "the negative"),
    ROW1("abs", ABS, SAME, "the absolute value"),
    ROW1("sqrt", SQRT, TO_FLOAT, "the square root"),
    ROW1("rsqrt", RSQRT, TO_FLOAT, "1 / sqrt(x)"),
    ROW1("exp", EXP, TO_FLOAT, "e to the power of x"),
    ROW1("exp2", EXP2, TO_FLOAT, "2 to the power of x"),
    ROW1("expm1", EXPM1, TO_FLOAT, "exp(x) - 1, accurate near 0"),
    ROW1("log", LOG, TO_FLOAT, "the natural logarithm"),
    ROW1("log2", LOG2, TO_FLOAT, "the logarithm to base 2"),
    ROW1("log10", LOG10, TO_FLOAT, "the logarithm to base 10"),
    ROW1("log1p", LOG1P, TO_FLOAT, "log(1 + x), accurate near 0"),
    ROW1("sin", SIN, TO_FLOAT, "the sine"),
    ROW1("cos", COS, TO_FLOAT, "the cosine"),
    ROW1("tan", TAN, TO_FLOAT, "the tangent"),
    ROW1("asin", ASIN, TO_FLOAT, "the inverse sine"),
    ROW1("acos", ACOS, TO_FLOAT, "the inverse cosine"),
    ROW1("atan", ATAN, TO_FLOAT, "the inverse tangent"),
    ROW1("sinh", SINH, TO_FLOAT, "the hyperbolic sine"),
    ROW1("cosh", COSH, TO_FLOAT, "the hyperbolic cosine"),
    ROW1("tanh", TANH, TO_FLOAT, "the hyperbolic tangent"),
    ROW1("asinh", ASINH, TO_FLOAT, "the inverse hyperbolic sine"),
    ROW1("acosh", ACOSH, TO_FLOAT, "the inverse hyperbolic cosine"),
    ROW1("atanh", ATANH, TO_FLOAT, "the inverse hyperbolic tangent"),
    ROW1("sigmoid", SIGMOID, TO_FLOAT, "1 / (1 + exp(-x))"),
    ROW1("erf", ERF, TO_FLOAT, "the error function"),
    ROW1("erfc", ERFC, TO_FLOAT, "1 - erf(x)"),
    ROW1("erfinv", ERFINV, TO_FLOAT, "the inverse of the error function"),
    ROW1("lgamma", LGAMMA, TO_FLOAT, "the logarithm of |gamma(x)|"),
    ROW1("digamma", DIGAMMA, TO_FLOAT, "the derivative of lgamma"),
    ROW1("floor", FLOOR, SAME, "the largest integer not above x"),
    ROW1("ceil", CEIL, SAME, "the smallest integer not below x"),
    ROW1("round", ROUND, SAME, "the nearest integer, halves to even"),
    ROW1("trunc", TRUNC, SAME, "the integer part"),
    ROW1("frac", FRAC, SAME, "the fractional part"),
    ROW1("sign", SIGN, SAME, "the sign: -1, 0 or 1"),
    ROW1("signbit", SIGNBIT, cq_shape_of_self_in_bool, "whether the sign bit is set"),
    ROW1("reciprocal", RECIPROCAL, TO_FLOAT, "1 / x"),
    { 0 },
};
