/* The lexer: source text to tokens, with Python's layout. It knows no grammar; it closes
 * brackets and counts indentation, because line ends mean nothing inside of brackets. Fields of
 * f-strings are brackets too, with tokens inside (PEP 701), so the whole text is read once.
 *
 * The text is valid UTF-8 (encoding.c). */
#include "lang/lexer.h"

#include <stdlib.h>

#define BYTE_ORDER_MARK "\xEF\xBB\xBF" /* means nothing, at the beginning of a text alone */

static const struct word {
    const char   *text;
    cq_token_kind kind;
} words[] = { /* ordered, for bsearch: capitals first */
#define X(name, text) { text, CQ_TOKEN_##name },
              CQ_TOKENS_WORDS(X)
#undef X
};

static const struct sign {
    const char   *text;
    cq_token_kind kind;
} signs[] = {
#define X(name, text) { text, CQ_TOKEN_##name },
    CQ_TOKENS_SIGNS(X)
#undef X
};

const char *cq_token_text(cq_token_kind kind)
{
    static const char *const names[] = {
#define X(name, text) text,
        CQ_TOKENS_OTHERS(X)
#undef X
#define X(name, text) "'" text "'",
            CQ_TOKENS_WORDS(X) CQ_TOKENS_SIGNS(X)
#undef X
    };
    return names[kind];
}

static bool inside_brackets(const cq_lexer *l)
{
    return l->bracketed || l->open.n;
}

/* ---- names and signs ---------------------------------------------------------------------- */

typedef struct piece {
    const char *text;
    size_t      len;
} piece;

static int compare_word(const void *key, const void *item)
{
    const piece       *p     = key;
    const struct word *w     = item;
    int                order = strncmp(p->text, w->text, p->len);

    return order ? order : w->text[p->len] ? -1 : 0;
}

/* Characters outside of ASCII that are not letters, digits or marks: those that editors and word
 * processors put into source. The exact list is Unicode's XID_Continue. */
static bool is_symbol(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        { 0x80, 0xA9 },     { 0xAB, 0xB4 },     { 0xB6, 0xB6 },       { 0xB8, 0xB9 },
        { 0xBB, 0xBF },     { 0xD7, 0xD7 },     { 0xF7, 0xF7 },       { 0x2000, 0x203E },
        { 0x2041, 0x2053 }, { 0x2055, 0x2070 }, { 0x2190, 0x2BFF },   { 0x3000, 0x3004 },
        { 0x3008, 0x3020 }, { 0xE000, 0xF8FF }, { 0xFEFF, 0xFEFF },   { 0xFF01, 0xFF0F },
        { 0xFF1A, 0xFF20 }, { 0xFFF0, 0xFFFF }, { 0x1F000, 0x1FAFF },
    };

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return true;
    return false;
}

/* The character at a byte of 0x80 or more. */
static uint32_t wide_character(const cq_lexer *l, uint32_t *len)
{
    const unsigned char c = (unsigned char)cq_lexer_peek(l, 0);
    uint32_t            value;

    *len  = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
    value = c & (0xFFu >> (*len + 1));
    for (uint32_t i = 1; i < *len; i++)
        value = value << 6 | ((unsigned char)cq_lexer_peek(l, i) & 0x3F);
    return value;
}

static cq_status skip_wide_character(cq_lexer *l)
{
    uint32_t       len;
    const uint32_t c = wide_character(l, &len);

    if (is_symbol(c))
        return cq_source_fail(l->source, (cq_span){ l->at, l->at + len }, CQ_E_SYNTAX, NULL,
                              "the character U+%04X has no meaning here", (unsigned)c);
    l->at = l->end - l->at > len ? l->at + len : l->end;
    return CQ_OK;
}

static cq_status lex_name(cq_lexer *l)
{
    const uint32_t     start = l->at;
    const struct word *word;
    piece              p = { l->text + start, 0 };

    while (cq_continues_name(cq_lexer_peek(l, 0))) {
        if ((unsigned char)cq_lexer_peek(l, 0) < 0x80)
            l->at++;
        else
            CQ_TRY(skip_wide_character(l));
    }
    p.len = l->at - start;
    word  = bsearch(&p, words, sizeof words / sizeof *words, sizeof *words, compare_word);
    return cq_lexer_push(l, word ? word->kind : CQ_TOKEN_NAME, start);
}

static cq_status close_bracket(cq_lexer *l, char closer)
{
    const cq_opening *open = cq_lexer_innermost(l);
    char              c;

    if (!open)
        return cq_lexer_fail(l, l->at, l->at + 1, "a bracket is closed that was not opened");
    c = l->text[open->at];
    l->open.n--;
    if (closer == (c == '(' ? ')' : c == '[' ? ']' : '}'))
        return CQ_OK;
    return cq_source_fail(l->source, (cq_span){ l->at, l->at + 1 }, CQ_E_SYNTAX, NULL,
                          "'%c' does not close '%c'", closer, c);
}

static cq_status lex_sign(cq_lexer *l)
{
    const uint32_t start = l->at;
    const char     c     = cq_lexer_peek(l, 0);

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t len;

        if (signs[i].text[0] != c || signs[i].kind == CQ_TOKEN_EXCLAMATION)
            continue;
        len = strlen(signs[i].text);
        if (l->end - start < len || memcmp(signs[i].text, l->text + start, len) != 0)
            continue;
        if (c == '(' || c == '[' || c == '{')
            CQ_TRY(cq_vec_push(&l->open, (cq_opening){ .kind = CQ_OPEN_BRACKET, .at = start }));
        if (c == ')' || c == ']' || c == '}')
            CQ_TRY(close_bracket(l, c));
        l->at += (uint32_t)len;
        return cq_lexer_push(l, signs[i].kind, start);
    }
    return cq_source_fail(l->source, (cq_span){ start, start + 1 }, CQ_E_SYNTAX, NULL,
                          c > ' ' && c < 0x7F ? "'%c' has no meaning here"
                                              : "a byte of value %d has no meaning here",
                          (unsigned char)c);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool at_line_end(const cq_lexer *l)
{
    return cq_lexer_peek(l, 0) == '\n' || cq_lexer_peek(l, 0) == '\r';
}

static void skip_line_end(cq_lexer *l)
{
    l->at += cq_lexer_peek(l, 0) == '\r' && cq_lexer_peek(l, 1) == '\n' ? 2 : 1;
}

/* Keeps what follows `# type:`, unless it is only for other tools (`# type: ignore`). */
static cq_status lex_comment(cq_lexer *l)
{
    uint32_t start = l->at + 1, end;

    while (l->at < l->end && !at_line_end(l))
        l->at++;
    while (start < l->at && l->text[start] == ' ')
        start++;
    if (!cq_lexer_follows(l, start, "type:"))
        return CQ_OK;
    start += (uint32_t)strlen("type:");
    while (start < l->at && (l->text[start] == ' ' || l->text[start] == '\t'))
        start++;
    for (end = start; end < l->at && l->text[end] != '#';)
        end++;
    if (start >= end ||
        (cq_lexer_follows(l, start, "ignore") && !cq_continues_name(l->text[start + 6])))
        return CQ_OK;
    return cq_vec_push(&l->out->comments, (cq_span){ start, end });
}

static cq_status skip_blanks(cq_lexer *l)
{
    while (l->at < l->end) {
        char c = cq_lexer_peek(l, 0);

        if (c == '\\' && (cq_lexer_peek(l, 1) == '\n' || cq_lexer_peek(l, 1) == '\r')) {
            l->at++;
            skip_line_end(l);
        } else if (c == '#') {
            CQ_TRY(lex_comment(l));
        } else if (c == ' ' || c == '\t' || c == '\f' || (at_line_end(l) && inside_brackets(l))) {
            l->at++;
        } else {
            break;
        }
    }
    return CQ_OK;
}

/* Reads the indentation of a line; *blank: the line is empty. */
static cq_status measure_indent(cq_lexer *l, cq_indent *out, bool *blank)
{
    *out = (cq_indent){ 0, 0 };
    for (; l->at < l->end; l->at++) {
        char c = cq_lexer_peek(l, 0);

        if (c == ' ')
            out->column++, out->alternative++;
        else if (c == '\t')
            out->column = (out->column / 8 + 1) * 8, out->alternative++;
        else if (c == '\f')
            *out = (cq_indent){ 0, 0 };
        else
            break;
    }
    if (cq_lexer_peek(l, 0) == '#')
        CQ_TRY(lex_comment(l));
    *blank = l->at == l->end || at_line_end(l);
    return CQ_OK;
}

static cq_status compare_indents(const cq_lexer *l, cq_indent a, cq_indent b, int *out)
{
    *out = (a.column > b.column) - (a.column < b.column);
    if (*out == (a.alternative > b.alternative) - (a.alternative < b.alternative))
        return CQ_OK;
    return cq_source_fail(l->source, (cq_span){ l->at - a.alternative, l->at }, CQ_E_SYNTAX,
                          "indent with blanks only",
                          "tabs and blanks are mixed, so that the depth of the line is unclear");
}

static cq_status start_line(cq_lexer *l)
{
    cq_indent now, top;
    bool      blank;
    int       order;

    CQ_TRY(measure_indent(l, &now, &blank));
    if (blank)
        return CQ_OK;
    top = l->indents.items[l->indents.n - 1];
    CQ_TRY(compare_indents(l, now, top, &order));
    if (order > 0) {
        CQ_TRY(cq_vec_push(&l->indents, now));
        return cq_lexer_push(l, CQ_TOKEN_INDENT, l->at);
    }
    while (order < 0) {
        l->indents.n--;
        CQ_TRY(cq_lexer_push(l, CQ_TOKEN_DEDENT, l->at));
        top = l->indents.items[l->indents.n - 1];
        CQ_TRY(compare_indents(l, now, top, &order));
        if (order > 0)
            return cq_lexer_fail(
                l, l->at - now.alternative, l->at,
                "the line is indented less than the one above, but like none before");
    }
    return CQ_OK;
}

static cq_status lex_token(cq_lexer *l)
{
    bool found;

    if (cq_lex_at_field_sign(l))
        return cq_lex_field_sign(l);
    CQ_TRY(cq_lex_string(l, &found));
    if (found)
        return CQ_OK;
    if (cq_starts_name(cq_lexer_peek(l, 0)) && !cq_lexer_follows(l, l->at, BYTE_ORDER_MARK))
        return lex_name(l);
    if (cq_is_digit(cq_lexer_peek(l, 0)) ||
        (cq_lexer_peek(l, 0) == '.' && cq_is_digit(cq_lexer_peek(l, 1))))
        return cq_lex_number(l);
    return lex_sign(l);
}

/* One logical line, up to and with its NEWLINE. */
static cq_status lex_line(cq_lexer *l)
{
    size_t before = l->out->list.n;

    if (!l->bracketed)
        CQ_TRY(start_line(l));
    if (l->out->list.n > before)
        before = l->out->list.n; /* indentation alone is not a line */
    for (;;) {
        if (cq_lexer_inside(l, CQ_OPEN_FSTRING) || cq_lexer_inside(l, CQ_OPEN_SPEC)) {
            CQ_TRY(cq_lex_text(l));
            continue;
        }
        CQ_TRY(skip_blanks(l));
        if (l->at == l->end || at_line_end(l))
            break;
        CQ_TRY(lex_token(l));
    }
    if (l->out->list.n > before && !l->bracketed)
        CQ_TRY(cq_lexer_push(l, CQ_TOKEN_NEWLINE, l->at));
    if (l->at < l->end)
        skip_line_end(l);
    return CQ_OK;
}

static cq_status lex_lines(cq_lexer *l)
{
    CQ_TRY(cq_vec_push(&l->indents, (cq_indent){ 0, 0 }));
    if (l->at == 0 && cq_lexer_follows(l, 0, BYTE_ORDER_MARK))
        l->at = 3;
    while (l->at < l->end)
        CQ_TRY(lex_line(l));
    if (l->open.n) {
        const cq_opening *open = cq_lexer_innermost(l);

        return cq_source_fail(l->source, (cq_span){ open->at, open->at + 1 }, CQ_E_SYNTAX, NULL,
                              open->kind == CQ_OPEN_FIELD ? "'%c' is never closed in this f-string"
                                                          : "'%c' is never closed",
                              l->text[open->at]);
    }
    while (l->indents.n-- > 1)
        CQ_TRY(cq_lexer_push(l, CQ_TOKEN_DEDENT, l->at));
    return cq_lexer_push(l, CQ_TOKEN_END, l->at);
}

cq_status cq_lex(cq_tokens *out, const cq_source *source, cq_span range, bool bracketed)
{
    cq_lexer  l = { .source    = source,
                    .text      = source->text,
                    .at        = range.start,
                    .end       = range.end,
                    .out       = out,
                    .bracketed = bracketed };
    cq_status status;

    *out   = (cq_tokens){ 0 };
    status = lex_lines(&l);
    cq_vec_clear(&l.indents);
    cq_vec_clear(&l.open);
    if (status != CQ_OK)
        cq_tokens_clear(out);
    return status;
}

void cq_tokens_clear(cq_tokens *t)
{
    cq_vec_clear(&t->list);
    cq_vec_clear(&t->comments);
}
