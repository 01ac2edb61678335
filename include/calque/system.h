/* Paths, terminals, time and signals: the parts of the operating system that a program on top of
 * the library needs. They behave the same on every system. Text and paths are UTF-8. */
#ifndef CALQUE_SYSTEM_H
#define CALQUE_SYSTEM_H

#include <calque/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cq_path_kind {
    CQ_PATH_MISSING = 0, /* or not accessible */
    CQ_PATH_FILE    = 1,
    CQ_PATH_FOLDER  = 2,
    CQ_PATH_OTHER   = 3 /* a device, a FIFO, a socket */
} cq_path_kind;

/* The kind of a path after following links, and the size of a file; size may be NULL. */
CQ_API cq_path_kind cq_path_look_up(const char *path, uint64_t *size);
CQ_API bool         cq_path_exists(const char *path);
CQ_API bool         cq_path_is_readable(const char *path);

/* Reads the first bytes of a file, at most size of them; *n is their number. false: errno is the
 * reason, EISDIR for a folder. */
CQ_API bool cq_path_read_start(const char *path, void *data, size_t size, size_t *n);

/* Whether two paths lead to the same file or folder. */
CQ_API bool cq_path_is_same(const char *a, const char *b);

/* The last separator of a path, NULL if there is none; and the name that follows it. */
CQ_API const char *cq_path_separator(const char *path);
CQ_API const char *cq_path_name(const char *path);

/* Monotonic time in seconds. */
CQ_API double cq_seconds(void);

/* Whether standard error is a terminal, and whether that terminal shows colours according to the
 * system and the environment (TERM, NO_COLOR). */
CQ_API bool cq_stderr_is_terminal(void);
CQ_API bool cq_stderr_has_colour(void);

/* For the beginning of main. Signals that end the process first delete temporary outputs
 * (cq_discard_outputs). A file that is truncated while it is mapped ends the process with a message
 * and this exit code, instead of SIGBUS. On Windows the console shows UTF-8, standard streams are
 * binary, and argv is replaced by UTF-8. */
CQ_API void cq_program_begin(int *argc, char ***argv, int exit_code);

/* Copies standard input to a temporary file, which is deleted when the process ends, and gives a
 * path that can be opened. */
CQ_API cq_status cq_stdin_spool(char *path, size_t size);

/* A stream that collects text in memory. Closing it frees it and gives the text, which
 * cq_buffer_free frees; text may be NULL. */
typedef struct cq_text_stream cq_text_stream;

CQ_API cq_status cq_text_open(cq_text_stream **out, FILE **file);
CQ_API cq_status cq_text_close(cq_text_stream *stream, char **text, size_t *size);

/* Opens a file in the user's browser. The process that starts it has to exist before a sandbox is
 * entered: call cq_opener_start first. */
CQ_API cq_status cq_opener_start(void);
CQ_API cq_status cq_opener_open(const char *path);

#ifdef __cplusplus
}
#endif

#endif
