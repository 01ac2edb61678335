/* Checks of lib/aten that calls do not make: declarations, schemas, parameters, results of
 * gradients, and the names in every line. A unit test applies them to the whole library, and a
 * process to the files that differ in the folder that CALQUE_LIB names. */
#include "aten/core/body.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static cq_status fail_at(const cq_lib_function *f, cq_span at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static cq_status fail_at(const cq_lib_function *f, cq_span at, const char *format, ...)
{
    char    message[512];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return cq_source_fail(&f->unit->source, at, CQ_E_SYNTAX, NULL, "%s", message);
}

/* ---- schemas ---- */

/* Type variables are lower case ("t"), classes have dots ("__torch__.torch.classes.rnn.Cell"). */
static bool is_known(const cq_schema_type *t)
{
    return t->base != CQ_SCHEMA_ANY || !isupper((unsigned char)t->name[0]) || strchr(t->name, '.');
}

static cq_status check_types(const cq_decorator *d, const cq_schema_arg *args, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_known(&args[i].type))
            return cq_decorator_fail(d,
                                     "unknown type %s; expected Tensor, Scalar, int, float, bool, "
                                     "str, ScalarType …, with ? if optional and [] for a list",
                                     args[i].type.name);
    return CQ_OK;
}

static cq_status check_unique(const cq_decorator *d, const cq_op *op)
{
    size_t n = 0;

    for (const cq_op *o = cq_op_overloads(op->schema->name); o; o = o->next)
        n += strcmp(o->schema->full, op->schema->full) == 0;
    return n == 1 ? CQ_OK : cq_decorator_fail(d, "%s is already defined", op->schema->full);
}

/* ---- parameters ---- */

/* A keyword of Python has a _ at its end: from_. */
static bool is_named(const char *param, const char *arg)
{
    const size_t len = strlen(arg);

    return strncmp(param, arg, len) == 0 && strspn(param + len, "_") == strlen(param + len);
}

static bool is_argument(const cq_schema *s, const char *name)
{
    for (size_t i = 0; i < s->n_args; i++)
        if (is_named(name, s->args[i].name))
            return true;
    return false;
}

static bool has_parameter(const cq_ast_def *def, const char *arg)
{
    for (size_t i = 0; i < def->n_params; i++)
        if (is_named(def->params[i].name, arg))
            return true;
    return false;
}

/* A function for several overloads: a parameter that is not an argument of this one has a default.
 */
static cq_status check_shared(const cq_lib_function *f, const cq_schema *s)
{
    const cq_ast_def *def = f->def;

    for (size_t i = 0; i < def->n_params; i++)
        if (!def->params[i].value && !is_argument(s, def->params[i].name))
            return fail_at(f, def->params[i].at, "%s has no argument %s, so %s needs a default",
                           s->full, def->params[i].name, def->params[i].name);
    for (size_t i = 0; i < s->n_args; i++)
        if (!has_parameter(def, s->args[i].name))
            return fail_at(f, def->at, "parameter %s of %s is missing", s->args[i].name, s->full);
    return CQ_OK;
}

static bool has_defaults(const cq_ast_def *def)
{
    return def->n_params && def->params[def->n_params - 1].value;
}

/* Parameters are the arguments of the operator in order; the last ones may be missing if the
 * function does not need them. */
static cq_status check_parameters(const cq_lib_function *f, const cq_schema *s, bool all)
{
    const cq_ast_def *def = f->def;

    if (all && def->n_params > s->n_args && has_defaults(def))
        return check_shared(f, s);
    for (size_t i = 0; i < def->n_params; i++) {
        const char *name = def->params[i].name;

        if (i >= s->n_args)
            return fail_at(f, def->params[i].at, "%s has %zu arguments, there is none for %s",
                           s->full, s->n_args, name);
        if (!is_named(name, s->args[i].name))
            return fail_at(f, def->params[i].at, "argument %zu of %s is %s, got parameter %s",
                           i + 1, s->full, s->args[i].name, name);
    }
    if (all && def->n_params < s->n_args)
        return fail_at(f, def->at, "parameter %s of %s is missing", s->args[def->n_params].name,
                       s->full);
    return CQ_OK;
}

static bool is_numbered(const char *name, const char *word)
{
    const size_t len = strlen(word);

    return strncmp(name, word, len) == 0 && strspn(name + len, "0123456789") == strlen(name + len);
}

/* grad, result1 … and arguments by name, or base, changed and part. */
static cq_status check_names(const cq_lib_function *f, const cq_schema *s, const char *const *also,
                             const char *expected)
{
    for (size_t i = 0; i < f->def->n_params; i++) {
        const char *name  = f->def->params[i].name;
        bool        known = is_argument(s, name);

        for (size_t k = 0; also[k]; k++)
            known |= is_numbered(name, also[k]);
        if (!known)
            return fail_at(f, f->def->params[i].at,
                           "%s has no argument %s; a parameter is an argument or %s", s->full, name,
                           expected);
    }
    return CQ_OK;
}

/* ---- results of gradients ---- */

static cq_status check_keys(const cq_lib_function *f, const cq_schema *s, const cq_ast_expr *x)
{
    for (size_t i = 0; i < x->u.dict.n; i++) {
        const cq_ast_expr *key = x->u.dict.keys[i];

        if (key && key->kind == CQ_X_STR && cq_schema_find(s, key->u.str.text) < 0)
            return fail_at(f, key->at, "%s has no argument \"%s\"", s->full, key->u.str.text);
    }
    return CQ_OK;
}

static cq_status check_returns(const cq_lib_function *f, const cq_schema *s,
                               const cq_ast_block *block)
{
    for (size_t i = 0; i < block->n; i++) {
        const cq_ast_stmt *stmt = block->items[i];

        if (stmt->kind == CQ_S_RETURN && stmt->u.value && stmt->u.value->kind == CQ_X_DICT)
            CQ_TRY(check_keys(f, s, stmt->u.value));
        if (stmt->kind == CQ_S_IF) {
            CQ_TRY(check_returns(f, s, &stmt->u.branch.then));
            CQ_TRY(check_returns(f, s, &stmt->u.branch.other));
        }
    }
    return CQ_OK;
}

/* ---- declarations ---- */

static cq_status check_operator(const cq_decorator *d, const cq_op *op)
{
    CQ_TRY(check_unique(d, op));
    CQ_TRY(check_types(d, op->schema->args, op->schema->n_args));
    CQ_TRY(check_types(d, op->schema->results, op->schema->n_results));
    return check_parameters(d->function, op->schema, true);
}

static cq_status check_gradient(const cq_decorator *d, const cq_op *op)
{
    static const char *const also[] = { "grad", "result", NULL };

    CQ_TRY(check_names(d->function, op->schema, also, "grad, grad1 …, result, result1 …"));
    return check_returns(d->function, op->schema, &d->function->def->body);
}

static cq_status check_unview(const cq_decorator *d, const cq_op *op)
{
    static const char *const also[] = { "base", "changed", "part", NULL };

    return check_names(d->function, op->schema, also, "base, changed or part");
}

static cq_status check_rule(const cq_decorator *d, const cq_op *op)
{
    return check_parameters(d->function, op->schema, false);
}

/* Parentheses of the schema end the name of an operator. */
static const cq_op *op_of(const cq_decorator *d)
{
    char   name[256];
    size_t len = strcspn(d->text, "(");

    if (len >= sizeof name)
        return NULL;
    memcpy(name, d->text, len);
    name[len] = '\0';
    return cq_op_find(name);
}

static bool is_of_aten(const cq_lib_file *file)
{
    return cq_library_is_in(file, "aten/");
}

static cq_status check_decorator(const cq_decorator *d, void *user)
{
    static const struct {
        const char *name;
        cq_status (*fn)(const cq_decorator *d, const cq_op *op);
    } checks[] = {
        { "operator", check_operator }, { "gradient", check_gradient },
        { "unview", check_unview },     { "complex_rule", check_rule },
        { "gradient_of", check_rule },  { "decomposition", check_rule },
    };

    if (!is_of_aten(d->file) || (*(const bool *)user && !cq_library_is_changed(d->file)))
        return CQ_OK;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (d->function && strcmp(checks[i].name, d->name) == 0) {
            const cq_op *op = op_of(d);

            CQ_TRY(cq_library_parse(d->function));
            return op ? checks[i].fn(d, op) : cq_decorator_fail(d, "unknown operator %s", d->text);
        }
    return CQ_OK;
}

cq_status cq_body_check_library(bool only_changed)
{
    CQ_TRY(cq_lang_check_library(is_of_aten, only_changed, &cq_body_host));
    return cq_library_each(NULL, check_decorator, &only_changed);
}
