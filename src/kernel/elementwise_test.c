/* Wanted values are PyTorch 1.13's. */
#include "kernel/elementwise.h"

#include <math.h>

#include "isas.h"
#include "test.h"

static cq_tensor *numbers(cq_dtype dtype, int64_t n, const double *values)
{
    cq_tensor *t, *x;

    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_F64, 1, &n, values));
    CHECK_OK(cq_tensor_clone(&x, t, dtype));
    cq_tensor_release(t);
    return x;
}

static bool close_to(double want, double got, double tolerance)
{
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got);
    if (want == 0 && got == 0)
        return signbit(want) == signbit(got);
    return want == got || fabs(want - got) <= tolerance * fabs(want);
}

static void check(const char *what, const cq_tensor *t, const double *want, double tolerance)
{
    for (int64_t i = 0; i < cq_tensor_numel(t); i++) {
        double got = cq_tensor_get_f64(t, i);

        if (!close_to(want[i], got, tolerance)) {
            print_error("%s: element %d is %.17g, expected %.17g\n", what, (int)i, got, want[i]);
            fail();
        }
    }
}

static double tolerance_of(cq_dtype d)
{
    return d == CQ_DTYPE_F64 ? 1e-14 : d == CQ_DTYPE_F32 ? 3e-7 : d == CQ_DTYPE_F16 ? 1e-3 : 8e-3;
}

#define INF INFINITY

TEST(elementwise, unary_operations_on_real_numbers)
{
    static const double x[] = { 0.5, -0.5, 2.5, -0.0, INF, NAN };
    static const struct {
        cq_ew_op  op;
        cq_params p;
        double    want[6];
    } rows[] = {
        { CQ_EW_NEG, { .a = 1 }, { -0.5, 0.5, -2.5, 0, -INF, NAN } },
        { CQ_EW_SQRT,
          { .a = 1 },
          { 0.70710678118654757, NAN, 1.5811388300841898, -0.0, INF, NAN } },
        { CQ_EW_RSQRT, { .a = 1 }, { 1.4142135623730949, NAN, 0.63245553203367588, -INF, 0, NAN } },
        { CQ_EW_EXP,
          { .a = 1 },
          { 1.6487212707001282, 0.60653065971263342, 12.182493960703473, 1, INF, NAN } },
        { CQ_EW_LOG,
          { .a = 1 },
          { -0.69314718055994529, NAN, 0.91629073187415511, -INF, INF, NAN } },
        { CQ_EW_TANH,
          { .a = 1 },
          { 0.46211715726000979, -0.46211715726000979, 0.98661429815143031, -0.0, 1, NAN } },
        { CQ_EW_SIGMOID,
          { .a = 1 },
          { 0.62245933120185459, 0.37754066879814546, 0.92414181997875655, 0.5, 1, NAN } },
        { CQ_EW_ERF,
          { .a = 1 },
          { 0.52049987781304652, -0.52049987781304652, 0.99959304798255499, -0.0, 1, NAN } },
        { CQ_EW_ROUND, { .a = 1 }, { 0, -0.0, 2, -0.0, INF, NAN } },
        { CQ_EW_SIGN, { .a = 1 }, { 1, -1, 1, 0, 1, 0 } },
        { CQ_EW_RELU, { .a = 1 }, { 0.5, 0, 2.5, -0.0, INF, NAN } },
        { CQ_EW_ISFINITE, { .a = 1 }, { 1, 1, 1, 1, 0, 0 } },
        { CQ_EW_LGAMMA,
          { .a = 1 },
          { 0.5723649429247001, 1.2655121234846454, 0.28468287047291918, INF, INF, NAN } },
        { CQ_EW_DIGAMMA,
          { .a = 1 },
          { -1.9635100260214235, 0.036489973978576521, 0.7031566406452432, INF, INF, NAN } },
        { CQ_EW_ERFINV,
          { .a = 1 },
          { 0.47693627620446982, -0.47693627620446982, NAN, -0.0, NAN, NAN } },
        { CQ_EW_LEAKY_RELU, { .a = 0.1 }, { 0.5, -0.05, 2.5, -0.0, INF, NAN } },
        { CQ_EW_GELU,
          { .a = 1 },
          { 0.34573123063700656, -0.15426876936299344, 2.4844758366855597, -0.0, INF, NAN } },
        { CQ_EW_SILU,
          { .a = 1 },
          { 0.3112296656009273, -0.18877033439907273, 2.3103545499468914, -0.0, INF, NAN } },
        { CQ_EW_CLAMP, { .a = -0.25, .b = 1 }, { 0.5, -0.25, 1, -0.0, 1, NAN } },
        { CQ_EW_HARDSHRINK, { .a = 0.5 }, { 0, 0, 2.5, 0, INF, NAN } },
        { CQ_EW_SOFTSHRINK, { .a = 0.5 }, { 0, 0, 2, 0, INF, 0 } },
        { CQ_EW_NAN_TO_NUM, { .a = 1, .b = 2, .c = 3 }, { 0.5, -0.5, 2.5, -0.0, 2, 1 } },
    };
    static const cq_dtype dtypes[] = { CQ_DTYPE_F64, CQ_DTYPE_F32, CQ_DTYPE_F16, CQ_DTYPE_BF16 };

    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t d = 0; d < 4; d++) {
            cq_tensor *a = numbers(dtypes[d], 6, x);
            cq_tensor *y = numbers(rows[r].op == CQ_EW_ISFINITE ? CQ_DTYPE_BOOL : dtypes[d], 6, x);

            CHECK_OK(cq_apply1(y, rows[r].op, &rows[r].p, CQ_DTYPE_NONE, a));
            check(cq_ew_name(rows[r].op), y, rows[r].want, tolerance_of(dtypes[d]));
            cq_tensor_release(a);
            cq_tensor_release(y);
        }
}

TEST(elementwise, binary_operations_on_real_numbers)
{
    static const double x[] = { 7, -7, 7, -7, 1, 0, NAN, INF };
    static const double y[] = { 3, 3, -3, -3, 0, 0, 1, -2 };
    static const struct {
        cq_ew_op op;
        double   want[8];
    } rows[] = {
        { CQ_EW_ADD, { 10, -4, 4, -10, 1, 0, NAN, INF } },
        { CQ_EW_DIV_FLOOR, { 2, -3, -3, 2, INF, NAN, NAN, NAN } },
        { CQ_EW_DIV_TRUNC, { 2, -2, -2, 2, INF, NAN, NAN, -INF } },
        { CQ_EW_REMAINDER, { 1, 2, -2, -1, NAN, NAN, NAN, NAN } },
        { CQ_EW_FMOD, { 1, -1, 1, -1, NAN, NAN, NAN, NAN } },
        { CQ_EW_POW, { 343, -343, 0.0029154518950437317, -0.0029154518950437317, 1, 1, NAN, 0 } },
        { CQ_EW_MAXIMUM, { 7, 3, 7, -3, 1, 0, NAN, INF } },
        { CQ_EW_FMAX, { 7, 3, 7, -3, 1, 0, 1, INF } },
        { CQ_EW_NE, { 1, 1, 1, 1, 1, 0, 1, 1 } },
        { CQ_EW_LOGICAL_AND, { 1, 1, 1, 1, 0, 0, 1, 1 } },
    };

    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        cq_tensor *a = numbers(CQ_DTYPE_F32, 8, x), *b = numbers(CQ_DTYPE_F64, 8, y);

        CHECK_OK(cq_apply2(b, rows[r].op, NULL, CQ_DTYPE_NONE, a, b)); /* into an operand */
        check(cq_ew_name(rows[r].op), b, rows[r].want, 1e-14);
        cq_tensor_release(a);
        cq_tensor_release(b);
    }
}

TEST(elementwise, integers_wrap_and_round_like_their_dtype)
{
    static const struct {
        cq_ew_op op;
        cq_dtype dtype;
        int64_t  x, y, want;
    } rows[] = {
        { CQ_EW_ADD, CQ_DTYPE_I8, 100, 100, -56 },
        { CQ_EW_ADD, CQ_DTYPE_I64, INT64_MAX, 1, INT64_MIN },
        { CQ_EW_SUB, CQ_DTYPE_U8, 1, 2, 255 },
        { CQ_EW_MUL, CQ_DTYPE_I32, 65536, 65536, 0 },
        { CQ_EW_DIV_FLOOR, CQ_DTYPE_I32, -7, 2, -4 },
        { CQ_EW_DIV_TRUNC, CQ_DTYPE_I32, -7, 2, -3 },
        { CQ_EW_DIV_FLOOR, CQ_DTYPE_I64, INT64_MIN, -1, INT64_MIN },
        { CQ_EW_REMAINDER, CQ_DTYPE_I64, INT64_MIN, -1, 0 },
        { CQ_EW_REMAINDER, CQ_DTYPE_I16, -7, 2, 1 },
        { CQ_EW_FMOD, CQ_DTYPE_I16, -7, 2, -1 },
        { CQ_EW_POW, CQ_DTYPE_I64, 3, 4, 81 },
        { CQ_EW_POW, CQ_DTYPE_I64, 2, -1, 0 },
        { CQ_EW_POW, CQ_DTYPE_I64, -1, -3, -1 },
        { CQ_EW_SHIFT_LEFT, CQ_DTYPE_I64, 1, 64, 0 },
        { CQ_EW_SHIFT_LEFT, CQ_DTYPE_U8, 255, 4, 240 },
        { CQ_EW_SHIFT_RIGHT, CQ_DTYPE_I32, -8, 2, -2 },
        { CQ_EW_SHIFT_RIGHT, CQ_DTYPE_I64, -8, 200, -1 },
        { CQ_EW_SHIFT_LEFT, CQ_DTYPE_I64, INT64_MIN, 1, 0 },
        { CQ_EW_BITWISE_XOR, CQ_DTYPE_BOOL, 1, 1, 0 },
        { CQ_EW_ADD, CQ_DTYPE_BOOL, 1, 1, 1 },
        { CQ_EW_MAXIMUM, CQ_DTYPE_U64, -1, 1, -1 }, /* 2^64 - 1 is the greater */
        { CQ_EW_DIV, CQ_DTYPE_U64, -1, 2, INT64_MAX },
    };

    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        cq_tensor *x, *y, *z;

        CHECK_OK(cq_tensor_new(&z, rows[r].dtype, 0, NULL, NULL));
        CHECK_OK(cq_tensor_new(&x, rows[r].dtype, 0, NULL, NULL));
        CHECK_OK(cq_tensor_new(&y, rows[r].dtype, 0, NULL, NULL));
        CHECK_OK(cq_kernel_fill_i64(x, rows[r].x));
        CHECK_OK(cq_kernel_fill_i64(y, rows[r].y));
        CHECK_OK(cq_apply2(z, rows[r].op, NULL, CQ_DTYPE_NONE, x, y));
        if (cq_tensor_get_i64(z, 0) != rows[r].want)
            print_error("row %d, %s\n", (int)r, cq_ew_name(rows[r].op));
        CHECK_INT(rows[r].want, cq_tensor_get_i64(z, 0));
        cq_tensor_release(x);
        cq_tensor_release(y);
        cq_tensor_release(z);
    }
}

TEST(elementwise, integer_division_by_zero_is_refused)
{
    static const cq_ew_op ops[] = { CQ_EW_DIV, CQ_EW_DIV_FLOOR, CQ_EW_DIV_TRUNC, CQ_EW_REMAINDER,
                                    CQ_EW_FMOD };
    cq_tensor            *x     = numbers(CQ_DTYPE_I32, 3, (double[]){ 1, 2, 3 });
    cq_tensor            *y     = numbers(CQ_DTYPE_I32, 3, (double[]){ 1, 0, 3 });

    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        CHECK_STATUS(CQ_E_ARGUMENT, cq_apply2(x, ops[i], NULL, CQ_DTYPE_NONE, x, y));
        CHECK_STR("integer division by zero", cq_last_error()->message);
    }
    CHECK_STATUS(CQ_E_TYPE, cq_apply1(x, CQ_EW_SQRT, NULL, CQ_DTYPE_NONE, x));
    cq_tensor_release(x);
    cq_tensor_release(y);
}

TEST(elementwise, operands_are_broadcast_and_may_be_strided)
{
    int64_t    sizes[] = { 3, 1500 }, column[] = { 3, 1 };
    cq_tensor *x, *y, *out, *view;

    CHECK_OK(cq_tensor_new(&x, CQ_DTYPE_I16, 2, sizes, NULL));
    CHECK_OK(cq_tensor_new(&y, CQ_DTYPE_F32, 2, column, (float[]){ 1, 2, 3 }));
    CHECK_OK(cq_tensor_new(&out, CQ_DTYPE_F64, 2, (int64_t[]){ 1500, 6 }, NULL));
    for (int i = 0; i < 4500; i++)
        ((int16_t *)cq_tensor_data(x))[i] = (int16_t)i;
    CHECK_OK(cq_tensor_new_view(&view, out, CQ_DTYPE_F64, 2, x->sizes, (int64_t[]){ 2, 6 }, 1));
    CHECK_OK(cq_apply2(view, CQ_EW_SUB, &(cq_params){ .a = 10 }, CQ_DTYPE_NONE, x, y));
    for (int i = 0; i < 4500; i++)
        CHECK(cq_tensor_get_f64(view, i) == i - 10 * (i / 1500 + 1));
    CHECK(cq_tensor_get_f64(out, 0) == 0 && cq_tensor_get_f64(out, 2) == 0);
    CHECK_STATUS(CQ_E_TYPE, cq_apply2(y, CQ_EW_ADD, NULL, CQ_DTYPE_NONE, x, y));
    cq_tensor_release(x);
    cq_tensor_release(y);
    cq_tensor_release(out);
    cq_tensor_release(view);
}

TEST(elementwise, where_takes_its_condition_from_a_bool)
{
    cq_tensor *c = numbers(CQ_DTYPE_BOOL, 3, (double[]){ 1, 0, 1 });
    cq_tensor *x = numbers(CQ_DTYPE_I64, 3, (double[]){ 1, 2, 3 }), *minus;

    CHECK_OK(cq_tensor_new(&minus, CQ_DTYPE_I64, 0, NULL, (int64_t[]){ INT64_MIN }));
    CHECK_OK(cq_apply3(x, CQ_EW_WHERE, NULL, CQ_DTYPE_I64, c, x, minus));
    CHECK_INT(1, cq_tensor_get_i64(x, 0));
    CHECK_INT(INT64_MIN, cq_tensor_get_i64(x, 1));
    cq_tensor_release(c);
    cq_tensor_release(x);
    cq_tensor_release(minus);
}

TEST(elementwise, ranges_and_triangles)
{
    cq_tensor *r = numbers(CQ_DTYPE_F32, 5, (double[5]){ 0 }), *m;

    CHECK_OK(cq_kernel_linspace(r, 0, 1));
    check("linspace", r, (double[]){ 0, 0.25, 0.5, 0.75, 1 }, 0);
    CHECK_OK(cq_kernel_arange_f64(r, 1, -0.5));
    check("arange", r, (double[]){ 1, 0.5, 0, -0.5, -1 }, 0);
    CHECK_OK(cq_tensor_new(&m, CQ_DTYPE_U8, 2, (int64_t[]){ 2, 3 }, "\1\2\3\4\5\6"));
    CHECK_OK(cq_kernel_triu(m, m, 1));
    check("triu", m, (double[]){ 0, 2, 3, 0, 0, 6 }, 0);
    CHECK_OK(cq_kernel_tril(m, m, INT64_MIN));
    check("tril", m, (double[]){ 0, 0, 0, 0, 0, 0 }, 0);
    CHECK_OK(cq_kernel_eye(m));
    check("eye", m, (double[]){ 1, 0, 0, 0, 1, 0 }, 0);
    cq_tensor_release(r);
    cq_tensor_release(m);
}

TEST(elementwise, every_instruction_set_gives_the_same_bits)
{
    static const cq_ew_op ops[] = { CQ_EW_EXP,  CQ_EW_TANH, CQ_EW_SIGMOID,  CQ_EW_ERF,
                                    CQ_EW_GELU, CQ_EW_SILU, CQ_EW_HARDSWISH };
    float                 x[259], first[259];

    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        bool is_first = true;

        EACH_ISA
        {
            for (int i = 0; i < 259; i++)
                x[i] = (float)(i - 129) / 9;
            cq_apply1_f32(x, 259, ops[k], &(cq_params){ .a = 1 });
            if (is_first)
                memcpy(first, x, sizeof x);
            is_first = false;
            CHECK(memcmp(first, x, sizeof x) == 0);
        }
    }
}

TEST(elementwise, every_operation_is_found_by_its_name)
{
    for (int i = 0; i < CQ_EW_COUNT; i++)
        CHECK_INT(i, cq_ew_find(cq_ew_name((cq_ew_op)i)));
    CHECK_INT(CQ_EW_COUNT, cq_ew_find("nothing"));
}

TEST(elementwise, a_large_tensor_is_filled_when_it_is_read)
{
    const int64_t   sizes[] = { 100, 100 }, few[] = { 3 };
    const double    value = 2.5;
    cq_tensor      *x, *small, *view;
    unsigned char   part[6];
    cq_int          row[]  = { cq_i(100) };
    const int64_t   step[] = { 1 };
    const cq_maker *maker;

    CHECK_OK(cq_tensor_new_uninit(&x, CQ_DTYPE_F32, 2, sizes));
    CHECK_OK(cq_tensor_new_uninit(&small, CQ_DTYPE_F32, 1, few));
    CHECK_OK(cq_tensor_new_view(&view, x, CQ_DTYPE_F32, 1, row, step, 100));
    CHECK(!cq_kernel_fill_later(small, CQ_DTYPE_F64, &value)); /* too small */
    CHECK(!cq_kernel_fill_later(view, CQ_DTYPE_F64, &value));  /* not all of its storage */
    CHECK(cq_kernel_fill_later(x, CQ_DTYPE_F64, &value));
    maker = &x->storage->maker;
    maker->make(maker->user, part, 7, sizeof part); /* 2.5f is 00 00 20 40 */
    CHECK(memcmp(part, "\x40\0\0\x20\x40\0", sizeof part) == 0);
    CHECK(((const float *)cq_tensor_bytes(view))[3] == 2.5f);
    CHECK(((const float *)cq_tensor_bytes(x))[0] == 2.5f);
    CHECK(((const float *)cq_tensor_bytes(x))[9999] == 2.5f);
    cq_tensor_release(x);
    cq_tensor_release(small);
    cq_tensor_release(view);
}

RUN_TESTS(TEST_OF(elementwise, unary_operations_on_real_numbers),
          TEST_OF(elementwise, binary_operations_on_real_numbers),
          TEST_OF(elementwise, integers_wrap_and_round_like_their_dtype),
          TEST_OF(elementwise, integer_division_by_zero_is_refused),
          TEST_OF(elementwise, operands_are_broadcast_and_may_be_strided),
          TEST_OF(elementwise, where_takes_its_condition_from_a_bool),
          TEST_OF(elementwise, ranges_and_triangles),
          TEST_OF(elementwise, every_instruction_set_gives_the_same_bits),
          TEST_OF(elementwise, every_operation_is_found_by_its_name),
          TEST_OF(elementwise, a_large_tensor_is_filled_when_it_is_read))
