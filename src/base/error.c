/* The per-thread error record. It is of fixed size, so that running out of memory
 * can be reported without memory. */
#include "base/error.h"

#include <stdio.h>
#include <string.h>

static _Thread_local cq_error_record record;
static _Thread_local cq_error        view;
static _Thread_local char            location[CQ_ERROR_LOCATION_SIZE];

static const char *const status_names[] = {
    "ok",   "no memory",   "argument",      "i/o",       "format",   "syntax",
    "type", "unsupported", "invalid model", "not found", "internal", "cancelled",
};

const char *cq_status_name(cq_status status)
{
    if ((unsigned)status >= sizeof status_names / sizeof *status_names)
        return "unknown";
    return status_names[status];
}

const cq_error *cq_last_error(void)
{
    view = (cq_error){ record.status, record.message, record.where, record.hint, record.excerpt };
    return &view;
}

/* src may be in the record itself (a message quoting the previous one). */
static void put(char *dst, size_t size, const char *src)
{
    size_t len = src ? strlen(src) : 0;

    if (len >= size)
        len = size - 1;
    if (len)
        memmove(dst, src, len);
    dst[len] = '\0';
}

cq_status cq_fail_v(cq_status status, const char *where, const char *hint, const char *format,
                    va_list args)
{
    char message[CQ_ERROR_MESSAGE_SIZE];

    vsnprintf(message, sizeof message, format, args);
    record.status = status;
    put(record.where, sizeof record.where, where);
    put(record.hint, sizeof record.hint, hint);
    put(record.message, sizeof record.message, message);
    record.excerpt[0] = '\0';
    return status;
}

cq_status cq_fail(cq_status status, const char *where, const char *hint, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    cq_fail_v(status, where, hint, format, args);
    va_end(args);
    return status;
}

/* An existing entry is more precise, so it is kept. */
__attribute__((format(printf, 3, 0))) static void add_once(char *to, size_t size,
                                                           const char *format, va_list args)
{
    if (!to[0])
        vsnprintf(to, size, format, args);
}

cq_status cq_error_add_where(cq_status status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_once(record.where, sizeof record.where, format, args);
    va_end(args);
    return status;
}

cq_status cq_error_add_hint(cq_status status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_once(record.hint, sizeof record.hint, format, args);
    va_end(args);
    return status;
}

cq_status cq_error_add_line(cq_status status, const char *format, ...)
{
    const size_t n = strlen(record.where), left = sizeof record.where - n;
    va_list      args;
    size_t       used = n ? (size_t)snprintf(record.where + n, left, ", at ") : 0;

    if (used >= left)
        return status;
    va_start(args, format);
    vsnprintf(record.where + n + used, left - used, format, args);
    va_end(args);
    return status;
}

bool cq_error_has_excerpt(void)
{
    return record.excerpt[0] != '\0';
}

cq_status cq_error_add_excerpt(cq_status status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_once(record.excerpt, sizeof record.excerpt, format, args);
    va_end(args);
    return status;
}

cq_status cq_error_add_caller(cq_status status, const char *where)
{
    enum { MAX_CALLERS = 6 };
    const char  *shown = record.excerpt;
    const size_t n     = strlen(shown);
    int          count = 0;

    while ((shown = strstr(shown, "\ncalled at "))) {
        shown++;
        count++;
    }
    if (n && count < MAX_CALLERS && n + strlen(where) + 16 < sizeof record.excerpt)
        snprintf(record.excerpt + n, sizeof record.excerpt - n, "\ncalled at %s", where);
    return status;
}

cq_status cq_no_memory(void)
{
    return cq_fail(CQ_E_NO_MEMORY, NULL, NULL, "out of memory");
}

cq_status cq_argument_missing(const char *function, const char *wanted)
{
    return cq_fail(CQ_E_ARGUMENT, function, NULL, "invalid argument; expected %s", wanted);
}

const char *cq_in_file(const char *path, const char *entry)
{
    snprintf(location, sizeof location, entry ? "%s!%s" : "%s", path, entry);
    return location;
}

void cq_error_save(cq_error_record *out)
{
    *out = record;
}

void cq_error_restore(const cq_error_record *saved)
{
    record = *saved;
}
