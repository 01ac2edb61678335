/* Marks are reused, never freed, and are in a list that only grows, so that a signal handler can
 * walk it at any time. */
#define _GNU_SOURCE /* O_NOFOLLOW, syscall */
#include "base/leftover.h"

#include "base/alloc.h"
#include "base/broker.h"
#include "base/posix.h"

#include <calque/status.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif

struct cq_leftover {
    cq_leftover *next;
    atomic_int   kind; /* FREE if it is unused, TAKEN until path is complete */
    char         path[PATH_MAX];
};

enum { FREE, TAKEN };

static _Atomic(cq_leftover *) marks;

cq_leftover *cq_leftover_new(cq_leftover_kind kind, const char *path)
{
    cq_leftover *m = atomic_load(&marks);
    int          free_kind;

    if (strlen(path) >= PATH_MAX)
        return NULL;
    for (; m; m = m->next) {
        free_kind = FREE;
        if (atomic_compare_exchange_strong(&m->kind, &free_kind, TAKEN))
            break;
    }
    if (!m) {
        m = cq_zalloc(sizeof *m);
        if (!m)
            return NULL;
        atomic_init(&m->kind, TAKEN);
        m->next = atomic_load(&marks);
        while (!atomic_compare_exchange_weak(&marks, &m->next, m))
            ;
    }
    strcpy(m->path, path);
    atomic_store(&m->kind, (int)kind);
    return m;
}

const char *cq_leftover_path(const cq_leftover *m)
{
    return m->path;
}

void cq_leftover_drop(cq_leftover *m)
{
    if (m)
        atomic_store(&m->kind, FREE);
}

/* ---- batches ---- */

enum { MAX_WAIT_MS = 5000 };

static atomic_int n_held;

void cq_leftover_hold(void)
{
    atomic_fetch_add(&n_held, 1);
}

void cq_leftover_let_go(void)
{
    atomic_fetch_sub(&n_held, 1);
}

static void wait_for_batches(void)
{
    const struct timespec pause = { .tv_nsec = 1000000 };

    for (int i = 0; i < MAX_WAIT_MS && atomic_load(&n_held) > 0; i++)
        nanosleep(&pause, NULL);
}

/* ---- trees ---- */

#ifdef __linux__
/* The kernel's struct: opendir allocates memory, which a signal handler must not do. */
typedef struct entry {
    uint64_t inode;
    int64_t  next;
    uint16_t size;
    uint8_t  type;
    char     name[];
} entry;

static bool delete_entries(int fd, int depth);

static bool delete_entry(int fd, const char *name, int depth)
{
    int inner;

    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return false;
    if (unlinkat(fd, name, 0) == 0)
        return true;
    if (depth == 0 || (errno != EISDIR && errno != EPERM))
        return false;
    inner = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0)
        return false;
    while (delete_entries(inner, depth - 1))
        ;
    close(inner);
    return unlinkat(fd, name, AT_REMOVEDIR) == 0;
}

/* Returns whether entries were deleted. Then there may be more, which the kernel skipped. */
static bool delete_entries(int fd, int depth)
{
    _Alignas(entry) char buffer[2048];
    bool                 any = false;
    long                 n;

    lseek(fd, 0, SEEK_SET);
    while ((n = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0)
        for (long at = 0; at < n; at += ((const entry *)(const void *)(buffer + at))->size)
            any |= delete_entry(fd, ((const entry *)(const void *)(buffer + at))->name, depth);
    return any;
}

void cq_tree_delete(const char *path)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return;
    while (delete_entries(fd, 1))
        ;
    close(fd);
    rmdir(path);
}
#else
void cq_tree_delete(const char *path)
{
    rmdir(path); /* trees are not used here: see stage.c */
}
#endif

CQ_API void cq_discard_outputs(void)
{
    const int code    = errno;
    bool      deleted = true;

    wait_for_batches();
    if (cq_broker_is_active()) {
        cq_broker_hang_up();
        return;
    }
    for (const cq_leftover *m = atomic_load(&marks); m; m = m->next)
        if (atomic_load(&m->kind) == CQ_LEFTOVER_FILE)
            unlink(m->path);
    for (const cq_leftover *m = atomic_load(&marks); m; m = m->next)
        if (atomic_load(&m->kind) == CQ_LEFTOVER_TREE)
            cq_tree_delete(m->path);
    while (deleted) { /* inner folders first, regardless of the order of the marks */
        deleted = false;
        for (const cq_leftover *m = atomic_load(&marks); m; m = m->next)
            deleted |= atomic_load(&m->kind) == CQ_LEFTOVER_FOLDER && rmdir(m->path) == 0;
    }
    errno = code;
}
