/* Writes JSON strings. Names come from files and may contain any bytes, which JSON does not
 * allow. */
#include "json.h"

#include <stddef.h>
#include <stdint.h>

/* The length of the UTF-8 sequence at the start of text, or 0 if it is invalid: overlong, a
 * surrogate, above U+10FFFF, or truncated. */
static size_t utf8_length(const unsigned char *text)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    unsigned char         lead    = text[0];
    size_t                n       = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : 4;
    uint32_t              value   = lead & (0xffu >> (n + 1));

    if (n == 1)
        return 1;
    if (n == 4 && lead >> 3 != 30)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if (text[i] >> 6 != 2) /* also false for the terminating zero */
            return 0;
        value = value << 6 | (text[i] & 0x3fu);
    }
    return value < least[n] || value > 0x10ffff || value >> 11 == 27 ? 0 : n;
}

void cli_json_string(FILE *out, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    fputc('"', out);
    while (*at) {
        size_t n = utf8_length(at);

        if (n == 0)
            fputs("\\ufffd", out);
        else if (*at == '"' || *at == '\\')
            fprintf(out, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(out, "\\u%04x", *at);
        else
            fwrite(at, 1, n, out);
        at += n ? n : 1;
    }
    fputc('"', out);
}
