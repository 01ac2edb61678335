/* Reading and matching of patterns, see pattern.h. */
#include "onnx/compose/pattern.h"
#include "base/lock.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */

/* Filled on first use; if that fails, the next call tries again. */
static struct {
    cq_mutex     lock;
    bool         is_ready;
    cq_lib_file *file;
    CQ_VEC(cq_pattern) rows;
} table = { .lock = CQ_MUTEX_INIT };

static int number_of(const cq_decorator *d, const char *key)
{
    const char *value = cq_decorator_value(d, key);

    return value ? atoi(value) : 0;
}

static cq_status read_use(cq_pattern_use *out, const cq_decorator *d)
{
    static const char *const names[] = { [CQ_PATTERN_OPTIMIZER]   = "optimizer",
                                         [CQ_PATTERN_ONNXRUNTIME] = "onnxruntime",
                                         [CQ_PATTERN_RUNTIME]     = "runtime" };
    const char              *value   = cq_decorator_value(d, "use");

    *out = CQ_PATTERN_ALWAYS;
    for (size_t i = 1; value && i < sizeof names / sizeof *names; i++)
        if (strcmp(value, names[i]) == 0)
            *out = (cq_pattern_use)i;
    return !value || *out != CQ_PATTERN_ALWAYS
               ? CQ_OK
               : cq_decorator_fail(d,
                                   "use is \"%s\"; expected one of optimizer, onnxruntime, "
                                   "runtime",
                                   value);
}

static cq_status add(const cq_decorator *d, void *user)
{
    cq_pattern row = { .function    = d->function,
                       .replacement = d->text,
                       .stage       = number_of(d, "stage"),
                       .since       = number_of(d, "opset") };

    (void)user;
    CQ_TRY(read_use(&row.use, d));
    if (row.use != CQ_PATTERN_RUNTIME && !(row.replaced_by = cq_library_find(d->file, d->text)))
        return cq_decorator_fail(d, "the file has no function %s", d->text);
    return cq_vec_push(&table.rows, row);
}

static cq_status read_file(void)
{
    CQ_TRY(cq_library_open(&table.file, "onnx/rewrites.py"));
    return cq_lib_file_each(table.file, "rewrite", add, NULL);
}

cq_status cq_patterns(const cq_pattern **out, size_t *n)
{
    cq_status status = CQ_OK;

    cq_mutex_lock(&table.lock);
    if (!table.is_ready) {
        status = read_file();
        if (status != CQ_OK) {
            cq_vec_clear(&table.rows);
            cq_lib_file_free(table.file);
            table.file = NULL;
        }
        table.is_ready = status == CQ_OK;
    }
    cq_mutex_unlock(&table.lock);
    *out = table.rows.items;
    *n   = table.rows.n;
    return status;
}

/* ---- matching ---- */

cq_pattern_value *cq_pattern_bound(const cq_pattern_match *m, const char *name)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->bound[i].name && strcmp(m->bound[i].name, name) == 0)
            return m->bound[i].value;
    return NULL;
}

static bool bind(cq_pattern_match *m, const char *name, cq_pattern_value *v)
{
    if (m->n == CQ_PATTERN_MAX_BOUND)
        return false;
    m->bound[m->n].name  = name;
    m->bound[m->n].value = v;
    m->n++;
    return true;
}

static bool match(cq_pattern_match *m, const cq_ast_expr *x, cq_pattern_value *v);

/* The inputs of the node of v, the first two in the other order if swapped. */
static bool match_inputs(cq_pattern_match *m, const cq_ast_arg *args, size_t n_args,
                         const cq_pattern_value *v, bool swapped)
{
    for (size_t i = 0; i < n_args; i++) {
        if (args[i].value->kind == CQ_X_ELLIPSIS)
            return true;
        if (!match(m, args[i].value, m->graph->input(v, swapped && i < 2 ? 1 - i : i)))
            return false;
    }
    return n_args == m->graph->n_inputs(v);
}

static bool match_node(cq_pattern_match *m, const char *op, const cq_ast_arg *args, size_t n_args,
                       cq_pattern_value *v)
{
    const size_t n = m->n;

    if (match_inputs(m, args, n_args, v, false))
        return bind(m, NULL, v);
    m->n = n;
    return (strcmp(op, "Add") == 0 || strcmp(op, "Mul") == 0) &&
           match_inputs(m, args, n_args, v, true) && bind(m, NULL, v);
}

/* The first alternative that matches. It is not reconsidered if the rest of the pattern fails to
 * match. */
static bool match_either(cq_pattern_match *m, const cq_ast_expr *x, cq_pattern_value *v)
{
    const size_t n = m->n;

    for (size_t i = 0; i < x->u.call.n; i++) {
        m->n = n;
        if (match(m, x->u.call.args[i].value, v))
            return true;
    }
    return false;
}

/* Op(x, …), maybe(Op, x, …), or either(…). */
static bool match_call(cq_pattern_match *m, const cq_ast_expr *x, cq_pattern_value *v)
{
    const char       *op       = x->u.call.function->u.name;
    const cq_ast_arg *args     = x->u.call.args;
    const bool        optional = strcmp(op, "maybe") == 0;

    if (strcmp(op, "either") == 0)
        return match_either(m, x, v);
    if (optional)
        op = args++[0].value->u.name;
    if (m->graph->is_op(v, op))
        return match_node(m, op, args, x->u.call.n - optional, v);
    return optional && match(m, args[0].value, v);
}

static bool match_number(const cq_pattern_match *m, double wanted, const cq_pattern_value *v)
{
    double number;

    return m->graph->number(&number, v) && fabs(number - wanted) <= 1e-5 * (1 + fabs(wanted));
}

/* The expression assigned to a variable of the pattern; NULL for a parameter. */
static const cq_ast_expr *definition_of(const cq_pattern_match *m, const char *name)
{
    for (size_t i = 0; i < m->def->body.n; i++) {
        const cq_ast_stmt *s = m->def->body.items[i];

        if (s->kind == CQ_S_ASSIGN && strcmp(s->u.assign.targets.items[0]->u.name, name) == 0)
            return s->u.assign.value;
    }
    return NULL;
}

/* A name stands for the same value everywhere in the pattern. */
static bool match_name(cq_pattern_match *m, const char *name, cq_pattern_value *v)
{
    const cq_pattern_value *known = cq_pattern_bound(m, name);
    const cq_ast_expr      *definition;

    if (known)
        return known == v;
    definition = definition_of(m, name);
    return (!definition || match(m, definition, v)) && bind(m, name, v);
}

static bool match(cq_pattern_match *m, const cq_ast_expr *x, cq_pattern_value *v)
{
    if (!v)
        return false;
    switch (x->kind) {
    case CQ_X_CALL: return match_call(m, x, v);
    case CQ_X_NAME: return match_name(m, x->u.name, v);
    case CQ_X_INT: return match_number(m, (double)x->u.i, v);
    case CQ_X_FLOAT: return match_number(m, x->u.f, v);
    default: return false;
    }
}

cq_status cq_pattern_find(bool *found, cq_pattern_match *m, const cq_pattern_graph *graph,
                          const cq_pattern *pattern, cq_pattern_value *root)
{
    const cq_ast_block *body;
    const cq_ast_stmt  *last;

    *found = false;
    CQ_TRY(cq_library_parse(pattern->function));
    m->graph = graph;
    m->def   = pattern->function->def;
    m->n     = 0;
    body     = &m->def->body;
    last     = body->n ? body->items[body->n - 1] : NULL;
    *found   = last && last->kind == CQ_S_RETURN && last->u.value && match(m, last->u.value, root);
    return CQ_OK;
}
