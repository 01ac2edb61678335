/* Two nodes in a row that one can be: a Concat of what a Concat joined, a Slice along one axis of
 * what was sliced along another, a Reshape of what had another shape before; and nodes that change
 * nothing: a Slice that leaves nothing out, a bias of zeros. Symbolics write down a node for each
 * step of the program. */
#include "export/exporter.h"
#include "base/str.h"

/* Input i, if it is there and a value: rules of users make nodes of any form. */
static cq_value *input_of(const cq_node *n, size_t i)
{
    return i < n->n_inputs && n->inputs[i].kind == CQ_OPERAND_VALUE ? n->inputs[i].u.value : NULL;
}

static const cq_tensor *constant_of(const cq_node *n, size_t i)
{
    return cq_sym_data(input_of(n, i));
}

/* The node that makes input i of n, if n alone reads it. */
static cq_node *maker_of(const cq_node *n, size_t i)
{
    const cq_value *v     = input_of(n, i);
    cq_node        *maker = v ? v->node : NULL;

    return maker && maker->block == n->block && v->n_uses == 1 && !maker->is_anchor &&
                   !maker->n_notes
               ? maker
               : NULL;
}

static cq_node *maker_of_same(const cq_node *n, size_t i)
{
    cq_node *maker = maker_of(n, i);

    return maker && maker->op == n->op ? maker : NULL;
}

/* maker is not used any more: its inputs are n's. */
static void take_over(cq_node *n, cq_operand *inputs, size_t n_inputs, cq_node *maker)
{
    n->inputs   = inputs;
    n->n_inputs = n_inputs;
    cq_ir_unlink(maker);
}

/* ---- Concat ---- */

static cq_status merge_concat(cq_graph *g, cq_node *n)
{
    for (size_t i = 0; i < n->n_inputs; i++) {
        cq_node          *maker = maker_of_same(n, i);
        const cq_operand *axis  = cq_ir_attr(n, "axis"), *other;
        cq_operand       *inputs;
        size_t            n_inputs;

        other = maker ? cq_ir_attr(maker, "axis") : NULL;
        if (!axis || !other || axis->u.i.value != other->u.i.value)
            continue;
        n_inputs = n->n_inputs - 1 + maker->n_inputs;
        inputs   = cq_arena_array(g->arena, n_inputs, sizeof *inputs);
        if (!inputs)
            return CQ_E_NO_MEMORY;
        memcpy(inputs, n->inputs, i * sizeof *inputs);
        memcpy(inputs + i, maker->inputs, maker->n_inputs * sizeof *inputs);
        memcpy(inputs + i + maker->n_inputs, n->inputs + i + 1,
               (n->n_inputs - i - 1) * sizeof *inputs);
        take_over(n, inputs, n_inputs, maker);
        i += maker->n_inputs - 1;
    }
    return CQ_OK;
}

/* ---- Slice, since opset 10: starts, ends, axes and steps are inputs ---- */

typedef struct bounds {
    int64_t n, starts[CQ_MAX_RANK], ends[CQ_MAX_RANK], axes[CQ_MAX_RANK], steps[CQ_MAX_RANK];
} bounds;

/* Input i, if it is n numbers that are known. */
static bool read_numbers(int64_t *out, const cq_node *node, size_t i, int64_t n)
{
    const cq_operand *o = i < node->n_inputs ? &node->inputs[i] : NULL;
    const cq_tensor  *t = o && o->kind == CQ_OPERAND_VALUE ? cq_sym_data(o->u.value) : NULL;

    if (!t || t->dtype != CQ_DTYPE_I64 || cq_tensor_numel(t) != n)
        return false;
    for (int64_t k = 0; k < n; k++)
        out[k] = cq_tensor_get_i64(t, k);
    return true;
}

static bool read_bounds(bounds *b, const cq_node *n)
{
    const cq_tensor *starts = n->n_inputs > 3 ? cq_sym_data(n->inputs[1].u.value) : NULL;

    b->n = starts ? cq_tensor_numel(starts) : 0;
    if (b->n < 1 || b->n > CQ_MAX_RANK || !read_numbers(b->starts, n, 1, b->n) ||
        !read_numbers(b->ends, n, 2, b->n) || !read_numbers(b->axes, n, 3, b->n))
        return false;
    for (int64_t k = 0; k < b->n; k++)
        b->steps[k] = 1;
    return n->n_inputs < 5 || n->inputs[4].kind == CQ_OPERAND_NONE ||
           read_numbers(b->steps, n, 4, b->n);
}

/* Adds what b has to those of a, unless both speak of an axis. Negative ones might. */
static bool add_bounds(bounds *a, const bounds *b)
{
    if (a->n + b->n > CQ_MAX_RANK)
        return false;
    for (int64_t k = 0; k < b->n; k++, a->n++) {
        for (int64_t j = 0; j < a->n; j++)
            if (a->axes[j] == b->axes[k] || a->axes[j] < 0 || b->axes[k] < 0)
                return false;
        a->starts[a->n] = b->starts[k];
        a->ends[a->n]   = b->ends[k];
        a->axes[a->n]   = b->axes[k];
        a->steps[a->n]  = b->steps[k];
    }
    return true;
}

/* From the first to the last, however many there are: x[:]. */
static bool takes_all(const bounds *b)
{
    for (int64_t k = 0; k < b->n; k++)
        if (b->starts[k] != 0 || b->ends[k] != INT64_MAX || b->steps[k] != 1)
            return false;
    return true;
}

/* ---- nodes that change nothing ---- */

static bool is_returned(const cq_value *v)
{
    for (size_t i = 0; i < v->block->returns.n; i++)
        if (v->block->returns.items[i].u.value == v)
            return true;
    return false;
}

/* Whoever reads the result of n reads x. */
static void skip(cq_node *n, cq_value *x)
{
    if (n->is_anchor || n->n_notes || is_returned(n->outputs[0]))
        return;
    n->outputs[0]->instead = x;
    x->n_uses += n->outputs[0]->n_uses; /* one too many: that of n */
}

/* x * 1, x / 1 and x - 0, of a number that is not a weight, whose name a user may look for. x + 0
 * is not x for -0, which integers do not have. */
static bool is_neutral(const cq_node *n)
{
    static const struct {
        const char *op;
        double      number;
        bool        of_integers;
    } rows[] = {
        { "onnx::Mul", 1, false },
        { "onnx::Div", 1, false },
        { "onnx::Sub", 0, false },
        { "onnx::Add", 0, true },
    };
    const cq_value  *by = n->n_inputs == 2 && input_of(n, 0) ? input_of(n, 1) : NULL;
    const cq_tensor *t  = by && !by->is_weight ? cq_sym_data(by) : NULL;

    for (size_t i = 0; t && t->rank == 0 && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(n->op, rows[i].op) == 0)
            return cq_tensor_get_f64(t, 0) == rows[i].number &&
                   !(rows[i].of_integers && cq_dtype_is_float(t->dtype));
    return false;
}

static bool all_zeros(const cq_tensor *t)
{
    for (int64_t i = 0; i < cq_tensor_numel(t); i++)
        if (cq_tensor_get_f64(t, i) != 0)
            return false;
    return true;
}

/* A product is a sum that begins with 0, so it is never -0, and adding zeros to it changes nothing.
 * They are what many layers have for a bias before they are trained. */
static bool adds_zeros(const cq_node *n)
{
    const cq_value  *x       = strcmp(n->op, "onnx::Add") == 0 ? input_of(n, 0) : NULL;
    const cq_node   *product = x ? x->node : NULL;
    const cq_tensor *bias = constant_of(n, 1), *w = NULL;

    if (product && strcmp(product->op, "onnx::MatMul") == 0)
        w = constant_of(product, 1);
    return w && bias && w->rank == 2 && bias->rank == 1 &&
           bias->sizes[0].value == w->sizes[1].value && all_zeros(bias);
}

/* A weight may go if it stays what it is: it is neither trained later nor an input. Functions are
 * shared by layers, whose weights differ. */
static bool weights_may_go(const cq_export_options *o)
{
    return o->training == CQ_TRAINING_EVAL && !cq_export_makes_functions(o) &&
           !(o->flags & (CQ_EXPORT_NO_PARAMS | CQ_EXPORT_KEEP_INITIALIZERS_AS_INPUTS));
}

/* ---- Slice of Slice ---- */

static cq_status merge_slice(cq_graph *g, cq_node *n)
{
    cq_node       *maker = maker_of_same(n, 0);
    bounds         all, more;
    const int64_t *lists[] = { all.starts, all.ends, all.axes, all.steps };
    cq_operand    *inputs;
    bool           steps = false;

    if (!read_bounds(&more, n))
        return CQ_OK;
    if (takes_all(&more)) {
        skip(n, n->inputs[0].u.value);
        return CQ_OK;
    }
    if (!maker || !read_bounds(&all, maker) || !add_bounds(&all, &more))
        return CQ_OK;
    for (int64_t k = 0; k < all.n; k++)
        steps |= all.steps[k] != 1;
    inputs = cq_arena_array(g->arena, 5, sizeof *inputs);
    if (!inputs)
        return CQ_E_NO_MEMORY;
    inputs[0] = maker->inputs[0];
    for (size_t i = 0; i < (steps ? 4u : 3u); i++) {
        cq_value *v = cq_export_ints(n, lists[i], all.n);

        if (!v)
            return CQ_E_NO_MEMORY;
        inputs[i + 1] = CQ_OPERAND_OF(v);
    }
    take_over(n, inputs, steps ? 5 : 4, maker);
    return CQ_OK;
}

/* ---- shapes of shapes ---- */

/* What shape x had before does not matter, unless a size of 0 asks for it. */
static cq_status merge_reshape(cq_graph *g, cq_node *n)
{
    static const char *const reshapes[] = { "onnx::Reshape", "onnx::Flatten", "onnx::Squeeze",
                                            "onnx::Unsqueeze" };
    const cq_tensor         *shape      = constant_of(n, 1);
    cq_node                 *maker;

    (void)g;
    for (int64_t i = 0; shape && i < cq_tensor_numel(shape); i++)
        if (cq_tensor_get_i64(shape, i) == 0)
            return CQ_OK;
    while (shape && (maker = maker_of(n, 0)) && CQ_IS_AMONG(maker->op, reshapes)) {
        n->inputs[0] = maker->inputs[0];
        cq_ir_unlink(maker);
    }
    return CQ_OK;
}

/* The axes that a Squeeze took away. */
static cq_status merge_unsqueeze(cq_graph *g, cq_node *n)
{
    const cq_value  *v       = input_of(n, 0);
    const cq_node   *squeeze = v ? v->node : NULL;
    const cq_tensor *t       = constant_of(n, 1);
    int64_t          axes[CQ_MAX_RANK], others[CQ_MAX_RANK], n_axes = t ? cq_tensor_numel(t) : 0;

    (void)g;
    if (squeeze && strcmp(squeeze->op, "onnx::Squeeze") == 0 && input_of(squeeze, 0) &&
        n_axes >= 1 && n_axes <= CQ_MAX_RANK && read_numbers(axes, n, 1, n_axes) &&
        read_numbers(others, squeeze, 1, n_axes) &&
        memcmp(axes, others, (size_t)n_axes * sizeof *axes) == 0)
        skip(n, input_of(squeeze, 0));
    return CQ_OK;
}

static const struct merge_rule {
    const char *op;
    cq_status (*merge)(cq_graph *g, cq_node *n);
} rules[] = {
    { "onnx::Concat", merge_concat },
    { "onnx::Slice", merge_slice },
    { "onnx::Reshape", merge_reshape },
    { "onnx::Unsqueeze", merge_unsqueeze },
};

static cq_status merge(cq_node *n, void *exporter)
{
    cq_exporter *ex = exporter;

    cq_export_follow_inputs(n);
    if (is_neutral(n) || (weights_may_go(&ex->options) && adds_zeros(n)))
        skip(n, n->inputs[0].u.value);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(n->op, rules[i].op) == 0)
            return rules[i].merge(ex->graph, n);
    return CQ_OK;
}

cq_value *cq_export_constant(cq_node *before, cq_dtype dtype, size_t rank, const int64_t *sizes,
                             const void *values)
{
    cq_graph  *g    = before->block->graph;
    cq_tensor *t    = NULL;
    cq_node   *node = NULL;

    if (cq_tensor_new(&t, dtype, rank, sizes, values) == CQ_OK)
        node = cq_ir_node_new(before->block, before, "onnx::Constant", NULL, 0, 1);
    if (node && cq_ir_keep_tensor(g, t) == CQ_OK &&
        cq_ir_attr_set(node, "value", cq_attr_t("value", t).value) == CQ_OK) {
        node->outputs[0]->type = cq_ir_type_of(g, t);
        node->origin           = before->origin;
        node->place            = before->place;
    }
    cq_tensor_release(t);
    return node ? node->outputs[0] : NULL;
}

cq_value *cq_export_ints(cq_node *before, const int64_t *values, int64_t n)
{
    return cq_export_constant(before, CQ_DTYPE_I64, 1, &n, values);
}

cq_status cq_export_merge(cq_exporter *ex)
{
    cq_ir_count_uses(ex->graph);
    CQ_TRY(cq_ir_each_node(ex->graph->top, merge, ex));
    CQ_TRY(cq_export_follow(ex));
    return cq_export_remove_dead(ex);
}
