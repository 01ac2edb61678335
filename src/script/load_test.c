#include "archive/archive.h"
#include "base/file.h"
#include "script/script.h"

#include "test.h"

enum { MEGABYTE = 1 << 20 };

/* A list of two references to a list of two references …, 200 levels deep. */
TEST(load, shared_values_are_converted_once)
{
    cq_script *s;

    CHECK_OK(cq_script_load_limited(&s, CQ_TEST_DATA "/shared_lists.pt", 0, MEGABYTE));
    cq_script_free(s);
}

/* 6 KB that decompress and unpickle to nearly a gigabyte. */
TEST(load, memory_of_archive_values_is_limited)
{
    const char *path = CQ_TEST_DATA "/many_values.pt";
    cq_script  *s;

    CHECK_STATUS(CQ_E_NO_MEMORY, cq_script_load_limited(&s, path, 0, MEGABYTE));
    CHECK(!s);
    CHECK_STR("allow more memory with --max-memory", cq_last_error()->hint);
    CHECK_STATUS(CQ_E_NO_MEMORY, cq_script_load(&s, path));
}

TEST(load, the_limit_of_reading_grows_with_the_file)
{
    const int64_t small = cq_archive_max_bytes(4096), none = cq_archive_max_bytes(0);

    CHECK(none <= CQ_ARCHIVE_BYTES && small >= none);
    CHECK(small <= CQ_ARCHIVE_BYTES + CQ_ARCHIVE_FACTOR * 4096);
}

static void count_release(void *user)
{
    (*(int *)user)++;
}

TEST(load, bytes_are_released_once_and_when_loading_fails_too)
{
    static char text[]   = "def f(x: Tensor) -> Tensor:\n    return x + 1\n";
    static char broken[] = "PK\3\4 no archive";
    int         released = 0;
    cq_script  *s;

    CHECK_OK(cq_script_load_bytes(&s, text, sizeof text - 1, "text.py", count_release, &released));
    CHECK_INT(1, cq_script_n_params(s, "f"));
    cq_script_free(s);
    CHECK_INT(1, released);
    CHECK(cq_script_load_bytes(&s, broken, sizeof broken, NULL, count_release, &released) != CQ_OK);
    CHECK(!s);
    CHECK_INT(2, released);
}

TEST(load, an_archive_in_memory_is_that_of_the_file)
{
    char      *bytes;
    size_t     size;
    cq_script *s;

    CHECK_OK(cq_file_read(&bytes, &size, CQ_TEST_DATA "/shared_lists.pt"));
    CHECK_OK(cq_script_load_bytes(&s, bytes, size, "shared_lists.pt", cq_buffer_free, bytes));
    cq_script_free(s);
}

RUN_TESTS(TEST_OF(load, shared_values_are_converted_once),
          TEST_OF(load, memory_of_archive_values_is_limited),
          TEST_OF(load, the_limit_of_reading_grows_with_the_file),
          TEST_OF(load, bytes_are_released_once_and_when_loading_fails_too),
          TEST_OF(load, an_archive_in_memory_is_that_of_the_file))
