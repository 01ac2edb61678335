/* Loaded into calque by LD_PRELOAD: its INTERRUPT_AT-th change of the file system kills the
 * process, or with INTERRUPT_ERROR=N fails with that errno. Changes are files and folders that are
 * created, renamed, linked or deleted, and files that are synchronised. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int reaches(int is_send)
{
    static atomic_int n;
    const char       *at = getenv("INTERRUPT_AT");

    return at && !getenv("INTERRUPT_SEND") == !is_send && atomic_fetch_add(&n, 1) + 1 == atoi(at);
}

static int fails(void)
{
    const char *error = getenv("INTERRUPT_ERROR");

    if (!reaches(0))
        return 0;
    if (!error) {
        kill(0, SIGKILL);
        pause();
    }
    errno = atoi(error);
    return 1;
}

#define NEXT(name) (*(__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Before the request is sent, at odd numbers, and after it, at even ones. */
ssize_t send(int fd, const void *data, size_t size, int flags)
{
    ssize_t n;

    if (reaches(1))
        syscall(SYS_exit_group, 137);
    n = NEXT(send)(fd, data, size, flags);
    if (reaches(1))
        syscall(SYS_exit_group, 137);
    return n;
}

int rename(const char *from, const char *to)
{
    return fails() ? -1 : NEXT(rename)(from, to);
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
    return fails() ? -1 : NEXT(renameat2)(a, from, b, to, flags);
}

int link(const char *from, const char *to)
{
    return fails() ? -1 : NEXT(link)(from, to);
}

int unlink(const char *path)
{
    return fails() ? -1 : NEXT(unlink)(path);
}

int unlinkat(int fd, const char *path, int flags)
{
    return fails() ? -1 : NEXT(unlinkat)(fd, path, flags);
}

int mkdir(const char *path, mode_t mode)
{
    return fails() ? -1 : NEXT(mkdir)(path, mode);
}

int rmdir(const char *path)
{
    return fails() ? -1 : NEXT(rmdir)(path);
}

int fsync(int fd)
{
    return fails() ? -1 : NEXT(fsync)(fd);
}

int open(const char *path, int flags, ...)
{
    va_list more;
    mode_t  mode;

    va_start(more, flags);
    mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    return flags & O_CREAT && fails() ? -1 : NEXT(open)(path, flags, mode);
}
