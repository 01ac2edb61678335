/* Files that lie. Each is a file of tests/data/pt2 with some bytes replaced by as many others. */
#include "pt2/program.h"

#include "test.h"

#include <stdio.h>

#define FOLDER CQ_TEST_DATA "/pt2/"

static cq_status open_changed(const char *file, const char *from, const char *to)
{
    cq_pt2_archive *archive;
    cq_pt2_program *program = NULL;
    cq_storage     *bytes;
    char           *data;
    size_t          size, n = 0, len = strlen(from);
    cq_status       status;

    CHECK_OK(cq_file_read(&data, &size, file));
    CHECK_OK(cq_storage_new(&bytes, size));
    memcpy(bytes->data, data, size);
    for (char *at = bytes->data; len && at + len <= (char *)bytes->data + size; at++)
        if (memcmp(at, from, len) == 0) {
            memcpy(at, to, len);
            n++;
        }
    if (len && !n)
        print_error("%s is not in %s\n", from, file);
    CHECK(!len || n);
    status = cq_pt2_archive_open_bytes(&archive, bytes, "changed.pt2", NULL);
    if (status == CQ_OK)
        status = cq_pt2_program_new(&program, archive);
    cq_pt2_program_free(program);
    cq_storage_release(bytes);
    cq_free(data);
    return status;
}

static void refuse(const char *file, const char *from, const char *to, const char *why)
{
    char path[512];

    CHECK_INT(strlen(from), strlen(to));
    snprintf(path, sizeof path, FOLDER "%s", file);
    if (open_changed(path, from, to) == CQ_OK)
        print_error("%s -> %s is accepted\n", from, to);
    CHECK(open_changed(path, from, to) != CQ_OK);
    if (!strstr(cq_last_error()->message, why))
        print_error("%s -> %s: %s\n", from, to, cq_last_error()->message);
    CHECK(strstr(cq_last_error()->message, why) != NULL);
}

TEST(pt2_program, both_archive_formats_can_be_read)
{
    CHECK_OK(open_changed(FOLDER "strided.26.pt2", "", ""));
    CHECK_OK(open_changed(FOLDER "strided.214.pt2", "", ""));
}

TEST(pt2_program, an_unknown_schema_is_refused_with_its_number)
{
    refuse("dynamic.214.pt2", "\"major\": 8", "\"major\": 9", "schema version 9");
    refuse("dynamic.26.pt2", "\"major\": 8", "\"major\": 0", "schema version 0");
    refuse("dynamic.214.pt2", "\"schema_version\"", "\"schema_varsion\"", "schema version");
}

TEST(pt2_program, fields_that_are_not_known_are_ignored)
{
    CHECK_OK(open_changed(FOLDER "dynamic.214.pt2", "\"guards_code\"", "\"guards_cade\""));
    CHECK_OK(open_changed(FOLDER "dynamic.214.pt2", "\"stack_trace\"", "\"stack_trice\""));
}

TEST(pt2_program, weights_are_checked_against_their_bytes)
{
    refuse("strided.214.pt2", "\"sizes\": [{\"as_int\": 6}", "\"sizes\": [{\"as_int\": 9}",
           "storage");
    refuse("strided.214.pt2", "\"path_name\": \"weight_1\"", "\"path_name\": \"weight_9\"",
           "weight_9");
    refuse("strided.214.pt2", "\"sizes\": [{\"as_int\": 4}", "\"sizes\": [{\"as_exp\": 4}",
           "shape of a weight");
    refuse("dtypes.214.pt2", "\"dtype\": 13", "\"dtype\": 99", "dtype");
}

TEST(pt2_program, names_have_to_be_made_before_they_are_used)
{
    refuse("dynamic.214.pt2", "{\"name\": \"relu\"}}, \"kind\"", "{\"name\": \"rely\"}}, \"kind\"",
           "used before it is computed");
    refuse("dynamic.214.pt2", "\"as_tensor\"", "\"as_tensar\"", "unknown kind as_tensar");
}

TEST(pt2_program, signature_and_graph_have_to_agree)
{
    refuse("dynamic.214.pt2", "\"input_specs\": [{\"parameter\"",
           "\"input_specs\": [{\"parametar\"", "unknown kind parametar");
    refuse("dynamic.214.pt2", "\"output_specs\"", "\"output_spacs\"", "signature");
}

TEST(pt2_program, truncated_files_are_refused)
{
    char  *data;
    size_t size;

    CHECK_OK(cq_file_read(&data, &size, FOLDER "dynamic.214.pt2"));
    for (size_t n = 0; n < size; n += size / 37) {
        cq_pt2_archive *archive;
        cq_storage     *bytes;

        CHECK_OK(cq_storage_new(&bytes, n));
        memcpy(bytes->data, data, n);
        CHECK(cq_pt2_archive_open_bytes(&archive, bytes, "part.pt2", NULL) != CQ_OK);
        cq_storage_release(bytes);
    }
    cq_free(data);
}

/* No byte of a program makes the reader do more than refuse it. */
TEST(pt2_program, changing_any_byte_never_crashes)
{
    char    *data;
    size_t   size;
    uint64_t state = 1;

    CHECK_OK(cq_file_read(&data, &size, FOLDER "strided.214.pt2"));
    for (int i = 0; i < 300; i++) {
        cq_pt2_archive *archive;
        cq_pt2_program *program = NULL;
        cq_storage     *bytes;

        CHECK_OK(cq_storage_new(&bytes, size));
        memcpy(bytes->data, data, size);
        for (int k = 0; k < 3; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            ((char *)bytes->data)[(state >> 20) % size] = "0129[]{}\":,-n"[(state >> 50) % 13];
        }
        if (cq_pt2_archive_open_bytes(&archive, bytes, "other.pt2", NULL) == CQ_OK)
            (void)cq_pt2_program_new(&program, archive);
        cq_pt2_program_free(program);
        cq_storage_release(bytes);
    }
    cq_free(data);
}

TEST(pt2_program, a_location_is_in_the_users_file)
{
    const char     *path = FOLDER "dynamic.214.pt2";
    cq_pt2_archive *archive;
    cq_pt2_program *program;
    cq_storage     *bytes;
    char            location[CQ_LOCATION_SIZE];

    CHECK_OK(cq_storage_open(&bytes, path));
    CHECK_OK(cq_pt2_archive_open_bytes(&archive, bytes, path, NULL));
    cq_storage_release(bytes);
    CHECK_OK(cq_pt2_program_new(&program, archive));
    cq_location_text(cq_pt2_location(program, &program->graph->nodes[1]), location);
    CHECK(strstr(location, "make.py:") != NULL);
    cq_pt2_program_free(program);
}

RUN_TESTS(TEST_OF(pt2_program, both_archive_formats_can_be_read),
          TEST_OF(pt2_program, an_unknown_schema_is_refused_with_its_number),
          TEST_OF(pt2_program, fields_that_are_not_known_are_ignored),
          TEST_OF(pt2_program, weights_are_checked_against_their_bytes),
          TEST_OF(pt2_program, names_have_to_be_made_before_they_are_used),
          TEST_OF(pt2_program, signature_and_graph_have_to_agree),
          TEST_OF(pt2_program, truncated_files_are_refused),
          TEST_OF(pt2_program, changing_any_byte_never_crashes),
          TEST_OF(pt2_program, a_location_is_in_the_users_file))
