#include "kernel/packed.h"

#include "base/thread.h"
#include "isas.h"
#include "kernel/blocked_core.h"
#include "tensors.h"

#include <math.h>

static float at(int64_t i, int seed)
{
    return (float)((7 * i + seed) % 11 - 5) / 4;
}

static void check(int64_t m, int64_t k, int64_t n, bool by_columns, bool accumulates)
{
    float     *a    = cq_alloc_array((size_t)(m * (k + 3)), sizeof *a);
    float     *b    = cq_alloc_array((size_t)(k * n), sizeof *b);
    float     *out  = cq_alloc_array((size_t)(m * (n + 5)), sizeof *out);
    float     *bias = cq_alloc_array((size_t)n, sizeof *bias);
    cq_packed *p;

    for (int64_t i = 0; i < m * (k + 3); i++)
        a[i] = at(i, 1);
    for (int64_t i = 0; i < k * n; i++)
        b[i] = at(i, 2);
    for (int64_t i = 0; i < n; i++)
        bias[i] = at(i, 3);
    for (int64_t i = 0; i < m * (n + 5); i++)
        out[i] = 100;
    CHECK_OK(cq_packed_new(&p, k, n, b, by_columns ? 1 : n, by_columns ? k : 1));
    CHECK_OK(cq_packed_run(p, &(cq_packed_call){ .m           = m,
                                                 .a           = a,
                                                 .lda         = k + 3,
                                                 .out         = out,
                                                 .ldc         = n + 5,
                                                 .bias        = accumulates ? NULL : bias,
                                                 .accumulates = accumulates,
                                                 .clamps      = !accumulates,
                                                 .lo          = -3,
                                                 .hi          = 4 }));
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n + 5; j++) {
            float sum = accumulates ? 100 : j < n ? bias[j] : 0;

            for (int64_t l = 0; l < k && j < n; l++)
                sum += a[i * (k + 3) + l] * b[by_columns ? j * k + l : l * n + j];
            if (!accumulates)
                sum = sum < -3 ? -3 : sum > 4 ? 4 : sum;
            if (fabsf(out[i * (n + 5) + j] - (j < n ? sum : 100)) > 1e-4f)
                fail_msg("%d x %d x %d: element %d, %d is %g, not %g", (int)m, (int)k, (int)n,
                         (int)i, (int)j, (double)out[i * (n + 5) + j], (double)sum);
        }
    cq_packed_free(p);
    cq_free(a);
    cq_free(b);
    cq_free(out);
    cq_free(bias);
}

static void check_all(void)
{
    check(1, 1, 1, false, false);
    check(5, 7, 16, false, false);
    check(6, 300, 37, true, false);
    check(13, 19, 8, false, true);
    check(125, 33, 50, true, true);
    check(3, 600, 100, false, true);
    check(20, 509, 100, false, false); /* rows 512 floats apart */
    check(261, 20, 40, true, false);   /* more rows than a block */
    check(0, 4, 4, false, false);
}

TEST(packed, products_of_all_shapes)
{
    EACH_ISA
    {
        check_all();
        cq_set_threads(3);
        check_all();
        cq_set_threads(0);
    }
}

static double gelu(double x, bool by_tanh)
{
    double t = by_tanh ? tanh(sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x))
                       : erf(x / sqrt(2));

    return 0.5 * x * (1 + t);
}

TEST(packed, activations_are_right_to_the_last_digits)
{
    enum { N = 8003 };
    float *x = cq_alloc_array(N, sizeof *x);

    EACH_ISA
    for (int by_tanh = 0; by_tanh < 2; by_tanh++) {
        for (int i = 0; i < N; i++)
            x[i] = (float)(i - N / 2) / 250;
        x[0] = NAN;
        x[1] = INFINITY;
        x[2] = 1e30f;
        x[3] = -1e30f;
        cq_core_activate(cq_core_get(), x, N, by_tanh ? CQ_EW_GELU_TANH : CQ_EW_GELU,
                         &(cq_params){ 0 });
        CHECK(isnan(x[0]));
        CHECK(isinf(x[1]) && x[1] > 0);
        CHECK(x[2] >= 1e30f);
        CHECK(x[3] == 0);
        for (int i = 4; i < N; i++) {
            double want = gelu((double)((float)(i - N / 2) / 250), by_tanh);

            if (!(fabs((double)x[i] - want) <= 4e-7 * fabs(want) + 6e-8))
                fail_msg("number %d is %g, not %g", i, (double)x[i], want);
        }
    }
    cq_free(x);
}

RUN_TESTS(TEST_OF(packed, products_of_all_shapes),
          TEST_OF(packed, activations_are_right_to_the_last_digits))
