/* Regions and boxes. Sampling uses double, so that results agree with those of both runtimes. */
#include "kernel/conv/regions.h"
#include "kernel/operand.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

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

/* Bilinear; pixels more than one pixel outside are zero. For a maximum it is the greatest of the
 * four weighted corners. */
static double sample(const plane *p, double y, double x, bool is_max)
{
    int64_t y0, x0, y1, x1;
    double  fy, fx, v[4];

    if (!(y >= -1 && y <= (double)p->h && x >= -1 && x <= (double)p->w))
        return 0; /* also for NaN */
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
    if (r->grid_h == 0 || r->grid_w == 0)
        return 0;
    return r->is_max ? greatest : sum / (double)(r->grid_h * r->grid_w);
}

/* The number of samples along a bin; 0 if the bin is empty or inverted. A file must not request
 * more samples than there are pixels. */
static int64_t grid_of(int64_t ratio, double bin)
{
    double n = ceil(bin);

    return ratio > 0 ? ratio : !(n >= 1) ? 0 : n > 4096 ? 4096 : (int64_t)n;
}

/* The region of a box, with bins of h by w. */
static region region_of(const double *box, const cq_regions *how, int64_t h, int64_t w)
{
    double shift = how->half_pixel ? 0.5 : 0;
    double width = (box[2] - box[0]) * how->scale, height = (box[3] - box[1]) * how->scale;
    region r = { .top    = box[1] * how->scale - shift,
                 .left   = box[0] * how->scale - shift,
                 .is_max = how->is_max };

    if (!how->half_pixel) {
        width  = width < 1 ? 1 : width;
        height = height < 1 ? 1 : height;
    }
    r.bin_h  = height / (double)h;
    r.bin_w  = width / (double)w;
    r.grid_h = grid_of(how->ratio, r.bin_h);
    r.grid_w = grid_of(how->ratio, r.bin_w);
    return r;
}

double cq_kernel_roi_samples(const cq_tensor *boxes, const cq_regions *how, int64_t h, int64_t w)
{
    double n = 0;

    for (int64_t i = 0; i < cq_size_of(boxes, 0); i++) {
        double box[4];
        region r;

        for (int64_t k = 0; k < 4; k++)
            box[k] = cq_tensor_get_f64(boxes, 4 * i + k);
        r = region_of(box, how, h, w);
        n += (double)r.grid_h * (double)r.grid_w;
    }
    return n * (double)h * (double)w;
}

cq_status cq_kernel_roi_align(cq_tensor *out, const cq_tensor *x, const cq_tensor *boxes,
                              const cq_tensor *batch, const cq_regions *how)
{
    cq_operands   s = { .compute = CQ_DTYPE_F64 };
    int64_t       n, channels, h, w;
    const double *image, *box;
    double       *to;

    if (x->rank != 4 || boxes->rank != 2 || cq_size_of(boxes, 1) != 4 || out->rank != 4 ||
        !cq_operands_has(batch, cq_size_of(boxes, 0)) || how->ratio > 4096 ||
        cq_size_of(out, 0) != cq_size_of(boxes, 0) || cq_size_of(out, 1) != cq_size_of(x, 1))
        return cq_operands_misfit("roi_align", x, boxes);
    n        = cq_size_of(boxes, 0);
    channels = cq_size_of(x, 1);
    h        = cq_size_of(out, 2);
    w        = cq_size_of(out, 3);
    image    = cq_operands_in(&s, x);
    box      = cq_operands_in(&s, boxes);
    to       = cq_operands_out(&s, out);
    for (int64_t i = 0; s.status == CQ_OK && i < n; i++, box += 4) {
        int64_t which = cq_tensor_get_i64(batch, i);
        region  r     = region_of(box, how, h, w);
        plane   p     = { NULL, cq_size_of(x, 2), cq_size_of(x, 3) };

        if (which < 0 || which >= cq_size_of(x, 0) || !p.h || !p.w) {
            s.status =
                cq_fail(CQ_E_TYPE, NULL, NULL, "region %" PRId64 " is of image %" PRId64, i, which);
            break;
        }
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
    return !(x > 0) ? 0 /* also for NaN */ : x > (double)high ? high : (int64_t)x;
}

/* The greatest element of a bin, and its index. */
static double greatest_in(const double *p, int64_t w, const int64_t *from, const int64_t *to,
                          int32_t *index)
{
    bool   empty    = from[0] >= to[0] || from[1] >= to[1];
    double greatest = empty ? 0 : -INFINITY;

    *index = -1;
    for (int64_t k = from[0]; k < to[0]; k++)
        for (int64_t j = from[1]; j < to[1]; j++)
            if (p[k * w + j] > greatest) {
                greatest = p[k * w + j];
                *index   = (int32_t)(k * w + j);
            }
    return greatest;
}

cq_status cq_kernel_roi_pool(cq_tensor *out, cq_tensor *indices, const cq_tensor *x,
                             const cq_tensor *rois, double scale)
{
    cq_operands   s = { .compute = CQ_DTYPE_F64 };
    int64_t       n, channels, h, w, bins_h, bins_w;
    const double *image, *box;
    double       *to;
    int32_t      *where, ignored;

    if (x->rank != 4 || rois->rank != 2 || cq_size_of(rois, 1) != 5 || out->rank != 4 ||
        cq_size_of(out, 0) != cq_size_of(rois, 0) || cq_size_of(out, 1) != cq_size_of(x, 1))
        return cq_operands_misfit("roi_pool", x, rois);
    n        = cq_size_of(rois, 0);
    channels = cq_size_of(x, 1);
    h        = cq_size_of(x, 2);
    w        = cq_size_of(x, 3);
    bins_h   = cq_size_of(out, 2);
    bins_w   = cq_size_of(out, 3);
    image    = cq_operands_in(&s, x);
    box      = cq_operands_in(&s, rois);
    to       = cq_operands_out(&s, out);
    where    = cq_operands_out_as(&s, indices, CQ_DTYPE_I32);
    for (int64_t i = 0; s.status == CQ_OK && i < n; i++, box += 5) {
        double left = round(box[1] * scale), top = round(box[2] * scale);
        double bin_w = fmax(round(box[3] * scale) - left + 1, 1) / (double)bins_w;
        double bin_h = fmax(round(box[4] * scale) - top + 1, 1) / (double)bins_h;

        if (!(box[0] >= 0 && box[0] < (double)cq_size_of(x, 0))) {
            s.status =
                cq_fail(CQ_E_TYPE, NULL, NULL, "region %" PRId64 " is of image %g", i, box[0]);
            break;
        }
        for (int64_t at = 0; at < channels * bins_h * bins_w; at++) {
            int64_t c = at / (bins_h * bins_w), a = at / bins_w % bins_h, b = at % bins_w;
            int64_t from[2] = { clamp(floor((double)a * bin_h) + top, h),
                                clamp(floor((double)b * bin_w) + left, w) };
            int64_t end[2]  = { clamp(ceil((double)(a + 1) * bin_h) + top, h),
                                clamp(ceil((double)(b + 1) * bin_w) + left, w) };

            *to++ = greatest_in(image + ((int64_t)box[0] * channels + c) * h * w, w, from, end,
                                where ? where++ : &ignored);
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

/* Intersection over union of two boxes. */
static double overlap(const double *a, const double *b)
{
    double h      = (a[2] < b[2] ? a[2] : b[2]) - (a[0] > b[0] ? a[0] : b[0]);
    double w      = (a[3] < b[3] ? a[3] : b[3]) - (a[1] > b[1] ? a[1] : b[1]);
    double shared = h > 0 && w > 0 ? h * w : 0;
    double all    = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared;

    return shared > 0 && all > 0 ? shared / all : 0;
}

cq_status cq_kernel_nms(int64_t *chosen, int64_t *n_chosen, const cq_nms *m)
{
    candidate *order = cq_alloc_array((size_t)m->n_boxes + 1, sizeof *order);
    double(*kept)[4] =
        cq_alloc_array((size_t)m->n_boxes + 1, sizeof *kept); /* boxes chosen so far */
    cq_status status = order && kept ? CQ_OK : CQ_E_NO_MEMORY;
    int64_t   n = 0, count = 0;

    for (int64_t i = 0; i < m->n_boxes && status == CQ_OK; i++)
        if (!m->has_min_score || m->scores[i] > m->min_score)
            order[n++] = (candidate){ m->scores[i], i };
    if (n)
        qsort(order, (size_t)n, sizeof *order, by_score);
    for (int64_t i = 0; i < n && count < m->limit; i++) {
        bool keep = true;

        corners(kept[count], m->boxes + 4 * order[i].box, m->is_centre);
        for (int64_t k = 0; k < count && keep; k++)
            keep = overlap(kept[count], kept[k]) <= m->max_overlap;
        if (keep)
            chosen[count++] = order[i].box;
    }
    cq_free(kept);
    cq_free(order);
    *n_chosen = count;
    return status;
}
