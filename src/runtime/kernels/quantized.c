#include "runtime/kernels/quantized.h"

#include "base/thread.h"
#include "runtime/kernels/blocked.h"
#include "runtime/kernels/window.h"
#include "runtime/plan/work.h"

#include <math.h>

static cq_dtype element_dtype(void)
{
    return cq_quant_core_get()->size == 1 ? CQ_DTYPE_U8 : CQ_DTYPE_I16;
}

/* ---- layout ---- */

/* The sizes [n, h, w, c] of a feature map [n, c, h, w]. */
static void sizes_of_image(cq_rt_sizes *out, int64_t n, int64_t h, int64_t w, int64_t c)
{
    *out = (cq_rt_sizes){ 4, { n, h, w, cq_qimage_channels(c) } };
}

/* The parameters by which 8-bit numbers represent themselves. */
static cq_qimage_params whole_numbers(cq_dtype bytes)
{
    return (cq_qimage_params){ .scale = 1, .zero = bytes == CQ_DTYPE_I8 ? 128 : 0 };
}

/* Packs floats, or bytes that are quantized already. */
static cq_status qpack(cq_rt *rt)
{
    const cq_rt_grid *g    = rt->step->prepared;
    const cq_tensor  *x    = cq_rt_in(rt, 0), *dense;
    cq_qimage_params  grid = g->grid;
    cq_tensor        *y, *real;
    cq_rt_sizes       sizes;
    int64_t           pixels = 1;

    cq_rt_sizes_of(&sizes, x);
    if ((x->dtype != CQ_DTYPE_F32 && x->dtype != g->bytes) || x->rank < 1 ||
        (g->is_image && x->rank != 4) || sizes.at[g->is_image ? 1 : x->rank - 1] != g->channels)
        return cq_rt_misfit(x, NULL);
    if (g->is_image) {
        pixels = sizes.at[2] * sizes.at[3];
        sizes_of_image(&sizes, sizes.at[0], sizes.at[2], sizes.at[3], g->channels);
    }
    sizes.at[sizes.rank - 1] = cq_qimage_channels(g->channels);
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, element_dtype(), &sizes));
    if (!cq_tensor_numel(y))
        return CQ_OK;
    if (x->dtype == g->bytes) {
        cq_rt_sizes_of(&sizes, x);
        CQ_TRY(cq_rt_scratch(&real, rt, CQ_DTYPE_F32, sizes.rank, sizes.at));
        CQ_TRY(cq_tensor_copy_into(real, x));
        dense = real;
        grid  = whole_numbers(g->bytes);
    } else {
        CQ_TRY(cq_rt_contiguous(&dense, rt, x));
    }
    return cq_qimage_pack(cq_tensor_data(y), cq_tensor_data(dense),
                          cq_tensor_numel(x) / (pixels * g->channels), g->channels, pixels, grid);
}

/* Converts to 8-bit numbers if the plain form is 8-bit. */
static cq_status to_bytes(cq_tensor *y, cq_rt *rt, const cq_rt_grid *g, const cq_tensor *x,
                          const cq_rt_sizes *sizes, int64_t pixels)
{
    cq_tensor *real;

    CQ_TRY(cq_rt_scratch(&real, rt, CQ_DTYPE_F32, sizes->rank, sizes->at));
    CQ_TRY(cq_qimage_unpack(cq_tensor_data(real), cq_tensor_data(x),
                            cq_tensor_numel(real) / (pixels * g->channels), g->channels, pixels,
                            whole_numbers(g->bytes)));
    return cq_tensor_copy_into(y, real);
}

static cq_status qunpack(cq_rt *rt)
{
    const cq_rt_grid *g = rt->step->prepared;
    const cq_tensor  *x = cq_rt_in(rt, 0);
    cq_tensor        *y;
    cq_rt_sizes       sizes;
    int64_t           pixels = 1;

    cq_rt_sizes_of(&sizes, x);
    if (g->is_image) {
        pixels = sizes.at[1] * sizes.at[2];
        sizes  = (cq_rt_sizes){ 4, { sizes.at[0], g->channels, sizes.at[1], sizes.at[2] } };
    }
    if (g->is_flat)
        sizes.rank = 2;
    else if (!g->is_image)
        sizes.at[sizes.rank - 1] = g->channels;
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, g->bytes ? g->bytes : CQ_DTYPE_F32, &sizes));
    if (!cq_tensor_numel(y))
        return CQ_OK;
    if (g->bytes)
        return to_bytes(y, rt, g, x, &sizes, pixels);
    return cq_qimage_unpack(cq_tensor_data(y), cq_tensor_data(x),
                            cq_tensor_numel(y) / (pixels * g->channels), g->channels, pixels,
                            g->grid);
}

/* ---- products ---- */

void cq_rt_qconv_free(void *qconv)
{
    cq_rt_qconv *q = qconv;

    if (!q)
        return;
    cq_qconv_free(q->conv);
    cq_free(q->start);
    cq_free(q->scale);
    cq_free(q->bias);
    cq_free(q);
}

static cq_status run_conv(cq_rt *rt, const cq_qconv *conv, cq_qconv_call *call)
{
    const cq_rt_qconv *p = rt->step->prepared;
    cq_tensor         *room;
    int64_t            bytes;

    CQ_TRY(cq_rt_spend_on_products(rt,
                                   (double)call->batch * (double)call->out_size[0] *
                                       (double)call->out_size[1] * (double)call->out_channels *
                                       (double)p->weight[1] * (double)p->weight[2] *
                                       (double)p->weight[3],
                                   CQ_DTYPE_F32));
    call->lanes = cq_threads();
    CQ_TRY(cq_qconv_scratch(&bytes, conv, call));
    CQ_TRY(cq_rt_scratch(&room, rt, CQ_DTYPE_U8, 1, &bytes));
    call->scratch = cq_tensor_data(room);
    return cq_qconv_run(conv, call);
}

static cq_quant_finish finish_of(const cq_rt_qconv *p)
{
    return (cq_quant_finish){ p->start, p->scale, p->bias, p->lo, p->hi, p->zero, false };
}

static cq_status qconv(cq_rt *rt)
{
    const cq_rt_qconv *p = rt->step->prepared;
    const cq_tensor   *x = cq_rt_in(rt, 0), *x4, *w4;
    cq_rt_image        image, weight;
    cq_rt_window       w;
    cq_rt_sizes        plain, sizes;
    cq_tensor         *y;
    cq_qconv_call      call;
    int64_t            groups = cq_rt_int(rt, "group");

    x4 = cq_rt_image_of(&image, cq_size_of(x, 0), p->weight[1] * groups, cq_size_of(x, 1),
                        cq_size_of(x, 2));
    w4 = cq_rt_image_of(&weight, p->weight[0], p->weight[1], p->weight[2], p->weight[3]);
    CQ_TRY(cq_rt_conv_sizes(&plain, &w, rt, x4, w4, NULL));
    sizes_of_image(&sizes, plain.at[0], plain.at[2], plain.at[3], plain.at[1]);
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, element_dtype(), &sizes));
    if (!cq_tensor_numel(y))
        return CQ_OK;
    call = (cq_qconv_call){ .batch        = sizes.at[0],
                            .in           = { cq_size_of(x, 1), cq_size_of(x, 2) },
                            .out_size     = { sizes.at[1], sizes.at[2] },
                            .padding      = { w.w.padding[0], w.w.padding[1] },
                            .x            = cq_tensor_data(x),
                            .channels     = cq_size_of(x, 3),
                            .zero         = p->from.zero,
                            .out          = cq_tensor_data(y),
                            .out_channels = sizes.at[3],
                            .finish       = finish_of(p) };
    return run_conv(rt, p->conv, &call);
}

/* A matrix as a feature map of one row. */
static cq_qconv_call call_of_rows(const cq_tensor *x, cq_tensor *y)
{
    int64_t in = cq_size_of(x, x->rank - 1), m = cq_tensor_numel(x) / (in ? in : 1);

    return (cq_qconv_call){ .batch        = 1,
                            .in           = { 1, m },
                            .out_size     = { 1, m },
                            .x            = cq_tensor_data(x),
                            .channels     = in,
                            .out          = cq_tensor_data(y),
                            .out_channels = cq_size_of(y, y->rank - 1) };
}

static cq_status qlinear(cq_rt *rt)
{
    const cq_rt_qconv *p = rt->step->prepared;
    const cq_tensor   *x = cq_rt_in(rt, 0);
    cq_rt_sizes        sizes;
    cq_tensor         *y;
    cq_qconv_call      call;

    cq_rt_sizes_of(&sizes, x);
    sizes.at[sizes.rank - 1] = cq_qimage_channels(p->weight[0]);
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, element_dtype(), &sizes));
    if (!cq_tensor_numel(y))
        return CQ_OK;
    call        = call_of_rows(x, y);
    call.finish = finish_of(p);
    return run_conv(rt, p->conv, &call);
}

/* Clips values that exceed the top of a 7-bit range because of double rounding: the type does not
 * clip them. */
static void limit(cq_tensor *q, int32_t top)
{
    int64_t n = cq_tensor_numel(q);

    if (q->dtype == CQ_DTYPE_U8) {
        uint8_t *x = cq_tensor_data(q), most = (uint8_t)top;

        for (int64_t i = 0; i < n; i++)
            x[i] = x[i] < most ? x[i] : most;
    } else {
        int16_t *x = cq_tensor_data(q), most = (int16_t)top;

        for (int64_t i = 0; i < n; i++)
            x[i] = x[i] < most ? x[i] : most;
    }
}

/* Multiplies packed bytes whose scale and zero point are computed; the results are floats. */
static cq_status multiply_packed(cq_rt *rt, cq_tensor *y, const cq_tensor *q, cq_qimage_params grid)
{
    const cq_rt_qconv *p    = rt->step->prepared;
    cq_qconv_call      call = call_of_rows(q, y);
    int64_t            n = cq_qconv_padded(p->conv), room = 2 * n;
    cq_tensor         *numbers;
    int32_t           *start;
    float             *scale;

    CQ_TRY(cq_rt_scratch(&numbers, rt, CQ_DTYPE_I32, 1, &room));
    start = cq_tensor_data(numbers);
    scale = (float *)(void *)start + n;
    cq_qconv_start(start, p->conv, grid.zero);
    for (int64_t i = 0; i < n; i++)
        scale[i] = p->scale[i] * grid.scale;
    call.finish = (cq_quant_finish){ start, scale, p->bias, p->lo, p->hi, 0, true };
    return run_conv(rt, p->conv, &call);
}

static cq_status qlinear_dynamic(cq_rt *rt)
{
    const cq_rt_qconv *p = rt->step->prepared;
    const cq_tensor   *x = cq_rt_in(rt, 0), *dense;
    cq_tensor         *y, *q;
    cq_rt_sizes        sizes;
    cq_qimage_params   grid;
    double             scale, zero, inverse;
    int64_t            in = p->weight[1];

    CQ_TRY(cq_rt_in_f64(&scale, rt, 1, 1));
    CQ_TRY(cq_rt_in_f64(&zero, rt, 2, 0));
    CQ_TRY(cq_rt_in_f64(&inverse, rt, 3, 0));
    if (x->dtype != CQ_DTYPE_F32 || !x->rank || cq_size_of(x, x->rank - 1) != in)
        return cq_rt_misfit(x, NULL);
    cq_rt_sizes_of(&sizes, x);
    sizes.at[sizes.rank - 1] = p->weight[0];
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, CQ_DTYPE_F32, &sizes));
    if (!cq_tensor_numel(y))
        return CQ_OK;
    sizes.at[sizes.rank - 1] = cq_qimage_channels(in);
    grid = (cq_qimage_params){ (float)scale, (int32_t)fmin(fmax(zero, 0), 255), (float)inverse };
    CQ_TRY(cq_rt_contiguous(&dense, rt, x));
    CQ_TRY(cq_rt_scratch(&q, rt, element_dtype(), sizes.rank, sizes.at));
    CQ_TRY(cq_qimage_pack(cq_tensor_data(q), cq_tensor_data(dense), cq_tensor_numel(x) / in, in, 1,
                          grid));
    if (p->top < 255)
        limit(q, p->top);
    return multiply_packed(rt, y, q, grid);
}

static cq_status qlinear_packed(cq_rt *rt)
{
    const cq_rt_qconv *p = rt->step->prepared;
    const cq_tensor   *q = cq_rt_in(rt, 0);
    cq_tensor         *y;
    cq_rt_sizes        sizes;
    double             scale, zero;

    CQ_TRY(cq_rt_in_f64(&scale, rt, 1, 1));
    CQ_TRY(cq_rt_in_f64(&zero, rt, 2, 0));
    cq_rt_sizes_of(&sizes, q);
    sizes.at[sizes.rank - 1] = p->weight[0];
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, CQ_DTYPE_F32, &sizes));
    if (!cq_tensor_numel(y))
        return CQ_OK;
    return multiply_packed(rt, y, q, (cq_qimage_params){ (float)scale, (int32_t)zero, 0 });
}

/* ---- dynamic quantization ---- */

void cq_rt_dynamic_params(cq_qimage_params *out, const float *x, int64_t n)
{
    enum { AT_ONCE = 16 }; /* separate minima and maxima, for vectors */
    float   low[AT_ONCE] = { 0 }, high[AT_ONCE] = { 0 }, step;
    int64_t i = 0;

    for (; i + AT_ONCE <= n; i += AT_ONCE)
        for (int k = 0; k < AT_ONCE; k++) {
            low[k]  = x[i + k] < low[k] ? x[i + k] : low[k];
            high[k] = x[i + k] > high[k] ? x[i + k] : high[k];
        }
    for (; i < n; i++) {
        low[0]  = x[i] < low[0] ? x[i] : low[0];
        high[0] = x[i] > high[0] ? x[i] : high[0];
    }
    for (int k = 1; k < AT_ONCE; k++) {
        low[0]  = low[k] < low[0] ? low[k] : low[0];
        high[0] = high[k] > high[0] ? high[k] : high[0];
    }
    step = (high[0] - low[0]) / 255;
    *out = (cq_qimage_params){ .scale = 1 };
    if (step > 0) {
        out->scale = step;
        out->zero  = (int32_t)nearbyintf(fminf(255, fmaxf(0, -low[0] / step)));
    }
}

static cq_status qdynamic(cq_rt *rt)
{
    const cq_rt_grid *g = rt->step->prepared;
    const cq_tensor  *x = cq_rt_in(rt, 0), *dense;
    cq_tensor        *q, *scale, *zero;
    cq_rt_sizes       sizes;
    cq_qimage_params  grid;

    if (x->dtype != CQ_DTYPE_F32 || !x->rank || cq_size_of(x, x->rank - 1) != g->channels)
        return cq_rt_misfit(x, NULL);
    cq_rt_sizes_of(&sizes, x);
    sizes.at[sizes.rank - 1] = cq_qimage_channels(g->channels);
    CQ_TRY(cq_rt_out_sized(&q, rt, 0, element_dtype(), &sizes));
    CQ_TRY(cq_rt_out(&scale, rt, 1, CQ_DTYPE_F32, 0, NULL));
    CQ_TRY(cq_rt_out(&zero, rt, 2, CQ_DTYPE_U8, 0, NULL));
    CQ_TRY(cq_rt_contiguous(&dense, rt, x));
    cq_rt_dynamic_params(&grid, cq_tensor_data(dense), cq_tensor_numel(x));
    *(float *)cq_tensor_data(scale)  = grid.scale;
    *(uint8_t *)cq_tensor_data(zero) = (uint8_t)grid.zero;
    if (!cq_tensor_numel(x))
        return CQ_OK;
    return cq_qimage_pack(cq_tensor_data(q), cq_tensor_data(dense),
                          cq_tensor_numel(x) / g->channels, g->channels, 1, grid);
}

/* ---- other operators ---- */

/* Adds feature maps of different sizes, which broadcast, in floats. */
static cq_status add_broadcast(cq_rt *rt, cq_tensor *y, const cq_tensor *a, const cq_tensor *b)
{
    const cq_rt_qstep     *p        = rt->step->prepared;
    const cq_tensor       *terms[2] = { a, b };
    cq_tensor             *real[3];
    cq_params              limits = { .a = (double)p->sum.lo, .b = (double)p->sum.hi };
    cq_rt_sizes            sizes;
    const cq_qimage_params out = { .scale = 1, .zero = p->sum.zero };

    for (int i = 0; i < 3; i++) {
        cq_rt_sizes_of(&sizes, i < 2 ? terms[i] : y);
        CQ_TRY(cq_rt_scratch(&real[i], rt, CQ_DTYPE_F32, sizes.rank, sizes.at));
        if (i < 2) /* the shift belongs to one addend only */
            CQ_TRY(cq_qimage_unpack(cq_tensor_data(real[i]), cq_tensor_data(terms[i]),
                                    cq_tensor_numel(terms[i]) / sizes.at[3], sizes.at[3], 1,
                                    (cq_qimage_params){ .scale = p->sum.scale[i] }));
    }
    CQ_TRY(cq_apply2(real[2], CQ_EW_ADD, NULL, CQ_DTYPE_NONE, real[0], real[1]));
    for (int64_t i = 0; i < cq_tensor_numel(y); i++)
        ((float *)cq_tensor_data(real[2]))[i] += p->sum.shift;
    CQ_TRY(cq_apply1(real[2], CQ_EW_CLAMP, &limits, CQ_DTYPE_NONE, real[2]));
    cq_rt_sizes_of(&sizes, y);
    return cq_qimage_pack(cq_tensor_data(y), cq_tensor_data(real[2]),
                          cq_tensor_numel(y) / sizes.at[3], sizes.at[3], 1, out);
}

static cq_status qadd(cq_rt *rt)
{
    const cq_rt_qstep *p     = rt->step->prepared;
    const cq_tensor   *in[2] = { cq_rt_in(rt, 0), cq_rt_in(rt, 1) };
    cq_rt_sizes        sizes;
    cq_tensor         *y;

    CQ_TRY(cq_rt_broadcast(&sizes, in, 2));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, element_dtype(), &sizes));
    if (!cq_tensor_numel(y))
        return CQ_OK;
    if (cq_tensor_numel(in[0]) == cq_tensor_numel(y) &&
        cq_tensor_numel(in[1]) == cq_tensor_numel(y))
        return cq_qimage_add(cq_tensor_data(y), cq_tensor_data(in[0]), cq_tensor_data(in[1]),
                             cq_tensor_numel(y), &p->sum);
    return add_broadcast(rt, y, in[0], in[1]);
}

static cq_status qmax_pool(cq_rt *rt)
{
    const cq_rt_qstep *p = rt->step->prepared;
    const cq_tensor   *x = cq_rt_in(rt, 0), *x4;
    cq_rt_image        image;
    cq_rt_window       w;
    cq_rt_sizes        sizes;
    cq_tensor         *y;
    cq_qimage_pool     pool;
    int64_t            positions[CQ_MAX_SPATIAL];

    x4 = cq_rt_image_of(&image, cq_size_of(x, 0), p->channels, cq_size_of(x, 1), cq_size_of(x, 2));
    CQ_TRY(cq_rt_window_read(&w, rt, x4, NULL));
    CQ_TRY(cq_rt_window_positions(positions, &w, x4));
    sizes_of_image(&sizes, cq_size_of(x, 0), positions[0], positions[1], p->channels);
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, element_dtype(), &sizes));
    if (!cq_tensor_numel(y))
        return CQ_OK;
    CQ_TRY(cq_rt_spend_on_elements(rt, (double)cq_tensor_numel(y) * (double)w.w.kernel[0] *
                                           (double)w.w.kernel[1]));
    pool = (cq_qimage_pool){ sizes.at[0],
                             sizes.at[3],
                             { cq_size_of(x, 1), cq_size_of(x, 2) },
                             { positions[0], positions[1] },
                             &w.w };
    return cq_qimage_max_pool(cq_tensor_data(y), cq_tensor_data(x), &pool);
}

static cq_status qmean(cq_rt *rt)
{
    const cq_rt_qstep *p      = rt->step->prepared;
    const cq_tensor   *x      = cq_rt_in(rt, 0);
    int64_t            pixels = cq_size_of(x, 1) * cq_size_of(x, 2);
    cq_rt_sizes        sizes;
    cq_tensor         *y;

    sizes_of_image(&sizes, cq_size_of(x, 0), 1, 1, p->channels);
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, element_dtype(), &sizes));
    if (!cq_tensor_numel(y))
        return CQ_OK;
    return cq_qimage_mean(cq_tensor_data(y), cq_tensor_data(x), sizes.at[0], sizes.at[3], pixels,
                          p->from, p->to);
}

const cq_rt_row cq_rt_row_qpack   = { "QuantizeLinear", 1, qpack, CQ_RT_OWN, 0 };
const cq_rt_row cq_rt_row_qunpack = { "DequantizeLinear", 1, qunpack, CQ_RT_OWN, 0 };
const cq_rt_row cq_rt_row_qconv   = { "Conv", 1, qconv, CQ_RT_OWN, 0 };
const cq_rt_row cq_rt_row_qlinear = { "MatMul", 1, qlinear, CQ_RT_OWN, 0 };
const cq_rt_row cq_rt_row_qadd    = { "Add", 1, qadd, CQ_RT_OWN | CQ_RT_OVER_0 | CQ_RT_OVER_1, 0 };
const cq_rt_row cq_rt_row_qmax_pool       = { "MaxPool", 1, qmax_pool, CQ_RT_OWN, 0 };
const cq_rt_row cq_rt_row_qmean           = { "GlobalAveragePool", 1, qmean, CQ_RT_OWN, 0 };
const cq_rt_row cq_rt_row_qlinear_dynamic = { "MatMul", 1, qlinear_dynamic, CQ_RT_OWN, 0 };
const cq_rt_row cq_rt_row_qdynamic        = { "DynamicQuantizeLinear", 1, qdynamic, CQ_RT_OWN, 0 };
const cq_rt_row cq_rt_row_qlinear_packed  = { "MatMulInteger", 1, qlinear_packed, CQ_RT_OWN, 0 };
