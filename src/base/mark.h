/* What is to be deleted when the program is interrupted: temporary files, new folders, and folders
 * that are not yet in their place. */
#ifndef CQ_BASE_MARK_H
#define CQ_BASE_MARK_H

typedef struct cq_mark cq_mark;

/* A folder goes if it is empty; a tree is a folder with files and folders of files. */
typedef enum cq_mark_kind { CQ_MARK_FILE = 2, CQ_MARK_FOLDER, CQ_MARK_TREE } cq_mark_kind;

/* NULL when there is no memory: then it is not deleted. */
cq_mark    *cq_mark_new(cq_mark_kind kind, const char *path);
const char *cq_mark_path(const cq_mark *m);
void        cq_mark_drop(cq_mark *m); /* NULL is fine */

/* Deletes a tree, as far as it can. A signal handler may call it. */
void cq_tree_delete(const char *path);

#endif
