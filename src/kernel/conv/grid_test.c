#include "kernel/conv/grid.h"

#include "tensors.h"

static void check_sample(cq_grid_mode mode, cq_grid_padding padding, bool align_corners,
                         const double *want)
{
    cq_tensor *x    = pattern(CQ_DTYPE_F32, SIZES(1, 2, 3, 3), 3);
    cq_tensor *grid = pattern(CQ_DTYPE_F32, SIZES(1, 2, 2, 2), 0);
    cq_tensor *out  = tensor_of(CQ_DTYPE_F32, SIZES(1, 2, 2, 2), NULL);

    CHECK_OK(cq_kernel_grid_sample(out, x, grid, mode, padding, align_corners));
    check_close(out, want, 1e-6);
    release_all(x, grid, NULL);
}

TEST(grid, modes_with_zeros_around)
{
    check_sample(
        CQ_GRID_LINEAR, CQ_GRID_ZEROS, false,
        (double[]){ -0.1171875, -0.0703125, 0.765625, 0, 0.1328125, 0.09375, 0.109375, -0.375 });
    check_sample(CQ_GRID_NEAREST, CQ_GRID_ZEROS, false,
                 (double[]){ 0, 0, 1.25, 0, 0, 0, 0.5, -0.75 });
    check_sample(CQ_GRID_CUBIC, CQ_GRID_ZEROS, false,
                 (double[]){ -0.130349636, -0.073243618, 1.00274277, -0.09375, 0.142941952,
                             0.0926785469, 0.308525085, -0.46875 });
}

TEST(grid, reflection_and_border)
{
    check_sample(CQ_GRID_LINEAR, CQ_GRID_REFLECTION, true,
                 (double[]){ -0.4375, -0.0625, 0.9375, 0, 0.875, 0.5625, 0.1875, -0.75 });
    check_sample(CQ_GRID_CUBIC, CQ_GRID_BORDER, true,
                 (double[]){ -1.08300781, -0.0576171875, 1.16015625, 0, 1.49203491, 0.567382812,
                             0.344444275, -0.75 });
}

TEST(grid, positions_far_outside_are_safe)
{
    float      at[] = { 1e30f, -1e30f, NAN, INFINITY };
    cq_tensor *x    = pattern(CQ_DTYPE_F32, SIZES(1, 1, 3, 3), 3);
    cq_tensor *grid = tensor_of(CQ_DTYPE_F32, SIZES(1, 1, 2, 2), at);
    cq_tensor *out  = tensor_of(CQ_DTYPE_F32, SIZES(1, 1, 1, 2), NULL);

    for (int mode = 0; mode < 3; mode++)
        for (int padding = 0; padding < 3; padding++) {
            CHECK_OK(cq_kernel_grid_sample(out, x, grid, (cq_grid_mode)mode,
                                           (cq_grid_padding)padding, false));
            CHECK(padding != CQ_GRID_ZEROS || cq_tensor_get_f64(out, 0) == 0);
        }
    release_all(x, grid, out, NULL);
}

TEST(grid, affine)
{
    cq_tensor *theta = pattern(CQ_DTYPE_F32, SIZES(1, 2, 3), 0);
    cq_tensor *out   = tensor_of(CQ_DTYPE_F32, SIZES(1, 2, 2, 2), NULL);

    CHECK_OK(cq_kernel_affine_grid(out, theta, false));
    check_close(cq_tensor_retain(out),
                (double[]){ -0.125, -1.5, -1.375, -0.25, 0.375, -1.25, -0.875, 0 }, 1e-6);
    CHECK_OK(cq_kernel_affine_grid(out, theta, true));
    check_close(out, (double[]){ 0.25, -2.25, -2.25, 0.25, 1.25, -1.75, -1.25, 0.75 }, 1e-6);
    cq_tensor_release(theta);
}

RUN_TESTS(TEST_OF(grid, modes_with_zeros_around), TEST_OF(grid, reflection_and_border),
          TEST_OF(grid, positions_far_outside_are_safe), TEST_OF(grid, affine))
