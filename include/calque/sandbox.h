/* A sandbox for processes that read untrusted files. */
#ifndef CALQUE_SANDBOX_H
#define CALQUE_SANDBOX_H

#include <calque/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The files that the process may still write. */
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
 * The restriction applies to the calling thread and the threads that it starts, so call it before
 * starting threads. It cannot be undone. CQ_E_UNSUPPORTED: the system or the build has no sandbox
 * (not Linux, or a sanitizer build), and nothing changes. A kernel that supports only a part of it
 * (seccomp, or an older Landlock) enforces that part, and the call returns CQ_OK. */
CQ_API cq_status cq_sandbox_enter(const cq_sandbox_options *options);

#ifdef __cplusplus
}
#endif

#endif
