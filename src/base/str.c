#define _GNU_SOURCE /* memmem */
#include "base/str.h"
#include "base/posix.h"
#include "base/vec.h"

#include <stdio.h>
#include <string.h>

static bool room(cq_str *s, size_t more)
{
    if (s->status == CQ_OK)
        s->status = more > SIZE_MAX / 2 - s->len
                        ? cq_no_memory()
                        : cq_vec_grow((void **)&s->text, &s->cap, s->len + more + 1, 1);
    return s->status == CQ_OK;
}

void cq_str_add_n(cq_str *s, const char *text, size_t len)
{
    if (!room(s, len))
        return;
    if (len)
        memcpy(s->text + s->len, text, len);
    s->len += len;
    s->text[s->len] = '\0';
}

void cq_str_add(cq_str *s, const char *text)
{
    cq_str_add_n(s, text, strlen(text));
}

void cq_str_add_char(cq_str *s, char c)
{
    cq_str_add_n(s, &c, 1);
}

void cq_str_vprintf(cq_str *s, const char *format, va_list args)
{
    va_list again;
    int     len;

    va_copy(again, args);
    len = vsnprintf(NULL, 0, format, args);
    if (len >= 0 && room(s, (size_t)len)) {
        vsnprintf(s->text + s->len, (size_t)len + 1, format, again);
        s->len += (size_t)len;
    }
    va_end(again);
}

void cq_str_printf(cq_str *s, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    cq_str_vprintf(s, format, args);
    va_end(args);
}

void cq_str_clear(cq_str *s)
{
    cq_free(s->text);
    *s = (cq_str){ 0 };
}

const char *cq_str_text(const cq_str *s)
{
    return s->text ? s->text : "";
}

char *cq_str_take(cq_str *s)
{
    char *text = NULL;

    room(s, 0);
    if (s->status == CQ_OK) {
        text         = s->text;
        text[s->len] = '\0';
        s->text      = NULL;
    }
    cq_str_clear(s);
    return text;
}

bool cq_ends_with(const char *s, const char *suffix)
{
    size_t len = strlen(s), tail = strlen(suffix);

    return len >= tail && strcmp(s + len - tail, suffix) == 0;
}

bool cq_is_among(const char *s, const char *const *words, size_t n)
{
    for (size_t i = 0; s && i < n; i++)
        if (cq_is(s, words[i]))
            return true;
    return false;
}

/* Not tolower, which follows the locale. */
static char in_lower_case(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool cq_starts_with_word(const char *s, const char *prefix)
{
    for (; *prefix; s++, prefix++)
        if (in_lower_case(*s) != in_lower_case(*prefix))
            return false;
    return true;
}

bool cq_is_same_word(const char *a, const char *b)
{
    return strlen(a) == strlen(b) && cq_starts_with_word(a, b);
}

const char *cq_find_bytes(const char *in, size_t size, const char *bytes, size_t n)
{
    return memmem(in, size, bytes, n);
}
