#include "kernel/conv/blocked.h"

#include "kernel/conv/blocked_core.h"
#include "kernel/matrix/norm.h"
#include "kernel/conv/pool.h"
#include "isas.h"
#include "tensors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t blocks(int64_t channels)
{
    return (channels + cq_block_channels() - 1) / cq_block_channels();
}

static cq_tensor *blocked(const cq_tensor *plain)
{
    cq_tensor *t;

    CHECK_OK(cq_tensor_new_uninit(&t, CQ_DTYPE_F32,
                                  SIZES(cq_tensor_size(plain, 0), blocks(cq_tensor_size(plain, 1)),
                                        cq_tensor_size(plain, 2), cq_tensor_size(plain, 3),
                                        cq_block_channels())));
    CHECK_OK(cq_blocked_pack(t, plain));
    return t;
}

/* A blocked feature map has the elements of the plain one. */
static void check_same(const cq_tensor *x, const cq_tensor *want, double limit)
{
    cq_tensor *plain = tensor_of(CQ_DTYPE_F32, 4,
                                 (int64_t[]){ cq_tensor_size(want, 0), cq_tensor_size(want, 1),
                                              cq_tensor_size(want, 2), cq_tensor_size(want, 3) },
                                 NULL);

    CHECK_OK(cq_blocked_unpack(plain, x));
    for (int64_t i = 0; i < cq_tensor_numel(want); i++) {
        double a = cq_tensor_get_f64(plain, i), b = cq_tensor_get_f64(want, i);

        if (!(fabs(a - b) <= limit) && !(isnan(a) && isnan(b)) && a != b)
            fail_msg("element %d is %g, not %g", (int)i, a, b);
    }
    cq_tensor_release(plain);
}

static void check_pool(bool is_max, bool count, const int64_t *in, cq_window w, int64_t behind)
{
    cq_tensor  *x = pattern(CQ_DTYPE_F32, SIZES(2, 11, in[0], in[1]), 1), *want, *bx, *out;
    int64_t     after[CQ_MAX_SPATIAL] = { behind, behind }, size[2];
    cq_avg_pool options               = { .padding_after = after, .count_include_pad = count };

    ((float *)cq_tensor_data(x))[3] = NAN;
    for (int i = 0; i < 2; i++)
        size[i] = cq_window_positions(in[i], w.kernel[i], w.stride[i], w.padding[i], behind,
                                      w.dilation[i] ? w.dilation[i] : 1, true);
    want = tensor_of(CQ_DTYPE_F32, SIZES(2, 11, size[0], size[1]), NULL);
    bx   = blocked(x);
    out =
        tensor_of(CQ_DTYPE_F32, SIZES(2, blocks(11), size[0], size[1], cq_block_channels()), NULL);
    CHECK_OK(is_max ? cq_kernel_max_pool(want, NULL, x, &w)
                    : cq_kernel_avg_pool(want, x, &w, &options));
    CHECK_OK(is_max ? cq_blocked_max_pool(out, bx, &w)
                    : cq_blocked_avg_pool(out, bx, &w, after, count));
    check_same(out, want, 1e-6);
    release_all(x, want, bx, out, NULL);
}

static void check_pools(void)
{
    static const int64_t sizes[][2] = { { 7, 9 }, { 1, 4 }, { 12, 5 } };

    for (int i = 0; i < 3; i++)
        for (int kind = 0; kind < 3; kind++) {
            check_pool(kind == 0, kind == 2, sizes[i],
                       (cq_window){ .kernel = { 3, 2 }, .stride = { 2, 1 }, .padding = { 1, 1 } },
                       1);
            check_pool(kind == 0, kind == 2, sizes[i],
                       (cq_window){ .kernel = { 2, 3 }, .stride = { 3, 2 }, .padding = { 1, 0 } },
                       2);
        }
    check_pool(
        true, false, sizes[0],
        (cq_window){
            .kernel = { 2, 2 }, .stride = { 1, 2 }, .padding = { 1, 1 }, .dilation = { 2, 3 } },
        1);
}

TEST(blocked, poolings_equal_those_of_plain_feature_maps)
{
    EACH_ISA
    check_pools();
}

static void check_affine(int64_t channels)
{
    cq_tensor *x = pattern(CQ_DTYPE_F32, SIZES(2, channels, 3, 5), 2), *bx = blocked(x);
    cq_tensor *out =
        tensor_of(CQ_DTYPE_F32, SIZES(2, blocks(channels), 3, 5, cq_block_channels()), NULL);
    cq_tensor *want = tensor_of(CQ_DTYPE_F32, SIZES(2, channels, 3, 5), NULL);
    cq_tensor *mean =
        tensor_of(CQ_DTYPE_F32, SIZES(2, blocks(channels), 1, 1, cq_block_channels()), NULL);
    cq_tensor              *want_mean = tensor_of(CQ_DTYPE_F32, SIZES(2, channels, 1, 1), NULL);
    float                   scale[32], shift[32];
    const cq_blocked_affine a = {
        .scale = scale, .shift = shift, .clamps = true, .lo = -1, .hi = 0.5f
    };

    for (int i = 0; i < 32; i++) {
        scale[i] = (float)(i % 5) / 2 - 1;
        shift[i] = (float)(i % 3) / 4;
    }
    for (int64_t i = 0; i < cq_tensor_numel(x); i++) {
        int64_t c = i / 15 % channels;
        float   y = ((float *)cq_tensor_data(x))[i] * scale[c] + shift[c];

        ((float *)cq_tensor_data(want))[i] = y < -1 ? -1 : y > 0.5f ? 0.5f : y;
    }
    CHECK_OK(cq_blocked_affine_run(out, bx, &a));
    check_same(out, want, 0);
    CHECK_OK(cq_blocked_mean(mean, bx));
    CHECK_OK(cq_kernel_adaptive_avg_pool(want_mean, x));
    check_same(mean, want_mean, 1e-6);
    release_all(x, bx, out, want, mean, want_mean, NULL);
}

TEST(blocked, normalisation_and_means)
{
    EACH_ISA
    for (int64_t channels = 1; channels <= 17; channels += 4)
        check_affine(channels);
}

static void check_sigmoid(bool gated)
{
    float x[4003], y[4003];

    for (int i = 0; i < 4003; i++)
        x[i] = y[i] = (float)(i - 2000) / 16;
    x[7] = y[7] = NAN;
    cq_core_get()->sigmoid(y, 4003, gated);
    CHECK(isnan(y[7]));
    for (int i = 0; i < 4003; i++) {
        double want = (gated ? (double)x[i] : 1) / (1 + exp(-(double)x[i]));

        if (i != 7 && !(fabs((double)y[i] - want) <= 4e-7 * fabs(want) + 1e-35))
            fail_msg("sigmoid of %g is %g, not %g", (double)x[i], (double)y[i], want);
    }
}

TEST(blocked, sigmoids_are_exact_enough)
{
    EACH_ISA
    {
        check_sigmoid(false);
        check_sigmoid(true);
    }
}

TEST(blocked, hardswish_equals_the_scalar_formula)
{
    const cq_params none = { 0 };
    float           want[37], got[37];

    EACH_ISA
    {
        for (int i = 0; i < 37; i++)
            want[i] = got[i] = i == 20 ? NAN : i == 21 ? INFINITY : 0.4f * (float)(i - 18);
        cq_core_activate(cq_core_get(), got, 37, CQ_EW_HARDSWISH, &none);
        cq_apply1_f32(want, 37, CQ_EW_HARDSWISH, &none);
        for (int i = 0; i < 37; i++)
            if (!(fabsf(got[i] - want[i]) <= 4e-7f * fabsf(want[i])) && got[i] != want[i] &&
                !(isnan(got[i]) && isnan(want[i])))
                fail_msg("%d: %g, not %g", i, (double)got[i], (double)want[i]);
    }
}

/* Channels of three images, in an order that takes some from many vectors and some from one. */
static void check_pick(int64_t n, int64_t stride)
{
    static const int64_t sizes[] = { 21, 5, 40 };
    cq_tensor           *plain[3], *x[3], *want, *out;
    cq_blocked_channel  *channels = calloc((size_t)n, sizeof *channels);
    cq_blocked_gather   *p;

    for (int i = 0; i < 3; i++) {
        plain[i] = pattern(CQ_DTYPE_F32, SIZES(2, sizes[i], 3, 7), i + 1);
        x[i]     = blocked(plain[i]);
    }
    want = tensor_of(CQ_DTYPE_F32, SIZES(2, n, 3, 7), NULL);
    out  = tensor_of(CQ_DTYPE_F32, SIZES(2, blocks(n), 3, 7, cq_block_channels()), NULL);
    for (int64_t i = 0; i < n; i++) {
        channels[i].image   = stride == 1 ? 2 : i % 3;
        channels[i].channel = i * stride % sizes[channels[i].image];
        for (int64_t k = 0; k < 2 * 21; k++) {
            const int64_t from = (k / 21 * sizes[channels[i].image] + channels[i].channel) * 21;

            ((float *)cq_tensor_data(want))[(k / 21 * n + i) * 21 + k % 21] =
                (float)cq_tensor_get_f64(plain[channels[i].image], from + k % 21);
        }
    }
    memset(cq_tensor_data(out), -1, sizeof(float) * (size_t)cq_tensor_numel(out));
    CHECK_OK(cq_blocked_gather_new(&p, channels, n));
    CHECK_OK(cq_blocked_gather_run(out, p, (const cq_tensor *const *)x));
    check_same(out, want, 0);
    for (int64_t c = n; c < blocks(n) * cq_block_channels(); c++) /* after the last channel: zero */
        CHECK(((float *)cq_tensor_data(
                  out))[(blocks(n) - 1) * 21 * cq_block_channels() + c % cq_block_channels()] == 0);
    cq_blocked_gather_free(p);
    free(channels);
    release_all(plain[0], plain[1], plain[2], x[0], x[1], x[2], want, out, NULL);
}

TEST(blocked, channels_are_gathered)
{
    EACH_ISA
    {
        check_pick(1, 1);
        check_pick(40, 1);
        check_pick(33, 7);
        check_pick(70, 11);
    }
}

RUN_TESTS(TEST_OF(blocked, channels_are_gathered), TEST_OF(blocked, sigmoids_are_exact_enough),
          TEST_OF(blocked, hardswish_equals_the_scalar_formula),
          TEST_OF(blocked, poolings_equal_those_of_plain_feature_maps),
          TEST_OF(blocked, normalisation_and_means))
