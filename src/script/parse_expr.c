/* Expressions: precedence climbing over one table. Types are expressions, too. */
#include "script/parser.h"

#include <string.h>

static cq_ast_expr *parse_unary(cq_parser *p);
static cq_ast_expr *parse_binary(cq_parser *p, int least);
static cq_ast_expr *parse_or(cq_parser *p);

/* ---- targets ----------------------------------------------------------------------------- */

bool cq_parse_check_target(cq_parser *p, const cq_ast_expr *x)
{
    size_t n_starred = 0;

    switch (x->kind) {
    case CQ_X_NAME:
    case CQ_X_ATTR:
    case CQ_X_INDEX: return true;
    case CQ_X_STARRED: return cq_parse_check_target(p, x->u.starred);
    case CQ_X_LIST:
    case CQ_X_TUPLE:
        for (size_t i = 0; i < x->u.items.n; i++) {
            n_starred += x->u.items.items[i]->kind == CQ_X_STARRED;
            if (!cq_parse_check_target(p, x->u.items.items[i]))
                return false;
        }
        if (n_starred > 1)
            cq_parser_fail(p, x->at, "more than one starred name among the targets");
        return n_starred <= 1;
    default: cq_parser_fail(p, x->at, "nothing can be assigned to this"); return false;
    }
}

/* ---- atoms -------------------------------------------------------------------------------- */

static cq_ast_expr *parse_starred_or(cq_parser *p, cq_ast_expr *(*parse)(cq_parser *))
{
    uint32_t     start = cq_parser_peek(p, 0)->at.start;
    cq_ast_expr *x, *inner;

    if (!cq_parser_accept(p, CQ_TOKEN_MUL))
        return parse(p);
    inner = parse_binary(p, 0);
    x     = inner ? cq_parser_expr(p, CQ_X_STARRED, start) : NULL;
    if (!x)
        return NULL;
    x->u.starred = inner;
    return cq_parser_over(p, x, inner);
}

static cq_ast_expr *parse_item(cq_parser *p)
{
    return parse_starred_or(p, cq_parse_test);
}

/* Whether the list of expressions ends here, behind a comma. */
static bool ends_list(const cq_parser *p)
{
    switch (cq_parser_peek(p, 0)->kind) {
    case CQ_TOKEN_END:
    case CQ_TOKEN_NEWLINE:
    case CQ_TOKEN_SEMICOLON:
    case CQ_TOKEN_ASSIGN:
    case CQ_TOKEN_IN:
    case CQ_TOKEN_RPAREN:
    case CQ_TOKEN_RBRACKET:
    case CQ_TOKEN_RBRACE: return true;
    default: return false;
    }
}

/* Finishes a LIST or TUPLE of what was pushed above mark. */
static cq_ast_expr *make_items(cq_parser *p, cq_ast_expr_kind kind, uint32_t start, size_t mark)
{
    cq_ast_expr *x = cq_parser_expr(p, kind, start);

    if (!x || !cq_parser_take_exprs(p, mark, &x->u.items))
        return NULL;
    for (size_t i = 0; x && i < x->u.items.n; i++)
        x = cq_parser_over(p, x, x->u.items.items[i]);
    return x;
}

/* item, item, …: one alone is itself, unless a comma follows. A colon ends the list where
 * blocks begin, but not between slices. */
static cq_ast_expr *parse_list_of(cq_parser *p, cq_ast_expr *(*parse)(cq_parser *), bool of_slices)
{
    const uint32_t start = cq_parser_peek(p, 0)->at.start;
    const size_t   mark  = cq_parser_mark(p);
    cq_ast_expr   *x     = parse(p);

    if (!x || !cq_parser_at(p, CQ_TOKEN_COMMA))
        return x;
    if (!cq_parser_push(p, x))
        return NULL;
    while (cq_parser_accept(p, CQ_TOKEN_COMMA) && !ends_list(p)) {
        if (cq_parser_at(p, CQ_TOKEN_COLON) && !of_slices)
            break;
        x = parse(p);
        if (!x || !cq_parser_push(p, x))
            return NULL;
    }
    return make_items(p, CQ_X_TUPLE, start, mark);
}

cq_ast_expr *cq_parse_tests(cq_parser *p)
{
    return parse_list_of(p, parse_item, false);
}

static cq_ast_expr *parse_target(cq_parser *p)
{
    return parse_binary(p, 0);
}

static cq_ast_expr *parse_target_item(cq_parser *p)
{
    return parse_starred_or(p, parse_target);
}

cq_ast_expr *cq_parse_targets(cq_parser *p)
{
    cq_ast_expr *x = parse_list_of(p, parse_target_item, false);

    return x && cq_parse_check_target(p, x) ? x : NULL;
}

/* ---- comprehensions ------------------------------------------------------------------------ */

static bool parse_loop(cq_parser *p, cq_ast_for *loop)
{
    size_t mark;

    *loop = (cq_ast_for){ .target = cq_parse_targets(p) };
    if (!loop->target || !cq_parser_expect(p, CQ_TOKEN_IN))
        return false;
    loop->iter = parse_or(p);
    mark       = cq_parser_mark(p);
    while (loop->iter && cq_parser_accept(p, CQ_TOKEN_IF)) {
        cq_ast_expr *test = parse_or(p);

        if (!test || !cq_parser_push(p, test))
            return false;
    }
    return loop->iter && cq_parser_take_exprs(p, mark, &loop->tests);
}

static cq_ast_expr *over_loops(cq_parser *p, cq_ast_expr *x)
{
    for (size_t i = 0; x && i < x->u.comp.n; i++) {
        const cq_ast_for *loop = &x->u.comp.loops[i];

        x = cq_parser_over(p, x, loop->target);
        x = cq_parser_over(p, x, loop->iter);
        for (size_t k = 0; x && k < loop->tests.n; k++)
            x = cq_parser_over(p, x, loop->tests.items[k]);
    }
    return x;
}

/* value or key: value is parsed; what follows are the loops. closer is not taken. */
static cq_ast_expr *parse_comp(cq_parser *p, cq_ast_expr *key, cq_ast_expr *value, uint32_t start)
{
    const size_t mark = cq_parser_mark(p);
    cq_ast_expr *x    = cq_parser_expr(p, key ? CQ_X_DICT_COMP : CQ_X_LIST_COMP, start);
    void        *loops;

    while (x && cq_parser_accept(p, CQ_TOKEN_FOR)) {
        cq_ast_for loop;

        if (!parse_loop(p, &loop) || !cq_parser_push(p, loop))
            return NULL;
    }
    if (!x || !cq_parser_take(p, mark, sizeof *x->u.comp.loops, &loops, &x->u.comp.n))
        return NULL;
    x->u.comp.loops = loops;
    x->u.comp.key   = key;
    x->u.comp.value = value;
    if (key)
        x = cq_parser_over(p, x, key);
    return over_loops(p, cq_parser_over(p, x, value));
}

/* ---- displays: ( ) [ ] { } ------------------------------------------------------------------ */

static cq_ast_expr *close_at(cq_parser *p, cq_ast_expr *x, cq_token_kind closer)
{
    if (!x || !cq_parser_expect(p, closer))
        return NULL;
    x->at.end = cq_parser_end(p);
    return x;
}

/* Parentheses around one expression leave no trace. */
static cq_ast_expr *parse_parentheses(cq_parser *p, uint32_t start)
{
    cq_ast_expr *x;

    if (cq_parser_at(p, CQ_TOKEN_RPAREN))
        return close_at(p, make_items(p, CQ_X_TUPLE, start, cq_parser_mark(p)), CQ_TOKEN_RPAREN);
    x = cq_parse_tests(p);
    if (x && cq_parser_at(p, CQ_TOKEN_FOR))
        x = parse_comp(p, NULL, x, start);
    if (!x)
        return NULL;
    x->at.start = start;
    return close_at(p, x, CQ_TOKEN_RPAREN);
}

static cq_ast_expr *parse_brackets(cq_parser *p, uint32_t start)
{
    const size_t mark = cq_parser_mark(p);

    while (!cq_parser_at(p, CQ_TOKEN_RBRACKET)) {
        cq_ast_expr *x = parse_item(p);

        if (x && cq_parser_at(p, CQ_TOKEN_FOR) && cq_parser_mark(p) == mark)
            return close_at(p, parse_comp(p, NULL, x, start), CQ_TOKEN_RBRACKET);
        if (!x || !cq_parser_push(p, x))
            return NULL;
        if (!cq_parser_accept(p, CQ_TOKEN_COMMA))
            break;
    }
    return close_at(p, make_items(p, CQ_X_LIST, start, mark), CQ_TOKEN_RBRACKET);
}

/* key: value, or **value with a NULL key. */
static bool parse_pair(cq_parser *p, cq_ast_expr *pair[2])
{
    pair[0] = pair[1] = NULL;
    if (cq_parser_accept(p, CQ_TOKEN_POW)) {
        pair[1] = parse_binary(p, 0);
        return pair[1] != NULL;
    }
    pair[0] = cq_parse_test(p);
    if (!pair[0])
        return false;
    if (cq_parser_at(p, CQ_TOKEN_COMMA) || cq_parser_at(p, CQ_TOKEN_RBRACE) ||
        cq_parser_at(p, CQ_TOKEN_FOR))
        return cq_parser_fail(p, pair[0]->at, "TorchScript has no sets") != NULL;
    if (!cq_parser_expect(p, CQ_TOKEN_COLON))
        return false;
    pair[1] = cq_parse_test(p);
    return pair[1] != NULL;
}

/* Pairs lie one after the other; keys and values go into arrays of their own. */
static cq_ast_expr *make_dict(cq_parser *p, uint32_t start, size_t mark)
{
    cq_ast_expr  *x = cq_parser_expr(p, CQ_X_DICT, start);
    cq_ast_exprs  pairs;
    cq_ast_expr **sorted;
    size_t        n;

    if (!x || !cq_parser_take_exprs(p, mark, &pairs))
        return NULL;
    n      = pairs.n / 2;
    sorted = cq_parser_new(p, (pairs.n + 1) * sizeof *sorted);
    if (!sorted)
        return NULL;
    x->u.dict.keys   = sorted;
    x->u.dict.values = sorted + n;
    x->u.dict.n      = n;
    for (size_t i = 0; x && i < n; i++) {
        sorted[i]     = pairs.items[2 * i];
        sorted[n + i] = pairs.items[2 * i + 1];
        if (sorted[i])
            x = cq_parser_over(p, x, sorted[i]);
        if (x)
            x = cq_parser_over(p, x, sorted[n + i]);
    }
    return x;
}

static cq_ast_expr *parse_braces(cq_parser *p, uint32_t start)
{
    const size_t mark = cq_parser_mark(p);

    while (!cq_parser_at(p, CQ_TOKEN_RBRACE)) {
        cq_ast_expr *pair[2];

        if (!parse_pair(p, pair))
            return NULL;
        if (pair[0] && cq_parser_at(p, CQ_TOKEN_FOR) && cq_parser_mark(p) == mark)
            return close_at(p, parse_comp(p, pair[0], pair[1], start), CQ_TOKEN_RBRACE);
        if (!cq_parser_push(p, pair))
            return NULL;
        if (!cq_parser_accept(p, CQ_TOKEN_COMMA))
            break;
    }
    return close_at(p, make_dict(p, start, mark), CQ_TOKEN_RBRACE);
}

static cq_ast_expr *parse_name(cq_parser *p)
{
    const uint32_t start = cq_parser_peek(p, 0)->at.start;
    const char    *name  = cq_parser_name(p);
    cq_ast_expr   *x     = name ? cq_parser_expr(p, CQ_X_NAME, start) : NULL;

    if (x)
        x->u.name = name;
    return x;
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
            return cq_parser_expr(p, constants[i].kind, t->at.start);
        }
    }
    switch (t->kind) {
    case CQ_TOKEN_NAME: return parse_name(p);
    case CQ_TOKEN_NUMBER: return cq_parse_number(p, false);
    case CQ_TOKEN_STRING: return cq_parse_strings(p);
    case CQ_TOKEN_LPAREN: return parse_bracketed(p, parse_parentheses);
    case CQ_TOKEN_LBRACKET: return parse_bracketed(p, parse_brackets);
    case CQ_TOKEN_LBRACE: return parse_bracketed(p, parse_braces);
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
    arg->value = cq_parse_test(p);
    if (arg->value && !arg->name && !arg->stars && cq_parser_at(p, CQ_TOKEN_FOR))
        arg->value = parse_comp(p, NULL, arg->value, start);
    return arg->value && p->status == CQ_OK;
}

/* Finishes a call; function is parsed and the bracket taken. */
static cq_ast_expr *parse_call(cq_parser *p, cq_ast_expr *function)
{
    const size_t mark = cq_parser_mark(p);
    cq_ast_expr *x;
    void        *args;

    while (!cq_parser_at(p, CQ_TOKEN_RPAREN)) {
        cq_ast_arg arg;

        if (!parse_arg(p, &arg) || !cq_parser_push(p, arg))
            return NULL;
        if (!cq_parser_accept(p, CQ_TOKEN_COMMA))
            break;
    }
    x = cq_parser_expr(p, CQ_X_CALL, function->at.start);
    if (!x || !cq_parser_take(p, mark, sizeof(cq_ast_arg), &args, &x->u.call.n))
        return NULL;
    x->u.call.function = function;
    x->u.call.args     = args;
    x                  = cq_parser_over(p, x, function);
    for (size_t i = 0; x && i < x->u.call.n; i++)
        x = cq_parser_over(p, x, x->u.call.args[i].value);
    return close_at(p, x, CQ_TOKEN_RPAREN);
}

/* One part of a slice; NULL if it is missing, or wrong: then the parser has failed. */
static cq_ast_expr *parse_bound(cq_parser *p)
{
    return cq_parser_at(p, CQ_TOKEN_COLON) || ends_list(p) || cq_parser_at(p, CQ_TOKEN_COMMA)
               ? NULL
               : cq_parse_test(p);
}

static cq_ast_expr *parse_subscript(cq_parser *p)
{
    const uint32_t start     = cq_parser_peek(p, 0)->at.start;
    cq_ast_expr   *bounds[3] = { NULL }, *x;

    if (!cq_parser_at(p, CQ_TOKEN_COLON)) {
        bounds[0] = parse_item(p);
        if (!bounds[0] || !cq_parser_at(p, CQ_TOKEN_COLON))
            return bounds[0];
    }
    for (int i = 1; i < 3 && cq_parser_accept(p, CQ_TOKEN_COLON); i++)
        bounds[i] = parse_bound(p);
    x = cq_parser_expr(p, CQ_X_SLICE, start);
    if (!x)
        return NULL;
    x->u.slice.start = bounds[0];
    x->u.slice.stop  = bounds[1];
    x->u.slice.step  = bounds[2];
    for (int i = 0; i < 3; i++)
        if (x && bounds[i])
            x = cq_parser_over(p, x, bounds[i]);
    return x;
}

static cq_ast_expr *parse_index(cq_parser *p, cq_ast_expr *object)
{
    cq_ast_expr *index = parse_list_of(p, parse_subscript, true);
    cq_ast_expr *x     = index ? cq_parser_expr(p, CQ_X_INDEX, object->at.start) : NULL;

    if (!x)
        return NULL;
    x->u.index.object = object;
    x->u.index.index  = index;
    return close_at(p, cq_parser_over(p, cq_parser_over(p, x, object), index), CQ_TOKEN_RBRACKET);
}

static cq_ast_expr *parse_attr(cq_parser *p, cq_ast_expr *object)
{
    const char  *name = cq_parser_attr_name(p);
    cq_ast_expr *x    = name ? cq_parser_expr(p, CQ_X_ATTR, object->at.start) : NULL;

    if (!x)
        return NULL;
    x->u.attr.object = object;
    x->u.attr.name   = name;
    return cq_parser_over(p, x, object);
}

static cq_ast_expr *parse_postfix(cq_parser *p)
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

static cq_ast_expr *make_binary(cq_parser *p, cq_ast_expr_kind kind, cq_ast_op op,
                                cq_ast_expr *left, cq_ast_expr *right)
{
    cq_ast_expr *x = right ? cq_parser_expr(p, kind, left->at.start) : NULL;

    if (!x)
        return NULL;
    x->u.binary.left  = left;
    x->u.binary.right = right;
    x->u.binary.op    = op;
    return cq_parser_over(p, cq_parser_over(p, x, left), right);
}

static cq_ast_expr *make_unary(cq_parser *p, cq_ast_op op, cq_ast_expr *operand, uint32_t start)
{
    cq_ast_expr *x = operand ? cq_parser_expr(p, CQ_X_UNARY, start) : NULL;

    if (!x)
        return NULL;
    x->u.unary.operand = operand;
    x->u.unary.op      = op;
    return cq_parser_over(p, x, operand);
}

/* What follows the token that is looked at, one level deeper. */
static cq_ast_expr *parse_deeper(cq_parser *p, cq_ast_expr *(*parse)(cq_parser *))
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

static cq_ast_expr *parse_power(cq_parser *p)
{
    cq_ast_expr *x = parse_postfix(p), *exponent;

    if (!x || !cq_parser_at(p, CQ_TOKEN_POW))
        return x;
    exponent = parse_deeper(p, parse_unary);
    return make_binary(p, CQ_X_BINARY, CQ_AST_POW, x, exponent);
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
    cq_ast_expr   *x     = parse_deeper(p, parse_unary);

    return op == CQ_AST_NEG ? parse_negated(p, x, start) : make_unary(p, op, x, start);
}

static cq_ast_expr *parse_unary(cq_parser *p)
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

static cq_ast_expr *parse_binary(cq_parser *p, int least)
{
    cq_ast_expr        *x = parse_unary(p);
    const struct infix *infix;

    while (x && (infix = find_infix(p, least))) {
        p->next++;
        x = make_binary(p, CQ_X_BINARY, infix->op, x, parse_binary(p, infix->level + 1));
    }
    return x;
}

static const struct comparison {
    cq_token_kind first, second; /* second may be END: none */
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

/* a < b < c: the parts lie on the stack as pairs of an operator and its right side. */
static cq_ast_expr *parse_comparison(cq_parser *p)
{
    struct part {
        cq_ast_op    op;
        cq_ast_expr *right;
    } part, *parts;
    const size_t mark = cq_parser_mark(p);
    cq_ast_expr *left = parse_binary(p, 0), *x;
    void        *items;
    size_t       n;

    while (left && accept_comparison(p, &part.op)) {
        part.right = parse_binary(p, 0);
        if (!part.right || !cq_parser_push(p, part))
            return NULL;
    }
    if (!left || cq_parser_mark(p) == mark)
        return left;
    x = cq_parser_expr(p, CQ_X_COMPARE, left->at.start);
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
    return make_unary(p, CQ_AST_NOT, parse_deeper(p, parse_not), start);
}

static cq_ast_expr *parse_and(cq_parser *p)
{
    cq_ast_expr *x = parse_not(p);

    while (x && cq_parser_accept(p, CQ_TOKEN_AND))
        x = make_binary(p, CQ_X_AND, 0, x, parse_not(p));
    return x;
}

static cq_ast_expr *parse_or(cq_parser *p)
{
    cq_ast_expr *x = parse_and(p);

    while (x && cq_parser_accept(p, CQ_TOKEN_OR))
        x = make_binary(p, CQ_X_OR, 0, x, parse_and(p));
    return x;
}

cq_ast_expr *cq_parse_test(cq_parser *p)
{
    cq_ast_expr *then = parse_or(p), *test, *other, *x;

    if (!then || !cq_parser_accept(p, CQ_TOKEN_IF))
        return then;
    test = parse_or(p);
    if (!test || !cq_parser_at(p, CQ_TOKEN_ELSE))
        return test ? (cq_parser_expect(p, CQ_TOKEN_ELSE), NULL) : NULL;
    other = parse_deeper(p, cq_parse_test);
    x     = other ? cq_parser_expr(p, CQ_X_IF_ELSE, then->at.start) : NULL;
    if (!x)
        return NULL;
    x->u.choice.test  = test;
    x->u.choice.then  = then;
    x->u.choice.other = other;
    return cq_parser_over(p, cq_parser_over(p, cq_parser_over(p, x, then), test), other);
}
