/* Resizing and sampling.
 *
 * Since opset 11 Resize can express PyTorch's sampling positions. Two other forms are exact where
 * it cannot be used and sizes are fixed: gathering rows by constant indices for nearest modes,
 * whose indices a runtime may round differently unless the factor is an integer; and a product with
 * a constant weight matrix for each axis for the smooth modes. Both are computed by the kernel of
 * the operator. */
#include "export/symbolic/common.h"
#include "kernel/conv/resize.h"
#include "kernel/conv/window.h"

#include <math.h>

typedef struct resize {
    cq_value      *x;
    size_t         n; /* spatial axes */
    cq_resize_mode mode;
    bool           align, fixed; /* fixed: all sizes are known */
    double         scales[3];    /* 0: not given */
    bool           sizes_given;
    cq_int         in[3], out[3];
} resize;

static cq_resize_mode mode_of(const char *name)
{
    bool antialias = strstr(name, "_aa") != NULL;

    if (strstr(name, "nearest_exact"))
        return CQ_RESIZE_NEAREST_EXACT;
    if (strstr(name, "nearest"))
        return CQ_RESIZE_NEAREST;
    if (strstr(name, "cubic"))
        return antialias ? CQ_RESIZE_CUBIC_ANTIALIAS : CQ_RESIZE_CUBIC;
    return antialias ? CQ_RESIZE_LINEAR_ANTIALIAS : CQ_RESIZE_LINEAR;
}

static void read_scales(cq_sym *s, resize *r)
{
    static const char *const names[4][3] = {
        { NULL }, { "scales" }, { "scales_h", "scales_w" }, { "scales_d", "scales_h", "scales_w" }
    };

    if (cq_sym_has_arg(s, "scale_factors")) {
        if (!cq_sym_is_none(s, "scale_factors"))
            cq_sym_f64s(s, "scale_factors", r->scales, 3);
        return;
    }
    for (size_t i = 0; i < r->n; i++)
        if (!cq_sym_is_none(s, names[r->n][i]))
            r->scales[i] = cq_sym_f64(s, names[r->n][i]);
}

static resize read_resize(cq_sym *s)
{
    const char *name = s->op->schema->name, *digit = strpbrk(name, "123");
    resize      r   = { .n           = digit ? (size_t)(*digit - '0') : 2,
                        .mode        = mode_of(name),
                        .fixed       = true,
                        .sizes_given = !cq_sym_is_none(s, "output_size") };
    cq_type     out = cq_sym_result_type(s, 0);

    r.x     = cq_sym_in_float(s, s->op->schema->args[0].name);
    r.align = cq_sym_has_arg(s, "align_corners") && cq_sym_bool(s, "align_corners");
    read_scales(s, &r);
    for (size_t i = 0; i < r.n; i++) {
        r.in[i]  = cq_sym_size(s, r.x, (int)i + 2);
        r.out[i] = out.sizes[2 + i];
        r.fixed &= !r.in[i].expr && !r.out[i].expr;
    }
    return r;
}

/* ---- by tables ---- */

/* The kernel's result for t [1, channels, n] along axis i; NULL after a failure. */
static cq_tensor *kernel_on(cq_sym *s, const resize *r, size_t i, const cq_tensor *t)
{
    int64_t    sizes[3] = { 1, t->sizes[1].value, r->out[i].value };
    cq_tensor *out      = NULL;

    if (cq_sym_fail(s, cq_tensor_new(&out, t->dtype, 3, sizes, NULL)) != CQ_OK)
        return NULL;
    cq_sym_fail(s, cq_kernel_upsample(out, t, r->mode, r->align, &r->scales[i]));
    return out;
}

/* A constant that holds t under another shape of as many elements. */
static cq_value *const_as(cq_sym *s, cq_tensor *t, size_t rank, const int64_t *sizes)
{
    cq_tensor *shaped = NULL;
    cq_value  *v      = NULL;

    if (t && s->status == CQ_OK &&
        cq_sym_fail(s, cq_tensor_new(&shaped, t->dtype, rank, sizes, cq_tensor_data(t))) == CQ_OK)
        v = cq_sym_const(s, shaped);
    cq_tensor_release(shaped);
    cq_tensor_release(t);
    return v;
}

/* The old indices of the new ones along an axis. */
static cq_value *indices_of(cq_sym *s, const resize *r, size_t i)
{
    int64_t    sizes[3] = { 1, 1, r->in[i].value };
    cq_tensor *t = NULL, *picked = NULL;

    if (s->status != CQ_OK ||
        cq_sym_fail(s, cq_tensor_new(&t, CQ_DTYPE_I64, 3, sizes, NULL)) != CQ_OK)
        return NULL;
    for (int64_t k = 0; k < sizes[2]; k++)
        ((int64_t *)cq_tensor_data(t))[k] = k;
    picked = kernel_on(s, r, i, t);
    cq_tensor_release(t);
    return const_as(s, picked, 1, &r->out[i].value);
}

/* The weights [old, new] of an axis. */
static cq_value *matrix_of(cq_sym *s, const resize *r, size_t i, cq_dtype dtype)
{
    int64_t    n = r->in[i].value, sizes[3] = { 1, n, n }, matrix[2] = { n, r->out[i].value };
    bool       wide = dtype == CQ_DTYPE_F64;
    cq_tensor *t = NULL, *weights = NULL;

    if (s->status != CQ_OK || cq_sym_fail(s, cq_tensor_new(&t, wide ? CQ_DTYPE_F64 : CQ_DTYPE_F32,
                                                           3, sizes, NULL)) != CQ_OK)
        return NULL;
    for (int64_t k = 0; k < n; k++) {
        if (wide)
            ((double *)cq_tensor_data(t))[k * n + k] = 1;
        else
            ((float *)cq_tensor_data(t))[k * n + k] = 1;
    }
    weights = kernel_on(s, r, i, t);
    cq_tensor_release(t);
    return cq_sym_cast(s, const_as(s, weights, 2, matrix), dtype);
}

static bool same_size(const resize *r, size_t i)
{
    return r->in[i].value == r->out[i].value && r->scales[i] == 0;
}

static cq_status by_indices(cq_sym *s, const resize *r)
{
    cq_value *x = r->x;

    for (size_t i = 0; i < r->n; i++)
        if (!same_size(r, i))
            x = cq_sym_gather(s, x, indices_of(s, r, i), (int)i + 2);
    return cq_sym_done(s, x);
}

static cq_status by_matrices(cq_sym *s, const resize *r)
{
    int       last = (int)r->n + 1;
    cq_value *x    = r->x;

    for (size_t i = 0; i < r->n; i++) {
        cq_int sizes[5];

        if (same_size(r, i))
            continue;
        x = cq_sym_swap_dims(s, x, (int)i + 2, last);
        memcpy(sizes, s->status == CQ_OK ? x->type.sizes : sizes, (r->n + 2) * sizeof *sizes);
        x           = cq_sym_binary(s, "MatMul", x, matrix_of(s, r, i, cq_sym_dtype(s, r->x)));
        sizes[last] = r->out[i];
        cq_sym_set_type(s, x, cq_sym_dtype(s, r->x), r->n + 2, sizes);
        x = cq_sym_swap_dims(s, x, (int)i + 2, last);
    }
    return cq_sym_done(s, x);
}

/* ---- by Resize ---- */

/* The factors for all axes. */
static cq_value *scales_input(cq_sym *s, const resize *r)
{
    float scales[5] = { 1, 1 };

    for (size_t i = 0; i < r->n; i++)
        scales[2 + i] = (float)r->scales[i];
    return cq_sym_const_f32s(s, scales, r->n + 2);
}

static const char *onnx_mode(const resize *r)
{
    switch (r->mode) {
    case CQ_RESIZE_NEAREST:
    case CQ_RESIZE_NEAREST_EXACT: return "nearest";
    case CQ_RESIZE_CUBIC:
    case CQ_RESIZE_CUBIC_ANTIALIAS: return "cubic";
    default: return "linear";
    }
}

/* Until opset 10 there are only factors, and pixels are counted from the corner. */
static cq_status by_old_resize(cq_sym *s, const resize *r)
{
    double  scales[5] = { 1, 1 };
    int     opset     = cq_sym_opset(s);
    cq_attr mode      = cq_attr_s("mode", onnx_mode(r));

    memcpy(scales + 2, r->scales, r->n * sizeof *scales);
    if (opset < 9)
        return cq_sym_done(s, cq_sym_op(s, "Upsample", CQ_IN(r->x),
                                        CQ_ATTR(mode, cq_attr_fs(s, "scales", scales, r->n + 2))));
    return cq_sym_done(s, cq_sym_op(s, opset < 10 ? "Upsample" : "Resize",
                                    CQ_IN(r->x, scales_input(s, r)), CQ_ATTR(mode)));
}

static cq_status by_resize(cq_sym *s, const resize *r, bool use_scales)
{
    cq_type     out     = cq_sym_result_type(s, 0);
    bool        nearest = r->mode == CQ_RESIZE_NEAREST || r->mode == CQ_RESIZE_NEAREST_EXACT;
    const char *where   = r->align                       ? "align_corners"
                          : r->mode == CQ_RESIZE_NEAREST ? "asymmetric"
                                                         : "half_pixel";
    /* Opset 11 has no optional inputs here: unused ones are empty. */
    cq_value *nothing = cq_sym_opset(s) < 13 ? cq_sym_const_f32s(s, NULL, 0) : NULL;
    cq_value *v       = cq_sym_op(
              s, "Resize",
              CQ_IN(r->x, nothing, use_scales ? scales_input(s, r) : nothing,
              use_scales ? NULL : cq_sym_of_ints(s, out.sizes, (size_t)out.rank)),
              CQ_ATTR(cq_attr_s("coordinate_transformation_mode", where),
                r->mode == CQ_RESIZE_CUBIC ? cq_attr_f("cubic_coeff_a", -0.75) : (cq_attr){ 0 },
                      cq_attr_s("mode", onnx_mode(r)),
                !nearest                       ? (cq_attr){ 0 }
                      : r->mode == CQ_RESIZE_NEAREST ? cq_attr_s("nearest_mode", "floor")
                                                     : cq_attr_s("nearest_mode", "round_prefer_ceil")));

    cq_sym_set_dtype(s, v, cq_sym_dtype(s, r->x));
    return cq_sym_done(s, v);
}

/* ---- choice of the form ---- */

/* Fills in factors that follow from fixed sizes. Returns whether every factor is an integer. */
static bool whole_factors(resize *r)
{
    for (size_t i = 0; i < r->n; i++) {
        if (r->scales[i] == 0 && !r->in[i].expr && !r->out[i].expr &&
            r->out[i].value % r->in[i].value == 0)
            r->scales[i] = (double)(r->out[i].value / r->in[i].value);
        if (r->scales[i] < 1 || r->scales[i] != floor(r->scales[i]))
            return false;
        if (!r->in[i].expr && !r->out[i].expr &&
            (double)r->in[i].value * r->scales[i] != (double)r->out[i].value)
            return false;
    }
    return true;
}

/* Whether the given factors match the sizes. If both are given and disagree, PyTorch uses one for
 * the size and the other for the positions. */
static bool factors_agree(const resize *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->scales[i] != 0 && r->sizes_given && !r->align &&
            (!r->fixed || (double)r->out[i].value != (double)r->in[i].value * r->scales[i]))
            return false;
    return true;
}

static cq_status nearest(cq_sym *s)
{
    resize r = read_resize(s), whole = r;

    if (whole_factors(&whole) && (whole.fixed || !r.sizes_given))
        return cq_sym_opset(s) < 11 ? by_old_resize(s, &whole) : by_resize(s, &whole, true);
    if (r.fixed)
        return by_indices(s, &r);
    if (!factors_agree(&r))
        return cq_sym_no(s, 0, "sizes and factors that disagree require fixed sizes");
    if (!cq_sym_since(s, 11, "dynamic sizes without integer factors require opset 11"))
        return s->status;
    return by_resize(s, &r, !r.sizes_given);
}

static cq_status smooth(cq_sym *s)
{
    resize r         = read_resize(s);
    bool   antialias = r.mode == CQ_RESIZE_LINEAR_ANTIALIAS || r.mode == CQ_RESIZE_CUBIC_ANTIALIAS;
    bool   plain     = !antialias && factors_agree(&r);
    bool   no_kernel = r.fixed && cq_sym_dtype(s, r.x) == CQ_DTYPE_F64; /* in ONNX Runtime */

    if (plain && cq_sym_opset(s) >= 11 && !no_kernel)
        return by_resize(s, &r, !r.sizes_given && r.scales[0] != 0);
    if (r.fixed)
        return by_matrices(s, &r);
    /* The antialias of Resize, of opset 18, has other weights than PyTorch. */
    return cq_sym_no(s, plain ? 11 : 0,
                     antialias ? "antialiasing requires fixed sizes"
                     : plain   ? "its sampling positions require opset 11 or fixed sizes"
                               : "sizes and factors that disagree require fixed sizes");
}

#define AVERAGING(op, cubic)                                                                       \
    { "aten::" op, 7, .fn = smooth, .parts = true },                                               \
    {                                                                                              \
        "aten::" op ".vec", 7, .fn = smooth, .parts = true                                         \
    }

const cq_symbolic cq_symbolics_resize[] = {
    { "aten::upsample_nearest1d", 7, .fn = nearest },
    { "aten::upsample_nearest2d", 7, .fn = nearest },
    { "aten::upsample_nearest3d", 7, .fn = nearest },
    { "aten::_upsample_nearest_exact1d", 7, .fn = nearest },
    { "aten::_upsample_nearest_exact2d", 7, .fn = nearest },
    { "aten::_upsample_nearest_exact3d", 7, .fn = nearest },
    { "aten::upsample_linear1d", 7, .fn = smooth },
    { "aten::upsample_bilinear2d", 7, .fn = smooth },
    { "aten::upsample_trilinear3d", 7, .fn = smooth },
    { "aten::upsample_bicubic2d", 7, .fn = smooth },
    AVERAGING("_upsample_bilinear2d_aa", "False"),
    AVERAGING("_upsample_bicubic2d_aa", "True"),
    { 0 },
};
