#include "base/regex.h"

#include "test.h"

#include <string.h>

static bool matches(const char *pattern, const char *text)
{
    cq_regex *re;
    bool      yes;

    CHECK_OK(cq_regex_new(&re, pattern, strlen(pattern)));
    CHECK_OK(cq_regex_matches(&yes, re, text, strlen(text)));
    cq_regex_free(re);
    return yes;
}

static void refuses(const char *pattern)
{
    cq_regex *re;

    CHECK_STATUS(CQ_E_SYNTAX, cq_regex_new(&re, pattern, strlen(pattern)));
}

TEST(regex, fullmatch_matches_the_whole_text)
{
    CHECK(matches("abc", "abc"));
    CHECK(!matches("abc", "abcd"));
    CHECK(!matches("abc", "xabc"));
    CHECK(matches("", ""));
    CHECK(!matches("", "a"));
}

TEST(regex, choices_and_repetitions)
{
    CHECK(matches("a|bc|d", "bc"));
    CHECK(!matches("a|bc|d", "ab"));
    CHECK(matches("(ab)*c+d?", "ababccd"));
    CHECK(matches("(ab)*?c+?", "c"));
    CHECK(matches("a{2,3}", "aaa"));
    CHECK(!matches("a{2,3}", "aaaa"));
    CHECK(matches("a{2,}", "aaaaaa"));
    CHECK(!matches("a{2}", "a"));
    CHECK(matches("x{,3}", "x{,3}")); /* a brace that is not a count is a character */
    CHECK(matches("(a|b|)c", "c"));
}

TEST(regex, classes)
{
    CHECK(matches("[a-c]+[^a-c]", "abcd"));
    CHECK(!matches("[^a-c]", "b"));
    CHECK(matches("[]a]+", "a]"));
    CHECK(matches("[a-]+", "a-"));
    CHECK(matches("\\d+\\s\\w+\\D\\S\\W", "12\tab_ x!"));
    CHECK(!matches("\\D\\S\\W", "1x!"));
    CHECK(matches("\\d+\\s\\w+\\W", "12\tab_!"));
    CHECK(matches("[\\d.]+", "1.5"));
    CHECK(matches("[[:alpha:]]+[[:punct:]]", "aZ~"));
    CHECK(matches("\\x41\\x{e9}", "A\xc3\xa9"));
}

TEST(regex, a_dot_matches_any_character_but_a_line_end)
{
    CHECK(matches("a.c", "a\xc3\xa9"
                         "c"));
    CHECK(!matches("a.c", "a\nc"));
    CHECK(matches("(?s)a.c", "a\nc"));
    CHECK(matches("..", "\xe2\x82\xac\xf0\x9f\x98\x80"));
}

TEST(regex, flags_hold_to_the_end_of_their_group)
{
    CHECK(matches("(?i)AbC", "aBc"));
    CHECK(matches("(?i:a)b", "Ab"));
    CHECK(!matches("(?i:a)b", "AB"));
    CHECK(matches("((?i)a)b", "Ab"));
    CHECK(!matches("((?i)a)b", "AB"));
}

TEST(regex, edges_of_words_and_lines)
{
    CHECK(matches("www\\.[\\w.-]+\\.\\bcom\\b", "www.google.com"));
    CHECK(!matches("www\\.[\\w.-]+\\.\\bcom\\b", "www.google.com.de"));
    CHECK(matches("^a$", "a"));
    CHECK(matches("(?m)a$\n^b", "a\nb"));
    CHECK(!matches("a$\n^b", "a\nb"));
    CHECK(matches("a\\Bb", "ab"));
}

TEST(regex, no_text_takes_long)
{
    char text[2001];

    memset(text, 'a', 2000);
    text[2000] = '\0';
    CHECK(!matches("(a*)*b", text));
    CHECK(!matches("(a|aa)+b", text));
    CHECK(matches("(a?){1000}a{1000,}", text));
}

TEST(regex, invalid_expressions_are_refused)
{
    refuses("(a");
    refuses("a)");
    refuses("[a");
    refuses("*a");
    refuses("a{3,2}");
    refuses("\\");
    refuses("\\1");
    refuses("\\pN");
    refuses("[z-a]");
    refuses("(?=a)");
}

TEST(regex, depth_and_size_are_limited)
{
    char      deep[2 * CQ_REGEX_MAX_DEPTH + 4] = "";
    cq_regex *re;

    memset(deep, '(', CQ_REGEX_MAX_DEPTH);
    memset(deep + CQ_REGEX_MAX_DEPTH, ')', CQ_REGEX_MAX_DEPTH);
    CHECK(matches(deep, ""));
    memset(deep, '(', CQ_REGEX_MAX_DEPTH + 1);
    memset(deep + CQ_REGEX_MAX_DEPTH + 1, ')', CQ_REGEX_MAX_DEPTH + 1);
    refuses(deep);
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_regex_new(&re, "((a{100}){100}){100}", 20));
}

RUN_TESTS(TEST_OF(regex, fullmatch_matches_the_whole_text), TEST_OF(regex, choices_and_repetitions),
          TEST_OF(regex, classes), TEST_OF(regex, a_dot_matches_any_character_but_a_line_end),
          TEST_OF(regex, flags_hold_to_the_end_of_their_group),
          TEST_OF(regex, edges_of_words_and_lines), TEST_OF(regex, no_text_takes_long),
          TEST_OF(regex, invalid_expressions_are_refused),
          TEST_OF(regex, depth_and_size_are_limited))
