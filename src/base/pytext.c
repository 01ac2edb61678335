/* Python's repr of numbers, text and bytes. */
#include "base/pytext.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Python uses fixed notation for exponents from -4 to 15, otherwise scientific notation. */
/* Digits of d.ddd times ten to the exponent, in Python's layout. */
static void add_digits(cq_str *s, bool is_negative, const char *digits, int n, int exponent)
{
    if (is_negative)
        cq_str_add_char(s, '-');
    if (exponent < -4 || exponent >= 16) {
        cq_str_printf(s, "%c%s%.*se%c%02d", digits[0], n > 1 ? "." : "", n - 1, digits + 1,
                      exponent < 0 ? '-' : '+', abs(exponent));
    } else if (exponent < 0) {
        cq_str_add_n(s, "0.000", (size_t)(1 - exponent));
        cq_str_add_n(s, digits, (size_t)n);
    } else if (exponent + 1 >= n) {
        cq_str_add_n(s, digits, (size_t)n);
        cq_str_add_n(s, "000000000000000", (size_t)(exponent + 1 - n));
        cq_str_add_n(s, ".0", 2);
    } else {
        cq_str_add_n(s, digits, (size_t)(exponent + 1));
        cq_str_add_char(s, '.');
        cq_str_add_n(s, digits + exponent + 1, (size_t)(n - exponent - 1));
    }
}

/* By trial: the smallest precision that reads back as the same number. */
static void add_shortest(cq_str *s, double value, bool is_float)
{
    char  scientific[40], digits[24];
    char *e;
    int   n = 0;

    for (int precision = 0; precision < 17; precision++) {
        snprintf(scientific, sizeof scientific, "%.*e", precision, value);
        if (is_float ? strtof(scientific, NULL) == (float)value : strtod(scientific, NULL) == value)
            break;
    }
    e = strchr(scientific, 'e');
    for (const char *p = scientific; p < e; p++)
        if (*p >= '0' && *p <= '9')
            digits[n++] = *p;
    add_digits(s, signbit(value), digits, n, atoi(e + 1));
}

static bool add_special(cq_str *s, double value)
{
    if (isfinite(value))
        return false;
    cq_str_add(s, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    return true;
}

void cq_str_add_py_float(cq_str *s, double value)
{
    if (!add_special(s, value))
        add_shortest(s, value, false);
}

/* Whether a double is near the midpoint of two floats. It rounds to the nearer float; but within
 * its own rounding error of the midpoint, the decimal text may be on the other side. */
static bool is_near_middle(double value)
{
    uint64_t bits, below;

    memcpy(&bits, &value, sizeof bits);
    below = bits & 0x1fffffff; /* bits beyond a float */
    return below >= 0x0ffffffe && below <= 0x10000002;
}

/* A fast path, because there are many weights and printf is slow. Powers of ten up to the 22nd are
 * exact doubles, so a product or quotient with one has an error of at most half a unit, far below
 * the digits of a float: in their range the digits are computed by arithmetic. */
static bool add_float_fast(cq_str *s, float value)
{
    static const double tens[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    double              size   = fabs((double)value);
    int                 exponent;

    if (!(size >= 1e-13 && size < 1e15))
        return false;
    exponent = (int)floor(log10(size));
    for (int n = 6; n <= 9; n++) {
        int      shift  = n - 1 - exponent; /* size is about digits / 10^shift */
        double   scaled = shift >= 0 ? size * tens[shift] : size / tens[-shift];
        uint64_t number = (uint64_t)(scaled + 0.5);
        double   back   = shift >= 0 ? (double)number / tens[shift] : (double)number * tens[-shift];
        char     digits[24];
        int      len;

        if (is_near_middle(back))
            return false;
        if ((float)back != (float)size)
            continue;
        len = 0;
        for (uint64_t rest = number; rest; rest /= 10)
            len++;
        for (int i = len; i > 0; i--, number /= 10)
            digits[i - 1] = (char)('0' + number % 10);
        exponent += len - n; /* the logarithm may be off by one, and 9.99 may become 10.0 */
        while (len > 1 && digits[len - 1] == '0')
            len--;
        add_digits(s, value < 0, digits, len, exponent);
        return true;
    }
    return false;
}

void cq_str_add_py_float32(cq_str *s, float value)
{
    if (!add_special(s, (double)value) && !add_float_fast(s, value))
        add_shortest(s, (double)value, true);
}

size_t cq_utf8_next(const char *text, size_t len, uint32_t *out)
{
    /* The smallest character of each length: a smaller one is encoded too long. */
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

/* Whether Python prints a character unescaped: not spaces, controls, format characters and private
 * use. Unassigned code points count as printable; the set of assigned ones depends on Python's
 * version. */
bool cq_is_printable(uint32_t c)
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

/* Appends an ASCII character, escaped if necessary; others are escaped. */
static void add_escaped(cq_str *s, uint32_t c, char quote)
{
    char letter = c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : '\0';

    if (letter)
        cq_str_printf(s, "\\%c", letter);
    else if (c == (uint32_t)quote || c == '\\')
        cq_str_printf(s, "\\%c", (char)c);
    else if (c < 0x80 && cq_is_printable(c))
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
        if (n > 1 && cq_is_printable(c))
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
