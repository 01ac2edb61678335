/* DeformConv: a convolution whose taps are moved by data-dependent offsets. Taps between pixels are
 * interpolated bilinearly, and pixels outside of the feature map are zero. A matrix of taps is
 * computed for each sample and group, and multiplied with the weight. */
#include "runtime/kernels/families.h"
#include "runtime/kernels/window.h"

#include "kernel/matrix/matmul.h"

#include <math.h>

typedef struct deform {
    cq_rt_window window;
    int64_t      n, c, h, w;     /* of the feature map */
    int64_t      oh, ow, kh, kw; /* of the result and the kernel */
    int64_t      groups, offset_groups;
    const float *x, *offset, *mask; /* mask may be NULL */
} deform;

static float pixel(const deform *d, const float *plane, int64_t y, int64_t x)
{
    return y >= 0 && y < d->h && x >= 0 && x < d->w ? plane[y * d->w + x] : 0;
}

static float sample(const deform *d, const float *plane, float y, float x)
{
    float   fy = floorf(y), fx = floorf(x), dy = y - fy, dx = x - fx;
    int64_t iy, ix;

    if (!(y > -1 && y < (float)d->h && x > -1 && x < (float)d->w))
        return 0;
    iy = (int64_t)fy;
    ix = (int64_t)fx;
    return (1 - dy) * ((1 - dx) * pixel(d, plane, iy, ix) + dx * pixel(d, plane, iy, ix + 1)) +
           dy * ((1 - dx) * pixel(d, plane, iy + 1, ix) + dx * pixel(d, plane, iy + 1, ix + 1));
}

/* Computes the taps of channel c of sample n at every output position: kh * kw rows of oh * ow. */
static void taps_of(float *to, const deform *d, int64_t n, int64_t c)
{
    const cq_window *w     = &d->window.w;
    const float     *plane = d->x + (n * d->c + c) * d->h * d->w;
    int64_t          group = c / (d->c / d->offset_groups), positions = d->oh * d->ow;

    for (int64_t k = 0; k < d->kh * d->kw; k++) {
        int64_t      at   = (n * d->offset_groups + group) * d->kh * d->kw + k;
        const float *down = d->offset + 2 * at * positions, *right = down + positions;
        const float *mask = d->mask ? d->mask + at * positions : NULL;

        for (int64_t i = 0; i < positions; i++) {
            float y =
                (float)(i / d->ow * w->stride[0] - w->padding[0] + k / d->kw * w->dilation[0]);
            float x =
                (float)(i % d->ow * w->stride[1] - w->padding[1] + k % d->kw * w->dilation[1]);

            *to++ = sample(d, plane, y + down[i], x + right[i]) * (mask ? mask[i] : 1);
        }
    }
}

static cq_status check_shapes(deform *d, cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *offset = cq_rt_in(rt, 2), *mask = cq_rt_in(rt, 4);
    int64_t          taps;

    d->n             = cq_size_of(x, 0);
    d->c             = cq_size_of(x, 1);
    d->h             = cq_size_of(x, 2);
    d->w             = cq_size_of(x, 3);
    d->kh            = cq_size_of(cq_rt_in(rt, 1), 2);
    d->kw            = cq_size_of(cq_rt_in(rt, 1), 3);
    d->groups        = cq_rt_int(rt, "group");
    d->offset_groups = cq_rt_int(rt, "offset_group");
    taps             = d->kh * d->kw; /* no overflow: a weight has that many elements */
    if (d->offset_groups < 1 || d->offset_groups > d->c || d->c % d->offset_groups)
        return cq_rt_misfit(x, offset);
    if (offset->rank != 4 || cq_size_of(offset, 0) != d->n ||
        cq_size_of(offset, 1) != 2 * d->offset_groups * taps || cq_size_of(offset, 2) != d->oh ||
        cq_size_of(offset, 3) != d->ow)
        return cq_rt_misfit(x, offset);
    if (mask && (mask->rank != 4 || cq_size_of(mask, 0) != d->n ||
                 cq_size_of(mask, 1) != d->offset_groups * taps || cq_size_of(mask, 2) != d->oh ||
                 cq_size_of(mask, 3) != d->ow))
        return cq_rt_misfit(x, mask);
    return CQ_OK;
}

/* Computes y [n, oc, oh, ow]: for each group, the weight [oc / groups, c / groups * taps] @ its
 * taps. */
static cq_status multiply(cq_rt *rt, const deform *d, cq_tensor *y, const cq_tensor *weight)
{
    int64_t    inner = d->c / d->groups * d->kh * d->kw, positions = d->oh * d->ow;
    int64_t    outer = cq_size_of(weight, 0) / d->groups;
    cq_tensor *taps, *matrices, *images;

    CQ_TRY(cq_rt_scratch(&taps, rt, CQ_DTYPE_F32, 3, (int64_t[]){ d->groups, inner, positions }));
    CQ_TRY(cq_rt_reshaped(&matrices, rt, weight, &(cq_rt_sizes){ 3, { d->groups, outer, inner } }));
    CQ_TRY(
        cq_rt_reshaped(&images, rt, y, &(cq_rt_sizes){ 4, { d->n, d->groups, outer, positions } }));
    for (int64_t n = 0; n < d->n; n++) {
        float     *to = cq_tensor_data(taps);
        cq_tensor *image, *result;

        for (int64_t c = 0; c < d->c; c++)
            taps_of(to + c * d->kh * d->kw * positions, d, n, c);
        CQ_TRY(cq_rt_sliced(&image, rt, images, 0, n, 1, 1));
        CQ_TRY(cq_rt_reshaped(&result, rt, image,
                              &(cq_rt_sizes){ 3, { d->groups, outer, positions } }));
        CQ_TRY(cq_kernel_matmul(result, matrices, taps));
    }
    return CQ_OK;
}

static cq_status add_bias(cq_rt *rt, cq_tensor *y, const cq_tensor *bias)
{
    cq_tensor *column;

    if (!bias)
        return CQ_OK;
    CQ_TRY(cq_rt_reshaped(&column, rt, bias, &(cq_rt_sizes){ 3, { cq_size_of(bias, 0), 1, 1 } }));
    return cq_apply2(y, CQ_EW_ADD, NULL, CQ_DTYPE_F32, y, column);
}

static cq_status deform_conv(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *weight = cq_rt_in(rt, 1), *bias = cq_rt_in(rt, 3);
    cq_operands      s = { .compute = CQ_DTYPE_F32 };
    deform           d;
    cq_rt_sizes      sizes;
    cq_tensor       *y, *sums;

    CQ_TRY(cq_rt_need_rank(x, "X", 4));
    CQ_TRY(cq_rt_need_rank(weight, "W", 4));
    CQ_TRY(cq_rt_conv_sizes(&sizes, &d.window, rt, x, weight, bias));
    d.oh = sizes.at[2];
    d.ow = sizes.at[3];
    CQ_TRY(check_shapes(&d, rt));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, x->dtype, &sizes));
    if (!cq_tensor_numel(y) || !cq_tensor_numel(weight))
        return cq_kernel_fill_i64(y, 0);
    CQ_TRY(cq_rt_scratch(&sums, rt, CQ_DTYPE_F32, sizes.rank, sizes.at));
    d.x      = cq_operands_in(&s, x);
    d.offset = cq_operands_in(&s, cq_rt_in(rt, 2));
    d.mask   = cq_operands_in(&s, cq_rt_in(rt, 4));
    if (s.status == CQ_OK)
        s.status = multiply(rt, &d, sums, weight);
    if (s.status == CQ_OK)
        s.status = add_bias(rt, sums, bias);
    if (s.status == CQ_OK)
        s.status = cq_tensor_copy_into(y, sums);
    return cq_operands_close(&s);
}

const cq_rt_row cq_rt_rows_deform[] = {
    { "DeformConv", 19, deform_conv, 0, 0 },
    { 0 },
};
