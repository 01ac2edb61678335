#define _GNU_SOURCE /* syscall */
#include "base/change.h"

#include "base/broker.h"
#include "base/leftover.h"
#include "base/posix.h"

#include <errno.h>
#include <stdio.h>

enum { NO_REPLACE = 1, EXCHANGE }; /* values as on Linux */

#ifdef __linux__
#include <sys/syscall.h>

/* renameat2 is called directly, because musl lacks it. */
static int rename_with(const char *from, const char *to, unsigned flags)
{
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
}
#elif defined(__APPLE__)
static int rename_with(const char *from, const char *to, unsigned flags)
{
    return renamex_np(from, to, flags == EXCHANGE ? RENAME_SWAP : RENAME_EXCL);
}
#elif defined(_WIN32)
static int rename_with(const char *from, const char *to, unsigned flags)
{
    if (flags == NO_REPLACE)
        return cq_windows_rename_new(from, to);
    errno = EINVAL;
    return -1;
}
#else
static int rename_with(const char *from, const char *to, unsigned flags)
{
    (void)from;
    (void)to;
    (void)flags;
    errno = EINVAL;
    return -1;
}
#endif

/* Renames a file; fails if the target exists. Uses a hard link if the file system supports links,
 * otherwise a check with a race as a last resort. */
static int rename_new(const char *from, const char *to)
{
    if (rename_with(from, to, NO_REPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (link(from, to) == 0)
        return unlink(from);
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK)
        return -1; /* EMLINK: emscripten's file system in memory */
    if (access(to, F_OK) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

static int rename_here(const char *from, const char *to, cq_rename_how how)
{
    switch (how) {
    case CQ_RENAME_REPLACE: return rename(from, to);
    case CQ_RENAME_NEW: return rename_new(from, to);
    case CQ_RENAME_EXCHANGE: break;
    }
    if (rename_with(from, to, EXCHANGE) == 0)
        return 0;
    errno = errno == ENOSYS ? EINVAL : errno;
    return -1;
}

int cq_change_create(const char *path, mode_t mode, bool exact)
{
    int fd;

    if (cq_broker_is_active())
        return cq_broker_ask(CQ_BROKER_CREATE, path, "", (int)mode | (exact ? CQ_BROKER_EXACT : 0));
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd >= 0 && exact)
        (void)!fchmod(fd, mode & 0777);
    return fd;
}

int cq_change_open(const char *path)
{
    if (cq_broker_is_active())
        return cq_broker_ask(CQ_BROKER_OPEN, path, "", 0);
    return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
}

int cq_change_rename(const char *from, const char *to, cq_rename_how how)
{
    return cq_broker_is_active() ? cq_broker_ask(CQ_BROKER_RENAME, from, to, (int)how)
                                 : rename_here(from, to, how);
}

int cq_change_link(const char *from, const char *to)
{
    return cq_broker_is_active() ? cq_broker_ask(CQ_BROKER_LINK, from, to, 0) : link(from, to);
}

int cq_change_delete(const char *path)
{
    return cq_broker_is_active() ? cq_broker_ask(CQ_BROKER_DELETE, path, "", 0) : unlink(path);
}

int cq_change_make_folder(const char *path)
{
    return cq_broker_is_active() ? cq_broker_ask(CQ_BROKER_MAKE_FOLDER, path, "", 0)
                                 : mkdir(path, 0777);
}

int cq_change_delete_folder(const char *path)
{
    return cq_broker_is_active() ? cq_broker_ask(CQ_BROKER_DELETE_FOLDER, path, "", 0)
                                 : rmdir(path);
}

int cq_change_delete_tree(const char *path)
{
    if (cq_broker_is_active())
        return cq_broker_ask(CQ_BROKER_DELETE_TREE, path, "", 0);
    cq_tree_delete(path);
    return 0;
}

void cq_change_begin(void)
{
    if (cq_broker_is_active())
        cq_broker_ask(CQ_BROKER_BEGIN, "", "", 0);
}

void cq_change_end(char *const *unneeded, size_t n_unneeded)
{
    for (size_t i = 0; i < n_unneeded; i++)
        if (cq_broker_is_active())
            cq_broker_ask(CQ_BROKER_UNNEEDED, unneeded[i], "", 0);
        else
            unlink(unneeded[i]);
    if (cq_broker_is_active())
        cq_broker_ask(CQ_BROKER_END, "", "", 0);
}
