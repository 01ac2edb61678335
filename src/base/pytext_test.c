#include "base/pytext.h"

#include "test.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void check_float(const char *want, double value)
{
    cq_str s = { 0 };

    cq_str_add_py_float(&s, value);
    CHECK_STR(want, cq_str_text(&s));
    cq_str_clear(&s);
}

static void check_text(const char *want, const char *text, size_t most)
{
    cq_str s = { 0 };

    cq_str_add_py_text(&s, text, strlen(text), most);
    CHECK_STR(want, cq_str_text(&s));
    cq_str_clear(&s);
}

TEST(pytext, floats_have_the_fewest_digits_that_give_them_back)
{
    check_float("0.1", 0.1);
    check_float("0.10000000149011612", (double)0.1f);
    check_float("0.30000000000000004", 0.1 + 0.2);
    check_float("-0.0", -0.0);
    check_float("5e-324", 5e-324);
    check_float("1.7976931348623157e+308", DBL_MAX);
}

/* The shortest digits by trial, as the reference for the fast algorithm. */
static size_t fewest_digits(float value)
{
    char text[40];
    int  n = 0;

    do
        snprintf(text, sizeof text, "%.*e", n, (double)value);
    while (strtof(text, NULL) != value && n++ < 9);
    return (size_t)n + 1;
}

static size_t count_digits(const char *text)
{
    size_t n = 0, zeros = 0;

    text += strspn(text, "-0.");
    for (; *text && *text != 'e'; text++) {
        n += *text != '.';
        zeros = *text == '0' ? zeros + 1 : *text == '.' ? zeros : 0;
    }
    return n > zeros ? n - zeros : n;
}

TEST(pytext, floats_of_32_bits_have_fewer)
{
    uint32_t bits = 1;
    cq_str   s    = { 0 };

    for (int i = 0; i < 20000; i++) {
        float value;

        bits = bits * 1664525u + 1013904223u;
        if (i % 2) /* weights are of this size */
            bits = (bits & 0x87ffffff) | 0x38000000;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value) || value == 0)
            continue;
        s.len = 0;
        cq_str_add_py_float32(&s, value);
        CHECK(strtof(cq_str_text(&s), NULL) == value);
        CHECK(count_digits(cq_str_text(&s)) <= fewest_digits(value));
    }
    s.len = 0;
    cq_str_add_py_float32(&s, 0.1f);
    cq_str_add_py_float32(&s, -FLT_MAX);
    cq_str_add_py_float32(&s, 16777216.0f);
    cq_str_add_py_float32(&s, 1e-45f);
    CHECK_STR("0.1-3.4028235e+3816777216.01e-45", cq_str_text(&s));
    cq_str_clear(&s);
}

TEST(pytext, floats_change_notation_where_python_does)
{
    check_float("0.0001", 1e-4);
    check_float("1e-05", 1e-5);
    check_float("1.5e-05", 1.5e-5);
    check_float("1000000000000000.0", 1e15);
    check_float("1e+16", 1e16);
    check_float("123456789.25", 123456789.25);
    check_float("100.0", 100);
    check_float("1e+100", 1e100);
    check_float("inf", INFINITY);
    check_float("-inf", -INFINITY);
    check_float("nan", -NAN);
}

TEST(pytext, texts_are_quoted_and_escaped_as_python_does)
{
    check_text("''", "", 64);
    check_text("\"it's\"", "it's", 64);
    check_text("'\"'", "\"", 64);
    check_text("'\\'\"'", "'\"", 64);
    check_text("'\\t\\n\\r\\\\\\x01\\x7f'", "\t\n\r\\\x01\x7f", 64);
    check_text("'\xc3\xa9'", "\xc3\xa9", 64);                 /* e with an accent stays */
    check_text("'\\xa0\\u200b'", "\xc2\xa0\xe2\x80\x8b", 64); /* invisible ones do not */
    check_text("'\\U000e0001'", "\xf3\xa0\x80\x81", 64);
}

TEST(pytext, invalid_utf8_is_left_out)
{
    check_text("'ab'",
               "a\xff\xc0\x80"
               "b",
               64);
    check_text("'ab'",
               "a\xed\xa0\x80"
               "b",
               64);                         /* half a surrogate pair */
    check_text("'a'", "a\xf0\x9f\x98", 64); /* cut off */
    check_text("'a('", "a\xe2\x82(", 64);
}

TEST(pytext, long_texts_are_cut_at_characters)
{
    check_text("'abc'", "abc", 4);
    check_text("'abcd...<+len=0>'", "abcd", 4);
    check_text("'\xc3\xa9\xc3\xa9...<+len=3>'", "\xc3\xa9\xc3\xa9\xc3\xa9xy", 2);
    check_text("'ab...<+len=1>'", "ab'", 2); /* the removed part needs no quoting */
}

TEST(pytext, bytes_are_shown_as_bytes)
{
    cq_str s = { 0 };

    cq_str_add_py_bytes(&s, "a'\0\xff\n", 5);
    CHECK_STR("b\"a'\\x00\\xff\\n\"", cq_str_text(&s));
    cq_str_clear(&s);
}

RUN_TESTS(TEST_OF(pytext, floats_have_the_fewest_digits_that_give_them_back),
          TEST_OF(pytext, floats_of_32_bits_have_fewer),
          TEST_OF(pytext, floats_change_notation_where_python_does),
          TEST_OF(pytext, texts_are_quoted_and_escaped_as_python_does),
          TEST_OF(pytext, invalid_utf8_is_left_out),
          TEST_OF(pytext, long_texts_are_cut_at_characters),
          TEST_OF(pytext, bytes_are_shown_as_bytes))
