/* Replaces patterns of nodes: lib/onnx/rewrites.py has the patterns and the functions that replace
 * them. Nodes without a reader are removed afterwards. */
#include "export/passes/fuse.h"
#include "base/lock.h"

#include <stdlib.h>

enum { N_STAGES = 3 };

/* ---- the patterns ---- */

/* Filled on first use; if that fails, the next call tries again. */
static struct {
    cq_mutex lock;
    bool     is_ready;
    CQ_VEC(cq_fusion) rows;
} fusions = { .lock = CQ_MUTEX_INIT };

static int number_of(const cq_decorator *d, const char *key)
{
    const char *value = cq_decorator_value(d, key);

    return value ? atoi(value) : 0;
}

static cq_fusion_use use_of(const cq_decorator *d)
{
    const char *value = cq_decorator_value(d, "use");

    return !value                            ? CQ_FUSE_ALWAYS
           : strcmp(value, "optimizer") == 0 ? CQ_FUSE_OPTIMIZER
                                             : CQ_FUSE_ONNXRUNTIME;
}

static cq_status add_fusion(const cq_decorator *d, void *user)
{
    const cq_fusion row = { .stage       = number_of(d, "stage"),
                            .since       = number_of(d, "opset"),
                            .pattern     = d->function,
                            .replacement = cq_library_find(d->file, d->text),
                            .use         = use_of(d) };

    (void)user;
    return row.replacement ? cq_vec_push(&fusions.rows, row)
                           : cq_decorator_fail(d, "the file has no function %s", d->text);
}

static cq_status read_fusions(void)
{
    cq_status status = CQ_OK;

    cq_mutex_lock(&fusions.lock);
    if (!fusions.is_ready) {
        status           = cq_library_each("rewrite", add_fusion, NULL);
        fusions.is_ready = status == CQ_OK;
        if (status != CQ_OK)
            cq_vec_clear(&fusions.rows);
    }
    cq_mutex_unlock(&fusions.lock);
    return status;
}

/* ---- matching ---- */

cq_value *cq_fuse_bound(const cq_fuse_match *m, const char *name)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->bound[i].name, name) == 0)
            return m->bound[i].value;
    return NULL;
}

static bool bind(cq_fuse_match *m, const char *name, cq_value *v)
{
    if (m->n == CQ_FUSE_MAX_BOUND)
        return false;
    m->bound[m->n].name  = name;
    m->bound[m->n].value = v;
    m->n++;
    return true;
}

static bool is_op(const cq_node *n, const char *op)
{
    static const char ms[] = "com.microsoft::", onnx[] = "onnx::";

    return n &&
           ((strncmp(n->op, ms, sizeof ms - 1) == 0 && !strcmp(n->op + sizeof ms - 1, op)) ||
            (strncmp(n->op, onnx, sizeof onnx - 1) == 0 && !strcmp(n->op + sizeof onnx - 1, op)));
}

cq_value *cq_fuse_input(const cq_node *n, size_t i)
{
    cq_value *v =
        n && i < n->n_inputs && n->inputs[i].kind == CQ_OPERAND_VALUE ? n->inputs[i].u.value : NULL;

    while (v && v->instead)
        v = v->instead;
    return v;
}

static bool match(cq_fuse_match *m, const cq_ast_expr *x, cq_value *v);

/* The inputs of a node, the first two in the other order if swapped. */
static bool match_inputs(cq_fuse_match *m, const cq_ast_arg *args, size_t n_args, const cq_node *n,
                         bool swapped)
{
    for (size_t i = 0; i < n_args; i++) {
        if (args[i].value->kind == CQ_X_ELLIPSIS)
            return true;
        if (!match(m, args[i].value, cq_fuse_input(n, swapped && i < 2 ? 1 - i : i)))
            return false;
    }
    return n_args == n->n_inputs;
}

/* Bindings of one part are not reconsidered if the next part fails to match. */
static bool match_node(cq_fuse_match *m, const char *op, const cq_ast_arg *args, size_t n_args,
                       const cq_node *n)
{
    const size_t bound = m->n;

    if (match_inputs(m, args, n_args, n, false))
        return true;
    if (strcmp(op, "Add") != 0 && strcmp(op, "Mul") != 0)
        return false;
    m->n = bound;
    return match_inputs(m, args, n_args, n, true);
}

/* Op(x, …), or maybe(Op, x, …): without the node, the pattern is x. */
static bool match_call(cq_fuse_match *m, const cq_ast_expr *x, cq_value *v)
{
    const char       *op       = x->u.call.function->u.name;
    const cq_ast_arg *args     = x->u.call.args;
    const bool        optional = strcmp(op, "maybe") == 0;

    if (optional)
        op = args++[0].value->u.name;
    if (is_op(v->node, op))
        return match_node(m, op, args, x->u.call.n - optional, v->node);
    return optional && match(m, args[0].value, v);
}

/* The expression assigned to a variable of the pattern; NULL for a parameter. */
static const cq_ast_expr *definition_of(const cq_fuse_match *m, const char *name)
{
    for (size_t i = 0; i < m->pattern->body.n; i++) {
        const cq_ast_stmt *s = m->pattern->body.items[i];

        if (s->kind == CQ_S_ASSIGN && strcmp(s->u.assign.targets.items[0]->u.name, name) == 0)
            return s->u.assign.value;
    }
    return NULL;
}

/* A name stands for the same value everywhere in the pattern. */
static bool match(cq_fuse_match *m, const cq_ast_expr *x, cq_value *v)
{
    const cq_value    *known;
    const cq_ast_expr *definition;

    if (!v)
        return false;
    if (x->kind == CQ_X_CALL)
        return match_call(m, x, v);
    if (x->kind != CQ_X_NAME)
        return false;
    known = cq_fuse_bound(m, x->u.name);
    if (known)
        return known == v;
    definition = definition_of(m, x->u.name);
    return (!definition || match(m, definition, v)) && bind(m, x->u.name, v);
}

static bool match_pattern(cq_fuse_match *m, cq_value *v)
{
    const cq_ast_block *body = &m->pattern->body;
    const cq_ast_stmt  *last = body->n ? body->items[body->n - 1] : NULL;

    return last && last->kind == CQ_S_RETURN && last->u.value && match(m, last->u.value, v);
}

/* ---- the pass ---- */

void cq_fuse_replace(cq_fuser *f, cq_value *old, cq_value *by)
{
    by->type     = old->type;
    old->instead = by;
    f->changed   = true;
}

/* The replacement may decline; what it emitted is then dead. */
static cq_status replace(cq_fuser *f, const cq_fusion *row, const cq_fuse_match *m)
{
    cq_node  *root = m->root;
    cq_sym    s = { .ex = f->ex, .block = root->block, .before = root, .node = root, .fuser = f };
    cq_value *by;

    f->match = m;
    CQ_TRY(cq_sym_run_replacement(&by, &s, row->replacement));
    if (by)
        cq_fuse_replace(f, root->outputs[0], by);
    return f->ex->graph->status;
}

static bool may_use(const cq_fuser *f, const cq_fusion *row)
{
    return row->stage == f->stage && f->ex->options.opset >= row->since &&
           (row->use == CQ_FUSE_ALWAYS || (row->use == CQ_FUSE_OPTIMIZER && f->ex->optimizes) ||
            f->ex->for_onnxruntime);
}

static cq_status try_fusions(cq_node *n, void *user)
{
    cq_fuser *f = user;

    for (size_t i = 0; i < fusions.rows.n && n->n_outputs == 1 && !n->outputs[0]->instead; i++) {
        const cq_fusion *row = &fusions.rows.items[i];
        cq_fuse_match    m   = { .root = n };

        if (!may_use(f, row))
            continue;
        CQ_TRY(cq_library_parse(row->pattern));
        m.pattern = row->pattern->def;
        if (match_pattern(&m, n->outputs[0]))
            CQ_TRY(replace(f, row, &m));
    }
    return CQ_OK;
}

static cq_status run_stage(cq_exporter *ex, int stage)
{
    cq_fuser  f = { .ex = ex, .stage = stage };
    cq_status status;

    status = cq_ir_each_node(ex->graph->top, try_fusions, &f);
    cq_ptr_map_clear(&f.known);
    CQ_TRY(status);
    CQ_TRY(ex->graph->status);
    if (!f.changed)
        return CQ_OK;
    CQ_TRY(cq_export_follow(ex));
    return cq_export_remove_dead(ex);
}

cq_status cq_export_fuse(cq_exporter *ex)
{
    const int stages =
        ex->options.opset >= 23 || ex->optimizes ? N_STAGES : ex->options.opset >= 10;

    CQ_TRY(read_fusions());
    for (int stage = 0; stage < stages; stage++)
        CQ_TRY(run_stage(ex, stage));
    return CQ_OK;
}
