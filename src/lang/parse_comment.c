/* Type comments: `x = []  # type: List[int]` and `# type: (Tensor, int) -> Tensor`. TorchScript
 * interprets them; to Python they are comments. So an invalid type comment is not an error: it is
 * ignored, or kept as the bad comment of its function, which cannot be called as TorchScript. */
#include "lang/parser.h"

/* The type comment between two locations of the text, if there is one. */
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

/* Parses a comment; NULL if it does not have that form, and then the parser is unchanged. */
static void *try_parse(cq_parser *p, cq_span comment, void *(*parse)(cq_parser *p, void *user),
                       void *user)
{
    const size_t   mark    = cq_parser_mark(p);
    const uint32_t nesting = p->nesting;
    void          *out     = cq_parse_range(p, comment, parse, user);

    if (p->status == CQ_E_SYNTAX) {
        p->status  = CQ_OK;
        p->stack.n = mark;
        p->nesting = nesting;
        return NULL;
    }
    return out;
}

static void *parse_type(cq_parser *p, void *user)
{
    cq_ast_expr *x = cq_parse_test(p);

    (void)user;
    if (x && !cq_parser_at(p, CQ_TOKEN_END))
        return cq_parser_refuse(p);
    return x;
}

bool cq_parse_type_comment(cq_parser *p, cq_ast_expr **type, uint32_t from, uint32_t to)
{
    const cq_span *comment = *type ? NULL : find_comment(p, from, to);

    if (comment)
        *type = try_parse(p, *comment, parse_type, NULL);
    return p->status == CQ_OK;
}

/* One type: parentheses around it leave no trace. */
static void *take_type(cq_parser *p, cq_ast_def *def, cq_ast_expr *type)
{
    if (def->n_params > 2)
        return cq_parser_fail(p, type->at, "1 type for %zu parameters", def->n_params);
    if (def->n_params && !def->params[def->n_params - 1].type)
        def->params[def->n_params - 1].type = type;
    return def;
}

/* (T, U) -> V: the types of a whole function; (...) leaves them to comments of the parameters. */
static void *parse_signature(cq_parser *p, void *user)
{
    cq_ast_def  *def = user;
    cq_ast_expr *types, *result;
    size_t       skip;

    if (!cq_parser_at(p, CQ_TOKEN_LPAREN))
        return cq_parser_refuse(p);
    types  = cq_parse_test(p);
    result = types && cq_parser_expect(p, CQ_TOKEN_ARROW) ? cq_parse_test(p) : NULL;
    if (!result || !cq_parser_at(p, CQ_TOKEN_END))
        return result ? cq_parser_refuse(p) : NULL;
    if (types->kind != CQ_X_ELLIPSIS && types->kind != CQ_X_TUPLE && !take_type(p, def, types))
        return NULL;
    if (types->kind == CQ_X_TUPLE) {
        skip = def->n_params - types->u.items.n; /* self has no type */
        if (def->n_params < types->u.items.n || skip > 1)
            return cq_parser_fail(p, types->at, "%zu types for %zu parameters", types->u.items.n,
                                  def->n_params);
        for (size_t i = 0; i < types->u.items.n; i++)
            if (!def->params[skip + i].type)
                def->params[skip + i].type = types->u.items.items[i];
    }
    def->result = result;
    return def;
}

bool cq_parse_signature_comment(cq_parser *p, cq_ast_def *def, uint32_t from, uint32_t to)
{
    const cq_span *comment = find_comment(p, from, to);

    if (comment && !try_parse(p, *comment, parse_signature, def))
        def->bad_comment = *comment;
    return p->status == CQ_OK;
}
