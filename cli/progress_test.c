#include "cli.h"

#include "test.h"

static char text[64];

TEST(progress, the_bar_is_as_full_as_the_work_is_done)
{
    cli_progress_bar(text, sizeof text, 10, "writing", 0, 200);
    CHECK_STR("..........   0 %  writing", text);
    cli_progress_bar(text, sizeof text, 10, "writing", 99, 200);
    CHECK_STR("####......  49 %  writing", text);
    cli_progress_bar(text, sizeof text, 10, "writing", 200, 200);
    CHECK_STR("########## 100 %  writing", text);
}

TEST(progress, overfull_and_empty_progress_is_complete)
{
    cli_progress_bar(text, sizeof text, 4, "x", 3, 2);
    CHECK_STR("#### 100 %  x", text);
    cli_progress_bar(text, sizeof text, 4, "x", 0, 0);
    CHECK_STR("#### 100 %  x", text);
}

TEST(progress, a_small_buffer_is_not_overrun)
{
    char small[8];

    cli_progress_bar(small, sizeof small, 50, "writing", 1, 2);
    CHECK_STR("#######", small);
}

RUN_TESTS(TEST_OF(progress, the_bar_is_as_full_as_the_work_is_done),
          TEST_OF(progress, overfull_and_empty_progress_is_complete),
          TEST_OF(progress, a_small_buffer_is_not_overrun))
