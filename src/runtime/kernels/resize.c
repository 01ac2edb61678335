/* Resize and its predecessor Upsample. Axes are resized one by one. Each axis has a table of source
 * indices and weights, which is filled in here by ONNX's rules and applied by
 * kernel/conv/resize.h. */
#include "kernel/conv/resize.h"

#include "runtime/kernels/families.h"
#include "tensor/convert.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- source coordinates ---- */

typedef enum transform {
    HALF_PIXEL,
    HALF_PIXEL_SYMMETRIC,
    PYTORCH_HALF_PIXEL,
    ALIGN_CORNERS,
    ASYMMETRIC,
    TF_HALF_PIXEL_FOR_NN,
    TF_CROP_AND_RESIZE
} transform;

static const char *const transform_names[] = {
    [HALF_PIXEL]           = "half_pixel",
    [HALF_PIXEL_SYMMETRIC] = "half_pixel_symmetric",
    [PYTORCH_HALF_PIXEL]   = "pytorch_half_pixel",
    [ALIGN_CORNERS]        = "align_corners",
    [ASYMMETRIC]           = "asymmetric",
    [TF_HALF_PIXEL_FOR_NN] = "tf_half_pixel_for_nn",
    [TF_CROP_AND_RESIZE]   = "tf_crop_and_resize",
};

typedef enum nearest {
    ROUND_PREFER_FLOOR,
    ROUND_PREFER_CEIL,
    FLOOR,
    CEIL,
    CEIL_IF_SMALLER /* version 10, whose text has no rule; its test data and ONNX Runtime have this
                     */
} nearest;

static const char *const nearest_names[] = { "round_prefer_floor", "round_prefer_ceil", "floor",
                                             "ceil" };

typedef enum mode { NEAREST, LINEAR, CUBIC } mode;

typedef struct axis {
    int64_t in, out;
    double  scale;
    double  start, end; /* the region of tf_crop_and_resize, relative to the axis */
    bool    given;      /* the node specifies this axis */
} axis;

typedef struct plan {
    transform transform;
    nearest   nearest;
    mode      mode;
    double    cubic;
    bool      exclude_outside, antialias;
    uint32_t  rank;
    axis      axes[CQ_MAX_RANK];
} plan;

static double old_place(const plan *p, const axis *a, int64_t i)
{
    double x = (double)i, in = (double)a->in, out = (double)a->out;

    switch (p->transform) {
    case PYTORCH_HALF_PIXEL: return a->out > 1 ? (x + 0.5) / a->scale - 0.5 : 0;
    case ALIGN_CORNERS: return a->out > 1 ? x * (in - 1) / (out - 1) : 0;
    case ASYMMETRIC: return x / a->scale;
    case TF_HALF_PIXEL_FOR_NN: return (x + 0.5) / a->scale;
    case TF_CROP_AND_RESIZE:
        return a->out > 1 ? (in - 1) * (a->start + x * (a->end - a->start) / (out - 1))
                          : (in - 1) * 0.5 * (a->start + a->end);
    case HALF_PIXEL_SYMMETRIC:
        return in / 2 * (1 - out / (a->scale * in)) + (x + 0.5) / a->scale - 0.5;
    default: return (x + 0.5) / a->scale - 0.5;
    }
}

/* The nearest source index. Coordinates are float32 like scales, as in other runtimes: 8.5 / 1.7f -
 * 0.5 is 4.5 in float32, but 4.4999998 in double, which rounds to another pixel. */
static int64_t nearest_place(const plan *p, const axis *a, float x)
{
    switch (p->nearest) {
    case ROUND_PREFER_CEIL: return (int64_t)floorf(x + 0.5f);
    case FLOOR: return (int64_t)floorf(x);
    case CEIL: return (int64_t)ceilf(x);
    case CEIL_IF_SMALLER: return (int64_t)(a->scale < 1 ? ceilf(x) : floorf(x));
    default: return (int64_t)ceilf(x - 0.5f);
    }
}

static double cubic_weight(double a, double x)
{
    x = fabs(x);
    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? a * (((x - 5) * x + 8) * x - 4) : 0;
}

static double linear_weight(double x)
{
    return fabs(x) < 1 ? 1 - fabs(x) : 0;
}

/* ---- the table of an axis ---- */

/* The factor by which an antialiasing filter is widened. */
static double squeeze_of(const plan *p, const axis *a)
{
    return p->antialias && a->scale < 1 ? a->scale : 1;
}

static int64_t taps_of(const plan *p, const axis *a)
{
    double reach = (p->mode == CUBIC ? 2 : 1) / squeeze_of(p, a);

    reach = fmin(reach, INT32_MAX); /* larger than any axis */
    return p->mode == NEAREST ? 1 : 2 * (int64_t)ceil(reach);
}

static int64_t clamp(int64_t x, int64_t n)
{
    return x < 0 ? 0 : x >= n ? n - 1 : x;
}

static void fill_filter(cq_resize_axis *to, const plan *p, const axis *a, int64_t i, double x)
{
    int64_t first   = (int64_t)floor(x) - to->n_taps / 2 + 1;
    double  squeeze = squeeze_of(p, a), sum = 0;
    double *weight = to->weight + i * to->n_taps;

    for (int64_t k = 0; k < to->n_taps; k++) {
        double  d  = ((double)(first + k) - x) * squeeze;
        int64_t at = first + k;

        weight[k] = p->mode == CUBIC ? cubic_weight(p->cubic, d) : linear_weight(d);
        if (p->exclude_outside && (at < 0 || at >= a->in))
            weight[k] = 0;
        sum += weight[k];
        to->index[i * to->n_taps + k] = clamp(at, a->in);
    }
    for (int64_t k = 0; (p->exclude_outside || p->antialias) && sum != 0 && k < to->n_taps; k++)
        weight[k] /= sum;
}

static cq_status fill_axis(cq_resize_axis *to, const plan *p, const axis *a)
{
    CQ_TRY(cq_resize_axis_init(to, a->out, taps_of(p, a), p->mode == NEAREST));
    for (int64_t i = 0; i < a->out; i++) {
        double x = old_place(p, a, i);

        /* scales come from the file: x may be NaN, or exceed all integers */
        x = isnan(x) ? 0 : fmin(fmax(x, -0x1p60), 0x1p60);
        if (p->mode == NEAREST)
            to->index[i] = clamp(nearest_place(p, a, (float)x), a->in);
        else
            fill_filter(to, p, a, i, x);
    }
    return CQ_OK;
}

/* With tf_crop_and_resize, pixels outside of the input get the extrapolation value. */
static cq_status fill_outside(cq_rt *rt, cq_tensor *y, const plan *p)
{
    double value = cq_rt_float(rt, "extrapolation_value");

    for (uint32_t d = 0; p->transform == TF_CROP_AND_RESIZE && d < p->rank; d++)
        for (int64_t i = 0; p->axes[d].given && i < p->axes[d].out; i++) {
            double     x = old_place(p, &p->axes[d], i);
            cq_tensor *part;
            cq_status  status;

            if (x >= 0 && x <= (double)(p->axes[d].in - 1))
                continue;
            CQ_TRY(cq_rt_slice(&part, y, d, i, 1, 1));
            status = cq_kernel_fill_f64(part, value);
            cq_tensor_release(part);
            CQ_TRY(status);
        }
    return CQ_OK;
}

static cq_status resize_by(cq_rt *rt, const plan *p)
{
    const cq_tensor *x                 = cq_rt_in(rt, 0);
    cq_resize_axis   axes[CQ_MAX_RANK] = { { 0 } };
    cq_rt_sizes      sizes             = { .rank = p->rank };
    cq_status        status;
    cq_tensor       *y;

    for (uint32_t i = 0; i < p->rank; i++) {
        sizes.at[i] = p->axes[i].out;
        if (p->axes[i].in == 0 && p->axes[i].out > 0)
            return cq_rt_misfit(x, NULL);
    }
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    if (!cq_tensor_numel(y))
        return CQ_OK;
    status = CQ_OK;
    for (uint32_t i = 0; i < p->rank && status == CQ_OK; i++)
        if (p->axes[i].given && (p->axes[i].in != p->axes[i].out || p->axes[i].scale != 1 ||
                                 p->transform == TF_CROP_AND_RESIZE))
            status = fill_axis(&axes[i], p, &p->axes[i]);
    if (status == CQ_OK)
        status = cq_kernel_resize(y, x, axes);
    if (status == CQ_OK)
        status = fill_outside(rt, y, p);
    for (uint32_t i = 0; i < p->rank; i++)
        cq_resize_axis_clear(&axes[i]);
    return status;
}

/* ---- reading the node ---- */

static cq_status read_mode(plan *p, const cq_rt *rt)
{
    static const char *const names[] = { "nearest", "linear", "cubic", "bilinear", "trilinear" };
    int                      found;

    CQ_TRY(cq_rt_choose(&found, rt, "mode", names, sizeof names / sizeof *names));
    p->mode = found > CUBIC ? LINEAR : (mode)found;
    if (rt->has_ranks && p->mode != NEAREST)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "strings cannot be interpolated");
    return CQ_OK;
}

static void plan_init(plan *p, const cq_tensor *x)
{
    p->rank = x->rank;
    for (uint32_t i = 0; i < x->rank; i++)
        p->axes[i] =
            (axis){ .in = cq_size_of(x, i), .out = cq_size_of(x, i), .scale = 1, .end = 1 };
}

static cq_status set_scale(axis *a, double scale)
{
    double out = floor((double)((float)a->in * (float)scale));

    if (!(scale > 0) || !(out < 1e15))
        return cq_fail(CQ_E_TYPE, NULL, NULL, "expected a scale > 0, got %g", scale);
    a->scale = scale;
    a->out   = (int64_t)out;
    a->given = true;
    return CQ_OK;
}

static cq_status read_scales(plan *p, const cq_tensor *scales, const uint32_t *which, size_t n)
{
    if (cq_tensor_numel(scales) != (int64_t)n)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "there are %" PRId64 " scales for %zu axes",
                       cq_tensor_numel(scales), n);
    for (size_t i = 0; i < n; i++)
        CQ_TRY(set_scale(&p->axes[which[i]], cq_tensor_get_f64(scales, (int64_t)i)));
    return CQ_OK;
}

static cq_status read_sizes(plan *p, const cq_rt *rt, const cq_rt_ints *sizes,
                            const uint32_t *which, size_t n)
{
    bool   larger = cq_rt_is(rt, "keep_aspect_ratio_policy", "not_smaller");
    bool   keep   = larger || cq_rt_is(rt, "keep_aspect_ratio_policy", "not_larger");
    double common = 0;

    if (sizes->n != n)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "there are %zu sizes for %zu axes", sizes->n, n);
    for (size_t i = 0; i < n; i++) {
        axis  *a     = &p->axes[which[i]];
        double scale = a->in ? (double)sizes->at[i] / (double)a->in : 1;

        if (sizes->at[i] < 0)
            return cq_fail(CQ_E_TYPE, NULL, NULL, "a size is %" PRId64, sizes->at[i]);
        a->out   = sizes->at[i];
        a->scale = scale;
        a->given = true;
        common   = i == 0 || (larger ? scale > common : scale < common) ? scale : common;
    }
    for (size_t i = 0; keep && i < n; i++) {
        axis *a = &p->axes[which[i]];

        a->scale = common;
        a->out   = cq_f64_to_i64(floor((double)a->in * common + 0.5));
        if (a->out < 0)
            return cq_fail(CQ_E_TYPE, NULL, NULL, "an output size is too large");
    }
    return CQ_OK;
}

static cq_status read_region(plan *p, const cq_rt *rt, const uint32_t *which, size_t n)
{
    const cq_tensor *roi = cq_rt_in(rt, 1);

    if (p->transform != TF_CROP_AND_RESIZE)
        return CQ_OK;
    if (!roi || cq_tensor_numel(roi) != 2 * (int64_t)n)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "roi has %" PRId64 " numbers, expected %zu",
                       roi ? cq_tensor_numel(roi) : 0, 2 * n);
    for (size_t i = 0; i < n; i++) {
        p->axes[which[i]].start = cq_tensor_get_f64(roi, (int64_t)i);
        p->axes[which[i]].end   = cq_tensor_get_f64(roi, (int64_t)(n + i));
    }
    return CQ_OK;
}

static cq_status resize(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *scales = cq_rt_in(rt, 2);
    uint32_t         which[CQ_MAX_RANK];
    size_t           n = x->rank;
    plan             p = { 0 };
    cq_rt_ints       sizes, axes;
    uint64_t         seen;
    int              found;

    plan_init(&p, x);
    CQ_TRY(read_mode(&p, rt));
    CQ_TRY(cq_rt_choose(&found, rt, "coordinate_transformation_mode", transform_names,
                        sizeof transform_names / sizeof *transform_names));
    p.transform = (transform)found;
    CQ_TRY(cq_rt_choose(&found, rt, "nearest_mode", nearest_names, 4));
    p.nearest         = (nearest)found;
    p.cubic           = cq_rt_float(rt, "cubic_coeff_a");
    p.exclude_outside = cq_rt_int(rt, "exclude_outside");
    p.antialias       = cq_rt_int(rt, "antialias");
    CQ_TRY(cq_rt_attr_ints(&axes, rt, "axes"));
    CQ_TRY(cq_rt_in_ints(&sizes, rt, 3));
    if (axes.n)
        CQ_TRY(cq_rt_axes(&seen, &axes, x->rank));
    n = axes.given ? axes.n : n;
    for (size_t i = 0; i < n; i++)
        CQ_TRY(cq_rt_axis(&which[i], axes.given ? axes.at[i] : (int64_t)i, x->rank));
    CQ_TRY(read_region(&p, rt, which, n));
    if (scales && cq_tensor_numel(scales)) /* an empty tensor counts as omitted */
        CQ_TRY(read_scales(&p, scales, which, n));
    else if (sizes.n)
        CQ_TRY(read_sizes(&p, rt, &sizes, which, n));
    else
        return cq_fail(CQ_E_TYPE, NULL, NULL, "expected scales or sizes");
    return resize_by(rt, &p);
}

/* Upsample, and Resize of version 10, use asymmetric coordinates. */
static cq_status resize_from_corner(cq_rt *rt)
{
    const cq_tensor         *x = cq_rt_in(rt, 0), *scales = cq_rt_in(rt, 1);
    const cq_onnx_attribute *listed = cq_rt_attr_given(rt, "scales");
    uint32_t                 which[CQ_MAX_RANK];
    plan                     p = { .transform = ASYMMETRIC, .nearest = CEIL_IF_SMALLER };

    plan_init(&p, x);
    CQ_TRY(read_mode(&p, rt));
    for (uint32_t i = 0; i < x->rank; i++)
        which[i] = i;
    if (scales) {
        CQ_TRY(read_scales(&p, scales, which, x->rank));
    } else if (listed) {
        if (listed->floats.n != x->rank)
            return cq_fail(CQ_E_TYPE, NULL, NULL, "there are %u scales for %u axes",
                           listed->floats.n, x->rank);
        for (uint32_t i = 0; i < x->rank; i++)
            CQ_TRY(set_scale(&p.axes[i], (double)listed->floats.items[i]));
    } else { /* version 1 */
        CQ_TRY(cq_rt_need_rank(x, "X", 4));
        CQ_TRY(set_scale(&p.axes[2], cq_rt_float(rt, "height_scale")));
        CQ_TRY(set_scale(&p.axes[3], cq_rt_float(rt, "width_scale")));
    }
    return resize_by(rt, &p);
}

const cq_rt_row cq_rt_rows_resize[] = {
    { "Upsample", 1, resize_from_corner, CQ_RT_TEXT_OUT, 0 },
    { "Resize", 10, resize_from_corner, CQ_RT_TEXT_OUT, 0 },
    { "Resize", 11, resize, CQ_RT_TEXT_OUT, 0 },
    { 0 },
};
