/* The terminal, the clock and standard input (<calque/system.h>). */
#include <calque/system.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/posix.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CQ_API double cq_seconds(void)
{
    return (double)cq_now() / 1e9;
}

#ifndef _WIN32 /* base/windows/program.c */

CQ_API bool cq_stderr_is_terminal(void)
{
    return isatty(STDERR_FILENO);
}

CQ_API bool cq_stderr_has_colour(void)
{
    const char *term = getenv("TERM");
    const char *off  = getenv("NO_COLOR");

    return cq_stderr_is_terminal() && !(off && *off) && term && strcmp(term, "dumb") != 0;
}

/* ---- text in memory ---- */

struct cq_text_stream {
    FILE  *file;
    char  *text;
    size_t size;
};

CQ_API cq_status cq_text_open(cq_text_stream **out, FILE **file)
{
    cq_text_stream *s;

    CQ_NEED(out && file);
    *out = NULL;
    s    = cq_zalloc(sizeof *s);
    if (!s)
        return CQ_E_NO_MEMORY;
    s->file = open_memstream(&s->text, &s->size);
    if (!s->file) {
        cq_free(s);
        return cq_no_memory();
    }
    *file = s->file;
    *out  = s;
    return CQ_OK;
}

CQ_API cq_status cq_text_close(cq_text_stream *s, char **text, size_t *size)
{
    bool  failed;
    char *copy = NULL;

    CQ_NEED(s);
    failed = fclose(s->file) != 0;
    if (text && !failed)
        copy = cq_strndup(s->text, s->size);
    if (text) {
        *text = copy;
        *size = s->size;
    }
    cq_heap_free(s->text);
    cq_free(s);
    return failed ? cq_no_memory() : text && !copy ? CQ_E_NO_MEMORY : CQ_OK;
}

/* ---- standard input ---- */

static cq_status copy_stdin(FILE *copy)
{
    static char buffer[1 << 16];
    size_t      n;

    while ((n = fread(buffer, 1, sizeof buffer, stdin)) > 0)
        if (fwrite(buffer, 1, n, copy) != n)
            return cq_fail(CQ_E_IO, NULL, NULL, "cannot copy standard input: %s", strerror(errno));
    if (ferror(stdin) || fflush(copy) != 0)
        return cq_fail(CQ_E_IO, NULL, NULL, "cannot copy standard input: %s", strerror(errno));
    return CQ_OK;
}

/* A file without a name, which stays open until the end. */
CQ_API cq_status cq_stdin_spool(char *path, size_t size)
{
    CQ_NEED(path && size);
    FILE *copy = tmpfile();

    if (!copy)
        return cq_fail(CQ_E_IO, NULL, NULL, "no space to buffer standard input: %s",
                       strerror(errno));
    snprintf(path, size, "/dev/fd/%d", fileno(copy));
    return copy_stdin(copy);
}

#endif
