/* Quantization as plain tensors: QuantizeLinear and DequantizeLinear where they know the dtype, 8
 * bits since opset 10 and 16 since 21; with a grid for each channel since 13. Else, and for half
 * precision, it is taken apart. */
#include "export/symbolic/common.h"

static bool is_per_channel(const cq_sym *s)
{
    return cq_sym_has_arg(s, "axis");
}

static bool is_known_type(cq_sym *s, cq_dtype stored)
{
    int opset = cq_sym_opset(s);

    if (stored == CQ_DTYPE_I16 || stored == CQ_DTYPE_U16)
        return opset >= 21;
    return (stored == CQ_DTYPE_I8 || stored == CQ_DTYPE_U8) &&
           opset >= (is_per_channel(s) ? 13 : 10);
}

/* A number, or a row of one, without dimensions. */
static cq_value *scalar(cq_sym *s, cq_value *v)
{
    int64_t zero = 0;

    return v && !is_per_channel(s) && cq_sym_rank(s, v) == 1 ? cq_sym_squeeze(s, v, &zero, 1) : v;
}

static cq_value *linear(cq_sym *s, const char *op, cq_value *x, cq_dtype stored, cq_dtype dtype)
{
    bool      rows  = is_per_channel(s);
    cq_value *scale = cq_sym_in_as(s, rows ? "scales" : "scale", CQ_DTYPE_F32), *zero = NULL, *v;

    if (!cq_sym_is_none(s, rows ? "zero_points" : "zero_point"))
        zero = scalar(s, cq_sym_in_as(s, rows ? "zero_points" : "zero_point", stored));
    v = cq_sym_op(s, op, CQ_IN(x, scalar(s, scale), zero),
                  CQ_ATTR(rows ? cq_attr_i("axis", cq_sym_dim(s, "axis", cq_sym_rank(s, x)))
                               : (cq_attr){ 0 }));
    if (v && x)
        v->type = x->type;
    cq_sym_set_dtype(s, v, dtype);
    return v;
}

/* A range that is smaller than the type's cuts off what was rounded. */
static cq_status quantize(cq_sym *s)
{
    cq_value *x      = cq_sym_in(s, "input");
    cq_dtype  stored = cq_sym_result_type(s, 0).dtype;
    bool      wide   = stored == CQ_DTYPE_I16 || stored == CQ_DTYPE_U16;
    int64_t   width = wide ? 65536 : 256, least = cq_dtype_is_signed(stored) ? -width / 2 : 0;
    int64_t   low, high;

    if (cq_sym_is_tensor(s, "quant_min") || cq_sym_dtype(s, x) != CQ_DTYPE_F32 ||
        !is_known_type(s, stored))
        return cq_sym_no(s, 0, "it is taken apart");
    low  = cq_sym_i64(s, "quant_min");
    high = cq_sym_i64(s, "quant_max");
    if ((low != least || high != least + width - 1) && (wide || cq_sym_opset(s) < 12))
        return cq_sym_no(s, 0, "it is taken apart");
    x = linear(s, "QuantizeLinear", x, stored, stored);
    if (low != least || high != least + width - 1)
        x = cq_sym_clip(s, x, cq_sym_const_f64(s, stored, (double)low),
                        cq_sym_const_f64(s, stored, (double)high));
    return cq_sym_done(s, x);
}

static cq_status dequantize(cq_sym *s)
{
    cq_value *x = cq_sym_in(s, "input");

    if (cq_sym_result_type(s, 0).dtype != CQ_DTYPE_F32 || !is_known_type(s, cq_sym_dtype(s, x)))
        return cq_sym_no(s, 0, "it is taken apart");
    return cq_sym_done(s, linear(s, "DequantizeLinear", x, cq_sym_dtype(s, x), CQ_DTYPE_F32));
}

const cq_symbolic cq_symbolics_quantized_decomposed[] = {
    { "quantized_decomposed::quantize_per_tensor", 7, .fn = quantize },
    { "quantized_decomposed::quantize_per_channel", 7, .fn = quantize },
    { "quantized_decomposed::dequantize_per_tensor", 7, .fn = dequantize },
    { "quantized_decomposed::dequantize_per_channel", 7, .fn = dequantize },
    { 0 },
};
