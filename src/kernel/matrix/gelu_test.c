#include "kernel/matrix/gelu.h"

#include "base/thread.h"
#include "isas.h"
#include "tensors.h"

#include <math.h>

static double formula(double x, bool by_tanh)
{
    double t = by_tanh ? tanh(sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x))
                       : erf(x / sqrt(2));

    return 0.5 * x * (1 + t);
}

static void check(const cq_tensor *x, cq_tensor *y, bool by_tanh)
{
    CHECK_OK(cq_kernel_gelu(y, x, by_tanh));
    for (int64_t i = 0; i < cq_tensor_numel(x); i++) {
        double want = formula(cq_tensor_get_f64(x, i), by_tanh);

        CHECK(fabs(cq_tensor_get_f64(y, i) - want) <= 4e-7 * fabs(want) + 1e-7);
    }
}

TEST(gelu, dense_and_strided_inputs_follow_the_formula)
{
    cq_tensor *x, *y, *turned;

    CHECK_OK(cq_tensor_new(&x, CQ_DTYPE_F32, 2, (int64_t[]){ 91, 101 }, NULL));
    CHECK_OK(cq_tensor_new(&y, CQ_DTYPE_F32, 2, (int64_t[]){ 101, 91 }, NULL));
    CHECK_OK(cq_tensor_new_view(&turned, x, CQ_DTYPE_F32, 2, y->sizes, (int64_t[]){ 1, 101 }, 0));
    for (int64_t i = 0; i < cq_tensor_numel(x); i++)
        ((float *)cq_tensor_data(x))[i] = (float)(i % 2003 - 1001) / 120;
    EACH_ISA
    for (int way = 0; way < 4; way++) {
        cq_set_threads(way & 1 ? 3 : 1);
        check(turned, y, way & 2);
    }
    cq_set_threads(0);
    cq_tensor_release(turned);
    CHECK_OK(cq_tensor_new_view(&turned, x, CQ_DTYPE_F32, 2, y->sizes, (int64_t[]){ 91, 1 }, 0));
    EACH_ISA
    for (int way = 0; way < 2; way++)
        check(turned, y, way);
    cq_tensor_release(turned);
    cq_tensor_release(x);
    cq_tensor_release(y);
}

TEST(gelu, results_are_accurate_for_large_arguments)
{
    static const float odd[] = { NAN, INFINITY, 1e30f, -1e30f, -20 };
    cq_tensor         *x, *y;

    CHECK_OK(cq_tensor_new(&x, CQ_DTYPE_F32, 1, (int64_t[]){ 5 }, odd));
    CHECK_OK(cq_tensor_new(&y, CQ_DTYPE_F32, 1, (int64_t[]){ 5 }, NULL));
    EACH_ISA
    for (int way = 0; way < 2; way++) {
        const float *at = cq_tensor_data(y);

        CHECK_OK(cq_kernel_gelu(y, x, way));
        CHECK(isnan(at[0]) && isinf(at[1]) && at[1] > 0 && at[2] >= 1e30f);
        CHECK(fabsf(at[3]) <= 0 && fabsf(at[4]) < 1e-30f);
    }
    cq_tensor_release(x);
    cq_tensor_release(y);
}

RUN_TESTS(TEST_OF(gelu, dense_and_strided_inputs_follow_the_formula),
          TEST_OF(gelu, results_are_accurate_for_large_arguments))
