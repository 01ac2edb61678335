/* A process that changes the file system for a sandboxed one, which cannot do it itself. It is
 * started before the sandbox, knows which files and folders are outputs, and refuses all others: a
 * process that a hostile file has taken over cannot request anything else. When the other process
 * ends, the broker undoes renames that were not completed and deletes the temporary files; so kill
 * -9 of the sandboxed process leaves no files. */
#ifndef CQ_BASE_BROKER_H
#define CQ_BASE_BROKER_H

#include <stdbool.h>
#include <stddef.h>

typedef enum cq_broker_op {
    CQ_BROKER_CREATE = 1,
    CQ_BROKER_OPEN,
    CQ_BROKER_RENAME,
    CQ_BROKER_LINK,
    CQ_BROKER_DELETE,
    CQ_BROKER_MAKE_FOLDER,
    CQ_BROKER_DELETE_FOLDER,
    CQ_BROKER_DELETE_TREE,
    CQ_BROKER_BEGIN,
    CQ_BROKER_UNNEEDED,
    CQ_BROKER_END,
    CQ_BROKER_GOODBYE
} cq_broker_op;

enum { CQ_BROKER_EXACT = 1 << 16 /* the mode of the file ignores the umask */ };

/* An output: a file, with its data file and temporary files beside it; or a folder and all in it.
 */
typedef struct cq_broker_output {
    const char *path;
    bool        is_folder;
} cq_broker_output;

/* Starts the broker, once and before other threads exist; false if that is impossible. */
bool cq_broker_start(const cq_broker_output *outputs, size_t n);
bool cq_broker_is_active(void);

/* Returns the result of the corresponding cq_change_*. */
int cq_broker_ask(cq_broker_op op, const char *path, const char *to, int how);

/* Waits until temporary files are deleted. A signal handler may call it. */
void cq_broker_hang_up(void);

#endif
