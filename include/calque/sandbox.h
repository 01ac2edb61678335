/* A process that reads files of others can give up, before it does, what it does not need. */
#ifndef CALQUE_SANDBOX_H
#define CALQUE_SANDBOX_H

#include <calque/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What may still be written. */
typedef struct cq_sandbox_options {
    size_t             struct_size; /* set by cq_sandbox_options_init, never by hand */
    const char *const *files;       /* each with its external data and temporary files */
    size_t             n_files;
    const char *const *folders; /* each with everything in it */
    size_t             n_folders;
} cq_sandbox_options;

CQ_API void cq_sandbox_options_init(cq_sandbox_options *options);

/* From now on this process cannot start programs or processes, connect to a network, send signals
 * to other processes, change a terminal, or create, write, rename, delete or change any file but
 * the named ones. It can still read all files. A second process, which this call starts, creates
 * and renames the named files.
 *
 * It holds for the calling thread and those that it starts; so it is called before there are
 * others. It cannot be undone. CQ_E_UNSUPPORTED says that the system or the build has no sandbox
 * (it is not Linux, or there is a sanitizer): then everything works as before. A kernel that has
 * only a part of what is used (seccomp, and Landlock of any version) gives that part, and CQ_OK. */
CQ_API cq_status cq_sandbox_enter(const cq_sandbox_options *options);

#ifdef __cplusplus
}
#endif

#endif
