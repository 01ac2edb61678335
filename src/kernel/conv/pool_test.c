#include "kernel/conv/pool.h"

#include "tensors.h"

/* F.max_pool2d(x, 3, 2, 1, 2, ceil_mode=True, return_indices=True) */
TEST(pool, maximum_with_dilation_and_indices)
{
    cq_tensor *x   = pattern(CQ_DTYPE_F32, SIZES(1, 1, 5, 5), 0);
    cq_tensor *out = tensor_of(CQ_DTYPE_F32, SIZES(1, 1, 2, 2), NULL);
    cq_tensor *at  = tensor_of(CQ_DTYPE_I64, SIZES(1, 1, 2, 2), NULL);
    cq_window  w   = { { 3, 3 }, { 2, 2 }, { 1, 1 }, { 2, 2 } };

    CHECK_OK(cq_kernel_max_pool(out, at, x, &w));
    check_values(out, (double[]){ 1, 1, 1, 1 });
    check_values(at, (double[]){ 6, 6, 6, 6 });
    cq_tensor_release(x);
}

TEST(pool, maximum_over_three_axes_of_integers)
{
    cq_tensor *x   = tensor_of(CQ_DTYPE_I32, SIZES(1, 1, 2, 3, 2),
                               (int32_t[]){ -9, 4, -8, 3, -7, 2, -6, 5, -5, 1, -4, 0 });
    cq_tensor *out = tensor_of(CQ_DTYPE_I32, SIZES(1, 1, 1, 2, 2), NULL);

    CHECK_OK(cq_kernel_max_pool(out, NULL, x, &(cq_window){ .kernel = { 2, 2, 1 } }));
    check_values(out, (double[]){ -5, 5, -4, 3 });
    cq_tensor_release(x);
}

TEST(pool, nan_wins_and_the_first_of_equals_too)
{
    cq_tensor *x = tensor_of(CQ_DTYPE_F32, SIZES(1, 1, 6), (float[]){ 1, 1, 0, NAN, 5, -INFINITY });
    cq_tensor *out = tensor_of(CQ_DTYPE_F32, SIZES(1, 1, 3), NULL);
    cq_tensor *at  = tensor_of(CQ_DTYPE_I64, SIZES(1, 1, 3), NULL);

    CHECK_OK(cq_kernel_max_pool(out, at, x, &(cq_window){ .kernel = { 2 }, .stride = { 2 } }));
    check_values(out, (double[]){ 1, NAN, 5 });
    check_values(at, (double[]){ 0, 3, 4 });
    cq_tensor_release(x);
}

static void check_average(bool include_pad, const double *want)
{
    cq_tensor  *x   = pattern(CQ_DTYPE_F32, SIZES(1, 1, 5, 5), 0);
    cq_tensor  *out = tensor_of(CQ_DTYPE_F32, SIZES(1, 1, 3, 3), NULL);
    cq_window   w   = { { 3, 2 }, { 2, 2 }, { 1, 1 }, { 0 } };
    cq_avg_pool o   = { .count_include_pad = include_pad };

    CHECK_OK(cq_kernel_avg_pool(out, x, &w, &o));
    check_close(out, want, 1e-6);
    cq_tensor_release(x);
}

/* ceil_mode=True; elements past the padding never count */
TEST(pool, average_counts_as_pytorch_does)
{
    check_average(true, (double[]){ -0.333333333, 0.166666667, 0.208333333, -0.125, 0.0833333333,
                                    -0.0833333333, 0.166666667, -0.208333333, -0.166666667 });
    check_average(false, (double[]){ -1, 0.25, 0.3125, -0.25, 0.0833333333, -0.0833333333, 0.5,
                                     -0.3125, -0.25 });
}

TEST(pool, average_with_a_fixed_divisor)
{
    cq_tensor  *x   = pattern(CQ_DTYPE_F64, SIZES(1, 1, 2, 3), 0);
    cq_tensor  *out = tensor_of(CQ_DTYPE_F64, SIZES(1, 1, 1, 2), NULL);
    cq_avg_pool o   = { .divisor = 3 };

    CHECK_OK(cq_kernel_avg_pool(out, x, &(cq_window){ .kernel = { 2, 2 } }, &o));
    check_close(out, (double[]){ 0.25, -0.166666667 }, 1e-8);
    cq_tensor_release(x);
}

TEST(pool, adaptive_windows_overlap)
{
    cq_tensor *x   = pattern(CQ_DTYPE_F32, SIZES(1, 1, 5, 5), 0);
    cq_tensor *y   = pattern(CQ_DTYPE_F32, SIZES(1, 2, 5), 0);
    cq_tensor *avg = tensor_of(CQ_DTYPE_F32, SIZES(1, 1, 2, 3), NULL);
    cq_tensor *max = tensor_of(CQ_DTYPE_F32, SIZES(1, 2, 3), NULL);
    cq_tensor *at  = tensor_of(CQ_DTYPE_I64, SIZES(1, 2, 3), NULL);

    CHECK_OK(cq_kernel_adaptive_avg_pool(avg, x));
    check_close(avg, (double[]){ -0.333333333, 0, 0.333333333, -0.25, -0.222222222, -0.0416666667 },
                1e-6);
    CHECK_OK(cq_kernel_adaptive_max_pool(max, at, y));
    check_values(max, (double[]){ 0.5, 1.25, 1.25, 1, 1, 0.75 });
    check_values(at, (double[]){ 1, 3, 3, 1, 1, 4 });
    release_all(x, y, NULL);
}

TEST(pool, lp_is_a_norm)
{
    cq_tensor *x   = tensor_of(CQ_DTYPE_F32, SIZES(1, 1, 3), (float[]){ 3, -4, 0 });
    cq_tensor *out = tensor_of(CQ_DTYPE_F32, SIZES(1, 1, 2), NULL);

    CHECK_STATUS(CQ_E_ARGUMENT, cq_kernel_lp_pool(out, x, &(cq_window){ .kernel = { 2 } }, 0));
    CHECK_OK(cq_kernel_lp_pool(out, x, &(cq_window){ .kernel = { 2 } }, 2));
    check_close(out, (double[]){ 5, 4 }, 1e-6);
    cq_tensor_release(x);
}

TEST(pool, unpool_puts_values_back_and_checks_where)
{
    cq_tensor *x   = tensor_of(CQ_DTYPE_F32, SIZES(1, 1, 2), (float[]){ 7, 8 });
    cq_tensor *at  = tensor_of(CQ_DTYPE_I64, SIZES(1, 1, 2), (int64_t[]){ 3, 0 });
    cq_tensor *bad = tensor_of(CQ_DTYPE_I64, SIZES(1, 1, 2), (int64_t[]){ 4, 0 });
    cq_tensor *out = tensor_of(CQ_DTYPE_F32, SIZES(1, 1, 4), NULL);

    CHECK_STATUS(CQ_E_ARGUMENT, cq_kernel_max_unpool(out, x, bad));
    CHECK_STR("index 4 is out of range for a plane of 4 elements", cq_last_error()->message);
    CHECK_OK(cq_kernel_max_unpool(out, x, at));
    check_values(out, (double[]){ 8, 0, 0, 7 });
    release_all(x, at, bad, NULL);
}

TEST(pool, gradient_of_the_average)
{
    cq_tensor *g   = pattern(CQ_DTYPE_F32, SIZES(1, 1, 5), 5);
    cq_tensor *out = tensor_of(CQ_DTYPE_F32, SIZES(1, 1, 4), NULL);
    cq_window  w   = { .kernel = { 2 }, .padding = { 1 } };

    CHECK_OK(cq_kernel_avg_pool_grad(out, g, &w, &(cq_avg_pool){ 0 }));
    check_close(out, (double[]){ -0.5, -0.125, 0.25, -1.375 }, 1e-6);
    cq_tensor_release(g);
}

RUN_TESTS(TEST_OF(pool, maximum_with_dilation_and_indices),
          TEST_OF(pool, maximum_over_three_axes_of_integers),
          TEST_OF(pool, nan_wins_and_the_first_of_equals_too),
          TEST_OF(pool, average_counts_as_pytorch_does),
          TEST_OF(pool, average_with_a_fixed_divisor), TEST_OF(pool, adaptive_windows_overlap),
          TEST_OF(pool, lp_is_a_norm), TEST_OF(pool, unpool_puts_values_back_and_checks_where),
          TEST_OF(pool, gradient_of_the_average))
