#include "base/warn.h"

#include <stdatomic.h>
#include <stdio.h>

static void print(void *user, const char *message, const char *where)
{
    (void)user;
    fprintf(stderr, where[0] ? "warning: %s\n  in %s\n" : "warning: %s\n", message, where);
}

/* Per thread, so that two exports at once keep their warnings apart. */
static _Thread_local cq_warning_handler handler;
static _Thread_local void              *handler_user;

void cq_set_warning_handler(cq_warning_handler fn, void *user)
{
    handler      = fn;
    handler_user = user;
}

void cq_warn(const char *where, const char *format, ...)
{
    char    message[CQ_ERROR_MESSAGE_SIZE];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    (handler ? handler : print)(handler_user, message, where ? where : "");
}
