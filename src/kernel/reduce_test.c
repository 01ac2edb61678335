/* Wanted values are PyTorch 1.13's. */
#include "kernel/reduce.h"

#include <math.h>

#include "isas.h"
#include "test.h"

static cq_tensor *make(cq_dtype dtype, size_t rank, const int64_t *sizes, const double *values)
{
    cq_tensor *t, *x;

    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_F64, rank, sizes, values));
    CHECK_OK(cq_tensor_clone(&x, t, dtype));
    cq_tensor_release(t);
    return x;
}

static void check(const cq_tensor *t, const double *want, double tolerance)
{
    for (int64_t i = 0; i < cq_tensor_numel(t); i++) {
        double got = cq_tensor_get_f64(t, i);
        bool   ok  = got == want[i] || (isnan(got) && isnan(want[i])) ||
                  fabs(got - want[i]) <= tolerance * fabs(want[i]);

        if (!ok)
            print_error("element %d is %.17g, expected %.17g\n", (int)i, got, want[i]);
        CHECK(ok);
    }
}

TEST(reduce, rows_and_columns)
{
    static const double x[] = { 1, -2, 3, 0.5, 4, 0 };
    static const struct {
        cq_reduce_op op;
        double       param, by_row[2], by_column[3];
    } rows[] = {
        { CQ_REDUCE_SUM, 0, { 2, 4.5 }, { 1.5, 2, 3 } },
        { CQ_REDUCE_PROD, 0, { -6, 0 }, { 0.5, -8, 0 } },
        { CQ_REDUCE_MEAN, 0, { 0.66666666666666663, 1.5 }, { 0.75, 1, 1.5 } },
        { CQ_REDUCE_AMAX, 0, { 3, 4 }, { 1, 4, 3 } },
        { CQ_REDUCE_AMIN, 0, { -2, 0 }, { 0.5, -2, 0 } },
        { CQ_REDUCE_ANY, 0, { 1, 1 }, { 1, 1, 1 } },
        { CQ_REDUCE_ALL, 0, { 1, 0 }, { 1, 1, 0 } },
        { CQ_REDUCE_COUNT_NONZERO, 0, { 3, 2 }, { 2, 2, 1 } },
        { CQ_REDUCE_VAR, 1, { 6.333333333333333, 4.75 }, { 0.125, 18, 4.5 } },
        { CQ_REDUCE_VAR, 0, { 4.2222222222222223, 3.1666666666666665 }, { 0.0625, 9, 2.25 } },
        { CQ_REDUCE_STD,
          1,
          { 2.5166114784235831, 2.1794494717703369 },
          { 0.35355339059327379, 4.2426406871192848, 2.1213203435596424 } },
        { CQ_REDUCE_LOGSUMEXP,
          0,
          { 3.1328452337275756, 4.04737299122649 },
          { 1.4740769841801067, 4.0024756851377301, 3.0485873515737421 } },
        { CQ_REDUCE_NORM,
          2,
          { 3.7416573867739413, 4.0311288741492746 },
          { 1.1180339887498949, 4.4721359549995796, 3 } },
        { CQ_REDUCE_NORM, 1, { 6, 4.5 }, { 1.5, 6, 3 } },
        { CQ_REDUCE_NORM, 0, { 3, 2 }, { 2, 2, 1 } },
        { CQ_REDUCE_NORM, INFINITY, { 3, 4 }, { 1, 4, 3 } },
        { CQ_REDUCE_NORM, -INFINITY, { 1, 0 }, { 0.5, 2, 0 } },
        { CQ_REDUCE_NORM,
          3,
          { 3.3019272488946263, 4.002602473082917 },
          { 1.0400419115259521, 4.160167646103808, 3 } },
    };
    static const cq_dtype dtypes[] = { CQ_DTYPE_F64, CQ_DTYPE_F32 };

    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t d = 0; d < 2; d++) {
            cq_params  p = { .a = rows[r].param };
            cq_tensor *t = make(dtypes[d], 2, (int64_t[]){ 2, 3 }, x);
            cq_tensor *row, *column;

            CHECK_OK(cq_tensor_new(&row, dtypes[d], 1, (int64_t[]){ 2 }, NULL));
            CHECK_OK(cq_tensor_new(&column, dtypes[d], 2, (int64_t[]){ 1, 3 }, NULL));
            CHECK_OK(cq_kernel_reduce(row, rows[r].op, &p, t, 2));
            CHECK_OK(cq_kernel_reduce(column, rows[r].op, &p, t, 1));
            check(row, rows[r].by_row, d ? 2e-7 : 1e-14);
            check(column, rows[r].by_column, d ? 2e-7 : 1e-14);
            CHECK_STATUS(CQ_E_TYPE, cq_kernel_reduce(row, rows[r].op, &p, t, 1));
            cq_tensor_release(t);
            cq_tensor_release(row);
            cq_tensor_release(column);
        }
}

TEST(reduce, integers_are_exact_and_wrap)
{
    int64_t    values[] = { INT64_MAX, 1, (INT64_C(1) << 53) + 1, 3 };
    cq_tensor *x, *out;

    CHECK_OK(cq_tensor_new(&x, CQ_DTYPE_I64, 2, (int64_t[]){ 2, 2 }, values));
    CHECK_OK(cq_tensor_new(&out, CQ_DTYPE_I64, 1, (int64_t[]){ 2 }, NULL));
    CHECK_OK(cq_kernel_reduce(out, CQ_REDUCE_SUM, NULL, x, 2));
    CHECK_INT(INT64_MIN, cq_tensor_get_i64(out, 0));
    CHECK_INT((INT64_C(1) << 53) + 4, cq_tensor_get_i64(out, 1));
    CHECK_OK(cq_kernel_reduce(out, CQ_REDUCE_AMAX, NULL, x, 2));
    CHECK_INT((INT64_C(1) << 53) + 1, cq_tensor_get_i64(out, 1));
    cq_tensor_release(x);
    cq_tensor_release(out);
}

TEST(reduce, nothing_has_a_sum_but_no_maximum)
{
    cq_tensor *x = make(CQ_DTYPE_F32, 2, (int64_t[]){ 0, 2 }, NULL), *out;

    CHECK_OK(cq_tensor_new(&out, CQ_DTYPE_F32, 1, (int64_t[]){ 2 }, (float[]){ 9, 9 }));
    CHECK_OK(cq_kernel_reduce(out, CQ_REDUCE_SUM, NULL, x, 1));
    check(out, (double[]){ 0, 0 }, 0);
    CHECK_OK(cq_kernel_reduce(out, CQ_REDUCE_MEAN, NULL, x, 1));
    check(out, (double[]){ NAN, NAN }, 0);
    CHECK_STATUS(CQ_E_ARGUMENT, cq_kernel_reduce(out, CQ_REDUCE_AMAX, NULL, x, 1));
    CHECK_STATUS(CQ_E_ARGUMENT, cq_extreme_of(out, NULL, &(cq_extreme){ 0 }, x, 0));
    cq_tensor_release(x);
    cq_tensor_release(out);
}

/* Long enough for several chunks, in memory order and across it. */
TEST(reduce, long_runs_in_both_directions)
{
    int64_t    sizes[] = { 1300, 1100 };
    cq_tensor *x, *a, *b;

    CHECK_OK(cq_tensor_new(&x, CQ_DTYPE_F32, 2, sizes, NULL));
    for (int64_t i = 0; i < 1300 * 1100; i++)
        ((float *)cq_tensor_data(x))[i] = (float)(i % 1100 + i / 1100);
    CHECK_OK(cq_tensor_new(&a, CQ_DTYPE_F64, 1, &sizes[0], NULL));
    CHECK_OK(cq_tensor_new(&b, CQ_DTYPE_F64, 1, &sizes[1], NULL));
    CHECK_OK(cq_kernel_reduce(a, CQ_REDUCE_SUM, NULL, x, 2));
    CHECK_OK(cq_kernel_reduce(b, CQ_REDUCE_SUM, NULL, x, 1));
    for (int64_t i = 0; i < 1300; i++)
        CHECK(cq_tensor_get_f64(a, i) == (double)(1100 * 1099 / 2 + 1100 * i));
    for (int64_t i = 0; i < 1100; i++)
        CHECK(cq_tensor_get_f64(b, i) == (double)(1300 * 1299 / 2 + 1300 * i));
    cq_tensor_release(x);
    cq_tensor_release(a);
    cq_tensor_release(b);
}

TEST(reduce, extremes_are_the_first_and_nan_wins)
{
    static const double values[] = { 1, 3, 3, NAN, 5, NAN };
    cq_tensor          *x        = make(CQ_DTYPE_F32, 2, (int64_t[]){ 2, 3 }, values), *v, *p, *one;

    CHECK_OK(cq_tensor_new(&v, CQ_DTYPE_F32, 1, (int64_t[]){ 2 }, NULL));
    CHECK_OK(cq_tensor_new(&p, CQ_DTYPE_I64, 2, (int64_t[]){ 2, 1 }, NULL));
    CHECK_OK(cq_tensor_new(&one, CQ_DTYPE_I64, 0, NULL, NULL));
    CHECK_OK(cq_extreme_of(v, p, &(cq_extreme){ .least = false }, x, 1));
    check(v, (double[]){ 3, NAN }, 0);
    check(p, (double[]){ 1, 0 }, 0);
    CHECK_OK(cq_extreme_of(NULL, p, &(cq_extreme){ .last = true }, x, 1));
    CHECK_INT(2, cq_tensor_get_i64(p, 0));
    CHECK_OK(cq_extreme_of(NULL, one, &(cq_extreme){ .least = true }, x, -1));
    CHECK_INT(3, cq_tensor_get_i64(one, 0));
    cq_tensor_release(x);
    cq_tensor_release(v);
    cq_tensor_release(p);
    cq_tensor_release(one);
}

TEST(reduce, running_sums_and_extremes)
{
    static const double values[] = { 2, 1, 2, 3 };
    cq_tensor          *x        = make(CQ_DTYPE_I8, 1, (int64_t[]){ 4 }, values), *v, *p;

    CHECK_OK(cq_tensor_new(&v, CQ_DTYPE_I64, 1, (int64_t[]){ 4 }, NULL));
    CHECK_OK(cq_tensor_new(&p, CQ_DTYPE_I64, 1, (int64_t[]){ 4 }, NULL));
    CHECK_OK(cq_kernel_cumsum(v, x, 0, 0));
    check(v, (double[]){ 2, 3, 5, 8 }, 0);
    CHECK_OK(cq_kernel_cumsum(v, x, 0, CQ_SCAN_EXCLUSIVE | CQ_SCAN_REVERSE));
    check(v, (double[]){ 6, 5, 3, 0 }, 0);
    CHECK_OK(cq_kernel_cumprod(v, x, 0, 0));
    check(v, (double[]){ 2, 2, 4, 12 }, 0);
    CHECK_OK(cq_kernel_cummax(v, p, x, 0));
    check(v, (double[]){ 2, 2, 2, 3 }, 0);
    check(p, (double[]){ 0, 0, 2, 3 }, 0);
    cq_tensor_release(x);
    cq_tensor_release(v);
    cq_tensor_release(p);
}

TEST(reduce, softmax_along_either_dimension)
{
    static const double values[] = { 1, 2, 3, 1000, 1000, -INFINITY };
    cq_tensor          *x        = make(CQ_DTYPE_F32, 2, (int64_t[]){ 2, 3 }, values), *y;

    CHECK_OK(cq_tensor_new(&y, CQ_DTYPE_F32, 2, (int64_t[]){ 2, 3 }, NULL));
    CHECK_OK(cq_kernel_softmax(y, x, 1));
    check(y,
          (double[]){ 0.090030573308467865, 0.2447284609079361, 0.66524094343185425, 0.5, 0.5, 0 },
          2e-7);
    CHECK_OK(cq_kernel_log_softmax(y, x, 0));
    check(y, (double[]){ -999, -998, 0, 0, 0, -INFINITY }, 2e-7);
    CHECK_OK(cq_kernel_softmax(x, x, 0));
    check(x, (double[]){ 0, 0, 1, 1, 1, 0 }, 0);
    cq_tensor_release(x);
    cq_tensor_release(y);
}

TEST(reduce, softmax_of_rows_of_all_lengths)
{
    for (int64_t n = 1; n < 1100; n = n * 5 / 4 + 1) {
        cq_tensor *x, *y;
        double     sum = 0;

        CHECK_OK(cq_tensor_new(&x, CQ_DTYPE_F32, 2, (int64_t[]){ 1, n }, NULL));
        CHECK_OK(cq_tensor_new(&y, CQ_DTYPE_F32, 2, (int64_t[]){ 1, n }, NULL));
        for (int64_t i = 0; i < n; i++) {
            ((float *)cq_tensor_data(x))[i] = (float)(i * 7 % 31) / 8;
            sum += exp(cq_tensor_get_f64(x, i));
        }
        EACH_ISA
        {
            CHECK_OK(cq_kernel_softmax(y, x, 1));
            for (int64_t i = 0; i < n; i++) {
                double want = exp(cq_tensor_get_f64(x, i)) / sum;

                CHECK(fabs(cq_tensor_get_f64(y, i) - want) <= 1e-6 * want);
            }
            CHECK_OK(cq_kernel_log_softmax(y, x, 1));
            for (int64_t i = 0; i < n; i++) {
                double want = cq_tensor_get_f64(x, i) - log(sum);

                CHECK(fabs(cq_tensor_get_f64(y, i) - want) <= 1e-6 * (fabs(want) + 1));
            }
        }
        cq_tensor_release(x);
        cq_tensor_release(y);
    }
}

RUN_TESTS(TEST_OF(reduce, softmax_of_rows_of_all_lengths), TEST_OF(reduce, rows_and_columns),
          TEST_OF(reduce, integers_are_exact_and_wrap),
          TEST_OF(reduce, nothing_has_a_sum_but_no_maximum),
          TEST_OF(reduce, long_runs_in_both_directions),
          TEST_OF(reduce, extremes_are_the_first_and_nan_wins),
          TEST_OF(reduce, running_sums_and_extremes),
          TEST_OF(reduce, softmax_along_either_dimension))
