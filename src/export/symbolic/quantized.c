/* Quantized tensors, as pairs of QuantizeLinear and DequantizeLinear: what runtimes look for, and
 * what is rounded as PyTorch rounds. Those exist since opset 10, with a scale for each channel
 * since 13, in 8 bits; all else is written out. */
#include "export/symbolic/common.h"
#include "export/arith.h"

typedef struct grid {
    cq_value *scale, *zero; /* float32; zero in the stored dtype or in float32 */
    int       axis;         /* -1: one for all */
    int64_t   low, high;
    cq_dtype  stored; /* NONE: no type of ONNX's operators holds it */
} grid;

/* A number, or a row of one number, without dimensions. */
static cq_value *scalar(cq_sym *s, cq_value *v)
{
    int64_t zero = 0;

    return v && cq_sym_rank(s, v) == 1 ? cq_sym_squeeze(s, v, &zero, 1) : v;
}

static cq_dtype type_of_range(int64_t low, int64_t high)
{
    return low >= 0 && high <= UINT8_MAX         ? CQ_DTYPE_U8
           : low >= INT8_MIN && high <= INT8_MAX ? CQ_DTYPE_I8
                                                 : CQ_DTYPE_NONE;
}

/* The grid of the call. Where the operators of ONNX cannot do it, stored is NONE. */
static grid grid_of(cq_sym *s, cq_dtype stored)
{
    bool     per_channel = cq_sym_has_arg(s, "axis");
    grid     g           = { .axis = -1, .stored = stored };
    cq_dtype zero;

    if (cq_sym_opset(s) < (per_channel ? 13 : 10))
        g.stored = CQ_DTYPE_NONE;
    zero    = g.stored == CQ_DTYPE_NONE ? CQ_DTYPE_F32 : g.stored;
    g.scale = cq_sym_in_as(s, "scale", CQ_DTYPE_F32);
    g.zero  = cq_sym_in_as(s, "zero_point", zero);
    if (per_channel) {
        g.axis = cq_sym_dim(s, "axis", cq_sym_rank(s, cq_sym_in(s, "self")));
    } else {
        g.scale = scalar(s, g.scale);
        g.zero  = scalar(s, g.zero);
    }
    return g;
}

static cq_value *linear(cq_sym *s, const char *op, cq_value *x, const grid *g, cq_dtype dtype)
{
    cq_value *v = cq_sym_op(s, op, CQ_IN(x, g->scale, g->zero),
                            CQ_ATTR(g->axis < 0 ? (cq_attr){ 0 } : cq_attr_i("axis", g->axis)));

    if (v && x)
        v->type = x->type;
    cq_sym_set_dtype(s, v, dtype);
    return v;
}

/* A row along the axis, so that it goes with x. */
static cq_value *along(cq_sym *s, cq_value *v, int axis, int rank)
{
    int64_t axes[CQ_MAX_RANK];
    size_t  n = 0;

    for (int i = axis + 1; axis >= 0 && i < rank; i++, n++)
        axes[n] = (int64_t)n + 1;
    return n ? cq_sym_unsqueeze(s, v, axes, n) : v;
}

/* (q - zero) * scale */
static cq_value *spread(cq_sym *s, cq_value *q, cq_value *scale, cq_value *zero)
{
    return CQ_2("Mul", CQ_2("Sub", q, zero), scale);
}

static cq_value *rounded_by_parts(cq_sym *s, cq_value *x, const grid *g)
{
    cq_dtype  dtype = cq_sym_dtype(s, x);
    int       rank  = cq_sym_rank(s, x);
    cq_value *scale = along(s, g->scale, g->axis, rank), *inverse, *q;
    cq_value *zero  = cq_sym_cast(s, along(s, g->zero, g->axis, rank), dtype);

    inverse = cq_sym_cast(s, CQ_1("Reciprocal", scale), dtype);
    scale   = cq_sym_cast(s, scale, dtype);
    q       = cq_sym_round(s, CQ_2("Mul", x, inverse));
    q       = cq_sym_bounded(s, CQ_2("Add", q, zero), cq_sym_num(s, x, (double)g->low),
                             cq_sym_num(s, x, (double)g->high));
    return spread(s, q, scale, zero);
}

/* A range that is smaller than the type's: its ends lie on the grid, so x may be cut there first.
 */
static bool cut_to_range(cq_sym *s, cq_value **x, const grid *g)
{
    int64_t least = g->stored == CQ_DTYPE_U8 ? 0 : INT8_MIN;
    int64_t most  = g->stored == CQ_DTYPE_U8 ? UINT8_MAX : INT8_MAX;
    double  scale, zero;

    if (g->low == least && g->high == most)
        return true;
    if (cq_sym_is_tensor(s, "scale"))
        return false;
    scale = cq_sym_f64(s, "scale");
    zero  = (double)cq_sym_i64(s, "zero_point");
    *x    = cq_sym_clip(s, *x, cq_sym_const_f64(s, CQ_DTYPE_F32, ((double)g->low - zero) * scale),
                        cq_sym_const_f64(s, CQ_DTYPE_F32, ((double)g->high - zero) * scale));
    return true;
}

static cq_status fake_quantize(cq_sym *s)
{
    cq_value *x   = cq_sym_widen(s, cq_sym_in(s, "self"));
    int64_t   low = cq_sym_i64(s, "quant_min"), high = cq_sym_i64(s, "quant_max");
    cq_dtype  dtype = cq_sym_dtype(s, x);
    grid      g     = grid_of(s, dtype == CQ_DTYPE_F32 ? type_of_range(low, high) : CQ_DTYPE_NONE);

    g.low  = low;
    g.high = high;
    if (s->status != CQ_OK)
        return s->status;
    if (g.stored == CQ_DTYPE_NONE || !cut_to_range(s, &x, &g))
        return cq_sym_done(s, rounded_by_parts(s, x, &g));
    x = linear(s, "QuantizeLinear", x, &g, g.stored);
    return cq_sym_done(s, linear(s, "DequantizeLinear", x, &g, CQ_DTYPE_F32));
}

/* DequantizeLinear knows int32 only without a zero point. */
static cq_status make_quantized(cq_sym *s)
{
    cq_value *x     = cq_sym_in(s, "self");
    cq_dtype  dtype = cq_sym_dtype(s, x);
    grid      g     = grid_of(s, dtype == CQ_DTYPE_I32 ? CQ_DTYPE_NONE : dtype);
    int       rank  = cq_sym_rank(s, x);

    if (g.stored != CQ_DTYPE_NONE)
        return cq_sym_done(s, linear(s, "DequantizeLinear", x, &g, CQ_DTYPE_F32));
    return cq_sym_done(s, spread(s, cq_sym_cast(s, x, CQ_DTYPE_F32),
                                 along(s, g.scale, g.axis, rank), along(s, g.zero, g.axis, rank)));
}

const cq_symbolic cq_symbolics_quantized[] = {
    { "aten::fake_quantize_per_tensor_affine", 7, .fn = fake_quantize },
    { "aten::fake_quantize_per_channel_affine", 7, .fn = fake_quantize },
    { "aten::_make_per_tensor_quantized_tensor", 7, .fn = make_quantized },
    { "aten::_make_per_channel_quantized_tensor", 7, .fn = make_quantized },
    { "aten::dequantize.self", 7, .as = "self" },
    { 0 },
};
