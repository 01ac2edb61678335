/* Finding classes and functions in a syntax tree by name, and naming its constructs in messages. */
#include "lang/ast.h"

#include <string.h>

const char *cq_ast_op_aten(cq_ast_op op)
{
    static const char *const names[] = {
#define X(name, sign, aten) aten,
        CQ_AST_OPS(X)
#undef X
    };

    return names[op];
}

const char *cq_ast_expr_text(const cq_ast_expr *x)
{
    switch (x->kind) {
    case CQ_X_BIG_INT: return "an integer of more than 64 bits";
    case CQ_X_STR: return "a named character (\\N{...})";
    case CQ_X_BYTES: return "a bytes literal";
    case CQ_X_FSTR: return "an f-string";
    case CQ_X_TSTR: return "a t-string";
    case CQ_X_FIELD: return "a conversion or format specification in an f-string";
    case CQ_X_SET: return "a set";
    case CQ_X_SET_COMP: return "a set comprehension";
    case CQ_X_GENERATOR: return "a generator expression";
    case CQ_X_LAMBDA: return "'lambda'";
    case CQ_X_NAMED: return "':='";
    case CQ_X_AWAIT: return "'await'";
    case CQ_X_YIELD: return "'yield'";
    case CQ_X_YIELD_FROM: return "'yield from'";
    case CQ_X_ELLIPSIS: return "'...'";
    case CQ_X_SLICE: return "a slice";
    case CQ_X_STARRED: return "a starred expression";
    default: return "this expression";
    }
}

const char *cq_ast_stmt_text(const cq_ast_stmt *s)
{
    switch (s->kind) {
    case CQ_S_IF: return "'if'";
    case CQ_S_WHILE: return "'while'";
    case CQ_S_DEL: return "'del'";
    case CQ_S_FOR: return s->is_async ? "'async for'" : "'for'";
    case CQ_S_WITH: return s->is_async ? "'async with'" : "'with'";
    case CQ_S_LOOP_ELSE: return "'else' of a loop";
    case CQ_S_TRY: return "'try'";
    case CQ_S_MATCH: return "'match'";
    case CQ_S_DEF: return s->u.def->is_async ? "'async def'" : "'def'";
    case CQ_S_CLASS: return "'class'";
    case CQ_S_IMPORT: return "'import'";
    case CQ_S_GLOBAL: return "'global'";
    case CQ_S_NONLOCAL: return "'nonlocal'";
    case CQ_S_TYPE: return "'type'";
    default: return "this statement";
    }
}

cq_ast_class *cq_unit_class(const cq_unit *unit, const char *name)
{
    return cq_map_get(&unit->classes_by_name, name);
}

cq_ast_def *cq_unit_def(const cq_unit *unit, const char *name)
{
    return cq_map_get(&unit->defs_by_name, name);
}

cq_ast_def *cq_ast_class_method(const cq_ast_class *c, const char *name)
{
    for (size_t i = 0; i < c->n_methods; i++)
        if (strcmp(c->methods[i]->name, name) == 0)
            return c->methods[i];
    return NULL;
}

cq_ast_field *cq_ast_class_field(const cq_ast_class *c, const char *name)
{
    for (size_t i = 0; i < c->n_fields; i++)
        if (strcmp(c->fields[i].name, name) == 0)
            return &c->fields[i];
    return NULL;
}
