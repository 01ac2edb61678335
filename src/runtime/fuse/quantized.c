/* Integer arithmetic between DequantizeLinear and QuantizeLinear. A value computed by
 * DequantizeLinear has quantization parameters: it stays quantized (kernels/quantized.h) and is
 * converted to float only where a step needs floats. Convolutions, products, sums and means of such
 * values that are followed by QuantizeLinear, possibly after clipping, are computed in integers;
 * max pooling and Flatten keep the parameters. Dequantized weights are used in their quantized form
 * from the file. A weight that is needed as floats is folded here, not when the graph is read. */
#include "runtime/fuse/quantized.h"

#include "runtime/kernels/window.h"
#include "runtime/fuse/patterns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- deferred folding ---- */

bool cq_quant_is_8_bits(cq_dtype dtype)
{
    return dtype == CQ_DTYPE_U8 || dtype == CQ_DTYPE_I8;
}

/* Whether v is a constant, or will be once its deferred step is folded. */
static bool is_known(const cq_rt_node_value *v)
{
    return !v || v->is_constant || (v->is_gone && !v->grid);
}

bool cq_rt_is_lazy_weight(const cq_rt_node_step *s)
{
    const cq_tensor *w = s->step.n_in ? cq_img_constant(s, 0) : NULL;

    return w && w->dtype == CQ_DTYPE_I8 && w->rank >= 2 && cq_rt_is_op(s, "DequantizeLinear");
}

/* Whether the step dequantizes a weight, possibly transposed. Its folding is deferred until a step
 * needs the floats. */
static bool can_defer(const cq_rt_node_step *s)
{
    if (!cq_rt_is_op(s, "DequantizeLinear") && !cq_rt_is_op(s, "Transpose"))
        return false;
    for (uint32_t i = 0; i < s->step.n_in; i++)
        if (!is_known(s->in[i]))
            return false;
    return s->step.n_in && s->in[0] && s->out[0];
}

/* The deferred step that computes v, if it has that operator. */
static const cq_rt_node_step *deferred_step(const cq_rt_node_value *v, const char *op)
{
    return v && v->is_gone && !v->grid && !strcmp(v->maker->step.node->op_type, op) ? v->maker
                                                                                    : NULL;
}

/* ---- quantized values ---- */

cq_status cq_quant_need_plain(cq_img_pass *p, cq_rt_node_value *v, const cq_rt_node_step *at)
{
    cq_rt_node_step *s;

    if (!v || !v->is_gone)
        return CQ_OK;
    v->is_gone = false;
    if (!v->grid) {
        for (uint32_t i = 0; i < v->maker->step.n_in; i++)
            CQ_TRY(cq_quant_need_plain(p, v->maker->in[i], at));
        v->maker->is_gone = false;
        return cq_rt_fold(p->b, v->maker) ? CQ_OK : cq_vec_push(&p->done, v->maker);
    }
    s = cq_img_step_new(p, at, &cq_rt_row_qunpack, 1);
    if (!s)
        return CQ_E_NO_MEMORY;
    s->in[0]         = v->blocked;
    s->out[0]        = v;
    s->step.prepared = v->grid;
    s->step.label    = "DequantizeLinear";
    return CQ_OK;
}

const cq_rt_grid *cq_quant_grid_of(const cq_rt_node_value *v)
{
    return v && v->blocked ? v->grid : NULL;
}

static const cq_rt_grid *image_of(const cq_rt_node_value *v)
{
    const cq_rt_grid *g = cq_quant_grid_of(v);

    return g && g->is_image && !g->is_flat && !g->bytes ? g : NULL;
}

cq_status cq_quant_replace(cq_img_pass *p, cq_rt_node_value *v, cq_rt_node_value *q,
                           const cq_rt_grid *grid)
{
    v->grid    = cq_arena_copy(p->b->all->arena, grid, sizeof *grid);
    v->blocked = q ? q : cq_rt_value_new(p->b, v->name);
    v->is_gone = true;
    return v->grid && v->blocked ? CQ_OK : CQ_E_NO_MEMORY;
}

bool cq_quant_read_params(cq_qimage_params *out, cq_dtype *bytes, const cq_rt_node_step *s,
                          uint32_t i)
{
    const cq_tensor *zero = cq_img_constant(s, i + 1);
    double           scale;

    if (!cq_rt_number_of(&scale, s, i) || !(scale > 0) || !isfinite((float)scale) ||
        (!zero && s->step.n_in > i + 1 && s->in[i + 1]))
        return false;
    *bytes = zero ? zero->dtype : CQ_DTYPE_U8;
    if (!cq_quant_is_8_bits(*bytes) || (zero && cq_tensor_numel(zero) != 1))
        return false;
    out->scale = (float)scale;
    out->zero  = (zero ? (int32_t)cq_tensor_get_i64(zero, 0) : 0) + 128 * (*bytes == CQ_DTYPE_I8);
    return true;
}

/* ---- the tail of a step: limits and quantization ---- */

struct tail {
    cq_rt_node_step *limit, *quantize; /* limit may be NULL */
    float            lo, hi;
    cq_qimage_params to;
    cq_dtype         bytes;
};

static bool find_tail(struct tail *t, const cq_rt_node_value *v)
{
    cq_rt_node_step *s = v->n_uses == 1 ? v->readers[0] : NULL;
    cq_rt            rt;

    *t = (struct tail){ .lo = -INFINITY, .hi = INFINITY };
    if (s && (cq_rt_is_op(s, "Relu") || cq_rt_is_op(s, "Clip")) && s->in[0] == v && s->out[0]) {
        if (!cq_img_limits(&t->lo, &t->hi, s))
            return false;
        t->limit = s;
        s        = s->out[0]->n_uses == 1 ? s->out[0]->readers[0] : NULL;
    }
    if (!cq_rt_is_op(s, "QuantizeLinear") || !s->out[0] ||
        s->in[0] != (t->limit ? t->limit->out[0] : v) ||
        !cq_quant_read_params(&t->to, &t->bytes, s, 1))
        return false;
    rt = cq_img_attributes(s);
    if (s->step.n_in < 3 && cq_rt_int(&rt, "output_dtype"))
        return false;
    t->quantize = s;
    return true;
}

/* The clipping limits in quantized units, without the zero point. */
static void quantize_limits(float *lo, float *hi, const struct tail *t)
{
    *lo = fmaxf(t->lo / t->to.scale, (float)-t->to.zero);
    *hi = fmaxf(fminf(t->hi / t->to.scale, (float)(255 - t->to.zero)), *lo);
}

/* Makes the step compute the result of the last step of the tail. */
static cq_status end_with(cq_img_pass *p, cq_rt_node_step *to, const cq_rt_node_step *from,
                          const struct tail *t, const cq_rt_grid *like)
{
    cq_rt_grid grid = *like;
    char       label[64];

    grid.grid  = t->to;
    grid.bytes = t->bytes;
    CQ_TRY(cq_quant_replace(p, t->quantize->out[0], NULL, &grid));
    to->out[0] = t->quantize->out[0]->blocked;
    snprintf(label, sizeof label, "%s%s%s (int8)", from->step.node->op_type, t->limit ? "+" : "",
             t->limit ? t->limit->step.node->op_type : "");
    to->step.label       = cq_arena_strdup(p->b->all->arena, label);
    t->quantize->is_gone = true;
    if (t->limit)
        t->limit->is_gone = true;
    return to->step.label ? CQ_OK : CQ_E_NO_MEMORY;
}

/* ---- weights ---- */

/* Matches v as the dequantized w, possibly transposed, whose outputs are along axis `outputs` of
 * v. */
static bool find_weight(cq_rt_quant_weight *out, const cq_rt_node_value *v, uint32_t outputs)
{
    const cq_rt_node_step *s = deferred_step(v, "Transpose");
    const cq_tensor       *zero;
    cq_rt                  rt;
    int64_t                axis;

    *out = (cq_rt_quant_weight){ 0 };
    if (s) {
        cq_rt_ints perm;

        rt = cq_img_attributes(s);
        if (cq_rt_attr_ints(&perm, &rt, "perm") != CQ_OK || perm.n != 2 || perm.at[0] != 1)
            return false;
        out->transposed = true;
        outputs         = 1 - outputs;
        v               = s->in[0];
    }
    s = deferred_step(v, "DequantizeLinear");
    if (!s)
        return false;
    rt         = cq_img_attributes(s);
    zero       = cq_img_constant(s, 2);
    out->w     = cq_img_constant(s, 0);
    out->scale = cq_rt_constant_of(s, 1);
    if (!out->w || out->w->dtype != CQ_DTYPE_I8 || !out->scale || out->scale->rank > 1 ||
        outputs >= out->w->rank || cq_rt_int(&rt, "block_size"))
        return false;
    for (int64_t i = 0; zero && i < cq_tensor_numel(zero); i++)
        if (cq_tensor_get_i64(zero, i))
            return false;
    axis = s->step.schema->since < 13 ? 0 : cq_rt_int(&rt, "axis");
    axis += axis < 0 ? (int64_t)out->w->rank : 0;
    return cq_tensor_numel(out->scale) == 1 ||
           (axis == (int64_t)outputs && cq_size_of(out->scale, 0) == cq_size_of(out->w, outputs));
}

/* ---- convolutions and products ---- */

static cq_status numbers_new(cq_rt_qconv *q)
{
    size_t n = (size_t)cq_qconv_padded(q->conv);

    q->start = cq_alloc_array(n, sizeof *q->start);
    q->scale = cq_alloc_array(n, sizeof *q->scale);
    q->bias  = cq_alloc_array(n, sizeof *q->bias);
    if (!q->start || !q->scale || !q->bias)
        return CQ_E_NO_MEMORY;
    memset(q->scale, 0, n * sizeof *q->scale);
    memset(q->bias, 0, n * sizeof *q->bias);
    return CQ_OK;
}

cq_status cq_quant_prepare(cq_rt_qconv **out, cq_img_pass *p, const cq_qconv_spec *spec,
                           const cq_rt_quant_weight *w, const float *bias, double from, double to)
{
    cq_rt_qconv *q = *out = cq_zalloc(sizeof *q);

    if (!q)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_rt_own(p->b, p->plan, q, cq_rt_qconv_free));
    CQ_TRY(cq_qconv_new(&q->conv, spec));
    CQ_TRY(numbers_new(q));
    for (int64_t o = 0; o < spec->out; o++) {
        int64_t at = w->scale && cq_tensor_numel(w->scale) > 1 ? o : 0;
        double  by = w->scale ? cq_tensor_get_f64(w->scale, at) : 1;

        q->scale[o] = (float)(from * by / to);
        q->bias[o]  = bias ? (float)((double)bias[o] / to) : 0;
    }
    q->weight[0] = spec->out;
    q->weight[1] = spec->in / spec->groups;
    q->weight[2] = spec->kernel[0];
    q->weight[3] = spec->kernel[1];
    return CQ_OK;
}

cq_status cq_quant_find_bias(const float **out, bool *fits, cq_img_pass *p,
                             const cq_rt_node_step *s, uint32_t i, int64_t n)
{
    const cq_tensor *t;

    *out  = NULL;
    *fits = i >= s->step.n_in || !s->in[i];
    if (*fits)
        return CQ_OK;
    if (is_known(s->in[i]))
        CQ_TRY(cq_quant_need_plain(p, s->in[i], s));
    t     = cq_rt_constant_of(s, i);
    *fits = t && t->rank == 1 && cq_size_of(t, 0) == n && cq_tensor_is_contiguous(t);
    *out  = *fits ? cq_tensor_data(t) : NULL;
    return CQ_OK;
}

static cq_status write_product(cq_img_pass *p, cq_rt_node_step *s, const cq_rt_row *row,
                               const cq_qconv_spec *spec, const cq_rt_quant_weight *w,
                               const float *bias, const struct tail *t)
{
    const cq_rt_grid *from = cq_quant_grid_of(s->in[0]);
    cq_rt_grid        like = { .channels = spec->out, .is_image = from->is_image };
    cq_rt_node_step  *to   = cq_img_step_new(p, s, row, 1);
    cq_rt_qconv      *q;

    if (!to)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_quant_prepare(&q, p, spec, w, bias, (double)from->grid.scale, (double)t->to.scale));
    q->from = from->grid;
    q->zero = t->to.zero;
    quantize_limits(&q->lo, &q->hi, t);
    cq_qconv_start(q->start, q->conv, from->grid.zero);
    like.is_flat      = from->is_flat;
    to->in[0]         = s->in[0]->blocked;
    to->step.prepared = q;
    return end_with(p, to, s, t, &like);
}

bool cq_quant_conv_spec(cq_qconv_spec *out, const cq_rt_node_step *s, const cq_tensor *w)
{
    cq_rt        rt = cq_img_attributes(s);
    cq_rt_image  image;
    cq_rt_window window;

    *out = (cq_qconv_spec){ .groups = cq_rt_int(&rt, "group") };
    if (w->rank != 4 || out->groups < 1 ||
        __builtin_mul_overflow(cq_size_of(w, 1), out->groups, &out->in) ||
        cq_rt_window_read(&window, &rt, cq_rt_image_of(&image, 1, 1, 1, 1), w) != CQ_OK)
        return false;
    out->w   = cq_tensor_data(w);
    out->out = cq_size_of(w, 0);
    for (int i = 0; i < 4; i++)
        out->step[i] = w->strides[i];
    for (size_t i = 0; i < 2; i++) {
        out->kernel[i]   = cq_size_of(w, 2 + i);
        out->stride[i]   = window.w.stride[i];
        out->dilation[i] = window.w.dilation[i];
    }
    return cq_qconv_supports(out);
}

static cq_status write_conv(cq_img_pass *p, cq_rt_node_step *s, bool *done)
{
    const cq_rt_grid  *from = image_of(s->in[0]);
    cq_qconv_spec      spec;
    cq_rt_quant_weight w;
    struct tail        t;
    const float       *bias;

    if (!from || !find_weight(&w, s->in[1], 0) || w.transposed ||
        !cq_quant_conv_spec(&spec, s, w.w) || from->channels != spec.in ||
        !find_tail(&t, s->out[0]))
        return CQ_OK;
    CQ_TRY(cq_quant_find_bias(&bias, done, p, s, 2, spec.out));
    return *done ? write_product(p, s, &cq_rt_row_qconv, &spec, &w, bias, &t) : CQ_OK;
}

cq_qconv_spec cq_quant_matrix_spec(const cq_rt_quant_weight *w, bool by_rows)
{
    size_t outputs = by_rows != w->transposed ? 0 : 1;

    return (cq_qconv_spec){ .w        = cq_tensor_data(w->w),
                            .step     = { w->w->strides[outputs], w->w->strides[1 - outputs] },
                            .out      = cq_size_of(w->w, outputs),
                            .in       = cq_size_of(w->w, 1 - outputs),
                            .groups   = 1,
                            .kernel   = { 1, 1 },
                            .stride   = { 1, 1 },
                            .dilation = { 1, 1 } };
}

/* ---- products of dynamically quantized values ---- */

/* Fake quantization of x with parameters that are computed from it: (Clip(Round(x *
 * Reciprocal(scale)) + zero, 0, top) - zero) * scale */
struct dynamic {
    cq_rt_node_value *x, *scale, *zero, *inverse;
    float             top; /* 255, or 127 for 7 bits */
};

enum { SCALAR_LOOKS = 100 };

/* Whether a value is known to have one element for every shape of the inputs. *looks limits the
 * search. */
static bool is_scalar(const cq_rt_node_value *v, int *looks)
{
    static const char *const by_element[] = { "Add",   "Sub",   "Mul",     "Div",   "Neg",
                                              "Clip",  "Round", "Cast",    "Where", "Reciprocal",
                                              "Equal", "Less",  "Greater", "Max",   "Min" };
    const cq_rt_node_step   *s            = v ? v->maker : NULL;

    if (!v || (*looks)-- <= 0)
        return false;
    if (v->is_constant)
        return v->constant.kind == CQ_VAL_TENSOR && v->constant.u.tensor->rank == 0;
    if (cq_rt_is_op(s, "ReduceMin") || cq_rt_is_op(s, "ReduceMax")) {
        cq_rt rt = cq_img_attributes(s);

        return s->step.n_in == 1 && !cq_rt_attr_given(&rt, "axes") && !cq_rt_int(&rt, "keepdims");
    }
    for (size_t i = 0; i < sizeof by_element / sizeof *by_element; i++)
        if (cq_rt_is_op(s, by_element[i])) {
            for (uint32_t k = 0; k < s->step.n_in; k++)
                if (s->in[k] && !is_scalar(s->in[k], looks))
                    return false;
            return true;
        }
    return false;
}

/* The step with that operator that computes one of the two inputs of s; *other is the other
 * input. */
static cq_rt_node_step *maker_of(cq_rt_node_value **other, const cq_rt_node_step *s, const char *op)
{
    for (uint32_t i = 0; s && s->step.n_in == 2 && i < 2; i++)
        if (s->in[i] && s->in[1 - i] && cq_rt_is_op(s->in[i]->maker, op)) {
            *other = s->in[1 - i];
            return s->in[i]->maker;
        }
    return NULL;
}

static bool find_dynamic(struct dynamic *d, const cq_rt_node_value *v)
{
    cq_rt_node_value *zero;
    cq_rt_node_step  *s     = cq_rt_is_op(v->maker, "Mul") ? v->maker : NULL;
    int               looks = SCALAR_LOOKS;
    float             lo;

    s = maker_of(&d->scale, s, "Sub");
    if (!s || !s->in[0] || !cq_rt_is_op(s->in[0]->maker, "Clip"))
        return false;
    d->zero = s->in[1];
    s       = s->in[0]->maker;
    if (!cq_img_limits(&lo, &d->top, s) || lo < 0 || lo > 0 || !(d->top >= 1 && d->top <= 255) ||
        d->top != floorf(d->top) || !s->in[0] || !cq_rt_is_op(s->in[0]->maker, "Add"))
        return false;
    s = maker_of(&zero, s->in[0]->maker, "Round");
    if (!s || zero != d->zero || !s->in[0] || !cq_rt_is_op(s->in[0]->maker, "Mul"))
        return false;
    s = maker_of(&d->x, s->in[0]->maker, "Reciprocal");
    if (!s || s->in[0] != d->scale)
        return false;
    d->inverse = s->out[0];
    return is_scalar(d->scale, &looks) && is_scalar(d->zero, &looks);
}

static cq_status write_dynamic(cq_img_pass *p, cq_rt_node_step *s, const cq_qconv_spec *spec,
                               const cq_rt_quant_weight *w, const float *bias, cq_rt_node_step *add,
                               const struct dynamic *d)
{
    cq_rt_node_value *in[] = { d->x, d->scale, d->zero, d->inverse };
    cq_rt_node_step  *to;
    cq_rt_qconv      *q;

    CQ_TRY(cq_quant_prepare(&q, p, spec, w, bias, 1, 1));
    q->lo  = -INFINITY;
    q->hi  = INFINITY;
    q->top = (int32_t)d->top;
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        CQ_TRY(cq_quant_need_plain(p, in[i], s));
    to = cq_img_step_new(p, s, &cq_rt_row_qlinear_dynamic, sizeof in / sizeof *in);
    if (!to)
        return CQ_E_NO_MEMORY;
    memcpy(to->in, in, sizeof in);
    to->out[0]        = add ? add->out[0] : s->out[0];
    to->step.prepared = q;
    to->step.label    = add ? "MatMul+Add (int8)" : "MatMul (int8)";
    if (add)
        add->is_gone = true;
    return CQ_OK;
}

/* The matrix of MatMul or Gemm with its bias, which a separate step may add. */
struct linear {
    cq_qconv_spec      spec;
    cq_rt_quant_weight w;
    const float       *bias;
    cq_rt_node_step   *add; /* or NULL */
};

static cq_status find_linear(struct linear *l, bool *found, cq_img_pass *p, cq_rt_node_step *s)
{
    bool                    gemm = cq_rt_is_op(s, "Gemm"), fits = true;
    cq_rt                   rt      = cq_img_attributes(s);
    bool                    by_rows = gemm && cq_rt_int(&rt, "transB");
    const cq_rt_node_value *y       = s->out[0];

    *l     = (struct linear){ .add = gemm ? NULL : cq_rt_only_reader(y, "Add") };
    *found = false;
    if (!find_weight(&l->w, s->in[1], by_rows ? 0 : 1) || l->w.w->rank != 2)
        return CQ_OK;
    if (gemm && (cq_rt_int(&rt, "transA") || cq_rt_float(&rt, "alpha") != 1 ||
                 cq_rt_float(&rt, "beta") != 1))
        return CQ_OK;
    l->spec = cq_quant_matrix_spec(&l->w, by_rows);
    if (l->add)
        CQ_TRY(cq_quant_find_bias(&l->bias, &fits, p, l->add, cq_rt_place_of(l->add, y) == 0,
                                  l->spec.out));
    if (l->add && !fits)
        l->add = NULL; /* it adds something other than a bias */
    if (gemm)
        CQ_TRY(cq_quant_find_bias(&l->bias, &fits, p, s, 2, l->spec.out));
    *found = (fits || !gemm) && cq_qconv_supports(&l->spec);
    return CQ_OK;
}

static cq_status write_linear(cq_img_pass *p, cq_rt_node_step *s, bool *done)
{
    const cq_rt_grid *from = cq_quant_grid_of(s->in[0]);
    struct linear     l;
    struct tail       t;
    struct dynamic    d;

    CQ_TRY(find_linear(&l, done, p, s));
    if (!*done)
        return CQ_OK;
    if (!from && find_dynamic(&d, s->in[0]))
        return write_dynamic(p, s, &l.spec, &l.w, l.bias, l.add, &d);
    *done = from && !from->bytes && (!from->is_image || from->is_flat) &&
            from->channels == l.spec.in && find_tail(&t, l.add ? l.add->out[0] : s->out[0]);
    if (!*done)
        return CQ_OK;
    if (l.add)
        l.add->is_gone = true;
    return write_product(p, s, &cq_rt_row_qlinear, &l.spec, &l.w, l.bias, &t);
}

/* ---- other steps ---- */

static cq_rt_node_step *other_step(cq_rt_qstep **keep, cq_img_pass *p, const cq_rt_node_step *s,
                                   const cq_rt_row *row, uint32_t n_in)
{
    cq_rt_node_step *to = cq_img_step_new(p, s, row, n_in);

    *keep = cq_arena_zalloc(p->b->all->arena, sizeof **keep);
    if (!to || !*keep)
        return NULL;
    for (uint32_t i = 0; i < n_in; i++)
        to->in[i] = s->in[i]->blocked;
    (*keep)->channels = s->in[0]->grid->channels;
    (*keep)->from     = s->in[0]->grid->grid;
    to->step.prepared = *keep;
    return to;
}

static cq_status write_add(cq_img_pass *p, cq_rt_node_step *s, bool *done)
{
    const cq_rt_grid *a = image_of(s->in[0]), *b = image_of(s->in[1]);
    cq_rt_node_step  *to;
    cq_rt_qstep      *keep;
    struct tail       t;

    if (!a || !b || a->channels != b->channels || !find_tail(&t, s->out[0]))
        return CQ_OK;
    *done = true;
    to    = other_step(&keep, p, s, &cq_rt_row_qadd, 2);
    if (!to)
        return CQ_E_NO_MEMORY;
    keep->sum.scale[0] = a->grid.scale / t.to.scale;
    keep->sum.scale[1] = b->grid.scale / t.to.scale;
    keep->sum.shift =
        -(keep->sum.scale[0] * (float)a->grid.zero + keep->sum.scale[1] * (float)b->grid.zero);
    keep->sum.zero = t.to.zero;
    quantize_limits(&keep->sum.lo, &keep->sum.hi, &t);
    return end_with(p, to, s, &t, a);
}

static cq_status write_mean(cq_img_pass *p, cq_rt_node_step *s, bool *done)
{
    const cq_rt_grid *x = image_of(s->in[0]);
    cq_rt_node_step  *to;
    cq_rt_qstep      *keep;
    struct tail       t;

    if (!x || !find_tail(&t, s->out[0]) || t.limit)
        return CQ_OK;
    *done = true;
    to    = other_step(&keep, p, s, &cq_rt_row_qmean, 1);
    if (!to)
        return CQ_E_NO_MEMORY;
    keep->to = t.to;
    CQ_TRY(end_with(p, to, s, &t, x));
    t.quantize->out[0]->shape.size[0] = t.quantize->out[0]->shape.size[1] = 1;
    return CQ_OK;
}

static cq_status write_max_pool(cq_img_pass *p, cq_rt_node_step *s, bool *done)
{
    const cq_rt_grid *x  = cq_quant_grid_of(s->in[0]); /* dequantized or not */
    cq_rt             rt = cq_img_attributes(s);
    cq_rt_node_step  *to;
    cq_rt_qstep      *keep;
    cq_rt_ints        kernel;

    if (!x || !x->is_image || x->is_flat || !cq_img_has_one_output(s) ||
        cq_rt_attr_ints(&kernel, &rt, "kernel_shape") != CQ_OK || kernel.n != 2)
        return CQ_OK;
    *done = true;
    to    = other_step(&keep, p, s, &cq_rt_row_qmax_pool, 1);
    if (!to)
        return CQ_E_NO_MEMORY;
    to->step.label = "MaxPool (int8)";
    CQ_TRY(cq_quant_replace(p, s->out[0], NULL, x));
    to->out[0] = s->out[0]->blocked;
    return CQ_OK;
}

/* Flattens a 1x1 feature map to a matrix. */
static cq_status write_flatten(cq_img_pass *p, cq_rt_node_step *s, bool *done)
{
    const cq_rt_grid *x  = image_of(s->in[0]);
    cq_rt             rt = cq_img_attributes(s);
    cq_rt_grid        grid;

    if (!x || cq_rt_int(&rt, "axis") != 1 || s->in[0]->shape.size[0] != 1 ||
        s->in[0]->shape.size[1] != 1)
        return CQ_OK;
    *done        = true;
    grid         = *x;
    grid.is_flat = true;
    return cq_quant_replace(p, s->out[0], s->in[0]->blocked, &grid);
}

/* ---- conversions to and from quantized values ---- */

/* The layout that the users of a quantized value need; 0 if no user can read it. */
static int64_t channels_for(bool *is_image, const cq_rt_node_value *q)
{
    for (uint32_t i = 0; i < 2 && i < q->n_uses; i++) {
        const cq_rt_node_step *dq = q->readers[i], *s;
        cq_rt_quant_weight     w;
        int64_t                channels = cq_quant_form_channels(is_image, dq, q);

        if (channels)
            return channels;
        s = cq_rt_is_op(dq, "DequantizeLinear") && dq->out[0] && dq->out[0]->n_uses
                ? dq->out[0]->readers[0]
                : NULL;
        if (!s || s->step.n_in < 2 || s->in[0] != dq->out[0])
            continue;
        *is_image = cq_rt_is_op(s, "Conv");
        if (*is_image && find_weight(&w, s->in[1], 0) && w.w->rank == 4) {
            cq_rt rt = cq_img_attributes(s);

            return cq_size_of(w.w, 1) * cq_rt_int(&rt, "group");
        }
        if (cq_rt_is_op(s, "MatMul") && find_weight(&w, s->in[1], 1) && w.w->rank == 2)
            return cq_size_of(w.w, w.transposed ? 1 : 0);
        if (cq_rt_is_op(s, "Gemm")) {
            cq_rt rt      = cq_img_attributes(s);
            bool  by_rows = cq_rt_int(&rt, "transB");

            if (find_weight(&w, s->in[1], by_rows ? 0 : 1) && w.w->rank == 2)
                return cq_size_of(w.w, by_rows != w.transposed ? 1 : 0);
        }
    }
    return 0;
}

static cq_status write_quantize(cq_img_pass *p, cq_rt_node_step *s, bool *done)
{
    cq_rt            rt   = cq_img_attributes(s);
    cq_rt_grid       grid = { 0 };
    cq_rt_node_step *to;

    if (!cq_quant_read_params(&grid.grid, &grid.bytes, s, 1) ||
        (s->step.n_in < 3 && cq_rt_int(&rt, "output_dtype")) || s->in[0]->is_constant)
        return CQ_OK;
    grid.channels = channels_for(&grid.is_image, s->out[0]);
    if (grid.channels < 1)
        return CQ_OK;
    *done = true;
    CQ_TRY(cq_quant_need_plain(p, s->in[0], s));
    CQ_TRY(cq_quant_replace(p, s->out[0], NULL, &grid));
    to = cq_img_step_new(p, s, &cq_rt_row_qpack, 1);
    if (!to)
        return CQ_E_NO_MEMORY;
    to->in[0]         = s->in[0];
    to->out[0]        = s->out[0]->blocked;
    to->step.prepared = s->out[0]->grid;
    return CQ_OK;
}

/* Handles a value that is already quantized with the same parameters. */
static cq_status write_dequantize(cq_img_pass *p, cq_rt_node_step *s, bool *done)
{
    const cq_rt_grid *from = cq_quant_grid_of(s->in[0]);
    cq_rt_grid        grid;
    cq_dtype          bytes;
    cq_rt             rt = cq_img_attributes(s);

    if (!from || !from->bytes || cq_rt_int(&rt, "output_dtype"))
        return CQ_OK;
    grid = *from;
    if (!cq_quant_read_params(&grid.grid, &bytes, s, 1) || bytes != from->bytes)
        return CQ_OK;
    *done      = true;
    grid.bytes = CQ_DTYPE_NONE;
    CQ_TRY(cq_quant_replace(p, s->out[0], s->in[0]->blocked, &grid));
    s->out[0]->shape = s->in[0]->shape;
    return CQ_OK;
}

/* ---- the pass ---- */

static const struct {
    const char *op;
    cq_status (*write)(cq_img_pass *p, cq_rt_node_step *s, bool *done);
} rules[] = {
    { "QuantizeLinear", write_quantize },
    { "DequantizeLinear", write_dequantize },
    { "Conv", write_conv },
    { "Gemm", write_linear },
    { "MatMul", write_linear },
    { "Add", write_add },
    { "GlobalAveragePool", write_mean },
    { "MaxPool", write_max_pool },
    { "Flatten", write_flatten },
    { "QLinearConv", cq_quant_write_qlinear_conv },
    { "QLinearMatMul", cq_quant_write_qlinear_matmul },
    { "DynamicQuantizeLinear", cq_quant_write_dynamic },
    { "MatMulInteger", cq_quant_write_matmul_integer },
};

/* Keeps a step unchanged, or folds it if that is possible now. */
static cq_status write_plain(cq_img_pass *p, cq_rt_node_step *s)
{
    bool was_waiting = false;

    for (uint32_t i = 0; i < s->step.n_in; i++) {
        was_waiting |= s->in[i] && s->in[i]->maker && !s->in[i]->grid && s->in[i]->is_gone;
        CQ_TRY(cq_quant_need_plain(p, s->in[i], s));
    }
    for (cq_rt_builder *g = s->inner; g; g = g->next)
        for (size_t i = 0; i < g->plan->n_captures; i++)
            CQ_TRY(cq_quant_need_plain(p, g->around[i], s));
    return was_waiting && cq_rt_fold(p->b, s) ? CQ_OK : cq_vec_push(&p->done, s);
}

static cq_status write_step(cq_img_pass *p, cq_rt_node_step *s)
{
    bool done = false;

    if (s->is_gone)
        return CQ_OK;
    for (size_t i = 0; i < sizeof rules / sizeof *rules && !done; i++)
        if (cq_rt_is_op(s, rules[i].op) && s->step.n_in && s->in[0] && s->step.n_out && s->out[0])
            CQ_TRY(rules[i].write(p, s, &done));
    return done ? CQ_OK : write_plain(p, s);
}

static bool has_grids(const cq_rt_builder *b)
{
    static const char *const ops[] = { "DequantizeLinear", "QLinearConv", "QLinearMatMul",
                                       "DynamicQuantizeLinear" };

    for (size_t i = 0; i < b->steps.n; i++)
        for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
            if (cq_rt_is_op(b->steps.items[i], ops[k]))
                return true;
    return false;
}

cq_status cq_rt_optimize_quantized(cq_rt_builder *b, cq_rt_plan *plan)
{
    cq_img_pass p      = { .b = b, .plan = plan };
    cq_status   status = CQ_OK;

    if (!has_grids(b))
        return CQ_OK;
    for (size_t i = 0; i < b->steps.n; i++)
        if (can_defer(b->steps.items[i]))
            b->steps.items[i]->out[0]->is_gone = b->steps.items[i]->is_gone = true;
    for (size_t i = 0; i < b->steps.n; i++)
        CQ_TRY_OR_DONE(write_step(&p, b->steps.items[i]));
    for (size_t i = 0; i < b->outputs.n; i++)
        CQ_TRY_OR_DONE(cq_quant_need_plain(&p, b->outputs.items[i], b->outputs.items[i]->maker));
    for (size_t i = 0; i < b->values.n; i++)
        b->values.items[i]->blocked = NULL; /* images.c has its own blocked values */
    b->steps.n = 0;
    for (size_t i = 0; i < p.done.n; i++)
        CQ_TRY_OR_DONE(cq_vec_push(&b->steps, p.done.items[i]));
done:
    cq_vec_clear(&p.done);
    return status;
}
