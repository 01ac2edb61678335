/* Element-wise operators: arithmetic, comparison, logic, activations. kernel/elementwise.h has the
 * loops; this file maps ONNX operators to them. */
#include "runtime/kernels/elementwise.h"

#include "runtime/kernels/families.h"
#include "runtime/kernels/map.h"

#include "tensor/convert.h"

#include <math.h>

/* ---- unary operators ---- */

static cq_status unary(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_tensor       *y;

    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    return cq_apply1(y, (cq_ew_op)rt->step->row->arg, NULL, CQ_DTYPE_NONE, x);
}

/* Functions of real numbers that schemas allow for integers too. */
static cq_status unary_real(cq_rt *rt)
{
    const cq_tensor *x       = cq_rt_in(rt, 0);
    cq_dtype         compute = cq_dtype_is_float(x->dtype) ? CQ_DTYPE_NONE : CQ_DTYPE_F64;
    cq_tensor       *y;

    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    return cq_apply1(y, (cq_ew_op)rt->step->row->arg, NULL, compute, x);
}

static cq_status with_params(cq_rt *rt, cq_ew_op op, const cq_params *params)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_tensor       *y;

    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    return cq_apply1(y, op, params, CQ_DTYPE_NONE, x);
}

/* Operators whose attributes are parameters of the operation. */
typedef cq_ew_op params_fn(cq_params *p, const cq_rt *rt);

static cq_ew_op leaky_relu(cq_params *p, const cq_rt *rt)
{
    *p = (cq_params){ .a = cq_rt_float(rt, "alpha") };
    return CQ_EW_LEAKY_RELU;
}

static cq_ew_op elu(cq_params *p, const cq_rt *rt)
{
    *p = (cq_params){ .a = cq_rt_float(rt, "alpha"), .b = 1, .c = 1 };
    return CQ_EW_ELU;
}

static cq_ew_op selu(cq_params *p, const cq_rt *rt)
{
    *p = (cq_params){ .a = cq_rt_float(rt, "alpha"), .b = cq_rt_float(rt, "gamma"), .c = 1 };
    return CQ_EW_ELU;
}

static cq_ew_op celu(cq_params *p, const cq_rt *rt)
{
    double alpha = cq_rt_float(rt, "alpha");

    *p = (cq_params){ .a = alpha, .b = 1, .c = 1 / alpha };
    return CQ_EW_ELU;
}

static cq_ew_op hard_sigmoid(cq_params *p, const cq_rt *rt)
{
    *p = (cq_params){ .a = cq_rt_float(rt, "alpha"), .b = cq_rt_float(rt, "beta") };
    return CQ_EW_HARDSIGMOID_AFFINE;
}

static cq_ew_op softplus(cq_params *p, const cq_rt *rt)
{
    (void)rt;
    *p = (cq_params){ .a = 1, .b = 40 };
    return CQ_EW_SOFTPLUS;
}

static cq_ew_op thresholded_relu(cq_params *p, const cq_rt *rt)
{
    *p = (cq_params){ .a = cq_rt_float(rt, "alpha") };
    return CQ_EW_THRESHOLD;
}

static cq_ew_op gelu(cq_params *p, const cq_rt *rt)
{
    *p = (cq_params){ .a = 1, .ia = 1 };
    return cq_rt_is(rt, "approximate", "tanh") ? CQ_EW_GELU_TANH : CQ_EW_GELU;
}

/* In version 6 the default limits are those of float32, which is the same as no limits. */
static cq_ew_op clip_by_attributes(cq_params *p, const cq_rt *rt)
{
    bool has_min = cq_rt_attr_given(rt, "min"), has_max = cq_rt_attr_given(rt, "max");

    *p = (cq_params){ .a = has_min ? cq_rt_float(rt, "min") : -INFINITY,
                      .b = has_max ? cq_rt_float(rt, "max") : INFINITY };
    return CQ_EW_CLAMP;
}

enum {
    LEAKY_RELU,
    ELU,
    SELU,
    CELU,
    HARD_SIGMOID,
    SOFTPLUS,
    THRESHOLDED_RELU,
    GELU,
    CLIP_BY_ATTRIBUTES
};

static params_fn *const with_attributes[] = {
    leaky_relu, elu, selu, celu, hard_sigmoid, softplus, thresholded_relu, gelu, clip_by_attributes,
};

static cq_status by_attributes(cq_rt *rt)
{
    cq_params params;
    cq_ew_op  op = with_attributes[rt->step->row->arg](&params, rt);

    return with_params(rt, op, &params);
}

static double swish_one(double x, const double *alpha)
{
    return x / (1 + exp(-*alpha * x));
}

static cq_status swish(cq_rt *rt)
{
    const cq_tensor *x     = cq_rt_in(rt, 0);
    double           alpha = cq_rt_float(rt, "alpha");
    cq_tensor       *y;

    if (alpha == 1)
        return with_params(rt, CQ_EW_SILU, NULL);
    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    return cq_rt_map(y, x, swish_one, &alpha);
}

/* a * sigmoid(alpha * a) * b, without broadcasting. */
static cq_status swiglu(cq_rt *rt)
{
    const cq_tensor *a = cq_rt_in(rt, 0), *b = cq_rt_in(rt, 1);
    double           alpha = cq_rt_float(rt, "alpha");
    cq_rt_sizes      sizes, other;
    cq_tensor       *y;

    cq_rt_sizes_of(&sizes, a);
    cq_rt_sizes_of(&other, b);
    if (sizes.rank != other.rank || memcmp(sizes.at, other.at, sizes.rank * sizeof *sizes.at) != 0)
        return cq_rt_misfit(a, b);
    CQ_TRY(cq_rt_out_like(&y, rt, 0, a));
    CQ_TRY(alpha == 1 ? cq_apply1(y, CQ_EW_SILU, NULL, CQ_DTYPE_NONE, a)
                      : cq_rt_map(y, a, swish_one, &alpha));
    return cq_apply2(y, CQ_EW_MUL, NULL, CQ_DTYPE_NONE, y, b);
}

static double shrink_one(double x, const double *p)
{
    return x < -p[0] ? x + p[1] : x > p[0] ? x - p[1] : 0;
}

static cq_status shrink(cq_rt *rt)
{
    const cq_tensor *x   = cq_rt_in(rt, 0);
    const double     p[] = { cq_rt_float(rt, "lambd"), cq_rt_float(rt, "bias") };
    cq_tensor       *y;

    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    return cq_rt_map(y, x, shrink_one, p);
}

static cq_status yes_or_no(cq_rt *rt, cq_ew_op op)
{
    cq_rt_sizes sizes;
    cq_tensor  *y;

    cq_rt_sizes_of(&sizes, cq_rt_in(rt, 0));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, CQ_DTYPE_BOOL, &sizes));
    return cq_apply1(y, op, NULL, CQ_DTYPE_NONE, cq_rt_in(rt, 0));
}

static cq_status is_nan(cq_rt *rt)
{
    return yes_or_no(rt, CQ_EW_ISNAN);
}

static cq_status is_inf(cq_rt *rt)
{
    bool negative = cq_rt_int(rt, "detect_negative"), positive = cq_rt_int(rt, "detect_positive");
    cq_tensor *y;

    if (negative && positive)
        return yes_or_no(rt, CQ_EW_ISINF);
    if (negative || positive)
        return yes_or_no(rt, negative ? CQ_EW_ISNEGINF : CQ_EW_ISPOSINF);
    CQ_TRY(yes_or_no(rt, CQ_EW_ISINF));
    y = rt->out[0].u.tensor;
    return cq_kernel_fill_i64(y, 0);
}

/* ---- clip ---- */

static cq_status clip(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *low = cq_rt_in(rt, 1), *high = cq_rt_in(rt, 2);
    cq_tensor       *y;

    if ((low && cq_tensor_numel(low) != 1) || (high && cq_tensor_numel(high) != 1))
        return cq_fail(CQ_E_TYPE, NULL, NULL, "a bound of Clip is not a single number");
    if (!low && !high)
        return cq_rt_pass(rt, 0, x);
    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    if (low)
        CQ_TRY(cq_apply2(y, CQ_EW_MAXIMUM, NULL, x->dtype, x, low));
    return high ? cq_apply2(y, CQ_EW_MINIMUM, NULL, x->dtype, low ? y : x, high) : CQ_OK;
}

/* ---- binary operators ---- */

static cq_status apply_binary(cq_rt *rt, cq_ew_op op, cq_dtype compute, cq_dtype dtype)
{
    const cq_tensor *const in[] = { cq_rt_in(rt, 0), cq_rt_in(rt, 1) };
    cq_rt_sizes            sizes;
    cq_tensor             *y;

    CQ_TRY(cq_rt_broadcast(&sizes, in, 2));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, dtype, &sizes));
    return cq_apply2(y, op, NULL, compute, in[0], in[1]);
}

static cq_status binary(cq_rt *rt)
{
    return apply_binary(rt, (cq_ew_op)rt->step->row->arg, CQ_DTYPE_NONE, cq_rt_in(rt, 0)->dtype);
}

static cq_status comparison(cq_rt *rt)
{
    return apply_binary(rt, (cq_ew_op)rt->step->row->arg, CQ_DTYPE_NONE, CQ_DTYPE_BOOL);
}

/* Before version 7 shapes were equal, or B was broadcast along A from an axis on. The latter is
 * today's broadcasting after appending the missing axes to B. */
static cq_status legacy_with(cq_rt *rt, cq_status (*fn)(cq_rt *rt))
{
    const cq_tensor *a = cq_rt_in(rt, 0), *b = cq_rt_in(rt, 1);
    cq_val           in[2] = { rt->in[0], rt->in[1] };
    const cq_val    *given = rt->in;
    cq_rt_sizes      sizes;
    cq_tensor       *view;
    uint32_t         axis;
    cq_status        status;

    if (cq_rt_attr_given(rt, "axis") && cq_rt_int(rt, "broadcast") && b->rank) {
        CQ_TRY(cq_rt_axis(&axis, cq_rt_int(rt, "axis"), a->rank));
        cq_rt_sizes_of(&sizes, b);
        while (sizes.rank < a->rank - axis)
            sizes.at[sizes.rank++] = 1;
        CQ_TRY(cq_rt_reshape(&view, rt, b, &sizes));
    } else {
        view = cq_tensor_retain((cq_tensor *)b);
    }
    in[1]  = cq_val_of_tensor(view);
    rt->in = in;
    status = fn(rt);
    rt->in = given;
    cq_tensor_release(view);
    return status;
}

static cq_status legacy(cq_rt *rt)
{
    return legacy_with(rt, binary);
}

static cq_status legacy_comparison(cq_rt *rt)
{
    return legacy_with(rt, comparison);
}

/* Most powers are squares; some are cubes. */
bool cq_rt_power_is_simple(cq_ew_op *out, const cq_tensor *exponent)
{
    double n = cq_tensor_numel(exponent) == 1 ? cq_tensor_get_f64(exponent, 0) : 0;

    *out = n == 2.0 ? CQ_EW_SQUARE : CQ_EW_CUBE;
    return n == 2.0 || n == 3.0;
}

/* The result has the type of the base; operands of different types are computed in float64. */
static cq_status power(cq_rt *rt)
{
    cq_dtype x = cq_rt_in(rt, 0)->dtype, y = cq_rt_in(rt, 1)->dtype;
    bool     mixed = cq_dtype_is_float(x) != cq_dtype_is_float(y);
    cq_ew_op op;

    if (cq_dtype_is_float(x) && cq_rt_in(rt, 1)->rank <= cq_rt_in(rt, 0)->rank &&
        cq_rt_power_is_simple(&op, cq_rt_in(rt, 1)))
        return with_params(rt, op, NULL);
    return apply_binary(rt, CQ_EW_POW, mixed && x != CQ_DTYPE_F32 ? CQ_DTYPE_F64 : CQ_DTYPE_NONE,
                        x);
}

static cq_status modulo(cq_rt *rt)
{
    return apply_binary(rt, cq_rt_int(rt, "fmod") ? CQ_EW_FMOD : CQ_EW_REMAINDER, CQ_DTYPE_NONE,
                        cq_rt_in(rt, 0)->dtype);
}

static cq_status bit_shift(cq_rt *rt)
{
    bool left = cq_rt_is(rt, "direction", "LEFT");

    if (!left && !cq_rt_is(rt, "direction", "RIGHT"))
        return cq_fail(CQ_E_INVALID, NULL, NULL, "direction is '%s', expected LEFT or RIGHT",
                       cq_rt_string(rt, "direction"));
    return apply_binary(rt, left ? CQ_EW_SHIFT_LEFT : CQ_EW_SHIFT_RIGHT, CQ_DTYPE_NONE,
                        cq_rt_in(rt, 0)->dtype);
}

/* The slope is broadcast to x, never x to the slope. */
static cq_status prelu(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *slope = cq_rt_in(rt, 1);
    cq_tensor       *y;

    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    return cq_apply2(y, CQ_EW_PRELU, NULL, CQ_DTYPE_NONE, x, slope);
}

/* Before version 7 a slope of rank 1 had one element per channel. */
static cq_status legacy_prelu(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *slope = cq_rt_in(rt, 1);
    cq_rt_sizes      sizes = { .rank = x->rank ? x->rank - 1 : 0 };
    cq_tensor       *y, *view;
    cq_status        status;

    if (slope->rank != 1 || x->rank < 2)
        return prelu(rt);
    for (uint32_t i = 0; i < sizes.rank; i++)
        sizes.at[i] = i == 0 ? cq_size_of(slope, 0) : 1;
    CQ_TRY(cq_rt_reshape(&view, rt, slope, &sizes));
    status = cq_rt_out_like(&y, rt, 0, x);
    if (status == CQ_OK)
        status = cq_apply2(y, CQ_EW_PRELU, NULL, CQ_DTYPE_NONE, x, view);
    cq_tensor_release(view);
    return status;
}

/* ---- variadic operators ---- */

static cq_status variadic(cq_rt *rt)
{
    cq_ew_op         op = (cq_ew_op)rt->step->row->arg;
    const cq_tensor *x  = cq_rt_in(rt, 0);
    cq_rt_sizes      sizes;
    cq_tensor       *y, *wide;
    cq_status        status;

    if (rt->n_in == 1)
        return cq_rt_pass(rt, 0, x);
    cq_rt_sizes_of(&sizes, x);
    for (size_t i = 1; i < rt->n_in; i++)
        CQ_TRY(cq_rt_broadcast_with(&sizes, cq_rt_in(rt, i)));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    if (rt->n_in == 2)
        return cq_apply2(y, op, NULL, x->dtype, x, cq_rt_in(rt, 1));
    CQ_TRY(cq_rt_expand(&wide, x, &sizes));
    status = cq_tensor_copy_into(y, wide);
    cq_tensor_release(wide);
    for (size_t i = 1; i < rt->n_in && status == CQ_OK; i++)
        status = cq_apply2(y, op, NULL, x->dtype, y, cq_rt_in(rt, i));
    return status;
}

static double divide(double x, const double *by)
{
    return x / *by;
}

static cq_status mean(cq_rt *rt)
{
    double     n = (double)rt->n_in;
    cq_tensor *y;

    if (rt->n_in == 1)
        return cq_rt_pass(rt, 0, cq_rt_in(rt, 0));
    CQ_TRY(variadic(rt));
    y = rt->out[0].u.tensor;
    return cq_rt_map(y, y, divide, &n);
}

/* Views a complex tensor as floats with an additional axis of two, or a condition with an
 * additional axis of one. */
static cq_status with_parts(cq_tensor **out, const cq_tensor *t)
{
    bool    is_complex = cq_dtype_is_complex(t->dtype);
    int64_t strides[CQ_MAX_RANK], scale = is_complex ? 2 : 1;
    cq_int  sizes[CQ_MAX_RANK];

    *out = NULL;
    if (t->rank == CQ_MAX_RANK)
        return cq_rt_misfit(t, NULL);
    for (uint32_t i = 0; i < t->rank; i++) {
        sizes[i]   = t->sizes[i];
        strides[i] = t->strides[i] * scale;
    }
    sizes[t->rank]   = cq_i(scale);
    strides[t->rank] = 1;
    return cq_tensor_new_view(out, t, cq_dtype_part(t->dtype), t->rank + 1, sizes, strides,
                              t->offset * scale);
}

static cq_status where_complex(cq_tensor *y, const cq_tensor *const *in)
{
    cq_tensor *parts[4] = { NULL };
    cq_status  status   = with_parts(&parts[3], y);

    for (int i = 0; i < 3 && status == CQ_OK; i++)
        status = with_parts(&parts[i], in[i]);
    if (status == CQ_OK)
        status =
            cq_apply3(parts[3], CQ_EW_WHERE, NULL, parts[3]->dtype, parts[0], parts[1], parts[2]);
    for (int i = 0; i < 4; i++)
        cq_tensor_release(parts[i]);
    return status;
}

static cq_status where(cq_rt *rt)
{
    const cq_tensor *const in[] = { cq_rt_in(rt, 0), cq_rt_in(rt, 1), cq_rt_in(rt, 2) };
    cq_rt_sizes            sizes;
    cq_tensor             *y;

    CQ_TRY(cq_rt_broadcast(&sizes, in, 3));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, in[1]->dtype, &sizes));
    if (cq_dtype_is_complex(y->dtype))
        return where_complex(y, in);
    return cq_apply3(y, CQ_EW_WHERE, NULL, y->dtype, in[0], in[1], in[2]);
}

/* ---- descriptions for fused chains ---- */

bool cq_rt_elementwise_of(cq_rt_elementwise *out, const cq_rt_step *step)
{
    static const struct {
        cq_status (*fn)(cq_rt *rt);
        uint32_t n_in, max_in;
        int      op; /* -1: the operation in the row */
    } known[] = { { unary, 1, 1, -1 },         { unary_real, 1, 1, -1 },
                  { binary, 2, 2, -1 },        { variadic, 2, 3, -1 },
                  { by_attributes, 1, 1, -1 }, { clip, 1, 3, CQ_EW_CLAMP },
                  { power, 2, 2, CQ_EW_POW },  { prelu, 2, 2, CQ_EW_PRELU },
                  { where, 3, 3, CQ_EW_WHERE } };
    cq_rt rt  = { .step = step };
    int   arg = step->row->arg;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].fn != step->row->fn || step->n_in < known[i].n_in ||
            step->n_in > known[i].max_in)
            continue;
        *out    = (cq_rt_elementwise){ .params        = { .a = 1, .ia = 1 },
                                       .is_like_first = step->row->fn == prelu };
        out->op = step->row->fn == by_attributes ? with_attributes[arg](&out->params, &rt)
                                                 : (cq_ew_op)(known[i].op < 0 ? arg : known[i].op);
        return true;
    }
    return false;
}

#define UNARY(name, since, id)                                                                     \
    {                                                                                              \
        name, since, unary, CQ_RT_OVER_0, CQ_EW_##id                                               \
    }
#define BINARY(name, since, id)                                                                    \
    {                                                                                              \
        name, since, binary, CQ_RT_OVER_0 | CQ_RT_OVER_1, CQ_EW_##id                               \
    }
#define LEGACY(name, id)                                                                           \
    {                                                                                              \
        name, 1, legacy, 0, CQ_EW_##id                                                             \
    }
#define COMPARISON(name, since, id)                                                                \
    {                                                                                              \
        name, since, comparison, 0, CQ_EW_##id                                                     \
    }
#define LEGACY_COMPARISON(name, id)                                                                \
    {                                                                                              \
        name, 1, legacy_comparison, 0, CQ_EW_##id                                                  \
    }

const cq_rt_row cq_rt_rows_elementwise[] = {
    UNARY("Abs", 1, ABS),
    UNARY("Acos", 7, ACOS),
    UNARY("Acosh", 9, ACOSH),
    UNARY("Asin", 7, ASIN),
    UNARY("Asinh", 9, ASINH),
    UNARY("Atan", 7, ATAN),
    UNARY("Atanh", 9, ATANH),
    UNARY("BitwiseNot", 18, BITWISE_NOT),
    UNARY("Ceil", 1, CEIL),
    UNARY("Cos", 7, COS),
    UNARY("Cosh", 9, COSH),
    UNARY("Exp", 1, EXP),
    UNARY("Floor", 1, FLOOR),
    UNARY("HardSwish", 14, HARDSWISH),
    UNARY("Log", 1, LOG),
    UNARY("Mish", 18, MISH),
    UNARY("Neg", 1, NEG),
    UNARY("Not", 1, LOGICAL_NOT),
    UNARY("Reciprocal", 1, RECIPROCAL),
    UNARY("Relu", 1, RELU),
    UNARY("Round", 11, ROUND),
    UNARY("Sigmoid", 1, SIGMOID),
    UNARY("Sign", 9, SIGN),
    UNARY("Sin", 7, SIN),
    UNARY("Sinh", 9, SINH),
    UNARY("Softsign", 1, SOFTSIGN),
    UNARY("Sqrt", 1, SQRT),
    UNARY("Tan", 7, TAN),
    UNARY("Tanh", 1, TANH),
    { "Erf", 9, unary_real, CQ_RT_OVER_0, CQ_EW_ERF },
    { "LeakyRelu", 1, by_attributes, CQ_RT_OVER_0, LEAKY_RELU },
    { "Elu", 1, by_attributes, CQ_RT_OVER_0, ELU },
    { "Selu", 1, by_attributes, CQ_RT_OVER_0, SELU },
    { "Celu", 12, by_attributes, CQ_RT_OVER_0, CELU },
    { "Gelu", 20, by_attributes, CQ_RT_OVER_0, GELU },
    { "Swish", 24, swish, 0, 0 },
    { "SwiGLU", 28, swiglu, 0, 0 },
    { "HardSigmoid", 1, by_attributes, CQ_RT_OVER_0, HARD_SIGMOID },
    { "Softplus", 1, by_attributes, CQ_RT_OVER_0, SOFTPLUS },
    { "ThresholdedRelu", 10, by_attributes, CQ_RT_OVER_0, THRESHOLDED_RELU },
    { "Shrink", 9, shrink, CQ_RT_OVER_0, 0 },
    { "IsNaN", 9, is_nan, 0, 0 },
    { "IsInf", 10, is_inf, 0, 0 },
    { "Clip", 1, by_attributes, CQ_RT_OVER_0, CLIP_BY_ATTRIBUTES },
    { "Clip", 11, clip, CQ_RT_OVER_0, 0 },

    LEGACY("Add", ADD),
    BINARY("Add", 7, ADD),
    LEGACY("Sub", SUB),
    BINARY("Sub", 7, SUB),
    LEGACY("Mul", MUL),
    BINARY("Mul", 7, MUL),
    LEGACY("Div", DIV),
    BINARY("Div", 7, DIV),
    LEGACY("Pow", POW),
    { "Pow", 7, power, CQ_RT_OVER_0 | CQ_RT_OVER_1, 0 },
    { "Mod", 10, modulo, CQ_RT_OVER_0 | CQ_RT_OVER_1, 0 },
    { "BitShift", 11, bit_shift, CQ_RT_OVER_0 | CQ_RT_OVER_1, 0 },
    BINARY("BitwiseAnd", 18, BITWISE_AND),
    BINARY("BitwiseOr", 18, BITWISE_OR),
    BINARY("BitwiseXor", 18, BITWISE_XOR),
    { "PRelu", 1, legacy_prelu, 0, 0 },
    { "PRelu", 7, prelu, CQ_RT_OVER_0, 0 },

    LEGACY_COMPARISON("And", LOGICAL_AND),
    COMPARISON("And", 7, LOGICAL_AND),
    LEGACY_COMPARISON("Or", LOGICAL_OR),
    COMPARISON("Or", 7, LOGICAL_OR),
    LEGACY_COMPARISON("Xor", LOGICAL_XOR),
    COMPARISON("Xor", 7, LOGICAL_XOR),
    LEGACY_COMPARISON("Equal", EQ),
    COMPARISON("Equal", 7, EQ),
    { "Equal", 19, comparison, CQ_RT_TEXT_IN, CQ_EW_EQ },
    LEGACY_COMPARISON("Greater", GT),
    COMPARISON("Greater", 7, GT),
    LEGACY_COMPARISON("Less", LT),
    COMPARISON("Less", 7, LT),
    COMPARISON("GreaterOrEqual", 12, GE),
    COMPARISON("LessOrEqual", 12, LE),

    { "Max", 1, variadic, CQ_RT_OVER_0, CQ_EW_MAXIMUM },
    { "Min", 1, variadic, CQ_RT_OVER_0, CQ_EW_MINIMUM },
    { "Sum", 1, variadic, CQ_RT_OVER_0, CQ_EW_ADD },
    { "Mean", 1, mean, CQ_RT_OVER_0, CQ_EW_ADD },
    { "Where", 9, where, CQ_RT_TEXT_OUT, 0 },
    { 0 },
};
