/* The numbers that random operators draw: tests/ops checks only dtypes and sizes. */
#include "aten/core/ctx.h"

#include "test.h"

#include <math.h>

static cq_ctx *cx;

static int begin(void **state)
{
    (void)state;
    return cq_ctx_new(&cx) == CQ_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    cq_ctx_free(cx);
    return 0;
}

enum { MANY = 20000 };

static cq_val many(void)
{
    return cq_i64s(cx, (int64_t[]){ MANY }, 1);
}

static double mean(const cq_tensor *t)
{
    double sum = 0;

    for (int64_t i = 0; i < cq_tensor_numel(t); i++)
        sum += cq_tensor_get_f64(t, i);
    return sum / (double)cq_tensor_numel(t);
}

static double deviation(const cq_tensor *t)
{
    double m = mean(t), sum = 0;

    for (int64_t i = 0; i < cq_tensor_numel(t); i++)
        sum += pow(cq_tensor_get_f64(t, i) - m, 2);
    return sqrt(sum / (double)cq_tensor_numel(t));
}

/* Allows ten standard errors of the mean of MANY draws, which chance does not exceed. */
static void check_near(double want, double got, double spread)
{
    if (fabs(want - got) > 10 * spread / sqrt(MANY))
        print_error("%g is far from %g\n", got, want);
    CHECK(fabs(want - got) <= 10 * spread / sqrt(MANY));
}

TEST(random, uniform_numbers_fill_their_range_evenly)
{
    cq_tensor *t = CQ_OP(cx, "aten::rand", many());

    CHECK_OK(cq_ctx_status(cx));
    check_near(0.5, mean(t), 0.29);
    check_near(0.2887, deviation(t), 0.29);
    for (int64_t i = 0; i < MANY; i++)
        CHECK(cq_tensor_get_f64(t, i) >= 0 && cq_tensor_get_f64(t, i) < 1);
    t = CQ_OP(cx, "aten::uniform", TENSOR(t), FLOAT(-3), FLOAT(5));
    check_near(1, mean(t), 2.3);
}

TEST(random, normal_numbers_have_their_mean_and_deviation)
{
    cq_tensor *t = CQ_OP(cx, "aten::normal.float_float", FLOAT(2), FLOAT(3), many());

    CHECK_OK(cq_ctx_status(cx));
    check_near(2, mean(t), 3);
    check_near(3, deviation(t), 3);
}

TEST(random, every_integer_of_the_range_is_drawn_and_no_other)
{
    cq_tensor *t        = CQ_OP(cx, "aten::randint.low", INT(-2), INT(3), many());
    int        count[5] = { 0 };

    CHECK_OK(cq_ctx_status(cx));
    for (int64_t i = 0; i < MANY; i++) {
        int64_t n = cq_tensor_get_i64(t, i);

        CHECK(n >= -2 && n < 3);
        count[n + 2]++;
    }
    for (int i = 0; i < 5; i++)
        check_near(0.2, count[i] / (double)MANY, 0.4);
}

TEST(random, a_permutation_has_every_number_once)
{
    cq_tensor *t         = CQ_OP(cx, "aten::randperm", INT(100));
    bool       seen[100] = { false };
    int        in_place  = 0;

    CHECK_OK(cq_ctx_status(cx));
    for (int64_t i = 0; i < 100; i++) {
        seen[cq_tensor_get_i64(t, i)] = true;
        in_place += cq_tensor_get_i64(t, i) == i;
    }
    for (int i = 0; i < 100; i++)
        CHECK(seen[i]);
    CHECK(in_place < 20);
}

TEST(random, bernoulli_has_frequency_p)
{
    cq_tensor *t =
        CQ_OP(cx, "aten::bernoulli.p", TENSOR(CQ_OP(cx, "aten::zeros", many())), FLOAT(0.3));

    CHECK_OK(cq_ctx_status(cx));
    check_near(0.3, mean(t), 0.46);
}

TEST(random, dropout_keeps_the_mean)
{
    cq_tensor *ones = CQ_OP(cx, "aten::ones", many());
    cq_tensor *t    = CQ_OP(cx, "aten::dropout", TENSOR(ones), FLOAT(0.4), BOOL(true));
    int        kept = 0;

    CHECK_OK(cq_ctx_status(cx));
    for (int64_t i = 0; i < MANY; i++)
        kept += cq_tensor_get_f64(t, i) != 0;
    check_near(0.6, kept / (double)MANY, 0.49);
    check_near(1, mean(t), 0.82);
    CHECK(CQ_OP(cx, "aten::dropout", TENSOR(ones), FLOAT(0.4), BOOL(false)) == ones);
}

TEST(random, alpha_dropout_keeps_mean_and_deviation)
{
    cq_tensor *t = CQ_OP(cx, "aten::randn", many());

    t = CQ_OP(cx, "aten::alpha_dropout", TENSOR(t), FLOAT(0.3), BOOL(true));
    CHECK_OK(cq_ctx_status(cx));
    check_near(0, mean(t), 1);
    check_near(1, deviation(t), 1.5);
}

TEST(random, feature_dropout_drops_whole_channels)
{
    cq_tensor *t = CQ_OP(cx, "aten::ones", cq_i64s(cx, (int64_t[]){ 8, 8, 5 }, 3));

    t = CQ_OP(cx, "aten::feature_dropout", TENSOR(t), FLOAT(0.5), BOOL(true));
    CHECK_OK(cq_ctx_status(cx));
    for (int64_t i = 0; i < 64; i++)
        for (int64_t k = 1; k < 5; k++)
            CHECK(cq_tensor_get_f64(t, 5 * i) == cq_tensor_get_f64(t, 5 * i + k));
}

/* MANY draws of an operator that takes its parameter as a tensor. */
static void check_draws(const char *op, double parameter, double want, double spread,
                        double kurtosis)
{
    cq_tensor *t = CQ_OP(cx, "aten::full", many(), FLOAT(parameter), DTYPE(CQ_DTYPE_F32));

    t = CQ_OP(cx, op, TENSOR(t));
    CHECK_OK(cq_ctx_status(cx));
    check_near(want, mean(t), spread);
    check_near(spread, deviation(t), spread * sqrt((kurtosis + 2) / 4));
    for (int64_t i = 0; i < MANY; i++)
        CHECK(cq_tensor_get_f64(t, i) >= 0);
}

TEST(random, gamma_and_poisson_have_their_mean_and_deviation)
{
    static const double parameters[] = { 0.3, 1, 2.5, 11.9, 12.1, 300, 1e5 };

    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++) {
        const double a = parameters[i];

        check_draws("aten::_standard_gamma", a, a, sqrt(a), 6 / a);
        check_draws("aten::poisson", a, a, sqrt(a), 1 / a);
    }
    check_draws("aten::poisson", 0, 0, 0, 0);
}

TEST(random, weights_decide_what_is_drawn)
{
    double     p[4]     = { 1, 0, 3, 4 };
    int        count[4] = { 0 };
    cq_tensor *weights, *t;

    CHECK_OK(cq_tensor_new(&weights, CQ_DTYPE_F64, 1, (int64_t[]){ 4 }, p));
    t = CQ_OP(cx, "aten::multinomial", TENSOR(weights), INT(MANY), BOOL(true));
    CHECK_OK(cq_ctx_status(cx));
    for (int64_t i = 0; i < MANY; i++)
        count[cq_tensor_get_i64(t, i)]++;
    for (int i = 0; i < 4; i++)
        check_near(p[i] / 8, count[i] / (double)MANY, 0.5);
    CHECK_INT(0, count[1]);
    cq_tensor_release(weights);
}

TEST(random, the_same_seed_gives_the_same_numbers)
{
    cq_tensor *a, *b, *other;

    cq_ctx_seed(cx, 7);
    a = CQ_OP(cx, "aten::randn", many());
    cq_ctx_seed(cx, 7);
    b = CQ_OP(cx, "aten::randn", many());
    cq_ctx_seed(cx, 8);
    other = CQ_OP(cx, "aten::randn", many());
    CHECK_OK(cq_ctx_status(cx));
    CHECK(memcmp(cq_tensor_data(a), cq_tensor_data(b), MANY * 4) == 0);
    CHECK(memcmp(cq_tensor_data(a), cq_tensor_data(other), MANY * 4) != 0);
}

#define CASE(sentence) cmocka_unit_test_setup_teardown(random_##sentence, begin, end)

RUN_TESTS(CASE(uniform_numbers_fill_their_range_evenly),
          CASE(normal_numbers_have_their_mean_and_deviation),
          CASE(every_integer_of_the_range_is_drawn_and_no_other),
          CASE(a_permutation_has_every_number_once), CASE(bernoulli_has_frequency_p),
          CASE(dropout_keeps_the_mean), CASE(alpha_dropout_keeps_mean_and_deviation),
          CASE(feature_dropout_drops_whole_channels),
          CASE(gamma_and_poisson_have_their_mean_and_deviation), CASE(weights_decide_what_is_drawn),
          CASE(the_same_seed_gives_the_same_numbers))
