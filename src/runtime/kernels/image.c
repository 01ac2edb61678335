/* Sampling with sampling grids and in regions, selection of boxes, and operators on images. */
#include "runtime/kernels/families.h"

#include "image/image.h"
#include "kernel/conv/conv.h"
#include "kernel/conv/grid.h"
#include "kernel/conv/pad.h"
#include "kernel/conv/regions.h"
#include "runtime/plan/work.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- sampling grids ---- */

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

/* Integers are sampled as floating-point numbers. */
static cq_status sample_into(cq_rt *rt, cq_tensor *y, const cq_tensor *x, const cq_tensor *grid,
                             cq_grid_mode mode, cq_grid_padding padding)
{
    bool        align  = cq_rt_int(rt, "align_corners");
    cq_tensor  *real_x = NULL, *real_y = NULL;
    cq_rt_sizes in, out;

    if (cq_dtype_is_float(x->dtype))
        return cq_kernel_grid_sample(y, x, grid, mode, padding, align);
    cq_rt_sizes_of(&in, x);
    cq_rt_sizes_of(&out, y);
    CQ_TRY(cq_rt_scratch(&real_x, rt, CQ_DTYPE_F64, in.rank, in.at));
    CQ_TRY(cq_rt_scratch(&real_y, rt, CQ_DTYPE_F64, out.rank, out.at));
    CQ_TRY(cq_tensor_copy_into(real_x, x));
    CQ_TRY(cq_kernel_grid_sample(real_y, real_x, grid, mode, padding, align));
    return cq_tensor_copy_into(y, real_y);
}

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
        return cq_fail(CQ_E_INVALID, NULL, NULL, "unsupported mode '%s' with padding_mode '%s'",
                       cq_rt_string(rt, "mode"), cq_rt_string(rt, "padding_mode"));
    if (x->rank < 3 || grid->rank != x->rank || cq_size_of(grid, 0) != cq_size_of(x, 0) ||
        cq_size_of(grid, grid->rank - 1) != (int64_t)x->rank - 2)
        return cq_rt_misfit(x, grid);
    cq_rt_sizes_of(&sizes, x);
    for (uint32_t i = 2; i < x->rank; i++)
        sizes.at[i] = cq_size_of(grid, i - 1);
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    return sample_into(rt, y, x, grid, grid_modes[m].mode, grid_paddings[p].padding);
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

enum { POINT = 8 }; /* a bilinear sample costs as much as copying this many elements */

static cq_status roi_align(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *rois = cq_rt_in(rt, 1), *batch = cq_rt_in(rt, 2);
    int64_t          h = cq_rt_int(rt, "output_height"), w = cq_rt_int(rt, "output_width");
    cq_regions       how = {
              .scale = cq_rt_float(rt, "spatial_scale"),
              .ratio = cq_rt_int(rt, "sampling_ratio"),
              /* Versions before 16 do not have the attribute. */
              .half_pixel = cq_rt_is(rt, "coordinate_transformation_mode", "half_pixel"),
              .is_max     = cq_rt_is(rt, "mode", "max"),
    };
    cq_tensor *y;

    CQ_TRY(cq_rt_need_rank(x, "X", 4));
    if (rois->rank != 2 || cq_size_of(rois, 1) != 4 || h < 0 || w < 0 || how.ratio < 0)
        return cq_rt_misfit(rois, batch);
    CQ_TRY(cq_rt_out(&y, rt, 0, x->dtype, 4,
                     (int64_t[]){ cq_size_of(rois, 0), cq_size_of(x, 1), h, w }));
    CQ_TRY(cq_rt_spend_on_elements(rt, POINT * (double)cq_size_of(x, 1) *
                                           cq_kernel_roi_samples(rois, &how, h, w)));
    return cq_kernel_roi_align(y, x, rois, batch, &how);
}

static cq_status max_roi_pool(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *rois = cq_rt_in(rt, 1);
    cq_rt_ints       shape;
    cq_tensor       *y;

    CQ_TRY(cq_rt_need_rank(x, "X", 4));
    CQ_TRY(cq_rt_attr_ints(&shape, rt, "pooled_shape"));
    if (rois->rank != 2 || cq_size_of(rois, 1) != 5 || shape.n != 2)
        return cq_rt_misfit(x, rois);
    CQ_TRY(
        cq_rt_out(&y, rt, 0, x->dtype, 4,
                  (int64_t[]){ cq_size_of(rois, 0), cq_size_of(x, 1), shape.at[0], shape.at[1] }));
    return cq_kernel_roi_pool(y, NULL, x, rois, cq_rt_float(rt, "spatial_scale"));
}

/* Image, class and box index of each selected box. */
typedef CQ_VEC(int64_t) chosen_boxes;

static cq_status choose(const cq_nms *m, chosen_boxes *chosen, int64_t *room, int64_t image,
                        int64_t class)
{
    int64_t n;

    CQ_TRY(cq_kernel_nms(room, &n, m));
    for (int64_t i = 0; i < n; i++) {
        CQ_TRY(cq_vec_push(chosen, image));
        CQ_TRY(cq_vec_push(chosen, class));
        CQ_TRY(cq_vec_push(chosen, room[i]));
    }
    return CQ_OK;
}

static cq_status non_max_suppression(cq_rt *rt)
{
    const cq_tensor *boxes = cq_rt_in(rt, 0), *scores = cq_rt_in(rt, 1);
    cq_operands      s      = { .compute = CQ_DTYPE_F64 };
    cq_nms           m      = { .is_centre = cq_rt_int(rt, "center_point_box") };
    chosen_boxes     chosen = { 0 };
    int64_t          classes, n, *room;
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
    room            = cq_alloc_array((size_t)m.n_boxes + 1, sizeof *room);
    if (!room && s.status == CQ_OK)
        s.status = CQ_E_NO_MEMORY;
    for (int64_t i = 0; i < cq_size_of(boxes, 0); i++, m.boxes += 4 * m.n_boxes)
        for (int64_t c = 0; c < classes && s.status == CQ_OK; c++, m.scores += m.n_boxes)
            s.status = choose(&m, &chosen, room, i, c);
    n = (int64_t)chosen.n / 3;
    if (s.status == CQ_OK)
        s.status = cq_rt_out(&y, rt, 0, CQ_DTYPE_I64, 2, (int64_t[]){ n, 3 });
    if (s.status == CQ_OK && n)
        memcpy(cq_tensor_data(y), chosen.items, chosen.n * sizeof *chosen.items);
    cq_vec_clear(&chosen);
    cq_free(room);
    return cq_operands_close(&s);
}

/* ---- whole images ---- */

/* Crops or pads both ends of axes to a shape. */
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

static bool is_size(int64_t n)
{
    return n > 0 && n <= CQ_WINDOW_MAX;
}

static cq_status col2im(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_rt_ints       image, block, strides, pads, dilations;
    int64_t          positions[CQ_MAX_SPATIAL], taps = 1, after;
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
        after         = at_or(&pads, image.n + i, 0);
        if (!is_size(block.at[i]) || !is_size(w.stride[i]) || !is_size(w.dilation[i]) ||
            !is_size(image.at[i]) || (w.padding[i] && !is_size(w.padding[i])) ||
            (after && !is_size(after)) || __builtin_mul_overflow(taps, block.at[i], &taps))
            return cq_rt_misfit(x, cq_rt_in(rt, 2));
        positions[i] = cq_window_positions(image.at[i], block.at[i], w.stride[i], w.padding[i],
                                           after, w.dilation[i], false);
        sizes.at[sizes.rank++] = image.at[i];
    }
    if (cq_size_of(x, 1) % taps)
        return cq_rt_misfit(x, cq_rt_in(rt, 2));
    sizes.at[0] = cq_size_of(x, 0);
    sizes.at[1] = cq_size_of(x, 1) / taps;
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    return cq_kernel_col2im(y, x, &w, positions);
}

/* Converts the channels of a pixel: grey to all three, or three to grey by luminance. */
static void put_pixel(uint8_t *to, const uint8_t *from, uint32_t channels, bool is_grey,
                      bool is_bgr)
{
    if (is_grey) {
        uint32_t light = channels == 1 ? 0 : 19595u * from[0] + 38470u * from[1] + 7471u * from[2];

        *to = channels == 1 ? *from : (uint8_t)((light + 0x8000) >> 16);
        return;
    }
    for (uint32_t c = 0; c < 3; c++)
        to[c] = from[channels == 1 ? 0 : is_bgr ? 2 - c : c];
}

static cq_status image_decoder(cq_rt *rt)
{
    bool             is_grey = cq_rt_is(rt, "pixel_format", "Grayscale");
    bool             is_bgr  = cq_rt_is(rt, "pixel_format", "BGR");
    const cq_tensor *bytes;
    cq_tensor       *y;
    cq_image         image = { 0 };
    cq_status        status;

    if (!is_grey && !is_bgr && !cq_rt_is(rt, "pixel_format", "RGB"))
        return cq_fail(CQ_E_INVALID, NULL, NULL,
                       "pixel_format is '%s', expected RGB, BGR or Grayscale",
                       cq_rt_string(rt, "pixel_format"));
    CQ_TRY(cq_rt_need_rank(cq_rt_in(rt, 0), "encoded_stream", 1));
    CQ_TRY(cq_rt_contiguous(&bytes, rt, cq_rt_in(rt, 0)));
    CQ_TRY_OR_DONE(cq_image_decode(&image, cq_tensor_data(bytes), (size_t)cq_tensor_numel(bytes)));
    CQ_TRY_OR_DONE(cq_rt_out(&y, rt, 0, CQ_DTYPE_U8, 3,
                             (int64_t[]){ image.height, image.width, is_grey ? 1 : 3 }));
    for (size_t i = 0; i < (size_t)image.width * image.height; i++)
        put_pixel((uint8_t *)cq_tensor_data(y) + i * (is_grey ? 1 : 3),
                  image.pixels + i * image.channels, image.channels, is_grey, is_bgr);
done:
    cq_image_clear(&image);
    return status;
}

const cq_rt_row cq_rt_rows_image[] = {
    { "ImageDecoder", 20, image_decoder, 0, 0 },
    { "GridSample", 16, grid_sample, 0, 0 },
    { "AffineGrid", 20, affine_grid, 0, 0 },
    { "RoiAlign", 10, roi_align, 0, 0 },
    { "MaxRoiPool", 1, max_roi_pool, 0, 0 },
    { "NonMaxSuppression", 10, non_max_suppression, 0, 0 },
    { "CenterCropPad", 18, center_crop_pad, CQ_RT_TEXT_OUT, 0 },
    { "Col2Im", 18, col2im, 0, 0 },
    { 0 },
};
