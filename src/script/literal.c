/* Numbers and strings: from the text of a token to its value. */
#include "script/parser.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static const char *text_of(const cq_parser *p, cq_span at)
{
    return p->unit->source.text + at.start;
}

/* ---- numbers ------------------------------------------------------------------------------ */

static int digit_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'z' ? c - 'a' + 10
           : c >= 'A' && c <= 'Z' ? c - 'A' + 10
                                  : 99;
}

static int base_of(const char *digits)
{
    if (digits[0] != '0')
        return 10;
    switch (digits[1]) {
    case 'x':
    case 'X': return 16;
    case 'o':
    case 'O': return 8;
    case 'b':
    case 'B': return 2;
    default: return 10;
    }
}

static cq_ast_expr *parse_int(cq_parser *p, cq_ast_expr *x, const char *text, bool negative)
{
    const uint64_t most   = (uint64_t)INT64_MAX + negative;
    const int      base   = base_of(text);
    const char    *digits = base == 10 ? text : text + 2;
    uint64_t       value  = 0;

    if (!*digits || (base == 10 && text[0] == '0' && strspn(text, "0") != strlen(text)))
        return cq_parser_fail(p, x->at, "%s is not a number", text);
    for (; *digits; digits++) {
        const int d = digit_value(*digits);

        if (d >= base)
            return cq_parser_fail(p, x->at, "%s is not a number", text);
        if (value > (most - (unsigned)d) / (unsigned)base)
            return cq_parser_fail(p, x->at, "%.40s does not fit in 64 bits", text);
        value = value * (unsigned)base + (unsigned)d;
    }
    x->u.i = negative ? (int64_t)(0 - value) : (int64_t)value;
    return x;
}

/* A number is a float if it has a point or an exponent, and complex if it ends in j. */
cq_ast_expr *cq_parse_number(cq_parser *p, bool negative)
{
    const cq_span at     = p->tokens->list.items[p->next++].at;
    const char   *source = text_of(p, at);
    char         *text = cq_parser_new(p, at.end - at.start + 1), *to = text;
    cq_ast_expr  *x = cq_parser_expr(p, at.start, (cq_ast_expr){ .kind = CQ_X_INT });
    bool          is_hex, is_complex;

    if (!text || !x)
        return NULL;
    for (uint32_t i = 0; i < at.end - at.start; i++)
        if (source[i] != '_')
            *to++ = source[i];
    is_hex     = base_of(text) != 10;
    is_complex = !is_hex && (to[-1] == 'j' || to[-1] == 'J');
    if (is_hex || (!is_complex && !strpbrk(text, ".eE"))) {
        x = parse_int(p, x, text, negative);
    } else {
        x->kind = is_complex ? CQ_X_COMPLEX : CQ_X_FLOAT;
        x->u.f  = strtod(text, NULL);
        if (negative)
            x->u.f = -x->u.f;
    }
    if (x && negative)
        x->at.start = p->tokens->list.items[p->next - 2].at.start;
    return x;
}

/* ---- escapes ------------------------------------------------------------------------------ */

static void add_utf8(cq_str *s, uint32_t c)
{
    if (c < 0x80) {
        cq_str_add_char(s, (char)c);
    } else if (c < 0x800) {
        cq_str_add_char(s, (char)(0xC0 | c >> 6));
        cq_str_add_char(s, (char)(0x80 | (c & 0x3F)));
    } else if (c < 0x10000) {
        cq_str_add_char(s, (char)(0xE0 | c >> 12));
        cq_str_add_char(s, (char)(0x80 | (c >> 6 & 0x3F)));
        cq_str_add_char(s, (char)(0x80 | (c & 0x3F)));
    } else {
        cq_str_add_char(s, (char)(0xF0 | c >> 18));
        cq_str_add_char(s, (char)(0x80 | (c >> 12 & 0x3F)));
        cq_str_add_char(s, (char)(0x80 | (c >> 6 & 0x3F)));
        cq_str_add_char(s, (char)(0x80 | (c & 0x3F)));
    }
}

/* Reads up to most digits of a base; exactly that many if exact. */
static bool read_code(uint32_t *i, uint32_t end, const char *text, unsigned base, uint32_t most,
                      bool exact, uint32_t *out)
{
    const uint32_t start = *i;

    for (*out = 0; *i < end && *i - start < most && digit_value(text[*i]) < (int)base; ++*i)
        *out = *out * base + (uint32_t)digit_value(text[*i]);
    return *out <= 0x10FFFF && (!exact || *i - start == most);
}

/* The escape whose backslash is at text[*i]; moves *i behind it. */
static bool add_escape(cq_parser *p, cq_str *s, uint32_t *i, uint32_t end)
{
    static const char names[] = "\\'\"abfnrtv", values[] = "\\'\"\a\b\f\n\r\t\v";
    const char       *text  = p->unit->source.text;
    const uint32_t    start = (*i)++;
    const char        c     = text[(*i)++];
    const char       *known = c ? strchr(names, c) : NULL;
    uint32_t          code;
    bool              fits = true;

    if (known) {
        cq_str_add_char(s, values[known - names]);
        return true;
    }
    if (c == '\r' && *i < end && text[*i] == '\n')
        ++*i;
    if (c == '\n' || c == '\r')
        return true; /* the string goes on in the next line */
    if (c >= '0' && c <= '7')
        --*i, fits = read_code(i, end, text, 8, 3, false, &code);
    else if (c == 'x' || c == 'u' || c == 'U')
        fits = read_code(i, end, text, 16, c == 'x' ? 2 : c == 'u' ? 4 : 8, true, &code);
    else if (c == 'N')
        fits = false;
    else { /* as in Python, what is not an escape stands for itself */
        cq_str_add_n(s, text + start, 2);
        return true;
    }
    if (!fits) {
        cq_parser_fail(p, (cq_span){ start, *i }, "the escape in this string has no meaning");
        return false;
    }
    add_utf8(s, code);
    return true;
}

/* ---- strings ------------------------------------------------------------------------------ */

typedef struct string {
    cq_span  body; /* between the quotes */
    bool     raw, formatted;
    cq_str   text;     /* of the literal piece so far */
    uint32_t start;    /* of the first of the adjacent strings */
    bool     any_expr; /* something is on the parser's stack that is not a STR */
} string;

static cq_ast_expr *take_text(cq_parser *p, string *s)
{
    cq_ast_expr *x = cq_parser_expr(p, s->start, (cq_ast_expr){ .kind = CQ_X_STR });
    char        *copy;

    if (s->text.status != CQ_OK)
        p->status = s->text.status;
    copy = x ? cq_parser_new(p, s->text.len + 1) : NULL;
    if (!copy)
        return NULL;
    if (s->text.len)
        memcpy(copy, s->text.text, s->text.len);
    x->u.str.text = copy;
    x->u.str.len  = s->text.len;
    cq_str_clear(&s->text);
    return x;
}

static void *parse_field(cq_parser *p, void *user)
{
    cq_ast_expr *x = cq_parse_tests(p);

    (void)user;
    if (x && !cq_parser_at(p, CQ_TOKEN_END))
        return cq_parser_refuse(p);
    return x;
}

/* Where the expression behind a brace ends: at its own closing brace. *end is that one's place. */
static bool find_field_end(cq_parser *p, uint32_t start, uint32_t limit, uint32_t *end)
{
    const char *text  = p->unit->source.text;
    uint32_t    depth = 0;
    char        quote = 0;

    for (uint32_t i = start; i < limit; i++) {
        const char c = text[i];

        if (quote) {
            i += c == '\\';
            quote = c == quote ? 0 : quote;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '(' || c == '[' || c == '{') {
            depth++;
        } else if (depth && (c == ')' || c == ']' || c == '}')) {
            depth--;
        } else if (c == '}') {
            *end = i;
            return true;
        } else if (!depth && (c == ':' || (c == '!' && text[i + 1] != '='))) {
            cq_parser_fail(p, (cq_span){ i, i + 1 },
                           "TorchScript knows no formats and conversions in f-strings");
            return false;
        }
    }
    cq_parser_fail(p, (cq_span){ start - 1, start }, "'{' is never closed in this f-string");
    return false;
}

/* {expression}: what came before it and the expression itself go on the parser's stack. */
static bool add_field(cq_parser *p, string *s, uint32_t *i)
{
    cq_ast_expr *x;
    uint32_t     end;

    if (!find_field_end(p, *i + 1, s->body.end, &end))
        return false;
    x  = cq_parse_range(p, (cq_span){ *i + 1, end }, parse_field, NULL);
    *i = end + 1;
    if (!x)
        return false;
    if (x->kind == CQ_X_STR) { /* text in braces is text */
        cq_str_add_n(&s->text, x->u.str.text, x->u.str.len);
        return true;
    }
    s->any_expr = true;
    if (s->text.len) {
        cq_ast_expr *before = take_text(p, s);

        if (!before || !cq_parser_push(p, before))
            return false;
    }
    return cq_parser_push(p, x);
}

static bool add_body(cq_parser *p, string *s)
{
    const char *text = p->unit->source.text;

    for (uint32_t i = s->body.start; i < s->body.end;) {
        const char c       = text[i];
        const bool doubled = i + 1 < s->body.end && text[i + 1] == c;

        if (c == '\\' && !s->raw) {
            if (!add_escape(p, &s->text, &i, s->body.end))
                return false;
        } else if (s->formatted && c == '{' && !doubled) {
            if (!add_field(p, s, &i))
                return false;
        } else if (s->formatted && c == '}' && !doubled) {
            return cq_parser_fail(p, (cq_span){ i, i + 1 }, "'}' alone in an f-string") != NULL;
        } else {
            cq_str_add_char(&s->text, c == '\r' ? '\n' : c);
            i += s->formatted && (c == '{' || c == '}') ? 2 : 1;
            i += c == '\r' && i < s->body.end && text[i] == '\n';
        }
    }
    return s->text.status == CQ_OK || (p->status = s->text.status, false);
}

/* Prefix and quotes of a token. */
static bool open_string(cq_parser *p, string *s, cq_span at)
{
    const char *text = text_of(p, at);
    uint32_t    n    = 0, quotes;

    s->raw = s->formatted = false;
    for (; text[n] != '"' && text[n] != '\''; n++) {
        s->raw |= text[n] == 'r' || text[n] == 'R';
        s->formatted |= text[n] == 'f' || text[n] == 'F';
        if (text[n] == 'b' || text[n] == 'B')
            return cq_parser_fail(p, at, "TorchScript has no strings of bytes") != NULL;
    }
    quotes = at.end - at.start - n >= 6 && text[n] == text[n + 1] && text[n] == text[n + 2] ? 3 : 1;
    s->body = (cq_span){ at.start + n + quotes, at.end - quotes };
    return true;
}

static bool add_strings(cq_parser *p, string *s)
{
    while (cq_parser_at(p, CQ_TOKEN_STRING)) {
        const cq_span at = p->tokens->list.items[p->next++].at;

        if (!open_string(p, s, at) || !add_body(p, s))
            return false;
    }
    return true;
}

cq_ast_expr *cq_parse_strings(cq_parser *p)
{
    const size_t mark = cq_parser_mark(p);
    string       s    = { .start = cq_parser_peek(p, 0)->at.start };
    cq_ast_expr *x = NULL, *last = NULL;

    if (add_strings(p, &s))
        x = last = take_text(p, &s);
    cq_str_clear(&s.text);
    if (!x || !s.any_expr)
        return x;
    if (last->u.str.len && !cq_parser_push(p, last))
        return NULL;
    x = cq_parser_expr(p, s.start, (cq_ast_expr){ .kind = CQ_X_FSTR });
    if (!x || !cq_parser_take_exprs(p, mark, &x->u.items))
        return NULL;
    for (size_t i = 0; x && i < x->u.items.n; i++)
        x = cq_parser_over(p, x, x->u.items.items[i]);
    return x;
}
