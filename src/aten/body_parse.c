/* Bodies from text to tree, see body.h. Names, operators and the kinds of values are resolved
 * here, so that what runs has only to look at values. Bodies are ours: a wrong one is a bug, and
 * the first error ends the parse. */
#include "aten/body_tree.h"
#include "base/str.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct parser {
    cq_arena               *arena;
    const cq_schema        *schema;
    const cq_formula_owner *owner;
    const char             *text, *at;
    int                     nested; /* in brackets, where a line may end */
    struct {
        const char *name;
        cq_kinds    kinds;
    } slots[CQ_BODY_MAX_SLOTS];
    size_t    n_slots;
    cq_status status;
} parser;

static cq_body_expr nothing = { .kind = CQ_EXPR_CONSTANT, .kinds = CQ_KINDS_ANY };

static void fail(parser *p, const char *what)
{
    if (p->status == CQ_OK)
        p->status = cq_fail(CQ_E_INTERNAL, p->schema->full, NULL, "the body has %s at \"%.30s\"",
                            what, p->at);
}

static void *make(parser *p, size_t n, size_t size)
{
    void *out = cq_arena_array(p->arena, n ? n : 1, size);

    if (!out && p->status == CQ_OK)
        p->status = CQ_E_NO_MEMORY;
    return out;
}

static cq_body_expr *expr(parser *p, cq_body_expr_kind kind, cq_kinds kinds)
{
    cq_body_expr *e = make(p, 1, sizeof *e);

    if (!e)
        return &nothing;
    e->kind  = kind;
    e->kinds = kinds;
    return e;
}

/* ---- tokens ---- */

static void skip_space(parser *p)
{
    while (*p->at == ' ' || (p->nested && *p->at == '\n'))
        p->at++;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* A sign, or a whole word. */
static bool peek(parser *p, const char *token)
{
    size_t n = strlen(token);

    skip_space(p);
    return strncmp(p->at, token, n) == 0 && !(is_word(token[0]) && is_word(p->at[n]));
}

static bool accept(parser *p, const char *token)
{
    if (!peek(p, token))
        return false;
    p->at += strlen(token);
    return true;
}

static void expect(parser *p, const char *token)
{
    char what[32];

    snprintf(what, sizeof what, "no \"%s\"", token);
    if (!accept(p, token))
        fail(p, what);
}

static void open_bracket(parser *p, const char *token)
{
    expect(p, token);
    p->nested++;
}

static void close_bracket(parser *p, const char *token)
{
    expect(p, token);
    p->nested--;
}

/* A name, which may begin with a namespace: quantized::add. */
static const char *word(parser *p)
{
    const char *start;

    skip_space(p);
    start = p->at;
    if (!isalpha((unsigned char)*start) && *start != '_') {
        fail(p, "no name");
        return "";
    }
    while (is_word(*p->at) || (p->at[0] == ':' && p->at[1] == ':'))
        p->at += *p->at == ':' ? 2 : 1;
    start = cq_arena_strndup(p->arena, start, (size_t)(p->at - start));
    return start ? start : "";
}

/* ---- kinds ---- */

/* What the values of a type can be. */
static cq_kinds kinds_of(const cq_schema_type *t, bool taken)
{
    static const cq_kinds kinds[] = {
        [CQ_SCHEMA_TENSOR]    = CQ_KIND(TENSOR),
        [CQ_SCHEMA_INT]       = CQ_KIND(INT),
        [CQ_SCHEMA_FLOAT]     = CQ_KIND(FLOAT),
        [CQ_SCHEMA_BOOL]      = CQ_KIND(BOOL),
        [CQ_SCHEMA_COMPLEX]   = CQ_KINDS_NUMBER,
        [CQ_SCHEMA_SCALAR]    = CQ_KINDS_NUMBER,
        [CQ_SCHEMA_STR]       = CQ_KIND(STR),
        [CQ_SCHEMA_DEVICE]    = CQ_KIND(DEVICE) | CQ_KIND(STR),
        [CQ_SCHEMA_GENERATOR] = CQ_KIND(NONE) | CQ_KIND(OBJECT),
        [CQ_SCHEMA_DICT]      = CQ_KIND(DICT),
        [CQ_SCHEMA_TUPLE]     = CQ_KIND(LIST),
        [CQ_SCHEMA_ANY]       = CQ_KINDS_ANY,
        [CQ_SCHEMA_NONE]      = CQ_KIND(NONE),
    };
    cq_kinds k = kinds[t->base];

    if (taken && (t->base == CQ_SCHEMA_FLOAT || t->base == CQ_SCHEMA_BOOL))
        k |= CQ_KIND(INT); /* converted */
    if (t->list_depth)     /* 3 for int[2] */
        k = CQ_KIND(LIST) | (t->base == CQ_SCHEMA_TENSOR ? 0 : k);
    return k | (t->optional || t->base == CQ_SCHEMA_DEVICE ? CQ_KIND(NONE) : 0);
}

static bool only(cq_kinds kinds, cq_kinds of)
{
    return kinds && !(kinds & ~of);
}

/* ---- names ---- */

static int find_slot(const parser *p, const char *name)
{
    for (size_t i = 0; i < p->n_slots; i++)
        if (strcmp(p->slots[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* The slot of a name that gets a value of these kinds. */
static size_t set_slot(parser *p, const char *name, cq_kinds kinds)
{
    int at = find_slot(p, name);

    if (at < 0) {
        at = (int)p->n_slots;
        if (p->n_slots == CQ_BODY_MAX_SLOTS) {
            fail(p, "too many variables");
            return 0;
        }
        p->slots[p->n_slots++].name = name;
    }
    p->slots[at].kinds |= kinds;
    return (size_t)at;
}

static cq_body_expr *constant(parser *p, cq_val v)
{
    cq_body_expr *e = expr(p, CQ_EXPR_CONSTANT, (cq_kinds)1 << v.kind);

    e->value = v;
    return e;
}

/* grad, grad1, result2: names of the owner of a formula. */
static cq_body_expr *owner_name(parser *p, const char *name)
{
    for (size_t i = 0; p->owner && p->owner->names[i]; i++) {
        size_t n = strlen(p->owner->names[i]);

        if (strncmp(name, p->owner->names[i], n) == 0 &&
            name[n + strspn(name + n, "0123456789")] == '\0') {
            cq_body_expr *e = expr(p, CQ_EXPR_OWNER, CQ_KIND(TENSOR));

            e->slot   = i;
            e->number = (size_t)atoi(name + n);
            return e;
        }
    }
    return NULL;
}

static cq_body_expr *math_constant(parser *p, const char *name)
{
    if (strcmp(name, "pi") == 0)
        return constant(p, F(3.14159265358979323846));
    if (strcmp(name, "inf") == 0)
        return constant(p, F(INFINITY));
    if (strcmp(name, "nan") == 0)
        return constant(p, F(NAN));
    return NULL;
}

/* The second argument of isinstance. */
static cq_body_expr *type_name(parser *p, const char *name)
{
    for (int kind = CQ_VAL_TENSOR; kind <= CQ_VAL_STR; kind++)
        if (strcmp(cq_val_kind_name((cq_val_kind)kind), name) == 0)
            return constant(p, I(kind));
    return NULL;
}

/* float32, bool …: dtypes are the numbers that PyTorch has for them. */
static cq_body_expr *dtype_constant(parser *p, const char *name)
{
    for (int64_t i = 0; i < 32; i++) {
        cq_dtype d = cq_dtype_from_torch(i);

        if (d != CQ_DTYPE_NONE && strcmp(cq_dtype_name(d), name) == 0)
            return constant(p, I(i));
    }
    return NULL;
}

static cq_body_expr *name_value(parser *p, const char *name)
{
    int           at = find_slot(p, name);
    cq_body_expr *e;

    if (at >= 0) {
        e       = expr(p, CQ_EXPR_SLOT, p->slots[at].kinds);
        e->slot = (size_t)at;
        return e;
    }
    if (strcmp(name, "True") == 0 || strcmp(name, "False") == 0)
        return constant(p, B(name[0] == 'T'));
    if (strcmp(name, "None") == 0)
        return constant(p, CQ_NONE);
    e = owner_name(p, name);
    if (!e)
        e = type_name(p, name);
    if (!e)
        fail(p, "an unknown name before what is");
    return e ? e : &nothing;
}

/* ---- calls ---- */

typedef struct arguments {
    const cq_body_expr *items[CQ_BODY_MAX_ITEMS];
    const char         *keywords[CQ_BODY_MAX_ITEMS]; /* NULL: by place */
    size_t              n;
} arguments;

/* Whether an overload takes the arguments, and where each goes. */
static bool fits(parser *p, cq_target *t, const arguments *args)
{
    const cq_schema *s      = t->schema;
    uint8_t         *places = make(p, args->n, 1);
    uint64_t         given  = 0;

    t->places = places;
    for (size_t i = 0; i < args->n && places; i++) {
        int at = args->keywords[i] ? cq_schema_find(s, args->keywords[i]) : (int)i;

        if (at < 0 || (size_t)at >= s->n_args || (given >> at & 1) ||
            (!args->keywords[i] && s->args[at].keyword_only) ||
            !(kinds_of(&s->args[at].type, true) & args->items[i]->kinds))
            return false;
        places[i] = (uint8_t)at;
        given |= (uint64_t)1 << at;
        if (t->n_filled <= (size_t)at)
            t->n_filled = (size_t)at + 1;
    }
    for (size_t i = 0; i < s->n_args; i++)
        if (!(given >> i & 1) && !s->args[i].has_default)
            return false;
    return places != NULL;
}

static cq_kinds kinds_of_results(const cq_schema *s)
{
    return s->n_results == 1 ? kinds_of(&s->results[0].type, false)
           : s->n_results    ? CQ_KIND(LIST)
                             : CQ_KIND(NONE);
}

static void add_target(parser *p, cq_body_expr *e, cq_target *to, const cq_target *t,
                       const arguments *args)
{
    cq_target fitting = *t;

    if (!fits(p, &fitting, args))
        return;
    to[e->n_targets++] = fitting;
    e->kinds |= kinds_of_results(fitting.schema);
}

static void add_targets(parser *p, cq_body_expr *e, const char *name, const arguments *args)
{
    enum { MAX_OVERLOADS = 64 };
    cq_target          targets[MAX_OVERLOADS];
    const cq_callable *function = cq_body_function_find(name);
    const char        *prefix   = strstr(name, "::") ? "" : "aten::";
    char               full[CQ_BODY_MAX_NAME];
    const cq_op       *op;

    snprintf(full, sizeof full, "%s%s", prefix, name);
    if (function) {
        add_target(p, e, targets, &(cq_target){ .function = function, .schema = function->schema },
                   args);
    } else if (strchr(name, '.')) {
        if ((op = cq_op_find(full)))
            add_target(p, e, targets, &(cq_target){ .op = op, .schema = op->schema }, args);
    } else {
        for (op = cq_op_overloads(full); op && e->n_targets < MAX_OVERLOADS; op = op->next)
            add_target(p, e, targets, &(cq_target){ .op = op, .schema = op->schema }, args);
    }
    if (!e->n_targets)
        return;
    e->targets = cq_arena_copy(p->arena, targets, e->n_targets * sizeof *targets);
    if (!e->targets)
        p->status = CQ_E_NO_MEMORY;
}

static const cq_native *find_native(const char *name, const arguments *args)
{
    for (const cq_native *n = cq_natives; n->name; n++)
        if (strcmp(n->name, name) == 0 && args->n >= n->min && args->n <= n->max &&
            (args->items[0]->kinds & n->takes))
            return n;
    return NULL;
}

static const cq_body_expr **copy_items(parser *p, const arguments *args)
{
    const cq_body_expr **items = make(p, args->n, sizeof *items);

    if (items)
        memcpy(items, args->items, args->n * sizeof *items);
    return items;
}

/* max(a, b) may be of numbers or of tensors: if the kinds do not tell, the values will. */
static cq_body_expr *call(parser *p, const char *name, const arguments *args)
{
    const cq_native *native = find_native(name, args);
    cq_body_expr    *e      = expr(p, CQ_EXPR_CALL, native ? native->gives : 0);

    if (p->status != CQ_OK)
        return &nothing;
    e->name   = name;
    e->native = native;
    if (!native || !only(args->items[0]->kinds, native->takes))
        add_targets(p, e, name, args);
    if (!e->native && !e->n_targets) {
        p->at = name;
        fail(p, "a call that no operator takes");
    }
    if (p->status != CQ_OK)
        return &nothing;
    e->items   = copy_items(p, args);
    e->n_items = args->n;
    return e;
}

/* ---- the grammar of expressions ---- */

static cq_body_expr *disjunction(parser *p);
static cq_body_expr *expression(parser *p);

static void add_argument(parser *p, arguments *args, const cq_body_expr *e, const char *keyword)
{
    if (args->n == CQ_BODY_MAX_ITEMS) {
        fail(p, "too many items");
        return;
    }
    args->keywords[args->n] = keyword;
    args->items[args->n++]  = e;
}

/* The arguments of the row itself, in order. */
static void all_arguments(parser *p, arguments *args)
{
    for (size_t i = 0; i < p->schema->n_args; i++)
        add_argument(p, args, name_value(p, p->schema->args[i].name),
                     p->schema->args[i].keyword_only ? p->schema->args[i].name : NULL);
}

static bool keyword_here(parser *p)
{
    const char *at;

    skip_space(p);
    for (at = p->at; is_word(*at); at++)
        ;
    return at > p->at && at[0] == '=' && at[1] != '=';
}

static void call_arguments(parser *p, arguments *args)
{
    open_bracket(p, "(");
    while (p->status == CQ_OK && !peek(p, ")")) {
        const char *keyword = NULL;

        if (accept(p, "*args")) {
            all_arguments(p, args);
        } else {
            if (keyword_here(p)) {
                keyword = word(p);
                expect(p, "=");
            }
            add_argument(p, args, expression(p), keyword);
        }
        if (!peek(p, ")"))
            expect(p, ",");
    }
    close_bracket(p, ")");
}

static cq_body_expr *list_of(parser *p, cq_body_expr_kind kind, const arguments *args)
{
    cq_body_expr *e = expr(p, kind, CQ_KIND(LIST));

    e->items   = copy_items(p, args);
    e->n_items = args->n;
    return p->status == CQ_OK ? e : &nothing;
}

/* [f(x) for x in items]: the name is known before the expression is read, so the text is read
 * from behind "for" first. */
static cq_body_expr *each(parser *p, const char *start)
{
    cq_body_expr *e = expr(p, CQ_EXPR_EACH, CQ_KIND(LIST));
    const char   *end;

    if (p->status != CQ_OK)
        return &nothing;
    e->slot = set_slot(p, word(p), CQ_KINDS_ANY);
    expect(p, "in");
    p->nested++;
    e->b  = disjunction(p);
    e->c  = accept(p, "if") ? disjunction(p) : NULL;
    end   = p->at;
    p->at = start;
    e->a  = expression(p);
    p->at = end;
    p->nested--;
    return e;
}

/* The place of " for " in the list that begins here; NULL: it is a plain list. */
static const char *find_for(const char *at)
{
    for (int depth = 0; *at && depth >= 0; at++) {
        if (*at == '(' || *at == '[')
            depth++;
        else if (*at == ')' || *at == ']')
            depth--;
        else if (depth == 0 && strncmp(at, " for ", 5) == 0)
            return at + 5;
    }
    return NULL;
}

static cq_body_expr *list(parser *p)
{
    const char   *start, *behind_for;
    arguments     args = { .n = 0 };
    cq_body_expr *e;

    open_bracket(p, "[");
    start      = p->at;
    behind_for = find_for(start);
    if (behind_for) {
        p->at = behind_for;
        e     = each(p, start);
        close_bracket(p, "]");
        return e;
    }
    while (p->status == CQ_OK && !peek(p, "]")) {
        add_argument(p, &args, expression(p), NULL);
        if (!peek(p, "]"))
            expect(p, ",");
    }
    close_bracket(p, "]");
    return list_of(p, CQ_EXPR_LIST, &args);
}

static cq_body_expr *number(parser *p)
{
    char       *end;
    double      value = strtod(p->at, &end);
    size_t      len   = (size_t)(end - p->at);
    const char *start = p->at;

    p->at = end;
    if (memchr(start, '.', len) || memchr(start, 'e', len))
        return constant(p, F(value));
    return constant(p, I(strtoll(start, NULL, 10)));
}

static cq_body_expr *text_constant(parser *p, const char *text, size_t len)
{
    cq_text *t = make(p, 1, sizeof *t + len + 1);

    if (!t)
        return &nothing;
    t->refs = 1; /* the body's own */
    t->len  = len;
    memcpy(t->text, text, len);
    return constant(p, cq_val_of_text(t));
}

/* 'text {value} text' */
static cq_body_expr *text(parser *p)
{
    arguments     args = { .n = 0 };
    cq_body_expr *e;

    expect(p, "'");
    while (p->status == CQ_OK && *p->at != '\'') {
        size_t n = strcspn(p->at, "{'");

        if (*p->at == '{') {
            p->at++;
            add_argument(p, &args, expression(p), NULL);
            expect(p, "}");
        } else if (!p->at[n]) {
            fail(p, "text without an end");
        } else {
            add_argument(p, &args, text_constant(p, p->at, n), NULL);
            p->at += n;
        }
    }
    p->at++;
    if (p->status != CQ_OK)
        return &nothing;
    if (args.n <= 1 && (args.n == 0 || args.items[0]->kind == CQ_EXPR_CONSTANT))
        return args.n ? (cq_body_expr *)args.items[0] : text_constant(p, "", 0);
    e        = list_of(p, CQ_EXPR_TEXT, &args);
    e->kinds = CQ_KIND(STR);
    return e;
}

/* name.overload, as far as it is written. */
static const char *dotted(parser *p, const char *name)
{
    while (*p->at == '.') {
        p->at++;
        name = cq_arena_printf(p->arena, "%s.%s", name, word(p));
        if (!name)
            return "";
    }
    return name;
}

static cq_body_expr *named(parser *p)
{
    const char   *name = word(p);
    arguments     args = { .n = 0 };
    cq_body_expr *e    = NULL;

    if (find_slot(p, name) < 0 && !owner_name(p, name) && *p->at == '.') {
        name = dotted(p, name);
        if (strncmp(name, "torch.", 6) == 0)
            e = dtype_constant(p, name + 6);
        else if (strncmp(name, "math.", 5) == 0)
            e = math_constant(p, name + 5);
    }
    if (e)
        return e;
    if (!peek(p, "("))
        return name_value(p, name);
    call_arguments(p, &args);
    return call(p, name, &args);
}

static cq_body_expr *in_brackets(parser *p)
{
    arguments     args = { .n = 0 };
    cq_body_expr *e;

    open_bracket(p, "(");
    e = expression(p);
    if (peek(p, ",")) {
        add_argument(p, &args, e, NULL);
        while (p->status == CQ_OK && accept(p, ",") && !peek(p, ")"))
            add_argument(p, &args, expression(p), NULL);
        e = list_of(p, CQ_EXPR_TUPLE, &args);
    }
    close_bracket(p, ")");
    return e;
}

static cq_body_expr *atom(parser *p)
{
    skip_space(p);
    if (*p->at == '(')
        return in_brackets(p);
    if (*p->at == '[')
        return list(p);
    if (*p->at == '\'')
        return text(p);
    if (isdigit((unsigned char)*p->at))
        return number(p);
    return named(p);
}

/* x.shape, x.sum(1): an attribute is a function of x without brackets. */
static cq_body_expr *attribute(parser *p, cq_body_expr *of)
{
    arguments   args = { .n = 0 };
    const char *name;

    expect(p, ".");
    name = dotted(p, word(p));
    add_argument(p, &args, of, NULL);
    if (*p->at == '(')
        call_arguments(p, &args);
    else
        name = cq_arena_printf(p->arena, ".%s", name);
    return name ? call(p, name, &args) : &nothing;
}

/* a[i], a[i:j], a[:j] */
static cq_body_expr *item(parser *p, cq_body_expr *of)
{
    cq_body_expr *e = expr(p, CQ_EXPR_ITEM, CQ_KINDS_ANY), *first = NULL;

    if (p->status != CQ_OK)
        return &nothing;
    if (!(of->kinds & CQ_KIND(LIST)))
        fail(p, "an index of what is not a list");
    open_bracket(p, "[");
    if (!peek(p, ":"))
        first = expression(p);
    if (accept(p, ":")) {
        e->kind  = CQ_EXPR_RANGE;
        e->kinds = CQ_KIND(LIST);
        e->c     = peek(p, "]") ? NULL : expression(p);
    }
    close_bracket(p, "]");
    e->a = of;
    e->b = first;
    if (of->kind == CQ_EXPR_CALL && strcmp(of->name, ".shape") == 0 && e->kind == CQ_EXPR_ITEM)
        e->kinds = CQ_KIND(INT);
    return e;
}

static cq_body_expr *postfix(parser *p)
{
    cq_body_expr *e = atom(p);

    while (p->status == CQ_OK) {
        if (*p->at == '.')
            e = attribute(p, e);
        else if (*p->at == '[')
            e = item(p, e);
        else
            break;
    }
    return e;
}

static cq_body_expr *with_operands(parser *p, cq_body_expr_kind kind, cq_kinds kinds,
                                   const cq_body_expr *a, const cq_body_expr *b)
{
    cq_body_expr *e = expr(p, kind, kinds);

    if (p->status != CQ_OK)
        return &nothing;
    e->a = a;
    e->b = b;
    return e;
}

/* What a sign gives between values that are no tensors. */
static cq_kinds plain_kinds(const cq_binary *o, cq_kinds a, cq_kinds b)
{
    cq_kinds whole = CQ_KIND(INT) | CQ_KIND(BOOL), both = a | b, out = 0;

    if (o->strength == 1)
        return CQ_KIND(BOOL);
    if ((a & CQ_KINDS_NUMBER) && (b & CQ_KINDS_NUMBER))
        out = only(both, whole) && strcmp(o->token, "/") != 0 ? CQ_KIND(INT) : CQ_KINDS_NUMBER;
    return out | (both & (CQ_KIND(LIST) | CQ_KIND(STR)));
}

/* With a tensor it is a call of an operator; with a number before it, of the one that takes them
 * the other way round: 2 - x. */
static cq_body_expr *binary(parser *p, const cq_binary *o, cq_body_expr *a, cq_body_expr *b)
{
    cq_kinds      tensor = CQ_KIND(TENSOR), plain;
    bool          mirror = !(a->kinds & tensor);
    arguments     args   = { .items = { mirror ? b : a, mirror ? a : b },
                             .n     = mirror && !o->mirrored ? 1 : 2 };
    cq_body_expr *e      = with_operands(p, CQ_EXPR_BINARY, 0, a, b);

    if (p->status != CQ_OK)
        return &nothing;
    plain       = plain_kinds(o, a->kinds & ~tensor, b->kinds & ~tensor);
    e->binary   = o;
    e->mirrored = mirror;
    e->name     = !mirror ? o->op : o->mirrored ? o->mirrored : "reciprocal";
    if ((a->kinds | b->kinds) & tensor)
        add_targets(p, e, e->name, &args);
    if (!e->n_targets && (!plain || only(a->kinds, tensor) || only(b->kinds, tensor)))
        fail(p, "a sign between values that it does not take before what is");
    e->kinds |= only(a->kinds, tensor) || only(b->kinds, tensor) ? 0 : plain;
    return e;
}

static const cq_binary *binary_here(parser *p, int strength)
{
    for (const cq_binary *o = cq_binaries; o->token; o++)
        if (peek(p, o->token)) { /* the longest sign that is here */
            if (o->strength != strength)
                return NULL;
            p->at += strlen(o->token);
            return o;
        }
    return NULL;
}

static cq_body_expr *operand(parser *p, int strength);

/* -x ** 2 is -(x ** 2). */
static cq_body_expr *factor(parser *p)
{
    cq_body_expr *e, *of;
    arguments     args = { .n = 1 };

    if (!accept(p, "-")) {
        e = postfix(p);
        return accept(p, "**") ? binary(p, &cq_binaries[0], e, factor(p)) : e;
    }
    of = factor(p);
    if (of->kind == CQ_EXPR_CONSTANT && of->kinds == CQ_KIND(INT))
        return constant(p, I(-of->value.u.i.value));
    if (of->kind == CQ_EXPR_CONSTANT && of->kinds == CQ_KIND(FLOAT))
        return constant(p, F(-of->value.u.f.value));
    args.items[0] = of;
    if (only(of->kinds, CQ_KIND(TENSOR)))
        return call(p, "neg", &args);
    e    = expr(p, CQ_EXPR_MINUS, of->kinds & (CQ_KINDS_NUMBER | CQ_KIND(TENSOR)));
    e->a = of;
    return e;
}

/* Strength 2: sums, 3: products. Comparisons are 1. */
static cq_body_expr *operand(parser *p, int strength)
{
    const cq_binary *o;
    cq_body_expr    *e = strength == 3 ? factor(p) : operand(p, strength + 1);

    while (p->status == CQ_OK && (o = binary_here(p, strength)))
        e = binary(p, o, e, strength == 3 ? factor(p) : operand(p, strength + 1));
    return e;
}

static cq_body_expr *negated(parser *p, cq_body_expr *e)
{
    return with_operands(p, CQ_EXPR_NOT, CQ_KIND(BOOL), e, NULL);
}

static cq_body_expr *comparison(parser *p)
{
    cq_body_expr    *e = operand(p, 2);
    const cq_binary *o;

    if (accept(p, "is")) {
        bool is_not = accept(p, "not");

        expect(p, "None");
        e = with_operands(p, CQ_EXPR_IS_NONE, CQ_KIND(BOOL), e, NULL);
        return is_not ? negated(p, e) : e;
    }
    if (accept(p, "not in"))
        return negated(p, with_operands(p, CQ_EXPR_IN, CQ_KIND(BOOL), e, operand(p, 2)));
    if (accept(p, "in"))
        return with_operands(p, CQ_EXPR_IN, CQ_KIND(BOOL), e, operand(p, 2));
    o = binary_here(p, 1);
    return o ? binary(p, o, e, operand(p, 2)) : e;
}

static cq_body_expr *inversion(parser *p)
{
    return accept(p, "not") ? negated(p, inversion(p)) : comparison(p);
}

static cq_body_expr *conjunction(parser *p)
{
    cq_body_expr *e = inversion(p);

    while (p->status == CQ_OK && accept(p, "and"))
        e = with_operands(p, CQ_EXPR_AND, CQ_KIND(BOOL), e, inversion(p));
    return e;
}

static cq_body_expr *disjunction(parser *p)
{
    cq_body_expr *e = conjunction(p);

    while (p->status == CQ_OK && accept(p, "or"))
        e = with_operands(p, CQ_EXPR_OR, CQ_KIND(BOOL), e, conjunction(p));
    return e;
}

static cq_body_expr *expression(parser *p)
{
    cq_body_expr *then = disjunction(p), *e;

    if (p->status != CQ_OK || !accept(p, "if"))
        return then;
    e    = expr(p, CQ_EXPR_CHOICE, 0);
    e->a = disjunction(p);
    expect(p, "else");
    e->b     = then;
    e->c     = expression(p);
    e->kinds = e->b->kinds | e->c->kinds;
    return p->status == CQ_OK ? e : &nothing;
}

/* a, b: a tuple without brackets. */
static cq_body_expr *expressions(parser *p)
{
    arguments     args = { .n = 0 };
    cq_body_expr *e    = expression(p);

    if (!peek(p, ","))
        return e;
    add_argument(p, &args, e, NULL);
    while (p->status == CQ_OK && accept(p, ","))
        add_argument(p, &args, expression(p), NULL);
    return list_of(p, CQ_EXPR_TUPLE, &args);
}

/* ---- statements ---- */

static cq_body_stmt *stmt(parser *p, cq_body_stmt_kind kind)
{
    static cq_body_stmt none;
    cq_body_stmt       *s = make(p, 1, sizeof *s);

    if (!s)
        return &none;
    s->kind = kind;
    return s;
}

static void check_result(parser *p, const cq_body_expr *e)
{
    const cq_schema *s = p->schema;

    if (p->status != CQ_OK)
        return;
    if (s->n_results == 1 ? !(e->kinds & kinds_of(&s->results[0].type, true))
                          : !(e->kinds & CQ_KIND(LIST)) ||
                                (e->kind == CQ_EXPR_TUPLE && e->n_items != s->n_results))
        fail(p, "a result that is not of the schema before what is");
}

static cq_body_stmt *return_stmt(parser *p)
{
    cq_body_stmt *s = stmt(p, CQ_STMT_RETURN);

    s->value = expressions(p);
    check_result(p, s->value);
    return s;
}

static cq_body_stmt *assert_stmt(parser *p)
{
    cq_body_stmt *s = stmt(p, CQ_STMT_FAIL);

    s->value = expression(p);
    expect(p, ",");
    s->message = expression(p);
    s->status  = CQ_E_ARGUMENT;
    return s;
}

static cq_body_stmt *raise_stmt(parser *p)
{
    static const struct {
        const char *name;
        cq_status   status;
    } kinds[]       = { { "NotImplementedError", CQ_E_UNSUPPORTED },
                        { "TypeError", CQ_E_TYPE },
                        { "ValueError", CQ_E_ARGUMENT } };
    cq_body_stmt *s = stmt(p, CQ_STMT_FAIL);

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (accept(p, kinds[i].name))
            s->status = kinds[i].status;
    if (s->status == CQ_OK)
        fail(p, "an unknown error");
    open_bracket(p, "(");
    s->message = expression(p);
    close_bracket(p, ")");
    return s;
}

/* Whether "a =" or "a, b =" is here. */
static bool assignment_here(parser *p)
{
    const char *at;

    skip_space(p);
    for (at = p->at; is_word(*at) || *at == ',' || *at == ' '; at++)
        ;
    return at > p->at && at[0] == '=' && at[1] != '=';
}

static cq_body_stmt *assignment(parser *p)
{
    cq_body_stmt *s = stmt(p, CQ_STMT_SET);
    const char   *names[CQ_MAX_RESULTS];

    do {
        if (s->n_slots == CQ_MAX_RESULTS) {
            fail(p, "too many names");
            return s;
        }
        names[s->n_slots++] = word(p);
    } while (p->status == CQ_OK && accept(p, ","));
    expect(p, "=");
    s->value = expressions(p);
    for (size_t i = 0; i < s->n_slots; i++) {
        cq_kinds kinds = s->n_slots == 1 ? s->value->kinds
                         : s->value->kind == CQ_EXPR_TUPLE && i < s->value->n_items
                             ? s->value->items[i]->kinds
                             : CQ_KINDS_ANY;

        s->slots[i] = (uint8_t)set_slot(p, names[i], kinds);
    }
    if (s->value->kind == CQ_EXPR_TUPLE && s->n_slots > 1 && s->value->n_items != s->n_slots)
        fail(p, "another number of names than of values before what is");
    return s;
}

static cq_body_stmt *block(parser *p);

static cq_body_stmt *if_stmt(parser *p)
{
    cq_body_stmt *s = stmt(p, CQ_STMT_IF);
    const char   *end;

    s->value = expression(p);
    expect(p, ":");
    s->then = block(p);
    end     = p->at;
    while (*p->at == '\n' || *p->at == ' ')
        p->at++;
    if (accept(p, "elif")) {
        s->otherwise = if_stmt(p);
    } else if (accept(p, "else")) {
        expect(p, ":");
        s->otherwise = block(p);
    } else {
        p->at = end;
    }
    return s;
}

static cq_body_stmt *for_stmt(parser *p)
{
    cq_body_stmt *s = stmt(p, CQ_STMT_FOR);

    s->slots[s->n_slots++] = (uint8_t)set_slot(p, word(p), CQ_KINDS_ANY);
    expect(p, "in");
    s->value = expression(p);
    expect(p, ":");
    s->then = block(p);
    return s;
}

/* "name: expression" of a formula. */
static cq_body_stmt *formula(parser *p)
{
    cq_body_stmt *s    = stmt(p, CQ_STMT_GIVE);
    const char   *name = word(p);
    int           arg  = cq_schema_find(p->schema, name);

    expect(p, ":");
    if (arg < 0)
        fail(p, "the name of no argument before what is");
    else
        s->slots[0] = (uint8_t)arg;
    s->value = expression(p);
    return s;
}

static cq_body_stmt *simple_stmt(parser *p)
{
    if (accept(p, "return"))
        return return_stmt(p);
    if (accept(p, "assert"))
        return assert_stmt(p);
    if (accept(p, "raise"))
        return raise_stmt(p);
    if (assignment_here(p))
        return assignment(p);
    if (p->owner)
        return formula(p);
    return return_stmt(p); /* a body that is one expression */
}

/* Statements up to the end of the line. */
static cq_body_stmt *block(parser *p)
{
    cq_body_stmt *first = NULL, **last = &first;

    do {
        *last = accept(p, "if") ? if_stmt(p) : accept(p, "for") ? for_stmt(p) : simple_stmt(p);
        last  = (cq_body_stmt **)&(*last)->next;
        skip_space(p);
    } while (p->status == CQ_OK && accept(p, ";") && (skip_space(p), *p->at && *p->at != '\n'));
    return first;
}

static const cq_body_stmt *statements(parser *p)
{
    cq_body_stmt *first = NULL, **last = &first;

    while (p->status == CQ_OK && (skip_space(p), *p->at)) {
        if (*p->at == '\n') {
            p->at++;
            continue;
        }
        *last = block(p);
        while (p->status == CQ_OK && *last)
            last = (cq_body_stmt **)&(*last)->next;
        if (*p->at && *p->at != '\n')
            fail(p, "something left");
    }
    if (!first)
        fail(p, "no statement");
    return first;
}

cq_body *cq_body_parse(const cq_schema *schema, const char *text, const cq_formula_owner *owner)
{
    parser   p    = { .schema = schema, .owner = owner, .text = text, .at = text };
    cq_body *body = NULL;

    p.arena = cq_arena_new();
    if (p.arena)
        body = make(&p, 1, sizeof *body);
    if (!body)
        return NULL;
    for (size_t i = 0; i < schema->n_args; i++) {
        cq_kinds kinds = kinds_of(&schema->args[i].type, false);

        /* A number that only the run knows is a tensor. */
        set_slot(&p, schema->args[i].name, kinds | (kinds & CQ_KIND(FLOAT) ? CQ_KIND(TENSOR) : 0));
    }
    body->first = statements(&p);
    if (p.status != CQ_OK) {
        cq_arena_free(p.arena);
        return NULL;
    }
    body->arena  = p.arena;
    body->text   = text;
    body->schema = schema;
    return body;
}

cq_status cq_body_check(const cq_op *op, const char *text)
{
    return cq_formula_check(op, text, NULL);
}

cq_status cq_formula_check(const cq_op *op, const char *text, const cq_formula_owner *owner)
{
    cq_body *body = cq_body_parse(op->schema, text, owner);

    if (!body)
        return CQ_E_INTERNAL;
    cq_arena_free(body->arena);
    return CQ_OK;
}

/* ---- functions that bodies share ---- */

static struct {
    pthread_once_t once;
    cq_arena      *arena;
    cq_callable   *functions;
    size_t         n;
} shared = { .once = PTHREAD_ONCE_INIT };

static void build_shared(void)
{
    cq_schema *schema;
    size_t     n = 0;

    while (cq_body_functions[n].schema)
        n++;
    shared.arena = cq_arena_new();
    shared.functions =
        shared.arena ? cq_arena_array(shared.arena, n + 1, sizeof *shared.functions) : NULL;
    for (size_t i = 0; i < n && shared.functions; i++) {
        if (cq_schema_parse(&schema, shared.arena, cq_body_functions[i].schema) != CQ_OK)
            return; /* a body that calls it says so */
        shared.functions[i].def    = &cq_body_functions[i];
        shared.functions[i].schema = schema;
        shared.n++;
    }
}

const cq_callable *cq_body_function_find(const char *name)
{
    pthread_once(&shared.once, build_shared);
    for (size_t i = 0; i < shared.n; i++)
        if (strcmp(shared.functions[i].schema->full, name) == 0)
            return &shared.functions[i];
    return NULL;
}

cq_status cq_body_check_functions(void)
{
    pthread_once(&shared.once, build_shared);
    for (size_t i = 0; i < shared.n; i++) {
        cq_body *body =
            cq_body_parse(shared.functions[i].schema, shared.functions[i].def->body, NULL);

        if (!body)
            return CQ_E_INTERNAL;
        cq_arena_free(body->arena);
    }
    return cq_body_functions[shared.n].schema ? CQ_E_INTERNAL : CQ_OK;
}
