/* Expressions: precedence climbing over one table. Types are expressions, too. Lists of expressions
 * and displays in brackets are in parse_display.c. */
#include "lang/parser.h"

#include <string.h>

/* ---- atoms -------------------------------------------------------------------------------- */

static cq_ast_expr *parse_name(cq_parser *p)
{
    const uint32_t start = cq_parser_peek(p, 0)->at.start;
    const char    *name  = cq_parser_name(p);

    return cq_parser_expr(p, start, (cq_ast_expr){ .kind = CQ_X_NAME, .u.name = name });
}

static const struct constant {
    cq_token_kind    token;
    cq_ast_expr_kind kind;
} constants[] = {
    { CQ_TOKEN_NONE, CQ_X_NONE },
    { CQ_TOKEN_TRUE, CQ_X_TRUE },
    { CQ_TOKEN_FALSE, CQ_X_FALSE },
    { CQ_TOKEN_ELLIPSIS, CQ_X_ELLIPSIS },
};

static cq_ast_expr *parse_bracketed(cq_parser *p, cq_ast_expr *(*parse)(cq_parser *, uint32_t))
{
    const uint32_t start = cq_parser_peek(p, 0)->at.start;
    cq_ast_expr   *x;

    if (!cq_parser_enter(p))
        return NULL;
    p->next++; /* the bracket */
    x = parse(p, start);
    cq_parser_leave(p);
    return x;
}

static cq_ast_expr *parse_atom(cq_parser *p)
{
    const cq_token *t = cq_parser_peek(p, 0);

    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        if (t->kind == constants[i].token) {
            p->next++;
            return cq_parser_expr(p, t->at.start, (cq_ast_expr){ .kind = constants[i].kind });
        }
    }
    switch (t->kind) {
    case CQ_TOKEN_NAME: return parse_name(p);
    case CQ_TOKEN_NUMBER: return cq_parse_number(p, false);
    case CQ_TOKEN_STRING:
    case CQ_TOKEN_FSTRING_START: return cq_parse_strings(p);
    case CQ_TOKEN_LPAREN: return parse_bracketed(p, cq_parse_parentheses);
    case CQ_TOKEN_LBRACKET: return parse_bracketed(p, cq_parse_brackets);
    case CQ_TOKEN_LBRACE: return parse_bracketed(p, cq_parse_braces);
    default: return cq_parser_refuse(p);
    }
}

/* ---- calls, subscripts, attributes ----------------------------------------------------------- */

static bool parse_arg(cq_parser *p, cq_ast_arg *arg)
{
    const uint32_t start = cq_parser_peek(p, 0)->at.start;

    *arg = (cq_ast_arg){ 0 };
    if (cq_parser_accept(p, CQ_TOKEN_MUL))
        arg->stars = 1;
    else if (cq_parser_accept(p, CQ_TOKEN_POW))
        arg->stars = 2;
    else if (cq_parser_peek(p, 1)->kind == CQ_TOKEN_ASSIGN) {
        arg->name = cq_parser_attr_name(p);
        p->next++;
    }
    arg->value = arg->name || arg->stars ? cq_parse_test(p) : cq_parse_named(p);
    if (arg->value && !arg->name && !arg->stars && cq_parse_at_comp(p))
        arg->value = cq_parse_comp(p, CQ_X_GENERATOR, NULL, arg->value, start);
    return arg->value && p->status == CQ_OK;
}

/* f(x for x in y) needs no additional parentheses, unless there are other arguments. */
static bool check_arg(cq_parser *p, const cq_ast_arg *arg, unsigned stars_before, bool named_before,
                      bool alone)
{
    if (!arg->name && !arg->stars && (named_before || stars_before == 2))
        cq_parser_fail(p, arg->value->at, "a positional argument follows a keyword argument");
    if (arg->stars == 1 && stars_before == 2)
        cq_parser_fail(p, arg->value->at, "'*' follows '**' among the arguments");
    if (!alone && arg->value->kind == CQ_X_GENERATOR && !arg->name && !arg->stars &&
        !cq_parser_in_parentheses(p, arg->value))
        cq_parser_fail(p, arg->value->at,
                       "a generator needs parentheses if it is not the only argument");
    return p->status == CQ_OK;
}

bool cq_parse_args(cq_parser *p, cq_ast_arg **args, size_t *n)
{
    const size_t mark  = cq_parser_mark(p);
    unsigned     stars = 0;
    bool         named = false;
    void        *items;

    while (!cq_parser_at(p, CQ_TOKEN_RPAREN)) {
        cq_ast_arg arg;
        bool       alone;

        if (!parse_arg(p, &arg) || !cq_parser_push(p, arg))
            return false;
        alone = cq_parser_mark(p) - mark == sizeof arg && cq_parser_at(p, CQ_TOKEN_RPAREN);
        if (!check_arg(p, &arg, stars, named, alone))
            return false;
        stars = arg.stars > stars ? arg.stars : stars;
        named |= arg.name != NULL;
        if (!cq_parser_accept(p, CQ_TOKEN_COMMA))
            break;
    }
    if (!cq_parser_take(p, mark, sizeof(cq_ast_arg), &items, n))
        return false;
    *args = items;
    return true;
}

/* Finishes a call; function is parsed and the bracket taken. */
static cq_ast_expr *parse_call(cq_parser *p, cq_ast_expr *function)
{
    cq_ast_expr *x =
        cq_parser_expr(p, function->at.start,
                       (cq_ast_expr){ .kind = CQ_X_CALL, .u.call = { .function = function } });

    if (!x || !cq_parse_args(p, &x->u.call.args, &x->u.call.n))
        return NULL;
    x = cq_parser_over(p, x, function);
    for (size_t i = 0; x && i < x->u.call.n; i++)
        x = cq_parser_over(p, x, x->u.call.args[i].value);
    return cq_parse_close(p, x, CQ_TOKEN_RPAREN);
}

/* One part of a slice; NULL if it is missing, or wrong: then the parser has failed. */
static cq_ast_expr *parse_bound(cq_parser *p)
{
    return cq_parser_at(p, CQ_TOKEN_COLON) || cq_parse_ends_list(p) ||
                   cq_parser_at(p, CQ_TOKEN_COMMA)
               ? NULL
               : cq_parse_test(p);
}

static cq_ast_expr *parse_subscript(cq_parser *p)
{
    const uint32_t start     = cq_parser_peek(p, 0)->at.start;
    cq_ast_expr   *bounds[3] = { NULL }, *x;

    if (!cq_parser_at(p, CQ_TOKEN_COLON)) {
        bounds[0] = cq_parse_named_item(p);
        if (!bounds[0] || !cq_parser_at(p, CQ_TOKEN_COLON))
            return bounds[0];
        if (bounds[0]->kind == CQ_X_STARRED)
            return cq_parser_refuse(p);
    }
    for (int i = 1; i < 3 && cq_parser_accept(p, CQ_TOKEN_COLON); i++)
        bounds[i] = parse_bound(p);
    x = cq_parser_expr(
        p, start,
        (cq_ast_expr){ .kind = CQ_X_SLICE, .u.slice = { bounds[0], bounds[1], bounds[2] } });
    for (int i = 0; i < 3; i++)
        x = cq_parser_over(p, x, bounds[i]);
    return x;
}

static cq_ast_expr *parse_index(cq_parser *p, cq_ast_expr *object)
{
    cq_ast_expr *index = cq_parse_list_of(p, parse_subscript, true);
    cq_ast_expr *x     = cq_parser_expr(
            p, object->at.start, (cq_ast_expr){ .kind = CQ_X_INDEX, .u.index = { object, index } });

    return cq_parse_close(p, cq_parser_over(p, cq_parser_over(p, x, object), index),
                          CQ_TOKEN_RBRACKET);
}

static cq_ast_expr *parse_attr(cq_parser *p, cq_ast_expr *object)
{
    const char  *name = cq_parser_attr_name(p);
    cq_ast_expr *x    = cq_parser_expr(
           p, object->at.start,
           (cq_ast_expr){ .kind = CQ_X_ATTR, .u.attr = { .object = object, .name = name } });

    return cq_parser_over(p, x, object);
}

cq_ast_expr *cq_parse_postfix(cq_parser *p)
{
    cq_ast_expr *x = parse_atom(p);

    while (x) {
        if (cq_parser_accept(p, CQ_TOKEN_DOT)) {
            x = parse_attr(p, x);
            continue;
        }
        if (!cq_parser_at(p, CQ_TOKEN_LPAREN) && !cq_parser_at(p, CQ_TOKEN_LBRACKET))
            return x;
        if (!cq_parser_enter(p))
            return NULL;
        x = cq_parser_accept(p, CQ_TOKEN_LPAREN) ? parse_call(p, x)
                                                 : (p->next++, parse_index(p, x));
        cq_parser_leave(p);
    }
    return NULL;
}

/* ---- operators ---------------------------------------------------------------------------------
 */

cq_ast_expr *cq_parser_binary(cq_parser *p, cq_ast_expr_kind kind, cq_ast_op op, cq_ast_expr *left,
                              cq_ast_expr *right)
{
    cq_ast_expr *x = cq_parser_expr(p, left->at.start,
                                    (cq_ast_expr){ .kind = kind, .u.binary = { left, right, op } });

    return cq_parser_over(p, cq_parser_over(p, x, left), right);
}

static cq_ast_expr *make_unary(cq_parser *p, cq_ast_op op, cq_ast_expr *operand, uint32_t start)
{
    cq_ast_expr *x =
        cq_parser_expr(p, start, (cq_ast_expr){ .kind = CQ_X_UNARY, .u.unary = { operand, op } });

    return cq_parser_over(p, x, operand);
}

cq_ast_expr *cq_parse_deeper(cq_parser *p, cq_ast_expr *(*parse)(cq_parser *))
{
    cq_ast_expr *x;

    if (!cq_parser_enter(p))
        return NULL;
    p->next++;
    x = parse(p);
    cq_parser_leave(p);
    return x;
}

/* -x: the sign of a number is part of it. */
static cq_ast_expr *parse_negated(cq_parser *p, cq_ast_expr *x, uint32_t start)
{
    if (!x)
        return NULL;
    if (x->kind == CQ_X_INT && x->u.i != INT64_MIN)
        x->u.i = -x->u.i;
    else if (x->kind == CQ_X_FLOAT || x->kind == CQ_X_COMPLEX)
        x->u.f = -x->u.f;
    else
        return make_unary(p, CQ_AST_NEG, x, start);
    x->at.start = start;
    return x;
}

/* A node with one operand. */
static cq_ast_expr *make_over(cq_parser *p, cq_ast_expr_kind kind, cq_ast_expr *operand,
                              uint32_t start)
{
    cq_ast_expr *x = cq_parser_expr(p, start, (cq_ast_expr){ .kind = kind, .u.operand = operand });

    return cq_parser_over(p, x, operand);
}

static cq_ast_expr *parse_await(cq_parser *p)
{
    const uint32_t start = cq_parser_peek(p, 0)->at.start;

    if (!cq_parser_at(p, CQ_TOKEN_AWAIT))
        return cq_parse_postfix(p);
    return make_over(p, CQ_X_AWAIT, cq_parse_deeper(p, cq_parse_postfix), start);
}

static cq_ast_expr *parse_power(cq_parser *p)
{
    cq_ast_expr *x = parse_await(p), *exponent;

    if (!x || !cq_parser_at(p, CQ_TOKEN_POW))
        return x;
    exponent = cq_parse_deeper(p, cq_parse_unary);
    return cq_parser_binary(p, CQ_X_BINARY, CQ_AST_POW, x, exponent);
}

static const struct prefix {
    cq_token_kind token;
    cq_ast_op     op;
} prefixes[] = {
    { CQ_TOKEN_SUB, CQ_AST_NEG },
    { CQ_TOKEN_ADD, CQ_AST_POS },
    { CQ_TOKEN_BIT_NOT, CQ_AST_BIT_NOT },
};

/* The smallest integer is only a number together with its sign. */
static bool at_negative_number(const cq_parser *p)
{
    cq_token_kind behind = CQ_TOKEN_END;

    if (!cq_parser_at(p, CQ_TOKEN_SUB) || cq_parser_peek(p, 1)->kind != CQ_TOKEN_NUMBER)
        return false;
    behind = cq_parser_peek(p, 2)->kind;
    return behind != CQ_TOKEN_POW && behind != CQ_TOKEN_DOT && behind != CQ_TOKEN_LPAREN &&
           behind != CQ_TOKEN_LBRACKET;
}

static cq_ast_expr *parse_prefixed(cq_parser *p, cq_ast_op op)
{
    const uint32_t start = cq_parser_peek(p, 0)->at.start;
    cq_ast_expr   *x     = cq_parse_deeper(p, cq_parse_unary);

    return op == CQ_AST_NEG ? parse_negated(p, x, start) : make_unary(p, op, x, start);
}

cq_ast_expr *cq_parse_unary(cq_parser *p)
{
    if (at_negative_number(p)) {
        p->next++;
        return cq_parse_number(p, true);
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (cq_parser_at(p, prefixes[i].token))
            return parse_prefixed(p, prefixes[i].op);
    return parse_power(p);
}

/* All of these lean to the left. */
static const struct infix {
    cq_token_kind token;
    cq_ast_op     op;
    int           level;
} infixes[] = {
    { CQ_TOKEN_BIT_OR, CQ_AST_BIT_OR, 0 },
    { CQ_TOKEN_BIT_XOR, CQ_AST_BIT_XOR, 1 },
    { CQ_TOKEN_BIT_AND, CQ_AST_BIT_AND, 2 },
    { CQ_TOKEN_SHIFT_LEFT, CQ_AST_SHIFT_LEFT, 3 },
    { CQ_TOKEN_SHIFT_RIGHT, CQ_AST_SHIFT_RIGHT, 3 },
    { CQ_TOKEN_ADD, CQ_AST_ADD, 4 },
    { CQ_TOKEN_SUB, CQ_AST_SUB, 4 },
    { CQ_TOKEN_MUL, CQ_AST_MUL, 5 },
    { CQ_TOKEN_DIV, CQ_AST_DIV, 5 },
    { CQ_TOKEN_FLOOR_DIV, CQ_AST_FLOOR_DIV, 5 },
    { CQ_TOKEN_MOD, CQ_AST_MOD, 5 },
    { CQ_TOKEN_AT, CQ_AST_MATMUL, 5 },
};

static const struct infix *find_infix(const cq_parser *p, int least)
{
    for (size_t i = 0; i < sizeof infixes / sizeof *infixes; i++)
        if (infixes[i].level >= least && cq_parser_at(p, infixes[i].token))
            return &infixes[i];
    return NULL;
}

cq_ast_expr *cq_parse_binary(cq_parser *p, int least)
{
    cq_ast_expr        *x = cq_parse_unary(p);
    const struct infix *infix;

    while (x && (infix = find_infix(p, least))) {
        p->next++;
        x = cq_parser_binary(p, CQ_X_BINARY, infix->op, x, cq_parse_binary(p, infix->level + 1));
    }
    return x;
}

static const struct comparison {
    cq_token_kind first, second; /* second may be END if there is none */
    cq_ast_op     op;
} comparisons[] = {
    { CQ_TOKEN_EQ, CQ_TOKEN_END, CQ_AST_EQ },     { CQ_TOKEN_NE, CQ_TOKEN_END, CQ_AST_NE },
    { CQ_TOKEN_LT, CQ_TOKEN_END, CQ_AST_LT },     { CQ_TOKEN_LE, CQ_TOKEN_END, CQ_AST_LE },
    { CQ_TOKEN_GT, CQ_TOKEN_END, CQ_AST_GT },     { CQ_TOKEN_GE, CQ_TOKEN_END, CQ_AST_GE },
    { CQ_TOKEN_IS, CQ_TOKEN_NOT, CQ_AST_IS_NOT }, { CQ_TOKEN_IS, CQ_TOKEN_END, CQ_AST_IS },
    { CQ_TOKEN_NOT, CQ_TOKEN_IN, CQ_AST_NOT_IN }, { CQ_TOKEN_IN, CQ_TOKEN_END, CQ_AST_IN },
};

static bool accept_comparison(cq_parser *p, cq_ast_op *op)
{
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
        const struct comparison *c   = &comparisons[i];
        const bool               two = c->second != CQ_TOKEN_END;

        if (!cq_parser_at(p, c->first) || (two && cq_parser_peek(p, 1)->kind != c->second))
            continue;
        p->next += two ? 2 : 1;
        *op = c->op;
        return true;
    }
    return false;
}

/* a < b < c: the parts are on the stack as pairs of an operator and its right side. */
static cq_ast_expr *parse_comparison(cq_parser *p)
{
    struct part {
        cq_ast_op    op;
        cq_ast_expr *right;
    } part, *parts;
    const size_t mark = cq_parser_mark(p);
    cq_ast_expr *left = cq_parse_binary(p, 0), *x;
    void        *items;
    size_t       n;

    while (left && accept_comparison(p, &part.op)) {
        part.right = cq_parse_binary(p, 0);
        if (!part.right || !cq_parser_push(p, part))
            return NULL;
    }
    if (!left || cq_parser_mark(p) == mark)
        return left;
    x = cq_parser_expr(p, left->at.start, (cq_ast_expr){ .kind = CQ_X_COMPARE });
    if (!x || !cq_parser_take(p, mark, sizeof part, &items, &n))
        return NULL;
    parts              = items;
    x->u.compare.n     = n;
    x->u.compare.items = cq_parser_new(p, (n + 1) * sizeof left);
    x->u.compare.ops   = cq_parser_new(p, n * sizeof part.op);
    if (!x->u.compare.items || !x->u.compare.ops)
        return NULL;
    x->u.compare.items[0] = left;
    x                     = cq_parser_over(p, x, left);
    for (size_t i = 0; x && i < n; i++) {
        x->u.compare.ops[i]       = parts[i].op;
        x->u.compare.items[i + 1] = parts[i].right;
        x                         = cq_parser_over(p, x, parts[i].right);
    }
    return x;
}

static cq_ast_expr *parse_not(cq_parser *p)
{
    const uint32_t start = cq_parser_peek(p, 0)->at.start;

    if (!cq_parser_at(p, CQ_TOKEN_NOT))
        return parse_comparison(p);
    return make_unary(p, CQ_AST_NOT, cq_parse_deeper(p, parse_not), start);
}

static cq_ast_expr *parse_and(cq_parser *p)
{
    cq_ast_expr *x = parse_not(p);

    while (x && cq_parser_accept(p, CQ_TOKEN_AND))
        x = cq_parser_binary(p, CQ_X_AND, 0, x, parse_not(p));
    return x;
}

cq_ast_expr *cq_parse_or(cq_parser *p)
{
    cq_ast_expr *x = parse_and(p);

    while (x && cq_parser_accept(p, CQ_TOKEN_OR))
        x = cq_parser_binary(p, CQ_X_OR, 0, x, parse_and(p));
    return x;
}

/* ---- conditions, names, yield ------------------------------------------------------------------
 */

cq_ast_expr *cq_parse_test(cq_parser *p)
{
    cq_ast_expr *then, *test, *other, *x;

    if (cq_parser_at(p, CQ_TOKEN_LAMBDA))
        return cq_parse_lambda(p);
    then = cq_parse_or(p);
    if (!then || !cq_parser_accept(p, CQ_TOKEN_IF))
        return then;
    test = cq_parse_or(p);
    if (!test || !cq_parser_at(p, CQ_TOKEN_ELSE))
        return test ? (cq_parser_expect(p, CQ_TOKEN_ELSE), NULL) : NULL;
    other = cq_parse_deeper(p, cq_parse_test);
    x     = cq_parser_expr(p, then->at.start,
                           (cq_ast_expr){ .kind = CQ_X_IF_ELSE, .u.choice = { test, then, other } });
    return cq_parser_over(p, cq_parser_over(p, cq_parser_over(p, x, then), test), other);
}

/* An expression in parentheses begins at its parenthesis. */
bool cq_parser_in_parentheses(const cq_parser *p, const cq_ast_expr *x)
{
    return p->unit->source.text[x->at.start] == '(';
}

cq_ast_expr *cq_parse_named(cq_parser *p)
{
    cq_ast_expr *target = cq_parse_test(p), *value, *x;

    if (!target || !cq_parser_at(p, CQ_TOKEN_WALRUS))
        return target;
    if (target->kind != CQ_X_NAME || cq_parser_in_parentheses(p, target))
        return cq_parser_fail(p, target->at, "only a name can be assigned to by ':='");
    value = cq_parse_deeper(p, cq_parse_test);
    x     = cq_parser_expr(p, target->at.start,
                           (cq_ast_expr){ .kind = CQ_X_NAMED, .u.named = { target, value } });
    return cq_parser_over(p, cq_parser_over(p, x, target), value);
}

cq_ast_expr *cq_parse_yield(cq_parser *p)
{
    const uint32_t start = cq_parser_peek(p, 0)->at.start;

    if (!p->n_functions)
        return cq_parser_fail(p, cq_parser_peek(p, 0)->at, "'yield' outside of a function");
    p->yields = true;
    if (cq_parser_peek(p, 1)->kind == CQ_TOKEN_FROM) {
        p->next++;
        return make_over(p, CQ_X_YIELD_FROM, cq_parse_deeper(p, cq_parse_test), start);
    }
    p->next++;
    if (cq_parse_ends_list(p) || cq_parser_at(p, CQ_TOKEN_COLON))
        return make_over(p, CQ_X_YIELD, NULL, start);
    p->next--;
    return make_over(p, CQ_X_YIELD, cq_parse_deeper(p, cq_parse_tests), start);
}

cq_ast_expr *cq_parse_value(cq_parser *p)
{
    return cq_parser_at(p, CQ_TOKEN_YIELD) ? cq_parse_yield(p) : cq_parse_tests(p);
}
