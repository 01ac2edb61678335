#include "kernel/conv/conv.h"

#include "base/thread.h"
#include "isas.h"
#include "tensors.h"

#include <math.h>

/* F.conv2d(x, w, b, stride=(2, 1), padding=(1, 0), dilation=(1, 2)) */
TEST(conv, strides_padding_and_dilation_differ_by_axis)
{
    static const cq_dtype dtypes[] = { CQ_DTYPE_F32, CQ_DTYPE_F64, CQ_DTYPE_C128 };
    const cq_window window = { .stride = { 2, 1 }, .padding = { 1, 0 }, .dilation = { 1, 2 } };

    for (int i = 0; i < 3; i++) {
        cq_tensor *x   = pattern(dtypes[i], SIZES(1, 2, 4, 5), 0);
        cq_tensor *w   = pattern(dtypes[i], SIZES(3, 2, 3, 2), 3);
        cq_tensor *b   = pattern(dtypes[i], SIZES(3), 1);
        cq_tensor *out = tensor_of(dtypes[i], SIZES(1, 3, 2, 3), NULL);

        CHECK_OK(cq_kernel_conv(out, x, w, b, &window, 1));
        check_close(out,
                    (double[]){ 0.6875, -1.75, -0.75, -2.4375, -0.5625, -0.0625, -1.9375, 4.3125,
                                2.3125, 2.3125, -1, 3.9375, 1.625, -1.3125, -1.5, -0.5, 1.3125,
                                -1.6875 },
                    1e-6);
        release_all(x, w, b, NULL);
    }
}

TEST(conv, groups_see_their_own_channels)
{
    cq_tensor *x   = pattern(CQ_DTYPE_F32, SIZES(2, 4, 5), 0);
    cq_tensor *w   = pattern(CQ_DTYPE_F32, SIZES(2, 2, 3), 3);
    cq_tensor *out = tensor_of(CQ_DTYPE_F32, SIZES(2, 2, 5), NULL);

    CHECK_OK(cq_kernel_conv(out, x, w, NULL, &(cq_window){ .padding = { 1 } }, 2));
    check_close(out, (double[]){ -2.1875, 2.6875,  -1.3125, 0.875,   1.1875,  0.625, -2,
                                 3.1875,  -1.9375, 0.9375,  2.125,   -1.6875, -2.25, 2.6875,
                                 -1.625,  -1.8125, 2.75,    -1.6875, -2,      3.0625 },
                1e-6);
    release_all(x, w, NULL);
}

TEST(conv, depthwise_is_clipped_at_every_edge)
{
    cq_tensor *x   = pattern(CQ_DTYPE_F32, SIZES(1, 2, 4, 4), 0);
    cq_tensor *w   = pattern(CQ_DTYPE_F32, SIZES(2, 1, 3, 3), 3);
    cq_tensor *b   = pattern(CQ_DTYPE_F32, SIZES(2), 1);
    cq_tensor *out = tensor_of(CQ_DTYPE_F32, SIZES(1, 2, 4, 4), NULL);

    CHECK_OK(cq_kernel_conv(out, x, w, b, &(cq_window){ .padding = { 1, 1 } }, 2));
    check_close(out, (double[]){ -1.875, -0.625, -0.375, -0.375, -3.125,  0.8125, -0.625, -0.625,
                                 -1.375, -1.5,   1.1875, -3.625, -1.5625, -0.5,   -0.375, -3.125,
                                 0.0625, 2.0625, 2,      -0.75,  -1,      3.25,   1,      -0.9375,
                                 0.1875, 1.8125, 1.625,  1.6875, 0.125,   3.875,  -1.125, -1 },
                1e-6);
    release_all(x, w, b, NULL);
}

TEST(conv, three_axes_work_as_two)
{
    cq_tensor *x   = pattern(CQ_DTYPE_F32, SIZES(1, 1, 2, 3, 3), 0);
    cq_tensor *w   = pattern(CQ_DTYPE_F32, SIZES(1, 1, 2, 2, 2), 3);
    cq_tensor *out = tensor_of(CQ_DTYPE_F32, SIZES(1, 1, 1, 4, 2), NULL);

    CHECK_OK(cq_kernel_conv(out, x, w, NULL, &(cq_window){ .padding = { 0, 1, 0 } }, 1));
    check_close(out, (double[]){ -1.625, -0.1875, 1.25, 0.9375, -0.375, 0.6875, -0.25, -2 }, 1e-6);
    release_all(x, w, NULL);
}

/* F.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1) */
TEST(conv, the_transpose_takes_its_output_padding_from_the_size)
{
    cq_tensor *x      = pattern(CQ_DTYPE_F32, SIZES(1, 2, 2, 2), 0);
    cq_tensor *w      = pattern(CQ_DTYPE_F32, SIZES(2, 1, 3, 3), 3);
    cq_tensor *b      = pattern(CQ_DTYPE_F32, SIZES(1), 1);
    cq_tensor *out    = tensor_of(CQ_DTYPE_F32, SIZES(1, 1, 4, 4), NULL);
    cq_window  window = { .stride = { 2, 2 }, .padding = { 1, 1 } };

    CHECK_OK(cq_kernel_conv_transpose(out, x, w, b, &window, 1));
    check_close(out,
                (double[]){ -2.1875, -2.5, -0.6875, -0.4375, -2.0625, -3.4375, 0.9375, -0.0625,
                            -1.25, -2.6875, 0.25, -1, -1.375, -3.125, -0.0625, -1.3125 },
                1e-6);
    release_all(x, w, b, NULL);
}

/* The transpose of one pixel is the window, starting at the padding. */
TEST(conv, the_transpose_of_one_pixel_is_its_window)
{
    for (int64_t pad = 0; pad < 2; pad++) {
        cq_tensor *x      = pattern(CQ_DTYPE_F32, SIZES(1, 1, 1, 1), 0);
        cq_tensor *w      = pattern(CQ_DTYPE_F32, SIZES(1, 2, 2, 2), 3);
        cq_tensor *b      = pattern(CQ_DTYPE_F32, SIZES(2), 1);
        cq_tensor *out    = tensor_of(CQ_DTYPE_F32, SIZES(1, 2, 2, 2), NULL);
        cq_window  window = { .stride = { 3, 3 }, .padding = { pad, pad } };

        CHECK_OK(cq_kernel_conv_transpose(out, x, w, b, &window, 1));
        for (int64_t i = 0; i < 8; i++) {
            const int64_t y = i / 2 % 2 + pad, column = i % 2 + pad;
            double        want = cq_tensor_get_f64(b, i / 4);

            if (y < 2 && column < 2)
                want += cq_tensor_get_f64(x, 0) * cq_tensor_get_f64(w, i / 4 * 4 + y * 2 + column);
            CHECK(fabs(cq_tensor_get_f64(out, i) - want) < 1e-6);
        }
        release_all(x, w, b, out, NULL);
    }
}

TEST(conv, unfold_and_fold)
{
    cq_tensor *x      = pattern(CQ_DTYPE_F32, SIZES(1, 1, 3, 3), 0);
    cq_tensor *c      = pattern(CQ_DTYPE_F32, SIZES(1, 4, 4), 0);
    cq_tensor *col    = tensor_of(CQ_DTYPE_F32, SIZES(1, 4, 4), NULL);
    cq_tensor *im     = tensor_of(CQ_DTYPE_F32, SIZES(1, 1, 3, 3), NULL);
    cq_window  window = { .kernel = { 2, 2 }, .stride = { 2, 1 }, .padding = { 1, 0 } };

    CHECK_OK(cq_kernel_im2col(col, x, &window, (int64_t[]){ 2, 2 }));
    check_values(
        col, (double[]){ 0, 0, 1.25, 0.25, 0, 0, 0.25, -0.75, -1.25, 0.5, 1, 0, 0.5, -0.5, 0, -1 });
    CHECK_OK(cq_kernel_col2im(im, c, &(cq_window){ .kernel = { 2, 2 } }, (int64_t[]){ 2, 2 }));
    check_values(im, (double[]){ -1.25, 0.75, -0.75, -1.5, 3.5, -0.5, -0.25, 0, 0.25 });
    release_all(x, c, NULL);
}

TEST(conv, gradient_of_the_weight)
{
    cq_tensor *x  = pattern(CQ_DTYPE_F32, SIZES(2, 1, 3, 3), 0);
    cq_tensor *gy = pattern(CQ_DTYPE_F32, SIZES(2, 1, 2, 2), 5);
    cq_tensor *gw = tensor_of(CQ_DTYPE_F32, SIZES(1, 1, 2, 2), NULL);

    CHECK_OK(cq_kernel_conv_grad_weight(gw, x, gy, &(cq_window){ 0 }, 1));
    check_close(gw, (double[]){ -1.5625, 2.375, -1.4375, 3.875 }, 1e-6);
    release_all(x, gy, NULL);
}

/* All instruction sets, and one thread against three where blocks are more than one. */
static void check_paths(int64_t channels, int64_t out_channels, int64_t groups, int64_t size,
                        int64_t kernel, int64_t stride)
{
    int64_t    positions = cq_window_positions(size, kernel, stride, 1, 1, 1, false);
    cq_tensor *x         = pattern(CQ_DTYPE_F32, SIZES(2, channels, size, size), 0), *out[3];
    cq_tensor *w = pattern(CQ_DTYPE_F32, SIZES(out_channels, channels / groups, kernel, kernel), 3);
    cq_window  window = { .stride = { stride, stride }, .padding = { 1, 1 } };
    int64_t    n;

    for (int i = 0; i < 3; i++)
        out[i] = tensor_of(CQ_DTYPE_F32, SIZES(2, out_channels, positions, positions), NULL);
    n = cq_tensor_numel(out[0]);
    CHECK_OK(cq_kernel_conv(out[2], x, w, NULL, &window, groups));
    EACH_ISA
    {
        for (int i = 0; i < 2; i++) {
            cq_set_threads(i ? 3 : 1);
            CHECK_OK(cq_kernel_conv(out[i], x, w, NULL, &window, groups));
        }
        CHECK(memcmp(cq_tensor_data(out[0]), cq_tensor_data(out[1]), (size_t)n * 4) == 0);
        for (int64_t i = 0; i < n; i++) {
            double a = cq_tensor_get_f64(out[0], i), b = cq_tensor_get_f64(out[2], i);

            CHECK(fabs(a - b) <= 1e-5 * (fabs(a) + 1));
        }
    }
    release_all(x, w, out[0], out[1], out[2], NULL);
}

TEST(conv, all_paths_agree)
{
    check_paths(7, 13, 1, 37, 3, 1);
    check_paths(30, 70, 1, 9, 3, 2);
    check_paths(6, 6, 6, 45, 3, 1);
    check_paths(6, 12, 6, 45, 3, 2);
    check_paths(5, 5, 5, 45, 2, 3);
    check_paths(9, 6, 3, 20, 3, 1);
}

RUN_TESTS(TEST_OF(conv, strides_padding_and_dilation_differ_by_axis),
          TEST_OF(conv, groups_see_their_own_channels),
          TEST_OF(conv, depthwise_is_clipped_at_every_edge), TEST_OF(conv, three_axes_work_as_two),
          TEST_OF(conv, the_transpose_takes_its_output_padding_from_the_size),
          TEST_OF(conv, the_transpose_of_one_pixel_is_its_window), TEST_OF(conv, unfold_and_fold),
          TEST_OF(conv, gradient_of_the_weight), TEST_OF(conv, all_paths_agree))
