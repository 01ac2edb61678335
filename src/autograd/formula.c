/* Gradients as text, see gradient.h. The text is read while it is computed: rows are few words
 * long, and a formula runs once per call on the tape. */
#include "autograd/gradient.h"
#include "base/str.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_DEPTH = 32, MAX_ARGS = 12, MAX_NAME = 64 };

typedef struct reader {
    cq_grad    *g;
    const char *text, *at;
    int         depth;
} reader;

static cq_val fail(reader *r, const char *what)
{
    cq_ctx *cx = r->g->cx;

    if (cx->status == CQ_OK)
        cq_ctx_fail(cx, cq_fail(CQ_E_INTERNAL, r->g->call.op->schema->full, NULL,
                                "the formula \"%s\" has %s at \"%.20s\"", r->text, what, r->at));
    return CQ_NONE;
}

static bool failed(const reader *r)
{
    return r->g->cx->status != CQ_OK;
}

static void skip_space(reader *r)
{
    while (*r->at == ' ')
        r->at++;
}

static bool accept(reader *r, const char *token)
{
    skip_space(r);
    if (strncmp(r->at, token, strlen(token)) != 0)
        return false;
    r->at += strlen(token);
    return true;
}

static bool word(reader *r, char *name)
{
    size_t n = 0;

    skip_space(r);
    if (!isalpha((unsigned char)*r->at) && *r->at != '_')
        return false;
    while (n + 1 < MAX_NAME && (isalnum((unsigned char)*r->at) || *r->at == '_' || *r->at == '.'))
        name[n++] = *r->at++;
    name[n] = '\0';
    return true;
}

/* ---- names ---- */

/* grad, grad1, result2: the number behind the word; -1 if it is not that word. */
static int numbered(const char *name, const char *base)
{
    size_t n = strlen(base);

    if (strncmp(name, base, n) != 0 || (name[n] && !isdigit((unsigned char)name[n])))
        return -1;
    return atoi(name + n);
}

static cq_val name_value(reader *r, const char *name)
{
    cq_grad *g   = r->g;
    int      arg = cq_schema_find(g->call.op->schema, name), i;

    if (arg >= 0)
        return g->call.args[arg];
    if ((i = numbered(name, "grad")) >= 0)
        return T(cq_grad_of(g, (size_t)i));
    if ((i = numbered(name, "result")) >= 0)
        return T(cq_grad_result(g, (size_t)i));
    if (strcmp(name, "True") == 0 || strcmp(name, "False") == 0)
        return B(name[0] == 'T');
    if (strcmp(name, "None") == 0)
        return CQ_NONE;
    return fail(r, "an unknown name");
}

/* ---- operators ---- */

static cq_val call(reader *r, const char *name, const cq_val *args, size_t n)
{
    char         full[MAX_NAME + 8];
    const cq_op *op, *dotted;
    cq_val       result[1];

    if (failed(r))
        return CQ_NONE;
    snprintf(full, sizeof full, "aten::%s", name);
    dotted = strchr(name, '.') ? cq_op_find(full) : NULL;
    for (op = dotted ? dotted : cq_op_overloads(full); op; op = dotted ? NULL : op->next)
        if (cq_op_accepts(op, args, n)) {
            cq_op_call(r->g->cx, op, args, n, result, 1);
            return result[0];
        }
    return fail(r, "a call that no operator takes");
}

static bool is_number(cq_val v)
{
    return v.kind == CQ_VAL_INT || v.kind == CQ_VAL_FLOAT || v.kind == CQ_VAL_BOOL;
}

static double number_of(cq_val v)
{
    return v.kind == CQ_VAL_FLOAT ? v.u.f.value
           : v.kind == CQ_VAL_INT ? (double)v.u.i.value
                                  : v.u.b.value;
}

static const struct operator
{
    const char *token, *op;
    int         strength;
}
operators[] = {
    { "==", "eq", 1 }, { ">=", "ge", 1 }, { "<=", "le", 1 }, { ">", "gt", 1 },  { "<", "lt", 1 },
    { "+", "add", 2 }, { "-", "sub", 2 }, { "*", "mul", 3 }, { "/", "div", 3 }, { 0 },
};

static cq_val on_numbers(reader *r, const struct operator* o, cq_val a, cq_val b)
{
    double x = number_of(a), y = number_of(b);
    bool   whole = a.kind == CQ_VAL_INT && b.kind == CQ_VAL_INT && o->token[0] != '/';

    if (o->strength == 1)
        return fail(r, "a comparison of numbers");
    x = o->token[0] == '+'   ? x + y
        : o->token[0] == '-' ? x - y
        : o->token[0] == '*' ? x * y
                             : x / y;
    return whole ? I((int64_t)x) : F(x);
}

static cq_val combine(reader *r, const struct operator* o, cq_val a, cq_val b)
{
    static const struct {
        const char *op, *mirrored;
    } mirrors[] = { { "gt", "lt" }, { "lt", "gt" },   { "ge", "le" },   { "le", "ge" },
                    { "eq", "eq" }, { "add", "add" }, { "mul", "mul" }, { "sub", "rsub" } };

    if (failed(r))
        return CQ_NONE;
    if (is_number(a) && is_number(b))
        return on_numbers(r, o, a, b);
    if (!is_number(a))
        return call(r, o->op, (cq_val[]){ a, b }, 2);
    for (size_t i = 0; i < sizeof mirrors / sizeof *mirrors; i++)
        if (strcmp(o->op, mirrors[i].op) == 0)
            return call(r, mirrors[i].mirrored, (cq_val[]){ b, a }, 2);
    b = call(r, "reciprocal", &b, 1);
    return call(r, "mul", (cq_val[]){ b, a }, 2);
}

/* ---- the grammar ---- */

static cq_val expression(reader *r, int strength);

static size_t items(reader *r, cq_val *out, const char *end)
{
    size_t n = 0;

    if (accept(r, end))
        return 0;
    do {
        if (n == MAX_ARGS) {
            fail(r, "too many arguments");
            return 0;
        }
        out[n++] = expression(r, 1);
    } while (!failed(r) && accept(r, ","));
    if (!accept(r, end))
        fail(r, "no end of a list");
    return n;
}

static cq_val list(reader *r)
{
    cq_val   vals[MAX_ARGS];
    size_t   n = items(r, vals, "]");
    cq_list *out;

    if (failed(r) || cq_list_new(&out, n) != CQ_OK) {
        cq_ctx_fail(r->g->cx, CQ_E_NO_MEMORY);
        return CQ_NONE;
    }
    for (size_t i = 0; i < n; i++)
        out->items[i] = cq_val_retain(vals[i]);
    return cq_ctx_own(r->g->cx, cq_val_of_list(out));
}

static cq_val number(reader *r)
{
    char  *end;
    double value = strtod(r->at, &end);
    bool   whole =
        !memchr(r->at, '.', (size_t)(end - r->at)) && !memchr(r->at, 'e', (size_t)(end - r->at));

    r->at = end;
    return whole ? I((int64_t)value) : F(value);
}

static cq_val primary(reader *r)
{
    char   name[MAX_NAME];
    cq_val args[MAX_ARGS], v;

    if (++r->depth > MAX_DEPTH)
        return fail(r, "too many brackets");
    skip_space(r);
    if (accept(r, "-")) {
        v = primary(r);
        v = is_number(v) ? F(-number_of(v)) : call(r, "neg", &v, 1);
    } else if (accept(r, "(")) {
        v = expression(r, 1);
        if (!accept(r, ")"))
            fail(r, "no closing bracket");
    } else if (accept(r, "[")) {
        v = list(r);
    } else if (isdigit((unsigned char)*r->at)) {
        v = number(r);
    } else if (!word(r, name)) {
        v = fail(r, "no value");
    } else if (accept(r, "(")) {
        size_t n = items(r, args, ")");

        v = call(r, name, args, n);
    } else {
        v = name_value(r, name);
    }
    r->depth--;
    return failed(r) ? CQ_NONE : v;
}

static const struct operator* operator_here(reader *r, int strength)
{
    for (const struct operator* o = operators; o->token; o++)
        if (o->strength == strength && accept(r, o->token))
            return o;
    return NULL;
}

/* 1 is the weakest: comparisons, then sums, then products. */
static cq_val expression(reader *r, int strength)
{
    const struct operator* o;
    cq_val       v;

    if (strength > 3)
        return primary(r);
    v = expression(r, strength + 1);
    while (!failed(r) && (o = operator_here(r, strength)))
        v = combine(r, o, v, expression(r, strength + 1));
    return v;
}

cq_status cq_grad_formula(cq_grad *g, const char *text)
{
    reader r = { .g = g, .text = text, .at = text };
    char   name[MAX_NAME];

    do {
        if (!word(&r, name) || !accept(&r, ":")) {
            fail(&r, "no \"argument:\"");
        } else if (cq_schema_find(g->call.op->schema, name) < 0) {
            fail(&r, "the name of no argument before it");
        } else if (!cq_grad_wants(g, name)) {
            r.at += strcspn(r.at, ";");
        } else {
            cq_val v = expression(&r, 1);

            if (v.kind == CQ_VAL_TENSOR)
                cq_grad_set(g, name, v.u.tensor);
        }
    } while (!failed(&r) && accept(&r, ";"));
    if (*r.at && !failed(&r))
        fail(&r, "something left");
    return g->cx->status;
}
