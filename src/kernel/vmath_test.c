/* exp, tanh and erf of kernel/wide/vmath.h, as operations of every instruction set. */
#include "kernel/elementwise.h"

#include "isas.h"
#include "test.h"

#include <math.h>
#include <string.h>

/* The distance of got from want in units of want's last place as a float. */
static double units(float got, double want)
{
    float near = (float)want;

    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (isinf(near) || isinf(got))
        return near == got || fabsf(near) >= 0x1.fffffcp127f ? 0 : INFINITY;
    return fabs((double)got - want) / (double)(fabsf(near) - nextafterf(fabsf(near), -1));
}

static float of_bits(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float    x;

    memcpy(&x, &low, sizeof x);
    return x;
}

enum { N = 1000, STEP = 10007 };

TEST(vmath, errors_stay_below_two_units)
{
    static const struct {
        cq_ew_op op;
        double (*exact)(double);
        double limit;
    } rows[] = { { CQ_EW_EXP, exp, 1.0 }, { CQ_EW_TANH, tanh, 1.4 }, { CQ_EW_ERF, erf, 1.7 } };

    EACH_ISA
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (uint64_t first = 0; first < UINT64_C(1) << 32; first += N * STEP) {
            float y[N];

            for (int i = 0; i < N; i++)
                y[i] = of_bits(first + (uint64_t)i * STEP);
            cq_apply1_f32(y, N, rows[r].op, &(cq_params){ 0 });
            for (int i = 0; i < N; i++) {
                float  x     = of_bits(first + (uint64_t)i * STEP);
                double error = units(y[i], rows[r].exact((double)x));

                if (error > rows[r].limit)
                    print_error("%s(%a) is off by %g\n", cq_ew_name(rows[r].op), (double)x, error);
                CHECK(error <= rows[r].limit);
            }
        }
}

static float one(cq_ew_op op, float x)
{
    cq_apply1_f32(&x, 1, op, &(cq_params){ 0 });
    return x;
}

TEST(vmath, edges)
{
    EACH_ISA
    {
        CHECK(one(CQ_EW_EXP, INFINITY) == INFINITY && one(CQ_EW_EXP, -INFINITY) == 0);
        CHECK(one(CQ_EW_EXP, 0) == 1 && one(CQ_EW_EXP, 88.7f) < INFINITY);
        CHECK(one(CQ_EW_EXP, 88.8f) == INFINITY && isnan(one(CQ_EW_EXP, NAN)));
        CHECK(one(CQ_EW_EXP, -103.0f) > 0 && one(CQ_EW_EXP, -105.0f) == 0);
        for (int i = 0; i < 2; i++) {
            cq_ew_op op = i ? CQ_EW_TANH : CQ_EW_ERF;

            CHECK(one(op, INFINITY) == 1 && one(op, -INFINITY) == -1);
            CHECK(one(op, -0.0f) == 0 && signbit(one(op, -0.0f)) && isnan(one(op, NAN)));
        }
    }
}

RUN_TESTS(TEST_OF(vmath, errors_stay_below_two_units), TEST_OF(vmath, edges))
