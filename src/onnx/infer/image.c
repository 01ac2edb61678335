/* Resampling of feature maps, and regions of them. */
#include "onnx/infer/elements.h"

#include <math.h>

/* ---- Resize and Upsample ---- */

static double number(cq_ielem e)
{
    return e.kind == CQ_INUM_INT ? (double)e.i.value : e.r;
}

/* floor(size * scale), as a float32 kernel computes it. */
static cq_dim scaled(const cq_rule *r, cq_dim size, cq_ielem scale)
{
    double n;

    if (!size.known || scale.kind == CQ_INUM_UNKNOWN)
        return cq_dim_unknown();
    if (scale.kind == CQ_INUM_INT)
        return cq_dim_mul(r, size, (cq_dim){ true, scale.i });
    if (size.size.expr) /* factors like 0.5 are exact: size // 2 */
        return scale.r > 1e-6 && 1 / scale.r == floor(1 / scale.r)
                   ? cq_dim_floordiv(r, size, cq_dim_of((int64_t)(1 / scale.r)))
                   : cq_dim_unknown();
    n = floor((double)((float)size.size.value * (float)scale.r));
    return n >= 0 && n < 9007199254740992.0 ? cq_dim_of((int64_t)n) : cq_dim_unknown();
}

/* The resized axes: all, or those of the attribute (opset 18). */
static cq_status resize_axes(cq_rule *r, size_t rank, size_t *axes, size_t *n)
{
    const cq_onnx_ints *ints = cq_rule_ints(r, "axes");

    *n = ints ? ints->n : rank;
    if (*n > rank)
        return cq_rule_fail(r, "%zu axes are more than rank %zu", *n, rank);
    for (size_t i = 0; i < *n; i++) {
        axes[i] = i;
        if (ints)
            CQ_TRY(cq_rule_axis(&axes[i], r, ints->items[i], rank));
    }
    return CQ_OK;
}

/* With a policy, sizes are a box that the feature map is fitted into or around. */
static cq_status keep_aspect(cq_rule *r, const cq_itype *x, cq_shape *y, const size_t *axes,
                             size_t n)
{
    bool  larger = cq_rule_text_is(r, "keep_aspect_ratio_policy", "not_smaller");
    float best   = larger ? 0 : INFINITY;

    if (cq_rule_text_is(r, "keep_aspect_ratio_policy", "stretch"))
        return CQ_OK;
    for (size_t i = 0; i < n; i++) {
        float ratio;

        if (!cq_dim_is_plain(x->dims[axes[i]]) || !cq_dim_is_plain(y->dims[axes[i]]) ||
            x->dims[axes[i]].size.value == 0) {
            for (size_t k = 0; k < n; k++)
                y->dims[axes[k]] = cq_dim_unknown();
            return CQ_OK;
        }
        ratio = (float)y->dims[axes[i]].size.value / (float)x->dims[axes[i]].size.value;
        best  = (larger ? ratio > best : ratio < best) ? ratio : best;
    }
    for (size_t i = 0; i < n; i++) {
        double size = round((double)(best * (float)x->dims[axes[i]].size.value));

        y->dims[axes[i]] = fabs(size) < 1e15 ? cq_dim_of((int64_t)size) : cq_dim_unknown();
    }
    return CQ_OK;
}

static cq_status resize(cq_rule *r)
{
    const cq_itype *x           = cq_rule_shaped(r, 0);
    size_t          scale_input = r->version < 11 ? 1 : 2;
    const cq_idata *scales      = cq_rule_data(r, scale_input);
    const cq_idata *sizes       = r->version < 11 ? NULL : cq_rule_data(r, 3);
    const cq_idata *given;
    size_t          axes[CQ_MAX_RANK], n;
    cq_shape        y;

    if (!x)
        return CQ_OK;
    if (r->version >= 11)
        CQ_TRY(cq_rule_need_list(r, 3));
    CQ_TRY(resize_axes(r, x->rank, axes, &n));
    cq_shape_of(&y, x);
    if (scales && scales->n == 0)
        scales = NULL; /* empty: sizes are used instead */
    given = sizes && sizes->n ? sizes : scales;
    if (given && given->n != n)
        return cq_rule_fail(r, "%zu scales or sizes do not match %zu axes", given->n, n);
    for (size_t i = 0; i < n; i++)
        y.dims[axes[i]] = !given           ? cq_dim_unknown()
                          : given == sizes ? cq_dim_of_ielem(given->items[i])
                                           : scaled(r, x->dims[axes[i]], given->items[i]);
    if (given == sizes && given && r->version >= 18)
        CQ_TRY(keep_aspect(r, x, &y, axes, n));
    return cq_rule_give(r, 0, &y);
}

/* In older versions scales were one or two attributes. */
static cq_status upsample(cq_rule *r)
{
    const cq_itype          *x      = cq_rule_shaped(r, 0);
    const cq_onnx_attribute *a      = cq_rule_attr(r, "scales");
    const cq_idata          *scales = cq_rule_data(r, 1);
    cq_shape                 y;

    if (!x)
        return CQ_OK;
    if ((a && a->floats.n != x->rank) || (scales && scales->n != x->rank))
        return cq_rule_fail(r, "the number of scales does not match rank %zu", x->rank);
    cq_shape_of(&y, x);
    for (size_t i = 0; i < x->rank; i++) {
        cq_ielem scale = { .kind = CQ_INUM_UNKNOWN };

        if (a)
            scale = (cq_ielem){ .kind = CQ_INUM_REAL, .r = (double)a->floats.items[i] };
        else if (scales)
            scale = scales->items[i];
        else if (r->version < 7 && i + 2 >= x->rank)
            scale = (cq_ielem){ .kind = CQ_INUM_REAL,
                                .r    = cq_rule_float(
                                       r, i + 1 == x->rank ? "width_scale" : "height_scale", 1) };
        else if (r->version < 7)
            scale = cq_ielem_int(cq_i(1));
        if (scale.kind == CQ_INUM_REAL && scale.r == floor(scale.r) && fabs(scale.r) < 1e9)
            scale = cq_ielem_int(cq_i((int64_t)number(scale)));
        y.dims[i] = scaled(r, x->dims[i], scale);
    }
    return cq_rule_give(r, 0, &y);
}

/* ---- grids and regions ---- */

/* x is [N, C, …], the sampling grid is [N, out…, 2] */
static cq_status grid_sample(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0), *grid = cq_rule_shaped(r, 1);
    cq_shape        y;

    cq_rule_give_elem(r, 0, cq_rule_elem(r, 0)); /* the schema has a separate type variable for
                                                  * it */
    if (!x || x->rank < 3)
        return CQ_OK;
    y.rank    = x->rank;
    y.dims[0] = x->dims[0];
    y.dims[1] = x->dims[1];
    if (grid && grid->rank != x->rank)
        return cq_rule_fail(r, "image and grid have ranks %zu and %zu", x->rank, grid->rank);
    if (grid)
        CQ_TRY(cq_dim_unify(&y.dims[0], r, x->dims[0], grid->dims[0]));
    for (size_t i = 2; i < x->rank; i++)
        y.dims[i] = grid ? grid->dims[i - 1] : cq_dim_unknown();
    return cq_rule_give(r, 0, &y);
}

/* size is [N, C, D?, H, W]; the sampling grid is [N, D?, H, W, 2 or 3]. */
static cq_status affine_grid(cq_rule *r)
{
    const cq_itype *list = cq_rule_shaped(r, 1);
    const cq_idata *size = cq_rule_data(r, 1);
    cq_shape        y    = { .rank = 0 };
    int64_t         n;

    if (!list || list->rank != 1 || !cq_dim_is_plain(list->dims[0]))
        return CQ_OK;
    n = list->dims[0].size.value;
    if ((n != 4 && n != 5) || (size && size->n != (uint64_t)n))
        return CQ_OK;
    for (int64_t i = 0; i < n; i++)
        if (i != 1)
            y.dims[y.rank++] = size ? cq_dim_of_ielem(size->items[i]) : cq_dim_unknown();
    y.dims[y.rank++] = cq_dim_of(n - 2);
    return cq_rule_give(r, 0, &y);
}

static cq_status center_crop_pad(cq_rule *r)
{
    const cq_itype *x     = cq_rule_shaped(r, 0);
    const cq_idata *sizes = cq_rule_data(r, 1);
    size_t          axes[CQ_MAX_RANK], n;
    cq_shape        y;

    if (!x)
        return CQ_OK;
    CQ_TRY(resize_axes(r, x->rank, axes, &n));
    if (sizes && sizes->n != n)
        return cq_rule_fail(r, "%zu sizes do not match %zu axes", sizes->n, n);
    cq_shape_of(&y, x);
    for (size_t i = 0; i < n; i++)
        y.dims[axes[i]] = sizes ? cq_dim_of_ielem(sizes->items[i]) : cq_dim_unknown();
    return cq_rule_give(r, 0, &y);
}

/* Regions are resampled to a fixed size. */
static cq_status regions(cq_rule *r, cq_dim height, cq_dim width)
{
    const cq_itype *x = cq_rule_shaped(r, 0), *rois = cq_rule_shaped(r, 1);
    cq_shape        y = { .rank = 4 };

    if (x && x->rank != 4)
        return cq_rule_fail(r, "expected rank 4 for %s, got %zu", r->node->op_type, x->rank);
    if (rois && rois->rank != 2)
        return cq_rule_fail(r, "expected regions of rank 2, got %zu", rois->rank);
    y.dims[0] = rois ? rois->dims[0] : cq_dim_unknown();
    y.dims[1] = x ? x->dims[1] : cq_dim_unknown();
    y.dims[2] = height;
    y.dims[3] = width;
    return cq_rule_give(r, 0, &y);
}

static cq_status roi_align(cq_rule *r)
{
    return regions(r, cq_dim_of(cq_rule_int(r, "output_height", 1)),
                   cq_dim_of(cq_rule_int(r, "output_width", 1)));
}

static cq_status max_roi_pool(cq_rule *r)
{
    const cq_onnx_ints *sizes = cq_rule_ints(r, "pooled_shape");

    if (!sizes || sizes->n != 2)
        return CQ_OK;
    return regions(r, cq_dim_of(sizes->items[0]), cq_dim_of(sizes->items[1]));
}

static cq_status non_max_suppression(cq_rule *r)
{
    cq_dim y[2] = { cq_dim_unknown(), cq_dim_of(3) };

    return cq_rule_give_dims(r, 0, 2, y);
}

static cq_status image_decoder(cq_rule *r)
{
    cq_dim y[3] = { cq_dim_unknown(), cq_dim_unknown(), cq_dim_of(3) };

    if (cq_rule_text_is(r, "pixel_format", "Grayscale"))
        y[2] = cq_dim_of(1);
    return cq_rule_give_dims(r, 0, 3, y);
}

const cq_rule_row cq_rules_image[] = {
    { "AffineGrid", 1, affine_grid, NULL },  { "CenterCropPad", 1, center_crop_pad, NULL },
    { "GridSample", 1, grid_sample, NULL },  { "ImageDecoder", 1, image_decoder, NULL },
    { "MaxRoiPool", 1, max_roi_pool, NULL }, { "NonMaxSuppression", 1, non_max_suppression, NULL },
    { "Resize", 1, resize, NULL },           { "RoiAlign", 1, roi_align, NULL },
    { "Upsample", 1, upsample, NULL },       { NULL, 0, NULL, NULL },
};
