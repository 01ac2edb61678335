/* Kernels on blocked feature maps. Attributes are those of the model's node; sizes are computed as
 * for a plain feature map. */
#include "runtime/kernels/blocked.h"
#include "runtime/plan/work.h"

#include "base/thread.h"
#include "runtime/kernels/window.h"

const cq_tensor *cq_rt_image_of(cq_rt_image *image, int64_t n, int64_t c, int64_t h, int64_t w)
{
    image->sizes[0] = cq_i(n);
    image->sizes[1] = cq_i(c);
    image->sizes[2] = cq_i(h);
    image->sizes[3] = cq_i(w);
    image->t        = (cq_tensor){ .dtype = CQ_DTYPE_F32, .rank = 4, .sizes = image->sizes };
    return &image->t;
}

/* A tensor with the shape of the plain feature map with c channels. */
static const cq_tensor *seen_plain(cq_rt_image *image, const cq_tensor *x, int64_t c)
{
    return cq_rt_image_of(image, cq_size_of(x, 0), c, cq_size_of(x, 2), cq_size_of(x, 3));
}

static void blocked_sizes(cq_rt_sizes *out, const cq_rt_sizes *plain)
{
    const int64_t block = cq_block_channels();

    *out       = *plain;
    out->rank  = 5;
    out->at[1] = (plain->at[1] + block - 1) / block;
    out->at[4] = block;
}

static cq_status need_image(const cq_tensor *x, int64_t channels)
{
    char text[CQ_DESCRIBE_SIZE];

    if (x->dtype == CQ_DTYPE_F32 && x->rank == 4 && cq_size_of(x, 1) == channels)
        return CQ_OK;
    return cq_fail(CQ_E_TYPE, NULL, NULL, "X is %s, expected float32 with %lld channels and rank 4",
                   cq_tensor_describe(x, text, sizeof text), (long long)channels);
}

/* ---- layout ---- */

static cq_status pack(cq_rt *rt)
{
    const cq_rt_repack *p = rt->step->prepared;
    const cq_tensor    *x = cq_rt_in(rt, 0), *from;
    cq_tensor          *y;
    cq_rt_sizes         plain, sizes;

    CQ_TRY(need_image(x, p->channels));
    cq_rt_sizes_of(&plain, x);
    blocked_sizes(&sizes, &plain);
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, CQ_DTYPE_F32, &sizes));
    CQ_TRY(cq_rt_contiguous(&from, rt, x));
    return cq_blocked_pack(y, from);
}

static cq_status unpack(cq_rt *rt)
{
    const cq_rt_repack *p = rt->step->prepared;
    const cq_tensor    *x = cq_rt_in(rt, 0);
    cq_rt_sizes         sizes;
    cq_tensor          *y;

    cq_rt_sizes_of(&sizes, x);
    sizes.rank  = p->is_flat ? 2 : 4;
    sizes.at[1] = p->channels;
    if (p->channels % cq_size_of(x, 4) == 0 && sizes.at[2] == 1 &&
        sizes.at[3] == 1) { /* both layouts have the same order */
        CQ_TRY(cq_rt_reshape(&y, rt, x, &sizes));
        return cq_rt_set_tensor(rt, 0, y);
    }
    if (p->is_flat && (sizes.at[2] != 1 || sizes.at[3] != 1))
        return cq_rt_misfit(x, NULL);
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, CQ_DTYPE_F32, &sizes));
    return cq_blocked_unpack(y, x);
}

/* ---- convolution ---- */

static bool same_sizes(const cq_tensor *t, const cq_rt_sizes *sizes)
{
    for (uint32_t i = 0; i < sizes->rank; i++)
        if (t->rank != sizes->rank || cq_size_of(t, i) != sizes->at[i])
            return false;
    return true;
}

static cq_status run_conv(cq_tensor *y, cq_rt *rt, const cq_rt_window *w, const cq_tensor *x,
                          const cq_tensor *add, bool unlimited)
{
    const cq_rt_bconv *p    = rt->step->prepared;
    cq_bconv_call      call = { .batch     = cq_size_of(x, 0),
                                .in        = { cq_size_of(x, 2), cq_size_of(x, 3) },
                                .out_size  = { cq_size_of(y, 2), cq_size_of(y, 3) },
                                .padding   = { w->w.padding[0], w->w.padding[1] },
                                .x         = cq_tensor_data(x),
                                .add       = add ? cq_tensor_data(add) : NULL,
                                .out       = cq_tensor_data(y),
                                .unlimited = unlimited,
                                .lanes     = cq_threads() };
    cq_tensor         *room;
    int64_t            floats;

    if (!cq_tensor_numel(y))
        return CQ_OK;
    CQ_TRY(cq_rt_spend_on_products(rt,
                                   (double)cq_tensor_numel(p->conv ? y : x) * (double)p->weight[1] *
                                       (double)p->weight[2] * (double)p->weight[3],
                                   CQ_DTYPE_F32));
    CQ_TRY(p->conv ? cq_bconv_scratch(&floats, p->conv, &call)
                   : cq_btranspose_scratch(&floats, p->transposed, &call));
    CQ_TRY(cq_rt_scratch(&room, rt, CQ_DTYPE_F32, 1, &floats));
    call.scratch = cq_tensor_data(room);
    return p->conv ? cq_bconv_run(p->conv, &call) : cq_btranspose_run(p->transposed, &call);
}

/* The sum of feature maps of different sizes, which broadcast, with limits. */
static cq_status add_broadcast(cq_rt *rt, const cq_tensor *y, const cq_tensor *add)
{
    const cq_rt_bconv *p       = rt->step->prepared;
    const cq_tensor   *terms[] = { y, add };
    const cq_params    limits  = { .a = (double)p->lo, .b = (double)p->hi };
    cq_rt_sizes        sizes;
    cq_tensor         *sum;

    CQ_TRY(cq_rt_broadcast(&sizes, terms, 2));
    CQ_TRY(cq_rt_out_sized(&sum, rt, 0, CQ_DTYPE_F32, &sizes));
    CQ_TRY(cq_apply2(sum, CQ_EW_ADD, NULL, CQ_DTYPE_NONE, y, add));
    if (p->activates)
        return cq_apply1(sum, p->act, &p->act_params, CQ_DTYPE_NONE, sum);
    return p->clamps ? cq_apply1(sum, CQ_EW_CLAMP, &limits, CQ_DTYPE_NONE, sum) : CQ_OK;
}

static cq_status bconv(cq_rt *rt)
{
    const cq_rt_bconv *p = rt->step->prepared;
    const cq_tensor   *x = cq_rt_in(rt, 0), *add = cq_rt_in(rt, 1), *from;
    cq_rt_image        image, weight;
    const cq_tensor   *w4;
    cq_rt_window       w;
    cq_rt_sizes        plain, sizes;
    cq_tensor         *y;

    if (p->plain_input)
        CQ_TRY(need_image(x, p->weight[1]));
    w4 = cq_rt_image_of(&weight, p->weight[0], p->weight[1], p->weight[2], p->weight[3]);
    CQ_TRY(cq_rt_conv_sizes(&plain, &w, rt,
                            seen_plain(&image, x, cq_bconv_channels(p->conv, false)), w4, NULL));
    blocked_sizes(&sizes, &plain);
    CQ_TRY(cq_rt_contiguous(&from, rt, x));
    if (!add || same_sizes(add, &sizes)) {
        CQ_TRY(cq_rt_out_sized(&y, rt, 0, CQ_DTYPE_F32, &sizes));
        return run_conv(y, rt, &w, from, add, false);
    }
    CQ_TRY(cq_rt_scratch(&y, rt, CQ_DTYPE_F32, sizes.rank, sizes.at));
    CQ_TRY(run_conv(y, rt, &w, from, NULL, true));
    return add_broadcast(rt, y, add);
}

static cq_status btranspose(cq_rt *rt)
{
    const cq_rt_bconv *p = rt->step->prepared;
    const cq_tensor   *x = cq_rt_in(rt, 0), *x4, *w4;
    cq_rt_image        image, weight;
    cq_rt_window       w;
    cq_rt_sizes        plain = { .rank = 4 }, sizes;
    cq_tensor         *y;

    w4 = cq_rt_image_of(&weight, p->weight[0], p->weight[1], p->weight[2], p->weight[3]);
    x4 = seen_plain(&image, x, p->weight[0]);
    CQ_TRY(cq_rt_window_read(&w, rt, x4, w4));
    plain.at[0] = cq_size_of(x, 0);
    plain.at[1] = p->weight[1];
    CQ_TRY(cq_rt_transposed_sizes(&plain, &w, rt, x4));
    blocked_sizes(&sizes, &plain);
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, CQ_DTYPE_F32, &sizes));
    return run_conv(y, rt, &w, x, NULL, false);
}

/* ---- other operators ---- */

static cq_status affine(cq_rt *rt)
{
    const cq_rt_affine *p = rt->step->prepared;
    const cq_tensor    *x = cq_rt_in(rt, 0);
    cq_tensor          *y;

    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    CQ_TRY(cq_blocked_affine_run(y, x, &p->a));
    return p->activates ? cq_apply1(y, p->act, &p->act_params, CQ_DTYPE_NONE, y) : CQ_OK;
}

enum { POOL_MAX, POOL_AVERAGE };

static cq_status pool(cq_rt *rt)
{
    const cq_rt_repack *p = rt->step->prepared;
    const cq_tensor    *x = cq_rt_in(rt, 0), *x4;
    cq_rt_image         image;
    cq_rt_window        w;
    cq_rt_sizes         plain, sizes;
    cq_tensor          *y;

    x4 = seen_plain(&image, x, p->channels);
    CQ_TRY(cq_rt_window_read(&w, rt, x4, NULL));
    cq_rt_sizes_of(&plain, x4);
    CQ_TRY(cq_rt_window_positions(plain.at + 2, &w, x4));
    blocked_sizes(&sizes, &plain);
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, CQ_DTYPE_F32, &sizes));
    if (!cq_tensor_numel(y))
        return CQ_OK;
    CQ_TRY(cq_rt_spend_on_elements(rt, (double)cq_tensor_numel(y) * (double)w.w.kernel[0] *
                                           (double)w.w.kernel[1]));
    if (rt->step->row->arg == POOL_MAX)
        return cq_blocked_max_pool(y, x, &w.w);
    return cq_blocked_avg_pool(y, x, &w.w, w.after, cq_rt_int(rt, "count_include_pad"));
}

static cq_status mean(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_rt_sizes      sizes;
    cq_tensor       *y;

    cq_rt_sizes_of(&sizes, x);
    sizes.at[2] = sizes.at[3] = 1;
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, CQ_DTYPE_F32, &sizes));
    return cq_blocked_mean(y, x);
}

/* The product of a feature map and a factor per channel, or of any two that broadcast. */
static cq_status mul(cq_rt *rt)
{
    const cq_tensor *terms[2] = { cq_rt_in(rt, 0), cq_rt_in(rt, 1) };
    cq_rt_sizes      sizes;
    cq_tensor       *y;

    CQ_TRY(cq_rt_broadcast(&sizes, terms, 2));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, CQ_DTYPE_F32, &sizes));
    for (int i = 0; i < 2; i++) {
        const cq_tensor *x = terms[i], *by = terms[1 - i];

        if (same_sizes(x, &sizes) && by->rank == 5 && cq_size_of(by, 0) == sizes.at[0] &&
            cq_size_of(by, 1) == sizes.at[1] && cq_size_of(by, 2) == 1 && cq_size_of(by, 3) == 1 &&
            cq_tensor_is_contiguous(x) && cq_tensor_is_contiguous(by))
            return cq_blocked_scale(y, x, by);
    }
    return cq_apply2(y, CQ_EW_MUL, NULL, CQ_DTYPE_NONE, terms[0], terms[1]);
}

static cq_status pick(cq_rt *rt)
{
    static const uint32_t       axes[] = { 0, 2, 3 };
    const cq_rt_channel_gather *p      = rt->step->prepared;
    const cq_tensor            *first  = cq_rt_in(rt, 0), **x;
    cq_rt_sizes                 sizes;
    cq_rt_image                 image;
    cq_tensor                  *y;
    cq_status                   status = CQ_OK;

    cq_rt_sizes_of(&sizes, seen_plain(&image, first, p->channels));
    for (int i = 0; i < 3; i++)
        if (p->want[i] >= 0 && p->want[i] != sizes.at[axes[i]])
            return cq_fail(CQ_E_TYPE, NULL, NULL, "size %u of a Reshape is %lld, expected %lld",
                           axes[i], (long long)sizes.at[axes[i]], (long long)p->want[i]);
    blocked_sizes(&sizes, &sizes);
    x = cq_alloc_array(rt->n_in, sizeof(cq_tensor *));
    if (!x)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < rt->n_in; i++) {
        x[i] = cq_rt_in(rt, i);
        for (int k = 0; k < 3; k++)
            if (cq_size_of(x[i], axes[k]) != sizes.at[axes[k]])
                CQ_TRY_OR_DONE(cq_rt_misfit(x[i], first));
        CQ_TRY_OR_DONE(cq_rt_contiguous(&x[i], rt, x[i]));
    }
    CQ_TRY_OR_DONE(cq_rt_out_sized(&y, rt, 0, CQ_DTYPE_F32, &sizes));
    status = cq_blocked_gather_run(y, p->pick, x);
done:
    cq_free(x);
    return status;
}

const cq_rt_row cq_rt_row_bconv      = { "Conv", 1, bconv, CQ_RT_OWN, 0 };
const cq_rt_row cq_rt_row_bconv_over = { "Conv", 1, bconv, CQ_RT_OWN | CQ_RT_OVER_1, 0 };
const cq_rt_row cq_rt_row_pack       = { "Reorder", 1, pack, CQ_RT_OWN, 0 };
const cq_rt_row cq_rt_row_unpack     = { "Reorder", 1, unpack, CQ_RT_OWN, 0 };
const cq_rt_row cq_rt_row_affine = { "BatchNormalization", 1, affine, CQ_RT_OWN | CQ_RT_OVER_0, 0 };
const cq_rt_row cq_rt_row_blocked_max_pool     = { "MaxPool", 1, pool, CQ_RT_OWN, POOL_MAX };
const cq_rt_row cq_rt_row_blocked_average_pool = { "AveragePool", 1, pool, CQ_RT_OWN,
                                                   POOL_AVERAGE };
const cq_rt_row cq_rt_row_blocked_mean         = { "GlobalAveragePool", 1, mean, CQ_RT_OWN, 0 };
const cq_rt_row cq_rt_row_blocked_mul    = { "Mul", 1, mul, CQ_RT_OWN | CQ_RT_OVER_0 | CQ_RT_OVER_1,
                                             0 };
const cq_rt_row cq_rt_row_blocked_gather = { "Pick", 1, pick, CQ_RT_OWN, 0 };
const cq_rt_row cq_rt_row_btranspose     = { "ConvTranspose", 1, btranspose, CQ_RT_OWN, 0 };
