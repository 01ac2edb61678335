/* Replaces patterns of nodes: lib/onnx/rewrites.py has the patterns and the functions that replace
 * them. Nodes without a reader are removed afterwards. */
#include "export/passes/fuse.h"

enum { N_STAGES = 3 };

/* ---- the graph as the matcher sees it ---- */

static const cq_node *node_of(const cq_pattern_value *v)
{
    return ((const cq_value *)v)->node;
}

static bool is_op(const cq_pattern_value *v, const char *op)
{
    static const char ms[] = "com.microsoft::", onnx[] = "onnx::";
    const cq_node    *n = node_of(v);

    return n &&
           ((strncmp(n->op, ms, sizeof ms - 1) == 0 && !strcmp(n->op + sizeof ms - 1, op)) ||
            (strncmp(n->op, onnx, sizeof onnx - 1) == 0 && !strcmp(n->op + sizeof onnx - 1, op)));
}

static size_t n_inputs(const cq_pattern_value *v)
{
    return node_of(v)->n_inputs;
}

cq_value *cq_fuse_input(const cq_node *n, size_t i)
{
    cq_value *v =
        n && i < n->n_inputs && n->inputs[i].kind == CQ_OPERAND_VALUE ? n->inputs[i].u.value : NULL;

    while (v && v->instead)
        v = v->instead;
    return v;
}

static cq_pattern_value *input(const cq_pattern_value *v, size_t i)
{
    return (cq_pattern_value *)cq_fuse_input(node_of(v), i);
}

static bool number(double *out, const cq_pattern_value *v)
{
    const cq_tensor *t = cq_sym_data((const cq_value *)v);

    if (!t || cq_tensor_numel(t) != 1)
        return false;
    *out = cq_tensor_get_f64(t, 0);
    return true;
}

static const cq_pattern_graph graph = { is_op, n_inputs, input, number };

/* ---- the pass ---- */

void cq_fuse_replace(cq_fuser *f, cq_value *old, cq_value *by)
{
    by->type     = old->type;
    old->instead = by;
    f->changed   = true;
}

/* The replacement may decline; what it emitted is then dead. */
static cq_status replace(cq_fuser *f, const cq_pattern *row, const cq_fuse_match *m)
{
    cq_node  *root = m->root;
    cq_sym    s = { .ex = f->ex, .block = root->block, .before = root, .node = root, .fuser = f };
    cq_value *by;

    f->match = m;
    CQ_TRY(cq_sym_run_replacement(&by, &s, row->replaced_by));
    if (by)
        cq_fuse_replace(f, root->outputs[0], by);
    return f->ex->graph->status;
}

static bool may_use(const cq_fuser *f, const cq_pattern *row)
{
    if (row->stage != f->stage || f->ex->options.opset < row->since)
        return false;
    return row->use == CQ_PATTERN_ALWAYS ||
           (row->use == CQ_PATTERN_OPTIMIZER && f->ex->optimizes) ||
           (row->use == CQ_PATTERN_ONNXRUNTIME && f->ex->for_onnxruntime);
}

static cq_status try_patterns(cq_node *n, void *user)
{
    cq_fuser     *f = user;
    cq_fuse_match m;
    bool          found;

    m.root = n;
    for (size_t i = 0; i < f->n_patterns && n->n_outputs == 1 && !n->outputs[0]->instead; i++) {
        if (!may_use(f, &f->patterns[i]))
            continue;
        CQ_TRY(cq_pattern_find(&found, &m.names, &graph, &f->patterns[i],
                               (cq_pattern_value *)n->outputs[0]));
        if (found)
            CQ_TRY(replace(f, &f->patterns[i], &m));
    }
    return CQ_OK;
}

static cq_status run_stage(cq_exporter *ex, int stage)
{
    cq_fuser  f = { .ex = ex, .stage = stage };
    cq_status status;

    CQ_TRY(cq_patterns(&f.patterns, &f.n_patterns));
    status = cq_ir_each_node(ex->graph->top, try_patterns, &f);
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

    for (int stage = 0; stage < stages; stage++)
        CQ_TRY(run_stage(ex, stage));
    return CQ_OK;
}
