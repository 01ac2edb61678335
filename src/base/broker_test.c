/* Requests for outputs succeed, all others are refused. */
#define _XOPEN_SOURCE 700
#include "base/broker.h"

#include "base/change.h"
#include "base/leftover.h"
#include "base/stage.h"
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char top[64], out[96], folder[96], other[96];

static int n_hidden(void)
{
    char  command[160], text[16] = "";
    FILE *pipe;

    snprintf(command, sizeof command, "find %s -name '.calque-*' | wc -l", top);
    pipe = popen(command, "r");
    CHECK(pipe && fgets(text, sizeof text, pipe));
    pclose(pipe);
    return atoi(text);
}

static void start(void)
{
    const cq_broker_output outputs[] = { { out, false }, { folder, true } };

    CHECK(cq_broker_start(outputs, 2));
}

static void check_file(const char *path, const char *want)
{
    char  *text;
    size_t size;

    CHECK_STATUS(CQ_OK, cq_file_read(&text, &size, path));
    CHECK_STR(want, text);
    cq_free(text);
}

/* Begins a batch of two files and ends the process at step how_far. */
static void write_half(int how_far)
{
    start();
    cq_batch_begin();
    cq_file_write(out, "new", 3);
    if (how_far == 1) {
        cq_change_begin();
        cq_change_create(other, 0666, false); /* this request is refused */
    }
    _exit(0); /* without atexit handlers */
}

TEST(broker, cleans_up_after_a_process_that_ends)
{
    CHECK_STATUS(CQ_OK, cq_file_write(out, "old", 3));
    for (int how_far = 0; how_far < 2; how_far++) {
        const pid_t child = fork();

        if (child == 0)
            write_half(how_far);
        CHECK(waitpid(child, NULL, 0) == child);
        for (int i = 0; i < 500 && n_hidden(); i++)
            nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
        CHECK_INT(0, n_hidden());
        CHECK_INT(-1, access(other, F_OK));
        check_file(out, "old");
    }
}

TEST(broker, undoes_renames_that_were_not_completed)
{
    char        one[160], two[160];
    const pid_t child = fork();

    if (child == 0) {
        start();
        snprintf(one, sizeof one, "%s/.calque-00000000000000aa.part", top);
        snprintf(two, sizeof two, "%s.data", out);
        close(cq_change_create(one, 0666, false));
        cq_change_begin();
        _exit(cq_change_rename(one, out, CQ_RENAME_EXCHANGE) == 0 &&
                      cq_change_rename(one, two, CQ_RENAME_NEW) == 0
                  ? 0
                  : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    for (int i = 0; i < 500 && n_hidden(); i++)
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    snprintf(two, sizeof two, "%s.data", out);
    CHECK_INT(-1, access(two, F_OK));
    CHECK_INT(0, n_hidden());
    check_file(out, "old");
}

TEST(broker, makes_outputs_and_nothing_else)
{
    const char *at;
    char        path[160], hidden[160];

    start();
    CHECK_STATUS(CQ_OK, cq_file_write(out, "new", 3));
    check_file(out, "new");
    CHECK_STATUS(CQ_E_IO, cq_file_write(other, "x", 1));
    cq_batch_begin();
    CHECK_STATUS(CQ_OK, cq_batch_folder(&at, folder));
    snprintf(path, sizeof path, "%s/inner", at);
    CHECK_STATUS(CQ_OK, cq_dir_make(path));
    snprintf(path, sizeof path, "%s/inner/file", at);
    CHECK_STATUS(CQ_OK, cq_file_write(path, "in", 2));
    CHECK_STATUS(CQ_OK, cq_batch_end(CQ_OK));
    snprintf(path, sizeof path, "%s/inner/file", folder);
    check_file(path, "in");

    snprintf(path, sizeof path, "%s/../other", folder);
    snprintf(hidden, sizeof hidden, "%s/.calque-00000000000000bb.part", top); /* another's */
    CHECK_INT(-1, cq_change_create(path, 0666, false));
    CHECK_INT(-1, cq_change_delete(top));
    CHECK_INT(-1, cq_change_delete_folder(top));
    CHECK_INT(-1, cq_change_delete(hidden));
    CHECK_INT(EACCES, errno);
    CHECK_INT(-1, cq_change_rename(hidden, out, CQ_RENAME_REPLACE));
    CHECK_INT(-1, cq_change_link(out, other));
    CHECK_INT(-1, cq_change_open(out)); /* a regular file */
    CHECK_INT(0, n_hidden());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OF(broker, cleans_up_after_a_process_that_ends),
        TEST_OF(broker, undoes_renames_that_were_not_completed),
        TEST_OF(broker, makes_outputs_and_nothing_else), /* last: this process has one then */
    };
    const pid_t runner = fork(); /* so that the folder can be deleted without a broker */
    int         status = 1;

    snprintf(top, sizeof top, "broker_test_%ld", (long)(runner ? runner : getpid()));
    snprintf(out, sizeof out, "%s/out", top);
    snprintf(folder, sizeof folder, "%s/case", top);
    snprintf(other, sizeof other, "%s/other", top);
    if (runner == 0) {
        mkdir(top, 0777);
        return cmocka_run_group_tests(tests, NULL, NULL);
    }
    waitpid(runner, &status, 0);
    {
        char command[96];

        snprintf(command, sizeof command, "rm -rf %s", top);
        if (system(command) != 0)
            status = 1;
    }
    return status != 0;
}
