/* Merges nodes into a neighbour: a bias added to a convolution, a sum after a matrix product
 * (Gemm), a Transpose before a Gemm, zero padding before a convolution. */
#include "export/exporter.h"

static cq_value *input_of(const cq_node *n, size_t i)
{
    return i < n->n_inputs && n->inputs[i].kind == CQ_OPERAND_VALUE ? n->inputs[i].u.value : NULL;
}

static cq_tensor *constant_of(const cq_node *n, size_t i)
{
    return cq_sym_data(input_of(n, i));
}

/* The node that computes v, if it has this operator and only n reads v. */
static cq_node *maker(const cq_node *n, const cq_value *v, const char *op)
{
    cq_node *m = v ? v->node : NULL;

    return m && strcmp(m->op, op) == 0 && m->block == n->block && v->n_uses == 1 &&
                   m->n_outputs == 1 && !m->is_anchor && !m->n_notes
               ? m
               : NULL;
}

static int64_t int_of(const cq_node *n, const char *name, int64_t otherwise)
{
    const cq_operand *o = cq_ir_attr(n, name);

    return o && o->kind == CQ_OPERAND_INT ? o->u.i.value : otherwise;
}

static double float_of(const cq_node *n, const char *name, double otherwise)
{
    const cq_operand *o = cq_ir_attr(n, name);

    return o && o->kind == CQ_OPERAND_FLOAT ? o->u.f : otherwise;
}

static cq_status set_inputs(cq_exporter *ex, cq_node *n, cq_value *const *values, size_t count)
{
    cq_operand *inputs = cq_arena_array(ex->graph->arena, count, sizeof *inputs);

    if (!inputs)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        inputs[i] = values[i] ? CQ_OPERAND_OF(values[i]) : (cq_operand){ 0 };
    n->inputs   = inputs;
    n->n_inputs = (uint32_t)count;
    return CQ_OK;
}

/* ---- Add behind Conv ---- */

/* One number for each of n channels, along axis 1 of a rank: [n, 1, 1], [1, n, 1, 1]. */
static bool is_per_channel(const cq_tensor *t, int rank, int64_t n)
{
    const int lead = rank - (int)t->rank;

    if (lead < 0 || cq_tensor_numel(t) != n)
        return false;
    for (int i = 0; i < (int)t->rank; i++)
        if (t->sizes[i].value != (i + lead == 1 ? n : 1))
            return false;
    return n == 1 ? t->rank > 0 : lead <= 1;
}

static cq_status absorb_bias(cq_exporter *ex, cq_node *n)
{
    for (size_t i = 0; i < 2 && n->n_inputs == 2; i++) {
        cq_value        *y    = input_of(n, i);
        cq_tensor       *bias = constant_of(n, 1 - i), *flat = NULL;
        cq_node         *conv = bias ? maker(n, y, "onnx::Conv") : NULL;
        const cq_tensor *w    = conv ? constant_of(conv, 1) : NULL;
        cq_value        *v;
        int64_t          channels;

        if (!w || input_of(conv, 2) || y->type.rank < 3 || bias->dtype != w->dtype)
            continue;
        channels = w->sizes[0].value;
        if (!is_per_channel(bias, y->type.rank, channels) || !cq_tensor_is_contiguous(bias))
            continue;
        CQ_TRY(cq_tensor_new(&flat, bias->dtype, 1, &channels, cq_tensor_bytes(bias)));
        v = cq_ir_constant_new(ex->graph, flat, true);
        cq_tensor_release(flat);
        if (!v)
            return ex->graph->status;
        v->name = input_of(n, 1 - i)->name;
        if (!cq_export_replace(n, y))
            return CQ_OK;
        return set_inputs(ex, conv, (cq_value *[]){ input_of(conv, 0), input_of(conv, 1), v }, 3);
    }
    return CQ_OK;
}

/* ---- Add behind MatMul ---- */

static bool is_matrix(const cq_value *v)
{
    return v && v->type.kind == CQ_TYPE_TENSOR && v->type.rank == 2;
}

static bool is_gemm_type(cq_dtype d)
{
    return d == CQ_DTYPE_F32 || d == CQ_DTYPE_F16 || d == CQ_DTYPE_F64;
}

/* Whether a bias leaves the product its shape: [n] or [1, n]. */
static bool is_bias_of(const cq_value *bias, const cq_value *y)
{
    const cq_type *t = &bias->type;

    if (t->kind != CQ_TYPE_TENSOR || (t->rank != 1 && t->rank != 2) || t->dtype != y->type.dtype)
        return false;
    return cq_int_same(t->sizes[t->rank - 1], y->type.sizes[1]) &&
           (t->rank == 1 || cq_int_is(t->sizes[0], 1));
}

static cq_status absorb_product(cq_exporter *ex, cq_node *n)
{
    for (size_t i = 0; i < 2 && n->n_inputs == 2; i++) {
        cq_value *y = input_of(n, i), *bias = input_of(n, 1 - i);
        cq_node  *product = bias ? maker(n, y, "onnx::MatMul") : NULL;

        if (!product || ex->options.opset < 7 || !is_matrix(input_of(product, 0)) ||
            !is_matrix(input_of(product, 1)) || !is_matrix(y) || !is_gemm_type(y->type.dtype) ||
            !is_bias_of(bias, y))
            continue;
        CQ_TRY(set_inputs(ex, n, (cq_value *[]){ input_of(product, 0), input_of(product, 1), bias },
                          3));
        n->op = cq_ir_text(ex->graph, "onnx::Gemm");
        cq_ir_unlink(product);
        return ex->graph->status;
    }
    return CQ_OK;
}

/* ---- ArgMax of a monotone function ---- */

static cq_status absorb_order(cq_exporter *ex, cq_node *n)
{
    static const char *const of_axis[] = { "onnx::Softmax", "onnx::LogSoftmax" };
    static const char *const of_each[] = { "onnx::Exp", "onnx::Log", "onnx::Sqrt" };
    const cq_value          *x         = input_of(n, 0);
    const cq_node           *f         = x ? x->node : NULL;
    int64_t                  axis, other;

    if (!f || f->is_anchor || f->n_notes || x->type.rank < 1 || !input_of(f, 0))
        return CQ_OK;
    axis  = int_of(n, "axis", 0);
    other = int_of(f, "axis", ex->options.opset < 13 ? 1 : -1);
    axis += axis < 0 ? x->type.rank : 0;
    other += other < 0 ? x->type.rank : 0;
    if (!CQ_IS_AMONG(f->op, of_each) && !(CQ_IS_AMONG(f->op, of_axis) && axis == other))
        return CQ_OK;
    n->inputs[0] = f->inputs[0];
    f->inputs[0].u.value->n_uses++;
    return CQ_OK;
}

/* ---- Transpose in front of Gemm ---- */

static bool turns_matrix(const cq_node *n)
{
    const cq_operand *perm = cq_ir_attr(n, "perm");

    if (!is_matrix(input_of(n, 0)))
        return false;
    return !perm || (perm->kind == CQ_OPERAND_LIST && perm->u.list.n == 2 &&
                     perm->u.list.items[0].u.i.value == 1);
}

static cq_status absorb_transpose(cq_exporter *ex, cq_node *n)
{
    static const char *const names[] = { "transA", "transB" };

    (void)ex;
    for (size_t i = 0; i < 2; i++) {
        const cq_value *v = input_of(n, i);
        cq_node        *turn =
            v && v->node && strcmp(v->node->op, "onnx::Transpose") == 0 && turns_matrix(v->node)
                       ? v->node
                       : NULL;

        if (!turn)
            continue;
        n->inputs[i] = turn->inputs[0];
        turn->inputs[0].u.value->n_uses++;
        CQ_TRY(cq_ir_attr_set(n, names[i], cq_attr_i(names[i], !int_of(n, names[i], 0)).value));
    }
    return CQ_OK;
}

/* ---- Pad in front of Conv and AveragePool ---- */

/* Reads the pads of a Pad with zeros, and returns their number; 0 for any other Pad. */
static size_t zeros_of(int64_t *out, const cq_node *n)
{
    const cq_operand *mode = cq_ir_attr(n, "mode"), *pads = cq_ir_attr(n, "pads");
    const cq_tensor  *t = constant_of(n, 1), *value = constant_of(n, 2);
    size_t            count;

    if (mode && (mode->kind != CQ_OPERAND_STR || strcmp(mode->u.s, "constant") != 0))
        return 0;
    if (input_of(n, 3) ||
        (input_of(n, 2) &&
         (!value || cq_tensor_numel(value) != 1 || cq_tensor_get_f64(value, 0) != 0)) ||
        float_of(n, "value", 0) != 0)
        return 0;
    count = pads ? pads->u.list.n : t ? (size_t)cq_tensor_numel(t) : 0;
    if (count > CQ_MAX_RANK)
        return 0;
    for (size_t i = 0; i < count; i++) {
        out[i] = pads ? pads->u.list.items[i].u.i.value : cq_tensor_get_i64(t, (int64_t)i);
        if (out[i] < 0)
            return 0;
    }
    return count;
}

static cq_status absorb_pad(cq_exporter *ex, cq_node *n)
{
    const bool        is_pool = strcmp(n->op, "onnx::AveragePool") == 0;
    const cq_operand *own = cq_ir_attr(n, "pads"), *automatic = cq_ir_attr(n, "auto_pad");
    cq_node          *pad = maker(n, input_of(n, 0), "onnx::Pad");
    int64_t           pads[CQ_MAX_RANK];
    size_t            count = pad ? zeros_of(pads, pad) : 0, rank = count / 2, spatial;
    cq_operand       *sums;

    if (count < 6 || count % 2 || pads[0] || pads[1] || pads[rank] || pads[rank + 1] ||
        (automatic && (automatic->kind != CQ_OPERAND_STR || strcmp(automatic->u.s, "NOTSET"))) ||
        (is_pool && (int_of(n, "ceil_mode", 0) || (own && !int_of(n, "count_include_pad", 0)))))
        return CQ_OK;
    spatial = rank - 2;
    if (own && (own->kind != CQ_OPERAND_LIST || own->u.list.n != 2 * spatial))
        return CQ_OK;
    sums = cq_arena_array(ex->graph->arena, 2 * spatial, sizeof *sums);
    if (!sums)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < 2 * spatial; i++) {
        const int64_t more = pads[i < spatial ? i + 2 : i - spatial + rank + 2];

        sums[i].kind = CQ_OPERAND_INT;
        sums[i].u.i  = cq_i(more + (own ? own->u.list.items[i].u.i.value : 0));
    }
    CQ_TRY(cq_ir_attr_set(
        n, "pads", (cq_operand){ .kind = CQ_OPERAND_LIST, .u.list = { sums, 2 * spatial } }));
    if (is_pool)
        CQ_TRY(cq_ir_attr_set(n, "count_include_pad", cq_attr_i("count_include_pad", 1).value));
    n->inputs[0] = pad->inputs[0];
    cq_ir_unlink(pad);
    return CQ_OK;
}

static const struct absorb_rule {
    const char *op;
    cq_status (*absorb)(cq_exporter *ex, cq_node *n);
} rules[] = {
    { "onnx::Add", absorb_bias },       { "onnx::Add", absorb_product },
    { "onnx::Gemm", absorb_transpose }, { "onnx::ArgMax", absorb_order },
    { "onnx::Conv", absorb_pad },       { "onnx::AveragePool", absorb_pad },
};

static cq_status visit(cq_node *n, void *user)
{
    cq_export_follow_inputs(n);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (n->block && n->n_outputs == 1 && !n->outputs[0]->instead && !n->is_anchor &&
            strcmp(n->op, rules[i].op) == 0)
            CQ_TRY(rules[i].absorb(user, n));
    return CQ_OK;
}

cq_status cq_export_absorb(cq_exporter *ex)
{
    CQ_TRY(cq_ir_each_node(ex->graph->top, visit, ex));
    CQ_TRY(cq_export_follow(ex));
    return cq_export_remove_dead(ex);
}
