/* The lexer: source text to tokens, with Python's layout. It knows no grammar; it closes
 * brackets and counts indentation, because line ends mean nothing inside of brackets.
 *
 * Accepted beyond PyTorch's own lexer is what its Python frontend takes: all prefixes and
 * escapes of strings, underscores in numbers, tabs as Python 3 counts them. */
#include "script/token.h"

#include <stdlib.h>
#include <string.h>

#define BYTE_ORDER_MARK "\xEF\xBB\xBF" /* means nothing, at the beginning of a text alone */

typedef struct indent {
    uint32_t column;      /* with tab stops of 8 */
    uint32_t alternative; /* with tab stops of 1: both must agree on what is deeper */
} indent;

typedef struct lexer {
    const cq_source *source;
    const char      *text;
    uint32_t         at, end;
    cq_tokens       *out;
    bool             bracketed; /* the whole range is inside of brackets */
    CQ_VEC(indent) indents;
    CQ_VEC(uint32_t) brackets; /* where the open ones are */
} lexer;

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

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Letters outside of ASCII are taken as part of names, like in Python. */
static bool starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool continues_name(char c)
{
    return starts_name(c) || is_digit(c);
}

static char peek(const lexer *l, uint32_t ahead)
{
    return l->end - l->at > ahead ? l->text[l->at + ahead] : '\0';
}

static cq_status fail(const lexer *l, uint32_t start, uint32_t end, const char *message)
{
    return cq_source_fail(l->source, (cq_span){ start, end }, CQ_E_SYNTAX, NULL, "%s", message);
}

static cq_status push(lexer *l, cq_token_kind kind, uint32_t start)
{
    return cq_vec_push(&l->out->list, (cq_token){ kind, { start, l->at } });
}

static bool inside_brackets(const lexer *l)
{
    return l->bracketed || l->brackets.n;
}

/* ---- strings and numbers ---------------------------------------------------------------- */

/* How many characters before the quote make a string: 0 for "a", 2 for rb"a"; -1: no string. */
static int string_prefix(const lexer *l)
{
    for (int n = 0; n <= 2; n++) {
        char c = peek(l, (uint32_t)n);

        if (c == '"' || c == '\'')
            return n;
        if (!c || !strchr("rRbBuUfF", c))
            return -1;
    }
    return -1;
}

static cq_status lex_string(lexer *l, uint32_t prefix)
{
    const uint32_t start  = l->at;
    const char     quote  = peek(l, prefix);
    const bool     triple = peek(l, prefix + 1) == quote && peek(l, prefix + 2) == quote;

    l->at += prefix + (triple ? 3 : 1);
    for (; l->at < l->end; l->at++) {
        char c = l->text[l->at];

        if (c == '\\' && l->end - l->at > 1) {
            l->at++;
        } else if (c == quote && (!triple || (peek(l, 1) == quote && peek(l, 2) == quote))) {
            l->at += triple ? 3 : 1;
            return push(l, CQ_TOKEN_STRING, start);
        } else if (!triple && (c == '\n' || c == '\r')) {
            break;
        }
    }
    return fail(l, start, start + prefix + (triple ? 3 : 1), "the string has no end");
}

static void skip_digits(lexer *l)
{
    while (is_digit(peek(l, 0)) || (peek(l, 0) == '_' && is_digit(peek(l, 1))))
        l->at++;
}

static void skip_exponent(lexer *l)
{
    uint32_t sign = peek(l, 1) == '+' || peek(l, 1) == '-';

    if ((peek(l, 0) == 'e' || peek(l, 0) == 'E') && is_digit(peek(l, 1 + sign))) {
        l->at += 1 + sign;
        skip_digits(l);
    }
}

/* Only how far it goes; the parser tells its value. */
static cq_status lex_number(lexer *l)
{
    const uint32_t start = l->at;

    if (peek(l, 0) == '0' && peek(l, 1) && strchr("xXoObB", peek(l, 1))) {
        l->at += 2;
        while (continues_name(peek(l, 0)))
            l->at++;
        return push(l, CQ_TOKEN_NUMBER, start);
    }
    skip_digits(l);
    if (peek(l, 0) == '.') {
        l->at++;
        skip_digits(l);
    }
    skip_exponent(l);
    if (peek(l, 0) == 'j' || peek(l, 0) == 'J')
        l->at++;
    if (continues_name(peek(l, 0)))
        return fail(l, start, l->at + 1, "a number ends in a letter");
    return push(l, CQ_TOKEN_NUMBER, start);
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

static cq_status lex_name(lexer *l)
{
    const uint32_t     start = l->at;
    const struct word *word;
    piece              p = { l->text + start, 0 };

    while (continues_name(peek(l, 0)))
        l->at++;
    p.len = l->at - start;
    word  = bsearch(&p, words, sizeof words / sizeof *words, sizeof *words, compare_word);
    return push(l, word ? word->kind : CQ_TOKEN_NAME, start);
}

static cq_status close_bracket(lexer *l, char closer)
{
    uint32_t open;

    if (!l->brackets.n)
        return fail(l, l->at, l->at + 1, "a bracket is closed that was not opened");
    open = l->brackets.items[--l->brackets.n];
    if (closer == (l->text[open] == '(' ? ')' : l->text[open] == '[' ? ']' : '}'))
        return CQ_OK;
    return cq_source_fail(l->source, (cq_span){ l->at, l->at + 1 }, CQ_E_SYNTAX, NULL,
                          "'%c' does not close '%c'", closer, l->text[open]);
}

static cq_status lex_sign(lexer *l)
{
    const uint32_t start = l->at;
    const char     c     = peek(l, 0);

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t len;

        if (signs[i].text[0] != c)
            continue;
        len = strlen(signs[i].text);
        if (l->end - start < len || memcmp(signs[i].text, l->text + start, len) != 0)
            continue;
        if (c == '(' || c == '[' || c == '{')
            CQ_TRY(cq_vec_push(&l->brackets, start));
        if (c == ')' || c == ']' || c == '}')
            CQ_TRY(close_bracket(l, c));
        l->at += (uint32_t)len;
        return push(l, signs[i].kind, start);
    }
    return cq_source_fail(l->source, (cq_span){ start, start + 1 }, CQ_E_SYNTAX, NULL,
                          c > ' ' && c < 0x7F ? "'%c' has no meaning here"
                                              : "a byte of value %d has no meaning here",
                          (unsigned char)c);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool at_line_end(const lexer *l)
{
    return peek(l, 0) == '\n' || peek(l, 0) == '\r';
}

static void skip_line_end(lexer *l)
{
    l->at += peek(l, 0) == '\r' && peek(l, 1) == '\n' ? 2 : 1;
}

static bool follows(const lexer *l, uint32_t at, const char *word)
{
    size_t len = strlen(word);

    return l->end - at >= len && memcmp(l->text + at, word, len) == 0;
}

/* Keeps what follows `# type:`, unless it is only for other tools (`# type: ignore`). */
static cq_status lex_comment(lexer *l)
{
    uint32_t start = l->at + 1, end;

    while (l->at < l->end && !at_line_end(l))
        l->at++;
    while (start < l->at && l->text[start] == ' ')
        start++;
    if (!follows(l, start, "type:"))
        return CQ_OK;
    start += (uint32_t)strlen("type:");
    while (start < l->at && (l->text[start] == ' ' || l->text[start] == '\t'))
        start++;
    for (end = start; end < l->at && l->text[end] != '#';)
        end++;
    if (start >= end || (follows(l, start, "ignore") && !continues_name(l->text[start + 6])))
        return CQ_OK;
    return cq_vec_push(&l->out->comments, (cq_span){ start, end });
}

static cq_status skip_blanks(lexer *l)
{
    while (l->at < l->end) {
        char c = peek(l, 0);

        if (c == '\\' && (peek(l, 1) == '\n' || peek(l, 1) == '\r')) {
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

/* Reads the blanks a line begins with; *blank says that nothing else is on it. */
static cq_status measure_indent(lexer *l, indent *out, bool *blank)
{
    *out = (indent){ 0, 0 };
    for (; l->at < l->end; l->at++) {
        char c = peek(l, 0);

        if (c == ' ')
            out->column++, out->alternative++;
        else if (c == '\t')
            out->column = (out->column / 8 + 1) * 8, out->alternative++;
        else if (c == '\f')
            *out = (indent){ 0, 0 };
        else
            break;
    }
    if (peek(l, 0) == '#')
        CQ_TRY(lex_comment(l));
    *blank = l->at == l->end || at_line_end(l);
    return CQ_OK;
}

static cq_status compare_indents(const lexer *l, indent a, indent b, int *out)
{
    *out = (a.column > b.column) - (a.column < b.column);
    if (*out == (a.alternative > b.alternative) - (a.alternative < b.alternative))
        return CQ_OK;
    return cq_source_fail(l->source, (cq_span){ l->at - a.alternative, l->at }, CQ_E_SYNTAX,
                          "indent with blanks only",
                          "tabs and blanks are mixed, so that the depth of the line is unclear");
}

static cq_status start_line(lexer *l)
{
    indent now, top;
    bool   blank;
    int    order;

    CQ_TRY(measure_indent(l, &now, &blank));
    if (blank)
        return CQ_OK;
    top = l->indents.items[l->indents.n - 1];
    CQ_TRY(compare_indents(l, now, top, &order));
    if (order > 0) {
        CQ_TRY(cq_vec_push(&l->indents, now));
        return push(l, CQ_TOKEN_INDENT, l->at);
    }
    while (order < 0) {
        l->indents.n--;
        CQ_TRY(push(l, CQ_TOKEN_DEDENT, l->at));
        top = l->indents.items[l->indents.n - 1];
        CQ_TRY(compare_indents(l, now, top, &order));
        if (order > 0)
            return fail(l, l->at - now.alternative, l->at,
                        "the line is indented less than the one above, but like none before");
    }
    return CQ_OK;
}

static cq_status lex_token(lexer *l)
{
    int prefix = string_prefix(l);

    if (prefix >= 0)
        return lex_string(l, (uint32_t)prefix);
    if (starts_name(peek(l, 0)) && !follows(l, l->at, BYTE_ORDER_MARK))
        return lex_name(l);
    if (is_digit(peek(l, 0)) || (peek(l, 0) == '.' && is_digit(peek(l, 1))))
        return lex_number(l);
    return lex_sign(l);
}

/* One logical line, up to and with its NEWLINE. */
static cq_status lex_line(lexer *l)
{
    size_t before = l->out->list.n;

    if (!l->bracketed)
        CQ_TRY(start_line(l));
    if (l->out->list.n > before)
        before = l->out->list.n; /* indentation alone is not a line */
    for (;;) {
        CQ_TRY(skip_blanks(l));
        if (l->at == l->end || at_line_end(l))
            break;
        CQ_TRY(lex_token(l));
    }
    if (l->out->list.n > before && !l->bracketed)
        CQ_TRY(push(l, CQ_TOKEN_NEWLINE, l->at));
    if (l->at < l->end)
        skip_line_end(l);
    return CQ_OK;
}

static cq_status lex_lines(lexer *l)
{
    CQ_TRY(cq_vec_push(&l->indents, (indent){ 0, 0 }));
    if (l->at == 0 && follows(l, 0, BYTE_ORDER_MARK))
        l->at = 3;
    while (l->at < l->end)
        CQ_TRY(lex_line(l));
    if (l->brackets.n) {
        uint32_t open = l->brackets.items[l->brackets.n - 1];

        return cq_source_fail(l->source, (cq_span){ open, open + 1 }, CQ_E_SYNTAX, NULL,
                              "'%c' is never closed", l->text[open]);
    }
    while (l->indents.n-- > 1)
        CQ_TRY(push(l, CQ_TOKEN_DEDENT, l->at));
    return push(l, CQ_TOKEN_END, l->at);
}

cq_status cq_lex(cq_tokens *out, const cq_source *source, cq_span range, bool bracketed)
{
    lexer     l = { .source    = source,
                    .text      = source->text,
                    .at        = range.start,
                    .end       = range.end,
                    .out       = out,
                    .bracketed = bracketed };
    cq_status status;

    *out   = (cq_tokens){ 0 };
    status = lex_lines(&l);
    cq_vec_clear(&l.indents);
    cq_vec_clear(&l.brackets);
    if (status != CQ_OK)
        cq_tokens_clear(out);
    return status;
}

void cq_tokens_clear(cq_tokens *t)
{
    cq_vec_clear(&t->list);
    cq_vec_clear(&t->comments);
}
