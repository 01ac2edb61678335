/* Functions: their parameters and heads, lambdas, decorators, type parameters. */
#include "lang/parser.h"

#include <string.h>

/* ---- parameters ---------------------------------------------------------------------------- */

/* Which parameters may follow. */
typedef struct params {
    cq_token_kind closer; /* RPAREN; COLON: of a lambda, whose parameters have no types */
    size_t        mark;   /* of the first one on the stack */
    bool          kw_only, has_default;
    bool          bare_star; /* a star alone, which a name must follow */
    bool          is_over;   /* ** is the last one */
} params;

static bool parse_param(cq_parser *p, const params *all, cq_ast_param *param)
{
    param->at   = cq_parser_peek(p, 0)->at;
    param->name = cq_parser_name(p);
    if (param->name && all->closer == CQ_TOKEN_RPAREN && cq_parser_accept(p, CQ_TOKEN_COLON))
        param->type = param->stars == 1 ? cq_parse_item(p) : cq_parse_test(p);
    if (param->name && !param->stars && cq_parser_accept(p, CQ_TOKEN_ASSIGN))
        param->value = cq_parse_test(p);
    return p->status == CQ_OK;
}

/* `/`: all parameters in front of it are positional. */
static bool end_positional(cq_parser *p, const params *all)
{
    const size_t  n     = (p->stack.n - all->mark) / sizeof(cq_ast_param);
    cq_ast_param *items = (cq_ast_param *)(void *)(p->stack.items + all->mark);
    cq_ast_param  copy;

    if (!n || all->kw_only || (memcpy(&copy, items, sizeof copy), copy.pos_only))
        return cq_parser_refuse(p) != NULL;
    for (size_t i = 0; i < n; i++) {
        char *at = p->stack.items + all->mark + i * sizeof copy;

        memcpy(&copy, at, sizeof copy);
        copy.pos_only = true;
        memcpy(at, &copy, sizeof copy);
    }
    p->next++;
    return cq_parser_at(p, all->closer) || cq_parser_expect(p, CQ_TOKEN_COMMA);
}

static bool check_param(cq_parser *p, params *all, const cq_ast_param *param)
{
    if (!param->value && !param->stars && !param->kw_only && all->has_default)
        cq_parser_fail(p, param->at, "a parameter without a default follows one with a default");
    if (all->bare_star && param->stars)
        cq_parser_fail(p, param->at, "a named parameter is expected behind '*'");
    all->bare_star = false;
    all->has_default |= param->value != NULL;
    all->is_over = param->stars == 2;
    return p->status == CQ_OK;
}

/* One parameter and its comma; a type comment may follow the comma. */
static bool add_param(cq_parser *p, params *all)
{
    cq_ast_param param = { .kw_only = all->kw_only };
    uint32_t     end;

    if (all->is_over)
        return cq_parser_refuse(p) != NULL;
    if (cq_parser_at(p, CQ_TOKEN_MUL) && all->kw_only)
        return cq_parser_refuse(p) != NULL;
    if (cq_parser_accept(p, CQ_TOKEN_MUL))
        param.stars = 1;
    else if (cq_parser_accept(p, CQ_TOKEN_POW))
        param.stars = 2;
    all->kw_only |= param.stars == 1;
    if (param.stars == 1 && cq_parser_accept(p, CQ_TOKEN_COMMA)) {
        all->bare_star = true;
        return true;
    }
    if (!parse_param(p, all, &param) || !check_param(p, all, &param))
        return false;
    end = cq_parser_end(p);
    if (!cq_parser_accept(p, CQ_TOKEN_COMMA) && !cq_parser_at(p, all->closer))
        return cq_parser_expect(p, all->closer);
    if (all->closer == CQ_TOKEN_RPAREN &&
        !cq_parse_type_comment(p, &param.type, end, cq_parser_peek(p, 0)->at.start))
        return false;
    return cq_parser_push(p, param);
}

/* `a, /, b: int=3, *, c` up to the closer, which is taken. */
static bool parse_params(cq_parser *p, cq_ast_def *def, cq_token_kind closer)
{
    params all = { .closer = closer, .mark = cq_parser_mark(p) };
    void  *items;

    while (!cq_parser_at(p, closer))
        if (!(cq_parser_at(p, CQ_TOKEN_DIV) ? end_positional(p, &all) : add_param(p, &all)))
            return false;
    if (all.bare_star)
        return cq_parser_refuse(p) != NULL;
    p->next++;
    if (!cq_parser_take(p, all.mark, sizeof *def->params, &items, &def->n_params))
        return false;
    def->params = items;
    return true;
}

/* ---- type parameters ---------------------------------------------------------------------------
 */

static bool parse_type_param(cq_parser *p, cq_ast_type_param *param)
{
    *param = (cq_ast_type_param){ 0 };
    if (cq_parser_accept(p, CQ_TOKEN_MUL))
        param->stars = 1;
    else if (cq_parser_accept(p, CQ_TOKEN_POW))
        param->stars = 2;
    param->name = cq_parser_name(p);
    if (param->name && !param->stars && cq_parser_accept(p, CQ_TOKEN_COLON))
        param->bound = cq_parse_test(p);
    if (param->name && cq_parser_accept(p, CQ_TOKEN_ASSIGN))
        param->value = param->stars == 1 ? cq_parse_item(p) : cq_parse_test(p);
    return p->status == CQ_OK;
}

bool cq_parse_type_params(cq_parser *p, cq_ast_type_params *out)
{
    const size_t mark = cq_parser_mark(p);
    void        *items;

    if (!cq_parser_at(p, CQ_TOKEN_LBRACKET))
        return p->status == CQ_OK;
    if (!cq_parser_enter(p))
        return false;
    p->next++;
    do {
        cq_ast_type_param param;

        if (!parse_type_param(p, &param) || !cq_parser_push(p, param))
            return false;
    } while (cq_parser_accept(p, CQ_TOKEN_COMMA) && !cq_parser_at(p, CQ_TOKEN_RBRACKET));
    cq_parser_leave(p);
    if (!cq_parser_expect(p, CQ_TOKEN_RBRACKET) ||
        !cq_parser_take(p, mark, sizeof *out->items, &items, &out->n))
        return false;
    out->items = items;
    return true;
}

/* ---- functions ------------------------------------------------------------------------------- */

static bool parse_body(cq_parser *p, cq_ast_def *def)
{
    const cq_parser outer = *p;
    uint32_t        first = cq_parser_peek(p, 0)->at.start;
    bool            ok;

    if (cq_parser_peek(p, 1)->kind == CQ_TOKEN_NEWLINE) /* after the colon, and an INDENT */
        first = cq_parser_peek(p, 3)->at.start;
    if (!cq_parse_signature_comment(p, def, cq_parser_end(p), first))
        return false;
    p->n_loops  = 0;
    p->in_class = p->yields = false;
    p->n_functions++;
    ok                = cq_parse_block(p, &def->body);
    def->is_generator = p->yields;
    p->n_functions--;
    p->n_loops  = outer.n_loops;
    p->in_class = outer.in_class;
    p->yields   = outer.yields;
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
    if (!def->name || !cq_parse_type_params(p, &def->type_params) ||
        !cq_parser_expect(p, CQ_TOKEN_LPAREN) || !parse_params(p, def, CQ_TOKEN_RPAREN))
        return NULL;
    if (cq_parser_accept(p, CQ_TOKEN_ARROW) && !(def->result = cq_parse_test(p)))
        return NULL;
    return parse_body(p, def) ? def : NULL;
}

static cq_ast_expr *parse_lambda_body(cq_parser *p, cq_ast_def *def)
{
    const bool yields = p->yields;

    p->yields = false;
    p->n_functions++;
    def->value        = cq_parse_test(p);
    def->is_generator = p->yields;
    p->n_functions--;
    p->yields = yields;
    return def->value;
}

/* lambda params: expression */
cq_ast_expr *cq_parse_lambda(cq_parser *p)
{
    const cq_span at  = cq_parser_peek(p, 0)->at;
    cq_ast_def   *def = cq_parser_new(p, sizeof *def);
    cq_ast_expr  *x;
    bool          ok;

    if (!def || !cq_parser_enter(p))
        return NULL;
    p->next++; /* lambda */
    def->at   = at;
    def->name = cq_parser_intern(p, "<lambda>", strlen("<lambda>"));
    ok        = def->name && parse_params(p, def, CQ_TOKEN_COLON) && parse_lambda_body(p, def);
    cq_parser_leave(p);
    x = ok ? cq_parser_expr(p, at.start, (cq_ast_expr){ .kind = CQ_X_LAMBDA, .u.lambda = def })
           : NULL;
    for (size_t i = 0; x && i < def->n_params; i++)
        x = cq_parser_over(p, x, def->params[i].value);
    return cq_parser_over(p, x, def->value);
}

bool cq_parse_decorators(cq_parser *p, cq_ast_exprs *out)
{
    const size_t mark = cq_parser_mark(p);

    while (cq_parser_accept(p, CQ_TOKEN_AT)) {
        cq_ast_expr *x = cq_parse_named(p);

        if (!x || !cq_parser_expect(p, CQ_TOKEN_NEWLINE) || !cq_parser_push(p, x))
            return false;
    }
    return cq_parser_take_exprs(p, mark, out);
}
