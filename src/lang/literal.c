/* Numbers and the text of strings: from the text of a token to its value. */
#include "lang/parser.h"

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

static bool has_digits_only(const char *digits, int base)
{
    if (!*digits)
        return false;
    for (; *digits; digits++)
        if (digit_value(*digits) >= base)
            return false;
    return true;
}

/* The value of digits, with their sign; false: it does not fit. */
static bool int_value(const char *digits, int base, bool negative, int64_t *out)
{
    const uint64_t most  = (uint64_t)INT64_MAX + negative;
    uint64_t       value = 0;

    for (; *digits; digits++) {
        const unsigned d = (unsigned)digit_value(*digits);

        if (value > (most - d) / (unsigned)base)
            return false;
        value = value * (unsigned)base + d;
    }
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

/* A number of any size is valid; one that does not fit in 64 bits keeps its text. */
static cq_ast_expr *parse_int(cq_parser *p, cq_ast_expr *x, const char *text, bool negative)
{
    const int   base   = base_of(text);
    const char *digits = base == 10 ? text : text + 2;

    if (!has_digits_only(digits, base) ||
        (base == 10 && text[0] == '0' && strspn(text, "0") != strlen(text)))
        return cq_parser_fail(p, x->at, "%s is not a number", text);
    if (int_value(digits, base, negative, &x->u.i))
        return x;
    x->kind       = CQ_X_BIG_INT;
    x->u.str.text = text;
    x->u.str.len  = strlen(text);
    if (!negative)
        return x;
    return cq_parser_over(
        p,
        cq_parser_expr(p, x->at.start,
                       (cq_ast_expr){ .kind = CQ_X_UNARY, .u.unary = { x, CQ_AST_NEG } }),
        x);
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

/* Names of characters have letters, digits, spaces and hyphens. */
static bool is_in_name(char c)
{
    return digit_value(c) < 36 || c == ' ' || c == '-';
}

/* \N{BULLET}, of which *i is after the N. There is no table of Unicode's names here: the text keeps
 * the name, and the evaluator rejects it. */
static bool add_named(cq_literal *s, const char *text, uint32_t *i, uint32_t end)
{
    uint32_t to = *i;

    if (to == end || text[to] != '{')
        return false;
    do
        to++;
    while (to < end && is_in_name(text[to]));
    if (to == end || text[to] != '}' || to - *i < 2)
        return false;
    cq_str_add_char(&s->text, CQ_AST_NAMED_MARK);
    cq_str_add_char(&s->text, 'N');
    cq_str_add_n(&s->text, text + *i, to + 1 - *i);
    s->named = true;
    *i       = to + 1;
    return true;
}

/* A numeric escape: \101, \x41, \u00e9, \U0001f600. In bytes the last two are not escapes. */
static bool read_number_escape(char c, cq_literal *s, const char *text, uint32_t *i, uint32_t end,
                               uint32_t *code, bool *fits)
{
    if (c >= '0' && c <= '7') {
        --*i;
        *fits = read_code(i, end, text, 8, 3, false, code);
    } else if (c == 'x' || (!s->bytes && (c == 'u' || c == 'U'))) {
        *fits = read_code(i, end, text, 16, c == 'x' ? 2 : c == 'u' ? 4 : 8, true, code);
    } else {
        return false;
    }
    return true;
}

/* The escape whose backslash is at text[*i]; advances *i past it. */
static bool add_escape(cq_parser *p, cq_literal *s, uint32_t *i, uint32_t end)
{
    static const char names[] = "\\'\"abfnrtv", values[] = "\\'\"\a\b\f\n\r\t\v";
    const char       *text  = p->unit->source.text;
    const uint32_t    start = (*i)++;
    const char        c     = *i < end ? text[(*i)++] : '\0';
    const char       *known = c ? strchr(names, c) : NULL;
    uint32_t          code  = 0;
    bool              fits  = true;

    if (known) {
        cq_str_add_char(&s->text, values[known - names]);
        return true;
    }
    if (c == '\r' && *i < end && text[*i] == '\n')
        ++*i;
    if (c == '\n' || c == '\r')
        return true; /* the string continues on the next line */
    if (c == 'N' && !s->bytes) {
        fits = add_named(s, text, i, end);
        if (fits)
            return true;
    } else if (!read_number_escape(c, s, text, i, end, &code, &fits)) {
        *i = start + 1; /* as in Python, an unknown escape is literal text */
        cq_str_add_char(&s->text, '\\');
        return true;
    }
    if (!fits) {
        cq_parser_fail(p, (cq_span){ start, *i }, "the escape in this string has no meaning");
        return false;
    }
    if (s->bytes || (p->has_octal_bytes && c >= '0' && c <= '7'))
        cq_str_add_char(&s->text, (char)code);
    else
        add_utf8(&s->text, code);
    return true;
}

bool cq_literal_add(cq_parser *p, cq_literal *s, cq_span range, bool braces)
{
    const char *text = p->unit->source.text;

    for (uint32_t i = range.start; i < range.end;) {
        const char c = text[i];

        if (c == '\\' && !s->raw) {
            if (!add_escape(p, s, &i, range.end))
                return false;
        } else if (s->bytes && (unsigned char)c >= 0x80) {
            cq_parser_fail(p, (cq_span){ i, i + 1 }, "bytes contain ASCII characters only");
            return false;
        } else {
            cq_str_add_char(&s->text, c == '\r' ? '\n' : c);
            i += braces && (c == '{' || c == '}') ? 2 : 1;
            i += c == '\r' && i < range.end && text[i] == '\n';
        }
    }
    if (s->text.status != CQ_OK)
        p->status = s->text.status;
    return p->status == CQ_OK;
}
