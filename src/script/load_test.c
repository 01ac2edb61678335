#include "archive/archive.h"
#include "script/script.h"

#include "test.h"

enum { MEGABYTE = 1 << 20 };

/* A list of two references to a list of two references … 200 times. */
TEST(load, what_is_shared_is_converted_once)
{
    cq_script *s;

    CHECK_OK(cq_script_load_limited(&s, CQ_TEST_DATA "/shared_lists.pt", 0, MEGABYTE));
    cq_script_free(s);
}

/* 6 KB that unpack and unpickle to nearly a gigabyte. */
TEST(load, what_an_archive_makes_is_limited)
{
    const char *path = CQ_TEST_DATA "/many_values.pt";
    cq_script  *s;

    CHECK_STATUS(CQ_E_NO_MEMORY, cq_script_load_limited(&s, path, 0, MEGABYTE));
    CHECK(!s);
    CHECK_STR("--max-memory allows for more", cq_last_error()->hint);
    CHECK_STATUS(CQ_E_NO_MEMORY, cq_script_load(&s, path));
}

TEST(load, the_limit_of_reading_grows_with_the_file)
{
    const int64_t small = cq_archive_max_bytes(4096), none = cq_archive_max_bytes(0);

    CHECK(none <= CQ_ARCHIVE_BYTES && small >= none);
    CHECK(small <= CQ_ARCHIVE_BYTES + CQ_ARCHIVE_FACTOR * 4096);
}

RUN_TESTS(TEST_OF(load, what_is_shared_is_converted_once),
          TEST_OF(load, what_an_archive_makes_is_limited),
          TEST_OF(load, the_limit_of_reading_grows_with_the_file))
