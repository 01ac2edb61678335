#include "tensor/convert.h"
#include "tensor/tensor.h"
#include "tensor/walk.h"

#include <math.h>

#include "test.h"

static cq_tensor *f64s(size_t rank, const int64_t *sizes, const double *values)
{
    cq_tensor *t;

    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_F64, rank, sizes, values));
    return t;
}

/* Eight bits and less hold only some numbers. */
static bool holds(int dtype, double x)
{
    switch (dtype) {
    case CQ_DTYPE_F8E8M0: return x == 1 || x == 2;
    case CQ_DTYPE_I2: return x < 2;
    default: return dtype <= CQ_DTYPE_U64 || x < 4;
    }
}

TEST(copy, every_dtype_keeps_small_numbers_through_every_other)
{
    static const double values[] = { 0, 1, 2, 3, 100, 127 };

    for (int a = 1; a < CQ_DTYPE_COUNT; a++)
        for (int b = 1; b < CQ_DTYPE_COUNT; b++) {
            cq_tensor *t = f64s(2, (int64_t[]){ 2, 3 }, values), *x, *y;

            CHECK_OK(cq_tensor_clone(&x, t, (cq_dtype)a));
            CHECK_OK(cq_tensor_clone(&y, x, (cq_dtype)b));
            for (int i = 0; i < 6; i++) {
                bool   is_bool = a == CQ_DTYPE_BOOL || b == CQ_DTYPE_BOOL;
                double want    = is_bool ? values[i] != 0 : values[i];

                if (!holds(a, values[i]) || !holds(b, want))
                    continue;
                CHECK(cq_tensor_get_f64(y, i) == want);
                CHECK_INT((int64_t)want, cq_tensor_get_i64(y, i));
            }
            cq_tensor_release(t);
            cq_tensor_release(x);
            cq_tensor_release(y);
        }
}

TEST(copy, conversions_of_odd_values_are_defined)
{
    static const struct {
        double   from;
        cq_dtype to;
        int64_t  want;
    } rows[] = {
        { -1.9, CQ_DTYPE_I64, -1 },
        { 1e300, CQ_DTYPE_I64, INT64_MIN },
        { NAN, CQ_DTYPE_I64, INT64_MIN },
        { 3e9, CQ_DTYPE_I32, INT32_MIN },
        { -2147483648.5, CQ_DTYPE_I32, INT32_MIN },
        { 300, CQ_DTYPE_U8, 44 },
        { -1, CQ_DTYPE_U8, 255 },
        { 200, CQ_DTYPE_I8, -56 },
        { NAN, CQ_DTYPE_BOOL, 1 },
        { 0.25, CQ_DTYPE_BOOL, 1 },
        { -0.0, CQ_DTYPE_BOOL, 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cq_tensor *t = f64s(0, NULL, &rows[i].from), *x;

        CHECK_OK(cq_tensor_clone(&x, t, rows[i].to));
        CHECK_INT(rows[i].want, cq_tensor_get_i64(x, 0));
        cq_tensor_release(t);
        cq_tensor_release(x);
    }
}

TEST(copy, large_integers_become_floats_in_one_rounding)
{
    int64_t    value = 0x1000001000000001; /* conversion to double first would round it to a tie */
    cq_tensor *t, *x;

    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_I64, 0, NULL, &value));
    CHECK_OK(cq_tensor_clone(&x, t, CQ_DTYPE_F32));
    CHECK(cq_tensor_get_f64(x, 0) == (double)(float)value);
    cq_tensor_release(t);
    cq_tensor_release(x);
}

TEST(copy, complex_numbers_keep_both_parts_or_give_the_real_one)
{
    static const float values[] = { 1, 2, 0, 3 };
    cq_tensor         *c, *wide, *real, *truth;

    CHECK_OK(cq_tensor_new(&c, CQ_DTYPE_C64, 1, (int64_t[]){ 2 }, values));
    CHECK_OK(cq_tensor_clone(&wide, c, CQ_DTYPE_C128));
    CHECK_OK(cq_tensor_clone(&real, c, CQ_DTYPE_F32));
    CHECK_OK(cq_tensor_clone(&truth, c, CQ_DTYPE_BOOL));
    CHECK(((double *)cq_tensor_data(wide))[3] == 3);
    CHECK(cq_tensor_get_f64(real, 0) == 1 && cq_tensor_get_f64(real, 1) == 0);
    CHECK_INT(1, cq_tensor_get_i64(truth, 1));
    cq_tensor_release(c);
    cq_tensor_release(wide);
    cq_tensor_release(real);
    cq_tensor_release(truth);
}

/* Every permutation of three dimensions against element-wise reading. */
TEST(copy, permuted_tensors_become_contiguous)
{
    static const int      orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                          { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    static const cq_dtype dtypes[]    = { CQ_DTYPE_U8, CQ_DTYPE_I16, CQ_DTYPE_F32, CQ_DTYPE_I64,
                                          CQ_DTYPE_C128 };

    for (size_t o = 0; o < 6; o++)
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
            cq_tensor *t, *numbers, *view, *copy;
            cq_int     sizes[3];
            int64_t    strides[3], k = 0;

            CHECK_OK(cq_tensor_new(&numbers, CQ_DTYPE_I64, 3, (int64_t[]){ 3, 37, 70 }, NULL));
            for (int64_t i = 0; i < 3 * 37 * 70; i++)
                ((int64_t *)cq_tensor_data(numbers))[i] = i % 101;
            CHECK_OK(cq_tensor_clone(&t, numbers, dtypes[d]));
            for (int i = 0; i < 3; i++) {
                sizes[i]   = t->sizes[orders[o][i]];
                strides[i] = t->strides[orders[o][i]];
            }
            CHECK_OK(cq_tensor_new_view(&view, t, t->dtype, 3, sizes, strides, 0));
            CHECK_OK(cq_tensor_contiguous(&copy, view));
            CHECK(cq_tensor_is_contiguous(copy));
            for (int64_t a = 0; a < sizes[0].value; a++)
                for (int64_t b = 0; b < sizes[1].value; b++)
                    for (int64_t c = 0; c < sizes[2].value; c++)
                        CHECK_INT((a * strides[0] + b * strides[1] + c * strides[2]) % 101,
                                  cq_tensor_get_i64(copy, k++));
            cq_tensor_release(numbers);
            cq_tensor_release(t);
            cq_tensor_release(view);
            cq_tensor_release(copy);
        }
}

TEST(copy, empty_and_mismatched_tensors)
{
    cq_tensor *a = f64s(2, (int64_t[]){ 0, 3 }, NULL), *b = f64s(1, (int64_t[]){ 3 }, NULL), *c;

    CHECK_OK(cq_tensor_clone(&c, a, CQ_DTYPE_F32));
    CHECK_INT(0, cq_tensor_numel(c));
    CHECK_STATUS(CQ_E_TYPE, cq_tensor_copy_into(a, b));
    CHECK(cq_tensor_get_f64(b, 3) == 0); /* past the end */
    cq_tensor_release(a);
    cq_tensor_release(b);
    cq_tensor_release(c);
}

TEST(copy, unaligned_data_is_fine)
{
    static const char bytes[] = { 9, 1, 0, 0, 0, 2, 0, 0, 0 };
    cq_tensor        *t, *copy, *wide;

    CHECK_OK(cq_tensor_wrap(&t, CQ_DTYPE_I32, 1, (int64_t[]){ 2 }, (char *)bytes + 1, NULL, NULL));
    CHECK_OK(cq_tensor_clone(&copy, t, CQ_DTYPE_NONE));
    CHECK_OK(cq_tensor_clone(&wide, t, CQ_DTYPE_F64));
    CHECK_INT(2, cq_tensor_get_i64(copy, 1));
    CHECK_INT(2, cq_tensor_get_i64(wide, 1));
    cq_tensor_release(t);
    cq_tensor_release(copy);
    cq_tensor_release(wide);
}

TEST(copy, many_numbers_equal_single_draws)
{
    static const int orders[][3] = { { 0, 1, 2 }, { 2, 0, 1 } };

    for (size_t o = 0; o < 2; o++) {
        cq_tensor *t, *view;
        cq_int     sizes[3];
        int64_t    strides[3];
        double     run[24];

        CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_I32, 3, (int64_t[]){ 2, 3, 4 }, NULL));
        for (int32_t i = 0; i < 24; i++)
            ((int32_t *)cq_tensor_data(t))[i] = i;
        for (int i = 0; i < 3; i++) {
            sizes[i]   = t->sizes[orders[o][i]];
            strides[i] = t->strides[orders[o][i]];
        }
        CHECK_OK(cq_tensor_new_view(&view, t, t->dtype, 3, sizes, strides, 0));
        for (int64_t from = 0; from < 24; from++) {
            cq_tensor_get_f64_run(run, view, from, 24 - from);
            for (int64_t i = from; i < 24; i++)
                CHECK(run[i - from] == cq_tensor_get_f64(view, i));
        }
        cq_tensor_release(view);
        cq_tensor_release(t);
    }
}

RUN_TESTS(TEST_OF(copy, every_dtype_keeps_small_numbers_through_every_other),
          TEST_OF(copy, conversions_of_odd_values_are_defined),
          TEST_OF(copy, large_integers_become_floats_in_one_rounding),
          TEST_OF(copy, complex_numbers_keep_both_parts_or_give_the_real_one),
          TEST_OF(copy, permuted_tensors_become_contiguous),
          TEST_OF(copy, many_numbers_equal_single_draws),
          TEST_OF(copy, empty_and_mismatched_tensors), TEST_OF(copy, unaligned_data_is_fine))
