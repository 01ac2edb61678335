/* Reporting failures inside the library. The lowest function that knows the reason calls cq_fail;
 * its callers pass the status on with CQ_TRY. */
#ifndef CQ_BASE_ERROR_H
#define CQ_BASE_ERROR_H

#include <calque/status.h>

#include <stdarg.h>
#include <stdbool.h>

/* Records a failure and returns status. where and hint may be NULL. */
cq_status cq_fail(cq_status status, const char *where, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
cq_status cq_fail_v(cq_status status, const char *where, const char *hint, const char *format,
                    va_list args) __attribute__((format(printf, 4, 0)));

/* Adds a caller's facts to the record of a propagating failure: location and hint if they are
 * missing, a source excerpt. All return status. */
cq_status cq_error_add_where(cq_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
cq_status cq_error_add_hint(cq_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
cq_status cq_error_add_excerpt(cq_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a location in source text, even if the record already has one (the operator that failed
 * there), but only once: together with the excerpt. */
cq_status cq_error_add_line(cq_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool cq_error_has_excerpt(void);

/* Adds, after the excerpt, the location of the call of the failed function. The innermost calls
 * come first, and only some of them are kept. */
cq_status cq_error_add_caller(cq_status status, const char *where);

cq_status cq_no_memory(void);
cq_status cq_argument_missing(const char *function, const char *wanted);

/* "net.pt!data/3", in a buffer of this thread that the next call overwrites. */
const char *cq_in_file(const char *path, const char *entry);

/* Moves the record from one thread to another. */
typedef struct cq_error_record cq_error_record;
void                           cq_error_save(cq_error_record *out);
void                           cq_error_restore(const cq_error_record *record);

#define CQ_ERROR_MESSAGE_SIZE  2048
#define CQ_ERROR_LOCATION_SIZE 512
#define CQ_ERROR_HINT_SIZE     512
#define CQ_ERROR_EXCERPT_SIZE  1024

struct cq_error_record {
    cq_status status;
    char      message[CQ_ERROR_MESSAGE_SIZE];
    char      where[CQ_ERROR_LOCATION_SIZE];
    char      hint[CQ_ERROR_HINT_SIZE];
    char      excerpt[CQ_ERROR_EXCERPT_SIZE];
};

#define CQ_TRY(call)                                                                               \
    do {                                                                                           \
        cq_status try_status_ = (call);                                                            \
        if (try_status_ != CQ_OK)                                                                  \
            return try_status_;                                                                    \
    } while (0)

/* The first line of a public function: its preconditions. If they do not hold, the caller gets
 * CQ_E_ARGUMENT, and *out is NULL. A function without a status returns a default. */
#define CQ_NEED(condition)                                                                         \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return cq_argument_missing(__func__, #condition);                                      \
    } while (0)
#define CQ_NEED_OUT(out, condition)                                                                \
    do {                                                                                           \
        if (out)                                                                                   \
            *(out) = NULL;                                                                         \
        CQ_NEED((out) && (condition));                                                             \
    } while (0)
#define CQ_NEED_ELSE(condition, otherwise)                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            cq_argument_missing(__func__, #condition);                                             \
            return otherwise;                                                                      \
        }                                                                                          \
    } while (0)

/* As CQ_TRY, in functions with one clean-up label: needs a local `status`. */
#define CQ_TRY_OR_DONE(call)                                                                       \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != CQ_OK)                                                                       \
            goto done;                                                                             \
    } while (0)

#endif
