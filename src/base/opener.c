/* Opens a file in the user's browser (<calque/system.h>). A sandbox forbids starting programs, so a
 * second process is created before the sandbox is entered; it waits for the path. */
#include <calque/system.h>

#include "base/error.h"
#include "base/posix.h"

#include <errno.h>
#include <string.h>

enum { MAX_PATH = 4096 };

static int to_opener = -1;

/* In the second process: reads the path and executes the program that opens it. */
static void wait_and_open(int from)
{
    char    path[MAX_PATH];
    size_t  n = 0;
    ssize_t got;

    while (n + 1 < sizeof path && (got = read(from, path + n, sizeof path - 1 - n)) > 0)
        n += (size_t)got;
    path[n] = '\0';
    if (n) {
        execlp("xdg-open", "xdg-open", path, (char *)NULL);
        execlp("open", "open", path, (char *)NULL);
    }
    _exit(n != 0);
}

CQ_API cq_status cq_opener_start(void)
{
    int   ends[2];
    pid_t child;

    if (to_opener >= 0)
        return CQ_OK;
    if (pipe(ends) != 0)
        return cq_fail(CQ_E_IO, NULL, NULL, "cannot make a pipe: %s", strerror(errno));
    child = fork();
    if (child == 0) {
        close(ends[1]);
        wait_and_open(ends[0]);
    }
    close(ends[0]);
    if (child < 0) {
        close(ends[1]);
        return cq_fail(CQ_E_IO, NULL, NULL, "cannot start a process: %s", strerror(errno));
    }
    to_opener = ends[1];
    return CQ_OK;
}

CQ_API cq_status cq_opener_open(const char *path)
{
    CQ_NEED(path);
    const size_t n    = strlen(path);
    bool         sent = to_opener >= 0 && n < MAX_PATH && write(to_opener, path, n) == (ssize_t)n;

    if (to_opener >= 0)
        close(to_opener);
    to_opener = -1;
    return sent ? CQ_OK
                : cq_fail(CQ_E_IO, path, "open the file by hand", "no program can be started");
}
