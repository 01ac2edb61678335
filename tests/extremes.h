/* Helpers of the tests of extreme numbers: runtime/extremes_test.c generates
 * nodes, runtime/extremes_written_test.c has some that are written down. */
#ifndef CQ_TEST_EXTREMES_H
#define CQ_TEST_EXTREMES_H

#include "test.h"

#include <calque/session.h>

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    SECONDS = 240,
    STEPS   = 200000, /* a fiftieth of a second */
    MEMORY  = 1 << 26,
    SLOW    = 2, /* seconds of one run: far more than the steps allow, even if sanitized */
    NO_BASE = 3  /* exit code */
};

/* The small ones at the end are types of elements, where a number is one. */
static const int64_t ends[] = { INT64_MIN,
                                INT64_MIN + 1,
                                -((int64_t)1 << 62),
                                -1,
                                0,
                                INT32_MIN,
                                (int64_t)1 << 31,
                                (int64_t)1 << 62,
                                INT64_MAX,
                                2,
                                3,
                                9,
                                10,
                                14,
                                17,
                                22,
                                24 };
static const double  odd[]  = { INFINITY, -INFINITY, NAN, 1e38, -1e38, 9.3e18, -1e-38, 0 };

enum { N_ENDS = sizeof ends / sizeof *ends, N_ODD = sizeof odd / sizeof *odd };

static inline double extremes_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline cq_status extremes_run(const cq_onnx_model *m, cq_onnx_value *const *values,
                                     size_t n_values)
{
    cq_session_options options;
    cq_session        *session    = NULL;
    cq_onnx_value     *outputs[8] = { NULL };
    cq_status          status;

    cq_session_options_init(&options);
    options.max_steps  = STEPS;
    options.max_memory = MEMORY;
    options.threads    = 1;
    status             = cq_session_prepare(&session, m, &options);
    if (status == CQ_OK)
        status = cq_session_run(session, NULL, values, n_values, outputs);
    for (size_t i = 0; i < 8; i++)
        cq_onnx_value_release(outputs[i]);
    cq_session_free(session);
    return status;
}

/* The exit code of a process that sweeps one of them; negative: the signal that ended it. */
static inline int extremes_apart(int (*sweep)(const void *), const void *one)
{
    int   status;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* cmocka would go on */
        signal(SIGFPE, SIG_DFL);
        alarm(SECONDS);
        _exit(sweep(one));
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 1;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static inline bool extremes_failed(int code, const char *name, int version)
{
    if (code)
        print_error("%s %d: %s (%d)\n", name, version,
                    code == NO_BASE ? "no node was found that runs"
                    : code < 0      ? "a signal ended it"
                                    : "it failed",
                    code);
    return code != 0;
}

#endif
