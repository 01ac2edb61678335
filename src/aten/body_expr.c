/* The grammar of expressions in bodies. */
#include "aten/body_parse.h"

#include <ctype.h>
#include <stdlib.h>

static cq_body_expr *disjunction(cq_body_parser *p);

static void add_argument(cq_body_parser *p, cq_body_arguments *args, const cq_body_expr *e,
                         const char *keyword)
{
    if (args->n == CQ_BODY_MAX_ITEMS) {
        cq_body_fail(p, "too many items");
        return;
    }
    args->keywords[args->n] = keyword;
    args->items[args->n++]  = e;
}

/* The arguments of the row itself, in order. */
static void all_arguments(cq_body_parser *p, cq_body_arguments *args)
{
    for (size_t i = 0; i < p->schema->n_args; i++)
        add_argument(p, args, cq_body_name(p, p->schema->args[i].name),
                     p->schema->args[i].keyword_only ? p->schema->args[i].name : NULL);
}

static bool keyword_here(cq_body_parser *p)
{
    const char *at;

    cq_body_space(p);
    for (at = p->at; cq_is_word(*at); at++)
        ;
    return at > p->at && at[0] == '=' && at[1] != '=';
}

static void call_arguments(cq_body_parser *p, cq_body_arguments *args)
{
    cq_body_open(p, "(");
    while (p->status == CQ_OK && !cq_body_peek(p, ")")) {
        const char *keyword = NULL;

        if (cq_body_accept(p, "*args")) {
            all_arguments(p, args);
        } else {
            if (keyword_here(p)) {
                keyword = cq_body_word(p);
                cq_body_expect(p, "=");
            }
            add_argument(p, args, cq_body_expression(p), keyword);
        }
        if (!cq_body_peek(p, ")"))
            cq_body_expect(p, ",");
    }
    cq_body_close(p, ")");
}

static cq_body_expr *list_of(cq_body_parser *p, cq_body_expr_kind kind,
                             const cq_body_arguments *args)
{
    cq_body_expr *e = cq_body_node(p, kind, CQ_KIND(LIST));

    e->items   = cq_body_items(p, args);
    e->n_items = args->n;
    return p->status == CQ_OK ? e : &p->nothing;
}

/* [f(x) for x in items]: the name is known before the expression is read, so the text is read
 * from behind "for" first. */
static cq_body_expr *each(cq_body_parser *p, const char *start)
{
    cq_body_expr *e = cq_body_node(p, CQ_EXPR_EACH, CQ_KIND(LIST));
    const char   *end;

    if (p->status != CQ_OK)
        return &p->nothing;
    e->slot = cq_body_set_slot(p, cq_body_word(p), CQ_KINDS_ANY);
    cq_body_expect(p, "in");
    p->nested++;
    e->b  = disjunction(p);
    e->c  = cq_body_accept(p, "if") ? disjunction(p) : NULL;
    end   = p->at;
    p->at = start;
    e->a  = cq_body_expression(p);
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

static cq_body_expr *list(cq_body_parser *p)
{
    const char       *start, *behind_for;
    cq_body_arguments args = { .n = 0 };
    cq_body_expr     *e;

    cq_body_open(p, "[");
    start      = p->at;
    behind_for = find_for(start);
    if (behind_for) {
        p->at = behind_for;
        e     = each(p, start);
        cq_body_close(p, "]");
        return e;
    }
    while (p->status == CQ_OK && !cq_body_peek(p, "]")) {
        add_argument(p, &args, cq_body_expression(p), NULL);
        if (!cq_body_peek(p, "]"))
            cq_body_expect(p, ",");
    }
    cq_body_close(p, "]");
    return list_of(p, CQ_EXPR_LIST, &args);
}

static cq_body_expr *number(cq_body_parser *p)
{
    char       *end;
    double      value = strtod(p->at, &end);
    size_t      len   = (size_t)(end - p->at);
    const char *start = p->at;

    p->at = end;
    if (memchr(start, '.', len) || memchr(start, 'e', len))
        return cq_body_constant(p, FLOAT(value));
    return cq_body_constant(p, INT(strtoll(start, NULL, 10)));
}

static cq_body_expr *text_constant(cq_body_parser *p, const char *text, size_t len)
{
    cq_text *t = cq_body_alloc(p, 1, sizeof *t + len + 1);

    if (!t)
        return &p->nothing;
    t->refs = 1; /* the body's own */
    t->len  = len;
    memcpy(t->text, text, len);
    return cq_body_constant(p, cq_val_of_text(t));
}

/* 'text {value} text' */
static cq_body_expr *text(cq_body_parser *p)
{
    cq_body_arguments args = { .n = 0 };
    cq_body_expr     *e;

    cq_body_expect(p, "'");
    while (p->status == CQ_OK && *p->at != '\'') {
        size_t n = strcspn(p->at, "{'");

        if (*p->at == '{') {
            p->at++;
            add_argument(p, &args, cq_body_expression(p), NULL);
            cq_body_expect(p, "}");
        } else if (!p->at[n]) {
            cq_body_fail(p, "text without an end");
        } else {
            add_argument(p, &args, text_constant(p, p->at, n), NULL);
            p->at += n;
        }
    }
    p->at++;
    if (p->status != CQ_OK)
        return &p->nothing;
    if (args.n <= 1 && (args.n == 0 || args.items[0]->kind == CQ_EXPR_CONSTANT))
        return args.n ? (cq_body_expr *)args.items[0] : text_constant(p, "", 0);
    e        = list_of(p, CQ_EXPR_TEXT, &args);
    e->kinds = CQ_KIND(STR);
    return e;
}

/* name.overload, as far as it is written. */
static const char *dotted(cq_body_parser *p, const char *name)
{
    while (*p->at == '.') {
        p->at++;
        name = cq_arena_printf(p->arena, "%s.%s", name, cq_body_word(p));
        if (!name)
            return "";
    }
    return name;
}

static cq_body_expr *named(cq_body_parser *p)
{
    const char       *name = cq_body_word(p);
    cq_body_arguments args = { .n = 0 };
    cq_body_expr     *e    = NULL;

    if (cq_body_find_slot(p, name) < 0 && !cq_body_owner_name(p, name) && *p->at == '.') {
        name = dotted(p, name);
        if (strncmp(name, "torch.", 6) == 0)
            e = cq_body_dtype(p, name + 6);
        else if (strncmp(name, "math.", 5) == 0)
            e = cq_body_math_constant(p, name + 5);
    }
    if (e)
        return e;
    if (!cq_body_peek(p, "("))
        return cq_body_name(p, name);
    call_arguments(p, &args);
    return cq_body_call(p, name, &args);
}

static cq_body_expr *in_brackets(cq_body_parser *p)
{
    cq_body_arguments args = { .n = 0 };
    cq_body_expr     *e;

    cq_body_open(p, "(");
    e = cq_body_expression(p);
    if (cq_body_peek(p, ",")) {
        add_argument(p, &args, e, NULL);
        while (p->status == CQ_OK && cq_body_accept(p, ",") && !cq_body_peek(p, ")"))
            add_argument(p, &args, cq_body_expression(p), NULL);
        e = list_of(p, CQ_EXPR_TUPLE, &args);
    }
    cq_body_close(p, ")");
    return e;
}

static cq_body_expr *atom(cq_body_parser *p)
{
    cq_body_space(p);
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
static cq_body_expr *attribute(cq_body_parser *p, cq_body_expr *of)
{
    cq_body_arguments args = { .n = 0 };
    const char       *name;

    cq_body_expect(p, ".");
    name = dotted(p, cq_body_word(p));
    add_argument(p, &args, of, NULL);
    if (*p->at == '(')
        call_arguments(p, &args);
    else
        name = cq_arena_printf(p->arena, ".%s", name);
    return name ? cq_body_call(p, name, &args) : &p->nothing;
}

/* a[i], a[i:j], a[:j] */
static cq_body_expr *item(cq_body_parser *p, cq_body_expr *of)
{
    cq_body_expr *e = cq_body_node(p, CQ_EXPR_ITEM, CQ_KINDS_ANY), *first = NULL;
    bool          of_shape = of->kind == CQ_EXPR_CALL && strcmp(of->name, ".shape") == 0;

    if (p->status != CQ_OK)
        return &p->nothing;
    if (!(of->kinds & CQ_KIND(LIST)))
        cq_body_fail(p, "an index of what is not a list");
    cq_body_open(p, "[");
    if (!cq_body_peek(p, ":"))
        first = cq_body_expression(p);
    if (cq_body_accept(p, ":")) {
        e->kind  = CQ_EXPR_RANGE;
        e->kinds = CQ_KIND(LIST);
        e->c     = cq_body_peek(p, "]") ? NULL : cq_body_expression(p);
    }
    cq_body_close(p, "]");
    if (of_shape && e->kind == CQ_EXPR_ITEM && p->status == CQ_OK) /* without a list */
        return cq_body_call(p, "size",
                            &(cq_body_arguments){ .items = { of->items[0], first }, .n = 2 });
    e->a = of;
    e->b = first;
    return e;
}

static cq_body_expr *postfix(cq_body_parser *p)
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

static cq_body_expr *with_operands(cq_body_parser *p, cq_body_expr_kind kind, cq_kinds kinds,
                                   const cq_body_expr *a, const cq_body_expr *b)
{
    cq_body_expr *e = cq_body_node(p, kind, kinds);

    if (p->status != CQ_OK)
        return &p->nothing;
    e->a = a;
    e->b = b;
    return e;
}

/* What a sign gives between values that are not tensors. */
static cq_kinds plain_kinds(const cq_binary *o, cq_kinds a, cq_kinds b)
{
    cq_kinds whole = CQ_KIND(INT) | CQ_KIND(BOOL), both = a | b, out = 0;

    if (o->strength == 1)
        return CQ_KIND(BOOL);
    if ((a & CQ_KINDS_NUMBER) && (b & CQ_KINDS_NUMBER))
        out = cq_kinds_only(both, whole) && strcmp(o->token, "/") != 0 ? CQ_KIND(INT)
                                                                       : CQ_KINDS_NUMBER;
    return out | (both & (CQ_KIND(LIST) | CQ_KIND(STR)));
}

/* With a tensor it is a call of an operator; with a number before it, of the one that takes them
 * the other way round: 2 - x. */
static cq_body_expr *binary(cq_body_parser *p, const cq_binary *o, cq_body_expr *a, cq_body_expr *b)
{
    cq_kinds          tensor = CQ_KIND(TENSOR), plain;
    bool              mirror = !(a->kinds & tensor);
    cq_body_arguments args   = { .items = { mirror ? b : a, mirror ? a : b },
                                 .n     = mirror && !o->mirrored ? 1 : 2 };
    cq_body_expr     *e      = with_operands(p, CQ_EXPR_BINARY, 0, a, b);

    if (p->status != CQ_OK)
        return &p->nothing;
    plain       = plain_kinds(o, a->kinds & ~tensor, b->kinds & ~tensor);
    e->binary   = o;
    e->mirrored = mirror;
    e->name     = !mirror ? o->op : o->mirrored ? o->mirrored : "reciprocal";
    if ((a->kinds | b->kinds) & tensor)
        cq_body_targets(p, e, e->name, &args);
    if (!e->n_targets &&
        (!plain || cq_kinds_only(a->kinds, tensor) || cq_kinds_only(b->kinds, tensor)))
        cq_body_fail(p, "a sign between values that it does not take before what is");
    e->kinds |= cq_kinds_only(a->kinds, tensor) || cq_kinds_only(b->kinds, tensor) ? 0 : plain;
    return e;
}

static const cq_binary *binary_here(cq_body_parser *p, int strength)
{
    for (const cq_binary *o = cq_binaries; o->token; o++)
        if (cq_body_peek(p, o->token)) { /* the longest sign that is here */
            if (o->strength != strength)
                return NULL;
            p->at += strlen(o->token);
            return o;
        }
    return NULL;
}

static cq_body_expr *operand(cq_body_parser *p, int strength);

/* -x ** 2 is -(x ** 2). */
static cq_body_expr *factor(cq_body_parser *p)
{
    cq_body_expr     *e, *of;
    cq_body_arguments args = { .n = 1 };

    if (!cq_body_accept(p, "-")) {
        e = postfix(p);
        return cq_body_accept(p, "**") ? binary(p, &cq_binaries[0], e, factor(p)) : e;
    }
    of = factor(p);
    if (of->kind == CQ_EXPR_CONSTANT && of->kinds == CQ_KIND(INT))
        return cq_body_constant(p, INT(-of->value.u.i.value));
    if (of->kind == CQ_EXPR_CONSTANT && of->kinds == CQ_KIND(FLOAT))
        return cq_body_constant(p, FLOAT(-of->value.u.f.value));
    args.items[0] = of;
    if (cq_kinds_only(of->kinds, CQ_KIND(TENSOR)))
        return cq_body_call(p, "neg", &args);
    e    = cq_body_node(p, CQ_EXPR_MINUS, of->kinds & (CQ_KINDS_NUMBER | CQ_KIND(TENSOR)));
    e->a = of;
    return e;
}

/* Strength 2: sums, 3: products. Comparisons are 1. */
static cq_body_expr *operand(cq_body_parser *p, int strength)
{
    const cq_binary *o;
    cq_body_expr    *e = strength == 3 ? factor(p) : operand(p, strength + 1);

    while (p->status == CQ_OK && (o = binary_here(p, strength)))
        e = binary(p, o, e, strength == 3 ? factor(p) : operand(p, strength + 1));
    return e;
}

static cq_body_expr *negated(cq_body_parser *p, cq_body_expr *e)
{
    return with_operands(p, CQ_EXPR_NOT, CQ_KIND(BOOL), e, NULL);
}

static cq_body_expr *comparison(cq_body_parser *p)
{
    cq_body_expr    *e = operand(p, 2);
    const cq_binary *o;

    if (cq_body_accept(p, "is")) {
        bool is_not = cq_body_accept(p, "not");

        cq_body_expect(p, "None");
        e = with_operands(p, CQ_EXPR_IS_NONE, CQ_KIND(BOOL), e, NULL);
        return is_not ? negated(p, e) : e;
    }
    if (cq_body_accept(p, "not in"))
        return negated(p, with_operands(p, CQ_EXPR_IN, CQ_KIND(BOOL), e, operand(p, 2)));
    if (cq_body_accept(p, "in"))
        return with_operands(p, CQ_EXPR_IN, CQ_KIND(BOOL), e, operand(p, 2));
    o = binary_here(p, 1);
    return o ? binary(p, o, e, operand(p, 2)) : e;
}

static cq_body_expr *inversion(cq_body_parser *p)
{
    return cq_body_accept(p, "not") ? negated(p, inversion(p)) : comparison(p);
}

static cq_body_expr *conjunction(cq_body_parser *p)
{
    cq_body_expr *e = inversion(p);

    while (p->status == CQ_OK && cq_body_accept(p, "and"))
        e = with_operands(p, CQ_EXPR_AND, CQ_KIND(BOOL), e, inversion(p));
    return e;
}

static cq_body_expr *disjunction(cq_body_parser *p)
{
    cq_body_expr *e = conjunction(p);

    while (p->status == CQ_OK && cq_body_accept(p, "or"))
        e = with_operands(p, CQ_EXPR_OR, CQ_KIND(BOOL), e, conjunction(p));
    return e;
}

cq_body_expr *cq_body_expression(cq_body_parser *p)
{
    cq_body_expr *then = disjunction(p), *e;

    if (p->status != CQ_OK || !cq_body_accept(p, "if"))
        return then;
    e    = cq_body_node(p, CQ_EXPR_CHOICE, 0);
    e->a = disjunction(p);
    cq_body_expect(p, "else");
    e->b     = then;
    e->c     = cq_body_expression(p);
    e->kinds = e->b->kinds | e->c->kinds;
    return p->status == CQ_OK ? e : &p->nothing;
}

/* a, b: a tuple without brackets. */
cq_body_expr *cq_body_expressions(cq_body_parser *p)
{
    cq_body_arguments args = { .n = 0 };
    cq_body_expr     *e    = cq_body_expression(p);

    if (!cq_body_peek(p, ","))
        return e;
    add_argument(p, &args, e, NULL);
    while (p->status == CQ_OK && cq_body_accept(p, ","))
        add_argument(p, &args, cq_body_expression(p), NULL);
    return list_of(p, CQ_EXPR_TUPLE, &args);
}
