/* Sampling images: at grids, in regions; and choosing among boxes. */
#include "runtime/kernels/families.h"

#include "kernel/conv.h"
#include "kernel/grid.h"
#include "kernel/pad.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- grids ---- */

static const struct {
    const char  *name;
    cq_grid_mode mode;
} grid_modes[] = {
    { "bilinear", CQ_GRID_LINEAR }, { "linear", CQ_GRID_LINEAR }, { "nearest", CQ_GRID_NEAREST },
    { "bicubic", CQ_GRID_CUBIC },   { "cubic", CQ_GRID_CUBIC },
};

static const struct {
    const char     *name;
    cq_grid_padding padding;
} grid_paddings[] = {
    { "zeros", CQ_GRID_ZEROS },
    { "border", CQ_GRID_BORDER },
    { "reflection", CQ_GRID_REFLECTION },
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static cq_status grid_sample(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *grid = cq_rt_in(rt, 1);
    size_t           m = 0, p = 0;
    cq_rt_sizes      sizes;
    cq_tensor       *y;

    while (m < COUNT(grid_modes) && !cq_rt_is(rt, "mode", grid_modes[m].name))
        m++;
    while (p < COUNT(grid_paddings) && !cq_rt_is(rt, "padding_mode", grid_paddings[p].name))
        p++;
    if (m == COUNT(grid_modes) || p == COUNT(grid_paddings))
        return cq_fail(CQ_E_INVALID, NULL, NULL, "mode '%s' with padding_mode '%s' is none",
                       cq_rt_string(rt, "mode"), cq_rt_string(rt, "padding_mode"));
    if (x->rank < 3 || grid->rank != x->rank || cq_size_of(grid, 0) != cq_size_of(x, 0) ||
        cq_size_of(grid, grid->rank - 1) != (int64_t)x->rank - 2)
        return cq_rt_misfit(x, grid);
    cq_rt_sizes_of(&sizes, x);
    for (uint32_t i = 2; i < x->rank; i++)
        sizes.at[i] = cq_size_of(grid, i - 1);
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    return cq_kernel_grid_sample(y, x, grid, grid_modes[m].mode, grid_paddings[p].padding,
                                 cq_rt_int(rt, "align_corners"));
}

static cq_status affine_grid(cq_rt *rt)
{
    const cq_tensor *theta = cq_rt_in(rt, 0);
    cq_rt_sizes      sizes = { 0 };
    cq_rt_ints       size;
    cq_tensor       *y;

    CQ_TRY(cq_rt_in_ints(&size, rt, 1));
    if (size.n < 3 || size.n > CQ_MAX_RANK || theta->rank != 3 ||
        cq_size_of(theta, 1) != (int64_t)size.n - 2 ||
        cq_size_of(theta, 2) != (int64_t)size.n - 1 || cq_size_of(theta, 0) != size.at[0])
        return cq_rt_misfit(theta, cq_rt_in(rt, 1));
    sizes.at[sizes.rank++] = size.at[0];
    for (size_t i = 2; i < size.n; i++)
        sizes.at[sizes.rank++] = size.at[i];
    sizes.at[sizes.rank++] = (int64_t)size.n - 2;
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, theta->dtype, &sizes));
    return cq_kernel_affine_grid(y, theta, cq_rt_int(rt, "align_corners"));
}

/* ---- regions ---- */

/* An image plane in double. */
typedef struct plane {
    const double *at;
    int64_t       h, w;
} plane;

typedef struct region {
    double  top, left, bin_h, bin_w;
    int64_t grid_h, grid_w; /* samples in a bin */
    bool    is_max;
} region;

/* Bilinear; what is more than a pixel outside is zero. As a maximum counts the greatest of the
 * four weighted corners. */
static double sample(const plane *p, double y, double x, bool is_max)
{
    int64_t y0, x0, y1, x1;
    double  fy, fx, v[4];

    if (y < -1 || y > (double)p->h || x < -1 || x > (double)p->w)
        return 0;
    y  = y < 0 ? 0 : y;
    x  = x < 0 ? 0 : x;
    y0 = (int64_t)y;
    x0 = (int64_t)x;
    if (y0 >= p->h - 1) {
        y0 = p->h - 1;
        y  = (double)y0;
    }
    if (x0 >= p->w - 1) {
        x0 = p->w - 1;
        x  = (double)x0;
    }
    y1   = y0 + 1 < p->h ? y0 + 1 : y0;
    x1   = x0 + 1 < p->w ? x0 + 1 : x0;
    fy   = y - (double)y0;
    fx   = x - (double)x0;
    v[0] = (1 - fy) * (1 - fx) * p->at[y0 * p->w + x0];
    v[1] = (1 - fy) * fx * p->at[y0 * p->w + x1];
    v[2] = fy * (1 - fx) * p->at[y1 * p->w + x0];
    v[3] = fy * fx * p->at[y1 * p->w + x1];
    return is_max ? fmax(fmax(v[0], v[1]), fmax(v[2], v[3])) : v[0] + v[1] + v[2] + v[3];
}

static double pool_bin(const plane *p, const region *r, int64_t i, int64_t k)
{
    double sum = 0, greatest = -INFINITY;

    for (int64_t a = 0; a < r->grid_h; a++)
        for (int64_t b = 0; b < r->grid_w; b++) {
            double y = r->top + ((double)i + ((double)a + 0.5) / (double)r->grid_h) * r->bin_h;
            double x = r->left + ((double)k + ((double)b + 0.5) / (double)r->grid_w) * r->bin_w;
            double v = sample(p, y, x, r->is_max);

            sum += v;
            greatest = v > greatest ? v : greatest;
        }
    return r->is_max ? greatest : sum / (double)(r->grid_h * r->grid_w);
}

/* Samples along a bin; a file must not ask for more than there are pixels to sample. */
static int64_t grid_of(int64_t ratio, double bin)
{
    double n = ceil(bin);

    return ratio > 0 ? ratio : n < 1 ? 1 : n > 4096 ? 4096 : (int64_t)n;
}

static cq_status roi_align(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *rois = cq_rt_in(rt, 1), *batch = cq_rt_in(rt, 2);
    int64_t          h = cq_rt_int(rt, "output_height"), w = cq_rt_int(rt, "output_width");
    int64_t          ratio = cq_rt_int(rt, "sampling_ratio"), n, channels;
    double           scale = cq_rt_float(rt, "spatial_scale");
    /* Before version 16 there was no choice. */
    double        shift = cq_rt_is(rt, "coordinate_transformation_mode", "half_pixel") ? 0.5 : 0;
    cq_operands   s     = { .compute = CQ_DTYPE_F64 };
    const double *image, *box;
    double       *to;
    cq_tensor    *y;

    CQ_TRY(cq_rt_need_rank(x, "X", 4));
    if (rois->rank != 2 || cq_size_of(rois, 1) != 4 ||
        !cq_operands_has(batch, cq_size_of(rois, 0)) || h < 0 || w < 0 || ratio < 0 || ratio > 4096)
        return cq_rt_misfit(rois, batch);
    n        = cq_size_of(rois, 0);
    channels = cq_size_of(x, 1);
    CQ_TRY(cq_rt_out(&y, rt, 0, x->dtype, 4, (int64_t[]){ n, channels, h, w }));
    image = cq_operands_in(&s, x);
    box   = cq_operands_in(&s, rois);
    to    = cq_operands_out(&s, y);
    for (int64_t i = 0; s.status == CQ_OK && i < n; i++, box += 4) {
        int64_t which = cq_tensor_get_i64(batch, i);
        double  width = (box[2] - box[0]) * scale, height = (box[3] - box[1]) * scale;
        region  r = { .top    = box[1] * scale - shift,
                      .left   = box[0] * scale - shift,
                      .is_max = cq_rt_is(rt, "mode", "max") };
        plane   p = { NULL, cq_size_of(x, 2), cq_size_of(x, 3) };

        if (which < 0 || which >= cq_size_of(x, 0) || !p.h || !p.w) {
            s.status =
                cq_fail(CQ_E_TYPE, NULL, NULL, "region %" PRId64 " is of image %" PRId64, i, which);
            break;
        }
        if (shift == 0) { /* regions are at least a pixel large */
            width  = width < 1 ? 1 : width;
            height = height < 1 ? 1 : height;
        }
        r.bin_h  = height / (double)h;
        r.bin_w  = width / (double)w;
        r.grid_h = grid_of(ratio, r.bin_h);
        r.grid_w = grid_of(ratio, r.bin_w);
        for (int64_t c = 0; c < channels; c++) {
            p.at = image + (which * channels + c) * p.h * p.w;
            for (int64_t at = 0; at < h * w; at++)
                *to++ = pool_bin(&p, &r, at / w, at % w);
        }
    }
    return cq_operands_close(&s);
}

static int64_t clamp(double x, int64_t high)
{
    return x < 0 ? 0 : x > (double)high ? high : (int64_t)x;
}

/* Regions with whole pixels as corners; their bins are pooled. */
static cq_status max_roi_pool(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *rois = cq_rt_in(rt, 1);
    double           scale = cq_rt_float(rt, "spatial_scale");
    cq_operands      s     = { .compute = CQ_DTYPE_F64 };
    const double    *image, *box;
    int64_t          n, channels, h, w;
    double          *to;
    cq_rt_ints       shape;
    cq_tensor       *y;

    CQ_TRY(cq_rt_need_rank(x, "X", 4));
    CQ_TRY(cq_rt_attr_ints(&shape, rt, "pooled_shape"));
    if (rois->rank != 2 || cq_size_of(rois, 1) != 5 || shape.n != 2)
        return cq_rt_misfit(x, rois);
    n        = cq_size_of(rois, 0);
    channels = cq_size_of(x, 1);
    h        = cq_size_of(x, 2);
    w        = cq_size_of(x, 3);
    CQ_TRY(cq_rt_out(&y, rt, 0, x->dtype, 4, (int64_t[]){ n, channels, shape.at[0], shape.at[1] }));
    image = cq_operands_in(&s, x);
    box   = cq_operands_in(&s, rois);
    to    = cq_operands_out(&s, y);
    for (int64_t i = 0; s.status == CQ_OK && i < n; i++, box += 5) {
        double left = round(box[1] * scale), top = round(box[2] * scale);
        double bin_w = fmax(round(box[3] * scale) - left + 1, 1) / (double)shape.at[1];
        double bin_h = fmax(round(box[4] * scale) - top + 1, 1) / (double)shape.at[0];

        if (!(box[0] >= 0 && box[0] < (double)cq_size_of(x, 0))) {
            s.status =
                cq_fail(CQ_E_TYPE, NULL, NULL, "region %" PRId64 " is of image %g", i, box[0]);
            break;
        }
        for (int64_t c = 0; c < channels; c++) {
            const double *p = image + ((int64_t)box[0] * channels + c) * h * w;

            for (int64_t a = 0; a < shape.at[0]; a++)
                for (int64_t b = 0; b < shape.at[1]; b++) {
                    int64_t y0       = clamp(floor((double)a * bin_h) + top, h);
                    int64_t y1       = clamp(ceil((double)(a + 1) * bin_h) + top, h);
                    int64_t x0       = clamp(floor((double)b * bin_w) + left, w);
                    int64_t x1       = clamp(ceil((double)(b + 1) * bin_w) + left, w);
                    double  greatest = y0 < y1 && x0 < x1 ? -INFINITY : 0;

                    for (int64_t k = y0; k < y1; k++)
                        for (int64_t j = x0; j < x1; j++)
                            greatest = fmax(greatest, p[k * w + j]);
                    *to++ = greatest;
                }
        }
    }
    return cq_operands_close(&s);
}

/* ---- boxes ---- */

typedef struct candidate {
    double  score;
    int64_t box;
} candidate;

static int by_score(const void *a, const void *b)
{
    const candidate *x = a, *y = b;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->box > y->box) - (x->box < y->box);
}

/* Corners in order, of two corners or of a centre and sizes. */
static void corners(double *out, const double *box, bool is_centre)
{
    if (is_centre) {
        out[0] = box[0] - box[2] / 2;
        out[1] = box[1] - box[3] / 2;
        out[2] = box[0] + box[2] / 2;
        out[3] = box[1] + box[3] / 2;
        return;
    }
    for (int i = 0; i < 2; i++) {
        out[i]     = fmin(box[i], box[i + 2]);
        out[i + 2] = fmax(box[i], box[i + 2]);
    }
}

/* The part of their union that two boxes share. */
static double overlap(const double *a, const double *b)
{
    double h = fmin(a[2], b[2]) - fmax(a[0], b[0]), w = fmin(a[3], b[3]) - fmax(a[1], b[1]);
    double shared = h > 0 && w > 0 ? h * w : 0;
    double all    = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared;

    return shared > 0 && all > 0 ? shared / all : 0;
}

typedef struct nms {
    int64_t       n_boxes, limit;
    double        max_overlap, min_score;
    bool          has_min_score, is_centre;
    const double *boxes, *scores;
    candidate    *order;
    CQ_VEC(int64_t) chosen; /* image, class, box */
} nms;

/* The best boxes of one class of one image. */
static cq_status choose(nms *m, int64_t image, int64_t class)
{
    int64_t n = 0, first = (int64_t)m->chosen.n;

    for (int64_t i = 0; i < m->n_boxes; i++)
        if (!m->has_min_score || m->scores[i] > m->min_score)
            m->order[n++] = (candidate){ m->scores[i], i };
    qsort(m->order, (size_t)n, sizeof *m->order, by_score);
    for (int64_t i = 0; i < n && ((int64_t)m->chosen.n - first) / 3 < m->limit; i++) {
        double box[4], other[4];
        bool   keep = true;

        corners(box, m->boxes + 4 * m->order[i].box, m->is_centre);
        for (int64_t k = first; k < (int64_t)m->chosen.n && keep; k += 3) {
            corners(other, m->boxes + 4 * m->chosen.items[k + 2], m->is_centre);
            keep = overlap(box, other) <= m->max_overlap;
        }
        if (!keep)
            continue;
        CQ_TRY(cq_vec_push(&m->chosen, image));
        CQ_TRY(cq_vec_push(&m->chosen, class));
        CQ_TRY(cq_vec_push(&m->chosen, m->order[i].box));
    }
    return CQ_OK;
}

static cq_status non_max_suppression(cq_rt *rt)
{
    const cq_tensor *boxes = cq_rt_in(rt, 0), *scores = cq_rt_in(rt, 1);
    cq_operands      s = { .compute = CQ_DTYPE_F64 };
    nms              m = { .is_centre = cq_rt_int(rt, "center_point_box") };
    int64_t          classes, n;
    cq_tensor       *y;

    CQ_TRY(cq_rt_need_rank(boxes, "boxes", 3));
    CQ_TRY(cq_rt_need_rank(scores, "scores", 3));
    if (cq_size_of(boxes, 2) != 4 || cq_size_of(boxes, 0) != cq_size_of(scores, 0) ||
        cq_size_of(boxes, 1) != cq_size_of(scores, 2))
        return cq_rt_misfit(boxes, scores);
    CQ_TRY(cq_rt_in_i64(&m.limit, rt, 2, 0));
    CQ_TRY(cq_rt_in_f64(&m.max_overlap, rt, 3, 0));
    CQ_TRY(cq_rt_in_f64(&m.min_score, rt, 4, 0));
    m.has_min_score = cq_rt_has_in(rt, 4);
    m.n_boxes       = cq_size_of(boxes, 1);
    classes         = cq_size_of(scores, 1);
    m.boxes         = cq_operands_in(&s, boxes);
    m.scores        = cq_operands_in(&s, scores);
    m.order         = cq_alloc_array((size_t)m.n_boxes + 1, sizeof *m.order);
    if (!m.order && s.status == CQ_OK)
        s.status = CQ_E_NO_MEMORY;
    for (int64_t i = 0; i < cq_size_of(boxes, 0); i++, m.boxes += 4 * m.n_boxes)
        for (int64_t c = 0; c < classes && s.status == CQ_OK; c++, m.scores += m.n_boxes)
            s.status = choose(&m, i, c);
    n = (int64_t)m.chosen.n / 3;
    if (s.status == CQ_OK)
        s.status = cq_rt_out(&y, rt, 0, CQ_DTYPE_I64, 2, (int64_t[]){ n, 3 });
    if (s.status == CQ_OK && n)
        memcpy(cq_tensor_data(y), m.chosen.items, m.chosen.n * sizeof *m.chosen.items);
    cq_vec_clear(&m.chosen);
    cq_free(m.order);
    return cq_operands_close(&s);
}

/* ---- whole images ---- */

/* Cut or padded on both sides to a shape. */
static cq_status center_crop_pad(cq_rt *rt)
{
    const cq_tensor *x                   = cq_rt_in(rt, 0);
    int64_t          before[CQ_MAX_RANK] = { 0 };
    cq_rt_sizes      sizes;
    cq_rt_ints       shape, axes;
    uint64_t         seen;
    cq_tensor       *y;

    CQ_TRY(cq_rt_in_ints(&shape, rt, 1));
    CQ_TRY(cq_rt_attr_ints(&axes, rt, "axes"));
    if (shape.n != (axes.given ? axes.n : x->rank))
        return cq_rt_misfit(x, cq_rt_in(rt, 1));
    if (axes.n)
        CQ_TRY(cq_rt_axes(&seen, &axes, x->rank));
    cq_rt_sizes_of(&sizes, x);
    for (size_t i = 0; i < shape.n; i++) {
        uint32_t axis;
        int64_t  gap;

        CQ_TRY(cq_rt_axis(&axis, axes.given ? axes.at[i] : (int64_t)i, x->rank));
        if (shape.at[i] < 0)
            return cq_fail(CQ_E_TYPE, NULL, NULL, "a size is %" PRId64, shape.at[i]);
        gap            = shape.at[i] - sizes.at[axis];
        before[axis]   = gap >= 0 ? gap / 2 : -(-gap / 2);
        sizes.at[axis] = shape.at[i];
    }
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    return cq_kernel_pad(y, x, before, CQ_PAD_CONSTANT, NULL);
}

static int64_t at_or(const cq_rt_ints *list, size_t i, int64_t fallback)
{
    return i < list->n ? list->at[i] : fallback;
}

static cq_status col2im(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_rt_ints       image, block, strides, pads, dilations;
    int64_t          places[CQ_MAX_SPATIAL], taps = 1;
    cq_window        w = { .kernel = { 0 } };
    cq_rt_sizes      sizes;
    cq_tensor       *y;

    CQ_TRY(cq_rt_need_rank(x, "input", 3));
    CQ_TRY(cq_rt_in_ints(&image, rt, 1));
    CQ_TRY(cq_rt_in_ints(&block, rt, 2));
    CQ_TRY(cq_rt_attr_ints(&strides, rt, "strides"));
    CQ_TRY(cq_rt_attr_ints(&pads, rt, "pads"));
    CQ_TRY(cq_rt_attr_ints(&dilations, rt, "dilations"));
    if (image.n != block.n || !image.n || image.n > CQ_MAX_SPATIAL ||
        (pads.n && pads.n != 2 * image.n))
        return cq_rt_misfit(cq_rt_in(rt, 1), cq_rt_in(rt, 2));
    sizes = (cq_rt_sizes){ .rank = 2 };
    for (size_t i = 0; i < image.n; i++) {
        w.kernel[i]   = block.at[i];
        w.stride[i]   = at_or(&strides, i, 1);
        w.dilation[i] = at_or(&dilations, i, 1);
        w.padding[i]  = at_or(&pads, i, 0);
        if (block.at[i] < 1 || w.stride[i] < 1 || w.dilation[i] < 1 || image.at[i] < 1 ||
            block.at[i] > INT32_MAX || w.dilation[i] > INT32_MAX || image.at[i] > INT32_MAX ||
            __builtin_mul_overflow(taps, block.at[i], &taps))
            return cq_rt_misfit(x, cq_rt_in(rt, 2));
        places[i] = cq_window_places(image.at[i], block.at[i], w.stride[i], w.padding[i],
                                     at_or(&pads, image.n + i, 0), w.dilation[i], false);
        sizes.at[sizes.rank++] = image.at[i];
    }
    if (cq_size_of(x, 1) % taps)
        return cq_rt_misfit(x, cq_rt_in(rt, 2));
    sizes.at[0] = cq_size_of(x, 0);
    sizes.at[1] = cq_size_of(x, 1) / taps;
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    return cq_kernel_col2im(y, x, &w, places);
}

const cq_rt_row cq_rt_rows_image[] = {
    { "GridSample", 16, grid_sample, 0, 0 },
    { "AffineGrid", 20, affine_grid, 0, 0 },
    { "RoiAlign", 10, roi_align, 0, 0 },
    { "MaxRoiPool", 1, max_roi_pool, 0, 0 },
    { "NonMaxSuppression", 10, non_max_suppression, 0, 0 },
    { "CenterCropPad", 18, center_crop_pad, CQ_RT_TEXT_OUT, 0 },
    { "Col2Im", 18, col2im, 0, 0 },
    { 0 },
};
