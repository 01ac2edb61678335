/* Expressions that are lists of others: targets of assignments, tuples without parentheses, and
 * displays in brackets: tuples, lists, sets, dicts, comprehensions. parse_expr.c parses their
 * items. */
#include "lang/parser.h"

/* ---- targets ----------------------------------------------------------------------------- */

bool cq_parse_check_target(cq_parser *p, const cq_ast_expr *x)
{
    size_t n_starred = 0;

    switch (x->kind) {
    case CQ_X_NAME:
    case CQ_X_ATTR:
    case CQ_X_INDEX: return true;
    case CQ_X_LIST:
    case CQ_X_TUPLE:
        for (size_t i = 0; i < x->u.items.n; i++) {
            const cq_ast_expr *item    = x->u.items.items[i];
            const bool         starred = item->kind == CQ_X_STARRED;

            n_starred += starred;
            if (!cq_parse_check_target(p, starred ? item->u.operand : item))
                return false;
        }
        if (n_starred > 1)
            cq_parser_fail(p, x->at, "more than one starred name among the targets");
        return n_starred <= 1;
    case CQ_X_STARRED:
        cq_parser_fail(p, x->at, "a starred target needs a list or tuple around it");
        return false;
    default: cq_parser_fail(p, x->at, "nothing can be assigned to this"); return false;
    }
}

/* ---- one after the other --------------------------------------------------------------------- */

static cq_ast_expr *parse_starred_or(cq_parser *p, cq_ast_expr *(*parse)(cq_parser *))
{
    uint32_t     start = cq_parser_peek(p, 0)->at.start;
    cq_ast_expr *x, *inner;

    if (!cq_parser_accept(p, CQ_TOKEN_MUL))
        return parse(p);
    inner = cq_parse_binary(p, 0);
    x     = cq_parser_expr(p, start, (cq_ast_expr){ .kind = CQ_X_STARRED, .u.operand = inner });
    return cq_parser_over(p, x, inner);
}

cq_ast_expr *cq_parse_item(cq_parser *p)
{
    return parse_starred_or(p, cq_parse_test);
}

cq_ast_expr *cq_parse_named_item(cq_parser *p)
{
    return parse_starred_or(p, cq_parse_named);
}

/* Whether the list of expressions ends here, after a comma. */
bool cq_parse_ends_list(const cq_parser *p)
{
    switch (cq_parser_peek(p, 0)->kind) {
    case CQ_TOKEN_END:
    case CQ_TOKEN_NEWLINE:
    case CQ_TOKEN_SEMICOLON:
    case CQ_TOKEN_ASSIGN:
    case CQ_TOKEN_IN:
    case CQ_TOKEN_EXCLAMATION:
    case CQ_TOKEN_RPAREN:
    case CQ_TOKEN_RBRACKET:
    case CQ_TOKEN_RBRACE: return true;
    default: return false;
    }
}

/* Builds a LIST, TUPLE or SET of the items above mark. */
static cq_ast_expr *make_items(cq_parser *p, cq_ast_expr_kind kind, uint32_t start, size_t mark)
{
    cq_ast_expr *x = cq_parser_expr(p, start, (cq_ast_expr){ .kind = kind });

    if (!x || !cq_parser_take_exprs(p, mark, &x->u.items))
        return NULL;
    for (size_t i = 0; x && i < x->u.items.n; i++)
        x = cq_parser_over(p, x, x->u.items.items[i]);
    return x;
}

/* The tuple that x begins, if a comma follows it. A colon ends the list where blocks begin, but not
 * between slices. */
static cq_ast_expr *parse_rest(cq_parser *p, cq_ast_expr *x, uint32_t start,
                               cq_ast_expr *(*parse)(cq_parser *), bool of_slices)
{
    const size_t mark = cq_parser_mark(p);

    if (!x || !cq_parser_at(p, CQ_TOKEN_COMMA))
        return x;
    if (!cq_parser_push(p, x))
        return NULL;
    while (cq_parser_accept(p, CQ_TOKEN_COMMA) && !cq_parse_ends_list(p)) {
        if (cq_parser_at(p, CQ_TOKEN_COLON) && !of_slices)
            break;
        x = parse(p);
        if (!x || !cq_parser_push(p, x))
            return NULL;
    }
    return make_items(p, CQ_X_TUPLE, start, mark);
}

cq_ast_expr *cq_parse_list_of(cq_parser *p, cq_ast_expr *(*parse)(cq_parser *), bool of_slices)
{
    const uint32_t start = cq_parser_peek(p, 0)->at.start;

    return parse_rest(p, parse(p), start, parse, of_slices);
}

cq_ast_expr *cq_parse_tests(cq_parser *p)
{
    cq_ast_expr *x = cq_parse_list_of(p, cq_parse_item, false);

    if (x && x->kind == CQ_X_STARRED)
        return cq_parser_fail(p, x->at, "a starred expression cannot stand alone");
    return x;
}

static cq_ast_expr *parse_target(cq_parser *p)
{
    return cq_parse_binary(p, 0);
}

static cq_ast_expr *parse_target_item(cq_parser *p)
{
    return parse_starred_or(p, parse_target);
}

cq_ast_expr *cq_parse_targets(cq_parser *p)
{
    cq_ast_expr *x = cq_parse_list_of(p, parse_target_item, false);

    return x && cq_parse_check_target(p, x) ? x : NULL;
}

/* ---- comprehensions ------------------------------------------------------------------------ */

static bool parse_loop(cq_parser *p, cq_ast_for *loop)
{
    size_t mark;

    *loop = (cq_ast_for){ .target = cq_parse_targets(p) };
    if (!loop->target || !cq_parser_expect(p, CQ_TOKEN_IN))
        return false;
    loop->iter = cq_parse_or(p);
    mark       = cq_parser_mark(p);
    while (loop->iter && cq_parser_accept(p, CQ_TOKEN_IF)) {
        cq_ast_expr *test = cq_parse_or(p);

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

bool cq_parse_at_comp(const cq_parser *p)
{
    return cq_parser_at(p, CQ_TOKEN_FOR) ||
           (cq_parser_at(p, CQ_TOKEN_ASYNC) && cq_parser_peek(p, 1)->kind == CQ_TOKEN_FOR);
}

cq_ast_expr *cq_parse_comp(cq_parser *p, cq_ast_expr_kind kind, cq_ast_expr *key,
                           cq_ast_expr *value, uint32_t start)
{
    const uint32_t nesting = p->nesting;
    const size_t   mark    = cq_parser_mark(p);
    cq_ast_expr   *x       = cq_parser_expr(
                p, start, (cq_ast_expr){ .kind = kind, .u.comp = { .key = key, .value = value } });
    void *loops;

    if (value->kind == CQ_X_STARRED)
        return cq_parser_fail(p, value->at, "a comprehension cannot unpack its values");
    while (x && cq_parse_at_comp(p)) {
        const bool is_async = cq_parser_accept(p, CQ_TOKEN_ASYNC);
        cq_ast_for loop;

        p->next++;                                        /* for */
        if (!cq_parser_enter(p) || !parse_loop(p, &loop)) /* inside of the loop before */
            return NULL;
        loop.is_async = is_async;
        if (!cq_parser_push(p, loop))
            return NULL;
    }
    if (!x || !cq_parser_take(p, mark, sizeof *x->u.comp.loops, &loops, &x->u.comp.n))
        return NULL;
    p->nesting      = nesting;
    x->u.comp.loops = loops;
    x->at.end       = cq_parser_end(p);
    return over_loops(p, cq_parser_over(p, cq_parser_over(p, x, key), value));
}

/* ---- displays: ( ) [ ] { } ------------------------------------------------------------------ */

cq_ast_expr *cq_parse_close(cq_parser *p, cq_ast_expr *x, cq_token_kind closer)
{
    if (!x || !cq_parser_expect(p, closer))
        return NULL;
    x->at.end = cq_parser_end(p);
    return x;
}

/* Parentheses around one expression leave no trace but where it begins. */
cq_ast_expr *cq_parse_parentheses(cq_parser *p, uint32_t start)
{
    const uint32_t first = cq_parser_peek(p, 0)->at.start;
    cq_ast_expr   *x;

    if (cq_parser_at(p, CQ_TOKEN_RPAREN))
        return cq_parse_close(p, make_items(p, CQ_X_TUPLE, start, cq_parser_mark(p)),
                              CQ_TOKEN_RPAREN);
    if (cq_parser_at(p, CQ_TOKEN_YIELD)) {
        x = cq_parse_yield(p);
    } else {
        x = cq_parse_named_item(p);
        if (x && cq_parse_at_comp(p))
            x = cq_parse_comp(p, CQ_X_GENERATOR, NULL, x, start);
        else
            x = parse_rest(p, x, first, cq_parse_named_item, false);
    }
    if (!x)
        return NULL;
    if (x->kind == CQ_X_STARRED)
        return cq_parser_fail(p, x->at, "a starred expression cannot stand alone");
    x->at.start = start;
    return cq_parse_close(p, x, CQ_TOKEN_RPAREN);
}

/* Items up to a closing bracket, of which some may be on the stack, as a LIST or SET; the first one
 * may be the value of a comprehension. */
static cq_ast_expr *parse_items(cq_parser *p, cq_ast_expr_kind kind, cq_ast_expr_kind comp,
                                cq_token_kind closer, cq_ast_expr *first, uint32_t start)
{
    const size_t mark = cq_parser_mark(p);
    cq_ast_expr *x    = first;

    if (x && cq_parse_at_comp(p))
        return cq_parse_close(p, cq_parse_comp(p, comp, NULL, x, start), closer);
    while (x) {
        if (!cq_parser_push(p, x))
            return NULL;
        if (!cq_parser_accept(p, CQ_TOKEN_COMMA) || cq_parser_at(p, closer))
            return cq_parse_close(p, make_items(p, kind, start, mark), closer);
        x = cq_parse_named_item(p);
    }
    return NULL;
}

cq_ast_expr *cq_parse_brackets(cq_parser *p, uint32_t start)
{
    if (cq_parser_at(p, CQ_TOKEN_RBRACKET))
        return cq_parse_close(p, make_items(p, CQ_X_LIST, start, cq_parser_mark(p)),
                              CQ_TOKEN_RBRACKET);
    return parse_items(p, CQ_X_LIST, CQ_X_LIST_COMP, CQ_TOKEN_RBRACKET, cq_parse_named_item(p),
                       start);
}

/* key: value, or **value with a NULL key. */
static bool parse_pair(cq_parser *p, cq_ast_expr *pair[2])
{
    pair[0] = pair[1] = NULL;
    if (cq_parser_accept(p, CQ_TOKEN_POW)) {
        pair[1] = cq_parse_binary(p, 0);
        return pair[1] != NULL;
    }
    pair[0] = cq_parse_test(p);
    if (!pair[0] || !cq_parser_expect(p, CQ_TOKEN_COLON))
        return false;
    pair[1] = cq_parse_test(p);
    return pair[1] != NULL;
}

/* Pairs are adjacent on the stack; keys and values go into separate arrays. */
static cq_ast_expr *make_dict(cq_parser *p, uint32_t start, size_t mark)
{
    cq_ast_expr  *x = cq_parser_expr(p, start, (cq_ast_expr){ .kind = CQ_X_DICT });
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
        x             = cq_parser_over(p, cq_parser_over(p, x, sorted[i]), sorted[n + i]);
    }
    return x;
}

/* Pairs after the first one, and the closing brace. */
static cq_ast_expr *parse_dict(cq_parser *p, cq_ast_expr *pair[2], uint32_t start)
{
    const size_t mark  = cq_parser_mark(p);
    const size_t bytes = 2 * sizeof *pair;

    if (pair[0] && cq_parse_at_comp(p))
        return cq_parse_close(p, cq_parse_comp(p, CQ_X_DICT_COMP, pair[0], pair[1], start),
                              CQ_TOKEN_RBRACE);
    while (cq_parser_push_bytes(p, pair, bytes)) {
        if (!cq_parser_accept(p, CQ_TOKEN_COMMA) || cq_parser_at(p, CQ_TOKEN_RBRACE))
            return cq_parse_close(p, make_dict(p, start, mark), CQ_TOKEN_RBRACE);
        if (!parse_pair(p, pair))
            return NULL;
    }
    return NULL;
}

/* The token after the first expression distinguishes a set from a dict. */
cq_ast_expr *cq_parse_braces(cq_parser *p, uint32_t start)
{
    cq_ast_expr *pair[2] = { NULL, NULL };

    if (cq_parser_at(p, CQ_TOKEN_RBRACE))
        return cq_parse_close(p, make_dict(p, start, cq_parser_mark(p)), CQ_TOKEN_RBRACE);
    if (cq_parser_at(p, CQ_TOKEN_POW))
        return parse_pair(p, pair) ? parse_dict(p, pair, start) : NULL;
    pair[0] = cq_parse_named_item(p);
    if (!pair[0] || !cq_parser_at(p, CQ_TOKEN_COLON))
        return parse_items(p, CQ_X_SET, CQ_X_SET_COMP, CQ_TOKEN_RBRACE, pair[0], start);
    if (pair[0]->kind == CQ_X_STARRED ||
        (pair[0]->kind == CQ_X_NAMED && !cq_parser_in_parentheses(p, pair[0])))
        return cq_parser_refuse(p);
    p->next++; /* the colon */
    pair[1] = cq_parse_test(p);
    return pair[1] ? parse_dict(p, pair, start) : NULL;
}
