/* Wanted values are PyTorch's: torch.manual_seed(42), then draws in this order. */
#include "kernel/draw.h"
#include "kernel/mersenne.h"

#include "test.h"

static cq_storage *empty(size_t n)
{
    cq_storage *s;

    CHECK_OK(cq_storage_zeros(&s, n * sizeof(float)));
    return s;
}

static void check(cq_storage *s, size_t from, size_t n, const float *want)
{
    if (atomic_load(&s->is_pending))
        cq_storage_make(s);
    for (size_t i = 0; i < n; i++)
        CHECK(((const float *)s->data)[from + i] == want[i]);
}

static const float first[] = { 0x1.877198p-2f, 0x1.a8f6ccp-2f, -0x1.dfca4p-4f, 0x1.d65438p-2f,
                               -0x1.c0b96p-4f };
static const float head[]  = { -0x1.94892p-6f, -0x1.c3986p-11f, -0x1.06e89cp-5f };
static const float tail[]  = { -0x1.4ab1p-10f, -0x1.0f802cp-6f, 0x1.b1b716p-8f, -0x1.fe62a6p-6f };
static const float few[]   = { 0x1.9f16ep+1f, -0x1.48c7b8p-2f, 0x1.f2a1bep-1f };
static const float last[]  = { 0x1.8fdde8p-3f, 0x1.4aaep-8f, 0x1.3a2ef4p-2f, 0x1.dd232p-4f };

typedef struct four {
    cq_storage *a, *b, *c, *d;
} four;

static four draw_four(void)
{
    four t = { empty(5), empty(20), empty(3), empty(4) };

    cq_draw_seed(42);
    CHECK_OK(cq_draw_uniform(t.a, CQ_DTYPE_F32, -0.5, 0.5));
    CHECK_OK(cq_draw_normal(t.b, CQ_DTYPE_F32, 0, 0.02));
    CHECK_OK(cq_draw_normal(t.c, CQ_DTYPE_F32, 1, 2));
    CHECK_OK(cq_draw_uniform(t.d, CQ_DTYPE_F32, 0, 1));
    return t;
}

static void check_four(four t)
{
    check(t.a, 0, 5, first);
    check(t.b, 0, 3, head);
    check(t.b, 16, 4, tail);
    check(t.c, 0, 3, few);
    check(t.d, 0, 4, last);
}

static void release_four(four t)
{
    cq_storage_release(t.a);
    cq_storage_release(t.b);
    cq_storage_release(t.c);
    cq_storage_release(t.d);
}

TEST(draw, numbers_are_those_of_pytorch)
{
    four t = draw_four();

    check_four(t);
    release_four(t);
}

TEST(draw, the_order_of_reading_does_not_matter)
{
    four t = draw_four();

    check(t.d, 0, 4, last);
    check(t.b, 16, 4, tail);
    check_four(t);
    release_four(t);
}

TEST(draw, a_tensor_that_died_still_moves_the_generator)
{
    four t = draw_four();

    cq_storage_release(t.a);
    cq_storage_release(t.b);
    check(t.d, 0, 4, last);
    check(t.c, 0, 3, few);
    cq_storage_release(t.c);
    cq_storage_release(t.d);
}

TEST(draw, a_second_draw_replaces_the_first)
{
    cq_storage *s = empty(5);

    cq_draw_seed(42);
    CHECK_OK(cq_draw_uniform(s, CQ_DTYPE_F32, -0.5, 0.5));
    CHECK_OK(cq_draw_normal(s, CQ_DTYPE_F32, 0, 1));
    cq_draw_seed(42);
    CHECK_OK(cq_draw_uniform(s, CQ_DTYPE_F32, -0.5, 0.5));
    check(s, 0, 5, first);
    cq_storage_release(s);
}

TEST(draw, a_new_seed_does_not_change_what_was_drawn_before)
{
    four t = draw_four(), u = draw_four();

    cq_draw_seed(7);
    check_four(u);
    check_four(t);
    release_four(t);
    release_four(u);
}

TEST(draw, a_range_of_elements_is_made_alone)
{
    four  t = draw_four();
    float part[20];

    t.b->maker.make(t.b->maker.user, part, 0, 3 * sizeof(float));
    CHECK(part[2] == head[2]);
    t.b->maker.make(t.b->maker.user, part + 3, 3 * sizeof(float), 17 * sizeof(float));
    CHECK(part[16] == tail[0] && part[19] == tail[3]);
    t.b->maker.make(t.b->maker.user, part, sizeof(float), sizeof(float));
    CHECK(part[0] == head[1]);
    release_four(t);
}

TEST(draw, steps_behind_a_draw_are_those_of_trunc_normal)
{
    static const float want[] = { 0x1.fcbbc6p-5f, 0x1.3b7aa4p-4f, 0x1.6dd382p-4f, 0x1.13556p-4f };
    cq_storage        *s      = empty(1000);

    CHECK(!cq_draw_then(s, CQ_DRAW_ERFINV, 0, 0));
    cq_draw_seed(3);
    CHECK_OK(cq_draw_uniform(s, CQ_DTYPE_F32, -0.95, 0.95));
    CHECK(cq_draw_then(s, CQ_DRAW_ERFINV, 0, 0));
    CHECK(cq_draw_then(s, CQ_DRAW_MUL, 0.02 * 1.4142135623730951, 0));
    CHECK(cq_draw_then(s, CQ_DRAW_ADD, 0.1, 0));
    CHECK(cq_draw_then(s, CQ_DRAW_CLAMP, -2, 2));
    check(s, 0, 4, want);
    CHECK(!cq_draw_then(s, CQ_DRAW_MUL, 2, 0)); /* it has been read */
    cq_storage_release(s);
}

TEST(draw, float64_takes_two_words)
{
    static const double want[] = { 0x1.1d0f9b3887e77p-2, 0x1.cfb8e57bab656p-1, 0x1.d6322a2e52788p-2,
                                   0x1.076bc7f676d73p+0 };
    static const size_t at[]   = { 0, 9, 31, 32 };
    cq_storage         *x = empty(66), *y = empty(6);

    cq_draw_seed(11);
    CHECK_OK(cq_draw_normal(x, CQ_DTYPE_F64, 0, 1));
    CHECK_OK(cq_draw_uniform(y, CQ_DTYPE_F64, -1, 3));
    cq_storage_make(y);
    CHECK(((const double *)y->data)[0] == 0x1.6b389a5a68742p+0);
    CHECK(((const double *)y->data)[2] == 0x1.17b4df384ebe0p-2);
    cq_storage_make(x);
    for (size_t i = 0; i < 4; i++)
        CHECK(((const double *)x->data)[at[i]] == want[i]);
    cq_storage_release(x);
    cq_storage_release(y);
}

/* Many numbers are computed with vectors, a few one by one. */
TEST(draw, many_numbers_are_those_that_are_made_one_by_one)
{
    enum { N = 3005, BLOCKS = N / CQ_MERSENNE_BLOCK };
    cq_storage *uniform = empty(N), *normal = empty(N);
    cq_mersenne one;
    double      made[2 * CQ_MERSENNE_BLOCK];

    cq_draw_seed(7);
    CHECK_OK(cq_draw_uniform(uniform, CQ_DTYPE_F32, -2, 3));
    CHECK_OK(cq_draw_normal(normal, CQ_DTYPE_F32, 1, 0.5));
    cq_storage_make(uniform);
    cq_storage_make(normal);
    cq_mersenne_seed(&one, 7);
    for (int i = 0; i < N; i++)
        CHECK(((const float *)uniform->data)[i] == cq_mersenne_f32(&one, -2, 3));
    for (int i = 0; i < BLOCKS; i++) {
        const int n = i + 1 == BLOCKS ? N - i * CQ_MERSENNE_BLOCK : CQ_MERSENNE_BLOCK;

        cq_mersenne_normals_f32(&one, N - i * CQ_MERSENNE_BLOCK, 1, 0.5f, made);
        for (int j = 0; j < n; j++)
            CHECK(((const float *)normal->data)[i * CQ_MERSENNE_BLOCK + j] == (float)made[j]);
    }
    cq_storage_release(uniform);
    cq_storage_release(normal);
}

RUN_TESTS(TEST_OF(draw, numbers_are_those_of_pytorch),
          TEST_OF(draw, many_numbers_are_those_that_are_made_one_by_one),
          TEST_OF(draw, the_order_of_reading_does_not_matter),
          TEST_OF(draw, a_tensor_that_died_still_moves_the_generator),
          TEST_OF(draw, a_second_draw_replaces_the_first),
          TEST_OF(draw, a_new_seed_does_not_change_what_was_drawn_before),
          TEST_OF(draw, a_range_of_elements_is_made_alone),
          TEST_OF(draw, steps_behind_a_draw_are_those_of_trunc_normal),
          TEST_OF(draw, float64_takes_two_words))
