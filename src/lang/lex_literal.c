/* Strings, f-strings and numbers of the lexer: how far they go. Fields of f-strings are lexed like
 * the rest of the text (PEP 701). The parser decodes the values. */
#include "lang/lexer.h"

/* ---- strings ------------------------------------------------------------------------------ */

typedef struct string_start {
    uint32_t prefix; /* characters in front of the quote */
    char     quote;
    bool     triple, raw, formatted;
} string_start;

/* Whether a string begins here: each letter of a prefix at most once, and r with one other. */
static bool at_string(const cq_lexer *l, string_start *out)
{
    char kind = 0;

    *out = (string_start){ 0 };
    for (;; out->prefix++) {
        const char c = cq_lexer_peek(l, out->prefix), lower = (char)(c | 0x20);

        if (c == '"' || c == '\'')
            break;
        if (lower == 'r' && !out->raw && kind != 'u')
            out->raw = true;
        else if (c && !kind && (lower == 'b' || lower == 'f' || lower == 't'))
            kind = lower;
        else if (lower == 'u' && !kind && !out->raw)
            kind = 'u';
        else
            return false;
    }
    out->quote  = cq_lexer_peek(l, out->prefix);
    out->triple = cq_lexer_peek(l, out->prefix + 1) == out->quote &&
                  cq_lexer_peek(l, out->prefix + 2) == out->quote;
    out->formatted = kind == 'f' || kind == 't';
    return true;
}

/* A string that does not end: inside of a field of the same quotes it is rather the end of the
 * f-string, whose brace was forgotten. */
static cq_status fail_open_string(const cq_lexer *l, cq_span at, char quote)
{
    for (size_t i = l->open.n; i-- > 0;)
        if (l->open.items[i].kind == CQ_OPEN_FIELD && l->open.items[i].quote == quote)
            return cq_lexer_fail(l, l->open.items[i].at, l->open.items[i].at + 1,
                                 "'{' is never closed in this f-string");
    return cq_lexer_fail(l, at.start, at.end, "the string has no end");
}

static bool at_quotes(const cq_lexer *l, char quote, bool triple)
{
    return cq_lexer_peek(l, 0) == quote &&
           (!triple || (cq_lexer_peek(l, 1) == quote && cq_lexer_peek(l, 2) == quote));
}

/* Advances past a backslash and the escaped character: a line end may have two bytes. */
static void skip_escape(cq_lexer *l)
{
    const uint32_t n = cq_lexer_peek(l, 1) == '\r' && cq_lexer_peek(l, 2) == '\n' ? 3 : 2;

    l->at = l->end - l->at > n ? l->at + n : l->end;
}

static cq_status lex_string(cq_lexer *l, string_start s)
{
    const cq_span opened = { l->at, l->at + s.prefix + (s.triple ? 3 : 1) };

    l->at = opened.end;
    while (l->at < l->end) {
        const char c = cq_lexer_peek(l, 0);

        if (c == '\\') {
            skip_escape(l);
        } else if (at_quotes(l, s.quote, s.triple)) {
            l->at += s.triple ? 3 : 1;
            return cq_lexer_push(l, CQ_TOKEN_STRING, opened.start);
        } else if (!s.triple && (c == '\n' || c == '\r')) {
            break;
        } else {
            l->at++;
        }
    }
    return fail_open_string(l, opened, s.quote);
}

static cq_status start_fstring(cq_lexer *l, string_start s)
{
    const uint32_t   start = l->at;
    const cq_opening open  = {
         .kind = CQ_OPEN_FSTRING, .at = start, .quote = s.quote, .triple = s.triple, .raw = s.raw
    };

    l->at += s.prefix + (s.triple ? 3 : 1);
    CQ_TRY(cq_vec_push(&l->open, open));
    return cq_lexer_push(l, CQ_TOKEN_FSTRING_START, start);
}

/* \N{BULLET} is an escape, not a field. A backslash does not escape a brace. */
static void skip_fstring_escape(cq_lexer *l, bool raw)
{
    const char c = cq_lexer_peek(l, 1);

    if (c == '{' || c == '}') {
        l->at++;
        return;
    }
    if (!raw && c == 'N' && cq_lexer_peek(l, 2) == '{')
        for (uint32_t i = 3; cq_lexer_peek(l, i) && !strchr("{\"'\r\n", cq_lexer_peek(l, i)); i++)
            if (cq_lexer_peek(l, i) == '}') {
                l->at += i + 1;
                return;
            }
    skip_escape(l);
}

static cq_status open_field(cq_lexer *l)
{
    cq_opening open = *cq_lexer_innermost(l);

    open.kind = CQ_OPEN_FIELD;
    open.at   = l->at++;
    CQ_TRY(cq_lexer_push(l, CQ_TOKEN_LBRACE, open.at));
    return cq_vec_push(&l->open, open);
}

static cq_status close_field(cq_lexer *l)
{
    const uint32_t start = l->at++;

    l->open.n--;
    return cq_lexer_push(l, CQ_TOKEN_RBRACE, start);
}

static cq_status end_fstring(cq_lexer *l)
{
    const uint32_t start = l->at;

    if (cq_lexer_inside(l, CQ_OPEN_SPEC))
        return cq_lexer_fail(l, l->open.items[l->open.n - 2].at,
                             l->open.items[l->open.n - 2].at + 1,
                             "'{' is never closed in this f-string");
    l->at += cq_lexer_innermost(l)->triple ? 3 : 1;
    l->open.n--;
    return cq_lexer_push(l, CQ_TOKEN_FSTRING_END, start);
}

/* The end of a text part of an f-string: a brace, or its quotes. */
static cq_status end_text(cq_lexer *l)
{
    const cq_opening *open = cq_lexer_innermost(l);

    if (cq_lexer_peek(l, 0) == '{')
        return open_field(l);
    if (cq_lexer_peek(l, 0) == '}' && open->kind == CQ_OPEN_SPEC) {
        l->open.n--;
        return close_field(l);
    }
    if (cq_lexer_peek(l, 0) == '}')
        return cq_lexer_fail(l, l->at, l->at + 1, "'}' alone in an f-string");
    if (l->at < l->end && at_quotes(l, open->quote, open->triple))
        return end_fstring(l);
    if (open->kind == CQ_OPEN_SPEC)
        open--;
    return fail_open_string(l, (cq_span){ open->at, open->at + 1 }, open->quote);
}

/* In a format specification braces are not doubled. */
cq_status cq_lex_text(cq_lexer *l)
{
    const cq_opening open  = *cq_lexer_innermost(l);
    const uint32_t   start = l->at;

    while (l->at < l->end && !at_quotes(l, open.quote, open.triple)) {
        const char c = cq_lexer_peek(l, 0);

        if (c == '\\')
            skip_fstring_escape(l, open.raw);
        else if (c != '{' && c != '}' && (open.triple || (c != '\n' && c != '\r')))
            l->at++;
        else if ((c == '{' || c == '}') && cq_lexer_peek(l, 1) == c && open.kind == CQ_OPEN_FSTRING)
            l->at += 2;
        else
            break;
    }
    if (l->at > start)
        CQ_TRY(cq_lexer_push(l, CQ_TOKEN_FSTRING_TEXT, start));
    return end_text(l);
}

bool cq_lex_at_field_sign(const cq_lexer *l)
{
    const char c = cq_lexer_peek(l, 0);

    return cq_lexer_inside(l, CQ_OPEN_FIELD) &&
           (c == '}' || c == ':' || (c == '!' && cq_lexer_peek(l, 1) != '='));
}

cq_status cq_lex_field_sign(cq_lexer *l)
{
    const uint32_t start = l->at;
    const char     c     = cq_lexer_peek(l, 0);
    cq_opening     open  = *cq_lexer_innermost(l);

    if (c == '}')
        return close_field(l);
    l->at++;
    if (c == '!')
        return cq_lexer_push(l, CQ_TOKEN_EXCLAMATION, start);
    open.kind = CQ_OPEN_SPEC;
    CQ_TRY(cq_lexer_push(l, CQ_TOKEN_COLON, start));
    return cq_vec_push(&l->open, open);
}

cq_status cq_lex_string(cq_lexer *l, bool *found)
{
    string_start s;

    *found = at_string(l, &s);
    if (!*found)
        return CQ_OK;
    return s.formatted ? start_fstring(l, s) : lex_string(l, s);
}

/* ---- numbers ------------------------------------------------------------------------------ */

static void skip_digits(cq_lexer *l)
{
    while (cq_is_digit(cq_lexer_peek(l, 0)) ||
           (cq_lexer_peek(l, 0) == '_' && cq_is_digit(cq_lexer_peek(l, 1))))
        l->at++;
}

static void skip_exponent(cq_lexer *l)
{
    uint32_t sign = cq_lexer_peek(l, 1) == '+' || cq_lexer_peek(l, 1) == '-';

    if ((cq_lexer_peek(l, 0) == 'e' || cq_lexer_peek(l, 0) == 'E') &&
        cq_is_digit(cq_lexer_peek(l, 1 + sign))) {
        l->at += 1 + sign;
        skip_digits(l);
    }
}

static bool is_hex_digit(char c)
{
    return cq_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

static void skip_hex_digits(cq_lexer *l)
{
    while (is_hex_digit(cq_lexer_peek(l, 0)) ||
           (cq_lexer_peek(l, 0) == '_' && is_hex_digit(cq_lexer_peek(l, 1))))
        l->at++;
}

/* 0x1F, 0o17, 0b1: the parser checks the digits. */
static void skip_prefixed(cq_lexer *l)
{
    const bool is_hex = (cq_lexer_peek(l, 1) | 0x20) == 'x';

    l->at += 2;
    if (cq_lexer_peek(l, 0) == '_')
        l->at++;
    if (is_hex)
        skip_hex_digits(l);
    else
        skip_digits(l);
}

/* `1if x else 2`: a keyword may follow a number without a space. */
static bool at_keyword_behind_number(const cq_lexer *l)
{
    static const char *const keywords[] = { "and", "else", "for", "if", "in", "is", "not", "or" };

    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (cq_lexer_follows(l, l->at, keywords[i]))
            return true;
    return false;
}

/* Only the extent; the parser computes the value. */
cq_status cq_lex_number(cq_lexer *l)
{
    const uint32_t start = l->at;

    if (cq_lexer_peek(l, 0) == '0' && cq_lexer_peek(l, 1) &&
        strchr("xXoObB", cq_lexer_peek(l, 1))) {
        skip_prefixed(l);
    } else {
        skip_digits(l);
        if (cq_lexer_peek(l, 0) == '.') {
            l->at++;
            skip_digits(l);
        }
        skip_exponent(l);
        if (cq_lexer_peek(l, 0) == 'j' || cq_lexer_peek(l, 0) == 'J')
            l->at++;
    }
    if (cq_continues_name(cq_lexer_peek(l, 0)) && !at_keyword_behind_number(l))
        return cq_lexer_fail(l, start, l->at + 1, "a number ends in a letter");
    return cq_lexer_push(l, CQ_TOKEN_NUMBER, start);
}
