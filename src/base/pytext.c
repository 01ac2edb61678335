/* Python's repr of numbers, text and bytes. */
#include "base/pytext.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Python writes fixed notation for exponents in -4..15, else one digit before the point. */
void cq_str_add_py_float(cq_str *s, double value)
{
    char  scientific[40], digits[24];
    char *e;
    int   exponent, n = 0;

    if (!isfinite(value)) {
        cq_str_add(s, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    for (int precision = 0; precision < 17; precision++) {
        snprintf(scientific, sizeof scientific, "%.*e", precision, value);
        if (strtod(scientific, NULL) == value)
            break;
    }
    e        = strchr(scientific, 'e');
    exponent = atoi(e + 1);
    for (const char *p = scientific; p < e; p++)
        if (*p >= '0' && *p <= '9')
            digits[n++] = *p;
    if (signbit(value))
        cq_str_add_char(s, '-');
    if (exponent < -4 || exponent >= 16) {
        cq_str_printf(s, "%c%s%.*se%c%02d", digits[0], n > 1 ? "." : "", n - 1, digits + 1,
                      exponent < 0 ? '-' : '+', abs(exponent));
    } else if (exponent < 0) {
        cq_str_printf(s, "0.%.*s%.*s", -exponent - 1, "000", n, digits);
    } else if (exponent + 1 >= n) {
        cq_str_printf(s, "%.*s%.*s.0", n, digits, exponent + 1 - n, "000000000000000");
    } else {
        cq_str_printf(s, "%.*s.%.*s", exponent + 1, digits, n - exponent - 1,
                      digits + exponent + 1);
    }
}

size_t cq_utf8_next(const char *text, size_t len, uint32_t *out)
{
    /* Smallest character of each length: anything below was written too long. */
    static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const uint8_t        *p          = (const uint8_t *)text;
    size_t                n;
    uint32_t              c;

    if (!len)
        return 0;
    n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
    if (!n || n > len)
        return 0;
    c = n == 1 ? p[0] : p[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3f);
    }
    if (c < smallest[n] || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
        return 0;
    *out = c;
    return n;
}

/* Characters that Python escapes though they are not ASCII: spaces, controls, format
 * characters, private use. Code points that Unicode has not assigned yet are taken for
 * printable; which those are changes with Python's version. */
static bool is_printable(uint32_t c)
{
    static const uint32_t hidden[][2] = {
        { 0x0000, 0x001f },   { 0x007f, 0x00a0 },   { 0x00ad, 0x00ad },   { 0x0600, 0x0605 },
        { 0x061c, 0x061c },   { 0x06dd, 0x06dd },   { 0x070f, 0x070f },   { 0x0890, 0x0891 },
        { 0x08e2, 0x08e2 },   { 0x1680, 0x1680 },   { 0x180e, 0x180e },   { 0x2000, 0x200f },
        { 0x2028, 0x202f },   { 0x205f, 0x206f },   { 0x3000, 0x3000 },   { 0xd800, 0xf8ff },
        { 0xfeff, 0xfeff },   { 0xfff0, 0xfffb },   { 0xfffe, 0xffff },   { 0x110bd, 0x110bd },
        { 0x110cd, 0x110cd }, { 0x13430, 0x1343f }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
        { 0xe0000, 0xe00ff }, { 0xe01f0, 0x10ffff }
    };

    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (c >= hidden[i][0] && c <= hidden[i][1])
            return false;
    return true;
}

/* An ASCII character as it is or escaped, any other escaped. */
static void add_escaped(cq_str *s, uint32_t c, char quote)
{
    char letter = c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : '\0';

    if (letter)
        cq_str_printf(s, "\\%c", letter);
    else if (c == (uint32_t)quote || c == '\\')
        cq_str_printf(s, "\\%c", (char)c);
    else if (c < 0x80 && is_printable(c))
        cq_str_add_char(s, (char)c);
    else if (c < 0x100)
        cq_str_printf(s, "\\x%02x", c);
    else if (c < 0x10000)
        cq_str_printf(s, "\\u%04x", c);
    else
        cq_str_printf(s, "\\U%08x", c);
}

static char quote_for(const void *data, size_t size)
{
    return memchr(data, '\'', size) && !memchr(data, '"', size) ? '"' : '\'';
}

void cq_str_add_py_text(cq_str *s, const char *text, size_t len, size_t most)
{
    size_t   shown = 0, chars = 0, n;
    uint32_t c;
    char     quote;

    for (size_t i = 0; i < len; i += n ? n : 1) {
        n = cq_utf8_next(text + i, len - i, &c);
        chars += n != 0;
        if (chars <= most)
            shown = i + (n ? n : 1);
    }
    if (chars < most)
        shown = len;
    quote = quote_for(text, shown);
    cq_str_add_char(s, quote);
    for (size_t i = 0; i < shown; i += n ? n : 1) {
        n = cq_utf8_next(text + i, len - i, &c);
        if (n > 1 && is_printable(c))
            cq_str_add_n(s, text + i, n);
        else if (n)
            add_escaped(s, c, quote);
    }
    if (chars >= most)
        cq_str_printf(s, "...<+len=%zu>", chars - most);
    cq_str_add_char(s, quote);
}

void cq_str_add_py_bytes(cq_str *s, const void *data, size_t size)
{
    char quote = quote_for(data, size);

    cq_str_add_char(s, 'b');
    cq_str_add_char(s, quote);
    for (size_t i = 0; i < size; i++)
        add_escaped(s, ((const uint8_t *)data)[i], quote);
    cq_str_add_char(s, quote);
}
