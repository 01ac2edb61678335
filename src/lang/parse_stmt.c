/* Blocks, and the statements that have some. Functions are in parse_def.c, classes in
 * parse_class.c, match in parse_match.c. */
#include "lang/parser.h"

cq_ast_stmt *cq_parser_stmt(cq_parser *p, uint32_t start, cq_ast_stmt s)
{
    cq_ast_stmt *made = cq_parser_new(p, sizeof *made);

    s.at = (cq_span){ start, cq_parser_end(p) };
    if (made)
        *made = s;
    return made;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static cq_ast_stmt *parse_compound(cq_parser *p, bool *found);

/* class : int; and while `try : int` may be either, only Python's meaning occurs. */
static bool at_keyword_field(const cq_parser *p)
{
    const cq_token_kind kind = cq_parser_peek(p, 0)->kind, behind = cq_parser_peek(p, 1)->kind;

    return p->in_class && kind >= CQ_TOKEN_FALSE && kind <= CQ_TOKEN_YIELD &&
           kind != CQ_TOKEN_TRY && (behind == CQ_TOKEN_COLON || behind == CQ_TOKEN_ASSIGN);
}

/* One line of simple statements; pushes them. */
static bool parse_simple_line(cq_parser *p)
{
    do {
        const bool   yields = p->yields;
        cq_ast_stmt *s;

        p->yields = false;
        s         = at_keyword_field(p) ? cq_parse_keyword_field(p) : cq_parse_simple(p);
        if (!s || !cq_parser_push(p, s))
            return false;
        s->yields = p->yields;
        p->yields |= yields;
    } while (cq_parser_accept(p, CQ_TOKEN_SEMICOLON) && !cq_parse_at_simple_end(p));
    return cq_parser_at(p, CQ_TOKEN_END) || cq_parser_expect(p, CQ_TOKEN_NEWLINE);
}

bool cq_parse_statements(cq_parser *p)
{
    const bool   yields = p->yields;
    bool         compound;
    cq_ast_stmt *s;

    if (at_keyword_field(p))
        return parse_simple_line(p);
    p->yields = false;
    s         = parse_compound(p, &compound);
    if (s)
        s->yields = p->yields;
    p->yields |= yields;
    return compound ? s && cq_parser_push(p, s) : parse_simple_line(p);
}

bool cq_parser_take_block(cq_parser *p, size_t mark, cq_ast_block *out)
{
    void *items;

    if (!cq_parser_take(p, mark, sizeof *out->items, &items, &out->n))
        return false;
    out->items = items;
    return true;
}

bool cq_parse_all_statements(cq_parser *p, cq_ast_block *out)
{
    const size_t mark = cq_parser_mark(p);

    while (!cq_parser_at(p, CQ_TOKEN_END))
        if (!cq_parse_statements(p))
            return false;
    return cq_parser_take_block(p, mark, out);
}

static bool parse_indented(cq_parser *p)
{
    if (!cq_parser_accept(p, CQ_TOKEN_NEWLINE))
        return parse_simple_line(p); /* if x: y */
    if (!cq_parser_expect(p, CQ_TOKEN_INDENT))
        return false;
    do {
        if (!cq_parse_statements(p))
            return false;
    } while (!cq_parser_accept(p, CQ_TOKEN_DEDENT));
    return true;
}

bool cq_parse_block(cq_parser *p, cq_ast_block *out)
{
    const size_t mark = cq_parser_mark(p);
    bool         ok;

    if (!cq_parser_expect(p, CQ_TOKEN_COLON) || !cq_parser_enter(p))
        return false;
    ok = parse_indented(p);
    cq_parser_leave(p);
    return ok && cq_parser_take_block(p, mark, out);
}

/* ---- if and loops -------------------------------------------------------------------------------
 */

/* if … elif … else …: an elif is an if that is all of the else part. */
static cq_ast_stmt *parse_if(cq_parser *p, uint32_t start)
{
    cq_ast_expr *test = cq_parse_named(p);
    cq_ast_stmt *s =
        cq_parser_stmt(p, start, (cq_ast_stmt){ .kind = CQ_S_IF, .u.branch = { .test = test } });
    cq_ast_stmt *other;
    size_t       mark;

    if (!s || !cq_parse_block(p, &s->u.branch.then))
        return NULL;
    start = cq_parser_peek(p, 0)->at.start;
    if (cq_parser_accept(p, CQ_TOKEN_ELSE))
        return cq_parse_block(p, &s->u.branch.other) ? s : NULL;
    if (!cq_parser_accept(p, CQ_TOKEN_ELIF))
        return s;
    if (!cq_parser_enter(p))
        return NULL;
    mark  = cq_parser_mark(p);
    other = parse_if(p, start);
    if (other)
        other->yields = p->yields;
    cq_parser_leave(p);
    return other && cq_parser_push(p, other) && cq_parser_take_block(p, mark, &s->u.branch.other)
               ? s
               : NULL;
}

/* The body of a loop, and its else part. */
static cq_ast_stmt *parse_loop(cq_parser *p, cq_ast_stmt *s)
{
    const uint32_t start = cq_parser_peek(p, 0)->at.start;
    cq_ast_stmt   *outer;
    bool           ok;

    if (!s)
        return NULL;
    p->n_loops++;
    ok = cq_parse_block(p, &s->u.loop.body);
    p->n_loops--;
    s->yields = p->yields;
    if (!ok || !cq_parser_at(p, CQ_TOKEN_ELSE))
        return ok ? s : NULL;
    outer = cq_parser_stmt(p, start, (cq_ast_stmt){ .kind = CQ_S_LOOP_ELSE });
    if (!outer)
        return NULL;
    outer->at               = cq_parser_peek(p, 0)->at; /* the else */
    outer->u.loop_else.loop = s;
    p->next++;
    return cq_parse_block(p, &outer->u.loop_else.other) ? outer : NULL;
}

static cq_ast_stmt *parse_while(cq_parser *p, uint32_t start)
{
    cq_ast_expr *test = cq_parse_named(p);

    return parse_loop(
        p,
        cq_parser_stmt(p, start, (cq_ast_stmt){ .kind = CQ_S_WHILE, .u.loop = { .test = test } }));
}

static cq_ast_stmt *parse_for_loop(cq_parser *p, uint32_t start, bool is_async)
{
    cq_ast_expr *target = cq_parse_targets(p);
    cq_ast_expr *iter   = target && cq_parser_expect(p, CQ_TOKEN_IN) ? cq_parse_tests(p) : NULL;

    return parse_loop(
        p, cq_parser_stmt(p, start,
                          (cq_ast_stmt){ .kind     = CQ_S_FOR,
                                         .is_async = is_async,
                                         .u.loop   = { .target = target, .test = iter } }));
}

static cq_ast_stmt *parse_for(cq_parser *p, uint32_t start)
{
    return parse_for_loop(p, start, false);
}

/* ---- with ---------------------------------------------------------------------------------------
 */

/* The index of the token that closes the bracket at another one; *has_as: an `as` is directly in
 * it. */
static size_t find_close(const cq_parser *p, size_t open, bool *has_as)
{
    uint32_t depth = 0;

    *has_as = false;
    for (size_t i = open;; i++) {
        switch (p->tokens->list.items[i].kind) {
        case CQ_TOKEN_LPAREN:
        case CQ_TOKEN_LBRACKET:
        case CQ_TOKEN_LBRACE: depth++; break;
        case CQ_TOKEN_RPAREN:
        case CQ_TOKEN_RBRACKET:
        case CQ_TOKEN_RBRACE:
            if (--depth == 0)
                return i;
            break;
        case CQ_TOKEN_AS: *has_as |= depth == 1; break;
        case CQ_TOKEN_END: return i;
        default: break;
        }
    }
}

static bool parse_with_item(cq_parser *p)
{
    cq_ast_with_item item = { .context = cq_parse_test(p) };

    if (item.context && cq_parser_accept(p, CQ_TOKEN_AS)) {
        item.target = cq_parser_at(p, CQ_TOKEN_LPAREN) || cq_parser_at(p, CQ_TOKEN_LBRACKET) ||
                              cq_parser_at(p, CQ_TOKEN_NAME)
                          ? cq_parse_postfix(p)
                          : cq_parser_refuse(p);
        if (!item.target || !cq_parse_check_target(p, item.target))
            return false;
    }
    return item.context && cq_parser_push(p, item);
}

/* `with (a, b):` has two items, not a tuple. */
static bool push_items(cq_parser *p, cq_ast_expr *x, bool split)
{
    split &= x->kind == CQ_X_TUPLE && x->u.items.n;
    for (size_t i = 0; split && i < x->u.items.n; i++) {
        const cq_ast_expr *item = x->u.items.items[i];

        split = item->kind != CQ_X_STARRED &&
                (item->kind != CQ_X_NAMED || cq_parser_in_parentheses(p, item));
    }
    for (size_t i = 0; i < (split ? x->u.items.n : 1); i++) {
        const cq_ast_with_item item = { .context = split ? x->u.items.items[i] : x };

        if (!cq_parser_push(p, item))
            return false;
    }
    return true;
}

/* An expression in parentheses that a colon follows; with two pairs of them a tuple is a tuple. */
static bool parse_with_expr(cq_parser *p, size_t close)
{
    const bool twice = cq_parser_peek(p, 1)->kind == CQ_TOKEN_LPAREN &&
                       find_close(p, p->next + 1, &(bool){ false }) + 1 == close;
    cq_ast_expr *x = cq_parse_test(p);

    return x && push_items(p, x, !twice);
}

/* (item, item): parentheses around all items, if a colon follows them. */
static bool parse_with_items(cq_parser *p)
{
    bool   has_as = false, in_parentheses = false;
    size_t close = 0;

    if (cq_parser_at(p, CQ_TOKEN_LPAREN)) {
        close          = find_close(p, p->next, &has_as);
        in_parentheses = p->tokens->list.items[close].kind != CQ_TOKEN_END &&
                         p->tokens->list.items[close + 1].kind == CQ_TOKEN_COLON;
    }
    if (in_parentheses && !has_as)
        return parse_with_expr(p, close);
    p->next += in_parentheses;
    do {
        if (!parse_with_item(p))
            return false;
    } while (cq_parser_accept(p, CQ_TOKEN_COMMA) &&
             !(in_parentheses && cq_parser_at(p, CQ_TOKEN_RPAREN)));
    return !in_parentheses || cq_parser_expect(p, CQ_TOKEN_RPAREN);
}

static cq_ast_stmt *parse_any_with(cq_parser *p, uint32_t start, bool is_async)
{
    const size_t mark = cq_parser_mark(p);
    cq_ast_stmt *s    = NULL;
    void        *items;

    if (parse_with_items(p))
        s = cq_parser_stmt(p, start, (cq_ast_stmt){ .kind = CQ_S_WITH, .is_async = is_async });
    if (!s || !cq_parser_take(p, mark, sizeof *s->u.with.items, &items, &s->u.with.n))
        return NULL;
    s->u.with.items = items;
    return cq_parse_block(p, &s->u.with.body) ? s : NULL;
}

static cq_ast_stmt *parse_with(cq_parser *p, uint32_t start)
{
    return parse_any_with(p, start, false);
}

/* ---- try
 * ----------------------------------------------------------------------------------------- */

/* `except` is taken. */
static bool parse_handler(cq_parser *p, cq_ast_handler *h, bool is_star)
{
    *h = (cq_ast_handler){ .at = p->tokens->list.items[p->next - 1].at };
    if (is_star || !cq_parser_at(p, CQ_TOKEN_COLON)) {
        h->type = cq_parse_tests(p);
        if (!h->type)
            return false;
    }
    if (h->type && cq_parser_at(p, CQ_TOKEN_AS)) {
        if (h->type->kind == CQ_X_TUPLE && !cq_parser_in_parentheses(p, h->type))
            return cq_parser_fail(p, h->type->at,
                                  "several exceptions with a name need parentheses") != NULL;
        p->next++;
        h->name = cq_parser_name(p);
    }
    h->at.end = cq_parser_end(p);
    return p->status == CQ_OK && cq_parse_block(p, &h->body);
}

static bool parse_handlers(cq_parser *p, cq_ast_try *t)
{
    const size_t mark   = cq_parser_mark(p);
    bool         is_all = false, first = true;
    void        *items;

    while (cq_parser_at(p, CQ_TOKEN_EXCEPT)) {
        const cq_span  at = cq_parser_peek(p, 0)->at;
        bool           is_star;
        cq_ast_handler h;

        if (is_all)
            return cq_parser_fail(p, at, "'except' behind one without a type") != NULL;
        p->next++;
        is_star = cq_parser_accept(p, CQ_TOKEN_MUL);
        if (!first && is_star != t->is_star)
            return cq_parser_fail(p, at, "'except' and 'except*' cannot be mixed") != NULL;
        t->is_star = is_star;
        first      = false;
        if (!parse_handler(p, &h, is_star) || !cq_parser_push(p, h))
            return false;
        is_all = !h.type;
    }
    if (!cq_parser_take(p, mark, sizeof *t->handlers, &items, &t->n_handlers))
        return false;
    t->handlers = items;
    return true;
}

static cq_ast_stmt *parse_try(cq_parser *p, uint32_t start)
{
    cq_ast_try  *t = cq_parser_new(p, sizeof *t);
    cq_ast_stmt *s = cq_parser_stmt(p, start, (cq_ast_stmt){ .kind = CQ_S_TRY, .u.attempt = t });

    if (!t || !s || !cq_parse_block(p, &t->body) || !parse_handlers(p, t))
        return NULL;
    if (t->n_handlers && cq_parser_accept(p, CQ_TOKEN_ELSE) && !cq_parse_block(p, &t->other))
        return NULL;
    if (cq_parser_accept(p, CQ_TOKEN_FINALLY))
        return cq_parse_block(p, &t->finally) ? s : NULL;
    if (!t->n_handlers)
        return cq_parser_expect(p, CQ_TOKEN_EXCEPT) ? s : NULL;
    return p->status == CQ_OK ? s : NULL;
}

/* ---- definitions
 * --------------------------------------------------------------------------------- */

static cq_ast_stmt *make_def(cq_parser *p, uint32_t start, cq_ast_exprs decorators, bool is_async)
{
    cq_ast_stmt *s = cq_parser_stmt(p, start, (cq_ast_stmt){ .kind = CQ_S_DEF });

    if (!s)
        return NULL;
    s->u.def = cq_parse_def(p, decorators);
    if (!s->u.def)
        return NULL;
    s->u.def->is_async = is_async;
    return s;
}

static cq_ast_stmt *make_class(cq_parser *p, uint32_t start, cq_ast_exprs decorators)
{
    cq_ast_stmt *s = cq_parser_stmt(p, start, (cq_ast_stmt){ .kind = CQ_S_CLASS });

    if (!s)
        return NULL;
    s->u.cls = cq_parse_class(p, decorators);
    return s->u.cls ? s : NULL;
}

static cq_ast_stmt *parse_inner_def(cq_parser *p, uint32_t start)
{
    return make_def(p, start, (cq_ast_exprs){ 0 }, false);
}

static cq_ast_stmt *parse_inner_class(cq_parser *p, uint32_t start)
{
    return make_class(p, start, (cq_ast_exprs){ 0 });
}

/* `async` is taken. */
static cq_ast_stmt *parse_async(cq_parser *p, uint32_t start)
{
    if (cq_parser_accept(p, CQ_TOKEN_DEF))
        return make_def(p, start, (cq_ast_exprs){ 0 }, true);
    if (cq_parser_accept(p, CQ_TOKEN_FOR))
        return parse_for_loop(p, start, true);
    if (cq_parser_accept(p, CQ_TOKEN_WITH))
        return parse_any_with(p, start, true);
    return cq_parser_refuse(p);
}

static cq_ast_stmt *parse_decorated(cq_parser *p)
{
    cq_ast_exprs decorators;
    uint32_t     start;
    bool         is_async;

    if (!cq_parse_decorators(p, &decorators))
        return NULL;
    start = cq_parser_peek(p, 0)->at.start;
    if (cq_parser_accept(p, CQ_TOKEN_CLASS))
        return make_class(p, start, decorators);
    is_async = cq_parser_accept(p, CQ_TOKEN_ASYNC);
    if (cq_parser_accept(p, CQ_TOKEN_DEF))
        return make_def(p, start, decorators, is_async);
    return cq_parser_refuse(p);
}

static cq_ast_stmt *parse_compound(cq_parser *p, bool *found)
{
    static const struct {
        cq_token_kind token;
        cq_ast_stmt *(*parse)(cq_parser *p, uint32_t start);
    } compounds[] = {
        { CQ_TOKEN_IF, parse_if },         { CQ_TOKEN_WHILE, parse_while },
        { CQ_TOKEN_FOR, parse_for },       { CQ_TOKEN_WITH, parse_with },
        { CQ_TOKEN_DEF, parse_inner_def }, { CQ_TOKEN_CLASS, parse_inner_class },
        { CQ_TOKEN_TRY, parse_try },       { CQ_TOKEN_ASYNC, parse_async },
    };
    const uint32_t start = cq_parser_peek(p, 0)->at.start;

    *found = true;
    for (size_t i = 0; i < sizeof compounds / sizeof *compounds; i++)
        if (cq_parser_accept(p, compounds[i].token))
            return compounds[i].parse(p, start);
    if (cq_parser_at(p, CQ_TOKEN_AT))
        return parse_decorated(p);
    if (cq_parse_at_match(p)) {
        p->next++;
        return cq_parse_match(p, start);
    }
    *found = false;
    return NULL;
}
