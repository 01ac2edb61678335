/* Folders that appear, or replace what was there, as a whole: see cq_batch_folder in file.h. */
#ifndef CQ_BASE_STAGE_H
#define CQ_BASE_STAGE_H

#include "base/file.h"
#include "base/leftover.h"

/* Shared with out.c: a name in the folder of path that nobody can guess, and what a chain of links
 * leads to, there or not. */
cq_status cq_temporary_name(char **out, const char *path);
cq_status cq_follow_links(char **out, const char *path);

typedef struct cq_stage {
    char        *folder; /* as the caller names it */
    char        *target; /* what that leads to; NULL: the folder is written to directly */
    char        *path;   /* where its content is made */
    cq_leftover *mark;
    bool         replaces; /* a folder that is there */
} cq_stage;

/* A folder beside the target with links to what the target holds. Where that cannot be, path is the
 * folder itself. */
cq_status cq_stage_begin(cq_stage *s, const char *folder);

/* Puts it into its place, and deletes what was there. */
cq_status cq_stage_finish(cq_stage *s);

void cq_stage_discard(cq_stage *s);
void cq_stage_clear(cq_stage *s);

/* What failed in a stage failed in the folder, to whoever reads the message. */
void cq_stage_name_error(const cq_stage *s);

#endif
