/* Loaded into calque by LD_PRELOAD: every FAIL_EACH-th allocation fails once, each in a separate
 * process. The process forks at the allocation. In the child the allocation fails and the command
 * continues to its end; the parent waits and continues without a failure. A line of FAIL_LOG has
 * the number of the allocation, the status of waitpid, and the child's output with spaces instead
 * of line breaks. The last line has the number of all allocations. Only the first thread fails. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

enum { SHOWN = 400, CHILD_SECONDS = 120 };

static long  n_allocations, each = -1;
static int   log_fd = -1, is_child, is_busy;
static pid_t me;
static char  outputs[2][4096];

static int open_log(void)
{
    const char *path = getenv("FAIL_LOG"), *step = getenv("FAIL_EACH");

    each   = step ? atol(step) : 0;
    me     = getpid();
    log_fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    for (int i = 0; i < 2 && path; i++)
        snprintf(outputs[i], sizeof outputs[i], "%s.%d", path, i + 1);
    return log_fd >= 0;
}

static void redirect(int to, const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    dup2(fd, to);
    close(fd);
}

/* The beginning of a file, printable; its length. */
static long read_output(const char *path, char *text)
{
    const int  fd   = open(path, O_RDONLY);
    ssize_t    n    = read(fd, text, SHOWN);
    const long size = (long)lseek(fd, 0, SEEK_END);

    close(fd);
    text[n > 0 ? n : 0] = '\0';
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    return size;
}

static void note(int status)
{
    char       text[2][SHOWN + 1], line[3 * SHOWN];
    const long size = read_output(outputs[0], text[0]);
    int        n;

    read_output(outputs[1], text[1]);
    n = snprintf(line, sizeof line, "%ld\t%d\t%ld\t%s\t%s\n", n_allocations, status, size, text[0],
                 text[1]);
    (void)!write(log_fd, line, (size_t)n);
}

static int fails(void)
{
    const int error  = errno;
    int       status = 0;
    pid_t     pid;

    if (is_child || is_busy)
        return 0;
    is_busy = 1;
    if (each < 0)
        open_log();
    is_busy = 0;
    if (log_fd < 0 || gettid() != me)
        return 0;
    n_allocations++;
    if (each <= 0 || n_allocations % each)
        return 0;
    pid = fork();
    if (pid == 0) {
        is_child = 1;
        alarm(CHILD_SECONDS);
        redirect(1, outputs[0]);
        redirect(2, outputs[1]);
        errno = ENOMEM;
        return 1;
    }
    is_busy = 1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    note(status);
    is_busy = 0;
    errno   = error;
    return 0;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    return fails() ? NULL : __libc_realloc(p, size);
}

__attribute__((destructor)) static void finish(void)
{
    char line[64];
    int  n = snprintf(line, sizeof line, "%ld\n", n_allocations);

    if (!is_child && log_fd >= 0)
        (void)!write(log_fd, line, (size_t)n);
}
