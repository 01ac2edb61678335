/* Optimizes ONNX models with the passes of the exporter. The model becomes a graph of ir
 * (front/onnx.c), the passes run until none of them changes anything, and the graph is written back
 * (front/onnx_write.c). A pass may make new facts available to inference, so everything is repeated
 * while the model shrinks. */
#include "export/optimize.h"

#include "export/front/onnx.h"
#include "onnx/schema.h"

enum { MAX_ROUNDS = 16, MAX_MODELS = 4 };

/* ---- passes that need the source ---- */

static const cq_value *input_of(const cq_node *n, size_t i)
{
    return i < n->n_inputs && n->inputs[i].kind == CQ_OPERAND_VALUE ? n->inputs[i].u.value : NULL;
}

static cq_status use_known(cq_node *n, void *user)
{
    cq_onnx_source *s = user;

    for (size_t i = 0; i < n->n_outputs && strcmp(n->op, "onnx::Constant") != 0; i++) {
        cq_value  *v = n->outputs[i], *constant;
        cq_tensor *t = cq_ptr_map_get(&s->known, v);

        if (!t || v->instead || cq_export_is_returned(v))
            continue;
        constant = cq_export_constant_of(n, t);
        if (!constant)
            return s->ex->graph->status;
        constant->name = v->name;
        v->instead     = constant;
    }
    return CQ_OK;
}

/* The shape of a Reshape whose sizes are numbers, sizes of its input (0), and at most one other
 * (-1); otherwise false. */
static bool plain_shape(int64_t *out, const cq_onnx_elements *e, const cq_value *x)
{
    const bool has_shape = x->type.kind == CQ_TYPE_TENSOR && x->type.rank >= 0;
    size_t     n_open    = 0;

    for (size_t i = 0; i < e->n; i++) {
        out[i] = e->items[i].value;
        if (!e->items[i].expr && out[i] <= 0)
            return false;
        if (!e->items[i].expr)
            continue;
        out[i] = has_shape && (int)i < x->type.rank && cq_int_same(x->type.sizes[i], e->items[i])
                     ? 0
                     : -1;
        n_open += out[i] == -1;
    }
    return n_open <= 1;
}

/* Whether a 0 in the shape is a size (allowzero), not a copy of the input's size. */
static bool keeps_zero(const cq_node *n)
{
    const cq_operand *o = cq_ir_attr(n, "allowzero");

    return o && (o->kind != CQ_OPERAND_INT || o->u.i.value != 0);
}

static cq_status fix_reshape(cq_node *n, void *user)
{
    cq_onnx_source         *s = user;
    const cq_value         *x = input_of(n, 0), *shape = input_of(n, 1);
    const cq_onnx_elements *e = shape ? cq_ptr_map_get(&s->elements, shape) : NULL;
    int64_t                 sizes[CQ_MAX_RANK];
    cq_value               *constant;

    if (!x || !e || strcmp(n->op, "onnx::Reshape") != 0 || keeps_zero(n) || cq_sym_data(shape) ||
        !plain_shape(sizes, e, x))
        return CQ_OK;
    constant = cq_export_ints(n, sizes, (int64_t)e->n);
    if (!constant)
        return s->ex->graph->status;
    n->inputs[1] = CQ_OPERAND_OF(constant);
    return CQ_OK;
}

/* Integers that follow from shapes become constants. */
static cq_status use_shapes(cq_onnx_source *s)
{
    CQ_TRY(cq_ir_each_node(s->ex->graph->top, use_known, s));
    CQ_TRY(cq_export_follow(s->ex));
    CQ_TRY(cq_ir_each_node(s->ex->graph->top, fix_reshape, s));
    return cq_export_remove_dead(s->ex);
}

static cq_status fold(cq_onnx_source *s)
{
    CQ_TRY(cq_export_fold(s->ex));
    CQ_TRY(cq_export_follow(s->ex));
    return cq_export_remove_dead(s->ex);
}

static cq_status choose(cq_onnx_source *s)
{
    return cq_export_choose(s->ex);
}

static cq_status unroll(cq_onnx_source *s)
{
    return cq_export_unroll(s->ex);
}

static cq_status neutral(cq_onnx_source *s)
{
    return cq_export_neutral(s->ex);
}

static cq_status peephole(cq_onnx_source *s)
{
    return cq_export_peephole(s->ex);
}

static cq_status absorb(cq_onnx_source *s)
{
    return cq_export_absorb(s->ex);
}

static cq_status merge(cq_onnx_source *s)
{
    return cq_export_merge(s->ex);
}

static cq_status fuse(cq_onnx_source *s)
{
    return cq_export_fuse(s->ex);
}

static cq_status share(cq_onnx_source *s)
{
    return cq_export_share(s->ex);
}

static cq_status remove_dead(cq_onnx_source *s)
{
    return cq_export_remove_dead(s->ex);
}

static const struct pass {
    const char *name, *about;
    cq_status (*run)(cq_onnx_source *s);
    int since; /* opset */
} passes[] = {
    { "dead", "nodes, initializers and defaults that nothing reads", remove_dead, 1 },
    { "shapes", "integers that follow from the shapes of the inputs", use_shapes, 7 },
    { "fold", "nodes whose inputs are constants", fold, 7 },
    { "branches", "If with a known condition", choose, 1 },
    { "loops", "Loop with a known number of iterations, if few nodes result", unroll, 1 },
    { "identity", "nodes that change nothing: Identity, Dropout, Cast, Reshape, x + 0", neutral,
      7 },
    { "batch-norm", "BatchNormalization into the convolution before it", peephole, 7 },
    { "absorb", "biases and zeros into convolutions, sums and transposes into Gemm", absorb, 7 },
    { "merge", "chains of Concat, Slice, Reshape, Transpose, Squeeze, Unsqueeze", merge, 7 },
    { "layers", "patterns that are one operator: LayerNormalization, Gelu, Attention, …", fuse, 7 },
    { "duplicates", "equal nodes, and equal small constants", share, 7 },
};

enum { N_PASSES = sizeof passes / sizeof *passes };

const char *cq_optimizer_pass(size_t i, const char **about)
{
    if (i >= N_PASSES)
        return NULL;
    *about = passes[i].about;
    return passes[i].name;
}

/* ---- the loop ---- */

static cq_status count_node(cq_node *n, void *user)
{
    (void)n;
    ++*(int64_t *)user;
    return CQ_OK;
}

static int64_t count_nodes(const cq_graph *g)
{
    int64_t n = 0;

    cq_ir_each_node(g->top, count_node, &n);
    return n;
}

static cq_status run_passes(cq_optimizer *o, cq_onnx_source *s)
{
    cq_graph *g      = s->ex->graph;
    bool      shrank = true;

    for (unsigned round = 0; shrank && round < MAX_ROUNDS; round++) {
        const int64_t before = count_nodes(g);

        for (size_t i = 0; i < N_PASSES; i++) {
            const int64_t had = count_nodes(g);

            if (!(o->enabled >> i & 1) || s->ex->options.opset < passes[i].since)
                continue;
            CQ_TRY(passes[i].run(s));
            CQ_TRY(g->status);
            o->removed[i] += had - count_nodes(g);
        }
        shrank = count_nodes(g) < before;
        o->n_rounds++;
    }
    return CQ_OK;
}

static void clear(cq_exporter *ex)
{
    cq_vec_clear(&ex->owned);
    cq_map_clear(&ex->sizes);
    cq_ptr_map_clear(&ex->origins);
    cq_arena_free(ex->scratch);
    cq_graph_free(ex->graph);
}

/* What a run of the optimizer keeps from one pass over the model to the next. */
typedef struct rest {
    int64_t bytes_left; /* for computed constants, which the next pass takes for the model's */
    bool    has_budget, again; /* again: the shapes of new nodes must be inferred */
} rest;

static cq_status optimize_once(cq_optimizer *o, cq_onnx_model *model, rest *r)
{
    cq_exporter    ex = { .optimizes       = true,
                          .for_onnxruntime = o->for_onnxruntime,
                          .bytes_left      = r->bytes_left,
                          .has_budget      = r->has_budget };
    cq_onnx_source s  = { 0 };
    cq_status      status;

    cq_export_options_init(&ex.options);
    ex.options.opset = (int)cq_onnx_imported(&model->opset_import, "");
    ex.options.flags = o->drops_inputs ? CQ_EXPORT_DROP_UNREAD_INPUTS : 0;
    CQ_TRY(cq_graph_new(&ex.graph));
    ex.source = ex.graph;
    status    = cq_onnx_source_read(&s, &ex, model);
    if (status == CQ_OK) {
        cq_ir_count_uses(ex.graph);
        status = run_passes(o, &s);
    }
    if (status == CQ_OK)
        status = cq_onnx_source_write(&s);
    *r = (rest){ ex.bytes_left, ex.has_budget, ex.has_unrolled };
    cq_onnx_source_clear(&s);
    clear(&ex);
    return status;
}

cq_status cq_optimizer_run(cq_optimizer *o, cq_onnx_model *model)
{
    size_t before;
    bool   changed;
    rest   r = { 0 };

    CQ_TRY(cq_onnx_model_sort(&changed, model));
    for (int i = 0; i < MAX_MODELS; i++) {
        before = cq_onnx_model_n_nodes(model);
        CQ_TRY(optimize_once(o, model, &r));
        if (!r.again && cq_onnx_model_n_nodes(model) >= before)
            break;
    }
    return CQ_OK;
}
