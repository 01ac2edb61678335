#include "kernel/matrix/gemm.h"

#include "base/thread.h"
#include "isas.h"
#include "test.h"

#include <math.h>

static uint32_t state = 1;

static uint32_t next_random(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static float *random_floats(int64_t n)
{
    float *p = cq_alloc_array((size_t)n, sizeof *p);

    assert_non_null(p);
    for (int64_t i = 0; i < n; i++)
        p[i] = (float)next_random() / (1 << 23) - 1;
    return p;
}

struct problem {
    int64_t m, n, k;
    bool    a_t, b_t;
    float   alpha, beta;
};

static void multiply(float *c, const struct problem *p, const float *a, const float *b)
{
    cq_gemm g = { .dtype = CQ_DTYPE_F32,
                  .m     = p->m,
                  .n     = p->n,
                  .k     = p->k,
                  .c     = c,
                  .ldc   = p->n,
                  .alpha = p->alpha,
                  .beta  = p->beta };

    g.a = p->a_t ? (cq_matrix){ a, 1, p->m } : (cq_matrix){ a, p->k, 1 };
    g.b = p->b_t ? (cq_matrix){ b, 1, p->k } : (cq_matrix){ b, p->n, 1 };
    CHECK_OK(cq_gemm_run(&g));
}

static void check_plain(const struct problem *p, const float *c, const float *a, const float *b,
                        const float *c0)
{
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            double sum = 0, size = 0;

            for (int64_t k = 0; k < p->k; k++) {
                double t = (double)(p->a_t ? a[k * p->m + i] : a[i * p->k + k]) *
                           (p->b_t ? b[j * p->k + k] : b[k * p->n + j]);

                sum += t;
                size += fabs(t);
            }
            sum = p->alpha * sum + p->beta * c0[i * p->n + j];
            CHECK(fabs(c[i * p->n + j] - sum) <= 1e-6 * (fabs(p->alpha) * size + 1));
        }
}

/* All instruction sets, one thread and three. */
static void check(const struct problem *p)
{
    int64_t n_c = p->m * p->n;
    float  *a = random_floats(p->m * p->k), *b = random_floats(p->k * p->n);
    float  *c0 = random_floats(n_c), *c[2];

    for (int i = 0; i < 2; i++) {
        c[i] = cq_alloc_array((size_t)n_c, sizeof(float));
        assert_non_null(c[i]);
    }
    EACH_ISA
    {
        for (int i = 0; i < 2; i++) {
            memcpy(c[i], c0, (size_t)n_c * sizeof(float));
            cq_set_threads(i ? 3 : 1);
            multiply(c[i], p, a, b);
        }
        check_plain(p, c[0], a, b, c0);
        CHECK(memcmp(c[0], c[1], (size_t)n_c * sizeof(float)) == 0);
    }
    cq_free(c[0]);
    cq_free(c[1]);
    cq_free(a);
    cq_free(b);
    cq_free(c0);
}

TEST(gemm, all_paths_agree_on_odd_sizes)
{
    static const int64_t sizes[] = { 0, 1, 2, 5, 6, 7, 13, 16, 17, 31, 33 };
    const size_t         n       = sizeof sizes / sizeof *sizes;

    for (size_t i = 0; i < n * n * n; i++) {
        struct problem p = { sizes[i % n], sizes[i / n % n],  sizes[i / n / n], i & 1,
                             i & 2,        i % 3 ? 1 : -2.5f, i % 5 ? 0 : 0.5f };

        check(&p);
    }
}

TEST(gemm, all_paths_agree_across_blocks)
{
    check(&(struct problem){ 130, 300, 270, false, false, 1, 0 });
    check(&(struct problem){ 70, 1100, 300, true, true, 1, 1 });
    check(&(struct problem){ 401, 17, 2100, false, true, 0.5f, 2 });
    check(&(struct problem){ 1, 700, 900, false, true, 1, 0 });
    check(&(struct problem){ 1, 700, 900, false, false, 1, 0 });
    check(&(struct problem){ 700, 1, 900, false, false, 2, 1 });
    check(&(struct problem){ 700, 1, 900, true, true, 1, 0 });
}

TEST(gemm, c_is_not_read_when_beta_is_0)
{
    float   a[] = { 1, 2, 3, 4 }, b[] = { 5, 6, 7, 8 }, c[4], bias[] = { 10, 20 };
    cq_gemm g = { .dtype = CQ_DTYPE_F32,
                  .m     = 2,
                  .n     = 2,
                  .k     = 2,
                  .a     = { a, 2, 1 },
                  .b     = { b, 2, 1 },
                  .c     = c,
                  .ldc   = 2,
                  .alpha = 1 };

    for (int i = 0; i < 4; i++)
        c[i] = NAN;
    g.row_bias = bias;
    CHECK_OK(cq_gemm_run(&g));
    CHECK(c[0] == 29 && c[1] == 32 && c[2] == 63 && c[3] == 70);
    g.row_bias = NULL;
    g.col_bias = bias;
    CHECK_OK(cq_gemm_run(&g));
    CHECK(c[0] == 29 && c[1] == 42 && c[2] == 53 && c[3] == 70);
    g.n = 1; /* a column: its one bias is added to every row */
    CHECK_OK(cq_gemm_run(&g));
    CHECK(c[0] == 29 && c[2] == 53);
    g.n        = 2;
    g.m        = 1;
    g.row_bias = bias;
    g.col_bias = NULL;
    CHECK_OK(cq_gemm_run(&g));
    CHECK(c[0] == 29 && c[1] == 32);
}

TEST(gemm, integers_wrap_around)
{
    int64_t a[] = { INT64_MAX, 2 }, b[] = { 3, 1 }, c[1];
    cq_gemm g = { .dtype = CQ_DTYPE_I64,
                  .m     = 1,
                  .n     = 1,
                  .k     = 2,
                  .a     = { a, 2, 1 },
                  .b     = { b, 1, 1 },
                  .c     = c,
                  .ldc   = 1,
                  .alpha = 1 };

    CHECK_OK(cq_gemm_run(&g));
    CHECK(c[0] == INT64_MAX - 2 + 2); /* 3 * (2^63 - 1) + 2 = 2^64 + (2^63 - 1) */
}

TEST(gemm, packed_once_serves_many)
{
    struct problem p = { 20, 40, 300, false, false, 1, 0 };
    float         *a = random_floats(p.m * p.k), *b = random_floats(p.k * p.n);
    float          plain[800], packed[800];
    cq_gemm        g = { .dtype = CQ_DTYPE_F32,
                         .m     = p.m,
                         .n     = p.n,
                         .k     = p.k,
                         .b     = { b, p.n, 1 },
                         .c     = packed,
                         .ldc   = p.n,
                         .alpha = 1 };
    void          *pa;

    multiply(plain, &p, a, b);
    CHECK_OK(cq_gemm_pack_a(&pa, CQ_DTYPE_F32, p.m, p.k, (cq_matrix){ a, p.k, 1 }));
    g.packed_a = pa;
    CHECK_OK(cq_gemm_run(&g));
    CHECK(memcmp(plain, packed, sizeof plain) == 0);
    cq_free_aligned(pa);
    cq_free(a);
    cq_free(b);
}

RUN_TESTS(TEST_OF(gemm, all_paths_agree_on_odd_sizes), TEST_OF(gemm, all_paths_agree_across_blocks),
          TEST_OF(gemm, c_is_not_read_when_beta_is_0), TEST_OF(gemm, integers_wrap_around),
          TEST_OF(gemm, packed_once_serves_many))
