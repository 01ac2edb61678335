#include "base/printable.h"

#include "test.h"

static void check_name(const char *want, const char *name)
{
    cq_str s = { 0 };

    cq_str_add_name(&s, name);
    CHECK_STR(want, cq_str_text(&s));
    cq_str_clear(&s);
}

TEST(printable, control_characters_are_escaped)
{
    check_name("a b", "a b");
    check_name("\\x1b[2J", "\x1b[2J");
    check_name("\\x0a\\x7f", "\n\x7f");
    check_name("\\xc2\\x9b", "\xc2\x9b"); /* U+009B, which begins a sequence as well */
}

TEST(printable, letters_of_any_language_stay)
{
    check_name("\xc3\xa9", "\xc3\xa9");
    check_name("\xd7\xa9\xd7\x9c", "\xd7\xa9\xd7\x9c");
    check_name("\xe6\xa8\xa1", "\xe6\xa8\xa1");
    check_name("\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80");
}

TEST(printable, characters_that_turn_text_around_or_show_nothing_are_escaped)
{
    check_name("a\\xe2\\x80\\xaeb", "a\xe2\x80\xae"
                                    "b");                   /* U+202E */
    check_name("\\xe2\\x81\\xa6", "\xe2\x81\xa6");          /* U+2066 */
    check_name("\\xe2\\x80\\x8b", "\xe2\x80\x8b");          /* U+200B */
    check_name("\\xe2\\x80\\xa8", "\xe2\x80\xa8");          /* U+2028 */
    check_name("\\xe2\\x81\\xa0", "\xe2\x81\xa0");          /* U+2060 */
    check_name("\\xef\\xbb\\xbf", "\xef\xbb\xbf");          /* U+FEFF */
    check_name("\\xe3\\x85\\xa4", "\xe3\x85\xa4");          /* U+3164 */
    check_name("\\xef\\xb8\\x8f", "\xef\xb8\x8f");          /* U+FE0F */
    check_name("\\xf3\\xa0\\x81\\x81", "\xf3\xa0\x81\x81"); /* U+E0041 */
    check_name("\\xd8\\x9c", "\xd8\x9c");                   /* U+061C */
    check_name("\\xef\\xbb\\xbf", "\xef\xbb\xbf");          /* U+FEFF */
    check_name("\\xf3\\xa0\\x81\\x81", "\xf3\xa0\x81\x81"); /* U+E0041 */
}

TEST(printable, invalid_utf8_bytes_are_escaped)
{
    check_name("\\xff\\xc0\\x80", "\xff\xc0\x80");
    check_name("\\xed\\xa0\\x80", "\xed\xa0\x80"); /* half of a pair */
    check_name("\\xe2\\x80", "\xe2\x80");
    check_name("\\xe0\\x80\\xaf", "\xe0\x80\xaf"); /* written too long */
}

RUN_TESTS(TEST_OF(printable, control_characters_are_escaped),
          TEST_OF(printable, letters_of_any_language_stay),
          TEST_OF(printable, characters_that_turn_text_around_or_show_nothing_are_escaped),
          TEST_OF(printable, invalid_utf8_bytes_are_escaped))
