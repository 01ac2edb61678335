/* memmem, which the C library of Windows lacks: the two-way algorithm of Crochemore and Perrin, in
 * linear time and constant memory. */
#include "base/windows/posix.h"

#include <string.h>

typedef const unsigned char *bytes_at;

/* The maximal suffix of a pattern in one of the two orders of bytes, and its period. */
static size_t maximal_suffix(bytes_at p, size_t n, bool reversed, size_t *period)
{
    size_t suffix = (size_t)-1, at = 0, k = 1;

    *period = 1;
    while (at + k < n) {
        const unsigned char a = p[at + k], b = p[suffix + k];

        if (a == b) {
            if (k == *period) {
                at += *period;
                k = 1;
            } else {
                k++;
            }
        } else if (reversed ? a > b : a < b) {
            at += k;
            k       = 1;
            *period = at - suffix;
        } else {
            suffix  = at++;
            k       = 1;
            *period = 1;
        }
    }
    return suffix + 1;
}

void *memmem(const void *in, size_t size, const void *bytes, size_t n)
{
    bytes_at     text = in, p = bytes;
    size_t       period, other_period, known = 0;
    const size_t one   = maximal_suffix(p, n, false, &period);
    const size_t other = maximal_suffix(p, n, true, &other_period);
    const size_t cut   = one > other ? one : other; /* a critical position of the pattern */
    bool         is_periodic;

    if (!n)
        return (void *)text;
    period      = one > other ? period : other_period;
    is_periodic = cut + period <= n && memcmp(p, p + period, cut) == 0;
    if (!is_periodic)
        period = (cut > n - cut ? cut : n - cut) + 1;
    for (size_t at = 0; size >= n && at <= size - n;) {
        size_t i = cut > known ? cut : known;

        while (i < n && p[i] == text[at + i])
            i++;
        if (i < n) {
            at += i - cut + 1;
            known = 0;
            continue;
        }
        for (i = cut; i > known && p[i - 1] == text[at + i - 1];)
            i--;
        if (i <= known)
            return (void *)(text + at);
        at += period;
        known = is_periodic ? n - period : 0;
    }
    return NULL;
}
