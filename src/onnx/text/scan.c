/* Tokens of the text syntax: spaces and comments, names, numbers and strings. There is no lookahead
 * buffer; a position is a pointer into the text. */
#include "onnx/text/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

cq_status cq_text_fail(const cq_text_parser *p, const char *at, const char *format, ...)
{
    uint32_t start = (uint32_t)(at - p->source.text);
    va_list  args;

    va_start(args, format);
    cq_fail_v(CQ_E_SYNTAX, NULL, NULL, format, args);
    va_end(args);
    return cq_source_blame(&p->source, (cq_span){ start, start + 1 }, CQ_E_SYNTAX);
}

/* ---- characters ---- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

const char *cq_text_next(const cq_text_parser *p)
{
    const char *at = p->at;

    for (;;) {
        while (at < p->end && is_space(*at))
            at++;
        if (at == p->end || *at != '#')
            return at;
        while (at < p->end && *at != '\n')
            at++;
    }
}

char cq_text_peek(const cq_text_parser *p)
{
    const char *at = cq_text_next(p);

    return at < p->end ? *at : '\0';
}

bool cq_text_take(cq_text_parser *p, char c)
{
    const char *at = cq_text_next(p);

    if (at == p->end || *at != c)
        return false;
    p->at = at + 1;
    return true;
}

cq_status cq_text_want(cq_text_parser *p, char c)
{
    if (cq_text_take(p, c))
        return CQ_OK;
    if (cq_text_next(p) == p->end)
        return cq_text_fail(p, p->end, "expected '%c', got the end of the text", c);
    return cq_text_fail(p, cq_text_next(p), "expected '%c'", c);
}

/* ---- names ---- */

size_t cq_text_id_len(const cq_text_parser *p)
{
    const char *begin = cq_text_next(p), *end;

    for (end = begin; end < p->end; end++)
        if (!cq_text_is_id(end, 1) && (end == begin || !is_digit(*end)))
            break;
    return (size_t)(end - begin);
}

cq_status cq_text_want_id(cq_text_parser *p, const char **text, size_t *len)
{
    *len  = cq_text_id_len(p);
    *text = cq_text_next(p);
    if (!*len)
        return cq_text_fail(p, *text, "expected a name");
    p->at = *text + *len;
    return CQ_OK;
}

bool cq_text_take_word(cq_text_parser *p, const char *word)
{
    const char *at  = cq_text_next(p);
    size_t      len = strlen(word);

    if (cq_text_id_len(p) != len || memcmp(at, word, len) != 0)
        return false;
    p->at = at + len;
    return true;
}

/* Copies a string to the model. Names in a model cannot contain zero bytes. */
static cq_status keep(cq_text_parser *p, const char **out, const cq_text_literal *literal)
{
    char *copy;

    if (memchr(literal->text, '\0', literal->len))
        return cq_text_fail(p, literal->from, "the string contains a zero byte");
    copy = cq_onnx_alloc(p->m, literal->len + 1);
    if (!copy)
        return p->m->status;
    memcpy(copy, literal->text, literal->len);
    *out = copy;
    return CQ_OK;
}

int cq_text_hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char       *at       = c ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) % 16 : -1;
}

bool cq_text_take_byte(cq_text_parser *p)
{
    if (p->end - p->at < 3 || *p->at != 'x' || cq_text_hex_digit(p->at[1]) < 0 ||
        cq_text_hex_digit(p->at[2]) < 0)
        return false;
    cq_str_add_char(&p->scratch,
                    (char)(cq_text_hex_digit(p->at[1]) * 16 + cq_text_hex_digit(p->at[2])));
    p->at += 3;
    return true;
}

/* Parses a quoted string; a backslash quotes the next character. In a text that calque wrote, where
 * backslashes only precede quotes and backslashes, \xNN is a byte: the command line prints bytes in
 * that form that a terminal might interpret. */
static cq_status want_quoted(cq_text_parser *p, cq_text_literal *out)
{
    const char *from = cq_text_next(p);

    p->at          = from + 1;
    *out           = (cq_text_literal){ CQ_TEXT_STRING, from, p->at, 0 };
    p->scratch.len = 0;
    while (p->at < p->end && *p->at != '"') {
        if (*p->at == '\\' && p->end - p->at > 1) {
            p->at++;
            if (p->is_exact && cq_text_take_byte(p))
                continue;
        }
        cq_str_add_char(&p->scratch, *p->at++);
    }
    if (p->at == p->end)
        return cq_text_fail(p, from, "missing closing quote of the string that begins here");
    p->at++;
    out->text = cq_str_text(&p->scratch);
    out->len  = p->scratch.len;
    return p->scratch.status;
}

cq_status cq_text_want_name(cq_text_parser *p, const char **out)
{
    cq_text_literal literal = { CQ_TEXT_STRING, NULL, NULL, 0 };

    if (cq_text_peek(p) == '"') {
        CQ_TRY(want_quoted(p, &literal));
    } else {
        CQ_TRY(cq_text_want_id(p, &literal.text, &literal.len));
        literal.from = literal.text;
    }
    return keep(p, out, &literal);
}

cq_status cq_text_want_string(cq_text_parser *p, const char **out)
{
    cq_text_literal literal;

    if (cq_text_peek(p) != '"')
        return cq_text_fail(p, cq_text_next(p), "expected a text in quotes");
    CQ_TRY(want_quoted(p, &literal));
    return keep(p, out, &literal);
}

/* ---- numbers ---- */

bool cq_text_next_is_number_word(const cq_text_parser *p)
{
    return cq_text_is_number_word(cq_text_next(p), cq_text_id_len(p));
}

/* Scans digits, with a point or an exponent if the number is not an integer. */
static void scan_number(cq_text_parser *p, cq_text_literal *out)
{
    while (p->at < p->end && is_digit(*p->at))
        p->at++;
    if (p->at < p->end && *p->at == '.') {
        out->kind = CQ_TEXT_FLOAT;
        p->at++;
        while (p->at < p->end && is_digit(*p->at))
            p->at++;
    }
    if (p->at < p->end && (*p->at | 0x20) == 'e') {
        out->kind = CQ_TEXT_FLOAT;
        p->at++;
        if (p->at < p->end && (*p->at == '+' || *p->at == '-'))
            p->at++;
        while (p->at < p->end && is_digit(*p->at))
            p->at++;
    }
}

cq_status cq_text_want_literal(cq_text_parser *p, cq_text_literal *out)
{
    char c = cq_text_peek(p);

    if (c == '"')
        return want_quoted(p, out);
    p->at = cq_text_next(p);
    *out  = (cq_text_literal){ CQ_TEXT_INT, p->at, p->at, 0 };
    if (c == '-' && p->at < p->end)
        p->at++;
    if (p->at < p->end && is_digit(*p->at)) {
        scan_number(p, out);
    } else if (p->at < p->end && cq_text_is_id(p->at, 1) && cq_text_next_is_number_word(p)) {
        out->kind = CQ_TEXT_FLOAT;
        p->at += cq_text_id_len(p);
    } else {
        return cq_text_fail(p, out->from, "expected a value");
    }
    out->len = (size_t)(p->at - out->from);
    return CQ_OK;
}

enum { MOST_DIGITS = 512 }; /* of a number; the largest doubles have 309 digits before the point */

/* Copies a number to a terminated buffer: the text itself may be unterminated. */
static cq_status copy_number(cq_text_parser *p, const cq_text_literal *literal, char *out)
{
    if (literal->kind == CQ_TEXT_STRING)
        return cq_text_fail(p, literal->from, "expected a number, got a text");
    if (literal->len >= MOST_DIGITS)
        return cq_text_fail(p, literal->from, "a number of %zu digits is too long", literal->len);
    memcpy(out, literal->text, literal->len);
    out[literal->len] = '\0';
    return CQ_OK;
}

cq_status cq_text_literal_i64(cq_text_parser *p, const cq_text_literal *literal, int64_t *out)
{
    char text[MOST_DIGITS];

    CQ_TRY(copy_number(p, literal, text));
    errno = 0;
    *out  = strtoll(text, NULL, 10);
    if (literal->kind != CQ_TEXT_INT)
        return cq_text_fail(p, literal->from, "expected a whole number");
    if (errno)
        return cq_text_fail(p, literal->from, "this number does not fit in 64 bits");
    return CQ_OK;
}

cq_status cq_text_literal_f32(cq_text_parser *p, const cq_text_literal *literal, float *out)
{
    char text[MOST_DIGITS];

    CQ_TRY(copy_number(p, literal, text));
    *out = strtof(text, NULL);
    return CQ_OK;
}

cq_status cq_text_want_i64(cq_text_parser *p, int64_t *out)
{
    cq_text_literal literal;

    CQ_TRY(cq_text_want_literal(p, &literal));
    return cq_text_literal_i64(p, &literal, out);
}

cq_status cq_text_want_u64(cq_text_parser *p, uint64_t *out)
{
    cq_text_literal literal;
    char            text[MOST_DIGITS];

    CQ_TRY(cq_text_want_literal(p, &literal));
    CQ_TRY(copy_number(p, &literal, text));
    errno = 0;
    *out  = strtoull(text, NULL, 10);
    if (literal.kind != CQ_TEXT_INT || *text == '-')
        return cq_text_fail(p, literal.from, "expected a whole number that is not negative");
    if (errno)
        return cq_text_fail(p, literal.from, "this number does not fit in 64 bits");
    return CQ_OK;
}

cq_status cq_text_want_f32(cq_text_parser *p, float *out)
{
    cq_text_literal literal;

    CQ_TRY(cq_text_want_literal(p, &literal));
    return cq_text_literal_f32(p, &literal, out);
}

cq_status cq_text_want_f64(cq_text_parser *p, double *out)
{
    cq_text_literal literal;
    char            text[MOST_DIGITS];

    CQ_TRY(cq_text_want_literal(p, &literal));
    CQ_TRY(copy_number(p, &literal, text));
    *out = strtod(text, NULL);
    return CQ_OK;
}
