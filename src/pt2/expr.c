/* A parser that computes as it reads: both notations are calls, infix operators, integers and
 * names. */
#include "pt2/expr.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 64, MAX_POWER = 8 };

typedef struct parser {
    const char       *at;
    const cq_pt2_env *env;
    int               depth;
} parser;

static bool sum(parser *p, cq_int *out);

static void skip_space(parser *p)
{
    while (*p->at == ' ')
        p->at++;
}

static bool accept(parser *p, const char *text)
{
    skip_space(p);
    if (strncmp(p->at, text, strlen(text)) != 0)
        return false;
    p->at += strlen(text);
    return true;
}

static bool read_name(parser *p, char name[MAX_NAME])
{
    size_t n = 0;

    skip_space(p);
    if (!isalpha((unsigned char)*p->at) && *p->at != '_')
        return false;
    while (isalnum((unsigned char)*p->at) || *p->at == '_') {
        if (n + 1 == MAX_NAME)
            return false;
        name[n++] = *p->at++;
    }
    name[n] = '\0';
    return true;
}

/* ---- calls ---- */

typedef cq_int (*binary)(cq_symbols *table, cq_int a, cq_int b);

/* Symbol('s0', positive=True, integer=True) */
static bool read_symbol(parser *p, cq_int *out)
{
    char   name[MAX_NAME];
    size_t len;

    if (!accept(p, "'"))
        return false;
    len = strcspn(p->at, "'");
    if (len >= MAX_NAME || p->at[len] != '\'')
        return false;
    memcpy(name, p->at, len);
    name[len] = '\0';
    p->at += len + 1;
    p->at += strcspn(p->at, ")");
    return accept(p, ")") && p->env->symbol(p->env->user, name, out);
}

static bool power(parser *p, cq_int base, cq_int exponent, cq_int *out)
{
    *out = cq_i(1);
    if (exponent.expr || exponent.value < 0 || exponent.value > MAX_POWER)
        return false;
    for (int64_t i = 0; i < exponent.value; i++)
        *out = cq_int_mul(p->env->table, *out, base);
    return true;
}

static bool call(parser *p, const char *name, cq_int *out)
{
    static const struct {
        const char *name;
        binary      fold;
    } functions[] = {
        { "Add", cq_int_add },           { "Mul", cq_int_mul }, { "FloorDiv", cq_int_floordiv },
        { "CleanDiv", cq_int_floordiv }, { "Mod", cq_int_mod }, { "PythonMod", cq_int_mod },
        { "Max", cq_int_max },           { "Min", cq_int_min },
    };
    binary fold = NULL;
    cq_int next;

    if (strcmp(name, "Symbol") == 0)
        return read_symbol(p, out);
    if (!sum(p, out))
        return false;
    if (strcmp(name, "Integer") == 0)
        return accept(p, ")");
    if (strcmp(name, "Pow") == 0)
        return accept(p, ",") && sum(p, &next) && accept(p, ")") && power(p, *out, next, out);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(name, functions[i].name) == 0)
            fold = functions[i].fold;
    if (!fold)
        return false;
    while (accept(p, ",")) {
        if (!sum(p, &next))
            return false;
        *out = fold(p->env->table, *out, next);
    }
    return accept(p, ")");
}

/* ---- infix ---- */

static bool atom(parser *p, cq_int *out)
{
    char name[MAX_NAME], *end;

    if (accept(p, "("))
        return sum(p, out) && accept(p, ")");
    if (accept(p, "-")) {
        if (p->depth++ == CQ_PT2_MAX_EXPR_DEPTH || !atom(p, out))
            return false;
        p->depth--;
        *out = cq_int_sub(p->env->table, cq_i(0), *out);
        return true;
    }
    if (read_name(p, name))
        return accept(p, "(") ? call(p, name, out) : p->env->symbol(p->env->user, name, out);
    errno = 0;
    *out  = cq_i(strtoll(p->at, &end, 10));
    if (end == p->at || errno || *end == '.')
        return false;
    p->at = end;
    return true;
}

static bool factor(parser *p, cq_int *out)
{
    cq_int exponent;

    if (!atom(p, out))
        return false;
    return accept(p, "**") ? atom(p, &exponent) && power(p, *out, exponent, out) : true;
}

static bool product(parser *p, cq_int *out)
{
    cq_int next;

    if (!factor(p, out))
        return false;
    for (;;) {
        binary fold = accept(p, "//")  ? cq_int_floordiv
                      : accept(p, "*") ? cq_int_mul
                      : accept(p, "%") ? cq_int_mod
                                       : NULL;

        if (!fold)
            return true;
        if (!factor(p, &next))
            return false;
        *out = fold(p->env->table, *out, next);
    }
}

static bool sum(parser *p, cq_int *out)
{
    cq_int next;

    if (p->depth++ == CQ_PT2_MAX_EXPR_DEPTH || !product(p, out))
        return false;
    for (;;) {
        binary fold = accept(p, "+") ? cq_int_add : accept(p, "-") ? cq_int_sub : NULL;

        if (!fold)
            break;
        if (!product(p, &next))
            return false;
        *out = fold(p->env->table, *out, next);
    }
    p->depth--;
    return true;
}

bool cq_pt2_expr(const char *text, const cq_pt2_env *env, cq_int *out)
{
    parser p = { .at = text, .env = env };

    if (!sum(&p, out))
        return false;
    skip_space(&p);
    return !*p.at;
}

const char *cq_pt2_lone_symbol(const char *text, char *buffer, size_t size)
{
    parser p = { .at = text };
    char   name[MAX_NAME];
    size_t len;

    if (!read_name(&p, name))
        return NULL;
    if (strcmp(name, "Symbol") == 0 && accept(&p, "('")) {
        len = strcspn(p.at, "'");
        if (len >= MAX_NAME)
            return NULL;
        memcpy(name, p.at, len);
        name[len] = '\0';
        p.at += strcspn(p.at, ")");
        if (!accept(&p, ")"))
            return NULL;
    }
    if (*p.at || strlen(name) >= size)
        return NULL;
    memcpy(buffer, name, strlen(name) + 1);
    return buffer;
}
