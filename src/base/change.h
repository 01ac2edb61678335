/* Changes of the file system. Every file and folder that the library creates, renames or deletes
 * goes through these calls; in a sandbox another process executes them (broker.h). They return 0
 * (cq_change_create and cq_change_open: a descriptor), or -1 and errno. */
#ifndef CQ_BASE_CHANGE_H
#define CQ_BASE_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Creates a file for writing, which must not exist. exact: the mode ignores the umask. */
int cq_change_create(const char *path, mode_t mode, bool exact);

/* Opens a device or FIFO for writing. */
int cq_change_open(const char *path);

/* What a rename does with an existing target. */
typedef enum cq_rename_how {
    CQ_RENAME_REPLACE,
    CQ_RENAME_NEW,     /* fails with EEXIST */
    CQ_RENAME_EXCHANGE /* exchanges both names; EINVAL if the file system does not support it */
} cq_rename_how;

int cq_change_rename(const char *from, const char *to, cq_rename_how how);
int cq_change_link(const char *from, const char *to);
int cq_change_delete(const char *path);
int cq_change_make_folder(const char *path);
int cq_change_delete_folder(const char *path); /* the folder must be empty */
int cq_change_delete_tree(const char *path);   /* a temporary folder and its files */

/* Renames that belong together are between begin and end. If the process is killed in between, the
 * broker, if there is one, undoes them. cq_change_end deletes the files that are no longer
 * needed. */
void cq_change_begin(void);
void cq_change_end(char *const *unneeded, size_t n_unneeded);

#endif
