/* The calls of <calque/nn.h>: each is one operator of the table. */
#include "aten/core/ctx.h"

#include <math.h>

/* ---- sizes ---- */

static cq_int host_int(cq_ctx *cx, const char *name, const cq_val *args, size_t n)
{
    const cq_op *op = cq_op_or_fail(cx, name);
    cq_val       result;

    if (!op || cq_op_call(cx, op, args, n, &result, 1) != CQ_OK || result.kind != CQ_VAL_INT)
        return cq_i(0);
    return result.u.i;
}

CQ_API cq_int cq_size(cq_ctx *cx, cq_tensor *x, int axis)
{
    return host_int(cx, "aten::size.int", (cq_val[]){ TENSOR(x), INT(axis) }, 2);
}

CQ_API cq_int cq_numel(cq_ctx *cx, cq_tensor *x)
{
    return host_int(cx, "aten::numel", (cq_val[]){ TENSOR(x) }, 1);
}

CQ_API cq_int cq_int_plus(cq_ctx *cx, cq_int a, cq_int b)
{
    CQ_NEED_ELSE(cx, (cq_int){ 0 });
    return cq_int_add(cx->symbols, a, b);
}

CQ_API cq_int cq_int_minus(cq_ctx *cx, cq_int a, cq_int b)
{
    CQ_NEED_ELSE(cx, (cq_int){ 0 });
    return cq_int_sub(cx->symbols, a, b);
}

CQ_API cq_int cq_int_times(cq_ctx *cx, cq_int a, cq_int b)
{
    CQ_NEED_ELSE(cx, (cq_int){ 0 });
    return cq_int_mul(cx->symbols, a, b);
}

CQ_API cq_int cq_int_over(cq_ctx *cx, cq_int a, cq_int b)
{
    CQ_NEED_ELSE(cx, (cq_int){ 0 });
    return cq_int_floordiv(cx->symbols, a, b);
}

CQ_API int64_t cq_int_value(cq_ctx *cx, cq_int a)
{
    CQ_NEED_ELSE(cx, 0);
    if (a.expr && cx->listener)
        cx->listener->baked(cx->listener_self, cx, a.expr->text, a);
    return a.value;
}

static cq_val item(cq_ctx *cx, cq_tensor *x)
{
    const cq_op *op  = cq_op_or_fail(cx, "aten::item");
    cq_val       arg = TENSOR(x), result = CQ_NONE;

    if (op)
        cq_op_call(cx, op, &arg, 1, &result, 1);
    return result;
}

CQ_API double cq_item(cq_ctx *cx, cq_tensor *x)
{
    cq_val v = item(cx, x);

    return v.kind == CQ_VAL_FLOAT  ? v.u.f.value
           : v.kind == CQ_VAL_INT  ? (double)v.u.i.value
           : v.kind == CQ_VAL_BOOL ? v.u.b.value
                                   : 0;
}

CQ_API int64_t cq_item_i64(cq_ctx *cx, cq_tensor *x)
{
    cq_val v = item(cx, x);

    return v.kind == CQ_VAL_FLOAT  ? (int64_t)v.u.f.value
           : v.kind == CQ_VAL_INT  ? v.u.i.value
           : v.kind == CQ_VAL_BOOL ? v.u.b.value
                                   : 0;
}

/* ---- new tensors ---- */

CQ_API cq_tensor *cq_zeros(cq_ctx *cx, cq_dtype dtype, size_t rank, const cq_int *sizes)
{
    return CQ_OP(cx, "aten::zeros", cq_ints(cx, sizes, rank), DTYPE(dtype));
}

CQ_API cq_tensor *cq_ones(cq_ctx *cx, cq_dtype dtype, size_t rank, const cq_int *sizes)
{
    return CQ_OP(cx, "aten::ones", cq_ints(cx, sizes, rank), DTYPE(dtype));
}

CQ_API cq_tensor *cq_full(cq_ctx *cx, cq_dtype dtype, size_t rank, const cq_int *sizes,
                          double value)
{
    return CQ_OP(cx, "aten::full", cq_ints(cx, sizes, rank), FLOAT(value), DTYPE(dtype));
}

CQ_API cq_tensor *cq_full_like(cq_ctx *cx, cq_tensor *x, double value)
{
    return CQ_OP(cx, "aten::full_like", TENSOR(x), FLOAT(value));
}

CQ_API cq_tensor *cq_arange(cq_ctx *cx, cq_int start, cq_int end, int64_t step)
{
    return CQ_OP(cx, "aten::arange.start_step", SIZE(start), SIZE(end), INT(step));
}

CQ_API cq_tensor *cq_arange_f(cq_ctx *cx, cq_dtype dtype, double start, double end, double step)
{
    return CQ_OP(cx, "aten::arange.start_step", FLOAT(start), FLOAT(end), FLOAT(step),
                 DTYPE(dtype));
}

CQ_API cq_tensor *cq_rand(cq_ctx *cx, cq_dtype dtype, size_t rank, const cq_int *sizes)
{
    return CQ_OP(cx, "aten::rand", cq_ints(cx, sizes, rank), DTYPE(dtype));
}

CQ_API cq_tensor *cq_randn(cq_ctx *cx, cq_dtype dtype, size_t rank, const cq_int *sizes)
{
    return CQ_OP(cx, "aten::randn", cq_ints(cx, sizes, rank), DTYPE(dtype));
}

CQ_API cq_tensor *cq_to(cq_ctx *cx, cq_tensor *x, cq_dtype dtype)
{
    cq_tensor *t = NULL;

    CQ_NEED_ELSE(cx, NULL);
    /* int4 and other types of ONNX have no number in PyTorch that an operator could be given. */
    if (x && cx->status == CQ_OK && !cq_tensor_is_fake(x) && dtype != CQ_DTYPE_NONE &&
        cq_dtype_to_torch(dtype) < 0) {
        cq_ctx_fail(cx, cq_tensor_clone(&t, x, dtype));
        return t ? cq_ctx_own_tensor(cx, t) : NULL;
    }
    return CQ_OP(cx, "aten::to.dtype", TENSOR(x), DTYPE(dtype));
}

CQ_API cq_tensor *cq_detach(cq_ctx *cx, cq_tensor *x)
{
    return CQ_OP(cx, "aten::detach", TENSOR(x));
}

/* ---- what has one form many times ---- */

#define UNARY(name)                                                                                \
    CQ_API cq_tensor *cq_##name(cq_ctx *cx, cq_tensor *x)                                          \
    {                                                                                              \
        return CQ_OP(cx, "aten::" #name, TENSOR(x));                                               \
    }
#define BINARY(name, op)                                                                           \
    CQ_API cq_tensor *cq_##name(cq_ctx *cx, cq_tensor *a, cq_tensor *b)                            \
    {                                                                                              \
        return CQ_OP(cx, "aten::" op, TENSOR(a), TENSOR(b));                                       \
    }
#define WITH_NUMBER(name, op)                                                                      \
    CQ_API cq_tensor *cq_##name(cq_ctx *cx, cq_tensor *a, double b)                                \
    {                                                                                              \
        return CQ_OP(cx, "aten::" op, TENSOR(a), number(a, b));                                    \
    }

/* A whole number beside an integer tensor is an int, so that the result stays one. */
static cq_val number(const cq_tensor *beside, double f)
{
    return beside && !cq_dtype_is_float(beside->dtype) && floor(f) == f && fabs(f) < 0x1p53
               ? INT((int64_t)f)
               : FLOAT(f);
}

UNARY(zeros_like)
UNARY(ones_like)
UNARY(clone)
UNARY(contiguous)
UNARY(logical_not)
UNARY(bitwise_not)
UNARY(neg)
UNARY(abs)
UNARY(sqrt)
UNARY(rsqrt)
UNARY(exp)
UNARY(log)
UNARY(sin)
UNARY(cos)
UNARY(tan)
UNARY(asin)
UNARY(acos)
UNARY(atan)
UNARY(tanh)
UNARY(sigmoid)
UNARY(erf)
UNARY(floor)
UNARY(ceil)
UNARY(round)
UNARY(sign)
UNARY(reciprocal)
UNARY(relu)
UNARY(relu_)
UNARY(relu6)
UNARY(selu)
UNARY(silu)
UNARY(mish)
UNARY(hardswish)
UNARY(hardsigmoid)
UNARY(t)
UNARY(prod)
UNARY(max)
UNARY(min)

BINARY(type_as, "type_as")
BINARY(add, "add.Tensor")
BINARY(sub, "sub.Tensor")
BINARY(mul, "mul.Tensor")
BINARY(div, "div.Tensor")
BINARY(pow, "pow.Tensor_Tensor")
BINARY(maximum, "maximum")
BINARY(minimum, "minimum")
BINARY(eq, "eq.Tensor")
BINARY(ne, "ne.Tensor")
BINARY(gt, "gt.Tensor")
BINARY(lt, "lt.Tensor")
BINARY(ge, "ge.Tensor")
BINARY(le, "le.Tensor")
BINARY(logical_and, "logical_and")
BINARY(logical_or, "logical_or")
BINARY(logical_xor, "logical_xor")
BINARY(bitwise_and, "bitwise_and.Tensor")
BINARY(bitwise_or, "bitwise_or.Tensor")
BINARY(bitwise_xor, "bitwise_xor.Tensor")
BINARY(prelu, "prelu")
BINARY(mm, "mm")
BINARY(bmm, "bmm")
BINARY(matmul, "matmul")
BINARY(embedding, "embedding")
BINARY(add_, "add_.Tensor")
BINARY(mul_, "mul_.Tensor")
BINARY(copy_, "copy_")

WITH_NUMBER(add_scalar, "add.Scalar")
WITH_NUMBER(sub_scalar, "sub.Scalar")
WITH_NUMBER(mul_scalar, "mul.Scalar")
WITH_NUMBER(div_scalar, "div.Scalar")
WITH_NUMBER(pow_scalar, "pow.Tensor_Scalar")
WITH_NUMBER(eq_scalar, "eq.Scalar")
WITH_NUMBER(ne_scalar, "ne.Scalar")
WITH_NUMBER(gt_scalar, "gt.Scalar")
WITH_NUMBER(lt_scalar, "lt.Scalar")
WITH_NUMBER(ge_scalar, "ge.Scalar")
WITH_NUMBER(le_scalar, "le.Scalar")
WITH_NUMBER(fill_, "fill_.Scalar")
WITH_NUMBER(leaky_relu, "leaky_relu")
WITH_NUMBER(elu, "elu")
WITH_NUMBER(celu, "celu")

CQ_API cq_tensor *cq_add_alpha(cq_ctx *cx, cq_tensor *a, cq_tensor *b, double alpha)
{
    return CQ_OP(cx, "aten::add.Tensor", TENSOR(a), TENSOR(b), number(a, alpha));
}

CQ_API cq_tensor *cq_div_mode(cq_ctx *cx, cq_tensor *a, cq_tensor *b, const char *rounding)
{
    return CQ_OP(cx, "aten::div.Tensor_mode", TENSOR(a), TENSOR(b),
                 rounding ? cq_str_val(cx, rounding) : CQ_NONE);
}

CQ_API cq_tensor *cq_where(cq_ctx *cx, cq_tensor *condition, cq_tensor *a, cq_tensor *b)
{
    return CQ_OP(cx, "aten::where.self", TENSOR(condition), TENSOR(a), TENSOR(b));
}

CQ_API cq_tensor *cq_masked_fill(cq_ctx *cx, cq_tensor *x, cq_tensor *mask, double value)
{
    return CQ_OP(cx, "aten::masked_fill.Scalar", TENSOR(x), TENSOR(mask), number(x, value));
}

CQ_API cq_tensor *cq_clamp(cq_ctx *cx, cq_tensor *x, double low, double high)
{
    return CQ_OP(cx, "aten::clamp", TENSOR(x), low == -INFINITY ? CQ_NONE : number(x, low),
                 high == INFINITY ? CQ_NONE : number(x, high));
}

/* ---- activations ---- */

CQ_API cq_tensor *cq_gelu(cq_ctx *cx, cq_tensor *x, bool tanh_approximation)
{
    return CQ_OP(cx, "aten::gelu", TENSOR(x), cq_str_val(cx, tanh_approximation ? "tanh" : "none"));
}

CQ_API cq_tensor *cq_hardtanh(cq_ctx *cx, cq_tensor *x, double low, double high)
{
    return CQ_OP(cx, "aten::hardtanh", TENSOR(x), FLOAT(low), FLOAT(high));
}

CQ_API cq_tensor *cq_softplus(cq_ctx *cx, cq_tensor *x, double beta, double threshold)
{
    return CQ_OP(cx, "aten::softplus", TENSOR(x), FLOAT(beta), FLOAT(threshold));
}

CQ_API cq_tensor *cq_threshold(cq_ctx *cx, cq_tensor *x, double threshold, double value)
{
    return CQ_OP(cx, "aten::threshold", TENSOR(x), FLOAT(threshold), FLOAT(value));
}

CQ_API cq_tensor *cq_glu(cq_ctx *cx, cq_tensor *x, int dim)
{
    return CQ_OP(cx, "aten::glu", TENSOR(x), INT(dim));
}

CQ_API cq_tensor *cq_softmax(cq_ctx *cx, cq_tensor *x, int dim)
{
    return CQ_OP(cx, "aten::softmax.int", TENSOR(x), INT(dim));
}

CQ_API cq_tensor *cq_log_softmax(cq_ctx *cx, cq_tensor *x, int dim)
{
    return CQ_OP(cx, "aten::log_softmax.int", TENSOR(x), INT(dim));
}

/* ---- products ---- */

CQ_API cq_tensor *cq_addmm(cq_ctx *cx, cq_tensor *bias, cq_tensor *a, cq_tensor *b, double beta,
                           double alpha)
{
    return CQ_OP(cx, "aten::addmm", TENSOR(bias), TENSOR(a), TENSOR(b), FLOAT(beta), FLOAT(alpha));
}

CQ_API cq_tensor *cq_linear(cq_ctx *cx, cq_tensor *x, cq_tensor *weight, cq_tensor *bias)
{
    return CQ_OP(cx, "aten::linear", TENSOR(x), TENSOR(weight), TENSOR(bias));
}

/* ---- convolution and pooling ---- */

/* n numbers, 0 standing for otherwise's (or for 1, if that is NULL). */
static cq_val numbers(cq_ctx *cx, size_t n, const int64_t *given, const int64_t *otherwise)
{
    int64_t v[3];

    for (size_t i = 0; i < n; i++)
        v[i] = given && given[i] ? given[i] : otherwise ? otherwise[i] : 1;
    return cq_i64s(cx, v, n);
}

static const int64_t zeros[3];

static cq_tensor *conv(cq_ctx *cx, size_t n, cq_tensor *x, cq_tensor *weight, cq_tensor *bias,
                       const int64_t *stride, const int64_t *padding, const int64_t *dilation,
                       int64_t groups)
{
    static const char *const names[] = { "aten::conv1d", "aten::conv2d", "aten::conv3d" };

    return CQ_OP(cx, names[n - 1], TENSOR(x), TENSOR(weight), TENSOR(bias),
                 numbers(cx, n, stride, NULL), numbers(cx, n, padding, zeros),
                 numbers(cx, n, dilation, NULL), INT(groups ? groups : 1));
}

static cq_tensor *conv_transpose(cq_ctx *cx, size_t n, cq_tensor *x, cq_tensor *weight,
                                 cq_tensor *bias, const int64_t *stride, const int64_t *padding,
                                 const int64_t *dilation, const int64_t *output_padding,
                                 int64_t groups)
{
    static const char *const names[] = { "aten::conv_transpose1d", "aten::conv_transpose2d.input",
                                         "aten::conv_transpose3d.input" };

    return CQ_OP(cx, names[n - 1], TENSOR(x), TENSOR(weight), TENSOR(bias),
                 numbers(cx, n, stride, NULL), numbers(cx, n, padding, zeros),
                 numbers(cx, n, output_padding, zeros), INT(groups ? groups : 1),
                 numbers(cx, n, dilation, NULL));
}

#define CONV(n)                                                                                    \
    CQ_API cq_tensor *cq_conv##n##d(cq_ctx *cx, cq_tensor *x, cq_tensor *weight, cq_tensor *bias,  \
                                    const cq_conv##n##d_options *o)                                \
    {                                                                                              \
        static const cq_conv##n##d_options defaults;                                               \
                                                                                                   \
        o = o ? o : &defaults;                                                                     \
        return conv(cx, n, x, weight, bias, o->stride, o->padding, o->dilation, o->groups);        \
    }                                                                                              \
    CQ_API cq_tensor *cq_conv_transpose##n##d(cq_ctx *cx, cq_tensor *x, cq_tensor *weight,         \
                                              cq_tensor *bias, const cq_conv##n##d_options *o)     \
    {                                                                                              \
        static const cq_conv##n##d_options defaults;                                               \
                                                                                                   \
        o = o ? o : &defaults;                                                                     \
        return conv_transpose(cx, n, x, weight, bias, o->stride, o->padding, o->dilation,          \
                              o->output_padding, o->groups);                                       \
    }

CONV(1)
CONV(2)
CONV(3)

static cq_tensor *avg_pool(cq_ctx *cx, size_t n, const char *name, cq_tensor *x,
                           const int64_t *kernel, const int64_t *stride, const int64_t *padding,
                           bool ceil_mode, bool exclude_pad)
{
    return CQ_OP(cx, name, TENSOR(x), cq_i64s(cx, kernel, n), numbers(cx, n, stride, kernel),
                 numbers(cx, n, padding, zeros), BOOL(ceil_mode), BOOL(!exclude_pad));
}

#define POOL(n)                                                                                    \
    CQ_API cq_tensor *cq_max_pool##n##d(cq_ctx *cx, cq_tensor *x, const cq_pool##n##d *o)          \
    {                                                                                              \
        CQ_NEED_ELSE(cx &&o, NULL);                                                                \
        return CQ_OP(cx, "aten::max_pool" #n "d", TENSOR(x), cq_i64s(cx, o->kernel, n),            \
                     numbers(cx, n, o->stride, o->kernel), numbers(cx, n, o->padding, zeros),      \
                     numbers(cx, n, o->dilation, NULL), BOOL(o->ceil_mode));                       \
    }                                                                                              \
    CQ_API cq_tensor *cq_avg_pool##n##d(cq_ctx *cx, cq_tensor *x, const cq_pool##n##d *o)          \
    {                                                                                              \
        CQ_NEED_ELSE(cx &&o, NULL);                                                                \
        return avg_pool(cx, n, "aten::avg_pool" #n "d", x, o->kernel, o->stride, o->padding,       \
                        o->ceil_mode, o->exclude_pad);                                             \
    }

POOL(1)
POOL(2)
POOL(3)

CQ_API cq_tensor *cq_adaptive_avg_pool(cq_ctx *cx, cq_tensor *x, size_t n, const int64_t *sizes)
{
    static const char *const names[] = { "aten::adaptive_avg_pool1d", "aten::adaptive_avg_pool2d",
                                         "aten::adaptive_avg_pool3d" };

    return n >= 1 && n <= 3 ? CQ_OP(cx, names[n - 1], TENSOR(x), cq_i64s(cx, sizes, n)) : NULL;
}

CQ_API cq_tensor *cq_adaptive_max_pool(cq_ctx *cx, cq_tensor *x, size_t n, const int64_t *sizes)
{
    static const char *const names[] = { "aten::adaptive_max_pool1d", "aten::adaptive_max_pool2d",
                                         "aten::adaptive_max_pool3d" };

    return n >= 1 && n <= 3 ? CQ_OP(cx, names[n - 1], TENSOR(x), cq_i64s(cx, sizes, n)) : NULL;
}

CQ_API cq_tensor *cq_unfold(cq_ctx *cx, cq_tensor *x, const cq_pool2d *o)
{
    CQ_NEED_ELSE(cx, NULL);
    return CQ_OP(cx, "aten::im2col", TENSOR(x), cq_i64s(cx, o->kernel, 2),
                 numbers(cx, 2, o->dilation, NULL), numbers(cx, 2, o->padding, zeros),
                 numbers(cx, 2, o->stride, NULL));
}

CQ_API cq_tensor *cq_interpolate(cq_ctx *cx, cq_tensor *x, size_t n, const int64_t *sizes,
                                 const double *scales, const char *mode, bool align_corners)
{
    CQ_NEED_ELSE(cx, NULL);
    static const struct {
        const char *mode;
        size_t      n;
        const char *op;
        bool        has_align;
    } rows[] = {
        { "nearest", 1, "aten::upsample_nearest1d.vec", false },
        { "nearest", 2, "aten::upsample_nearest2d.vec", false },
        { "nearest", 3, "aten::upsample_nearest3d.vec", false },
        { "linear", 1, "aten::upsample_linear1d.vec", true },
        { "bilinear", 2, "aten::upsample_bilinear2d.vec", true },
        { "bicubic", 2, "aten::upsample_bicubic2d.vec", true },
        { "trilinear", 3, "aten::upsample_trilinear3d.vec", true },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cq_val size  = sizes ? cq_i64s(cx, sizes, n) : CQ_NONE;
        cq_val scale = scales ? cq_f64s(cx, scales, n) : CQ_NONE;

        if (rows[i].n != n || strcmp(rows[i].mode, mode) != 0)
            continue;
        return rows[i].has_align
                   ? CQ_OP(cx, rows[i].op, TENSOR(x), size, BOOL(align_corners), scale)
                   : CQ_OP(cx, rows[i].op, TENSOR(x), size, scale);
    }
    cq_ctx_fail(cx, cq_fail(CQ_E_ARGUMENT, "interpolate", NULL,
                            "unknown mode \"%s\" for %zu dimensions", mode, n));
    return NULL;
}

/* ---- normalisation, dropout ---- */

CQ_API cq_tensor *cq_batch_norm(cq_ctx *cx, cq_tensor *x, cq_tensor *weight, cq_tensor *bias,
                                cq_tensor *running_mean, cq_tensor *running_var, bool training,
                                double momentum, double eps)
{
    return CQ_OP(cx, "aten::batch_norm", TENSOR(x), TENSOR(weight), TENSOR(bias),
                 TENSOR(running_mean), TENSOR(running_var), BOOL(training), FLOAT(momentum),
                 FLOAT(eps), BOOL(false));
}

CQ_API cq_tensor *cq_layer_norm(cq_ctx *cx, cq_tensor *x, size_t n, const int64_t *shape,
                                cq_tensor *weight, cq_tensor *bias, double eps)
{
    return CQ_OP(cx, "aten::layer_norm", TENSOR(x), cq_i64s(cx, shape, n), TENSOR(weight),
                 TENSOR(bias), FLOAT(eps));
}

CQ_API cq_tensor *cq_group_norm(cq_ctx *cx, cq_tensor *x, int64_t groups, cq_tensor *weight,
                                cq_tensor *bias, double eps)
{
    return CQ_OP(cx, "aten::group_norm", TENSOR(x), INT(groups), TENSOR(weight), TENSOR(bias),
                 FLOAT(eps));
}

CQ_API cq_tensor *cq_instance_norm(cq_ctx *cx, cq_tensor *x, cq_tensor *weight, cq_tensor *bias,
                                   double eps)
{
    return CQ_OP(cx, "aten::instance_norm", TENSOR(x), TENSOR(weight), TENSOR(bias), CQ_NONE,
                 CQ_NONE, BOOL(true), FLOAT(0.1), FLOAT(eps), BOOL(false));
}

CQ_API cq_tensor *cq_dropout(cq_ctx *cx, cq_tensor *x, double p, bool training)
{
    return CQ_OP(cx, "aten::dropout", TENSOR(x), FLOAT(p), BOOL(training));
}

CQ_API cq_tensor *cq_feature_dropout(cq_ctx *cx, cq_tensor *x, double p, bool training)
{
    return CQ_OP(cx, "aten::feature_dropout", TENSOR(x), FLOAT(p), BOOL(training));
}
