#define _POSIX_C_SOURCE 200809L /* strnlen */
#include "base/printable.h"

#include "base/pytext.h"
#include <calque/status.h>

#include <string.h>

/* Characters that Python prints and that are invisible: Unicode's Default_Ignorable_Code_Point
 * without the format characters, and the blank Braille pattern. */
static bool is_ignorable(uint32_t c)
{
    static const uint32_t ranges[][2] = { { 0x034f, 0x034f },  { 0x115f, 0x1160 },
                                          { 0x17b4, 0x17b5 },  { 0x180b, 0x180f },
                                          { 0x2800, 0x2800 },  { 0x3164, 0x3164 },
                                          { 0xfe00, 0xfe0f },  { 0xffa0, 0xffa0 },
                                          { 0xe0100, 0xe01ef } };

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return true;
    return false;
}

size_t cq_visible_bytes(const char *text, size_t size)
{
    uint32_t c;
    size_t   n = text ? cq_utf8_next(text, size, &c) : 0;

    return n && cq_is_printable(c) && !is_ignorable(c) ? n : 0;
}

static size_t shown(const char *text)
{
    return cq_visible_bytes(text, strnlen(text, 4));
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
