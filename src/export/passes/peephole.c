/* Local improvements of the ONNX graph that inspect two nodes at a time, and dead-code
 * elimination. */
#include "export/exporter.h"

#include "base/file.h"

/* ---- unused nodes ---- */

static bool is_dead(const cq_node *n)
{
    for (size_t i = 0; i < n->n_outputs; i++)
        if (n->outputs[i]->n_uses)
            return false;
    return !n->is_anchor || !n->name; /* also a loop that only counts */
}

static void unuse(cq_value *v, void *user)
{
    (void)user;
    v->n_uses--;
}

static void remove_dead(cq_block *b);

static void release_block(cq_block *b)
{
    for (size_t i = 0; i < b->returns.n; i++)
        cq_ir_each_use(&b->returns.items[i], unuse, NULL);
    b->returns.n = 0;
    remove_dead(b);
}

/* Backwards, so that a chain of dead nodes is removed in one walk. */
static void remove_dead(cq_block *b)
{
    for (cq_node *n = b->last, *prev; n; n = prev) {
        prev = n->prev;
        if (!is_dead(n)) {
            for (size_t i = 0; i < n->n_blocks; i++)
                remove_dead(n->blocks[i]);
            continue;
        }
        for (size_t i = 0; i < n->n_inputs; i++)
            cq_ir_each_use(&n->inputs[i], unuse, NULL);
        for (size_t i = 0; i < n->n_blocks; i++)
            release_block(n->blocks[i]);
        cq_ir_unlink(n);
    }
}

cq_status cq_export_remove_dead(cq_exporter *ex)
{
    cq_ir_count_uses(ex->graph);
    remove_dead(ex->graph->top);
    return CQ_OK;
}

/* ---- replaced values ---- */

static void follow_list(cq_operand *operands, size_t n)
{
    for (size_t i = 0; i < n; i++)
        while (operands[i].kind == CQ_OPERAND_VALUE && operands[i].u.value->instead)
            operands[i].u.value = operands[i].u.value->instead;
}

void cq_export_follow_inputs(cq_node *n)
{
    follow_list(n->inputs, n->n_inputs);
}

static cq_status follow(cq_node *n, void *user)
{
    (void)user;
    cq_export_follow_inputs(n);
    for (size_t i = 0; i < n->n_blocks; i++)
        follow_list(n->blocks[i]->returns.items, n->blocks[i]->returns.n);
    return CQ_OK;
}

cq_status cq_export_follow(cq_exporter *ex)
{
    follow_list(ex->graph->top->returns.items, ex->graph->top->returns.n);
    return cq_ir_each_node(ex->graph->top, follow, NULL);
}

/* ---- Conv followed by BatchNormalization, in inference ---- */

static cq_tensor *constant_input(const cq_node *n, size_t i)
{
    return i < n->n_inputs && n->inputs[i].kind == CQ_OPERAND_VALUE
               ? cq_sym_data(n->inputs[i].u.value)
               : NULL;
}

static bool attr_is_zero(const cq_node *n, const char *name)
{
    const cq_operand *o = cq_ir_attr(n, name);

    return !o || o->u.i.value == 0;
}

/* A weight with one factor per channel. */
typedef struct scaled {
    cq_tensor *w, *scale;
    size_t     each; /* contiguous elements of a channel */
} scaled;

static void scaled_free(void *user)
{
    scaled *s = user;

    cq_tensor_release(s->w);
    cq_tensor_release(s->scale);
    cq_free(s);
}

static void scaled_make(void *user, void *to, size_t from, size_t n)
{
    const scaled *s     = user;
    const size_t  first = from / sizeof(float), end = first + n / sizeof(float);
    const size_t  channels = (size_t)cq_tensor_numel(s->scale);
    const float  *scale    = (const float *)cq_tensor_bytes(s->scale);
    float        *out      = to;

    cq_mapping_copy(to, cq_tensor_bytes(s->w) + from, n);
    for (size_t i = first; i < end;) {
        const size_t stop = i - i % s->each + s->each;
        const float  by   = scale[i / s->each % channels];

        for (; i < end && i < stop; i++)
            *out++ *= by;
    }
}

/* Lazy: no number is computed before it is written or read. */
static cq_tensor *scaled_later(cq_ctx *cx, cq_tensor *w, cq_tensor *scale, size_t axis)
{
    const size_t bytes = (size_t)cq_tensor_numel(w) * sizeof(float);
    scaled      *s     = cq_zalloc(sizeof *s);
    cq_storage  *storage;
    cq_tensor   *t = NULL;
    int64_t      sizes[CQ_MAX_RANK], strides[CQ_MAX_RANK];

    if (!s)
        return NULL;
    s->w     = cq_tensor_retain(w);
    s->scale = cq_tensor_retain(scale);
    s->each  = 1;
    for (size_t i = 0; i < w->rank; i++) {
        sizes[i]   = w->sizes[i].value;
        strides[i] = w->strides[i];
        s->each *= i > axis ? (size_t)sizes[i] : 1;
    }
    if (cq_storage_later(&storage, bytes, (cq_maker){ scaled_make, scaled_free, s, NULL }) != CQ_OK)
        return NULL;
    (void)cq_tensor_new_on(&t, storage, w->dtype, w->rank, sizes, strides, 0);
    cq_storage_release(storage);
    return t ? cq_ctx_own_tensor(cx, t) : NULL;
}

/* w * scale along the axis of output channels. */
static cq_tensor *scaled_weight(cq_ctx *cx, cq_tensor *w, cq_tensor *scale, size_t axis)
{
    int64_t shape[CQ_MAX_RANK];

    if (w->dtype == CQ_DTYPE_F32 && scale->dtype == CQ_DTYPE_F32 && cq_tensor_is_contiguous(w) &&
        cq_tensor_is_contiguous(scale) && cq_tensor_numel(w) &&
        w->sizes[axis].value == cq_tensor_numel(scale))
        return scaled_later(cx, w, scale, axis);
    for (size_t i = 0; i < w->rank; i++)
        shape[i] = i == axis ? cq_tensor_numel(scale) : 1;
    return CQ_OP(cx, "aten::mul.Tensor", TENSOR(w),
                 TENSOR(CQ_OP(cx, "aten::reshape", TENSOR(scale), cq_i64s(cx, shape, w->rank))));
}

/* A weight that replaces another, and is named after it. */
static cq_operand new_weight(cq_exporter *ex, cq_tensor *t, const cq_value *old)
{
    cq_value *v = cq_ir_constant_new(ex->graph, t, true);

    if (v) {
        if (old->name)
            v->name = cq_arena_printf(ex->graph->arena, "%s.BatchNormalization", old->name);
        v->position = old->position;
        v->n_uses   = 1;
    }
    return CQ_OPERAND_OF(v);
}

static cq_status merge(cq_exporter *ex, cq_ctx *cx, cq_node *conv, cq_node *bn)
{
    cq_graph         *g     = ex->graph;
    const cq_operand *eps_o = cq_ir_attr(bn, "epsilon"), *group_o = cq_ir_attr(conv, "group");
    double            eps = eps_o ? eps_o->u.f : 1e-5;
    cq_tensor        *w = constant_input(conv, 1), *b = constant_input(conv, 2);
    cq_tensor        *gamma = constant_input(bn, 1), *beta = constant_input(bn, 2);
    cq_tensor        *mean = constant_input(bn, 3), *var = constant_input(bn, 4);
    int64_t           groups     = group_o ? group_o->u.i.value : 1;
    bool              transposed = strcmp(conv->op, "onnx::ConvTranspose") == 0;
    cq_tensor        *scale, *new_w, *new_b;
    cq_operand        inputs[3];

    if (transposed && groups != 1)
        return CQ_OK;
    scale = CQ_OP(cx, "aten::mul.Tensor", TENSOR(gamma),
                  TENSOR(CQ_OP(cx, "aten::rsqrt",
                               TENSOR(CQ_OP(cx, "aten::add.Scalar", TENSOR(var), FLOAT(eps))))));
    CQ_TRY(cq_ctx_status(cx));
    new_w = scaled_weight(cx, w, scale, transposed ? 1 : 0);
    CQ_TRY(cq_ctx_status(cx));
    if (!new_w)
        return CQ_E_NO_MEMORY;
    new_b = b ? CQ_OP(cx, "aten::sub.Tensor", TENSOR(b), TENSOR(mean))
              : CQ_OP(cx, "aten::neg", TENSOR(mean));
    new_b =
        CQ_OP(cx, "aten::add.Tensor",
              TENSOR(CQ_OP(cx, "aten::mul.Tensor", TENSOR(new_b), TENSOR(scale))), TENSOR(beta));
    CQ_TRY(cq_ctx_status(cx));
    inputs[0]    = conv->inputs[0];
    inputs[1]    = new_weight(ex, new_w, conv->inputs[1].u.value);
    inputs[2]    = new_weight(ex, new_b, b ? conv->inputs[2].u.value : bn->inputs[2].u.value);
    conv->inputs = cq_arena_copy(g->arena, inputs, sizeof inputs);
    if (!conv->inputs || g->status != CQ_OK)
        return CQ_E_NO_MEMORY;
    conv->n_inputs           = 3;
    conv->outputs[0]->type   = bn->outputs[0]->type;
    bn->outputs[0]->instead  = conv->outputs[0];
    conv->outputs[0]->n_uses = bn->outputs[0]->n_uses;
    bn->outputs[0]->n_uses   = 0;
    return cq_ir_add_notes(conv, bn->notes, bn->n_notes, false);
}

typedef struct merger {
    cq_exporter *ex;
    cq_ctx      *cx;
    bool         changed;
} merger;

static bool used_once(const cq_node *n, size_t input)
{
    return n->inputs[input].u.value->n_uses == 1;
}

static cq_status merge_batch_norm(cq_node *n, void *user)
{
    merger         *m = user;
    cq_node        *conv;
    cq_alloc_budget before;
    cq_status       status;

    cq_export_follow_inputs(n);
    if (strcmp(n->op, "onnx::BatchNormalization") != 0 || !attr_is_zero(n, "training_mode"))
        return CQ_OK;
    conv = n->inputs[0].kind == CQ_OPERAND_VALUE ? n->inputs[0].u.value->node : NULL;
    if (!conv ||
        (strcmp(conv->op, "onnx::Conv") != 0 && strcmp(conv->op, "onnx::ConvTranspose") != 0))
        return CQ_OK;
    for (size_t i = 1; i < 5; i++)
        if (!constant_input(n, i))
            return CQ_OK;
    if (conv->outputs[0]->n_uses != 1 || !constant_input(conv, 1) ||
        (conv->n_inputs > 2 && !constant_input(conv, 2)) || !used_once(conv, 1))
        return CQ_OK;
    before     = cq_export_budget_enter(m->ex);
    status     = merge(m->ex, m->cx, conv, n);
    m->changed = true;
    if (cq_export_budget_leave(m->ex, before, m->cx))
        status = CQ_OK;
    cq_ctx_pop(m->cx, 0, NULL, 0);
    return status;
}

cq_status cq_export_peephole(cq_exporter *ex)
{
    merger    m = { .ex = ex };
    cq_status status;

    CQ_TRY(cq_export_budget_begin(&m.cx, ex));
    status = cq_ir_each_node(ex->graph->top, merge_batch_norm, &m);
    cq_ctx_free(m.cx);
    if (status != CQ_OK || !m.changed)
        return status;
    CQ_TRY(cq_export_follow(ex));
    return cq_export_remove_dead(ex);
}
