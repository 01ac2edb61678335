#include "kernel/matrix/norm.h"

#include "isas.h"
#include "tensors.h"

static cq_tensor *params(int seed)
{
    return pattern(CQ_DTYPE_F32, SIZES(3), seed);
}

TEST(norm, batch_norm_by_given_statistics)
{
    cq_tensor *x = pattern(CQ_DTYPE_F32, SIZES(2, 3, 2), 0), *w = params(1), *b = params(2);
    cq_tensor *m   = params(3);
    cq_tensor *v   = tensor_of(CQ_DTYPE_F32, SIZES(3), (float[]){ 0.75, 1.75, 1 });
    cq_tensor *out = tensor_of(CQ_DTYPE_F32, SIZES(2, 3, 2), NULL);

    CHECK_OK(cq_kernel_batch_norm(out, x, w, b, m, v, 1e-3));
    check_close(out,
                (double[]){ 0.11544863, -1.90393151, 0.00812661027, 1, 0, 0.249875094, -2.48089726,
                            -1.32696575, -0.275265787, 0.716607603, 0.124937547, 0.374812641 },
                2e-6);
    release_all(x, w, b, m, v, NULL);
}

TEST(norm, batch_norm_in_training_moves_the_running_statistics)
{
    cq_tensor *x = pattern(CQ_DTYPE_F32, SIZES(2, 3, 2), 0), *w = params(1), *b = params(2);
    cq_tensor *rm   = tensor_of(CQ_DTYPE_F32, SIZES(3), NULL);
    cq_tensor *rv   = tensor_of(CQ_DTYPE_F64, SIZES(3), (double[]){ 1, 1, 1 });
    cq_tensor *mean = tensor_of(CQ_DTYPE_F32, SIZES(3), NULL);
    cq_tensor *rstd = tensor_of(CQ_DTYPE_F32, SIZES(3), NULL);
    cq_tensor *out  = tensor_of(CQ_DTYPE_F32, SIZES(2, 3, 2), NULL);

    CHECK_OK(cq_kernel_batch_norm_train(out, mean, rstd, rm, rv, x, w, b, 0.25, 1e-3));
    check_close(out,
                (double[]){ 0.818492492, -1.27283083, 0.485208609, 1.9266245, -0.334874825,
                            0.111624942, -1.87035178, -0.675309881, 0.0733754959, 1.51479139,
                            -0.111624942, 0.334874825 },
                2e-6);
    check_close(mean, (double[]){ 0.0625, 0.125, -0.5 }, 1e-6);
    check_close(rstd, (double[]){ 1.1950419, 1.09822163, 1.78599907 }, 1e-6);
    check_close(rm, (double[]){ 0.015625, 0.03125, -0.125 }, 1e-6);
    check_close(rv, (double[]){ 0.983072917, 1.02604167, 0.854166667 }, 1e-6);
    release_all(x, w, b, NULL);
}

TEST(norm, layer_norm_over_the_last_axis)
{
    cq_tensor *x = pattern(CQ_DTYPE_F32, SIZES(2, 5), 0), *w = pattern(CQ_DTYPE_F32, SIZES(5), 1);
    cq_tensor *b    = pattern(CQ_DTYPE_F32, SIZES(5), 2);
    cq_tensor *mean = tensor_of(CQ_DTYPE_F32, SIZES(2, 1), NULL);
    cq_tensor *rstd = tensor_of(CQ_DTYPE_F32, SIZES(2, 1), NULL);
    cq_tensor *out  = tensor_of(CQ_DTYPE_F32, SIZES(2, 5), NULL);

    CHECK_OK(cq_kernel_layer_norm(out, mean, rstd, x, w, b, 1, 1e-3));
    check_close(out,
                (double[]){ 0.765320313, 1.39340047, 0.160274264, -2.74844652, 0.866563101,
                            0.197925261, 1.94792526, 0, 0.579875435, 1.22396263 },
                2e-6);
    check_close(mean, (double[]){ 0.05, 0 }, 1e-6);
    check_close(rstd, (double[]){ 1.16563101, 1.26390035 }, 1e-6);
    release_all(x, w, b, NULL);
}

TEST(norm, group_norm_has_parameters_per_channel)
{
    cq_tensor *x = pattern(CQ_DTYPE_F64, SIZES(1, 4, 3), 0);
    cq_tensor *w = pattern(CQ_DTYPE_F64, SIZES(4), 1), *b = pattern(CQ_DTYPE_F64, SIZES(4), 2);
    cq_tensor *out = tensor_of(CQ_DTYPE_F64, SIZES(1, 4, 3), NULL);

    CHECK_OK(cq_kernel_group_norm(out, NULL, NULL, x, w, b, 2, 1e-3));
    check_close(out,
                (double[]){ 0.64206006, -1.44603003, -0.252835693, 2.19319434, 1.29829858,
                            0.403402831, -0.340243212, -0.0378048013, 0.264633609, -2.32316804,
                            -0.810975994, 0.701216058 },
                1e-8);
    release_all(x, w, b, NULL);
}

TEST(norm, rms_norm_keeps_the_mean)
{
    cq_tensor *x   = tensor_of(CQ_DTYPE_F32, SIZES(2, 2), (float[]){ 1, 7, 0, 0 });
    cq_tensor *out = tensor_of(CQ_DTYPE_F32, SIZES(2, 2), NULL);

    CHECK_OK(cq_kernel_rms_norm(out, x, NULL, 1, 1e-12));
    check_close(out, (double[]){ 0.2, 1.4, 0, 0 }, 1e-6);
    cq_tensor_release(x);
}

/* An even size shows which side has one channel more. */
TEST(norm, local_response_norm)
{
    cq_tensor *x   = pattern(CQ_DTYPE_F32, SIZES(1, 4, 2), 0);
    cq_tensor *out = tensor_of(CQ_DTYPE_F32, SIZES(1, 4, 2), NULL);

    CHECK_OK(cq_kernel_local_response_norm(out, x, 3, 1, 2, 0.75, 1));
    check_close(cq_tensor_retain(out),
                (double[]){ -0.690019783, 0.276007913, -0.272165527, 0.613443653, 0.156023155,
                            -0.386944519, 0.669222507, 0 },
                1e-6);
    CHECK_OK(cq_kernel_local_response_norm(out, x, 2, 1, 2, 0.75, 1));
    check_close(out,
                (double[]){ -0.617180374, 0.422948505, -0.230224006, 0.575560014, 0.203875728,
                            -0.319097754, 0.581037994, 0 },
                1e-6);
    cq_tensor_release(x);
}

TEST(norm, layer_norm_with_every_instruction_set)
{
    for (int64_t n = 1; n < 300; n = 2 * n + 1) {
        cq_tensor *x   = pattern(CQ_DTYPE_F32, SIZES(2, n), 0),
                  *w   = pattern(CQ_DTYPE_F32, SIZES(n), 1);
        cq_tensor *b   = pattern(CQ_DTYPE_F32, SIZES(n), 2);
        cq_tensor *out = tensor_of(CQ_DTYPE_F32, SIZES(2, n), NULL);

        EACH_ISA
        {
            CHECK_OK(cq_kernel_layer_norm(out, NULL, NULL, x, w, b, 1, 1e-3));
            for (int64_t row = 0; row < 2; row++) {
                double mean = 0, squares = 0;

                for (int64_t i = 0; i < n; i++)
                    mean += cq_tensor_get_f64(x, row * n + i) / (double)n;
                for (int64_t i = 0; i < n; i++)
                    squares += pow(cq_tensor_get_f64(x, row * n + i) - mean, 2) / (double)n;
                for (int64_t i = 0; i < n; i++) {
                    double want = (cq_tensor_get_f64(x, row * n + i) - mean) /
                                      sqrt(squares + 1e-3) * cq_tensor_get_f64(w, i) +
                                  cq_tensor_get_f64(b, i);

                    CHECK(fabs(cq_tensor_get_f64(out, row * n + i) - want) <= 1e-5);
                }
            }
        }
        release_all(x, w, b, out, NULL);
    }
}

TEST(norm, integers_are_refused)
{
    cq_tensor *x = tensor_of(CQ_DTYPE_I64, SIZES(1, 2), NULL);

    CHECK_STATUS(CQ_E_TYPE, cq_kernel_rms_norm(x, x, NULL, 1, 0));
    cq_tensor_release(x);
}

RUN_TESTS(TEST_OF(norm, batch_norm_by_given_statistics),
          TEST_OF(norm, batch_norm_in_training_moves_the_running_statistics),
          TEST_OF(norm, layer_norm_over_the_last_axis),
          TEST_OF(norm, group_norm_has_parameters_per_channel),
          TEST_OF(norm, rms_norm_keeps_the_mean), TEST_OF(norm, local_response_norm),
          TEST_OF(norm, layer_norm_with_every_instruction_set), TEST_OF(norm, integers_are_refused))
