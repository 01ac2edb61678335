/* Wanted values are PyTorch 1.13's. */
#include "kernel/sort.h"

#include <math.h>

#include "test.h"

static cq_tensor *make(cq_dtype dtype, size_t rank, const int64_t *sizes, const double *values)
{
    cq_tensor *t, *x;

    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_F64, rank, sizes, values));
    CHECK_OK(cq_tensor_clone(&x, t, dtype));
    cq_tensor_release(t);
    return x;
}

static cq_tensor *blank(cq_dtype dtype, int64_t n)
{
    return make(dtype, 1, &n, NULL);
}

static void check(const cq_tensor *t, int64_t n, const double *want)
{
    CHECK_INT(n, cq_tensor_numel(t));
    for (int64_t i = 0; i < n; i++) {
        double got = cq_tensor_get_f64(t, i);

        CHECK(got == want[i] || (isnan(got) && isnan(want[i])));
    }
}

TEST(sort, nan_is_greatest_and_equals_keep_their_order)
{
    static const double   values[] = { 2, NAN, -0.0, 0, -INFINITY, 2 };
    static const cq_dtype dtypes[] = { CQ_DTYPE_F64, CQ_DTYPE_F32, CQ_DTYPE_F16, CQ_DTYPE_BF16 };

    for (size_t d = 0; d < 4; d++) {
        cq_tensor *x = make(dtypes[d], 1, (int64_t[]){ 6 }, values);
        cq_tensor *v = blank(dtypes[d], 6), *p = blank(CQ_DTYPE_I64, 6);

        CHECK_OK(cq_kernel_sort(v, p, x, 0, false));
        check(v, 6, (double[]){ -INFINITY, 0, 0, 2, 2, NAN });
        check(p, 6, (double[]){ 4, 2, 3, 0, 5, 1 });
        CHECK_OK(cq_kernel_sort(NULL, p, x, 0, true));
        check(p, 6, (double[]){ 1, 0, 5, 2, 3, 4 });
        cq_tensor_release(x);
        cq_tensor_release(v);
        cq_tensor_release(p);
    }
}

TEST(sort, integers_of_every_kind)
{
    static const cq_dtype dtypes[] = { CQ_DTYPE_U8,  CQ_DTYPE_I8,  CQ_DTYPE_I16, CQ_DTYPE_I32,
                                       CQ_DTYPE_I64, CQ_DTYPE_U16, CQ_DTYPE_U32, CQ_DTYPE_U64 };

    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        /* -1 is the greatest number of the unsigned ones */
        bool       sign = cq_dtype_is_signed(dtypes[d]);
        cq_tensor *x    = make(CQ_DTYPE_I64, 1, (int64_t[]){ 3 }, (double[]){ 5, -1, 3 }), *y;
        cq_tensor *p    = blank(CQ_DTYPE_I32, 3);

        CHECK_OK(cq_tensor_clone(&y, x, dtypes[d]));
        CHECK_OK(cq_kernel_sort(NULL, p, y, 0, false));
        check(p, 3, sign ? (double[]){ 1, 2, 0 } : (double[]){ 2, 0, 1 });
        cq_tensor_release(x);
        cq_tensor_release(y);
        cq_tensor_release(p);
    }
}

/* Long lanes, across memory, against the definition. */
TEST(sort, long_lanes_are_sorted_and_selected)
{
    enum { N = 1000, K = 17 };
    static double values[2 * N];
    cq_tensor    *x, *v, *p, *top;
    uint64_t      state = 1;

    for (int i = 0; i < 2 * N; i++) {
        state     = state * 6364136223846793005u + 1442695040888963407u;
        values[i] = (double)(state >> 56);
    }
    x   = make(CQ_DTYPE_F32, 2, (int64_t[]){ N, 2 }, values);
    v   = make(CQ_DTYPE_F32, 2, (int64_t[]){ N, 2 }, values);
    p   = make(CQ_DTYPE_I64, 2, (int64_t[]){ N, 2 }, values);
    top = make(CQ_DTYPE_I64, 2, (int64_t[]){ K, 2 }, values);
    CHECK_OK(cq_kernel_sort(v, p, x, 0, true));
    for (int i = 0; i < 2 * N; i++)
        CHECK(values[2 * cq_tensor_get_i64(p, i) + i % 2] == cq_tensor_get_f64(v, i));
    for (int i = 2; i < 2 * N; i++) {
        double a = cq_tensor_get_f64(v, i - 2), b = cq_tensor_get_f64(v, i);

        CHECK(a > b || (a == b && cq_tensor_get_i64(p, i - 2) < cq_tensor_get_i64(p, i)));
    }
    CHECK_OK(cq_kernel_topk(NULL, top, x, 0, true));
    for (int i = 0; i < 2 * K; i++)
        CHECK_INT(cq_tensor_get_i64(p, i), cq_tensor_get_i64(top, i));
    cq_tensor_release(x);
    cq_tensor_release(v);
    cq_tensor_release(p);
    cq_tensor_release(top);
}

TEST(sort, the_kth_and_the_median)
{
    static const double values[] = { 4, NAN, 1, 3, 2 };
    cq_tensor          *x        = make(CQ_DTYPE_F32, 1, (int64_t[]){ 5 }, values);
    cq_tensor          *v = blank(CQ_DTYPE_F32, 1), *p = blank(CQ_DTYPE_I64, 1);

    CHECK_OK(cq_kernel_kthvalue(v, p, x, 0, 4));
    check(v, 1, (double[]){ 4 });
    CHECK_STATUS(CQ_E_ARGUMENT, cq_kernel_kthvalue(v, p, x, 0, 6));
    CHECK_OK(cq_kernel_median(v, p, x, 0, false));
    check(v, 1, (double[]){ NAN });
    check(p, 1, (double[]){ 1 });
    CHECK_OK(cq_kernel_median(v, p, x, 0, true));
    check(v, 1, (double[]){ 2 });
    cq_tensor_release(x);
    cq_tensor_release(v);
    cq_tensor_release(p);
}

TEST(sort, searchsorted_accepts_different_dtypes)
{
    cq_tensor *s = make(CQ_DTYPE_I64, 1, (int64_t[]){ 4 }, (double[]){ 1, 3, 3, 5 });
    cq_tensor *x = make(CQ_DTYPE_F32, 2, (int64_t[]){ 2, 2 }, (double[]){ 3, 2.5, NAN, 0 });
    cq_tensor *out;

    CHECK_OK(cq_tensor_new(&out, CQ_DTYPE_I32, 2, (int64_t[]){ 2, 2 }, NULL));
    CHECK_OK(cq_kernel_searchsorted(out, s, x, false));
    check(out, 4, (double[]){ 1, 1, 4, 0 });
    CHECK_OK(cq_kernel_searchsorted(out, s, x, true));
    check(out, 4, (double[]){ 3, 1, 4, 0 });
    cq_tensor_release(s);
    cq_tensor_release(x);
    cq_tensor_release(out);
}

static void check_and_release(cq_tensor *t, int64_t n, const double *want)
{
    check(t, n, want);
    cq_tensor_release(t);
}

TEST(sort, unique_elements_and_slices)
{
    cq_tensor *x = make(CQ_DTYPE_I16, 2, (int64_t[]){ 3, 2 }, (double[]){ 3, 1, 3, 0, 3, 1 });
    cq_tensor *v, *p, *c, *f;

    CHECK_OK(cq_kernel_unique(&v, &p, &c, &f, x, -1, false));
    check_and_release(v, 3, (double[]){ 0, 1, 3 });
    check_and_release(p, 6, (double[]){ 2, 1, 2, 0, 2, 1 });
    check_and_release(c, 3, (double[]){ 1, 2, 3 });
    check_and_release(f, 3, (double[]){ 3, 1, 0 });
    CHECK_OK(cq_kernel_unique(&v, &p, &c, NULL, x, 0, false));
    check_and_release(v, 4, (double[]){ 3, 0, 3, 1 });
    check_and_release(p, 3, (double[]){ 1, 0, 1 });
    check_and_release(c, 2, (double[]){ 1, 2 });
    CHECK_OK(cq_kernel_unique(&v, NULL, NULL, NULL, x, -1, true));
    check_and_release(v, 6, (double[]){ 3, 1, 3, 0, 3, 1 });
    CHECK_STATUS(CQ_E_ARGUMENT, cq_kernel_unique(&v, NULL, NULL, NULL, x, 2, false));
    cq_tensor_release(x);
}

RUN_TESTS(TEST_OF(sort, nan_is_greatest_and_equals_keep_their_order),
          TEST_OF(sort, integers_of_every_kind), TEST_OF(sort, long_lanes_are_sorted_and_selected),
          TEST_OF(sort, the_kth_and_the_median),
          TEST_OF(sort, searchsorted_accepts_different_dtypes),
          TEST_OF(sort, unique_elements_and_slices))
