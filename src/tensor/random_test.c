#include "tensor/random.h"

#include "test.h"

#include <math.h>

TEST(random, the_same_seed_gives_these_numbers_everywhere)
{
    cq_random r;

    cq_random_seed(&r, 0); /* the published test vector of Philox 4x32-10 for all zeros */
    CHECK_INT(0x6627e8d5u, cq_random_u32(&r));
    CHECK_INT(0xe169c58du, cq_random_u32(&r));
    CHECK_INT(0xbc57ac4cu, cq_random_u32(&r));
    CHECK_INT(0x9b00dbd8u, cq_random_u32(&r));
}

TEST(random, normal_numbers_have_the_moments_they_should)
{
    cq_random r;
    double    sum = 0, squares = 0, fourth = 0;
    int       n = 200000;

    cq_random_seed(&r, 1);
    for (int i = 0; i < n; i++) {
        double x = cq_random_normal(&r);

        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
    }
    CHECK(fabs(sum / n) < 0.01);
    CHECK(fabs(squares / n - 1) < 0.02);
    CHECK(fabs(fourth / n - 3) < 0.1);
}

TEST(random, integers_stay_in_their_range_and_reach_its_ends)
{
    cq_random r;
    bool      low = false, high = false;

    cq_random_seed(&r, 2);
    for (int i = 0; i < 1000; i++) {
        int64_t x = cq_random_below(&r, -3, 4);

        CHECK(x >= -3 && x < 4);
        low |= x == -3;
        high |= x == 3;
    }
    CHECK(low && high);
    CHECK_INT(5, cq_random_below(&r, 5, 5));
}

TEST(random, a_permutation_holds_every_number_once)
{
    cq_random r;
    int64_t   p[50];
    bool      seen[50] = { false };

    cq_random_seed(&r, 3);
    cq_random_permutation(&r, p, 50);
    for (int i = 0; i < 50; i++)
        seen[p[i]] = true;
    for (int i = 0; i < 50; i++)
        CHECK(seen[i]);
}

RUN_TESTS(TEST_OF(random, the_same_seed_gives_these_numbers_everywhere),
          TEST_OF(random, normal_numbers_have_the_moments_they_should),
          TEST_OF(random, integers_stay_in_their_range_and_reach_its_ends),
          TEST_OF(random, a_permutation_holds_every_number_once))
