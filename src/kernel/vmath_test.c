#include "kernel/vmath.h"

#include "test.h"

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

TEST(vmath, errors_stay_below_two_units)
{
    static const struct {
        const char *name;
        float (*fast)(float);
        double (*exact)(double);
        double limit;
    } rows[] = { { "exp", cq_expf, exp, 1.0 },
                 { "tanh", cq_tanhf, tanh, 1.4 },
                 { "erf", cq_erff, erf, 1.7 } };

    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += 10007) {
            float  x     = cq_float_of_bits((uint32_t)bits);
            double error = units(rows[r].fast(x), rows[r].exact((double)x));

            if (error > rows[r].limit)
                print_error("%s(%a) is off by %g\n", rows[r].name, (double)x, error);
            CHECK(error <= rows[r].limit);
        }
}

TEST(vmath, edges)
{
    CHECK(cq_expf(INFINITY) == INFINITY && cq_expf(-INFINITY) == 0 && cq_expf(0) == 1);
    CHECK(cq_expf(88.7f) < INFINITY && cq_expf(88.8f) == INFINITY);
    CHECK(cq_expf(-103.0f) > 0 && cq_expf(-105.0f) == 0);
    CHECK(cq_tanhf(INFINITY) == 1 && cq_tanhf(-INFINITY) == -1 && signbit(cq_tanhf(-0.0f)));
    CHECK(cq_erff(INFINITY) == 1 && cq_erff(-INFINITY) == -1 && signbit(cq_erff(-0.0f)));
    CHECK(isnan(cq_expf(NAN)) && isnan(cq_tanhf(NAN)) && isnan(cq_erff(NAN)));
}

RUN_TESTS(TEST_OF(vmath, errors_stay_below_two_units), TEST_OF(vmath, edges))
