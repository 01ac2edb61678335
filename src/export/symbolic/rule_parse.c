/* Rules, from text to a tree. The text may come from a user: it is limited in depth, in the number
 * of items of a list, and as a whole, so that going through the tree is too. */
#include "export/symbolic/rule.h"

#include <ctype.h>
#include <stdlib.h>

enum { MAX_ITEMS = 64, MAX_DEPTH = 32, MAX_LETS = 32, MAX_SLOTS = 64, MAX_EXPRS = 2000 };

typedef struct reader {
    cq_arena   *arena;
    const char *text, *at;
    cq_status   status;
    int         depth;
    bool        in_attributes;    /* where > is their end */
    const char *names[MAX_SLOTS]; /* of the slots */
    size_t      n_slots, n_exprs;
} reader;

static cq_rule_expr *choice(reader *r);
static cq_rule_expr *level(reader *r, int at);

/* ---- letters ---- */

static void *fail(reader *r, const char *wanted)
{
    if (r->status != CQ_OK)
        return NULL;
    r->status = cq_fail(CQ_E_SYNTAX, NULL, "docs/rules.md has the grammar of rules",
                        "a rule wants %s at \"%.20s\"", wanted, r->at);
    cq_error_add_excerpt(CQ_E_SYNTAX, "%s", r->text);
    return NULL;
}

static void *no_memory(reader *r)
{
    r->status = CQ_E_NO_MEMORY;
    return NULL;
}

static const char *skip(reader *r)
{
    while (isspace((unsigned char)*r->at))
        r->at++;
    return r->at;
}

static bool accept(reader *r, const char *sign)
{
    size_t n = strlen(sign);

    if (r->status != CQ_OK || strncmp(skip(r), sign, n) != 0)
        return false;
    r->at += n;
    return true;
}

static void expect(reader *r, const char *sign)
{
    if (!accept(r, sign))
        fail(r, sign);
}

static bool is_word_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool accept_word(reader *r, const char *word)
{
    size_t n = strlen(word);

    return strncmp(skip(r), word, n) == 0 && !is_word_letter(r->at[n]) && accept(r, word);
}

/* A name, with dots and colons inside: com.example::Op. NULL if there is none here. */
static const char *word(reader *r)
{
    const char *start = skip(r);
    char       *copy;

    if (r->status != CQ_OK || (!isalpha((unsigned char)*start) && *start != '_'))
        return NULL;
    while (is_word_letter(*r->at) || *r->at == ':' || *r->at == '.')
        r->at++;
    copy = cq_arena_strndup(r->arena, start, (size_t)(r->at - start));
    return copy ? copy : no_memory(r);
}

/* ---- the tree ---- */

static cq_rule_expr *expr(reader *r, cq_rule_kind kind)
{
    cq_rule_expr *e;

    if (r->status != CQ_OK)
        return NULL;
    if (++r->n_exprs > MAX_EXPRS)
        return fail(r, "an end sooner");
    e = cq_arena_zalloc(r->arena, sizeof *e);
    if (!e)
        return no_memory(r);
    e->kind = kind;
    return e;
}

static cq_rule_expr *with_items(reader *r, cq_rule_kind kind, cq_rule_expr *const *items, size_t n)
{
    cq_rule_expr *e = expr(r, kind);

    if (!e || !n)
        return e;
    e->items = cq_arena_copy(r->arena, items, n * sizeof *items);
    e->n     = n;
    return e->items ? e : no_memory(r);
}

enum { EACH = MAX_ITEMS + 1 };

/* Expressions up to the closing sign, a comma between them; EACH where the word for follows one. */
static size_t list(reader *r, const char *close, cq_rule_expr **items)
{
    size_t n       = 0;
    bool   outside = r->in_attributes;

    if (accept(r, close))
        return 0;
    r->in_attributes = false;
    do {
        if (n == MAX_ITEMS) {
            fail(r, "fewer items");
            return 0;
        }
        items[n++] = choice(r);
    } while (accept(r, ","));
    r->in_attributes = outside;
    if (n == 1 && *close == ']' && accept_word(r, "for"))
        return EACH;
    expect(r, close);
    return n;
}

static cq_rule_expr *number(reader *r)
{
    const char   *start = skip(r);
    char         *end;
    double        f = strtod(start, &end);
    cq_rule_expr *e;

    if (end == start)
        return fail(r, "an expression");
    e = expr(r, CQ_RULE_NUMBER);
    if (!e)
        return NULL;
    e->number   = f;
    e->is_whole = strspn(start, "0123456789") == (size_t)(end - start);
    e->whole    = e->is_whole ? strtoll(start, NULL, 10) : 0;
    r->at       = end;
    return e;
}

static cq_rule_expr *constant(reader *r, double f)
{
    cq_rule_expr *e = expr(r, CQ_RULE_NUMBER);

    if (e)
        e->number = f;
    return e;
}

static cq_rule_expr *truth(reader *r, bool b)
{
    cq_rule_expr *e = expr(r, CQ_RULE_BOOL);

    if (e)
        e->is_whole = b;
    return e;
}

static cq_rule_expr *text(reader *r, const char *quote)
{
    size_t        n = strcspn(r->at, quote);
    cq_rule_expr *e = expr(r, CQ_RULE_TEXT);

    if (!e)
        return NULL;
    e->text = cq_arena_strndup(r->arena, r->at, n);
    if (!e->text)
        return no_memory(r);
    r->at += n;
    if (!*r->at)
        return fail(r, "a closing quote");
    r->at++;
    return e;
}

static void attributes(reader *r, cq_rule_expr *e)
{
    const char   *names[MAX_ITEMS];
    cq_rule_expr *values[MAX_ITEMS];
    size_t        n       = 0;
    bool          outside = r->in_attributes;

    r->in_attributes = true;
    do {
        if (n == MAX_ITEMS)
            fail(r, "fewer attributes");
        else if (!(names[n] = word(r)))
            fail(r, "the name of an attribute");
        expect(r, "=");
        if (r->status != CQ_OK)
            return;
        values[n++] = choice(r);
    } while (accept(r, ","));
    r->in_attributes = outside;
    expect(r, ">");
    e->attr_names = cq_arena_copy(r->arena, names, n * sizeof *names);
    e->attrs      = cq_arena_copy(r->arena, values, n * sizeof *values);
    e->n_attrs    = n;
    if (r->status == CQ_OK && (!e->attr_names || !e->attrs))
        no_memory(r);
}

/* [e for name in list if condition], from behind the word for. What is made of each item is read
 * once more, now that the name in it is known. */
static cq_rule_expr *each_of(reader *r, const char *start)
{
    const char   *name = word(r), *end;
    size_t        n    = 2, slot;
    cq_rule_expr *items[3], *e;

    if (!name || !accept_word(r, "in") || r->n_slots == MAX_SLOTS)
        return fail(r, "a name and a list after for");
    items[1]       = level(r, 0);
    slot           = r->n_slots++;
    r->names[slot] = name;
    if (accept_word(r, "if"))
        items[n++] = level(r, 0);
    expect(r, "]");
    end            = r->at;
    r->at          = start;
    items[0]       = r->status == CQ_OK ? choice(r) : NULL;
    r->at          = end;
    r->names[slot] = "";
    e              = with_items(r, CQ_RULE_EACH, items, n);
    if (e)
        e->slot = slot;
    return e;
}

/* From behind the opening bracket. */
static cq_rule_expr *bracketed(reader *r)
{
    cq_rule_expr *items[MAX_ITEMS];
    const char   *start   = r->at;
    bool          outside = r->in_attributes;
    cq_rule_expr *e       = NULL;
    size_t        n       = list(r, "]", items);

    if (r->status == CQ_OK && n == EACH) {
        r->in_attributes = false;
        e                = each_of(r, start);
        r->in_attributes = outside;
        return e;
    }
    return with_items(r, CQ_RULE_LIST, items, n);
}

/* Operators begin with a capital letter, or have a domain; functions do not. */
static bool is_operator(const char *name)
{
    return isupper((unsigned char)name[0]) || strstr(name, "::");
}

static cq_rule_expr *call(reader *r, const char *name)
{
    cq_rule_expr *items[MAX_ITEMS], *e = NULL, head = { .kind = CQ_RULE_FUNCTION };
    size_t        n;

    if (is_operator(name)) {
        head.kind = CQ_RULE_OPERATOR;
        head.form = cq_rule_form_find(name);
        if (accept(r, "<"))
            attributes(r, &head);
    } else if (!(head.function = cq_rule_function_find(name))) {
        r->at -= strlen(name);
        return fail(r, "a function that there is");
    }
    expect(r, "(");
    n = list(r, ")", items);
    e = with_items(r, head.kind, items, n);
    if (!e)
        return NULL;
    if (head.function && (n < head.function->least || n > head.function->most))
        return fail(r, n < head.function->least ? "more arguments" : "fewer arguments");
    if (head.function && head.function->text && r->status == CQ_OK) {
        cq_rule *body;

        r->status = cq_rule_parse(&body, r->arena, head.function->text, head.function->parameters);
        head.body = body;
    }
    head.items = e->items;
    head.n     = e->n;
    head.text  = name;
    *e         = head;
    return e;
}

static cq_rule_expr *named(reader *r, const char *name)
{
    cq_rule_expr *e;

    skip(r);
    if (*r->at == '(' || (*r->at == '<' && is_operator(name)))
        return call(r, name);
    for (size_t i = r->n_slots; i-- > 0;)
        if (strcmp(r->names[i], name) == 0) {
            e = expr(r, CQ_RULE_NAME);
            if (e)
                e->slot = i;
            return e;
        }
    e = expr(r, CQ_RULE_ARGUMENT);
    if (e)
        e->text = name;
    return e;
}

static cq_rule_expr *atom(reader *r)
{
    cq_rule_expr *items[MAX_ITEMS], *e;
    const char   *name;

    if (accept(r, "(")) {
        if (list(r, ")", items) != 1)
            return fail(r, "one expression in parentheses");
        e = items[0];
    } else if (accept(r, "[")) {
        e = bracketed(r);
    } else if (accept(r, "\"")) {
        e = text(r, "\"");
    } else if (accept(r, "'")) {
        e = text(r, "'");
    } else if (accept_word(r, "None")) {
        e = expr(r, CQ_RULE_NONE);
    } else if (accept_word(r, "True")) {
        e = truth(r, true);
    } else if (accept_word(r, "False")) {
        e = truth(r, false);
    } else if (accept_word(r, "inf")) {
        e = constant(r, __builtin_inf());
    } else if (accept_word(r, "NaN")) {
        e = constant(r, __builtin_nan(""));
    } else if ((name = word(r))) {
        e = named(r, name);
    } else {
        e = number(r);
    }
    while (accept(r, "[")) {
        items[0] = e;
        items[1] = choice(r);
        expect(r, "]");
        e = with_items(r, CQ_RULE_INDEX, items, 2);
    }
    return e;
}

static cq_rule_expr *unary(reader *r)
{
    cq_rule_expr *e;

    if (!accept(r, "-"))
        return atom(r);
    if (++r->depth > MAX_DEPTH)
        return fail(r, "less nesting");
    e = unary(r);
    r->depth--;
    if (e && e->kind == CQ_RULE_NUMBER) {
        e->number = -e->number;
        e->whole  = -e->whole;
        return e;
    }
    return with_items(r, CQ_RULE_NEGATIVE, &e, 1);
}

/* The signs of each level, the weakest level first. Longer signs stand before their beginnings. */
static const struct sign {
    const char  *text;
    int          level;
    cq_rule_sign sign;
} signs[] = {
    { "or", 0, CQ_RULE_OR },      { "and", 1, CQ_RULE_AND },     { "==", 3, CQ_RULE_EQUAL },
    { "!=", 3, CQ_RULE_UNEQUAL }, { "<=", 3, CQ_RULE_AT_MOST },  { ">=", 3, CQ_RULE_AT_LEAST },
    { "<", 3, CQ_RULE_LESS },     { ">", 3, CQ_RULE_GREATER },   { "+", 4, CQ_RULE_ADD },
    { "-", 4, CQ_RULE_SUB },      { "//", 5, CQ_RULE_FLOORDIV }, { "*", 5, CQ_RULE_MUL },
    { "/", 5, CQ_RULE_DIV },
};

enum { LEVEL_NOT = 2, LEVEL_COMPARE = 3, LEVELS = 6 };

static const struct sign *sign_of(reader *r, int level)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        bool is_word = islower((unsigned char)signs[i].text[0]);

        if (r->in_attributes && signs[i].text[0] == '>')
            continue;
        if (signs[i].level == level &&
            (is_word ? accept_word(r, signs[i].text) : accept(r, signs[i].text)))
            return &signs[i];
    }
    return NULL;
}

/* x is None, x is not None */
static cq_rule_expr *is_none(reader *r, cq_rule_expr *x)
{
    cq_rule_expr *items[2] = { x, NULL }, *e;
    bool          is_not   = accept_word(r, "not");

    if (!accept_word(r, "None"))
        return fail(r, "None");
    items[1] = expr(r, CQ_RULE_NONE);
    e        = with_items(r, CQ_RULE_BINARY, items, 2);
    if (e)
        e->sign = is_not ? CQ_RULE_UNEQUAL : CQ_RULE_EQUAL;
    return e;
}

static cq_rule_expr *level(reader *r, int at)
{
    cq_rule_expr      *items[2];
    const struct sign *sign;

    if (at == LEVELS)
        return unary(r);
    if (at == LEVEL_NOT && accept_word(r, "not")) {
        if (++r->depth > MAX_DEPTH)
            return fail(r, "less nesting");
        items[0] = level(r, at);
        r->depth--;
        return with_items(r, CQ_RULE_NOT, items, 1);
    }
    items[0] = level(r, at + 1);
    if (at == LEVEL_COMPARE && accept_word(r, "is"))
        return is_none(r, items[0]);
    while (r->status == CQ_OK && (sign = sign_of(r, at))) {
        items[1] = level(r, at + 1);
        items[0] = with_items(r, CQ_RULE_BINARY, items, 2);
        if (items[0])
            items[0]->sign = sign->sign;
    }
    return items[0];
}

static cq_rule_expr *choice(reader *r)
{
    cq_rule_expr *items[3], *e;

    skip(r);
    if (r->status != CQ_OK)
        return NULL;
    if (++r->depth > MAX_DEPTH)
        return fail(r, "less nesting");
    e = level(r, 0);
    if (accept_word(r, "if")) {
        items[1] = e;
        items[0] = level(r, 0);
        if (!accept_word(r, "else"))
            fail(r, "else");
        items[2] = choice(r);
        e        = with_items(r, CQ_RULE_CHOICE, items, 3);
    }
    r->depth--;
    return e;
}

/* ---- statements ---- */

/* The names on the left are known from here on. */
static void let(reader *r, cq_rule *rule, cq_rule_expr *const *names, size_t n)
{
    cq_rule_let *l = &rule->lets[rule->n_lets];

    if (rule->n_lets == MAX_LETS || r->n_slots + n > MAX_SLOTS) {
        fail(r, "fewer names");
        return;
    }
    *l      = (cq_rule_let){ .n = n, .value = choice(r) };
    l->slot = r->n_slots;
    for (size_t i = 0; i < n && r->status == CQ_OK; i++) {
        bool again = names[i]->kind == CQ_RULE_NAME;

        if (!again && names[i]->kind != CQ_RULE_ARGUMENT)
            fail(r, "a name before =");
        else
            r->names[r->n_slots++] = again ? r->names[names[i]->slot] : names[i]->text;
    }
    rule->n_lets++;
}

static void name_parameters(reader *r, const char *parameters)
{
    reader names = { .arena = r->arena, .at = parameters ? parameters : "" };

    while (*skip(&names) && r->status == CQ_OK) {
        r->names[r->n_slots++] = word(&names);
        r->status              = names.status;
    }
}

cq_status cq_rule_parse(cq_rule **out, cq_arena *arena, const char *source, const char *parameters)
{
    reader        r    = { .arena = arena, .text = source, .at = source };
    cq_rule      *rule = cq_arena_zalloc(arena, sizeof *rule);
    cq_rule_expr *items[MAX_ITEMS];
    size_t        n;

    *out = NULL;
    if (!rule || !(rule->lets = cq_arena_array(arena, MAX_LETS, sizeof *rule->lets)))
        return CQ_E_NO_MEMORY;
    rule->source = source;
    name_parameters(&r, parameters);
    for (;;) {
        n = 0;
        do {
            if (n == MAX_ITEMS)
                fail(&r, "fewer items");
            else
                items[n++] = choice(&r);
        } while (accept(&r, ","));
        if (!accept(&r, "="))
            break;
        let(&r, rule, items, n);
        expect(&r, ";");
        if (r.status != CQ_OK)
            break;
    }
    if (*skip(&r))
        fail(&r, "the end");
    CQ_TRY(r.status);
    rule->results   = cq_arena_copy(arena, items, n * sizeof *items);
    rule->n_results = n;
    rule->n_slots   = r.n_slots;
    if (!rule->results)
        return CQ_E_NO_MEMORY;
    *out = rule;
    return CQ_OK;
}

/* ---- walking ---- */

static cq_status each(const cq_rule_expr *e, cq_status (*fn)(const cq_rule_expr *, void *),
                      void               *user)
{
    CQ_TRY(fn(e, user));
    for (size_t i = 0; i < e->n; i++)
        CQ_TRY(each(e->items[i], fn, user));
    for (size_t i = 0; i < e->n_attrs; i++)
        CQ_TRY(each(e->attrs[i], fn, user));
    return e->body ? cq_rule_each(e->body, fn, user) : CQ_OK;
}

cq_status cq_rule_each(const cq_rule *rule, cq_status (*fn)(const cq_rule_expr *, void *),
                       void          *user)
{
    for (size_t i = 0; i < rule->n_lets; i++)
        CQ_TRY(each(rule->lets[i].value, fn, user));
    for (size_t i = 0; i < rule->n_results; i++)
        CQ_TRY(each(rule->results[i], fn, user));
    return CQ_OK;
}
