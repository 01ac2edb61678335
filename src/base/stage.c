/* The content of a folder is made in a new one beside it, which takes its place by one rename: an
 * exchange of the two where the kernel knows that, so that there is no moment without either. What
 * the folder holds is in the new one too, as hard links: files are never changed, only replaced.
 *
 * Not every folder can be replaced so: not the one that somebody works in, not one with links or
 * folders in folders, not one of somebody else's. Those are written to file by file. */
#define _GNU_SOURCE /* renameat2, O_NOFOLLOW */
#include "base/stage.h"

#include "base/mapping.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_ENTRIES = 1 << 14 /* of a folder: beyond it is not a test-case */ };

#ifdef __linux__

/* ---- whether ---- */

/* The last part of a path is a name of its own, which can be given to another folder. */
static bool has_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name  = slash ? slash + 1 : path;

    return *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* A shell that works in a folder would be left in the deleted one. */
static bool is_worked_in(const char *path)
{
    char   here[PATH_MAX], real[PATH_MAX];
    size_t n;

    if (!getcwd(here, sizeof here) || !realpath(path, real))
        return true;
    n = strlen(real);
    return strncmp(here, real, n) == 0 && (here[n] == '/' || here[n] == '\0');
}

static bool is_replaceable(const char *path, const struct stat *st)
{
    return S_ISDIR(st->st_mode) && st->st_uid == geteuid() && !is_worked_in(path);
}

/* ---- links to what is there ---- */

static bool link_folder(int from, int to, int depth, int *n);

static bool link_entry(int from, int to, const char *name, int depth, int *n)
{
    struct stat st;
    int         inner_from, inner_to;
    bool        ok;

    if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || ++*n > MAX_ENTRIES)
        return false;
    if (S_ISREG(st.st_mode))
        return linkat(from, name, to, name, 0) == 0;
    if (!S_ISDIR(st.st_mode) || depth == 0 || mkdirat(to, name, 0700) < 0)
        return false;
    inner_from = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    inner_to   = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    ok         = inner_from >= 0 && inner_to >= 0 && fchmod(inner_to, st.st_mode & 07777) == 0 &&
         link_folder(inner_from, inner_to, depth - 1, n);
    if (inner_from >= 0)
        close(inner_from);
    if (inner_to >= 0)
        close(inner_to);
    return ok;
}

static bool link_folder(int from, int to, int depth, int *n)
{
    int                  copy = fcntl(from, F_DUPFD_CLOEXEC, 0);
    DIR                 *dir  = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *entry;
    bool                 ok = dir != NULL;

    if (!dir && copy >= 0)
        close(copy);
    while (ok && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            ok = link_entry(from, to, entry->d_name, depth, n);
    if (dir)
        closedir(dir);
    return ok;
}

static bool link_all(const char *from, const char *to, mode_t mode)
{
    const int how     = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    const int from_fd = open(from, how), to_fd = open(to, how);
    int       n  = 0;
    bool      ok = from_fd >= 0 && to_fd >= 0 && fchmod(to_fd, mode & 07777) == 0 &&
              link_folder(from_fd, to_fd, 1, &n);

    if (from_fd >= 0)
        close(from_fd);
    if (to_fd >= 0)
        close(to_fd);
    return ok;
}

/* ---- a stage ---- */

static cq_status make_parent(const char *target)
{
    const char *slash  = strrchr(target, '/');
    char       *parent = cq_strdup(target);
    cq_status   status = parent ? CQ_OK : CQ_E_NO_MEMORY;

    if (parent && slash && slash != target) {
        parent[slash - target] = '\0';
        status                 = cq_dir_make(parent);
    }
    cq_free(parent);
    return status;
}

/* Leaves target NULL when it cannot be done. */
static cq_status open_stage(cq_stage *s, char *target)
{
    struct stat st;

    CQ_TRY(make_parent(target));
    s->replaces = lstat(target, &st) == 0;
    if (s->replaces && !is_replaceable(target, &st))
        return CQ_OK;
    CQ_TRY(cq_temporary_name(&s->path, target));
    s->mark = cq_leftover_new(CQ_LEFTOVER_TREE, s->path);
    if (mkdir(s->path, 0777) == 0) {
        if (!s->replaces || link_all(target, s->path, st.st_mode)) {
            s->target = target;
            return CQ_OK;
        }
        cq_tree_delete(s->path);
    }
    cq_leftover_drop(s->mark);
    s->mark = NULL;
    cq_free(s->path);
    s->path = NULL;
    return CQ_OK;
}

static cq_status try_stage(cq_stage *s)
{
    char     *target = NULL, *plain = cq_strdup(s->folder);
    size_t    n      = plain ? strlen(plain) : 0;
    cq_status status = plain ? CQ_OK : CQ_E_NO_MEMORY;

    while (n > 1 && plain[n - 1] == '/')
        plain[--n] = '\0';
    if (status == CQ_OK)
        status = cq_follow_links(&target, plain);
    if (status == CQ_OK && has_name(target))
        status = open_stage(s, target);
    if (target != s->target)
        cq_free(target);
    cq_free(plain);
    return status;
}

/* Old and new by one rename, or by two where there is no exchange: then whoever kills the program
 * in between leaves the old one under the name that the second would have freed. */
static bool swap(const char *path, const char *target)
{
    char *aside = NULL;
    bool  done  = renameat2(AT_FDCWD, path, AT_FDCWD, target, RENAME_EXCHANGE) == 0;

    if (done || (errno != EINVAL && errno != ENOSYS))
        return done;
    if (cq_temporary_name(&aside, target) != CQ_OK || rename(target, aside) < 0) {
        cq_free(aside);
        return false;
    }
    done = rename(path, target) == 0;
    (void)!rename(aside, done ? path : target);
    cq_free(aside);
    return done;
}

cq_status cq_stage_finish(cq_stage *s)
{
    if (!s->target)
        return CQ_OK;
    if (s->replaces ? !swap(s->path, s->target) : rename(s->path, s->target) < 0)
        return cq_io_error(s->folder, "put the folder in place");
    if (s->replaces)
        cq_tree_delete(s->path); /* what was there */
    cq_free(s->target);
    s->target = NULL;
    return CQ_OK;
}

void cq_stage_discard(cq_stage *s)
{
    if (s->target)
        cq_tree_delete(s->path);
}

#else /* no exchange of folders, and no way to delete one from a signal handler */

static cq_status try_stage(cq_stage *s)
{
    (void)s;
    return CQ_OK;
}

cq_status cq_stage_finish(cq_stage *s)
{
    (void)s;
    return CQ_OK;
}

void cq_stage_discard(cq_stage *s)
{
    (void)s;
}

#endif

cq_status cq_stage_begin(cq_stage *s, const char *folder)
{
    cq_status status;

    *s     = (cq_stage){ .folder = cq_strdup(folder) };
    status = s->folder ? try_stage(s) : CQ_E_NO_MEMORY;
    if (status == CQ_OK && !s->path) {
        status  = cq_dir_make(folder);
        s->path = status == CQ_OK ? cq_strdup(folder) : NULL;
        if (status == CQ_OK && !s->path)
            status = CQ_E_NO_MEMORY;
    }
    if (status != CQ_OK)
        cq_stage_clear(s);
    return status;
}

void cq_stage_clear(cq_stage *s)
{
    cq_leftover_drop(s->mark);
    cq_free(s->folder);
    cq_free(s->target);
    cq_free(s->path);
    *s = (cq_stage){ 0 };
}

void cq_stage_name_error(const cq_stage *s)
{
    const size_t    n = strlen(s->path);
    cq_error_record record;
    char            rest[CQ_ERROR_PLACE_SIZE];

    if (!s->target)
        return;
    cq_error_save(&record);
    if (strncmp(record.where, s->path, n) != 0)
        return;
    strcpy(rest, record.where + n);
    snprintf(record.where, sizeof record.where, "%s%s", s->folder, rest);
    cq_error_restore(&record);
}
