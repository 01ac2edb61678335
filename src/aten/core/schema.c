/* A hand-written parser of schema strings. The strings are ours or a user's rows, not a
 * stranger's file, but a bad one is still an error and never a crash. */
#include "aten/core/schema.h"
#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>

typedef struct parser {
    cq_arena   *arena;
    const char *text, *at;
    cq_status   status;
} parser;

static void fail(parser *p, const char *wanted)
{
    if (p->status == CQ_OK)
        p->status =
            cq_fail(CQ_E_SYNTAX, p->text, NULL, "a schema expects %s at \"%.20s\"", wanted, p->at);
}

static void skip_space(parser *p)
{
    while (*p->at == ' ')
        p->at++;
}

static bool accept(parser *p, const char *token)
{
    skip_space(p);
    if (p->status != CQ_OK || !cq_starts_with(p->at, token))
        return false;
    p->at += strlen(token);
    return true;
}

static void expect(parser *p, const char *token)
{
    if (!accept(p, token))
        fail(p, token);
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The length of the word that begins here, with characters of also in it. */
static size_t skip_word(parser *p, const char *also)
{
    const char *start = p->at;

    while (is_word(*p->at) || (*p->at && strchr(also, *p->at)))
        p->at++;
    if (p->at == start)
        fail(p, "a name");
    return (size_t)(p->at - start);
}

static const char *word(parser *p, const char *also)
{
    const char *start;
    char       *copy;

    skip_space(p);
    start = p->at;
    copy  = cq_arena_strndup(p->arena, start, skip_word(p, also));
    if (!copy)
        p->status = CQ_E_NO_MEMORY;
    return p->status == CQ_OK ? copy : "";
}

static const struct {
    const char    *name;
    cq_schema_base base;
    bool           is_dtype;
} bases[] = {
    { "Tensor", CQ_SCHEMA_TENSOR, false }, { "int", CQ_SCHEMA_INT, false },
    { "SymInt", CQ_SCHEMA_INT, false },    { "ScalarType", CQ_SCHEMA_INT, true },
    { "Layout", CQ_SCHEMA_INT, false },    { "MemoryFormat", CQ_SCHEMA_INT, false },
    { "QScheme", CQ_SCHEMA_INT, false },   { "float", CQ_SCHEMA_FLOAT, false },
    { "bool", CQ_SCHEMA_BOOL, false },     { "complex", CQ_SCHEMA_COMPLEX, false },
    { "Scalar", CQ_SCHEMA_SCALAR, false }, { "number", CQ_SCHEMA_SCALAR, false },
    { "str", CQ_SCHEMA_STR, false },       { "Dimname", CQ_SCHEMA_STR, false },
    { "Device", CQ_SCHEMA_DEVICE, false }, { "Generator", CQ_SCHEMA_GENERATOR, false },
    { "Dict", CQ_SCHEMA_DICT, false },     { "NoneType", CQ_SCHEMA_NONE, false },
};

/* Skips (a!), (a -> *) and the type arguments of Dict(str, t), nested ones too. Returns whether an
 * alias annotation marks the argument as written. */
static bool skip_parens(parser *p)
{
    bool written = false;
    int  depth   = 0;

    if (*p->at != '(')
        return false;
    do {
        written |= *p->at == '!';
        depth += (*p->at == '(') - (*p->at == ')');
        p->at++;
    } while (depth && *p->at);
    return written;
}

static cq_schema_type parse_type(parser *p)
{
    cq_schema_type t    = { .base = CQ_SCHEMA_ANY };
    const char    *name = NULL, *start;
    size_t         len  = 0;

    skip_space(p);
    start = p->at;
    if (*p->at == '(') { /* a tuple of types */
        t.base = CQ_SCHEMA_TUPLE;
        skip_parens(p);
    } else {
        len = skip_word(p, ".");
        for (size_t i = 0; i < sizeof bases / sizeof *bases && !name; i++)
            if (bases[i].name[0] == *start && strncmp(bases[i].name, start, len) == 0 &&
                !bases[i].name[len]) {
                name       = bases[i].name;
                t.base     = bases[i].base;
                t.is_dtype = bases[i].is_dtype;
            }
        t.written |= skip_parens(p);
    }
    for (;;) {
        if (*p->at == '?') {
            p->at++;
            t.optional = true;
        } else if (*p->at == '[') {
            p->at++;
            t.list_size        = (int16_t)strtol(p->at, (char **)&p->at, 10);
            t.element_optional = t.optional;
            t.optional         = false;
            t.list_depth++;
            expect(p, "]");
        } else if (*p->at == '(') {
            t.written |= skip_parens(p);
        } else {
            break;
        }
    }
    t.name = name && p->at == start + len
                 ? name
                 : cq_arena_strndup(p->arena, start, (size_t)(p->at - start));
    if (!t.name)
        p->status = CQ_E_NO_MEMORY;
    return t;
}

static cq_val parse_number(parser *p)
{
    char       *end;
    double      f     = strtod(p->at, &end);
    const char *start = p->at;

    if (end == p->at) {
        fail(p, "a default");
        return CQ_NONE;
    }
    p->at = end;
    for (const char *c = start; c < end; c++)
        if (strchr(".enEN", *c)) /* 1.0, 1e-5, inf, nan */
            return cq_val_of_f64(f);
    return cq_val_of_i64(strtoll(start, NULL, 10));
}

static cq_val parse_default(parser *p);

static cq_val parse_list(parser *p)
{
    cq_list *list = cq_arena_zalloc(p->arena, sizeof *list);
    cq_val   items[CQ_MAX_ARGS];
    size_t   n = 0;

    while (p->status == CQ_OK && !accept(p, "]")) {
        if (n == CQ_MAX_ARGS)
            fail(p, "fewer items");
        else
            items[n++] = parse_default(p);
        accept(p, ",");
    }
    if (list && p->status == CQ_OK) {
        list->n     = n;
        list->items = cq_arena_copy(p->arena, items, n * sizeof *items);
        atomic_init(&list->refs, 1);
    }
    if (!list || !list->items)
        p->status = p->status == CQ_OK ? CQ_E_NO_MEMORY : p->status;
    return cq_val_of_list(list);
}

static cq_val parse_default(parser *p)
{
    static const struct {
        const char *name;
        int64_t     value;
    } names[] = { { "contiguous_format", 0 },
                  { "preserve_format", 1 },
                  { "long", 4 },
                  { "strided", 0 },
                  { "Mean", 1 },
                  { "float", 6 } };

    skip_space(p);
    if (accept(p, "["))
        return parse_list(p);
    if (accept(p, "None"))
        return CQ_NONE;
    if (accept(p, "True"))
        return cq_val_of_bool(true);
    if (accept(p, "False"))
        return cq_val_of_bool(false);
    if (*p->at == '"' || *p->at == '\'') {
        char        quote = *p->at++;
        const char *end   = strchr(p->at, quote);
        cq_text    *t;

        if (!end) {
            fail(p, "a closing quote");
            return CQ_NONE;
        }
        t = cq_arena_zalloc(p->arena, sizeof *t + (size_t)(end - p->at) + 1);
        if (!t) {
            p->status = CQ_E_NO_MEMORY;
            return CQ_NONE;
        }
        atomic_init(&t->refs, 1);
        t->len = (size_t)(end - p->at);
        memcpy(t->text, p->at, t->len);
        p->at = end + 1;
        return cq_val_of_text(t);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (accept(p, names[i].name))
            return cq_val_of_i64(names[i].value);
    return parse_number(p);
}

static void parse_args(parser *p, cq_schema *schema)
{
    cq_schema_arg args[CQ_MAX_ARGS];
    bool          keyword_only = false;
    size_t        n            = 0;

    expect(p, "(");
    while (p->status == CQ_OK && !accept(p, ")")) {
        cq_schema_arg a = { .default_value = CQ_NONE };

        if (accept(p, "...")) {
            schema->varargs = true;
        } else if (accept(p, "*")) {
            keyword_only = true;
        } else if (n == CQ_MAX_ARGS) {
            fail(p, "fewer arguments");
        } else {
            a.type         = parse_type(p);
            a.name         = word(p, "");
            a.keyword_only = keyword_only;
            if (accept(p, "=")) {
                a.has_default   = true;
                a.default_value = parse_default(p);
                if (a.type.base == CQ_SCHEMA_FLOAT && a.default_value.kind == CQ_VAL_INT)
                    a.default_value = cq_val_of_f64((double)a.default_value.u.i.value);
            }
            args[n++] = a;
        }
        accept(p, ",");
    }
    schema->n_args = n;
    schema->args   = cq_arena_copy(p->arena, args, n * sizeof *args);
}

static void parse_results(parser *p, cq_schema *schema)
{
    cq_schema_arg results[CQ_MAX_ARGS];
    size_t        n = 0;
    bool          parens;

    expect(p, "->");
    parens = accept(p, "(");
    if (parens && accept(p, ")"))
        return;
    do {
        cq_schema_arg r = { .name = "" };

        if (n == CQ_MAX_ARGS) {
            fail(p, "fewer results");
            return;
        }
        if (accept(p, "..."))
            continue;
        r.type = parse_type(p);
        skip_space(p);
        if (is_word(*p->at))
            r.name = word(p, "");
        results[n++] = r;
    } while (parens && p->status == CQ_OK && accept(p, ","));
    if (parens)
        expect(p, ")");
    schema->n_results = n;
    schema->results   = cq_arena_copy(p->arena, results, n * sizeof *results);
}

cq_status cq_schema_parse(cq_schema **out, cq_arena *arena, const char *text)
{
    parser      p      = { .arena = arena, .text = text, .at = text };
    cq_schema  *schema = *out = cq_arena_zalloc(arena, sizeof *schema);
    const char *dot;

    if (!schema)
        return CQ_E_NO_MEMORY;
    schema->full     = word(&p, ":.");
    dot              = strchr(schema->full, '.');
    schema->overload = dot ? dot + 1 : "";
    schema->name =
        dot ? cq_arena_strndup(arena, schema->full, (size_t)(dot - schema->full)) : schema->full;
    parse_args(&p, schema);
    parse_results(&p, schema);
    skip_space(&p);
    if (*p.at)
        fail(&p, "the end");
    if (p.status == CQ_OK &&
        (!schema->name || !schema->args || (schema->n_results && !schema->results)))
        p.status = CQ_E_NO_MEMORY;
    if (p.status != CQ_OK)
        *out = NULL;
    return p.status;
}

/* ---- matching ---- */

#define BIT(kind) (1u << CQ_VAL_##kind)

/* The kinds of values that each base type accepts; by cq_match, what is converted in addition. */
static const struct {
    unsigned exact, more[3];
} accepted[] = {
    [CQ_SCHEMA_TENSOR]    = { BIT(TENSOR), { 0, 0, 0 } },
    [CQ_SCHEMA_INT]       = { BIT(INT), { 0, BIT(TENSOR) | BIT(BOOL), 0 } },
    [CQ_SCHEMA_FLOAT]     = { BIT(FLOAT), { 0, BIT(TENSOR) | BIT(INT), BIT(INT) } },
    [CQ_SCHEMA_BOOL]      = { BIT(BOOL), { 0, BIT(INT), BIT(INT) } },
    [CQ_SCHEMA_COMPLEX]   = { BIT(COMPLEX), { 0, 0, BIT(INT) | BIT(FLOAT) | BIT(BOOL) } },
    [CQ_SCHEMA_SCALAR]    = { BIT(INT) | BIT(FLOAT) | BIT(COMPLEX),
                              { 0, BIT(TENSOR) | BIT(BOOL), BIT(BOOL) } },
    [CQ_SCHEMA_STR]       = { BIT(STR), { 0, 0, 0 } },
    [CQ_SCHEMA_DEVICE]    = { BIT(DEVICE), { 0, BIT(STR), BIT(STR) | BIT(NONE) } },
    [CQ_SCHEMA_GENERATOR] = { 0, { 0, 0, ~0u } },
    [CQ_SCHEMA_DICT]      = { BIT(DICT), { 0, 0, ~BIT(NONE) } },
    [CQ_SCHEMA_TUPLE]     = { ~BIT(NONE), { 0, 0, 0 } },
    [CQ_SCHEMA_ANY]       = { ~0u, { 0, 0, 0 } },
    [CQ_SCHEMA_NONE]      = { ~0u, { 0, 0, 0 } },
};

static bool accepts_list(const cq_schema_type *type, const cq_val *v, cq_match how)
{
    cq_schema_type element = *type;

    element.list_depth--;
    element.list_size = 0;
    element.optional  = type->element_optional;
    if (how == CQ_MATCH_CALL) /* 3 for int[2] */
        return v->kind == CQ_VAL_LIST || v->kind == CQ_VAL_TUPLE ||
               (type->base != CQ_SCHEMA_TENSOR &&
                (1u << v->kind & (BIT(INT) | BIT(FLOAT) | BIT(BOOL) | BIT(COMPLEX))));
    if (!cq_val_is_list(*v)) /* a single number is accepted for a list of fixed size */
        return type->list_size > 0 &&
               (type->base == CQ_SCHEMA_INT || type->base == CQ_SCHEMA_FLOAT) &&
               (accepted[type->base].exact >> v->kind & 1);
    for (size_t i = 0; i < v->u.list->n; i++)
        if (!cq_schema_accepts(&element, &v->u.list->items[i], how))
            return false;
    return true;
}

bool cq_schema_accepts(const cq_schema_type *type, const cq_val *v, cq_match how)
{
    const unsigned kinds = accepted[type->base].exact | accepted[type->base].more[how];

    if (v->kind != CQ_VAL_NONE && type->list_depth)
        return accepts_list(type, v, how);
    return (kinds >> v->kind & 1) || (v->kind == CQ_VAL_NONE && type->optional);
}

int cq_schema_find(const cq_schema *schema, const char *arg)
{
    for (size_t i = 0; i < schema->n_args; i++)
        if (strcmp(schema->args[i].name, arg) == 0)
            return (int)i;
    return -1;
}
