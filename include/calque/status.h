/* How calls fail. Whatever can fail returns a cq_status; the details of the last
 * failure of this thread are in cq_last_error(). */
#ifndef CALQUE_STATUS_H
#define CALQUE_STATUS_H

#include <calque/version.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values are pinned and never reused. */
typedef enum cq_status {
    CQ_OK            = 0,
    CQ_E_NO_MEMORY   = 1,
    CQ_E_ARGUMENT    = 2, /* the caller asked for something that makes no sense */
    CQ_E_IO          = 3, /* the system refused to read or write */
    CQ_E_FORMAT      = 4, /* bytes are not what they claim to be */
    CQ_E_SYNTAX      = 5, /* source text does not parse */
    CQ_E_TYPE        = 6, /* types or shapes do not fit together */
    CQ_E_UNSUPPORTED = 7, /* meaningful, but calque cannot do it */
    CQ_E_INVALID     = 8, /* a model breaks the rules of ONNX */
    CQ_E_NOT_FOUND   = 9,
    CQ_E_INTERNAL    = 10, /* a bug in calque */
    CQ_E_CANCELLED   = 11  /* the handler of cq_set_cancel_handler said so */
} cq_status;

/* The last failure of this thread. The strings belong to the record and change
 * with the next failure. Any of them but message may be empty, none is NULL. */
typedef struct cq_error {
    cq_status   status;
    const char *message; /* why */
    const char *where;   /* file, entry, module path or source line */
    const char *hint;    /* what to do about it */
    const char *excerpt; /* source line and carets */
} cq_error;

CQ_API const cq_error *cq_last_error(void);

/* Structs that callers fill in begin with struct_size, their size as the caller knows it, so that
 * a program meets an older or newer library: 0 is CQ_E_ARGUMENT, a smaller struct has the defaults
 * in the fields that it lacks, a larger one may only have zeros in those that the library does not
 * know. Options have an init function for it; the others are written with
 *
 *     static const cq_class net_class = { CQ_SIZED(cq_class), .name = "Net", … }; */
#define CQ_SIZED(type) .struct_size = sizeof(type)

/* The name of a status, "unsupported". */
CQ_API const char *cq_status_name(cq_status status);

/* Warnings go to a handler; NULL is the default one, which prints to standard error. The
 * handler is this thread's. where may be empty. */
typedef void (*cq_warning_handler)(void *user, const char *message, const char *where);

CQ_API void cq_set_warning_handler(cq_warning_handler handler, void *user);

/* Work that may take long, such as writing large weights, tells a handler how far it is, in bytes.
 * what says what is being done, and is NULL when it is over, well or not. The handler is this
 * thread's; NULL, the default, is none. */
typedef void (*cq_progress_handler)(void *user, const char *what, uint64_t done, uint64_t total);

CQ_API void cq_set_progress_handler(cq_progress_handler handler, void *user);

/* Work that may take long asks a handler now and then, at most twenty times a second, whether it is
 * still wanted; when it says true, the call fails with CQ_E_CANCELLED, as soon as the operator that
 * is being computed is done. The handler is this thread's, and is called in it; NULL, the default,
 * is none. */
typedef bool (*cq_cancel_handler)(void *user);

CQ_API void cq_set_cancel_handler(cq_cancel_handler handler, void *user);

/* Writes bytes to a file as every output is written: to a temporary file beside it that takes its
 * place when it is whole; through a link, and straight to a device or FIFO. */
CQ_API cq_status cq_buffer_save(const char *path, const void *data, size_t size);

/* Outputs that belong together. Between begin and end, what this thread writes stays under
 * temporary names. cq_outputs_end(CQ_OK) puts all of it into place; if that fails, or with another
 * status, all of it is deleted, and files that were there stay. It returns status or its own
 * failure. Calls nest; the outermost counts. After a failure, cq_outputs_collided says whether
 * another program created a file of the same name meanwhile: then the same work can be tried again.
 */
CQ_API void      cq_outputs_begin(void);
CQ_API cq_status cq_outputs_end(cq_status status);
CQ_API bool      cq_outputs_collided(void);

/* Creates a folder, and those above it, unless they exist; a failure of cq_outputs_end deletes what
 * it created. */
CQ_API cq_status cq_outputs_folder(const char *path);

/* Deletes the temporary files of all outputs that are under way, in any thread. For handlers of
 * signals that end the program; it may be called from one. */
CQ_API void cq_discard_outputs(void);

/* What all outputs of this process together may have from now on: so many bytes, and so many times
 * those of the files that it has read. A file of a kilobyte can describe gigabytes of weights; what
 * exceeds the limit is refused with CQ_E_UNSUPPORTED, before it is written where its size is known.
 * UINT64_MAX, the default, means no limit. */
CQ_API void cq_limit_outputs(uint64_t bytes, uint32_t times);

/* Frees text or bytes that a call handed over; NULL is fine. */
CQ_API void cq_buffer_free(void *buffer);

#ifdef __cplusplus
}
#endif

#endif
