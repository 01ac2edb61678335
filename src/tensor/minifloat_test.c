#include "tensor/minifloat.h"

#include "test.h"

#include <math.h>

static const cq_dtype all[] = { CQ_DTYPE_F8E4M3FN,   CQ_DTYPE_F8E4M3FNUZ, CQ_DTYPE_F8E5M2,
                                CQ_DTYPE_F8E5M2FNUZ, CQ_DTYPE_F4E2M1,     CQ_DTYPE_F8E8M0 };

TEST(minifloat, every_code_is_a_number_that_gives_it_back)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int code = 0; code < (all[i] == CQ_DTYPE_F4E2M1 ? 16 : 256); code++) {
            float x = cq_minifloat_to_f32(all[i], (uint8_t)code);

            if (!isnan(x))
                CHECK_INT(code, cq_f64_to_minifloat(all[i], (double)x, false));
        }
}

TEST(minifloat, numbers_of_the_formats)
{
    CHECK(cq_minifloat_to_f32(CQ_DTYPE_F8E4M3FN, 0x7e) == 448);
    CHECK(cq_minifloat_to_f32(CQ_DTYPE_F8E4M3FN, 0x01) == 0x1p-9f);
    CHECK(cq_minifloat_to_f32(CQ_DTYPE_F8E4M3FNUZ, 0x7f) == 240);
    CHECK(cq_minifloat_to_f32(CQ_DTYPE_F8E5M2, 0x7b) == 57344);
    CHECK(isinf(cq_minifloat_to_f32(CQ_DTYPE_F8E5M2, 0xfc)));
    CHECK(cq_minifloat_to_f32(CQ_DTYPE_F8E5M2FNUZ, 0x01) == 0x1p-17f);
    CHECK(isnan(cq_minifloat_to_f32(CQ_DTYPE_F8E5M2FNUZ, 0x80)));
    CHECK(cq_minifloat_to_f32(CQ_DTYPE_F4E2M1, 0xf) == -6);
}

TEST(minifloat, halves_go_to_the_even_neighbour)
{
    CHECK_INT(0, cq_f64_to_minifloat(CQ_DTYPE_F4E2M1, 0.25, true));
    CHECK_INT(2, cq_f64_to_minifloat(CQ_DTYPE_F4E2M1, 0.75, true)); /* 1, not 0.5 */
    CHECK_INT(6, cq_f64_to_minifloat(CQ_DTYPE_F4E2M1, 3.5, true));  /* 4, not 3 */
    CHECK_INT(0x7e, cq_f64_to_minifloat(CQ_DTYPE_F8E4M3FN, 464, false));
    CHECK_INT(0x7f, cq_f64_to_minifloat(CQ_DTYPE_F8E4M3FN, 465, false));
    /* Once, from double: in float32 this would be the half, and go down. */
    CHECK_INT(1, cq_f64_to_minifloat(CQ_DTYPE_F4E2M1, 0.25 + 0x1p-40, true));
}

TEST(minifloat, oversized_values_saturate_or_become_infinite)
{
    CHECK_INT(0x7e, cq_f64_to_minifloat(CQ_DTYPE_F8E4M3FN, INFINITY, true));
    CHECK_INT(0xff, cq_f64_to_minifloat(CQ_DTYPE_F8E4M3FN, -1e9, false));
    CHECK_INT(0x80, cq_f64_to_minifloat(CQ_DTYPE_F8E4M3FNUZ, 1e9, false));
    CHECK_INT(0xfc, cq_f64_to_minifloat(CQ_DTYPE_F8E5M2, -1e9, false));
    CHECK_INT(0xfb, cq_f64_to_minifloat(CQ_DTYPE_F8E5M2, -1e9, true));
    CHECK_INT(0x7, cq_f64_to_minifloat(CQ_DTYPE_F4E2M1, (double)NAN, true));
}

TEST(minifloat, powers_of_two_are_rounded_as_asked)
{
    CHECK_INT(128, cq_f64_to_e8m0(1.1, CQ_E8M0_UP, true));
    CHECK_INT(127, cq_f64_to_e8m0(1.9, CQ_E8M0_DOWN, true));
    CHECK_INT(127, cq_f64_to_e8m0(1.49, CQ_E8M0_NEAREST, true));
    CHECK_INT(128, cq_f64_to_e8m0(1.5, CQ_E8M0_NEAREST, true));
    CHECK_INT(0, cq_f64_to_e8m0(0, CQ_E8M0_UP, true));
    CHECK_INT(0xff, cq_f64_to_e8m0(0, CQ_E8M0_NEAREST, false));
    CHECK_INT(0xfe, cq_f64_to_e8m0(1e39, CQ_E8M0_UP, true));
    CHECK_INT(0xff, cq_f64_to_e8m0(INFINITY, CQ_E8M0_UP, false));
    CHECK_INT(0xff, cq_f64_to_e8m0(-1, CQ_E8M0_UP, true));
    CHECK(cq_minifloat_to_f32(CQ_DTYPE_F8E8M0, 0) == 0x1p-127f);
    CHECK(isnan(cq_minifloat_to_f32(CQ_DTYPE_F8E8M0, 0xff)));
}

TEST(minifloat, zeros)
{
    CHECK_INT(0x80, cq_f64_to_minifloat(CQ_DTYPE_F8E5M2, -0.0, true));
    CHECK_INT(0x00, cq_f64_to_minifloat(CQ_DTYPE_F8E5M2FNUZ, -0.0, true));
    CHECK_INT(0x00, cq_f64_to_minifloat(CQ_DTYPE_F8E4M3FNUZ, -1e-20, true));
}

RUN_TESTS(TEST_OF(minifloat, every_code_is_a_number_that_gives_it_back),
          TEST_OF(minifloat, numbers_of_the_formats),
          TEST_OF(minifloat, halves_go_to_the_even_neighbour),
          TEST_OF(minifloat, oversized_values_saturate_or_become_infinite),
          TEST_OF(minifloat, powers_of_two_are_rounded_as_asked), TEST_OF(minifloat, zeros))
