/* Fuses layers that a model contains as separate steps, because its opset has no operator for them:
 * GELU (opset 20) and LayerNormalization (opset 17). Five to nine passes over memory become one,
 * and linears.c can fuse a GELU with a product. lib/onnx/rewrites.py has the patterns, which the
 * optimizer uses, too. Here a value has no known type, so the fused steps accept what the separate
 * ones do. */
#include "runtime/fuse/patterns.h"

#include "onnx/compose/pattern.h"
#include "runtime/kernels/gelu.h"
#include "runtime/kernels/norm.h"

#include <string.h>

/* ---- the plan as the matcher sees it ---- */

static cq_rt_node_value *value_of(const cq_pattern_value *v)
{
    return (cq_rt_node_value *)v;
}

static bool is_op(const cq_pattern_value *v, const char *op)
{
    return cq_rt_is_op(value_of(v)->maker, op);
}

static size_t n_inputs(const cq_pattern_value *v)
{
    return value_of(v)->maker->step.n_in;
}

static cq_pattern_value *input(const cq_pattern_value *v, size_t i)
{
    const cq_rt_node_step *s = value_of(v)->maker;

    return i < s->step.n_in ? (cq_pattern_value *)s->in[i] : NULL;
}

static bool number(double *out, const cq_pattern_value *v)
{
    const cq_rt_node_value *value = value_of(v);
    const cq_tensor        *t     = cq_rt_constant(value);

    if (!t || cq_tensor_numel(t) != 1 || t->rank > 1)
        return false;
    *out = cq_tensor_get_f64(t, 0);
    return true;
}

static const cq_pattern_graph graph = { is_op, n_inputs, input, number };

static cq_rt_node_value *bound(const cq_pattern_match *m, const char *name)
{
    return (cq_rt_node_value *)cq_pattern_bound(m, name);
}

/* ---- the steps of a match ---- */

/* The step that computes part i of the match; NULL: it is a name. */
static cq_rt_node_step *part(const cq_pattern_match *m, size_t i)
{
    return m->bound[i].name ? NULL : value_of(m->bound[i].value)->maker;
}

/* Whether only the match reads the values of its steps, except the root: the fused step does not
 * compute them. The caller of a session, and subgraphs, count as readers. */
static bool is_closed(const cq_pattern_match *m, const cq_rt_node_step *root)
{
    for (size_t i = 0; i < m->n; i++) {
        const cq_rt_node_step *s       = part(m, i);
        uint32_t               n_reads = 0;

        if (!s || s == root)
            continue;
        for (size_t k = 0; k < m->n; k++) {
            const cq_rt_node_step *reader = part(m, k);

            for (uint32_t j = 0; reader && j < reader->step.n_in; j++)
                n_reads += reader->in[j] == s->out[0];
        }
        if (n_reads != s->out[0]->n_uses)
            return false;
    }
    return true;
}

/* Makes the root the fused step and removes the other steps of the match. */
static cq_status fuse(cq_rt_builder *b, const cq_pattern_match *m, cq_rt_node_step *root,
                      cq_rt_node_value *const *in, uint32_t n_in, const cq_rt_row *row,
                      const void *prepared, const char *label)
{
    cq_rt_node_value **own = cq_arena_copy(b->all->arena, in, n_in * sizeof(cq_rt_node_value *));

    if (!own)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < m->n; i++)
        if (part(m, i))
            part(m, i)->is_gone = true;
    root->is_gone       = false;
    root->in            = own;
    root->step.n_in     = n_in;
    root->step.row      = row;
    root->step.prepared = prepared;
    root->step.label    = label;
    return CQ_OK;
}

/* ---- the fusions ---- */

static cq_status fuse_gelu(cq_rt_builder *b, const cq_pattern_match *m, cq_rt_node_step *root)
{
    cq_rt_node_value *x       = bound(m, "x");
    const bool        is_tanh = is_op(cq_pattern_bound(m, "t"), "Tanh");

    return x->is_constant
               ? CQ_OK
               : fuse(b, m, root, &x, 1, &cq_rt_row_gelu, &cq_rt_gelu_ops[is_tanh], "Gelu");
}

static bool is_of_last_axis(const cq_rt_node_value *mean)
{
    const cq_rt_node_step *s  = mean->maker;
    cq_rt                  rt = { .step = &s->step };
    const cq_tensor       *t;
    cq_rt_ints             axes;

    if (!cq_rt_int(&rt, "keepdims") || cq_rt_attr_ints(&axes, &rt, "axes") != CQ_OK)
        return false;
    if (axes.given)
        return axes.n == 1 && axes.at[0] == -1;
    if (s->step.n_in < 2 || !s->in[1] || !s->in[1]->is_constant ||
        s->in[1]->constant.kind != CQ_VAL_TENSOR)
        return false;
    t = s->in[1]->constant.u.tensor; /* axes are an input since opset 18 */
    return cq_tensor_numel(t) == 1 && cq_tensor_get_i64(t, 0) == -1;
}

/* The length of a constant vector; 0 for other values. A single element would be broadcast. */
static int64_t length_of(const cq_rt_node_value *v)
{
    const cq_tensor *t = cq_rt_constant(v);

    return t && t->rank == 1 && cq_size_of(t, 0) > 1 ? cq_size_of(t, 0) : 0;
}

static cq_status fuse_layer_norm(cq_rt_builder *b, const cq_pattern_match *m, cq_rt_node_step *root)
{
    cq_rt_node_value *in[3] = { bound(m, "x"), bound(m, "w"), bound(m, "b") };
    cq_rt_layer_norm *keep;
    double            epsilon;

    if (!is_of_last_axis(bound(m, "mean")) || !is_of_last_axis(bound(m, "var")) ||
        !number(&epsilon, cq_pattern_bound(m, "eps")) || !length_of(in[1]) ||
        length_of(in[1]) != length_of(in[2]))
        return CQ_OK;
    keep = cq_arena_zalloc(b->all->arena, sizeof *keep);
    if (!keep)
        return CQ_E_NO_MEMORY;
    keep->epsilon = epsilon;
    return fuse(b, m, root, in, 3, &cq_rt_row_layer_norm, keep, "LayerNormalization");
}

/* The fusions that patterns name. */
static const struct fusion {
    const char *name;
    cq_status (*fuse)(cq_rt_builder *b, const cq_pattern_match *m, cq_rt_node_step *root);
} fusions[] = { { "gelu", fuse_gelu }, { "layer_norm", fuse_layer_norm } };

enum { N_FUSIONS = sizeof fusions / sizeof *fusions };

/* Whether a match is possible: other graphs need not read the patterns. */
static bool may_match(const cq_rt_builder *b)
{
    static const char *const ops[] = { "Erf", "Tanh", "ReduceMean" };

    for (size_t i = 0; i < b->steps.n; i++)
        for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
            if (cq_rt_is_op(b->steps.items[i], ops[k]))
                return true;
    return false;
}

static cq_status try_pattern(cq_rt_builder *b, const cq_pattern *p, cq_rt_node_step *root)
{
    cq_pattern_match m;
    bool             found;

    CQ_TRY(cq_pattern_find(&found, &m, &graph, p, (cq_pattern_value *)root->out[0]));
    for (size_t i = 0; found && i < N_FUSIONS; i++)
        if (strcmp(fusions[i].name, p->replacement) == 0 && is_closed(&m, root))
            return fusions[i].fuse(b, &m, root);
    return CQ_OK;
}

cq_status cq_rt_optimize_layers(cq_rt_builder *b)
{
    const cq_pattern *patterns;
    size_t            n;

    if (!may_match(b))
        return CQ_OK;
    CQ_TRY(cq_patterns(&patterns, &n));
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < b->steps.n && patterns[k].use == CQ_PATTERN_RUNTIME; i++)
            if (b->steps.items[i]->out[0] && !b->steps.items[i]->is_gone)
                CQ_TRY(try_pattern(b, &patterns[k], b->steps.items[i]));
    return CQ_OK;
}
