/* Files to delete when the program is interrupted: temporary files, new folders, and folders that
 * are not yet renamed. */
#ifndef CQ_BASE_LEFTOVER_H
#define CQ_BASE_LEFTOVER_H

typedef struct cq_leftover cq_leftover;

/* A folder is deleted if it is empty; a tree is a folder with files and subfolders. */
typedef enum cq_leftover_kind {
    CQ_LEFTOVER_FILE = 2,
    CQ_LEFTOVER_FOLDER,
    CQ_LEFTOVER_TREE
} cq_leftover_kind;

/* NULL if memory is exhausted; then the file is not deleted on an interrupt. */
cq_leftover *cq_leftover_new(cq_leftover_kind kind, const char *path);
const char  *cq_leftover_path(const cq_leftover *m);
void         cq_leftover_drop(cq_leftover *m); /* accepts NULL */

/* While held, cq_discard_outputs in another thread waits, because a batch is being renamed. */
void cq_leftover_hold(void);
void cq_leftover_let_go(void);

/* Deletes a tree, as far as it can. A signal handler may call it. */
void cq_tree_delete(const char *path);

#endif
