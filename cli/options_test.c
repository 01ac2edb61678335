#include "cli.h"

#include "test.h"

static int run_nothing(const cli_args *args)
{
    return args ? CLI_DONE : CLI_FAILED;
}

static const cli_option options[] = {
    { "output", "FILE", "where to", 'o' }, { "input", "SPEC", "an input, repeatable", 0 },
    { "full", NULL, "all of it", 'f' },    { "verbose", NULL, "more words", 'v' },
    { "opset", "N", "a number", 0 },       { 0 },
};

static const cli_verb verb = {
    .name         = "work",
    .operands     = "FILE [FILE]",
    .options      = options,
    .min_operands = 1,
    .max_operands = 2,
    .run          = run_nothing,
};

#define MAX_WORDS 8

/* The result of parsing NULL-terminated words. */
static cli_args args;
static char    *words[MAX_WORDS];

static int parse(const char *first, ...)
{
    int     n = 0;
    va_list rest;

    va_start(rest, first);
    for (const char *word = first; word; word = va_arg(rest, const char *))
        words[n++] = (char *)word; /* moved, but never modified */
    va_end(rest);
    memset(&args, 0, sizeof args);
    args.verb = &verb;
    return cli_parse(&args, n, words);
}

TEST(options, values_may_be_attached_or_follow)
{
    CHECK_INT(CLI_DONE, parse("a", "--output=x=y", NULL));
    CHECK_STR("x=y", cli_value(&args, "output"));
    CHECK_INT(CLI_DONE, parse("--output", "--full", "a", NULL));
    CHECK_STR("--full", cli_value(&args, "output"));
    CHECK(!cli_has(&args, "full"));
    CHECK_INT(CLI_DONE, parse("-o", "x", "a", NULL));
    CHECK_STR("x", cli_value(&args, "output"));
    CHECK_INT(CLI_DONE, parse("-ox", "a", NULL));
    CHECK_STR("x", cli_value(&args, "output"));
    CHECK_INT(CLI_DONE, parse("--output=", "a", NULL));
    CHECK_STR("", cli_value(&args, "output"));
}

TEST(options, operands_and_options_may_be_mixed)
{
    CHECK_INT(CLI_DONE, parse("a", "-f", "b", "-o", "c", NULL));
    CHECK_INT(2, args.n_operands);
    CHECK_STR("a", args.operands[0]);
    CHECK_STR("b", args.operands[1]);
    CHECK(cli_has(&args, "full"));
    CHECK(!cli_has(&args, "verbose"));
}

TEST(options, letters_may_stand_together)
{
    CHECK_INT(CLI_DONE, parse("-vfox", "a", NULL));
    CHECK(cli_has(&args, "full"));
    CHECK(cli_has(&args, "verbose"));
    CHECK_STR("x", cli_value(&args, "output"));
}

TEST(options, two_dashes_end_them_and_one_dash_is_none)
{
    CHECK_INT(CLI_DONE, parse("-", "--", "--full", NULL));
    CHECK_INT(2, args.n_operands);
    CHECK_STR("-", args.operands[0]);
    CHECK_STR("--full", args.operands[1]);
    CHECK(!cli_has(&args, "full"));
}

TEST(options, repeated_values_keep_their_order_and_the_last_one_counts)
{
    size_t at = 0;

    CHECK_INT(CLI_DONE, parse("--input", "1", "a", "--input=2", "-f", "--input", "3", NULL));
    CHECK_STR("1", cli_next_value(&args, "input", &at));
    CHECK_STR("2", cli_next_value(&args, "input", &at));
    CHECK_STR("3", cli_next_value(&args, "input", &at));
    CHECK(cli_next_value(&args, "input", &at) == NULL);
    CHECK_STR("3", cli_value(&args, "input"));
    CHECK(cli_value(&args, "output") == NULL);
}

TEST(options, misuse_is_detected)
{
    CHECK_INT(CLI_MISUSE, parse("a", "--output", NULL));
    CHECK_INT(CLI_MISUSE, parse("a", "-o", NULL));
    CHECK_INT(CLI_MISUSE, parse("a", "--full=1", NULL));
    CHECK_INT(CLI_MISUSE, parse("a", "--ful", NULL));
    CHECK_INT(CLI_MISUSE, parse("a", "-x", NULL));
    CHECK_INT(CLI_MISUSE, parse("a", "b", "c", NULL));
    CHECK_INT(CLI_MISUSE, parse("-f", NULL));
    CHECK_INT(CLI_DONE, parse("--help", NULL)); /* --help requires no operands */
    CHECK(args.wants_help);
}

TEST(options, numbers_are_whole_and_within_bounds)
{
    static const char *const bad[] = { "18", "6", "1x", "", "1.5", "99999999999999999999" };
    int64_t                  n     = 5;

    parse("a", NULL);
    CHECK_INT(CLI_DONE, cli_number(&args, "opset", 7, 17, &n));
    CHECK_INT(5, n);
    parse("a", "--opset", "17", NULL);
    CHECK_INT(CLI_DONE, cli_number(&args, "opset", 7, 17, &n));
    CHECK_INT(17, n);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        parse("a", "--opset", bad[i], NULL);
        CHECK_INT(CLI_MISUSE, cli_number(&args, "opset", 7, 17, &n));
    }
    CHECK_INT(17, n);
}

static const char *name_at(const void *table, size_t i)
{
    return ((const char *const *)table)[i];
}

TEST(options, slips_get_a_suggestion_and_guesses_do_not)
{
    static const char *const names[] = { "export", "print", "ops", NULL };

    CHECK_STR("export", cli_suggest("exprot", name_at, names));
    CHECK_STR("print", cli_suggest("prin", name_at, names));
    CHECK_STR("ops", cli_suggest("op", name_at, names));
    CHECK(cli_suggest("frobnicate", name_at, names) == NULL);
    CHECK(cli_suggest("", name_at, names) == NULL);
}

RUN_TESTS(TEST_OF(options, values_may_be_attached_or_follow),
          TEST_OF(options, operands_and_options_may_be_mixed),
          TEST_OF(options, letters_may_stand_together),
          TEST_OF(options, two_dashes_end_them_and_one_dash_is_none),
          TEST_OF(options, repeated_values_keep_their_order_and_the_last_one_counts),
          TEST_OF(options, misuse_is_detected),
          TEST_OF(options, numbers_are_whole_and_within_bounds),
          TEST_OF(options, slips_get_a_suggestion_and_guesses_do_not))
