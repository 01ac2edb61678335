/* Folders that appear as a whole: see cq_batch_folder in file.h. */
#ifndef CQ_BASE_STAGE_H
#define CQ_BASE_STAGE_H

#include "base/file.h"
#include "base/leftover.h"

/* ---- shared by batch.c, out.c and stage.c ---- */

/* An unpredictable name in the folder of path, and the target of a chain of links, existing or
 * not. */
cq_status cq_temporary_name(char **out, const char *path);
cq_status cq_follow_links(char **out, const char *path);

/* A file that waits under its temporary name. */
typedef struct cq_waiting {
    char        *path, *temporary;
    cq_leftover *mark;
    bool         replaces; /* a file that is there */
    bool         is_new;   /* must not replace a file */
    bool         synced;
} cq_waiting;

void      cq_waiting_clear(cq_waiting *f);
bool      cq_batch_is_open(void);
cq_status cq_batch_add(const cq_waiting *file); /* which the batch owns then */
cq_status cq_sync_file(const char *temporary, const char *path);

/* ---- folders ---- */

typedef struct cq_stage {
    char        *folder; /* as the caller names it */
    char        *target; /* its target; NULL: the folder is written directly */
    char        *path;   /* where its content is made */
    cq_leftover *mark;
} cq_stage;

/* A new folder beside the target. If the target exists, or no folder can be created beside it, path
 * is the folder itself, and it is locked. */
cq_status cq_stage_begin(cq_stage *s, const char *folder);

/* Renames it. If the name was taken meanwhile, collided is set. */
cq_status cq_stage_finish(cq_stage *s, bool *collided);

void cq_stage_discard(cq_stage *s);
void cq_stage_clear(cq_stage *s);

/* Replaces the path of the stage by that of the folder in the error message. */
void cq_stage_name_error(const cq_stage *s);

#endif
