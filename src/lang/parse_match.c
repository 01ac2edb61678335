/* match and its patterns (PEP 634). `match`, `case` and `_` are names everywhere else. */
#include "lang/parser.h"

#include <string.h>

static cq_ast_pattern *parse_pattern(cq_parser *p);

static cq_ast_pattern *new_pattern(cq_parser *p, uint32_t start, cq_ast_pattern pattern)
{
    cq_ast_pattern *made = cq_parser_new(p, sizeof *made);

    pattern.at = (cq_span){ start, cq_parser_end(p) };
    if (made)
        *made = pattern;
    return made;
}

/* Gives a pattern the patterns above a mark, and the end of the last token. */
static cq_ast_pattern *take_items(cq_parser *p, cq_ast_pattern *x, size_t mark)
{
    void *items;

    if (!x || !cq_parser_take(p, mark, sizeof *x->items, &items, &x->n))
        return NULL;
    x->items  = items;
    x->at.end = cq_parser_end(p);
    return x;
}

/* ---- literals and names ------------------------------------------------------------------------
 */

static bool at_number(const cq_parser *p)
{
    return cq_parser_at(p, CQ_TOKEN_NUMBER) ||
           (cq_parser_at(p, CQ_TOKEN_SUB) && cq_parser_peek(p, 1)->kind == CQ_TOKEN_NUMBER);
}

static bool is_number(const cq_ast_expr *x)
{
    return x->kind == CQ_X_INT || x->kind == CQ_X_BIG_INT || x->kind == CQ_X_FLOAT ||
           x->kind == CQ_X_COMPLEX || x->kind == CQ_X_UNARY;
}

static cq_ast_expr *parse_number(cq_parser *p)
{
    const bool negative = cq_parser_accept(p, CQ_TOKEN_SUB);

    return cq_parse_number(p, negative);
}

/* A number, which may be a sum of a real and an imaginary one. */
static cq_ast_expr *parse_sum(cq_parser *p)
{
    cq_ast_expr *x = parse_number(p), *imaginary;
    cq_ast_op    op;

    if (!x || (!cq_parser_at(p, CQ_TOKEN_ADD) && !cq_parser_at(p, CQ_TOKEN_SUB)))
        return x;
    op = cq_parser_at(p, CQ_TOKEN_ADD) ? CQ_AST_ADD : CQ_AST_SUB;
    p->next++;
    if (!cq_parser_at(p, CQ_TOKEN_NUMBER))
        return cq_parser_refuse(p);
    imaginary = cq_parse_number(p, false);
    if (!imaginary)
        return NULL;
    if (!is_number(x) || x->kind == CQ_X_COMPLEX || imaginary->kind != CQ_X_COMPLEX)
        return cq_parser_fail(p, imaginary->at, "expected an imaginary number in this pattern");
    return cq_parser_binary(p, CQ_X_BINARY, op, x, imaginary);
}

static cq_ast_expr *parse_constant(cq_parser *p)
{
    const cq_token        *t    = cq_parser_peek(p, 0);
    const cq_ast_expr_kind kind = t->kind == CQ_TOKEN_NONE   ? CQ_X_NONE
                                  : t->kind == CQ_TOKEN_TRUE ? CQ_X_TRUE
                                                             : CQ_X_FALSE;

    p->next++;
    return cq_parser_expr(p, t->at.start, (cq_ast_expr){ .kind = kind });
}

static cq_ast_expr *parse_string(cq_parser *p)
{
    cq_ast_expr *x = cq_parse_strings(p);

    if (x && x->kind != CQ_X_STR && x->kind != CQ_X_BYTES)
        return cq_parser_fail(p, x->at, "a pattern cannot be a formatted string");
    return x;
}

/* NULL without a failure: not a literal. */
static cq_ast_expr *parse_literal(cq_parser *p)
{
    if (at_number(p))
        return parse_sum(p);
    if (cq_parse_at_string(p))
        return parse_string(p);
    if (cq_parser_at(p, CQ_TOKEN_NONE) || cq_parser_at(p, CQ_TOKEN_TRUE) ||
        cq_parser_at(p, CQ_TOKEN_FALSE))
        return parse_constant(p);
    return NULL;
}

/* a.b.c */
static cq_ast_expr *parse_dotted(cq_parser *p)
{
    const uint32_t start = cq_parser_peek(p, 0)->at.start;
    const char    *name  = cq_parser_name(p);
    cq_ast_expr   *x = cq_parser_expr(p, start, (cq_ast_expr){ .kind = CQ_X_NAME, .u.name = name });

    while (x && cq_parser_accept(p, CQ_TOKEN_DOT)) {
        cq_ast_expr *object = x;

        name = cq_parser_name(p);
        x    = cq_parser_expr(
               p, start,
               (cq_ast_expr){ .kind = CQ_X_ATTR, .u.attr = { .object = object, .name = name } });
        x = cq_parser_over(p, x, object);
    }
    return x;
}

/* A name that a value is bound to; *name is NULL for `_`. */
static bool parse_capture(cq_parser *p, const char **name)
{
    const bool is_wildcard = cq_parser_at_name(p, 0, "_");

    *name = cq_parser_name(p);
    if (is_wildcard)
        *name = NULL;
    return p->status == CQ_OK;
}

/* ---- sequences, mappings, classes
 * ------------------------------------------------------------------ */

static cq_ast_pattern *parse_item(cq_parser *p)
{
    const uint32_t start = cq_parser_peek(p, 0)->at.start;
    const char    *name;

    if (!cq_parser_accept(p, CQ_TOKEN_MUL))
        return parse_pattern(p);
    if (!parse_capture(p, &name))
        return NULL;
    return new_pattern(p, start, (cq_ast_pattern){ .kind = CQ_P_STAR, .name = name });
}

/* Items up to a closer; *comma: there was a comma. */
static bool push_items(cq_parser *p, cq_token_kind closer, bool *comma)
{
    *comma = false;
    while (!cq_parser_at(p, closer)) {
        cq_ast_pattern *item = parse_item(p);

        if (!item || !cq_parser_push(p, item))
            return false;
        if (!cq_parser_accept(p, CQ_TOKEN_COMMA))
            break;
        *comma = true;
    }
    return p->status == CQ_OK;
}

static cq_ast_pattern *make_sequence(cq_parser *p, uint32_t start, size_t mark)
{
    cq_ast_pattern *x         = new_pattern(p, start, (cq_ast_pattern){ .kind = CQ_P_SEQUENCE });
    size_t          n_starred = 0;

    x = take_items(p, x, mark);
    for (size_t i = 0; x && i < x->n; i++)
        n_starred += x->items[i]->kind == CQ_P_STAR;
    if (n_starred > 1)
        return cq_parser_fail(p, x->at, "more than one starred name in this pattern");
    return x;
}

/* (pattern) is the pattern; (pattern,) and [pattern] are sequences. The bracket is taken. */
static cq_ast_pattern *parse_bracketed(cq_parser *p, uint32_t start, cq_token_kind closer)
{
    const size_t    mark = cq_parser_mark(p);
    bool            comma;
    cq_ast_pattern *x;
    size_t          n;

    if (!push_items(p, closer, &comma) || !cq_parser_expect(p, closer))
        return NULL;
    n = (cq_parser_mark(p) - mark) / sizeof x;
    if (closer == CQ_TOKEN_RBRACKET || comma || n != 1)
        return make_sequence(p, start, mark);
    memcpy(&x, p->stack.items + mark, sizeof x);
    if (x->kind == CQ_P_STAR)
        return make_sequence(p, start, mark), cq_parser_fail(p, x->at, "expected a comma here");
    p->stack.n = mark;
    return x;
}

typedef struct pair {
    cq_ast_expr    *key;
    cq_ast_pattern *item;
} pair;

static bool parse_pair(cq_parser *p, pair *out)
{
    out->key = parse_literal(p);
    if (!out->key && p->status == CQ_OK)
        out->key = parse_dotted(p);
    if (out->key && out->key->kind == CQ_X_NAME)
        return cq_parser_fail(p, out->key->at, "a key must be a literal or a name with dots") !=
               NULL;
    out->item = out->key && cq_parser_expect(p, CQ_TOKEN_COLON) ? parse_pattern(p) : NULL;
    return out->item != NULL;
}

static cq_ast_pattern *take_pairs(cq_parser *p, cq_ast_pattern *x, size_t mark)
{
    void *pairs;

    if (!x || !cq_parser_take(p, mark, sizeof(pair), &pairs, &x->n))
        return NULL;
    x->keys  = cq_parser_new(p, (x->n + 1) * sizeof *x->keys);
    x->items = cq_parser_new(p, (x->n + 1) * sizeof *x->items);
    if (!x->keys || !x->items)
        return NULL;
    for (size_t i = 0; i < x->n; i++) {
        x->keys[i]  = ((pair *)pairs)[i].key;
        x->items[i] = ((pair *)pairs)[i].item;
    }
    return x;
}

/* {key: pattern, **rest}; the brace is taken. */
static cq_ast_pattern *parse_mapping(cq_parser *p, uint32_t start)
{
    const size_t mark = cq_parser_mark(p);
    const char  *rest = NULL;

    while (!cq_parser_at(p, CQ_TOKEN_RBRACE)) {
        pair out;

        if (rest)
            return cq_parser_refuse(p);
        if (cq_parser_accept(p, CQ_TOKEN_POW)) {
            if (cq_parser_at_name(p, 0, "_"))
                return cq_parser_refuse(p);
            rest = cq_parser_name(p);
        } else if (!parse_pair(p, &out) || !cq_parser_push(p, out)) {
            return NULL;
        }
        if (p->status != CQ_OK || !cq_parser_accept(p, CQ_TOKEN_COMMA))
            break;
    }
    if (!cq_parser_expect(p, CQ_TOKEN_RBRACE))
        return NULL;
    return take_pairs(
        p, new_pattern(p, start, (cq_ast_pattern){ .kind = CQ_P_MAPPING, .name = rest }), mark);
}

typedef struct argument {
    const char     *name;
    cq_ast_pattern *item;
} argument;

static bool parse_argument(cq_parser *p, argument *out, bool named_before)
{
    const cq_span at = cq_parser_peek(p, 0)->at;

    *out = (argument){ 0 };
    if (cq_parser_peek(p, 1)->kind == CQ_TOKEN_ASSIGN) {
        out->name = cq_parser_name(p);
        p->next++;
    } else if (named_before) {
        return cq_parser_fail(p, at, "a positional pattern follows a keyword pattern") != NULL;
    }
    out->item = p->status == CQ_OK ? parse_pattern(p) : NULL;
    return out->item != NULL;
}

static cq_ast_pattern *take_arguments(cq_parser *p, cq_ast_pattern *x, size_t mark)
{
    void *arguments;

    if (!x || !cq_parser_take(p, mark, sizeof(argument), &arguments, &x->n))
        return NULL;
    x->names = cq_parser_new(p, (x->n + 1) * sizeof *x->names);
    x->items = cq_parser_new(p, (x->n + 1) * sizeof *x->items);
    if (!x->names || !x->items)
        return NULL;
    for (size_t i = 0; i < x->n; i++) {
        x->names[i] = ((argument *)arguments)[i].name;
        x->items[i] = ((argument *)arguments)[i].item;
    }
    return x;
}

/* Class(pattern, name=pattern), after the parenthesis. */
static cq_ast_pattern *parse_class(cq_parser *p, uint32_t start, cq_ast_expr *class)
{
    const size_t mark  = cq_parser_mark(p);
    bool         named = false;

    while (!cq_parser_at(p, CQ_TOKEN_RPAREN)) {
        argument out;

        if (!parse_argument(p, &out, named) || !cq_parser_push(p, out))
            return NULL;
        named |= out.name != NULL;
        if (!cq_parser_accept(p, CQ_TOKEN_COMMA))
            break;
    }
    if (!cq_parser_expect(p, CQ_TOKEN_RPAREN))
        return NULL;
    return take_arguments(
        p, new_pattern(p, start, (cq_ast_pattern){ .kind = CQ_P_CLASS, .value = class }), mark);
}

/* ---- patterns ----------------------------------------------------------------------------------
 */

/* A name alone binds; with dots it is a value, with parentheses a class. */
static cq_ast_pattern *parse_named(cq_parser *p, uint32_t start)
{
    const cq_token_kind behind = cq_parser_peek(p, 1)->kind;
    const char         *name;
    cq_ast_expr        *x;

    if (behind != CQ_TOKEN_DOT && behind != CQ_TOKEN_LPAREN) {
        if (!parse_capture(p, &name))
            return NULL;
        return new_pattern(p, start, (cq_ast_pattern){ .kind = CQ_P_CAPTURE, .name = name });
    }
    x = parse_dotted(p);
    if (x && cq_parser_accept(p, CQ_TOKEN_LPAREN))
        return parse_class(p, start, x);
    return x ? new_pattern(p, start, (cq_ast_pattern){ .kind = CQ_P_VALUE, .value = x }) : NULL;
}

static cq_ast_pattern *parse_closed(cq_parser *p)
{
    const uint32_t start = cq_parser_peek(p, 0)->at.start;
    cq_ast_expr   *x     = parse_literal(p);

    if (x || p->status != CQ_OK)
        return x ? new_pattern(p, start, (cq_ast_pattern){ .kind = CQ_P_VALUE, .value = x }) : NULL;
    if (cq_parser_accept(p, CQ_TOKEN_LPAREN))
        return parse_bracketed(p, start, CQ_TOKEN_RPAREN);
    if (cq_parser_accept(p, CQ_TOKEN_LBRACKET))
        return parse_bracketed(p, start, CQ_TOKEN_RBRACKET);
    if (cq_parser_accept(p, CQ_TOKEN_LBRACE))
        return parse_mapping(p, start);
    return cq_parser_at(p, CQ_TOKEN_NAME) ? parse_named(p, start) : cq_parser_refuse(p);
}

static cq_ast_pattern *parse_or(cq_parser *p)
{
    const uint32_t  start = cq_parser_peek(p, 0)->at.start;
    const size_t    mark  = cq_parser_mark(p);
    cq_ast_pattern *x     = parse_closed(p);

    if (!x || !cq_parser_at(p, CQ_TOKEN_BIT_OR))
        return x;
    if (!cq_parser_push(p, x))
        return NULL;
    while (cq_parser_accept(p, CQ_TOKEN_BIT_OR)) {
        x = parse_closed(p);
        if (!x || !cq_parser_push(p, x))
            return NULL;
    }
    return take_items(p, new_pattern(p, start, (cq_ast_pattern){ .kind = CQ_P_OR }), mark);
}

static cq_ast_pattern *parse_as(cq_parser *p)
{
    const uint32_t  start = cq_parser_peek(p, 0)->at.start;
    const size_t    mark  = cq_parser_mark(p);
    cq_ast_pattern *x     = parse_or(p);
    const char     *name;

    if (!x || !cq_parser_accept(p, CQ_TOKEN_AS))
        return x;
    if (cq_parser_at_name(p, 0, "_"))
        return cq_parser_refuse(p);
    name = cq_parser_name(p);
    if (!name || !cq_parser_push(p, x))
        return NULL;
    return take_items(p, new_pattern(p, start, (cq_ast_pattern){ .kind = CQ_P_AS, .name = name }),
                      mark);
}

static cq_ast_pattern *parse_pattern(cq_parser *p)
{
    cq_ast_pattern *x;

    if (!cq_parser_enter(p))
        return NULL;
    x = parse_as(p);
    cq_parser_leave(p);
    return x;
}

/* The pattern of a case: `a, b` is a sequence without brackets. */
static cq_ast_pattern *parse_patterns(cq_parser *p)
{
    const uint32_t  start = cq_parser_peek(p, 0)->at.start;
    const size_t    mark  = cq_parser_mark(p);
    cq_ast_pattern *x     = parse_item(p);

    if (!x || (!cq_parser_at(p, CQ_TOKEN_COMMA) && x->kind != CQ_P_STAR))
        return x;
    if (!cq_parser_push(p, x) || !cq_parser_expect(p, CQ_TOKEN_COMMA))
        return NULL;
    while (!cq_parser_at(p, CQ_TOKEN_COLON) && !cq_parser_at(p, CQ_TOKEN_IF)) {
        x = parse_item(p);
        if (!x || !cq_parser_push(p, x))
            return NULL;
        if (!cq_parser_accept(p, CQ_TOKEN_COMMA))
            break;
    }
    return make_sequence(p, start, mark);
}

/* ---- the statement
 * ------------------------------------------------------------------------------- */

/* Only a match has a line that ends in a colon, and then an indented `case`. */
bool cq_parse_at_match(const cq_parser *p)
{
    const cq_token *t = p->tokens->list.items;
    size_t          i = p->next + 1;

    if (!cq_parser_at_name(p, 0, "match"))
        return false;
    while (t[i].kind != CQ_TOKEN_NEWLINE && t[i].kind != CQ_TOKEN_END)
        i++;
    return t[i].kind == CQ_TOKEN_NEWLINE && i > p->next + 2 && t[i - 1].kind == CQ_TOKEN_COLON &&
           t[i + 1].kind == CQ_TOKEN_INDENT && cq_parser_at_name(p, i + 2 - p->next, "case");
}

static bool parse_case(cq_parser *p)
{
    cq_ast_case one = { 0 };

    if (!cq_parser_at_name(p, 0, "case"))
        return cq_parser_refuse(p) != NULL;
    p->next++;
    one.pattern = parse_patterns(p);
    if (one.pattern && cq_parser_accept(p, CQ_TOKEN_IF))
        one.guard = cq_parse_named(p);
    return p->status == CQ_OK && cq_parse_block(p, &one.body) && cq_parser_push(p, one);
}

static bool parse_cases(cq_parser *p)
{
    if (!cq_parser_expect(p, CQ_TOKEN_COLON) || !cq_parser_expect(p, CQ_TOKEN_NEWLINE) ||
        !cq_parser_expect(p, CQ_TOKEN_INDENT))
        return false;
    while (!cq_parser_accept(p, CQ_TOKEN_DEDENT))
        if (!parse_case(p))
            return false;
    return true;
}

cq_ast_stmt *cq_parse_match(cq_parser *p, uint32_t start)
{
    const size_t mark    = cq_parser_mark(p);
    cq_ast_expr *subject = cq_parse_list_of(p, cq_parse_named_item, false);
    cq_ast_stmt *s       = cq_parser_stmt(
              p, start, (cq_ast_stmt){ .kind = CQ_S_MATCH, .u.match = { .subject = subject } });
    void *cases;
    bool  ok;

    if (!s || !cq_parser_enter(p))
        return NULL;
    ok = parse_cases(p);
    cq_parser_leave(p);
    if (!ok || !cq_parser_take(p, mark, sizeof *s->u.match.cases, &cases, &s->u.match.n))
        return NULL;
    s->u.match.cases = cases;
    return s;
}
