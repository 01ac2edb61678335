/* Operators that contain their quantization parameters: QLinearConv and QLinearMatMul, and products
 * of dynamically quantized values, (float)MatMulInteger(DynamicQuantizeLinear(x), w) * scale +
 * bias. They are computed by the kernels of quantized.c. Rounding is that of ONNX Runtime: sums
 * with their bias are integers, and their scale is a product and a quotient in float32. */
#include "runtime/fuse/quantized.h"

#include "runtime/fuse/patterns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- QLinearConv and QLinearMatMul ---- */

/* Inputs of both: x, its scale and zero point, w and its, y's scale and zero point. */
enum { X, X_PARAMS, W = 3, W_SCALE, W_ZERO, Y_PARAMS, BIAS = 8 };

struct form {
    cq_qimage_params   from, to;
    cq_dtype           from_bytes, to_bytes;
    cq_rt_quant_weight w;
    cq_qconv_spec      spec;
    bool               is_image;
};

static bool is_zero(const cq_tensor *t)
{
    for (int64_t i = 0; i < cq_tensor_numel(t); i++)
        if (cq_tensor_get_i64(t, i))
            return false;
    return true;
}

/* Input i as an int8 constant whose zero point, input `zero`, is 0. */
static const cq_tensor *int8_weight(const cq_rt_node_step *s, uint32_t i, uint32_t zero)
{
    const cq_tensor *w = cq_img_constant(s, i), *z = cq_img_constant(s, zero);
    bool             has_zero = zero < s->step.n_in && s->in[zero];

    return w && w->dtype == CQ_DTYPE_I8 && (z ? is_zero(z) : !has_zero) ? w : NULL;
}

/* Whether t has one number, or n along its only axis. */
static bool fits_outputs(const cq_tensor *t, int64_t n)
{
    return t && t->rank <= 1 && (cq_tensor_numel(t) == 1 || cq_tensor_numel(t) == n);
}

static bool read_spec(cq_qconv_spec *out, bool *is_image, const cq_rt_node_step *s,
                      const cq_tensor *w)
{
    const cq_rt_quant_weight weight = { .w = w };

    *is_image = cq_rt_is_op(s, "QLinearConv");
    if (*is_image)
        return cq_quant_conv_spec(out, s, w);
    if (w->rank != 2)
        return false;
    *out = cq_quant_matrix_spec(&weight, false);
    return cq_qconv_supports(out);
}

static bool read_form(struct form *f, const cq_rt_node_step *s)
{
    *f =
        (struct form){ .w.w = int8_weight(s, W, W_ZERO), .w.scale = cq_rt_constant_of(s, W_SCALE) };
    return f->w.w && read_spec(&f->spec, &f->is_image, s, f->w.w) &&
           fits_outputs(f->w.scale, f->spec.out) &&
           cq_quant_read_params(&f->from, &f->from_bytes, s, X_PARAMS) &&
           cq_quant_read_params(&f->to, &f->to_bytes, s, Y_PARAMS) &&
           cq_img_constant(s, X_PARAMS + 1) && cq_img_constant(s, Y_PARAMS + 1);
}

int64_t cq_quant_form_channels(bool *is_image, const cq_rt_node_step *s, const cq_rt_node_value *q)
{
    struct form      f;
    const cq_tensor *w;

    if (!s || !s->step.n_in || s->in[0] != q)
        return 0;
    *is_image = false;
    if (cq_rt_is_op(s, "MatMulInteger")) {
        w = int8_weight(s, 1, 3);
        return w && w->rank == 2 ? cq_size_of(w, 0) : 0;
    }
    if ((!cq_rt_is_op(s, "QLinearConv") && !cq_rt_is_op(s, "QLinearMatMul")) || !read_form(&f, s))
        return 0;
    *is_image = f.is_image;
    return f.spec.in;
}

/* Makes the quantized form of input 0 available; false if it has another layout already. */
static cq_status need_packed(bool *done, cq_img_pass *p, cq_rt_node_step *s, const struct form *f)
{
    cq_rt_node_value *x    = s->in[X];
    const cq_rt_grid *from = cq_quant_grid_of(x);
    const cq_rt_grid  grid = {
         .grid = f->from, .channels = f->spec.in, .is_image = f->is_image, .bytes = f->from_bytes
    };
    cq_rt_node_step *to;

    *done = from ? from->is_image == grid.is_image && !from->is_flat &&
                       from->channels == grid.channels && from->bytes == grid.bytes
                 : !x->is_constant && !x->is_gone;
    if (!*done || from)
        return CQ_OK;
    CQ_TRY(cq_quant_replace(p, x, NULL, &grid));
    x->is_gone = false; /* both forms exist */
    to         = cq_img_step_new(p, s, &cq_rt_row_qpack, 1);
    if (!to)
        return CQ_E_NO_MEMORY;
    to->in[0]         = x;
    to->out[0]        = x->blocked;
    to->step.prepared = x->grid;
    return CQ_OK;
}

/* Adds the bias to the start of the sums, or to their floats if a sum could overflow. */
static void add_bias(cq_rt_qconv *q, const cq_qconv_spec *spec, const cq_tensor *bias)
{
    int64_t most = spec->in / spec->groups * spec->kernel[0] * spec->kernel[1] * 255 * 128;

    for (int64_t o = 0; bias && o < spec->out; o++) {
        int64_t b = cq_tensor_get_i64(bias, o), start = q->start[o] + b;

        if (llabs(b) + most <= INT32_MAX && start >= INT32_MIN && start <= INT32_MAX)
            q->start[o] = (int32_t)start;
        else
            q->bias[o] = (float)b * q->scale[o];
    }
}

static cq_status write_form(cq_img_pass *p, cq_rt_node_step *s, const cq_rt_row *row,
                            const struct form *f, const cq_tensor *bias)
{
    cq_rt_grid grid = {
        .grid = f->to, .channels = f->spec.out, .is_image = f->is_image, .bytes = f->to_bytes
    };
    cq_rt_node_step *to = cq_img_step_new(p, s, row, 1);
    cq_rt_qconv     *q;

    if (!to)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_quant_prepare(&q, p, &f->spec, &f->w, NULL, 1, 1));
    for (int64_t o = 0; o < f->spec.out; o++)
        q->scale[o] = f->from.scale * q->scale[o] / f->to.scale;
    q->from = f->from;
    q->zero = f->to.zero;
    q->lo   = (float)-f->to.zero;
    q->hi   = (float)(255 - f->to.zero);
    cq_qconv_start(q->start, q->conv, f->from.zero);
    add_bias(q, &f->spec, bias);
    CQ_TRY(cq_quant_replace(p, s->out[0], NULL, &grid));
    to->in[0]         = s->in[X]->blocked;
    to->out[0]        = s->out[0]->blocked;
    to->step.prepared = q;
    to->step.label    = f->is_image ? "QLinearConv (int8)" : "QLinearMatMul (int8)";
    return CQ_OK;
}

cq_status cq_quant_write_qlinear_conv(cq_img_pass *p, cq_rt_node_step *s, bool *done)
{
    const cq_tensor *bias     = cq_img_constant(s, BIAS);
    bool             has_bias = BIAS < s->step.n_in && s->in[BIAS];
    struct form      f;

    if (!read_form(&f, s) ||
        (has_bias && (!bias || bias->dtype != CQ_DTYPE_I32 || cq_tensor_numel(bias) != f.spec.out)))
        return CQ_OK;
    CQ_TRY(need_packed(done, p, s, &f));
    return *done ? write_form(p, s, &cq_rt_row_qconv, &f, bias) : CQ_OK;
}

cq_status cq_quant_write_qlinear_matmul(cq_img_pass *p, cq_rt_node_step *s, bool *done)
{
    struct form f;

    if (!read_form(&f, s))
        return CQ_OK;
    CQ_TRY(need_packed(done, p, s, &f));
    return *done ? write_form(p, s, &cq_rt_row_qlinear, &f, NULL) : CQ_OK;
}

/* ---- products of dynamically quantized values ---- */

/* The packed bytes are shared by all products that read them. */
cq_status cq_quant_write_dynamic(cq_img_pass *p, cq_rt_node_step *s, bool *done)
{
    cq_rt_grid       grid = { .grid = { .scale = 1 }, .bytes = CQ_DTYPE_U8 };
    bool             is_image;
    cq_rt_node_step *to;

    for (uint32_t i = 0; i < 2 && i < s->out[0]->n_uses && !grid.channels; i++)
        grid.channels = cq_quant_form_channels(&is_image, s->out[0]->readers[i], s->out[0]);
    if (!grid.channels || s->step.n_out != 3 || !s->out[1] || !s->out[2])
        return CQ_OK;
    *done = true;
    CQ_TRY(cq_quant_need_plain(p, s->in[0], s));
    to = cq_img_step_new(p, s, &cq_rt_row_qdynamic, 1);
    if (!to)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_quant_replace(p, s->out[0], NULL, &grid));
    to->step.n_out = 3;
    to->out        = cq_arena_array(p->b->all->arena, 3, sizeof *to->out);
    if (!to->out)
        return CQ_E_NO_MEMORY;
    memcpy(to->out, s->out, 3 * sizeof *to->out);
    to->in[0]         = s->in[0];
    to->out[0]        = s->out[0]->blocked;
    to->step.prepared = s->out[0]->grid;
    return CQ_OK;
}

/* MatMulInteger with the steps that scale its sums. */
struct product {
    cq_rt_node_step   *cast, *mul, *add; /* add may be NULL */
    cq_rt_quant_weight w;
    const float       *bias;
};

/* The weight's factor of the scale of the sums, which is that of x or a product of both. */
static bool find_scale(const cq_tensor **out, const cq_rt_node_value *v,
                       const cq_rt_node_value *x_scale)
{
    const cq_rt_node_step *s = v == x_scale ? NULL : v->maker;

    *out = NULL;
    if (v == x_scale)
        return true;
    if (!cq_rt_is_op(s, "Mul"))
        return false;
    *out = s->in[0] == x_scale   ? cq_rt_constant_of(s, 1)
           : s->in[1] == x_scale ? cq_rt_constant_of(s, 0)
                                 : NULL;
    return *out != NULL;
}

static bool is_cast_to_float(const cq_rt_node_step *s)
{
    cq_rt    rt = cq_img_attributes(s);
    cq_dtype to;

    return cq_rt_out_dtype(&to, &rt, "to") == CQ_OK && to == CQ_DTYPE_F32;
}

static bool find_product(struct product *found, const cq_rt_node_step *s)
{
    const cq_rt_node_step *x  = s->in[0]->maker;
    cq_rt_node_value      *by = NULL;
    int                    at;

    *found = (struct product){ .w.w = int8_weight(s, 1, 3) };
    if (!x || strcmp(x->step.node->op_type, "DynamicQuantizeLinear") || !found->w.w ||
        found->w.w->rank != 2 || s->step.n_in < 3 || s->in[2] != x->out[2])
        return false;
    found->cast = cq_rt_only_reader(s->out[0], "Cast");
    if (!found->cast || !is_cast_to_float(found->cast))
        return false;
    found->mul = cq_rt_only_reader(found->cast->out[0], "Mul");
    at         = found->mul ? cq_rt_place_of(found->mul, found->cast->out[0]) : -1;
    by         = at < 0 ? NULL : found->mul->in[1 - at];
    return by && find_scale(&found->w.scale, by, x->out[1]) &&
           (!found->w.scale || fits_outputs(found->w.scale, cq_size_of(found->w.w, 1)));
}

cq_status cq_quant_write_matmul_integer(cq_img_pass *p, cq_rt_node_step *s, bool *done)
{
    const cq_rt_grid *from = cq_quant_grid_of(s->in[0]);
    cq_rt_node_step  *to, *last;
    cq_qconv_spec     spec;
    cq_rt_qconv      *q;
    struct product    found;
    bool              fits = false;

    if (!from || from->is_image || from->bytes != CQ_DTYPE_U8 || !find_product(&found, s))
        return CQ_OK;
    spec = cq_quant_matrix_spec(&found.w, false);
    if (from->channels != spec.in || !cq_qconv_supports(&spec))
        return CQ_OK;
    *done     = true;
    last      = found.mul;
    found.add = cq_rt_only_reader(last->out[0], "Add");
    if (found.add)
        CQ_TRY(cq_quant_find_bias(&found.bias, &fits, p, found.add,
                                  cq_rt_place_of(found.add, last->out[0]) == 0, spec.out));
    last = fits ? found.add : last;
    CQ_TRY(cq_quant_prepare(&q, p, &spec, &found.w, found.bias, 1, 1));
    q->lo = -INFINITY;
    q->hi = INFINITY;
    to    = cq_img_step_new(p, s, &cq_rt_row_qlinear_packed, 3);
    if (!to)
        return CQ_E_NO_MEMORY;
    to->in[0]           = s->in[0]->blocked;
    to->in[1]           = s->in[0]->maker->out[1];
    to->in[2]           = s->in[2];
    to->out[0]          = last->out[0];
    to->step.prepared   = q;
    to->step.label      = fits ? "MatMulInteger+Add (int8)" : "MatMulInteger (int8)";
    found.cast->is_gone = found.mul->is_gone = true;
    last->is_gone                            = true;
    return CQ_OK;
}
