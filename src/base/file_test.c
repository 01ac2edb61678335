#define _XOPEN_SOURCE 700 /* truncate */
/* Large pieces of a mapped file are copied from file to file; changed pages are written from
 * memory. */
#include "base/file.h"

#include "base/leftover.h"
#include "test.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE = 1 << 20, SHIFT = 100 };

static char from[64], to[64];

/* Writes the mapping, without its first bytes, after a few others, and returns the contents of the
 * file. */
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

TEST(file, a_file_that_shrinks_while_it_is_copied_is_an_error)
{
    char       *bytes = cq_zalloc(4 * SIZE), *text;
    cq_mapping *m;
    cq_out     *o;
    size_t      size;

    CHECK_STATUS(CQ_OK, cq_file_write(from, bytes, 4 * SIZE));
    CHECK_STATUS(CQ_OK, cq_file_write(to, "old", 3));
    CHECK_STATUS(CQ_OK, cq_mapping_open(&m, from));
    CHECK_INT(0, truncate(from, SIZE));
    CHECK_STATUS(CQ_OK, cq_out_open(&o, to));
    cq_out_write(o, cq_mapping_data(m), 4 * SIZE);
    CHECK_STATUS(CQ_E_IO, cq_out_commit(o));
    CHECK_STATUS(CQ_OK, cq_file_read(&text, &size, to));
    CHECK_STR("old", text);
    cq_free(text);
    cq_mapping_release(m);
    cq_free(bytes);
}

/* A hole at the end of a file is only visible in its size. */
TEST(file, zeros_are_holes_of_a_new_file)
{
    char       *bytes = cq_zalloc(4 * SIZE), *text;
    struct stat about;
    cq_out     *o;
    size_t      size;

    CHECK_STATUS(CQ_OK, cq_out_open(&o, to));
    cq_out_write(o, "head", 4);
    cq_out_zeros(o, 4 * SIZE);
    cq_out_write(o, "middle", 6);
    bytes[4 * SIZE - 1] = 1;
    cq_out_write(o, bytes, 4 * SIZE); /* not all of them zeros */
    bytes[4 * SIZE - 1] = 0;
    cq_out_write(o, bytes, 4 * SIZE);
    CHECK(cq_out_offset(o) == 12 * SIZE + 10);
    CHECK_STATUS(CQ_OK, cq_out_commit(o));
    CHECK_STATUS(CQ_OK, cq_file_read(&text, &size, to));
    CHECK_INT(12 * SIZE + 10, size);
    CHECK(memcmp(text, "head", 4) == 0 && memcmp(text + 4, bytes, 4 * SIZE) == 0);
    CHECK(memcmp(text + 4 * SIZE + 4, "middle", 6) == 0 && text[8 * SIZE + 9] == 1);
    CHECK(memcmp(text + 8 * SIZE + 10, bytes, 4 * SIZE) == 0);
    CHECK(stat(to, &about) == 0 && about.st_blocks * 512 <= 5 * SIZE);
    cq_free(text);
    cq_free(bytes);

    CHECK_STATUS(CQ_OK, cq_out_open(&o, to));
    cq_out_zeros(o, 4 * SIZE);
    cq_out_write(o, "tail", 4); /* data after a hole is kept */
    CHECK_STATUS(CQ_OK, cq_out_commit(o));
    CHECK_STATUS(CQ_OK, cq_file_read(&text, &size, to));
    CHECK(size == 4 * SIZE + 4 && memcmp(text + 4 * SIZE, "tail", 4) == 0);
    cq_free(text);

    CHECK_STATUS(CQ_OK, cq_out_open_memory(&o));
    cq_out_zeros(o, 3);
    CHECK_STATUS(CQ_OK, cq_out_take_memory(o, (void **)&text, &size));
    CHECK(size == 3 && memcmp(text, "\0\0\0", 3) == 0);
    cq_free(text);
}

TEST(file, a_small_file_is_read_at_once)
{
    cq_mapping *m;

    CHECK_STATUS(CQ_OK, cq_file_write(from, "some text", 9));
    CHECK_STATUS(CQ_OK, cq_mapping_open(&m, from));
    CHECK_INT(0, truncate(from, 0));
    cq_mapping_read(cq_mapping_data(m), 9);
    CHECK(memcmp(cq_mapping_data(m), "some text", 9) == 0);
    cq_mapping_release(m);
}

TEST(file, a_batch_is_put_into_place_together_or_not_at_all)
{
    char   folder[80], inside[100], *text;
    size_t size;

    snprintf(folder, sizeof folder, "%s.d", to);
    snprintf(inside, sizeof inside, "%s/a", folder);
    CHECK_STATUS(CQ_OK, cq_file_write(to, "old", 3));
    for (int fails = 1; fails >= 0; fails--) {
        cq_batch_begin();
        CHECK_STATUS(CQ_OK, cq_dir_make(folder));
        CHECK_STATUS(CQ_OK, cq_file_write(inside, "a", 1));
        cq_batch_begin(); /* of a part of the work */
        CHECK_STATUS(CQ_OK, cq_file_write(to, "new", 3));
        CHECK_STATUS(CQ_OK, cq_batch_end(CQ_OK));
        CHECK_STATUS(CQ_OK, cq_batch_delete(from));
        CHECK_STATUS(CQ_OK, cq_batch_delete(to)); /* which is replaced by then */
        CHECK(access(inside, F_OK) != 0);
        CHECK_STATUS(fails ? CQ_E_IO : CQ_OK, cq_batch_end(fails ? CQ_E_IO : CQ_OK));
        CHECK_INT(fails ? -1 : 0, access(folder, F_OK));
        CHECK_INT(fails ? -1 : 0, access(inside, F_OK));
        CHECK_INT(fails ? 0 : -1, access(from, F_OK));
        CHECK_STATUS(CQ_OK, cq_file_read(&text, &size, to));
        CHECK_STR(fails ? "old" : "new", text);
        cq_free(text);
    }
    unlink(inside);
    rmdir(folder);
}

static void write_in(const char *folder, const char *name, const char *text)
{
    char path[160];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK_STATUS(CQ_OK, cq_file_write(path, text, strlen(text)));
}

static void check_in(const char *folder, const char *name, const char *want)
{
    char   path[160], *text = NULL;
    size_t size;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK_INT(want ? 0 : -1, access(path, F_OK));
    if (!want)
        return;
    CHECK_STATUS(CQ_OK, cq_file_read(&text, &size, path));
    CHECK_STR(want, text);
    cq_free(text);
}

/* A folder with a file that is rewritten, one that is deleted, and one that is kept. */
static cq_status write_folder(const char *folder, const char *text, bool fails)
{
    const char *at;
    char        path[160];

    cq_batch_begin();
    CHECK_STATUS(CQ_OK, cq_batch_folder(&at, folder));
    write_in(at, "new", text);
    snprintf(path, sizeof path, "%s/gone", at);
    CHECK_STATUS(CQ_OK, cq_batch_delete(path));
    snprintf(path, sizeof path, "%s/inner", at);
    CHECK_STATUS(CQ_OK, cq_dir_make(path));
    write_in(path, "file", text);
    return cq_batch_end(fails ? cq_fail(CQ_E_IO, path, NULL, "no") : CQ_OK);
}

TEST(file, a_new_folder_appears_as_a_whole_and_files_of_others_stay)
{
    char folder[80], inner[100];

    snprintf(folder, sizeof folder, "%s.f", to);
    snprintf(inner, sizeof inner, "%s/inner", folder);
    CHECK_STATUS(CQ_E_IO, write_folder(folder, "one", true));
    CHECK_STR(inner, cq_last_error()->where);
    CHECK_INT(-1, access(folder, F_OK));
    CHECK_STATUS(CQ_OK, write_folder(folder, "one", false));
    write_in(folder, "gone", "of the user");
    write_in(folder, "stays", "of the user");
    CHECK_STATUS(CQ_E_IO, write_folder(folder, "two", true));
    check_in(folder, "new", "one");
    check_in(folder, "gone", "of the user");
    CHECK_STATUS(CQ_OK, write_folder(folder, "two", false));
    check_in(folder, "new", "two");
    check_in(inner, "file", "two");
    check_in(folder, "gone", NULL);
    check_in(folder, "stays", "of the user");
    cq_tree_delete(folder);
    CHECK_INT(-1, access(folder, F_OK));
}

/* The second file cannot be renamed, because a folder has its name by then. */
TEST(file, a_batch_that_fails_half_way_is_undone)
{
    char   blocked[80], new_path[80], stale[80], *text;
    size_t size;

    snprintf(blocked, sizeof blocked, "%s.blocked", to);
    snprintf(new_path, sizeof new_path, "%s.new", to);
    snprintf(stale, sizeof stale, "%s.stale", to);
    CHECK_STATUS(CQ_OK, cq_file_write(to, "old", 3));
    CHECK_STATUS(CQ_OK, cq_file_write(stale, "stale", 5));
    cq_batch_begin();
    CHECK_STATUS(CQ_OK, cq_file_write(to, "new", 3));
    CHECK_STATUS(CQ_OK, cq_file_write(new_path, "new", 3));
    CHECK_STATUS(CQ_OK, cq_file_write(blocked, "new", 3));
    CHECK_STATUS(CQ_OK, cq_batch_delete(stale));
    CHECK_INT(0, mkdir(blocked, 0777));
    CHECK_STATUS(CQ_E_IO, cq_batch_end(CQ_OK));
    CHECK(!cq_batch_collided());
    CHECK_STATUS(CQ_OK, cq_file_read(&text, &size, to));
    CHECK_STR("old", text);
    cq_free(text);
    CHECK_INT(-1, access(new_path, F_OK));
    CHECK_INT(0, access(stale, F_OK));
    unlink(stale);
    rmdir(blocked);
}

TEST(file, a_file_that_must_be_new_replaces_nothing)
{
    char   path[80], *text;
    size_t size;

    snprintf(path, sizeof path, "%s.only", to);
    CHECK_STATUS(CQ_OK, cq_file_write(to, "old", 3));
    for (int exists = 0; exists < 2; exists++) {
        cq_out *o;
        FILE   *other;

        cq_batch_begin();
        CHECK_STATUS(CQ_OK, cq_out_open_new(&o, path));
        CHECK_STATUS(CQ_OK, cq_out_commit(o));
        CHECK_STATUS(CQ_OK, cq_file_write(to, exists ? "newer" : "new", exists ? 5 : 3));
        other = exists ? fopen(path, "w") : NULL; /* simulates another program */
        CHECK(!other || fclose(other) == 0);
        CHECK_STATUS(exists ? CQ_E_IO : CQ_OK, cq_batch_end(CQ_OK));
        CHECK(cq_batch_collided() == (bool)exists);
        CHECK_STATUS(CQ_OK, cq_file_read(&text, &size, to));
        CHECK_STR("new", text);
        cq_free(text);
        unlink(path);
    }
}

/* A file that has changed since the batch named it is kept. */
TEST(file, a_file_that_the_user_saves_meanwhile_is_not_deleted)
{
    char path[80];

    snprintf(path, sizeof path, "%s.mine", to);
    for (int changed = 1; changed >= 0; changed--) {
        FILE *file;

        CHECK_STATUS(CQ_OK, cq_file_write(path, "old", 3));
        cq_batch_begin();
        CHECK_STATUS(CQ_OK, cq_batch_delete(path));
        file = changed ? fopen(path, "a") : NULL;
        CHECK(!file || (fputs("more", file) >= 0 && fclose(file) == 0));
        CHECK_STATUS(CQ_OK, cq_batch_end(CQ_OK));
        CHECK_INT(changed ? 0 : -1, access(path, F_OK));
    }
}

TEST(file, a_folder_is_locked_until_the_end_of_the_batch)
{
    char folder[80];

    snprintf(folder, sizeof folder, "%s.l", to);
    CHECK_INT(0, mkdir(folder, 0777));
    for (int i = 0; i < 2; i++) {
        cq_batch_begin();
        CHECK_INT(CQ_LOCK_HELD, cq_batch_lock(folder));
        CHECK_INT(CQ_LOCK_HELD, cq_batch_lock(folder)); /* its own lock does not exclude it */
        CHECK_STATUS(CQ_OK, cq_batch_end(CQ_OK));
    }
    CHECK_INT(CQ_LOCK_NONE, cq_batch_lock("not/there"));
    rmdir(folder);
}

TEST(file, pending_outputs_can_be_discarded)
{
    cq_out *o;

    CHECK_STATUS(CQ_OK, cq_file_write(to, "old", 3));
    CHECK_STATUS(CQ_OK, cq_out_open(&o, to));
    cq_out_write(o, "new", 3);
    cq_discard_outputs();
    CHECK_STATUS(CQ_E_NOT_FOUND, cq_out_commit(o)); /* its temporary file is gone */
    CHECK_INT(0, access(to, F_OK));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OF(file, large_pieces_of_a_map_are_copied_and_changes_of_it_too),
        TEST_OF(file, a_file_that_shrinks_while_it_is_copied_is_an_error),
        TEST_OF(file, zeros_are_holes_of_a_new_file),
        TEST_OF(file, a_small_file_is_read_at_once),
        TEST_OF(file, a_batch_is_put_into_place_together_or_not_at_all),
        TEST_OF(file, a_new_folder_appears_as_a_whole_and_files_of_others_stay),
        TEST_OF(file, a_batch_that_fails_half_way_is_undone),
        TEST_OF(file, a_file_that_must_be_new_replaces_nothing),
        TEST_OF(file, a_file_that_the_user_saves_meanwhile_is_not_deleted),
        TEST_OF(file, a_folder_is_locked_until_the_end_of_the_batch),
        TEST_OF(file, pending_outputs_can_be_discarded),
    };
    int failed;

    snprintf(from, sizeof from, "file_test_%ld.from", (long)getpid());
    snprintf(to, sizeof to, "file_test_%ld.to", (long)getpid());
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(from);
    unlink(to);
    return failed;
}
