/* Places in source text, and failures that show them. */
#include "base/source.h"

#include <stdio.h>

enum {
    EXCERPT_WIDTH = 100, /* bytes of a line that are shown; longer ones are cut on both sides */
    EXCERPT_LEAD  = 60,  /* … keeping this many bytes before the location */
};

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

static bool continues_character(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static size_t line_start(const cq_source *s, size_t offset)
{
    while (offset && !is_line_end(s->text[offset - 1]))
        offset--;
    return offset;
}

void cq_source_location(const cq_source *s, uint32_t offset, uint32_t *line, uint32_t *column)
{
    size_t start;

    if (offset > s->len)
        offset = (uint32_t)s->len;
    start   = line_start(s, offset);
    *line   = 1;
    *column = 1;
    for (size_t i = 0; i < start; i++)
        *line += s->text[i] == '\n' ||
                 (s->text[i] == '\r' && (i + 1 == s->len || s->text[i + 1] != '\n'));
    for (size_t i = start; i < offset; i++)
        *column += !continues_character(s->text[i]);
}

/* The line of the location, with carets below. Characters that do not take one column are replaced,
 * so that the carets are aligned. */
static void write_excerpt(const cq_source *s, cq_span at, char *out, size_t size)
{
    char   line[EXCERPT_WIDTH + 1], carets[EXCERPT_WIDTH + 1];
    size_t start = line_start(s, at.start), n = 0, n_carets = 0;

    if (at.start - start > EXCERPT_LEAD)
        start = at.start - EXCERPT_LEAD;
    while (start < at.start && continues_character(s->text[start]))
        start++;
    for (size_t i = start; i < s->len && n < EXCERPT_WIDTH && !is_line_end(s->text[i]); i++) {
        char c = s->text[i];

        line[n++] = (unsigned char)c < ' ' || c == 0x7F ? ' ' : c;
        if (continues_character(c) || i > at.start + EXCERPT_WIDTH)
            continue;
        if (i < at.start || i == at.start || i < at.end)
            carets[n_carets++] = i < at.start ? ' ' : '^';
    }
    while (n && start + n < s->len && continues_character(s->text[start + n]) &&
           continues_character(line[n - 1]))
        n--; /* not half a character at the end */
    if (start + n <= at.start)
        carets[n_carets++] = '^'; /* something is missing at the end of the line */
    line[n]          = '\0';
    carets[n_carets] = '\0';
    snprintf(out, size, "%s\n%s", line, carets);
}

static cq_python_location origin_of(const cq_source *s, uint32_t offset)
{
    return s->origin ? s->origin(s->owner, s->notes, offset) : (cq_python_location){ 0 };
}

static void write_location(const cq_location_source *self, uint32_t offset, char *out, size_t size)
{
    const cq_source         *s      = (const cq_source *)self;
    const cq_python_location python = origin_of(s, offset);
    uint32_t                 line, column;

    if (python.file) {
        snprintf(out, size, "%s:%lld:%lld", python.file, (long long)python.line,
                 (long long)python.column);
        return;
    }
    cq_source_location(s, offset, &line, &column);
    snprintf(out, size, "%s:%u:%u", s->file, line, column);
}

void cq_source_init(cq_source *s, const char *file, const char *text, size_t len)
{
    *s = (cq_source){ .locations = { write_location }, .file = file, .text = text, .len = len };
}

/* Shows the user's own line if the archive noted it, else the archive's. */
cq_status cq_source_blame(const cq_source *s, cq_span at, cq_status status)
{
    char               excerpt[2 * EXCERPT_WIDTH + 8], python_location[CQ_LOCATION_SIZE];
    cq_python_location python;
    uint32_t           line, column;

    if (cq_error_has_excerpt())
        return status;
    if (at.start > s->len)
        at.start = at.end = (uint32_t)s->len;
    python = origin_of(s, at.start);
    cq_source_location(s, at.start, &line, &column);
    if (python.file) {
        write_location(&s->locations, at.start, python_location, sizeof python_location);
        cq_error_add_line(status, "%s (%s:%u:%u)", python_location, s->file, line, column);
    } else {
        cq_error_add_line(status, "%s:%u:%u", s->file, line, column);
    }
    if (python.is_call)
        return cq_error_add_excerpt(status, "in the call of %.*s", (int)python.len, python.text);
    if (python.text)
        write_excerpt(&(cq_source){ .text = python.text, .len = python.len },
                      (cq_span){ (uint32_t)python.start, (uint32_t)python.end }, excerpt,
                      sizeof excerpt);
    else
        write_excerpt(s, at, excerpt, sizeof excerpt);
    return cq_error_add_excerpt(status, "%s", excerpt);
}

cq_status cq_source_fail(const cq_source *s, cq_span at, cq_status status, const char *hint,
                         const char *format, ...)
{
    va_list args;

    va_start(args, format);
    cq_fail_v(status, NULL, hint, format, args);
    va_end(args);
    return cq_source_blame(s, at, status);
}
