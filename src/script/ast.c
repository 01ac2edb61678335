/* Finding classes and functions in a syntax tree by name. */
#include "script/ast.h"

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
