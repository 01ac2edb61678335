/* A string that is built piece by piece. The first failure stays in it and later
 * calls fall through, so a printer is a straight line that checks once at the end. */
#ifndef CQ_BASE_STR_H
#define CQ_BASE_STR_H

#include "base/alloc.h"

#include <stdbool.h>
#include <string.h>

typedef struct cq_str {
    char     *text; /* always terminated once anything was added; may be NULL before */
    size_t    len, cap;
    cq_status status;
} cq_str;

void cq_str_add(cq_str *s, const char *text);
void cq_str_add_n(cq_str *s, const char *text, size_t len);
void cq_str_add_char(cq_str *s, char c);
void cq_str_printf(cq_str *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cq_str_vprintf(cq_str *s, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
void cq_str_clear(cq_str *s);

/* The text, "" if nothing was added. */
const char *cq_str_text(const cq_str *s);

/* Hands the text over to the caller (free with cq_free) and leaves s empty;
 * NULL if anything failed, and *s is cleared. */
char *cq_str_take(cq_str *s);

static inline bool cq_starts_with(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool cq_ends_with(const char *s, const char *suffix);

/* The same, and equality, without regard to the case of ASCII letters. */
bool cq_starts_with_word(const char *s, const char *prefix);
bool cq_is_same_word(const char *a, const char *b);

/* The first occurrence of bytes in others, in linear time; NULL: none. */
const char *cq_find_bytes(const char *in, size_t size, const char *bytes, size_t n);

/* Equality, for the rows of a table: most differ in the first letter. */
static inline bool cq_is(const char *a, const char *b)
{
    return *a == *b && strcmp(a, b) == 0;
}

/* Whether it is one of n words; false for NULL. */
bool cq_is_among(const char *s, const char *const *words, size_t n);
#define CQ_IS_AMONG(s, words) cq_is_among(s, words, sizeof(words) / sizeof *(words))

#endif
