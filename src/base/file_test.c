/* Large pieces of a mapped file go from file to file; what was changed in memory is written as it
 * is there. */
#include "base/file.h"

#include "test.h"

#include <stdio.h>
#include <unistd.h>

enum { SIZE = 1 << 20, SHIFT = 100 };

static char from[64], to[64];

/* Writes all but the first bytes of the mapping behind a few others, and gives what is in the file.
 */
static char *copied(cq_mapping *m)
{
    cq_out *o;
    char   *text;
    size_t  size;

    CHECK_STATUS(CQ_OK, cq_out_open(&o, to));
    cq_out_write(o, "head", 4);
    cq_out_write(o, (const char *)cq_mapping_data(m) + SHIFT, SIZE - SHIFT);
    cq_out_write(o, "tail", 4);
    CHECK_STATUS(CQ_OK, cq_out_commit(o));
    CHECK_STATUS(CQ_OK, cq_file_read(&text, &size, to));
    CHECK_INT(SIZE - SHIFT + 8, size);
    CHECK(memcmp(text, "head", 4) == 0 && memcmp(text + size - 4, "tail", 4) == 0);
    return text;
}

TEST(file, large_pieces_of_a_map_are_copied_and_changes_of_it_too)
{
    char       *bytes = cq_alloc(SIZE), *text;
    cq_mapping *m;

    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (char)(i * 7 + i / 1000);
    CHECK_STATUS(CQ_OK, cq_file_write(from, bytes, SIZE));
    CHECK_STATUS(CQ_OK, cq_mapping_open(&m, from));
    text = copied(m);
    CHECK(memcmp(text + 4, bytes + SHIFT, SIZE - SHIFT) == 0);
    cq_free(text);

    bytes[SIZE / 2] ^= 1;
    ((char *)cq_mapping_data(m))[SIZE / 2] ^= 1;
    text = copied(m);
    CHECK(memcmp(text + 4, bytes + SHIFT, SIZE - SHIFT) == 0);
    cq_free(text);
    cq_mapping_release(m);
    cq_free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OF(file, large_pieces_of_a_map_are_copied_and_changes_of_it_too),
    };
    int failed;

    snprintf(from, sizeof from, "file_test_%ld.from", (long)getpid());
    snprintf(to, sizeof to, "file_test_%ld.to", (long)getpid());
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(from);
    unlink(to);
    return failed;
}
