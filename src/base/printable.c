#include "base/printable.h"

#include <string.h>

/* The bytes of the character at p that may be shown as they are; 0: its first byte is escaped.
 * U+0080 to U+009F are controls as well. */
static size_t shown(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t               n = *p < 0x80                 ? 1
                             : *p >= 0xc2 && *p < 0xe0 ? 2
                             : *p >= 0xe0 && *p < 0xf0 ? 3
                             : *p >= 0xf0 && *p < 0xf5 ? 4
                                                       : 0;

    if (n == 1)
        return *p >= 0x20 && *p != 0x7f;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return p[0] == 0xc2 && p[1] < 0xa0 ? 0 : n;
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
