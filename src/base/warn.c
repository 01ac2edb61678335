#include "base/warn.h"

#include "base/printable.h"

#include <stdatomic.h>
#include <stdio.h>

static void print(void *user, const char *message, const char *where)
{
    (void)user;
    cq_str text = { 0 };

    cq_str_printf(&text, where[0] ? "warning: %s\n  in %s\n" : "warning: %s\n", message, where);
    cq_put_lines(stderr, cq_str_text(&text));
    cq_str_clear(&text);
}

/* Per thread, so that two exports at once keep their warnings apart. */
static _Thread_local cq_warning_handler handler;
static _Thread_local void              *handler_user;

void cq_set_warning_handler(cq_warning_handler fn, void *user)
{
    handler      = fn;
    handler_user = user;
}

static _Thread_local int n_holds;

void cq_warn_hold(bool hold)
{
    n_holds += hold ? 1 : -1;
}

void cq_warn(const char *where, const char *format, ...)
{
    char    message[CQ_ERROR_MESSAGE_SIZE];
    va_list args;

    if (n_holds)
        return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    (handler ? handler : print)(handler_user, message, where ? where : "");
}
