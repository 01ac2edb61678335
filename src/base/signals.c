/* Initialization of a program on POSIX: signals that end it leave no temporary files, and
 * truncation of a mapped file is an error like any other. */
#define _XOPEN_SOURCE 700
#include <calque/system.h>

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static int exit_code_of_shrunk_file;

static void on_end(int number)
{
    cq_discard_outputs();
    raise(number); /* with the default action */
}

static atomic_flag is_ending = ATOMIC_FLAG_INIT;

static void on_bus_error(int number)
{
    static const char text[] = "error: a file became shorter while it was read\n"
                               "  hint: wait until the file is written, and try again\n";

    (void)number;
    if (atomic_flag_test_and_set(&is_ending))
        for (;;)
            pause(); /* the thread that came first ends the program */
    cq_discard_outputs();
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(exit_code_of_shrunk_file);
}

CQ_API void cq_program_begin(int *argc, char ***argv, int exit_code)
{
    static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM, SIGXCPU };
    struct sigaction act, old;

    (void)argc;
    (void)argv;
    exit_code_of_shrunk_file = exit_code;
    memset(&act, 0, sizeof act);
    sigfillset(&act.sa_mask);
    act.sa_flags   = (int)SA_RESETHAND;
    act.sa_handler = on_end;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL) /* nohup stays */
            sigaction(ends[i], &act, NULL);
    act.sa_flags   = 0; /* a second thread may meet the end of the file before this one is done */
    act.sa_handler = on_bus_error;
    sigaction(SIGBUS, &act, NULL);
    signal(SIGXFSZ, SIG_IGN); /* then write reports that the file is too large */
}
