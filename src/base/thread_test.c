#include "base/thread.h"

#include "test.h"

#include <pthread.h>
#include <stdatomic.h>

static cq_status count(void *user, int64_t block)
{
    atomic_fetch_add(&((atomic_int *)user)[block], 1);
    return CQ_OK;
}

static cq_status count_nested(void *user, int64_t block)
{
    (void)block;
    return cq_parallel_for(10, count, user);
}

static cq_status fail_at_7(void *user, int64_t block)
{
    (void)user;
    return block == 7 ? cq_fail(CQ_E_TYPE, "block", NULL, "no luck with %d", (int)block) : CQ_OK;
}

TEST(thread, every_block_runs_once)
{
    for (int threads = 1; threads <= 4; threads++) {
        cq_set_threads(threads);
        CHECK_INT(threads, cq_threads());
        for (int round = 0; round < 200; round++) {
            atomic_int n[37] = { 0 };

            CHECK_OK(cq_parallel_for(37, count, n));
            for (int i = 0; i < 37; i++)
                CHECK_INT(1, n[i]);
        }
    }
    CHECK_OK(cq_parallel_for(0, fail_at_7, NULL));
}

TEST(thread, jobs_inside_jobs_run_in_place)
{
    atomic_int n[10] = { 0 };

    cq_set_threads(3);
    CHECK_OK(cq_parallel_for(50, count_nested, n));
    for (int i = 0; i < 10; i++)
        CHECK_INT(50, n[i]);
}

TEST(thread, the_error_of_a_block_becomes_the_callers)
{
    for (int threads = 1; threads <= 3; threads++) {
        cq_set_threads(threads);
        CHECK_STATUS(CQ_E_TYPE, cq_parallel_for(20, fail_at_7, NULL));
        CHECK_STR("no luck with 7", cq_last_error()->message);
    }
}

static void *call_often(void *user)
{
    for (int i = 0; i < 300; i++)
        cq_parallel_for(8, count, user);
    return NULL;
}

TEST(thread, callers_do_not_disturb_each_other)
{
    atomic_int n[2][8] = { { 0 } };
    pthread_t  other;

    cq_set_threads(3);
    CHECK_INT(0, pthread_create(&other, NULL, call_often, n[0]));
    call_often(n[1]);
    pthread_join(other, NULL);
    for (int i = 0; i < 8; i++) {
        CHECK_INT(300, n[0][i]);
        CHECK_INT(300, n[1][i]);
    }
}

RUN_TESTS(TEST_OF(thread, every_block_runs_once), TEST_OF(thread, jobs_inside_jobs_run_in_place),
          TEST_OF(thread, the_error_of_a_block_becomes_the_callers),
          TEST_OF(thread, callers_do_not_disturb_each_other))
