/* Both notations are expressions of Python: calls, infix operators, integers and names. */
#include "pt2/expr.h"

#include "base/str.h"
#include "lang/ast.h"

#include <string.h>

enum { MAX_POWER = 8 };

static bool value_of(const cq_pt2_env *env, const cq_ast_expr *x, cq_int *out);

typedef cq_int (*binary)(cq_symbols *table, cq_int a, cq_int b);

/* Operations that are written as a call, as an operator, or both. */
static const struct {
    const char *name;
    cq_ast_op   op; /* NOT: no operator */
    binary      fold;
} functions[] = {
    { "Add", CQ_AST_ADD, cq_int_add },           { "", CQ_AST_SUB, cq_int_sub },
    { "Mul", CQ_AST_MUL, cq_int_mul },           { "FloorDiv", CQ_AST_FLOOR_DIV, cq_int_floordiv },
    { "CleanDiv", CQ_AST_NOT, cq_int_floordiv }, { "Mod", CQ_AST_MOD, cq_int_mod },
    { "PythonMod", CQ_AST_NOT, cq_int_mod },     { "Max", CQ_AST_NOT, cq_int_max },
    { "Min", CQ_AST_NOT, cq_int_min },
};

static binary function_of(const char *name, cq_ast_op op)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (name ? strcmp(name, functions[i].name) == 0 : op == functions[i].op)
            return functions[i].fold;
    return NULL;
}

static bool power(const cq_pt2_env *env, cq_int base, cq_int exponent, cq_int *out)
{
    *out = cq_i(1);
    if (exponent.expr || exponent.value < 0 || exponent.value > MAX_POWER)
        return false;
    for (int64_t i = 0; i < exponent.value; i++)
        *out = cq_int_mul(env->table, *out, base);
    return true;
}

static bool value_of_binary(const cq_pt2_env *env, const cq_ast_expr *x, cq_int *out)
{
    const binary fold = function_of(NULL, x->u.binary.op);
    cq_int       a, b;

    if (!value_of(env, x->u.binary.left, &a) || !value_of(env, x->u.binary.right, &b))
        return false;
    if (x->u.binary.op == CQ_AST_POW)
        return power(env, a, b, out);
    if (fold)
        *out = fold(env->table, a, b);
    return fold != NULL;
}

/* Symbol('s0', positive=True, integer=True), Integer(2), Pow(x, Integer(2)), Add(x, y, z) */
static bool value_of_call(const cq_pt2_env *env, const cq_ast_expr *x, cq_int *out)
{
    const cq_ast_expr *f    = x->u.call.function;
    const cq_ast_arg  *args = x->u.call.args;
    const char        *name = f->kind == CQ_X_NAME ? f->u.name : "";
    const binary       fold = function_of(name, CQ_AST_NOT);
    cq_int             next;

    if (!x->u.call.n)
        return false;
    if (strcmp(name, "Symbol") == 0)
        return args[0].value->kind == CQ_X_STR &&
               env->symbol(env->user, args[0].value->u.str.text, out);
    if (!value_of(env, args[0].value, out))
        return false;
    if (strcmp(name, "Integer") == 0)
        return x->u.call.n == 1;
    if (strcmp(name, "Pow") == 0)
        return x->u.call.n == 2 && value_of(env, args[1].value, &next) &&
               power(env, *out, next, out);
    for (size_t i = 1; fold && i < x->u.call.n; i++) {
        if (!value_of(env, args[i].value, &next))
            return false;
        *out = fold(env->table, *out, next);
    }
    return fold != NULL;
}

static bool value_of(const cq_pt2_env *env, const cq_ast_expr *x, cq_int *out)
{
    switch (x->kind) {
    case CQ_X_INT: *out = cq_i(x->u.i); return true;
    case CQ_X_NAME: return env->symbol(env->user, x->u.name, out);
    case CQ_X_CALL: return value_of_call(env, x, out);
    case CQ_X_BINARY: return value_of_binary(env, x, out);
    case CQ_X_UNARY:
        if (x->u.unary.op != CQ_AST_NEG || !value_of(env, x->u.unary.operand, out))
            return false;
        *out = cq_int_sub(env->table, cq_i(0), *out);
        return true;
    default: return false;
    }
}

bool cq_pt2_expr(const char *text, const cq_pt2_env *env, cq_int *out)
{
    cq_intern names = { 0 };
    cq_unit  *unit  = NULL;
    bool      is_expr;

    text += strspn(text, " ");
    is_expr = cq_parse(&unit, &names, "<size>", text, strlen(text), CQ_PARSE_EXPR) == CQ_OK &&
              value_of(env, unit->expr, out);
    cq_unit_free(unit);
    cq_intern_clear(&names);
    return is_expr;
}

/* Without the parser: it is called for every size of every input. */
const char *cq_pt2_lone_symbol(const char *text, char *buffer, size_t size)
{
    static const char symbol[] = "Symbol('",
                      word[]   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    const bool   called        = cq_starts_with(text, symbol);
    const char  *name          = called ? text + strlen(symbol) : text;
    const size_t len           = strspn(name, word);
    const char  *end           = called ? strchr(name + len, ')') : name + len - 1;

    if (!len || strchr("0123456789", name[0]) || len >= size || !end || end[1])
        return NULL;
    memcpy(buffer, name, len);
    buffer[len] = '\0';
    return buffer;
}
