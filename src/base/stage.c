/* The content of a new folder is made in another one beside it, which gets the name by one rename.
 *
 * A folder that exists is never replaced: other programs work in it, and a file that the user saves
 * there meanwhile would be lost. It is written to file by file. */
#include "base/stage.h"

#include "base/change.h"
#include "base/mapping.h"
#include "base/posix.h"
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#ifdef __linux__

/* The last component of a path is a proper name, which can be given to a folder. */
static bool has_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name  = slash ? slash + 1 : path;

    return *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

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
    if (lstat(target, &st) == 0)
        return CQ_OK;
    CQ_TRY(cq_temporary_name(&s->path, target));
    s->mark = cq_leftover_new(CQ_LEFTOVER_TREE, s->path);
    if (cq_change_make_folder(s->path) == 0) {
        s->target = target;
        return CQ_OK;
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

cq_status cq_stage_finish(cq_stage *s, bool *collided)
{
    if (!s->target)
        return CQ_OK;
    if (cq_change_rename(s->path, s->target, CQ_RENAME_NEW) < 0) {
        *collided |= errno == EEXIST || errno == ENOTEMPTY;
        return cq_io_error(s->folder, "put the folder in place");
    }
    cq_free(s->target);
    s->target = NULL;
    return CQ_OK;
}

void cq_stage_discard(cq_stage *s)
{
    if (s->target)
        cq_change_delete_tree(s->path);
}

#else /* a signal handler cannot delete a folder, and Windows not rename one with open files */

static cq_status try_stage(cq_stage *s)
{
    (void)s;
    return CQ_OK;
}

cq_status cq_stage_finish(cq_stage *s, bool *collided)
{
    (void)s;
    (void)collided;
    return CQ_OK;
}

void cq_stage_discard(cq_stage *s)
{
    (void)s;
}

#endif

/* Without a lock, files that several programs write to the folder at once may be mixed; that is not
 * an error. */
static cq_status open_folder(cq_stage *s)
{
    CQ_TRY(cq_dir_make(s->folder));
    s->path = cq_strdup(s->folder);
    if (!s->path)
        return CQ_E_NO_MEMORY;
    (void)cq_batch_lock(s->folder);
    return CQ_OK;
}

cq_status cq_stage_begin(cq_stage *s, const char *folder)
{
    cq_status status;

    *s     = (cq_stage){ .folder = cq_strdup(folder) };
    status = s->folder ? try_stage(s) : CQ_E_NO_MEMORY;
    if (status == CQ_OK && !s->path)
        status = open_folder(s);
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
    char            rest[CQ_ERROR_LOCATION_SIZE];

    if (!s->target)
        return;
    cq_error_save(&record);
    if (strncmp(record.where, s->path, n) != 0)
        return;
    strcpy(rest, record.where + n);
    snprintf(record.where, sizeof record.where, "%s%s", s->folder, rest);
    cq_error_restore(&record);
}
