/* Errors. Every call that can fail returns a cq_status; the details of the last
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
    CQ_E_ARGUMENT    = 2, /* invalid argument */
    CQ_E_IO          = 3, /* the system refused to read or write */
    CQ_E_FORMAT      = 4, /* malformed file */
    CQ_E_SYNTAX      = 5, /* source text does not parse */
    CQ_E_TYPE        = 6, /* types or shapes do not match */
    CQ_E_UNSUPPORTED = 7, /* valid, but not supported by calque */
    CQ_E_INVALID     = 8, /* a model violates the rules of ONNX */
    CQ_E_NOT_FOUND   = 9,
    CQ_E_INTERNAL    = 10, /* a bug in calque */
    CQ_E_CANCELLED   = 11  /* by the handler of cq_set_cancel_handler */
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

/* Structs that callers fill in begin with struct_size, the size that the caller was compiled with,
 * so that programs work with older and newer libraries. 0 is CQ_E_ARGUMENT. Fields that a smaller
 * struct lacks have their defaults; fields that the library does not know must be zero. Options
 * have an init function that sets it; other structs are written with
 *
 *     static const cq_class net_class = { CQ_SIZED(cq_class), .name = "Net", … }; */
#define CQ_SIZED(type) .struct_size = sizeof(type)

/* The name of a status, "unsupported". */
CQ_API const char *cq_status_name(cq_status status);

/* Warnings go to a handler; NULL is the default one, which prints to standard error. Each thread
 * has its own handler. where may be empty. */
typedef void (*cq_warning_handler)(void *user, const char *message, const char *where);

CQ_API void cq_set_warning_handler(cq_warning_handler handler, void *user);

/* Long operations, such as writing large weights, report their progress in bytes to a handler.
 * what describes the operation; it is NULL when the operation has ended, with success or not. Each
 * thread has its own handler; the default is NULL: no reports. */
typedef void (*cq_progress_handler)(void *user, const char *what, uint64_t done, uint64_t total);

CQ_API void cq_set_progress_handler(cq_progress_handler handler, void *user);

/* Long operations call a handler at most twenty times a second. If it returns true, the operation
 * fails with CQ_E_CANCELLED after the current operator. Each thread has its own handler, which is
 * called in that thread; the default is NULL: never cancel. */
typedef bool (*cq_cancel_handler)(void *user);

CQ_API void cq_set_cancel_handler(cq_cancel_handler handler, void *user);

/* Writes bytes to a file like all outputs: into a temporary file in the same folder that replaces
 * the old file when it is complete. Links are followed; devices and FIFOs are written directly. */
CQ_API cq_status cq_buffer_save(const char *path, const void *data, size_t size);

/* A transaction of several outputs. Between begin and end, this thread writes to temporary files.
 * cq_outputs_end(CQ_OK) renames all of them; if that fails, or with another status, it deletes
 * them, and existing files stay. It returns status or its own failure. Calls nest; only the
 * outermost pair has an effect. After a failure, cq_outputs_collided returns true if another
 * program created a file of the same name in the meantime: the caller can try again. */
CQ_API void      cq_outputs_begin(void);
CQ_API cq_status cq_outputs_end(cq_status status);
CQ_API bool      cq_outputs_collided(void);

/* Creates a folder and its missing parents. If cq_outputs_end fails, it deletes the created ones.
 */
CQ_API cq_status cq_outputs_folder(const char *path);

/* Deletes the temporary files of all unfinished outputs of all threads. Safe to call from a signal
 * handler that ends the program. */
CQ_API void cq_discard_outputs(void);

/* Limits all future outputs of this process to `bytes` plus `times` the size of the files that it
 * has read, because a file of a kilobyte can describe gigabytes of weights. An output beyond the
 * limit fails with CQ_E_UNSUPPORTED, before it is written if its size is known. The default is
 * UINT64_MAX: no limit. */
CQ_API void cq_limit_outputs(uint64_t bytes, uint32_t times);

/* Frees text or bytes that a call returned; accepts NULL. */
CQ_API void cq_buffer_free(void *buffer);

/* The number of bytes of the UTF-8 character at text, which has size bytes, if a terminal shows it.
 * 0 for control characters, characters that change the direction of text or are invisible, and
 * invalid UTF-8: text from files should be printed with the first byte of those escaped. */
CQ_API size_t cq_visible_bytes(const char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
