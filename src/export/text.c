/* Rows as text: OPERATOR<attribute = value, …>(input, …), see symbolic.h. */
#include "export/exporter.h"
#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>

enum { MAX_ITEMS = 32, MAX_DEPTH = 32 };

typedef struct reader {
    cq_sym     *s;
    const char *text, *at;
    cq_dtype    dtype; /* of numbers */
    int         depth;
} reader;

static void fail(reader *r, const char *wanted)
{
    if (r->s->status != CQ_OK)
        return;
    cq_sym_fail(r->s,
                cq_fail(CQ_E_SYNTAX, NULL, NULL, "a rule wants %s at \"%.20s\"", wanted, r->at));
    cq_error_add_excerpt(CQ_E_SYNTAX, "%s", r->text);
}

static bool accept(reader *r, char c)
{
    while (*r->at == ' ' || *r->at == '\n')
        r->at++;
    if (r->s->status != CQ_OK || *r->at != c)
        return false;
    r->at++;
    return true;
}

static void expect(reader *r, char c, const char *name)
{
    if (!accept(r, c))
        fail(r, name);
}

/* A name into buffer; false if there is none here. */
static bool word(reader *r, char *buffer, size_t size)
{
    size_t n = 0;

    while (*r->at == ' ' || *r->at == '\n')
        r->at++;
    if (!isalpha((unsigned char)*r->at) && *r->at != '_')
        return false;
    while (isalnum((unsigned char)*r->at) || *r->at == '_' ||
           ((*r->at == ':' || *r->at == '.') && n)) {
        if (n + 1 < size)
            buffer[n++] = *r->at;
        r->at++;
    }
    buffer[n] = '\0';
    return true;
}

/* A literal number; is_float tells how it was written. */
static bool number(reader *r, double *value, bool *is_float)
{
    char       *end;
    const char *start;

    while (*r->at == ' ')
        r->at++;
    start  = r->at;
    *value = strtod(start, &end);
    if (end == start)
        return false;
    *is_float =
        memchr(start, '.', (size_t)(end - start)) || memchr(start, 'e', (size_t)(end - start));
    r->at = end;
    return true;
}

static cq_value *expression(reader *r);

static cq_attr attribute(reader *r, char *name, size_t name_size, char *text, size_t text_size)
{
    double  f, items[MAX_ITEMS];
    int64_t ints[MAX_ITEMS];
    bool    is_float, any_float = false;
    size_t  n = 0;
    char    arg[64];

    if (!word(r, name, name_size)) {
        fail(r, "the name of an attribute");
        return (cq_attr){ 0 };
    }
    expect(r, '=', "=");
    if (accept(r, '"')) {
        while (*r->at && *r->at != '"' && n + 1 < text_size)
            text[n++] = *r->at++;
        text[n] = '\0';
        expect(r, '"', "a closing quote");
        return cq_attr_s(name, text);
    }
    if (accept(r, '[')) {
        while (n < MAX_ITEMS && number(r, &items[n], &is_float)) {
            any_float |= is_float;
            ints[n] = (int64_t)items[n];
            n++;
            accept(r, ',');
        }
        expect(r, ']', "]");
        return any_float ? cq_attr_fs(r->s, name, items, n) : cq_attr_is(r->s, name, ints, n);
    }
    if (number(r, &f, &is_float))
        return is_float ? cq_attr_f(name, f) : cq_attr_i(name, (int64_t)f);
    if (!word(r, arg, sizeof arg)) {
        fail(r, "a value");
        return (cq_attr){ 0 };
    }
    /* The schema's type says which attribute it becomes. */
    {
        int at = r->s->op ? cq_schema_find(r->s->op->schema, arg) : -1;

        if (at < 0) {
            fail(r, "the name of an argument");
            return (cq_attr){ 0 };
        }
        switch (r->s->op->schema->args[at].type.base) {
        case CQ_SCHEMA_INT:
            if (r->s->op->schema->args[at].type.list_depth) {
                n = cq_sym_i64s(r->s, arg, ints, MAX_ITEMS);
                return cq_attr_is(r->s, name, ints, n);
            }
            return cq_attr_i(name, cq_sym_i64(r->s, arg));
        case CQ_SCHEMA_BOOL: return cq_attr_i(name, cq_sym_bool(r->s, arg));
        case CQ_SCHEMA_STR: return cq_attr_s(name, cq_sym_str(r->s, arg, ""));
        default: return cq_attr_f(name, cq_sym_f64(r->s, arg));
        }
    }
}

static cq_value *call(reader *r, const char *op)
{
    cq_value *in[MAX_ITEMS];
    cq_attr   attrs[MAX_ITEMS];
    char      names[MAX_ITEMS][64], texts[MAX_ITEMS][64];
    size_t    n_in = 0, n_attrs = 0;

    if (accept(r, '<')) {
        do {
            if (n_attrs == MAX_ITEMS) {
                fail(r, "fewer attributes");
                break;
            }
            attrs[n_attrs] =
                attribute(r, names[n_attrs], sizeof names[0], texts[n_attrs], sizeof texts[0]);
            n_attrs++;
        } while (accept(r, ','));
        expect(r, '>', ">");
    }
    expect(r, '(', "(");
    if (!accept(r, ')')) {
        do {
            if (n_in == MAX_ITEMS) {
                fail(r, "fewer inputs");
                break;
            }
            in[n_in++] = expression(r);
        } while (accept(r, ','));
        expect(r, ')', ")");
    }
    return cq_sym_op(r->s, op, in, n_in, attrs, n_attrs);
}

static cq_value *argument(reader *r, const char *name)
{
    if (r->s->op && cq_schema_find(r->s->op->schema, name) < 0) {
        cq_sym_fail(r->s,
                    cq_fail(CQ_E_SYNTAX, NULL, NULL, "the operator has no argument \"%s\"", name));
        cq_error_add_excerpt(CQ_E_SYNTAX, "%s", r->text);
        return NULL;
    }
    return cq_sym_in(r->s, name);
}

static cq_value *expression(reader *r)
{
    char      name[128];
    double    f;
    bool      is_float;
    cq_value *v;

    if (r->s->status != CQ_OK)
        return NULL;
    if (++r->depth > MAX_DEPTH) {
        fail(r, "less nesting");
        return NULL;
    }
    if (accept(r, '[')) {
        int64_t ints[MAX_ITEMS];
        size_t  n = 0;

        while (n < MAX_ITEMS && number(r, &f, &is_float)) {
            ints[n++] = (int64_t)f;
            accept(r, ',');
        }
        expect(r, ']', "]");
        v = cq_sym_const_i64s(r->s, ints, n);
    } else if (word(r, name, sizeof name)) {
        while (*r->at == ' ')
            r->at++;
        v = *r->at == '(' || *r->at == '<' ? call(r, name) : argument(r, name);
    } else if (number(r, &f, &is_float)) {
        v = cq_sym_const_f64(r->s, r->dtype, f);
    } else {
        fail(r, "an expression");
        v = NULL;
    }
    r->depth--;
    return v;
}

static cq_dtype first_dtype(cq_sym *s)
{
    for (size_t i = 0; i < s->node->n_inputs; i++)
        if (s->node->inputs[i].kind == CQ_OPERAND_VALUE)
            return cq_sym_dtype(s, s->node->inputs[i].u.value);
    return CQ_DTYPE_F32;
}

cq_value *cq_sym_text(cq_sym *s, const char *text)
{
    reader    r = { .s = s, .text = text, .at = text, .dtype = first_dtype(s) };
    cq_value *v = expression(&r);

    while (*r.at == ' ' || *r.at == '\n')
        r.at++;
    if (*r.at)
        fail(&r, "the end");
    return s->status == CQ_OK ? v : NULL;
}
