/* Parses names of dimensions that calque has written. A text is parsed only if it is the canonical
 * print of an expression: `b+a` of another exporter stays a name, because it would otherwise become
 * `a+b` in the output. */
#include "onnx/infer/internal.h"

#include <ctype.h>
#include <string.h>

enum { MAX_NESTING = 32 };

typedef struct reader {
    cq_symbols *symbols;
    const char *at;
    int         nesting;
    bool        ok;
} reader;

static cq_int read_sum(reader *p);

static bool take(reader *p, const char *text)
{
    size_t len = strlen(text);

    if (strncmp(p->at, text, len))
        return false;
    p->at += len;
    return true;
}

static void expect(reader *p, const char *text)
{
    if (!take(p, text))
        p->ok = false;
}

static cq_int read_number(reader *p)
{
    int64_t value = 0;

    for (; isdigit((unsigned char)*p->at); p->at++) {
        if (value > (INT64_MAX - 9) / 10) {
            p->ok = false;
            return cq_i(0);
        }
        value = value * 10 + (*p->at - '0');
    }
    return cq_i(value);
}

static cq_int read_name(reader *p)
{
    char   name[128];
    size_t len = 0;

    while (isalnum((unsigned char)p->at[len]) || p->at[len] == '_' || p->at[len] == '.')
        len++;
    if (len == 0 || len >= sizeof name) {
        p->ok = false;
        return cq_i(0);
    }
    memcpy(name, p->at, len);
    name[len] = '\0';
    p->at += len;
    return cq_symbol(p->symbols, name, 1, NULL, 0);
}

/* Parses min(a,b) and max(a,b), after the opening parenthesis. */
static cq_int read_extremum(reader *p, cq_int (*of)(cq_symbols *, cq_int, cq_int))
{
    cq_int a = read_sum(p), b;

    expect(p, ",");
    b = read_sum(p);
    expect(p, ")");
    return of(p->symbols, a, b);
}

/* Parses (a)//(b), (a)%(b), and sums in parentheses. */
static cq_int read_brackets(reader *p)
{
    cq_int a = read_sum(p), b;
    bool   is_quotient;

    expect(p, ")");
    is_quotient = take(p, "//(");
    if (!is_quotient && !take(p, "%("))
        return a;
    b = read_sum(p);
    expect(p, ")");
    return is_quotient ? cq_int_floordiv(p->symbols, a, b) : cq_int_mod(p->symbols, a, b);
}

static cq_int read_factor(reader *p)
{
    if (!p->ok)
        return cq_i(0);
    if (isdigit((unsigned char)*p->at))
        return read_number(p);
    if (take(p, "min("))
        return read_extremum(p, cq_int_min);
    if (take(p, "max("))
        return read_extremum(p, cq_int_max);
    if (take(p, "("))
        return read_brackets(p);
    return read_name(p);
}

static cq_int read_product(reader *p)
{
    cq_int a = read_factor(p);

    while (p->ok && take(p, "*"))
        a = cq_int_mul(p->symbols, a, read_factor(p));
    return a;
}

static cq_int read_sum(reader *p)
{
    cq_int sum = cq_i(0);
    bool   minus;

    if (++p->nesting > MAX_NESTING) {
        p->ok = false;
        return sum;
    }
    minus = take(p, "-");
    do {
        cq_int term = read_product(p);

        sum   = minus ? cq_int_sub(p->symbols, sum, term) : cq_int_add(p->symbols, sum, term);
        minus = p->ok && take(p, "-");
    } while (minus || (p->ok && take(p, "+")));
    p->nesting--;
    return sum;
}

cq_int cq_dim_parse(cq_symbols *symbols, const char *text)
{
    reader p = { symbols, text, 0, true };
    cq_int value;

    if (strnlen(text, CQ_ONNX_INFER_MAX_TEXT + 1) <= CQ_ONNX_INFER_MAX_TEXT &&
        strpbrk(text, "+-*/%(")) {
        value = read_sum(&p);
        if (p.ok && !*p.at && value.expr && !strcmp(value.expr->text, text))
            return value;
    }
    return cq_symbol(symbols, text, 1, NULL, 0);
}
