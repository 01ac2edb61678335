#include "kernel/matrix/packed.h"

#include "base/thread.h"
#include "kernel/matrix/gemm.h"
#include "isas.h"
#include "tensors.h"

static float at(int64_t i, int seed)
{
    return (float)((7 * i + seed) % 11 - 5) / 4;
}

/* The product of a single row is bitwise equal to the plain product, if that sums rows of the
 * matrix. */
static void check_row(const cq_packed *p, int64_t k, int64_t n, float *x, const float *b,
                      bool by_columns)
{
    float  *want = cq_alloc_array((size_t)n, sizeof *want);
    float  *got  = cq_alloc_array((size_t)n, sizeof *got);
    cq_gemm g    = { .dtype = CQ_DTYPE_F32,
                     .m     = 1,
                     .n     = n,
                     .k     = k,
                     .a     = { x, k, 1 },
                     .b     = { b, by_columns ? 1 : n, by_columns ? k : 1 },
                     .c     = want,
                     .ldc   = n,
                     .alpha = 1 };

    for (int64_t i = 0; i < k; i++)
        x[i] /= 3; /* sums are rounded */
    CHECK_OK(cq_gemm_run(&g));
    CHECK_OK(cq_packed_run_row(p, got, x));
    for (int64_t i = 0; i < n; i++)
        if (by_columns ? fabsf(want[i] - got[i]) > 1e-3f : want[i] != got[i])
            fail_msg("%d x %d: element %d is %g, not %g", (int)k, (int)n, (int)i, (double)got[i],
                     (double)want[i]);
    cq_free(want);
    cq_free(got);
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
    if (m)
        check_row(p, k, n, a, b, by_columns);
    cq_packed_free(p);
    cq_free(a);
    cq_free(b);
    cq_free(out);
    cq_free(bias);
}

/* Several pages per panel: the packed part of b is released, the rest is intact. */
static void check_given_back(int64_t k, int64_t n)
{
    float     *b    = cq_alloc_aligned((size_t)(k * n) * sizeof *b);
    float     *x    = cq_alloc_array((size_t)k, sizeof *x);
    float     *want = cq_alloc_array((size_t)n, sizeof *want);
    float     *got  = cq_alloc_array((size_t)n, sizeof *got);
    cq_packed *p;

    for (int64_t i = 0; i < k; i++)
        x[i] = at(i, 1) / 3;
    for (int64_t i = 0; i < k * n; i++)
        b[i] = at(i, 2);
    CHECK_OK(cq_unpacked_run_row(k, n, b, 1, k, want, x));
    CHECK_OK(cq_packed_new_of(&p, k, n, b, 1, k));
    CHECK_OK(cq_packed_run_row(p, got, x));
    CHECK(!memcmp(want, got, (size_t)n * sizeof *got));
    cq_packed_free(p);
    cq_free_aligned(b);
    cq_free(x);
    cq_free(want);
    cq_free(got);
}

static void check_all(void)
{
    check_given_back(700, 83);
    check(1, 1, 1, false, false);
    check(5, 7, 16, false, false);
    check(6, 300, 37, true, false);
    check(13, 19, 8, false, true);
    check(125, 33, 50, true, true);
    check(3, 600, 100, false, true);
    check(20, 509, 100, false, false); /* rows 512 floats apart */
    check(261, 20, 40, true, false);   /* more rows than a block */
    check(0, 4, 4, false, false);
    check(1, 512, 1000, false, false);
    check(2, 700, 1571, false, false);
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

RUN_TESTS(TEST_OF(packed, products_of_all_shapes))
