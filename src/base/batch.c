/* Batches of outputs; file.h documents the guarantees. Before an existing file is replaced, the new
 * one, and the others of its batch, are synced to the disk (fsync), so that a power failure leaves
 * one or the other. New files are not synced, like those of cp: they could as well have been lost a
 * moment earlier. A file replaces another one by an exchange of their names, so that a later
 * failure can be undone. Only the last step of a batch is a plain rename. Between the first and the
 * last step nothing is computed or written: only renames happen, and signals are blocked. */
#define _GNU_SOURCE /* flock, getentropy */
#include "base/change.h"
#include "base/mapping.h"
#include "base/path.h"
#include "base/posix.h"
#include "base/stage.h"
#include "base/str.h"
#include "base/vec.h"
#include "base/warn.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

enum {
    LOCK_WAIT_MS = 10000, /* for another process that writes to the same folder */
    MAX_TRIES    = 16
};

/* ---- temporary names ---- */

uint64_t cq_random_bits(void)
{
    uint64_t        random;
    struct timespec now;

    if (getentropy(&random, sizeof random) == 0)
        return random;
    clock_gettime(CLOCK_MONOTONIC, &now); /* an old kernel lacks getentropy */
    return (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15 ^ (uint64_t)getpid() << 40;
}

/* Makes an unpredictable name in the folder of path. */
cq_status cq_temporary_name(char **out, const char *path)
{
    const char *slash = cq_path_separator(path);
    cq_str      name  = { 0 };

    cq_str_add_n(&name, path, slash ? (size_t)(slash - path) + 1 : 0);
    cq_str_printf(&name, ".calque-%016llx.part", (unsigned long long)cq_random_bits());
    *out = cq_str_take(&name);
    return *out ? CQ_OK : CQ_E_NO_MEMORY;
}

/* Resolves a chain of links; the target need not exist. path itself if it is not a link. */
cq_status cq_follow_links(char **out, const char *path)
{
    char target[PATH_MAX];

    *out = cq_strdup(path);
    for (int i = 0; *out && i < 40; i++) {
        const char *slash = cq_path_separator(*out);
        ssize_t     n     = readlink(*out, target, sizeof target - 1);
        cq_str      next  = { 0 };

        if (n < 0)
            return CQ_OK;
        if (!cq_path_is_absolute(target))
            cq_str_add_n(&next, *out, slash ? (size_t)(slash - *out) + 1 : 0);
        cq_str_add_n(&next, target, (size_t)n);
        cq_free(*out);
        *out = cq_str_take(&next);
    }
    return *out ? cq_fail(CQ_E_IO, path, NULL, "cannot write the file: too many links")
                : CQ_E_NO_MEMORY;
}

/* ---- the files of a batch ---- */

/* The state of a file, which determines how it is undone. */
typedef enum place_state {
    WAITS,     /* under its temporary name */
    IS_NEW,    /* in place, where no file was: deleted to undo */
    EXCHANGED, /* in place; the old file has the temporary name: exchanged again to undo */
    SAVED      /* in place; the old file has another temporary name: renamed to undo */
} place_state;

typedef struct waiting {
    cq_waiting  file;
    place_state state;
    char       *saved; /* the name of the old file */
} waiting;

/* A file that the batch deletes. Until the batch has succeeded it has a temporary name. */
typedef struct stale {
    char       *path, *temporary;
    struct stat seen; /* its state when it was named: a file that has changed since then is kept */
} stale;

typedef struct folder_lock {
    int   fd;
    dev_t device;
    ino_t inode;
} folder_lock;

static _Thread_local struct batch {
    int  depth;
    bool collided;
    CQ_VEC(waiting) files;
    CQ_VEC(stale) stale;
    CQ_VEC(char *) unneeded;
    CQ_VEC(cq_leftover *) folders;
    CQ_VEC(cq_stage) stages;
    CQ_VEC(folder_lock) locks;
} batch;

void cq_batch_begin(void)
{
    if (batch.depth++ == 0)
        batch.collided = false;
}

bool cq_batch_is_open(void)
{
    return batch.depth > 0;
}

bool cq_batch_collided(void)
{
    return batch.collided;
}

cq_status cq_batch_add(const cq_waiting *file)
{
    return cq_vec_push(&batch.files, ((waiting){ .file = *file }));
}

cq_status cq_batch_delete(const char *path)
{
    stale     s = { .path = cq_strdup(path) };
    cq_status status;

    if (!s.path)
        return CQ_E_NO_MEMORY;
    if (lstat(path, &s.seen) < 0) {
        cq_free(s.path);
        return CQ_OK;
    }
    status = cq_vec_push(&batch.stale, s);
    if (status != CQ_OK)
        cq_free(s.path);
    return status;
}

cq_status cq_batch_delete_unneeded(const char *path)
{
    char     *copy   = cq_strdup(path);
    cq_status status = copy ? cq_vec_push(&batch.unneeded, copy) : CQ_E_NO_MEMORY;

    if (status != CQ_OK)
        cq_free(copy);
    return status;
}

cq_status cq_batch_folder(const char **path, const char *folder)
{
    cq_stage  stage;
    cq_status status;

    CQ_TRY(cq_stage_begin(&stage, folder));
    *path  = stage.path;
    status = cq_vec_push(&batch.stages, stage);
    if (status != CQ_OK) {
        cq_stage_discard(&stage);
        cq_stage_clear(&stage);
    }
    return status;
}

/* ---- locks ---- */

static bool is_locked(const struct stat *st)
{
    for (size_t i = 0; i < batch.locks.n; i++)
        if (batch.locks.items[i].device == st->st_dev && batch.locks.items[i].inode == st->st_ino)
            return true;
    return false;
}

static cq_lock wait_for_lock(int fd)
{
    for (int waited = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; waited += 2) {
        const struct timespec pause = { .tv_nsec = 2000000 };

        if (errno != EWOULDBLOCK && errno != EINTR)
            return CQ_LOCK_NONE;
        if (waited >= LOCK_WAIT_MS)
            return CQ_LOCK_BUSY;
        nanosleep(&pause, NULL);
    }
    return CQ_LOCK_HELD;
}

cq_lock cq_batch_lock(const char *folder)
{
    const int   fd   = open(*folder ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    cq_lock     lock = CQ_LOCK_NONE;
    struct stat st;

    if (fd < 0)
        return lock;
    if (fstat(fd, &st) == 0)
        lock = is_locked(&st) ? CQ_LOCK_HELD : wait_for_lock(fd);
    if (lock == CQ_LOCK_HELD && !is_locked(&st)) {
        if (cq_vec_push(&batch.locks, ((folder_lock){ fd, st.st_dev, st.st_ino })) == CQ_OK)
            return CQ_LOCK_HELD;
        lock = CQ_LOCK_NONE;
    }
    close(fd);
    return lock;
}

/* ---- synchronisation with the disk ---- */

/* A descriptor for reading is enough for fsync. */
cq_status cq_sync_file(const char *temporary, const char *path)
{
    int       fd     = open(temporary, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    cq_status status = CQ_OK;

    if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
        status = cq_io_error(path, "write the file");
    if (fd >= 0)
        close(fd);
    return status;
}

cq_status cq_batch_sync(void)
{
    bool replaces = false;

    for (size_t i = 0; i < batch.files.n; i++)
        replaces |= batch.files.items[i].file.replaces;
    for (size_t i = 0; i < batch.files.n && replaces; i++) {
        cq_waiting *f = &batch.files.items[i].file;

        if (!f->synced)
            CQ_TRY(cq_sync_file(f->temporary, f->path));
        f->synced = true;
    }
    return CQ_OK;
}

/* ---- renaming ---- */

/* The old file gets a second name, and the rename replaces the first name. */
static cq_status replace_saved(waiting *w)
{
    CQ_TRY(cq_temporary_name(&w->saved, w->file.path));
    if (cq_change_link(w->file.path, w->saved) < 0) { /* without links this step cannot be undone */
        cq_free(w->saved);
        w->saved = NULL;
    }
    if (cq_change_rename(w->file.temporary, w->file.path, CQ_RENAME_REPLACE) < 0)
        return cq_io_error(w->file.path, "put the file in place");
    w->state = SAVED;
    return CQ_OK;
}

static cq_status put_in_place(waiting *w, bool is_last)
{
    const cq_waiting *f = &w->file;
    struct stat       st;

    for (int i = 0; i < MAX_TRIES; i++) {
        const bool exists = lstat(f->path, &st) == 0;

        if (exists && S_ISDIR(st.st_mode)) {
            errno = EISDIR;
            break;
        }
        if (f->is_new || (!exists && !is_last)) {
            if (cq_change_rename(f->temporary, f->path, CQ_RENAME_NEW) == 0) {
                w->state = IS_NEW;
                return CQ_OK;
            }
            batch.collided |= f->is_new && errno == EEXIST;
            if (f->is_new || errno != EEXIST)
                break;
        } else if (is_last) {
            if (cq_change_rename(f->temporary, f->path, CQ_RENAME_REPLACE) == 0)
                return CQ_OK;
            break;
        } else {
            if (cq_change_rename(f->temporary, f->path, CQ_RENAME_EXCHANGE) == 0) {
                w->state = EXCHANGED;
                return CQ_OK;
            }
            if (errno == EINVAL)
                return replace_saved(w);
            if (errno != ENOENT)
                break;
        }
    }
    return cq_io_error(f->path, "put the file in place");
}

static void undo_place(waiting *w)
{
    switch (w->state) {
    case WAITS: break;
    case IS_NEW: cq_change_delete(w->file.path); return;
    case EXCHANGED: cq_change_rename(w->file.temporary, w->file.path, CQ_RENAME_EXCHANGE); break;
    case SAVED:
        if (w->saved)
            cq_change_rename(w->saved, w->file.path, CQ_RENAME_REPLACE);
        return;
    }
    cq_change_delete(w->file.temporary);
}

static bool was_put_in_place(const char *path)
{
    for (size_t i = 0; i < batch.files.n; i++)
        if (strcmp(batch.files.items[i].file.path, path) == 0)
            return true;
    return false;
}

static bool is_unchanged(const stale *s)
{
    struct stat now;

    return lstat(s->path, &now) == 0 && now.st_dev == s->seen.st_dev &&
           now.st_ino == s->seen.st_ino && now.st_size == s->seen.st_size &&
           now.st_mtim.tv_sec == s->seen.st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == s->seen.st_mtim.tv_nsec;
}

static cq_status set_aside(stale *s)
{
    if (was_put_in_place(s->path) || !is_unchanged(s))
        return CQ_OK;
    CQ_TRY(cq_temporary_name(&s->temporary, s->path));
    if (cq_change_rename(s->path, s->temporary, CQ_RENAME_NEW) == 0)
        return CQ_OK;
    cq_free(s->temporary);
    s->temporary = NULL;
    return errno == ENOENT ? CQ_OK : cq_io_error(s->path, "delete the file");
}

static cq_status place_all(void)
{
    const size_t n         = batch.files.n;
    const bool   more_work = batch.stale.n || batch.stages.n || batch.unneeded.n;

    for (size_t i = 0; i < n; i++)
        CQ_TRY(put_in_place(&batch.files.items[i], i + 1 == n && !more_work));
    for (size_t i = 0; i < batch.stale.n; i++)
        CQ_TRY(set_aside(&batch.stale.items[i]));
    for (size_t i = 0; i < batch.stages.n; i++)
        CQ_TRY(cq_stage_finish(&batch.stages.items[i], &batch.collided));
    return CQ_OK;
}

/* Folders are deleted only if they are empty: another program may have added files. */
static void take_back(void)
{
    for (size_t i = batch.stale.n; i-- > 0;)
        if (batch.stale.items[i].temporary)
            cq_change_rename(batch.stale.items[i].temporary, batch.stale.items[i].path,
                             CQ_RENAME_NEW);
    for (size_t i = batch.files.n; i-- > 0;)
        undo_place(&batch.files.items[i]);
    for (size_t i = 0; i < batch.stages.n; i++) {
        cq_stage_name_error(&batch.stages.items[i]);
        cq_stage_discard(&batch.stages.items[i]);
    }
    for (size_t i = batch.folders.n; i-- > 0;)
        cq_change_delete_folder(cq_leftover_path(batch.folders.items[i]));
}

/* Deletes old files after all renames. A failure to delete is not a failure of the batch. If the
 * process is killed here, the old file keeps its temporary name, by which a later batch recognises
 * it. */
static void delete_old(void)
{
    for (size_t i = 0; i < batch.unneeded.n; i++)
        if (access(batch.unneeded.items[i], F_OK) == 0)
            cq_warn(batch.unneeded.items[i], "cannot delete the file, which is no longer used");
    for (size_t i = 0; i < batch.files.n; i++) {
        waiting *w = &batch.files.items[i];

        if (w->state == EXCHANGED)
            cq_change_delete(w->file.temporary);
        else if (w->state == SAVED && w->saved)
            cq_change_delete(w->saved);
    }
    for (size_t i = 0; i < batch.stale.n; i++)
        if (batch.stale.items[i].temporary)
            cq_change_delete(batch.stale.items[i].temporary);
}

static void batch_clear(void)
{
    for (size_t i = 0; i < batch.files.n; i++) {
        cq_waiting_clear(&batch.files.items[i].file);
        cq_free(batch.files.items[i].saved);
    }
    for (size_t i = 0; i < batch.stale.n; i++) {
        cq_free(batch.stale.items[i].path);
        cq_free(batch.stale.items[i].temporary);
    }
    for (size_t i = 0; i < batch.unneeded.n; i++)
        cq_free(batch.unneeded.items[i]);
    for (size_t i = 0; i < batch.folders.n; i++)
        cq_leftover_drop(batch.folders.items[i]);
    for (size_t i = 0; i < batch.stages.n; i++)
        cq_stage_clear(&batch.stages.items[i]);
    for (size_t i = 0; i < batch.locks.n; i++)
        close(batch.locks.items[i].fd);
    cq_vec_clear(&batch.locks);
    cq_vec_clear(&batch.stages);
    cq_vec_clear(&batch.files);
    cq_vec_clear(&batch.stale);
    cq_vec_clear(&batch.unneeded);
    cq_vec_clear(&batch.folders);
}

cq_status cq_batch_end(cq_status status)
{
    sigset_t all, before;

    if (--batch.depth > 0)
        return status;
    if (status == CQ_OK)
        status = cq_batch_sync();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    cq_leftover_hold();
    cq_change_begin();
    if (status == CQ_OK)
        status = place_all();
    if (status != CQ_OK)
        take_back();
    cq_change_end(batch.unneeded.items, status == CQ_OK ? batch.unneeded.n : 0);
    if (status == CQ_OK)
        delete_old();
    batch_clear();
    cq_leftover_let_go();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

CQ_API void cq_outputs_begin(void)
{
    cq_batch_begin();
}

CQ_API cq_status cq_outputs_end(cq_status status)
{
    if (!batch.depth)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "cq_outputs_end without cq_outputs_begin");
    return cq_batch_end(status);
}

CQ_API bool cq_outputs_collided(void)
{
    return cq_batch_collided();
}

/* ---- files that wait for the end of the batch ---- */

void cq_waiting_clear(cq_waiting *f)
{
    cq_leftover_drop(f->mark);
    cq_free(f->path);
    cq_free(f->temporary);
    *f = (cq_waiting){ 0 };
}

/* ---- folders ---- */

static cq_status make_one(const char *path)
{
    cq_leftover *m;
    struct stat  st;

    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return CQ_OK;
    if (cq_change_make_folder(path) < 0)
        return errno == EEXIST ? CQ_OK : cq_io_error(path, "create the folder");
    m = batch.depth ? cq_leftover_new(CQ_LEFTOVER_FOLDER, path) : NULL;
    if (m && cq_vec_push(&batch.folders, m) != CQ_OK)
        cq_leftover_drop(m);
    return CQ_OK;
}

cq_status cq_dir_make(const char *path)
{
    char     *copy   = cq_strdup(path);
    cq_status status = CQ_OK;

    if (!copy)
        return CQ_E_NO_MEMORY;
    for (char *p = copy + 1; *copy && status == CQ_OK; p++) {
        char c = *p;

        if (!CQ_IS_SEPARATOR(c) && c != '\0')
            continue;
        *p     = '\0';
        status = make_one(copy);
        *p     = c;
        if (c == '\0')
            break;
    }
    cq_free(copy);
    return status;
}

CQ_API cq_status cq_outputs_folder(const char *path)
{
    CQ_NEED(path);
    return cq_dir_make(path);
}
