/* Quantization: q = round(x / scale) + zero_point, clipped to the range of its type. Sums are exact
 * integers; scales are applied in float32, and ties are rounded to even. */
#include "runtime/kernels/families.h"

#include "kernel/conv/conv.h"
#include "kernel/matrix/matmul.h"
#include "runtime/kernels/map.h"
#include "runtime/kernels/quantized.h"
#include "runtime/kernels/window.h"

#include <inttypes.h>
#include <math.h>

/* ---- scales and zero points along an axis ---- */

/* Reshapes t, with one element or as many as axis has, so that it broadcasts to rank dimensions.
 * With blocks, t has that rank already, and each element applies to a block along axis. */
static cq_status along(cq_tensor **out, cq_rt *rt, const cq_tensor *t, const cq_tensor *x,
                       int64_t which, int64_t block)
{
    cq_rt_sizes sizes = { .rank = x->rank };
    uint32_t    axis  = 0;
    cq_tensor  *split, *wide;

    if (cq_tensor_numel(t) == 1 && t->rank <= 1)
        return cq_rt_reshaped(out, rt, t, &(cq_rt_sizes){ 0, { 0 } });
    CQ_TRY(cq_rt_axis(&axis, which, x->rank));
    if (t->rank == 1 && !(block > 0 && x->rank == 1)) {
        for (uint32_t i = 0; i < sizes.rank; i++)
            sizes.at[i] = i == axis ? cq_size_of(t, 0) : 1;
        if (sizes.at[axis] != cq_size_of(x, axis))
            return cq_rt_misfit(x, t);
        return cq_rt_reshaped(out, rt, t, &sizes);
    }
    if (block > cq_size_of(x, axis) && cq_size_of(x, axis) > 0)
        block = cq_size_of(x, axis); /* the rest is cut off anyway */
    if (block < 1 || t->rank != x->rank || x->rank + 1 > CQ_MAX_RANK ||
        cq_size_of(t, axis) != (cq_size_of(x, axis) + block - 1) / block)
        return cq_rt_misfit(x, t);
    /* [.., n, ..] becomes [.., n, block, ..], then [.., n * block, ..], which is cut to x's
     * size. */
    sizes.rank = 0;
    for (uint32_t i = 0; i < t->rank; i++) {
        sizes.at[sizes.rank++] = cq_size_of(t, i);
        if (i == axis)
            sizes.at[sizes.rank++] = 1;
    }
    CQ_TRY(cq_rt_reshaped(&split, rt, t, &sizes));
    sizes.at[axis + 1] = block;
    CQ_TRY(cq_rt_expanded(&wide, rt, split, &sizes));
    cq_rt_sizes_of(&sizes, t);
    sizes.at[axis] *= block;
    CQ_TRY(cq_rt_reshaped(&split, rt, wide, &sizes));
    return cq_rt_sliced(out, rt, split, axis, 0, 1, cq_size_of(x, axis));
}

/* The range of a quantized type. */
static void range_of(double *low, double *high, cq_dtype dtype)
{
    int bits = (int)cq_dtype_bits(dtype);

    *low  = cq_dtype_is_signed(dtype) ? -ldexp(1, bits - 1) : 0;
    *high = cq_dtype_is_signed(dtype) ? ldexp(1, bits - 1) - 1 : ldexp(1, bits) - 1;
}

/* y = round(x / scale) + zero, or round(x * scale) + zero, clipped; zero may be NULL. All operands
 * broadcast to y. For small floats the quotient is rounded to their type, and zero is 0. */
static cq_status quantize_into(cq_rt *rt, cq_tensor *y, const cq_tensor *x, cq_ew_op op,
                               const cq_tensor *scale, const cq_tensor *zero)
{
    bool        is_float = cq_dtype_is_float(y->dtype);
    cq_rt_sizes sizes;
    cq_params   range = { 0 };
    cq_tensor  *real;

    range_of(&range.a, &range.b, y->dtype);
    cq_rt_sizes_of(&sizes, y);
    CQ_TRY(cq_rt_scratch(&real, rt, CQ_DTYPE_F32, sizes.rank, sizes.at));
    CQ_TRY(cq_apply2(real, op, NULL, CQ_DTYPE_F32, x, scale));
    if (!is_float)
        CQ_TRY(cq_apply1(real, CQ_EW_ROUND, NULL, CQ_DTYPE_F32, real));
    if (zero)
        CQ_TRY(cq_apply2(real, CQ_EW_ADD, NULL, CQ_DTYPE_F32, real, zero));
    if (!is_float)
        return cq_apply1(y, CQ_EW_CLAMP, &range, CQ_DTYPE_F32, real);
    return cq_rt_map_to_minifloat(
        y, real, !cq_onnx_schema_attr(rt->step->schema, "saturate") || cq_rt_int(rt, "saturate"),
        CQ_E8M0_UP);
}

static cq_status quantize(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *zero = cq_rt_in(rt, 2);
    int64_t          axis   = rt->step->schema->since < 13 ? 0 : cq_rt_int(rt, "axis");
    int64_t          block  = cq_rt_int(rt, "block_size");
    cq_dtype         dtype  = zero ? zero->dtype : CQ_DTYPE_U8;
    cq_tensor       *scales = NULL, *zeros = NULL, *y;
    cq_rt_sizes      sizes;

    if (!zero && cq_rt_int(rt, "output_dtype"))
        CQ_TRY(cq_rt_out_dtype(&dtype, rt, "output_dtype"));
    cq_rt_sizes_of(&sizes, x);
    CQ_TRY(along(&scales, rt, cq_rt_in(rt, 1), x, axis, block));
    if (zero)
        CQ_TRY(along(&zeros, rt, zero, x, axis, block));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, dtype, &sizes));
    return quantize_into(rt, y, x, CQ_EW_DIV, scales, zeros);
}

static cq_status dequantize(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *scale = cq_rt_in(rt, 1), *zero = cq_rt_in(rt, 2);
    int64_t          axis   = rt->step->schema->since < 13 ? 0 : cq_rt_int(rt, "axis");
    int64_t          block  = cq_rt_int(rt, "block_size");
    cq_tensor       *scales = NULL, *zeros = NULL, *exact = NULL, *y;
    cq_dtype         dtype = scale->dtype;
    cq_rt_sizes      sizes;

    cq_rt_sizes_of(&sizes, x);
    CQ_TRY(along(&scales, rt, scale, x, axis, block));
    if (cq_rt_int(rt, "output_dtype"))
        CQ_TRY(cq_rt_out_dtype(&dtype, rt, "output_dtype"));
    else if (dtype == CQ_DTYPE_F8E8M0)
        return cq_fail(CQ_E_INVALID, NULL, "set output_dtype to a floating-point type",
                       "x_scale has type float8e8m0, which is not an output type");
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, dtype, &sizes));
    if (zero && !cq_dtype_is_float(x->dtype)) { /* the zero point of a small float is 0 */
        CQ_TRY(along(&zeros, rt, zero, x, axis, block));
        CQ_TRY(cq_rt_scratch(&exact, rt, CQ_DTYPE_I32, sizes.rank, sizes.at));
        CQ_TRY(cq_apply2(exact, CQ_EW_SUB, NULL, CQ_DTYPE_I64, x, zeros));
    }
    return cq_apply2(y, CQ_EW_MUL, NULL, CQ_DTYPE_F32, exact ? exact : x, scales);
}

static cq_status dynamic_quantize(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *dense;
    cq_tensor       *y, *scale, *zero;
    cq_rt_sizes      sizes;
    cq_qimage_params grid;

    cq_rt_sizes_of(&sizes, x);
    if (rt->n_out < 3)
        return cq_fail(CQ_E_INVALID, NULL, NULL, "the node has %zu outputs, expected 3", rt->n_out);
    CQ_TRY(cq_rt_contiguous(&dense, rt, x));
    cq_rt_dynamic_params(&grid, cq_tensor_data(dense), cq_tensor_numel(x));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, CQ_DTYPE_U8, &sizes));
    CQ_TRY(cq_rt_out(&scale, rt, 1, CQ_DTYPE_F32, 0, NULL));
    CQ_TRY(cq_rt_out(&zero, rt, 2, CQ_DTYPE_U8, 0, NULL));
    *(float *)cq_tensor_data(scale)  = grid.scale;
    *(uint8_t *)cq_tensor_data(zero) = (uint8_t)grid.zero;
    return quantize_into(rt, y, x, CQ_EW_DIV, scale, zero);
}

/* ---- products ---- */

/* The accumulator type for products of a and b. */
static cq_dtype sum_dtype(const cq_tensor *a, const cq_tensor *b)
{
    bool is_float = cq_dtype_is_float(a->dtype) || cq_dtype_is_float(b->dtype);

    return is_float ? CQ_DTYPE_F32 : CQ_DTYPE_I32;
}

/* Subtracts the zero point of t in the accumulator type: int32, in which its products are exact, or
 * float32 for small floats. zero has one element, or one per element of axis. */
static cq_status centred(cq_tensor **out, cq_rt *rt, const cq_tensor *t, const cq_tensor *zero,
                         int64_t axis, cq_dtype dtype)
{
    cq_dtype    compute = dtype == CQ_DTYPE_F32 ? CQ_DTYPE_F32 : CQ_DTYPE_I64;
    cq_tensor  *zeros   = NULL;
    cq_rt_sizes sizes;

    cq_rt_sizes_of(&sizes, t);
    CQ_TRY(cq_rt_scratch(out, rt, dtype, sizes.rank, sizes.at));
    if (!zero)
        return cq_tensor_copy_into(*out, t);
    if (zero->rank <= 1)
        CQ_TRY(along(&zeros, rt, zero, t, axis, 0));
    return cq_apply2(*out, CQ_EW_SUB, NULL, compute, t, zeros ? zeros : zero);
}

/* Computes a @ b in y's type. The zero point of a is per row, that of b per column. */
static cq_status integer_matmul(cq_tensor *y, cq_rt *rt, const cq_tensor *a, const cq_tensor *b,
                                const cq_tensor *a_zero, const cq_tensor *b_zero)
{
    cq_tensor *left = NULL, *right = NULL;

    CQ_TRY(centred(&left, rt, a, a_zero, a->rank > 1 ? -2 : -1, y->dtype));
    CQ_TRY(centred(&right, rt, b, b_zero, -1, y->dtype));
    return cq_kernel_matmul(y, left, right);
}

static cq_status matmul_integer(cq_rt *rt)
{
    const cq_tensor *a = cq_rt_in(rt, 0), *b = cq_rt_in(rt, 1);
    cq_rt_sizes      sizes;
    cq_tensor       *y;

    CQ_TRY(cq_rt_product_sizes(&sizes, a, b));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, CQ_DTYPE_I32, &sizes));
    return integer_matmul(y, rt, a, b, cq_rt_in(rt, 2), cq_rt_in(rt, 3));
}

/* y = sums * (x_scale * w_scale / y_scale) + zero, rounded as ONNX Runtime does; the scale has w's
 * shape. */
static cq_status requantize(cq_rt *rt, cq_tensor *y, const cq_tensor *sums,
                            const cq_tensor *x_scale, const cq_tensor *w_scale,
                            const cq_tensor *y_scale, const cq_tensor *zero, int64_t axis)
{
    const cq_tensor *const scales[] = { x_scale, w_scale, y_scale };
    cq_tensor             *by, *wide[3];
    cq_rt_sizes            sizes;

    for (int i = 0; i < 3; i++)
        CQ_TRY(along(&wide[i], rt, scales[i], y, i == 1 ? axis : -2, 0));
    CQ_TRY(cq_rt_broadcast(&sizes, (const cq_tensor *const *)wide, 3));
    CQ_TRY(cq_rt_scratch(&by, rt, CQ_DTYPE_F32, sizes.rank, sizes.at));
    CQ_TRY(cq_apply2(by, CQ_EW_MUL, NULL, CQ_DTYPE_F32, wide[0], wide[1]));
    CQ_TRY(cq_apply2(by, CQ_EW_DIV, NULL, CQ_DTYPE_F32, by, wide[2]));
    return quantize_into(rt, y, sums, CQ_EW_MUL, by, zero);
}

/* Inputs: a, its scale and zero point, b and its, y's scale and zero point. */
static cq_status qlinear_matmul(cq_rt *rt)
{
    const cq_tensor *a = cq_rt_in(rt, 0), *b = cq_rt_in(rt, 3), *zero = cq_rt_in(rt, 7);
    cq_tensor       *y, *sums;
    cq_rt_sizes      sizes;

    CQ_TRY(cq_rt_product_sizes(&sizes, a, b));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, zero->dtype, &sizes));
    CQ_TRY(cq_rt_scratch(&sums, rt, sum_dtype(a, b), sizes.rank, sizes.at));
    CQ_TRY(integer_matmul(sums, rt, a, b, cq_rt_in(rt, 2), cq_rt_in(rt, 5)));
    return requantize(rt, y, sums, cq_rt_in(rt, 1), cq_rt_in(rt, 4), cq_rt_in(rt, 6), zero, -1);
}

/* ---- convolutions ---- */

static cq_status integer_conv(cq_tensor *y, cq_rt *rt, const cq_tensor *x, const cq_tensor *w,
                              const cq_tensor *x_zero, const cq_tensor *w_zero,
                              const cq_tensor *bias, const cq_window *window)
{
    cq_tensor *image = NULL, *weight = NULL;

    /* Padding with zeros then represents the zero point, as required. */
    CQ_TRY(centred(&image, rt, x, x_zero, 1, y->dtype));
    CQ_TRY(centred(&weight, rt, w, w_zero, 0, y->dtype));
    return cq_kernel_conv(y, image, weight, bias, window, cq_rt_int(rt, "group"));
}

static cq_status conv_integer(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *w = cq_rt_in(rt, 1);
    cq_rt_window     window;
    cq_rt_sizes      sizes;
    cq_tensor       *y;

    CQ_TRY(cq_rt_conv_sizes(&sizes, &window, rt, x, w, NULL));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, CQ_DTYPE_I32, &sizes));
    return integer_conv(y, rt, x, w, cq_rt_in(rt, 2), cq_rt_in(rt, 3), NULL, &window.w);
}

/* Inputs: x, its scale and zero point, w and its, y's scale and zero point, bias. */
static cq_status qlinear_conv(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *w = cq_rt_in(rt, 3), *zero = cq_rt_in(rt, 7);
    const cq_tensor *bias = cq_rt_in(rt, 8);
    cq_tensor       *y, *sums;
    cq_rt_window     window;
    cq_rt_sizes      sizes;

    CQ_TRY(cq_rt_conv_sizes(&sizes, &window, rt, x, w, bias));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, zero->dtype, &sizes));
    CQ_TRY(cq_rt_scratch(&sums, rt, CQ_DTYPE_I32, sizes.rank, sizes.at));
    CQ_TRY(integer_conv(sums, rt, x, w, cq_rt_in(rt, 2), cq_rt_in(rt, 5), bias, &window.w));
    return requantize(rt, y, sums, cq_rt_in(rt, 1), cq_rt_in(rt, 4), cq_rt_in(rt, 6), zero, 1);
}

const cq_rt_row cq_rt_rows_quantize[] = {
    { "QuantizeLinear", 10, quantize, 0, 0 },
    { "DequantizeLinear", 10, dequantize, 0, 0 },
    { "DynamicQuantizeLinear", 11, dynamic_quantize, 0, 0 },
    { "MatMulInteger", 10, matmul_integer, 0, 0 },
    { "QLinearMatMul", 10, qlinear_matmul, 0, 0 },
    { "ConvInteger", 10, conv_integer, 0, 0 },
    { "QLinearConv", 10, qlinear_conv, 0, 0 },
    { 0 },
};
