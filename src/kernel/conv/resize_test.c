#include "kernel/conv/resize.h"

#include "tensors.h"

static void check_line(int64_t n_in, int64_t n_out, cq_resize_mode mode, double scale,
                       const double *want)
{
    cq_tensor *x   = pattern(CQ_DTYPE_F32, SIZES(1, 1, n_in), 0);
    cq_tensor *out = tensor_of(CQ_DTYPE_F32, SIZES(1, 1, n_out), NULL);

    CHECK_OK(cq_kernel_upsample(out, x, mode, false, &scale));
    check_close(out, want, 1e-6);
    cq_tensor_release(x);
}

static void check_image(int64_t h, int64_t w, int64_t out_h, int64_t out_w, cq_resize_mode mode,
                        bool align_corners, const double *want)
{
    cq_tensor *x   = pattern(CQ_DTYPE_F32, SIZES(1, 1, h, w), 0);
    cq_tensor *out = tensor_of(CQ_DTYPE_F32, SIZES(1, 1, out_h, out_w), NULL);

    CHECK_OK(cq_kernel_upsample(out, x, mode, align_corners, NULL));
    check_close(out, want, 1e-6);
    cq_tensor_release(x);
}

TEST(resize, nearest_and_nearest_exact_differ)
{
    check_line(5, 3, CQ_RESIZE_NEAREST, 0, (double[]){ -1.25, 0.5, 1.25 });
    check_line(5, 3, CQ_RESIZE_NEAREST_EXACT, 0, (double[]){ -1.25, -0.5, 0.25 });
}

TEST(resize, nearest_keeps_any_dtype)
{
    cq_tensor *x   = tensor_of(CQ_DTYPE_I64, SIZES(1, 1, 2), (int64_t[]){ INT64_MAX, 5 });
    cq_tensor *out = tensor_of(CQ_DTYPE_I64, SIZES(1, 1, 4), NULL);

    CHECK_OK(cq_kernel_upsample(out, x, CQ_RESIZE_NEAREST, false, NULL));
    CHECK(cq_tensor_get_i64(out, 1) == INT64_MAX && cq_tensor_get_i64(out, 2) == 5);
    release_all(x, out, NULL);
}

TEST(resize, a_given_scale_takes_precedence_over_sizes)
{
    check_line(3, 4, CQ_RESIZE_LINEAR, 1.5, (double[]){ -1.25, -0.375, 0.333333333, -0.333333333 });
    check_line(3, 4, CQ_RESIZE_LINEAR, 0, (double[]){ -1.25, -0.15625, 0.125, -0.5 });
}

TEST(resize, bilinear_with_and_without_aligned_corners)
{
    check_image(2, 3, 3, 4, CQ_RESIZE_LINEAR, false,
                (double[]){ -1.25, -0.15625, 0.125, -0.5, 0, 0.234375, 0, -0.625, 1.25, 0.625,
                            -0.125, -0.75 });
    check_image(2, 3, 3, 4, CQ_RESIZE_LINEAR, true,
                (double[]){ -1.25, -0.0833332986, 0.166666627, -0.5, 0, 0.25, 0.0416666269, -0.625,
                            1.25, 0.583333313, -0.0833333731, -0.75 });
}

TEST(resize, bicubic)
{
    check_image(2, 3, 3, 4, CQ_RESIZE_CUBIC, false,
                (double[]){ -1.60975885, -0.0850720108, 0.379836679, -0.550076067, -0.0269165039,
                            0.349731445, 0.055847168, -0.696777344, 1.55592525, 0.784534872,
                            -0.268142194, -0.843478739 });
}

TEST(resize, antialias_sees_every_pixel)
{
    check_image(4, 6, 2, 3, CQ_RESIZE_LINEAR_ANTIALIAS, false,
                (double[]){ -0.0204081479, 0.165178567, -0.224489778, -0.0204081591, 0.116071425,
                            -0.168367356 });
    check_image(4, 6, 2, 3, CQ_RESIZE_CUBIC_ANTIALIAS, false,
                (double[]){ -0.0336413495, 0.213421106, -0.264385015, -0.0350158997, 0.147005722,
                            -0.197958097 });
}

TEST(resize, a_table_that_points_outside_is_refused)
{
    cq_resize_axis axes[1];
    cq_tensor     *x   = tensor_of(CQ_DTYPE_F32, SIZES(2), NULL);
    cq_tensor     *out = tensor_of(CQ_DTYPE_F32, SIZES(1), NULL);

    CHECK_OK(cq_resize_axis_init(axes, 1, 1, true));
    axes[0].index[0] = 2;
    CHECK_STATUS(CQ_E_ARGUMENT, cq_kernel_resize(out, x, axes));
    cq_resize_axis_clear(axes);
    release_all(x, out, NULL);
}

RUN_TESTS(TEST_OF(resize, nearest_and_nearest_exact_differ),
          TEST_OF(resize, nearest_keeps_any_dtype),
          TEST_OF(resize, a_given_scale_takes_precedence_over_sizes),
          TEST_OF(resize, bilinear_with_and_without_aligned_corners), TEST_OF(resize, bicubic),
          TEST_OF(resize, antialias_sees_every_pixel),
          TEST_OF(resize, a_table_that_points_outside_is_refused))
