#define _POSIX_C_SOURCE 200809L /* strnlen */
#include "base/printable.h"

#include "base/pytext.h"

#include <string.h>

/* The bytes of the character at p that may be shown as they are; 0: its first byte is escaped.
 * Characters that change the direction of text, or show nothing, make it read as another. */
static size_t shown(const char *text)
{
    uint32_t c;
    size_t   n = cq_utf8_next(text, strnlen(text, 4), &c);

    return n && cq_is_printable(c) ? n : 0;
}

static void add(cq_str *s, const char *text, const char *also)
{
    while (*text) {
        size_t n = strchr(also, *text) ? 1 : shown(text);

        if (n)
            cq_str_add_n(s, text, n);
        else
            cq_str_printf(s, "\\x%02x", (unsigned char)*text);
        text += n ? n : 1;
    }
}

void cq_str_add_name(cq_str *s, const char *name)
{
    add(s, name, "");
}

void cq_str_add_lines(cq_str *s, const char *text)
{
    add(s, text, "\n\t");
}

void cq_put_lines(FILE *out, const char *text)
{
    cq_str s = { 0 };

    cq_str_add_lines(&s, text);
    fputs(cq_str_text(&s), out);
    cq_str_clear(&s);
}
