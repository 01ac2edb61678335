#include "judge.h"

#include "test.h"

#include <math.h>

enum { N = 10000 };

static float         wanted[N], got[N];
static uint8_t       wanted_bytes[N], got_bytes[N];
static const int64_t sizes[] = { N };

static cli_judgement judge_floats(bool is_quantized)
{
    cq_tensor    *a, *b;
    cli_judgement j;

    CHECK_OK(cq_tensor_new(&a, CQ_DTYPE_F32, 1, sizes, got));
    CHECK_OK(cq_tensor_new(&b, CQ_DTYPE_F32, 1, sizes, wanted));
    j = cli_judge(a, b, is_quantized);
    cq_tensor_release(a);
    cq_tensor_release(b);
    return j;
}

static cli_judgement judge_bytes(void)
{
    cq_tensor    *a, *b;
    cli_judgement j;

    CHECK_OK(cq_tensor_new(&a, CQ_DTYPE_U8, 1, sizes, got_bytes));
    CHECK_OK(cq_tensor_new(&b, CQ_DTYPE_U8, 1, sizes, wanted_bytes));
    j = cli_judge(a, b, false);
    cq_tensor_release(a);
    cq_tensor_release(b);
    return j;
}

static void start(void)
{
    for (int i = 0; i < N; i++) {
        wanted[i] = got[i] = (float)(i % 200 - 100) / 10;
        wanted_bytes[i] = got_bytes[i] = (uint8_t)(i % 200);
    }
}

TEST(judge, rounding_is_relative_to_each_number_and_to_the_largest)
{
    start();
    for (int i = 0; i < N; i++)
        got[i] = wanted[i] * 1.0005f + 1e-4f;
    CHECK_INT(CLI_EQUAL, judge_floats(false).verdict);
    for (int i = 0; i < N; i++)
        got[i] = wanted[i] * 1.002f;
    CHECK_INT(CLI_ROUNDING, judge_floats(false).verdict);
    CHECK(!cli_is_right(CLI_ROUNDING));
    for (int i = 0; i < N; i++)
        got[i] = -wanted[i];
    CHECK_INT(CLI_DIFFERENT, judge_floats(false).verdict);
}

TEST(judge, one_number_in_many_may_be_beyond_the_tolerance_but_not_by_much)
{
    start();
    got[100] = 0.005f; /* wanted is 0, and others are 10 */
    CHECK_INT(CLI_FEW_ROUND, judge_floats(false).verdict);
    CHECK(cli_is_right(CLI_FEW_ROUND));
    got[300] = got[500] = 0.005f;
    CHECK_INT(CLI_ROUNDING, judge_floats(false).verdict);
    start();
    got[100] = 0.5f;
    CHECK_INT(CLI_DIFFERENT, judge_floats(false).verdict);
    got[100] = NAN;
    CHECK_INT(CLI_DIFFERENT, judge_floats(false).verdict);
    wanted[100] = NAN;
    CHECK_INT(CLI_EQUAL, judge_floats(false).verdict);
}

TEST(judge, a_few_8_bit_values_may_differ_by_one)
{
    start();
    for (int i = 0; i < N; i += 100)
        got_bytes[i] = (uint8_t)(wanted_bytes[i] + 1);
    CHECK_INT(CLI_FEW_STEPS, judge_bytes().verdict);
    for (int i = 0; i < N; i += 2)
        got_bytes[i] = (uint8_t)(wanted_bytes[i] + 1);
    CHECK_INT(CLI_STEPS, judge_bytes().verdict);
    start();
    got_bytes[7] = 99;
    CHECK_INT(CLI_DIFFERENT, judge_bytes().verdict);
}

TEST(judge, floats_of_a_quantized_model_may_be_a_step_off)
{
    start();
    for (int i = 0; i < N; i += 50)
        got[i] = wanted[i] + 0.15f;
    CHECK_INT(CLI_FEW_STEPS, judge_floats(true).verdict);
    CHECK_INT(CLI_DIFFERENT, judge_floats(false).verdict);
    got[3] = wanted[3] + 1;
    CHECK_INT(CLI_DIFFERENT, judge_floats(true).verdict);
}

TEST(judge, integers_are_equal_or_not)
{
    int64_t    few[] = { 5, 6, 7 }, other[] = { 5, 6, 8 };
    cq_tensor *a, *b;

    CHECK_OK(cq_tensor_new(&a, CQ_DTYPE_I64, 1, (int64_t[]){ 3 }, few));
    CHECK_OK(cq_tensor_new(&b, CQ_DTYPE_I64, 1, (int64_t[]){ 3 }, other));
    CHECK_INT(CLI_EQUAL, cli_judge(a, a, true).verdict);
    CHECK_INT(CLI_DIFFERENT, cli_judge(a, b, true).verdict);
    cq_tensor_release(b);
    CHECK_OK(cq_tensor_new(&b, CQ_DTYPE_I64, 2, (int64_t[]){ 3, 1 }, few));
    CHECK_INT(CLI_SHAPES, cli_judge(a, b, true).verdict);
    cq_tensor_release(a);
    cq_tensor_release(b);
}

RUN_TESTS(TEST_OF(judge, rounding_is_relative_to_each_number_and_to_the_largest),
          TEST_OF(judge, one_number_in_many_may_be_beyond_the_tolerance_but_not_by_much),
          TEST_OF(judge, a_few_8_bit_values_may_differ_by_one),
          TEST_OF(judge, floats_of_a_quantized_model_may_be_a_step_off),
          TEST_OF(judge, integers_are_equal_or_not))
