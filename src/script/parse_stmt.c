/* Statements and functions. What they are made of is in parse_expr.c. */
#include "script/parser.h"

#include <string.h>

/* ---- type comments ----------------------------------------------------------------------------
 */

/* The type comment between two places of the text, if there is one. */
static const cq_span *find_comment(const cq_parser *p, uint32_t from, uint32_t to)
{
    size_t low = 0, high = p->tokens->comments.n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (p->tokens->comments.items[middle].start < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->tokens->comments.n && p->tokens->comments.items[low].start < to
               ? &p->tokens->comments.items[low]
               : NULL;
}

static void *parse_type(cq_parser *p, void *user)
{
    cq_ast_expr *x = cq_parse_test(p);

    (void)user;
    if (x && !cq_parser_at(p, CQ_TOKEN_END))
        return cq_parser_refuse(p);
    return x;
}

/* Gives a parameter or variable without an annotation the type of its comment. */
bool cq_parse_type_comment(cq_parser *p, cq_ast_expr **type, uint32_t from, uint32_t to)
{
    const cq_span *comment = *type ? NULL : find_comment(p, from, to);

    if (comment)
        *type = cq_parse_range(p, *comment, parse_type, NULL);
    return !comment || *type;
}

/* (T, U) -> V: the types of a whole function; (...) leaves them to comments of the parameters. */
static void *parse_signature(cq_parser *p, void *user)
{
    cq_ast_def  *def = user;
    cq_ast_expr *types, *result;
    bool         open;
    size_t       skip;

    if (!cq_parser_at(p, CQ_TOKEN_LPAREN))
        return cq_parser_refuse(p);
    types  = cq_parse_test(p);
    result = types && cq_parser_expect(p, CQ_TOKEN_ARROW) ? cq_parse_test(p) : NULL;
    if (!result || !cq_parser_at(p, CQ_TOKEN_END))
        return result ? cq_parser_refuse(p) : NULL;
    def->result = result;
    open        = types->kind == CQ_X_ELLIPSIS;
    if (open)
        return def;
    if (types->kind != CQ_X_TUPLE) { /* parentheses around one type leave no trace */
        if (def->n_params && !def->params[def->n_params - 1].type)
            def->params[def->n_params - 1].type = types;
        return def->n_params - 1 <= 1
                   ? def
                   : cq_parser_fail(p, types->at, "1 type for %zu parameters", def->n_params);
    }
    skip = def->n_params - types->u.items.n; /* self has none */
    if (def->n_params < types->u.items.n || skip > 1)
        return cq_parser_fail(p, types->at, "%zu types for %zu parameters", types->u.items.n,
                              def->n_params);
    for (size_t i = 0; i < types->u.items.n; i++)
        if (!def->params[skip + i].type)
            def->params[skip + i].type = types->u.items.items[i];
    return def;
}

/* ---- simple statements --------------------------------------------------------------------------
 */

/* One like s; NULL after a failure, of whatever is in it as well. */
static cq_ast_stmt *new_stmt(cq_parser *p, uint32_t start, cq_ast_stmt s)
{
    cq_ast_stmt *made = cq_parser_new(p, sizeof *made);

    s.at = (cq_span){ start, cq_parser_end(p) };
    if (made)
        *made = s;
    return made;
}

static const struct augment {
    cq_token_kind token;
    cq_ast_op     op;
} augments[] = {
    { CQ_TOKEN_ADD_ASSIGN, CQ_AST_ADD },
    { CQ_TOKEN_SUB_ASSIGN, CQ_AST_SUB },
    { CQ_TOKEN_MUL_ASSIGN, CQ_AST_MUL },
    { CQ_TOKEN_DIV_ASSIGN, CQ_AST_DIV },
    { CQ_TOKEN_FLOOR_DIV_ASSIGN, CQ_AST_FLOOR_DIV },
    { CQ_TOKEN_MOD_ASSIGN, CQ_AST_MOD },
    { CQ_TOKEN_POW_ASSIGN, CQ_AST_POW },
    { CQ_TOKEN_MATMUL_ASSIGN, CQ_AST_MATMUL },
    { CQ_TOKEN_SHIFT_LEFT_ASSIGN, CQ_AST_SHIFT_LEFT },
    { CQ_TOKEN_SHIFT_RIGHT_ASSIGN, CQ_AST_SHIFT_RIGHT },
    { CQ_TOKEN_BIT_AND_ASSIGN, CQ_AST_BIT_AND },
    { CQ_TOKEN_BIT_OR_ASSIGN, CQ_AST_BIT_OR },
    { CQ_TOKEN_BIT_XOR_ASSIGN, CQ_AST_BIT_XOR },
};

/* target += value; NULL without a failure if the next token is not such a sign. */
static cq_ast_stmt *parse_augment(cq_parser *p, cq_ast_expr *target)
{
    for (size_t i = 0; i < sizeof augments / sizeof *augments; i++) {
        cq_ast_expr *value;

        if (!cq_parser_accept(p, augments[i].token))
            continue;
        if (target->kind == CQ_X_TUPLE || target->kind == CQ_X_LIST)
            return cq_parser_fail(p, target->at, "several targets cannot be changed at once");
        value = cq_parse_check_target(p, target) ? cq_parse_tests(p) : NULL;
        return new_stmt(
            p, target->at.start,
            (cq_ast_stmt){ .kind = CQ_S_AUGMENT, .u.augment = { target, value, augments[i].op } });
    }
    return NULL;
}

/* target : type = value */
static cq_ast_stmt *parse_annotated(cq_parser *p, cq_ast_expr *target)
{
    const size_t mark  = cq_parser_mark(p);
    cq_ast_expr *value = NULL, *type;
    cq_ast_stmt *s;

    if (target->kind != CQ_X_NAME && target->kind != CQ_X_ATTR && target->kind != CQ_X_INDEX)
        return cq_parser_fail(p, target->at, "only one name can be annotated at a time");
    type = cq_parse_test(p);
    if (type && cq_parser_accept(p, CQ_TOKEN_ASSIGN))
        value = cq_parse_tests(p);
    s = new_stmt(
        p, target->at.start,
        (cq_ast_stmt){ .kind = CQ_S_ASSIGN, .u.assign = { .type = type, .value = value } });
    return s && cq_parser_push(p, target) && cq_parser_take_exprs(p, mark, &s->u.assign.targets)
               ? s
               : NULL;
}

/* a = b = value; the first target is parsed. */
static cq_ast_stmt *parse_assign(cq_parser *p, cq_ast_expr *first)
{
    const size_t mark  = cq_parser_mark(p);
    cq_ast_expr *value = first;
    cq_ast_stmt *s;

    while (cq_parser_accept(p, CQ_TOKEN_ASSIGN)) {
        if (!cq_parse_check_target(p, value) || !cq_parser_push(p, value))
            return NULL;
        value = cq_parse_tests(p);
        if (!value)
            return NULL;
    }
    s = new_stmt(p, first->at.start,
                 (cq_ast_stmt){ .kind = CQ_S_ASSIGN, .u.assign = { .value = value } });
    if (!s || !cq_parser_take_exprs(p, mark, &s->u.assign.targets))
        return NULL;
    if (s->u.assign.targets.n == 1 &&
        !cq_parse_type_comment(p, &s->u.assign.type, value->at.end, cq_parser_peek(p, 0)->at.end))
        return NULL;
    return s;
}

static cq_ast_stmt *parse_expr_stmt(cq_parser *p)
{
    cq_ast_expr *x = cq_parse_tests(p);
    cq_ast_stmt *s;

    if (!x)
        return NULL;
    if (cq_parser_accept(p, CQ_TOKEN_COLON))
        return parse_annotated(p, x);
    if (cq_parser_at(p, CQ_TOKEN_ASSIGN))
        return parse_assign(p, x);
    s = parse_augment(p, x);
    if (s || p->status != CQ_OK)
        return s;
    if (x->kind == CQ_X_STARRED)
        return cq_parser_fail(p, x->at, "a starred expression cannot stand alone");
    return new_stmt(p, x->at.start, (cq_ast_stmt){ .kind = CQ_S_EXPR, .u.value = x });
}

static bool at_simple_end(const cq_parser *p)
{
    return cq_parser_at(p, CQ_TOKEN_NEWLINE) || cq_parser_at(p, CQ_TOKEN_SEMICOLON) ||
           cq_parser_at(p, CQ_TOKEN_END);
}

static cq_ast_stmt *parse_return(cq_parser *p, uint32_t start)
{
    cq_ast_expr *value = NULL;

    if (!p->n_functions)
        return cq_parser_fail(p, cq_parser_peek(p, 0)->at, "return outside of a function");
    if (!at_simple_end(p))
        value = cq_parse_tests(p);
    return new_stmt(p, start, (cq_ast_stmt){ .kind = CQ_S_RETURN, .u.value = value });
}

static cq_ast_stmt *parse_raise(cq_parser *p, uint32_t start)
{
    cq_ast_expr *value = NULL, *cause = NULL;

    if (!at_simple_end(p))
        value = cq_parse_test(p);
    if (value && cq_parser_accept(p, CQ_TOKEN_FROM))
        cause = cq_parse_test(p);
    return new_stmt(p, start, (cq_ast_stmt){ .kind = CQ_S_RAISE, .u.raise = { value, cause } });
}

static cq_ast_stmt *parse_assert(cq_parser *p, uint32_t start)
{
    cq_ast_expr *test = cq_parse_test(p), *message = NULL;

    if (test && cq_parser_accept(p, CQ_TOKEN_COMMA))
        message = cq_parse_test(p);
    return new_stmt(p, start,
                    (cq_ast_stmt){ .kind = CQ_S_ASSERT, .u.assertion = { test, message } });
}

static cq_ast_stmt *parse_del(cq_parser *p, uint32_t start)
{
    const size_t mark = cq_parser_mark(p);
    cq_ast_expr *x    = cq_parse_tests(p);
    cq_ast_stmt *s;

    if (!x || !cq_parse_check_target(p, x))
        return NULL;
    s = new_stmt(p, start, (cq_ast_stmt){ .kind = CQ_S_DEL });
    if (!s)
        return NULL;
    if (x->kind == CQ_X_TUPLE || x->kind == CQ_X_LIST)
        s->u.targets = x->u.items;
    else if (!cq_parser_push(p, x) || !cq_parser_take_exprs(p, mark, &s->u.targets))
        return NULL;
    return s;
}

static cq_ast_stmt *parse_pass(cq_parser *p, uint32_t start)
{
    return new_stmt(p, start, (cq_ast_stmt){ .kind = CQ_S_PASS });
}

static cq_ast_stmt *parse_jump(cq_parser *p, uint32_t start, cq_ast_stmt_kind kind)
{
    if (!p->n_loops)
        return cq_parser_fail(p, p->tokens->list.items[p->next - 1].at, "%s outside of a loop",
                              kind == CQ_S_BREAK ? "break" : "continue");
    return new_stmt(p, start, (cq_ast_stmt){ .kind = kind });
}

static cq_ast_stmt *parse_break(cq_parser *p, uint32_t start)
{
    return parse_jump(p, start, CQ_S_BREAK);
}

static cq_ast_stmt *parse_continue(cq_parser *p, uint32_t start)
{
    return parse_jump(p, start, CQ_S_CONTINUE);
}

/* ---- blocks
 * ------------------------------------------------------------------------------------------ */

static cq_ast_stmt *parse_compound(cq_parser *p, bool *found);

static const struct simple {
    cq_token_kind token;
    cq_ast_stmt *(*parse)(cq_parser *p, uint32_t start);
} simples[] = {
    { CQ_TOKEN_RETURN, parse_return },     { CQ_TOKEN_PASS, parse_pass },
    { CQ_TOKEN_RAISE, parse_raise },       { CQ_TOKEN_ASSERT, parse_assert },
    { CQ_TOKEN_DEL, parse_del },           { CQ_TOKEN_BREAK, parse_break },
    { CQ_TOKEN_CONTINUE, parse_continue },
};

static cq_ast_stmt *parse_simple(cq_parser *p)
{
    const uint32_t start = cq_parser_peek(p, 0)->at.start;

    for (size_t i = 0; i < sizeof simples / sizeof *simples; i++)
        if (cq_parser_accept(p, simples[i].token))
            return simples[i].parse(p, start);
    return parse_expr_stmt(p);
}

/* One line of simple statements, or one compound statement; pushes them. */
bool cq_parse_statements(cq_parser *p)
{
    bool         compound;
    cq_ast_stmt *s = parse_compound(p, &compound);

    if (compound)
        return s && cq_parser_push(p, s);
    do {
        s = parse_simple(p);
        if (!s || !cq_parser_push(p, s))
            return false;
    } while (cq_parser_accept(p, CQ_TOKEN_SEMICOLON) && !at_simple_end(p));
    return cq_parser_at(p, CQ_TOKEN_END) || cq_parser_expect(p, CQ_TOKEN_NEWLINE);
}

bool cq_parser_take_block(cq_parser *p, size_t mark, cq_ast_block *out)
{
    void *items;

    if (!cq_parser_take(p, mark, sizeof *out->items, &items, &out->n))
        return false;
    out->items = items;
    return true;
}

bool cq_parse_indented(cq_parser *p, bool (*parse_line)(cq_parser *p, void *user), void *user)
{
    if (!cq_parser_accept(p, CQ_TOKEN_NEWLINE))
        return parse_line(p, user); /* if x: y */
    if (!cq_parser_expect(p, CQ_TOKEN_INDENT))
        return false;
    while (!cq_parser_accept(p, CQ_TOKEN_DEDENT))
        if (!parse_line(p, user))
            return false;
    return true;
}

static bool parse_block_line(cq_parser *p, void *user)
{
    (void)user;
    return cq_parse_statements(p);
}

/* `: statements` */
static bool parse_block(cq_parser *p, cq_ast_block *out)
{
    const size_t mark = cq_parser_mark(p);
    bool         ok;

    if (!cq_parser_expect(p, CQ_TOKEN_COLON) || !cq_parser_enter(p))
        return false;
    ok = cq_parse_indented(p, parse_block_line, NULL);
    cq_parser_leave(p);
    return ok && cq_parser_take_block(p, mark, out);
}

static bool parse_loop_body(cq_parser *p, cq_ast_block *out)
{
    bool ok;

    p->n_loops++;
    ok = parse_block(p, out);
    p->n_loops--;
    if (ok && cq_parser_at(p, CQ_TOKEN_ELSE))
        cq_parser_fail(p, cq_parser_peek(p, 0)->at, "else of a loop is not part of TorchScript");
    return ok && p->status == CQ_OK;
}

/* if … elif … else …: an elif is an if that is all of the else part. */
static cq_ast_stmt *parse_if(cq_parser *p, uint32_t start)
{
    cq_ast_expr *test = cq_parse_test(p);
    cq_ast_stmt *s =
        new_stmt(p, start, (cq_ast_stmt){ .kind = CQ_S_IF, .u.branch = { .test = test } });
    cq_ast_stmt *other;
    size_t       mark;

    if (!s || !parse_block(p, &s->u.branch.then))
        return NULL;
    start = cq_parser_peek(p, 0)->at.start;
    if (cq_parser_accept(p, CQ_TOKEN_ELSE))
        return parse_block(p, &s->u.branch.other) ? s : NULL;
    if (!cq_parser_accept(p, CQ_TOKEN_ELIF))
        return s;
    if (!cq_parser_enter(p))
        return NULL;
    mark  = cq_parser_mark(p);
    other = parse_if(p, start);
    cq_parser_leave(p);
    return other && cq_parser_push(p, other) && cq_parser_take_block(p, mark, &s->u.branch.other)
               ? s
               : NULL;
}

static cq_ast_stmt *parse_while(cq_parser *p, uint32_t start)
{
    cq_ast_expr *test = cq_parse_test(p);
    cq_ast_stmt *s =
        new_stmt(p, start, (cq_ast_stmt){ .kind = CQ_S_WHILE, .u.loop = { .test = test } });

    return s && parse_loop_body(p, &s->u.loop.body) ? s : NULL;
}

static cq_ast_stmt *parse_for(cq_parser *p, uint32_t start)
{
    cq_ast_expr *target = cq_parse_targets(p);
    cq_ast_expr *iter   = target && cq_parser_expect(p, CQ_TOKEN_IN) ? cq_parse_tests(p) : NULL;
    cq_ast_stmt *s      = new_stmt(
             p, start, (cq_ast_stmt){ .kind = CQ_S_FOR, .u.loop = { .target = target, .test = iter } });

    return s && parse_loop_body(p, &s->u.loop.body) ? s : NULL;
}

static cq_ast_stmt *parse_with(cq_parser *p, uint32_t start)
{
    const size_t mark = cq_parser_mark(p);
    cq_ast_stmt *s    = NULL;
    void        *items;

    do {
        cq_ast_with_item item = { .context = cq_parse_test(p) };

        if (item.context && cq_parser_accept(p, CQ_TOKEN_AS)) {
            item.target = cq_parse_test(p);
            if (!item.target || !cq_parse_check_target(p, item.target))
                return NULL;
        }
        if (!item.context || !cq_parser_push(p, item))
            return NULL;
    } while (cq_parser_accept(p, CQ_TOKEN_COMMA));
    s = new_stmt(p, start, (cq_ast_stmt){ .kind = CQ_S_WITH });
    if (!s || !cq_parser_take(p, mark, sizeof *s->u.with.items, &items, &s->u.with.n))
        return NULL;
    s->u.with.items = items;
    return parse_block(p, &s->u.with.body) ? s : NULL;
}

/* ---- functions
 * ------------------------------------------------------------------------------------------ */

static bool parse_param(cq_parser *p, cq_ast_param *param)
{
    param->at   = cq_parser_peek(p, 0)->at;
    param->name = cq_parser_name(p);
    if (param->name && cq_parser_accept(p, CQ_TOKEN_COLON))
        param->type = cq_parse_test(p);
    if (param->name && cq_parser_accept(p, CQ_TOKEN_ASSIGN))
        param->value = cq_parse_test(p);
    return p->status == CQ_OK;
}

/* `(a, b: int=3, *, c)`, with comments of types behind the parameters. */
static bool parse_params(cq_parser *p, cq_ast_def *def)
{
    const size_t mark    = cq_parser_mark(p);
    bool         kw_only = false;
    void        *items;

    if (!cq_parser_expect(p, CQ_TOKEN_LPAREN))
        return false;
    while (!cq_parser_at(p, CQ_TOKEN_RPAREN)) {
        cq_ast_param param = { .kw_only = kw_only };
        uint32_t     end;

        if (cq_parser_accept(p, CQ_TOKEN_MUL))
            param.stars = 1;
        else if (cq_parser_accept(p, CQ_TOKEN_POW))
            param.stars = 2;
        kw_only |= param.stars == 1;
        if (param.stars == 1 && cq_parser_accept(p, CQ_TOKEN_COMMA))
            continue; /* a star alone */
        if (!parse_param(p, &param))
            return false;
        end = cq_parser_end(p);
        if (!cq_parser_accept(p, CQ_TOKEN_COMMA) && !cq_parser_at(p, CQ_TOKEN_RPAREN))
            return cq_parser_expect(p, CQ_TOKEN_RPAREN);
        if (!cq_parse_type_comment(p, &param.type, end, cq_parser_peek(p, 0)->at.start) ||
            !cq_parser_push(p, param))
            return false;
    }
    p->next++;
    if (!cq_parser_take(p, mark, sizeof *def->params, &items, &def->n_params))
        return false;
    def->params = items;
    return true;
}

static bool parse_body(cq_parser *p, cq_ast_def *def)
{
    const uint32_t n_loops = p->n_loops, colon = cq_parser_end(p);
    const cq_span *comment;
    uint32_t       first = cq_parser_peek(p, 0)->at.start;
    bool           ok;

    if (cq_parser_peek(p, 1)->kind == CQ_TOKEN_NEWLINE) /* behind the colon, and an INDENT */
        first = cq_parser_peek(p, 3)->at.start;
    comment = find_comment(p, colon, first);
    if (comment && !cq_parse_range(p, *comment, parse_signature, def))
        return false;
    p->n_loops = 0;
    p->n_functions++;
    ok = parse_block(p, &def->body);
    p->n_functions--;
    p->n_loops = n_loops;
    return ok;
}

/* `def` is taken. */
cq_ast_def *cq_parse_def(cq_parser *p, cq_ast_exprs decorators)
{
    cq_ast_def *def = cq_parser_new(p, sizeof *def);

    if (!def)
        return NULL;
    def->decorators = decorators;
    def->at         = cq_parser_peek(p, 0)->at;
    def->name       = cq_parser_attr_name(p);
    if (!def->name || !parse_params(p, def))
        return NULL;
    if (cq_parser_accept(p, CQ_TOKEN_ARROW) && !(def->result = cq_parse_test(p)))
        return NULL;
    return parse_body(p, def) ? def : NULL;
}

bool cq_parse_decorators(cq_parser *p, cq_ast_exprs *out)
{
    const size_t mark = cq_parser_mark(p);

    while (cq_parser_accept(p, CQ_TOKEN_AT)) {
        cq_ast_expr *x = cq_parse_test(p);

        if (!x || !cq_parser_expect(p, CQ_TOKEN_NEWLINE) || !cq_parser_push(p, x))
            return false;
    }
    return cq_parser_take_exprs(p, mark, out);
}

static cq_ast_stmt *parse_inner_def(cq_parser *p, uint32_t start)
{
    cq_ast_stmt *s = new_stmt(p, start, (cq_ast_stmt){ .kind = CQ_S_DEF });

    if (!s)
        return NULL;
    s->u.def = cq_parse_def(p, (cq_ast_exprs){ 0 });
    return s->u.def ? s : NULL;
}

static cq_ast_stmt *parse_compound(cq_parser *p, bool *found)
{
    static const struct simple compounds[] = {
        { CQ_TOKEN_IF, parse_if },         { CQ_TOKEN_WHILE, parse_while },
        { CQ_TOKEN_FOR, parse_for },       { CQ_TOKEN_WITH, parse_with },
        { CQ_TOKEN_DEF, parse_inner_def },
    };
    const uint32_t start = cq_parser_peek(p, 0)->at.start;

    *found = true;
    for (size_t i = 0; i < sizeof compounds / sizeof *compounds; i++)
        if (cq_parser_accept(p, compounds[i].token))
            return compounds[i].parse(p, start);
    *found = false;
    return NULL;
}

/* ---- a text that is a block ---------------------------------------------------------------- */

void cq_parse_block(cq_parser *p)
{
    const size_t mark = cq_parser_mark(p);

    p->n_functions = 1;
    while (!cq_parser_at(p, CQ_TOKEN_END) && cq_parse_statements(p)) {
    }
    if (p->status == CQ_OK)
        cq_parser_take_block(p, mark, &p->unit->body);
}
