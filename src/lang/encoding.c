/* The encoding of source text (PEP 263). The lexer reads UTF-8; Latin-1 is converted. Other
 * encodings are refused unless the text is ASCII, which is the same in all of them. */
#include "lang/encoding.h"

#include "base/str.h"

#include <string.h>

/* ---- the declaration ----------------------------------------------------------------------- */

/* Advances past the end of the line. */
static size_t next_line(const char *text, size_t len, size_t at)
{
    while (at < len && text[at] != '\n' && text[at] != '\r')
        at++;
    at += at + 1 < len && text[at] == '\r' && text[at + 1] == '\n';
    return at < len ? at + 1 : len;
}

static bool is_name_part(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

/* The name in a comment: `coding`, a colon or an equals sign, blanks, the name. */
static cq_span find_name(const char *text, size_t start, size_t end)
{
    static const char word[] = "coding";
    const size_t      n      = sizeof word - 1;

    for (size_t i = start; i + n < end; i++) {
        size_t from = i + n + 1, to;

        if (memcmp(text + i, word, n) != 0 || (text[i + n] != ':' && text[i + n] != '='))
            continue;
        while (from < end && (text[from] == ' ' || text[from] == '\t'))
            from++;
        for (to = from; to < end && is_name_part(text[to]);)
            to++;
        if (to > from)
            return (cq_span){ (uint32_t)from, (uint32_t)to };
    }
    return (cq_span){ 0, 0 };
}

/* The name of the declared encoding, in one of the first two lines; empty: none. A line with
 * anything but a comment ends the search. */
static cq_span find_declaration(const char *text, size_t len)
{
    size_t at = 0;

    for (int line = 0; line < 2 && at < len; line++) {
        const size_t end = next_line(text, len, at);
        size_t  first = at + (at == 0 && len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0);
        cq_span name;

        while (first < end && (text[first] == ' ' || text[first] == '\t' || text[first] == '\f'))
            first++;
        if (first < end && text[first] == '#') {
            name = find_name(text, first, end);
            if (name.end)
                return name;
        } else if (first < end && text[first] != '\n' && text[first] != '\r') {
            break;
        }
        at = end;
    }
    return (cq_span){ 0, 0 };
}

/* Whether a name is one of the list, which is in lower case with hyphens. */
static bool is_one_of(const char *name, size_t len, const char *const *list)
{
    for (; *list; list++) {
        size_t i = 0;

        while (i < len && (*list)[i] &&
               (*list)[i] == (name[i] == '_'                     ? '-'
                              : name[i] >= 'A' && name[i] <= 'Z' ? name[i] | 0x20
                                                                 : name[i]))
            i++;
        if (i == len && !(*list)[i])
            return true;
    }
    return false;
}

/* ---- the bytes ------------------------------------------------------------------------------ */

static size_t ascii_length(const char *text, size_t at, size_t len)
{
    const size_t start = at;

    while (at < len && (unsigned char)text[at] < 0x80)
        at++;
    return at - start;
}

/* How many bytes a character of UTF-8 has; 0: it is not valid. */
static size_t character_length(const unsigned char *c, size_t left)
{
    const size_t n = c[0] < 0x80   ? 1
                     : c[0] < 0xC2 ? 0
                     : c[0] < 0xE0 ? 2
                     : c[0] < 0xF0 ? 3
                     : c[0] < 0xF5 ? 4
                                   : 0;

    if (n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((c[i] & 0xC0) != 0x80)
            return 0;
    if ((c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xED && c[1] > 0x9F) ||
        (c[0] == 0xF0 && c[1] < 0x90) || (c[0] == 0xF4 && c[1] > 0x8F))
        return 0; /* a longer form than needed, a surrogate, or beyond U+10FFFF */
    return n;
}

static cq_status check_utf8(const cq_source *s)
{
    for (size_t at = ascii_length(s->text, 0, s->len); at < s->len;) {
        const size_t n = character_length((const unsigned char *)s->text + at, s->len - at);

        if (!n)
            return cq_source_fail(s, (cq_span){ (uint32_t)at, (uint32_t)at + 1 }, CQ_E_SYNTAX,
                                  "save the file as UTF-8, or declare its encoding in the first "
                                  "line: # coding: latin-1",
                                  "the byte 0x%02X is not valid in UTF-8",
                                  (unsigned char)s->text[at]);
        at += n;
        at += ascii_length(s->text, at, s->len);
    }
    return CQ_OK;
}

static cq_status convert_latin1(cq_arena *arena, cq_source *s)
{
    size_t n = s->len;
    char  *copy, *to;

    for (size_t i = 0; i < s->len; i++)
        n += (unsigned char)s->text[i] >= 0x80;
    copy = to = cq_arena_alloc(arena, n + 1);
    if (!copy)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < s->len; i++) {
        const unsigned char c = (unsigned char)s->text[i];

        if (c >= 0x80)
            *to++ = (char)(0xC0 | c >> 6);
        *to++ = (char)(c >= 0x80 ? 0x80 | (c & 0x3F) : c);
    }
    *to     = '\0';
    s->text = copy;
    s->len  = n;
    return CQ_OK;
}

static cq_status refuse_nul(const cq_source *s)
{
    const char    *nul = memchr(s->text, 0, s->len);
    const uint32_t at  = nul ? (uint32_t)(nul - s->text) : 0;

    return nul ? cq_source_fail(s, (cq_span){ at, at + 1 }, CQ_E_SYNTAX, NULL,
                                "the byte 0x00 is not valid in source text")
               : CQ_OK;
}

cq_status cq_decode(cq_arena *arena, cq_source *s)
{
    static const char *const utf8[]   = { "utf-8", "utf8", "utf-8-sig", "u8", NULL };
    static const char *const latin1[] = { "latin-1", "latin1", "iso-8859-1", "iso8859-1",
                                          "l1",      "8859",   "cp819",      NULL };
    cq_span                  name;

    CQ_TRY(refuse_nul(s));
    if (ascii_length(s->text, 0, s->len) == s->len)
        return CQ_OK;
    name = find_declaration(s->text, s->len);
    if (name.start == name.end || is_one_of(s->text + name.start, name.end - name.start, utf8))
        return check_utf8(s);
    if (is_one_of(s->text + name.start, name.end - name.start, latin1))
        return convert_latin1(arena, s);
    return cq_source_fail(s, name, CQ_E_SYNTAX, "save the file as UTF-8",
                          "the encoding '%.*s' is not supported", (int)(name.end - name.start),
                          s->text + name.start);
}
