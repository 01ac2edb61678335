/* Texts of the first protocols of pickles: a line with escapes, which may hide a name. */
#include "audit/audit.h"

/* The number of n digits at p; -1 if one is not a digit. */
static int digits_of(const char *p, int n, int base)
{
    static const char digits[] = "0123456789abcdef";
    int               v        = 0;

    for (int i = 0; i < n; i++) {
        const char  c  = p[i] >= 'A' && p[i] <= 'F' ? (char)(p[i] + 32) : p[i];
        const char *at = memchr(digits, c, (size_t)base);

        if (!at)
            return -1;
        v = v * base + (int)(at - digits);
    }
    return v;
}

/* The character of the escape sequence at p, and its length; -1: there is none. Only ASCII matters:
 * names of modules have no other characters. */
static int escaped(const char *p, size_t left, bool is_string, size_t *used)
{
    int v = -1;

    if (*p != '\\')
        return -1;
    *used = is_string ? 4 : 6;
    if (left < *used)
        return -1;
    if (is_string)
        v = p[1] == 'x' ? digits_of(p + 2, 2, 16) : digits_of(p + 1, 3, 8);
    else if (p[1] == 'u')
        v = digits_of(p + 2, 4, 16);
    return v > 0 && v < 128 ? v : -1;
}

bool cq_audit_decode_text(cq_arena *arena, const char **text, uint32_t *size, bool is_string)
{
    const char *from = *text;
    size_t      left = *size, n = 0;
    char       *to;

    if (is_string && left >= 2 && (*from == '\'' || *from == '"') && from[left - 1] == *from) {
        from++;
        left -= 2;
    }
    *text = from;
    *size = (uint32_t)left;
    if (!left || !memchr(from, '\\', left))
        return true;
    to = cq_arena_alloc(arena, left);
    if (!to)
        return false;
    while (left) {
        size_t    used = 1;
        const int c    = escaped(from, left, is_string, &used);

        used    = c < 0 ? 1 : used;
        to[n++] = c < 0 ? *from : (char)c;
        from += used;
        left -= used;
    }
    *text = to;
    *size = (uint32_t)n;
    return true;
}
