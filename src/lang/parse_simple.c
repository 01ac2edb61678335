/* Statements of one line: assignments, imports, return and others. Those with blocks are in
 * parse_stmt.c. */
#include "lang/parser.h"

#include <string.h>

bool cq_parse_at_simple_end(const cq_parser *p)
{
    return cq_parser_at(p, CQ_TOKEN_NEWLINE) || cq_parser_at(p, CQ_TOKEN_SEMICOLON) ||
           cq_parser_at(p, CQ_TOKEN_END);
}

/* ---- assignments ------------------------------------------------------------------------------
 */

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
        value = cq_parse_check_target(p, target) ? cq_parse_value(p) : NULL;
        return cq_parser_stmt(
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
        value = cq_parse_value(p);
    s = cq_parser_stmt(
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
        value = cq_parse_value(p);
        if (!value)
            return NULL;
    }
    s = cq_parser_stmt(p, first->at.start,
                       (cq_ast_stmt){ .kind = CQ_S_ASSIGN, .u.assign = { .value = value } });
    if (!s || !cq_parser_take_exprs(p, mark, &s->u.assign.targets))
        return NULL;
    if (s->u.assign.targets.n == 1 &&
        !cq_parse_type_comment(p, &s->u.assign.type, value->at.end, cq_parser_peek(p, 0)->at.end))
        return NULL;
    return s;
}

/* A statement that begins with an expression, which is parsed. */
static cq_ast_stmt *parse_behind_expr(cq_parser *p, cq_ast_expr *x)
{
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
    return cq_parser_stmt(p, x->at.start, (cq_ast_stmt){ .kind = CQ_S_EXPR, .u.value = x });
}

/* PyTorch prints attributes whose names are keywords unchanged. */
cq_ast_stmt *cq_parse_keyword_field(cq_parser *p)
{
    const uint32_t start = cq_parser_peek(p, 0)->at.start;
    const char    *name  = cq_parser_attr_name(p);

    return parse_behind_expr(
        p, cq_parser_expr(p, start, (cq_ast_expr){ .kind = CQ_X_NAME, .u.name = name }));
}

/* ---- imports -----------------------------------------------------------------------------------
 */

/* a.b.c, with as many dots in front as a relative import has. */
static const char *parse_module_name(cq_parser *p, bool relative)
{
    const uint32_t start = cq_parser_peek(p, 0)->at.start;

    while (relative &&
           (cq_parser_accept(p, CQ_TOKEN_DOT) || cq_parser_accept(p, CQ_TOKEN_ELLIPSIS))) {
    }
    if (cq_parser_at(p, CQ_TOKEN_IMPORT) && cq_parser_end(p) > start)
        return cq_parser_intern(p, p->unit->source.text + start, cq_parser_end(p) - start);
    do {
        if (!cq_parser_attr_name(p))
            return NULL;
    } while (cq_parser_accept(p, CQ_TOKEN_DOT));
    return cq_parser_intern(p, p->unit->source.text + start, cq_parser_end(p) - start);
}

static bool add_import(cq_parser *p, cq_ast_import import)
{
    if (cq_parser_accept(p, CQ_TOKEN_AS))
        import.alias = cq_parser_name(p);
    import.at.end = cq_parser_end(p);
    return cq_parser_push(p, import);
}

static cq_ast_stmt *take_imports(cq_parser *p, uint32_t start, size_t mark)
{
    cq_ast_stmt *s = cq_parser_stmt(p, start, (cq_ast_stmt){ .kind = CQ_S_IMPORT });
    void        *items;

    if (!s || !cq_parser_take(p, mark, sizeof *s->u.import.items, &items, &s->u.import.n))
        return NULL;
    s->u.import.items = items;
    return s;
}

static cq_ast_stmt *parse_import(cq_parser *p, uint32_t start)
{
    const size_t mark = cq_parser_mark(p);

    do {
        cq_ast_import import = { .at     = cq_parser_peek(p, 0)->at,
                                 .module = parse_module_name(p, false) };

        if (!import.module || !add_import(p, import))
            return NULL;
    } while (cq_parser_accept(p, CQ_TOKEN_COMMA));
    return take_imports(p, start, mark);
}

static bool parse_imported_names(cq_parser *p, const char *module)
{
    const bool bracket = cq_parser_accept(p, CQ_TOKEN_LPAREN);

    do {
        cq_ast_import import = { .module = module,
                                 .at     = cq_parser_peek(p, 0)->at,
                                 .name   = cq_parser_name(p) };

        if (!import.name || !add_import(p, import))
            return false;
    } while (cq_parser_accept(p, CQ_TOKEN_COMMA) && !(bracket && cq_parser_at(p, CQ_TOKEN_RPAREN)));
    return !bracket || cq_parser_expect(p, CQ_TOKEN_RPAREN);
}

static cq_ast_stmt *parse_from(cq_parser *p, uint32_t start)
{
    const size_t mark   = cq_parser_mark(p);
    const char  *module = parse_module_name(p, true);

    if (!module || !cq_parser_expect(p, CQ_TOKEN_IMPORT))
        return NULL;
    if (cq_parser_at(p, CQ_TOKEN_MUL)) {
        const cq_ast_import all = { .module = module, .at = cq_parser_peek(p, 0)->at, .name = "*" };

        p->next++;
        if (!cq_parser_push(p, all))
            return NULL;
    } else if (!parse_imported_names(p, module)) {
        return NULL;
    }
    return take_imports(p, start, mark);
}

/* ---- the others ---------------------------------------------------------------------------------
 */

static cq_ast_stmt *parse_return(cq_parser *p, uint32_t start)
{
    cq_ast_expr *value = NULL;

    if (!p->n_functions)
        return cq_parser_fail(p, p->tokens->list.items[p->next - 1].at,
                              "return outside of a function");
    if (!cq_parse_at_simple_end(p))
        value = cq_parse_tests(p);
    return cq_parser_stmt(p, start, (cq_ast_stmt){ .kind = CQ_S_RETURN, .u.value = value });
}

static cq_ast_stmt *parse_raise(cq_parser *p, uint32_t start)
{
    cq_ast_expr *value = NULL, *cause = NULL;

    if (!cq_parse_at_simple_end(p))
        value = cq_parse_test(p);
    if (value && cq_parser_accept(p, CQ_TOKEN_FROM))
        cause = cq_parse_test(p);
    return cq_parser_stmt(p, start,
                          (cq_ast_stmt){ .kind = CQ_S_RAISE, .u.raise = { value, cause } });
}

static cq_ast_stmt *parse_assert(cq_parser *p, uint32_t start)
{
    cq_ast_expr *test = cq_parse_test(p), *message = NULL;

    if (test && cq_parser_accept(p, CQ_TOKEN_COMMA))
        message = cq_parse_test(p);
    return cq_parser_stmt(p, start,
                          (cq_ast_stmt){ .kind = CQ_S_ASSERT, .u.assertion = { test, message } });
}

static cq_ast_stmt *parse_del(cq_parser *p, uint32_t start)
{
    const size_t mark = cq_parser_mark(p);
    cq_ast_expr *x    = cq_parse_tests(p);
    cq_ast_stmt *s;

    if (!x || !cq_parse_check_target(p, x))
        return NULL;
    s = cq_parser_stmt(p, start, (cq_ast_stmt){ .kind = CQ_S_DEL });
    if (!s)
        return NULL;
    if (x->kind == CQ_X_TUPLE || x->kind == CQ_X_LIST)
        s->u.targets = x->u.items;
    else if (!cq_parser_push(p, x) || !cq_parser_take_exprs(p, mark, &s->u.targets))
        return NULL;
    for (size_t i = 0; i < s->u.targets.n; i++)
        if (s->u.targets.items[i]->kind == CQ_X_STARRED)
            return cq_parser_fail(p, s->u.targets.items[i]->at, "a starred name cannot be deleted");
    return s;
}

static cq_ast_stmt *parse_names(cq_parser *p, uint32_t start, cq_ast_stmt_kind kind)
{
    const size_t mark = cq_parser_mark(p);
    cq_ast_stmt *s;
    void        *items;

    do {
        const char *name = cq_parser_name(p);

        if (!name || !cq_parser_push(p, name))
            return NULL;
    } while (cq_parser_accept(p, CQ_TOKEN_COMMA));
    s = cq_parser_stmt(p, start, (cq_ast_stmt){ .kind = kind });
    if (!s || !cq_parser_take(p, mark, sizeof *s->u.names.items, &items, &s->u.names.n))
        return NULL;
    s->u.names.items = items;
    return s;
}

static cq_ast_stmt *parse_global(cq_parser *p, uint32_t start)
{
    return parse_names(p, start, CQ_S_GLOBAL);
}

static cq_ast_stmt *parse_nonlocal(cq_parser *p, uint32_t start)
{
    return parse_names(p, start, CQ_S_NONLOCAL);
}

static cq_ast_stmt *parse_pass(cq_parser *p, uint32_t start)
{
    return cq_parser_stmt(p, start, (cq_ast_stmt){ .kind = CQ_S_PASS });
}

static cq_ast_stmt *parse_jump(cq_parser *p, uint32_t start, cq_ast_stmt_kind kind)
{
    if (!p->n_loops)
        return cq_parser_fail(p, p->tokens->list.items[p->next - 1].at, "%s outside of a loop",
                              kind == CQ_S_BREAK ? "break" : "continue");
    return cq_parser_stmt(p, start, (cq_ast_stmt){ .kind = kind });
}

static cq_ast_stmt *parse_break(cq_parser *p, uint32_t start)
{
    return parse_jump(p, start, CQ_S_BREAK);
}

static cq_ast_stmt *parse_continue(cq_parser *p, uint32_t start)
{
    return parse_jump(p, start, CQ_S_CONTINUE);
}

/* type name[params] = value, where `type` is not a name. */
static bool at_type_alias(const cq_parser *p)
{
    const cq_token_kind behind = cq_parser_peek(p, 2)->kind;

    return cq_parser_at_name(p, 0, "type") && cq_parser_peek(p, 1)->kind == CQ_TOKEN_NAME &&
           (behind == CQ_TOKEN_ASSIGN || behind == CQ_TOKEN_LBRACKET);
}

static cq_ast_stmt *parse_type_alias(cq_parser *p)
{
    const uint32_t     start = cq_parser_peek(p, 0)->at.start;
    cq_ast_type_alias *alias = cq_parser_new(p, sizeof *alias);
    const char        *name;
    uint32_t           at;

    if (!alias)
        return NULL;
    p->next++;
    at          = cq_parser_peek(p, 0)->at.start;
    name        = cq_parser_name(p);
    alias->name = cq_parser_expr(p, at, (cq_ast_expr){ .kind = CQ_X_NAME, .u.name = name });
    if (!alias->name || !cq_parse_type_params(p, &alias->params) ||
        !cq_parser_expect(p, CQ_TOKEN_ASSIGN))
        return NULL;
    alias->value = cq_parse_test(p);
    return cq_parser_stmt(p, start, (cq_ast_stmt){ .kind = CQ_S_TYPE, .u.alias = alias });
}

static const struct simple {
    cq_token_kind token;
    cq_ast_stmt *(*parse)(cq_parser *p, uint32_t start);
} simples[] = {
    { CQ_TOKEN_RETURN, parse_return },     { CQ_TOKEN_PASS, parse_pass },
    { CQ_TOKEN_RAISE, parse_raise },       { CQ_TOKEN_ASSERT, parse_assert },
    { CQ_TOKEN_DEL, parse_del },           { CQ_TOKEN_BREAK, parse_break },
    { CQ_TOKEN_CONTINUE, parse_continue }, { CQ_TOKEN_IMPORT, parse_import },
    { CQ_TOKEN_FROM, parse_from },         { CQ_TOKEN_GLOBAL, parse_global },
    { CQ_TOKEN_NONLOCAL, parse_nonlocal },
};

cq_ast_stmt *cq_parse_simple(cq_parser *p)
{
    const uint32_t start = cq_parser_peek(p, 0)->at.start;

    for (size_t i = 0; i < sizeof simples / sizeof *simples; i++)
        if (cq_parser_accept(p, simples[i].token))
            return simples[i].parse(p, start);
    if (at_type_alias(p))
        return parse_type_alias(p);
    return parse_behind_expr(p, cq_parse_value(p));
}
