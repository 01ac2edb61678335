/* Merges two consecutive nodes: a Concat of a Concat, a Slice along one axis of a Slice along
 * another, a Reshape of a Reshape; and removes nodes without effect: a Slice of everything, a bias
 * of zeros. Symbolic functions emit a node for each step of the program. */
#include "export/exporter.h"
#include "base/str.h"

#include <math.h>

/* Input i if it exists and is a value: symbolic functions of users make nodes of any form. */
static cq_value *input_of(const cq_node *n, size_t i)
{
    return i < n->n_inputs && n->inputs[i].kind == CQ_OPERAND_VALUE ? n->inputs[i].u.value : NULL;
}

static const cq_tensor *constant_of(const cq_node *n, size_t i)
{
    return cq_sym_data(input_of(n, i));
}

/* The node that computes input i of n, if only n reads it. */
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

/* Gives n the inputs of maker, which is then unused. */
static void take_over(cq_node *n, cq_operand *inputs, size_t n_inputs, cq_node *maker)
{
    n->inputs   = inputs;
    n->n_inputs = n_inputs;
    cq_ir_unlink(maker);
}

/* Reads input i if it is a constant of n numbers. */
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

/* ---- Concat ---- */

static cq_status merge_concat(cq_exporter *ex, cq_node *n)
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
        inputs   = cq_arena_array(ex->graph->arena, n_inputs, sizeof *inputs);
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

/* ---- Pad ---- */

/* The only number in a uniform x, and its sizes. A folded constant may have one element and strides
 * of 0. */
static const char *uniform_of(const cq_value *x, cq_dtype *dtype, int64_t *sizes, size_t *rank)
{
    const cq_node   *n = x ? x->node : NULL;
    const cq_tensor *t = x && !x->is_weight ? x->data : NULL;
    const cq_tensor *shape =
        n && strcmp(n->op, "onnx::ConstantOfShape") == 0 ? constant_of(n, 0) : NULL;
    const cq_operand *value = shape ? cq_ir_attr(n, "value") : NULL;

    for (size_t i = 0; t && i < t->rank; i++) {
        sizes[i] = t->sizes[i].value;
        if (t->strides[i] != 0 && sizes[i] != 1)
            return NULL;
    }
    if (value && value->kind == CQ_OPERAND_TENSOR && cq_tensor_numel(shape) <= CQ_MAX_RANK &&
        read_numbers(sizes, n, 0, cq_tensor_numel(shape)))
        t = value->u.tensor;
    if (!t || (!shape && cq_tensor_numel(t) <= 2 * (int64_t)t->rank)) /* no more than pads has */
        return NULL;
    *rank  = shape ? (size_t)cq_tensor_numel(shape) : t->rank;
    *dtype = t->dtype;
    return *rank <= CQ_MAX_RANK / 2 ? cq_tensor_bytes(t) : NULL;
}

/* Replaces a Concat with uniform tensors at its begin or end by a Pad, for types that runtimes
 * pad. */
static cq_status pad_instead(cq_node *n, void *exporter)
{
    cq_exporter      *ex                = exporter;
    const cq_operand *axis_o            = cq_ir_attr(n, "axis");
    int64_t           pads[CQ_MAX_RANK] = { 0 }, sizes[CQ_MAX_RANK], axis;
    const char       *number            = NULL;
    cq_dtype          dtype             = CQ_DTYPE_NONE;
    size_t            rank, i = 2;
    cq_operand       *inputs;

    while (i && !number && n->n_inputs == 2 && axis_o && strcmp(n->op, "onnx::Concat") == 0)
        number = uniform_of(input_of(n, --i), &dtype, sizes, &rank);
    if (!number || !input_of(n, 1 - i) ||
        (dtype != CQ_DTYPE_F32 && dtype != CQ_DTYPE_F64 && dtype != CQ_DTYPE_I32 &&
         dtype != CQ_DTYPE_I64))
        return CQ_OK;
    axis = axis_o->u.i.value + (axis_o->u.i.value < 0 ? (int64_t)rank : 0);
    if (axis < 0 || axis >= (int64_t)rank)
        return CQ_OK;
    pads[(size_t)axis + (i ? rank : 0)] = sizes[axis];
    inputs                              = cq_arena_array(ex->graph->arena, 3, sizeof *inputs);
    if (!inputs)
        return CQ_E_NO_MEMORY;
    inputs[0]   = n->inputs[1 - i];
    inputs[1]   = CQ_OPERAND_OF(cq_export_ints(n, pads, 2 * (int64_t)rank));
    inputs[2]   = CQ_OPERAND_OF(cq_export_constant(n, dtype, 0, NULL, number));
    n->op       = cq_ir_text(ex->graph, "onnx::Pad");
    n->inputs   = inputs;
    n->n_inputs = 3;
    n->n_attrs  = 0;
    return inputs[1].u.value && inputs[2].u.value ? CQ_OK : CQ_E_NO_MEMORY;
}

/* ---- Slice, since opset 10: starts, ends, axes and steps are inputs ---- */

typedef struct bounds {
    int64_t n, starts[CQ_MAX_RANK], ends[CQ_MAX_RANK], axes[CQ_MAX_RANK], steps[CQ_MAX_RANK];
} bounds;

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

/* Adds the bounds of b to those of a, unless both have one for the same axis. Negative axes
 * might. */
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

/* Whether the slice takes all elements regardless of the size: x[:]. */
static bool takes_all(const bounds *b)
{
    for (int64_t k = 0; k < b->n; k++)
        if (b->starts[k] != 0 || b->ends[k] != INT64_MAX || b->steps[k] != 1)
            return false;
    return true;
}

/* ---- nodes without effect ---- */

bool cq_export_is_returned(const cq_value *v)
{
    for (size_t i = 0; i < v->block->returns.n; i++)
        if (v->block->returns.items[i].u.value == v)
            return true;
    return false;
}

/* All users of n's result use x instead. */
static void skip(cq_node *n, cq_value *x)
{
    if (n->is_anchor || n->n_notes || cq_export_is_returned(n->outputs[0]))
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
 * Biases of many untrained layers are zeros. */
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

/* A weight may be removed if it is constant: neither trained later nor an input. Functions are
 * shared by layers, whose weights differ. */
static bool weights_may_go(const cq_export_options *o)
{
    return o->training == CQ_TRAINING_EVAL && !cq_export_makes_functions(o) &&
           !(o->flags & (CQ_EXPORT_NO_PARAMS | CQ_EXPORT_KEEP_INITIALIZERS_AS_INPUTS));
}

/* ---- Slice of Slice ---- */

static cq_status merge_slice(cq_exporter *ex, cq_node *n)
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
    inputs = cq_arena_array(ex->graph->arena, 5, sizeof *inputs);
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

/* Whether every size that n copies from its input (0) is also copied by maker. */
static bool keeps_sizes(const cq_node *n, const cq_node *maker)
{
    const cq_tensor *shape = constant_of(n, 1), *before = constant_of(maker, 1);
    const bool       says = strcmp(maker->op, "onnx::Reshape") == 0 && before && !maker->n_attrs;

    for (int64_t i = 0; i < cq_tensor_numel(shape); i++)
        if (cq_tensor_get_i64(shape, i) == 0 &&
            (!says || i >= cq_tensor_numel(before) || cq_tensor_get_i64(before, i) != 0))
            return false;
    return true;
}

/* The previous shape of x does not matter, unless a size of 0 refers to it. */
static cq_status merge_reshape(cq_exporter *ex, cq_node *n)
{
    static const char *const reshapes[] = { "onnx::Reshape", "onnx::Flatten", "onnx::Squeeze",
                                            "onnx::Unsqueeze" };
    cq_node                 *maker;

    (void)ex;
    while (constant_of(n, 1) && !n->n_attrs && (maker = maker_of(n, 0)) &&
           CQ_IS_AMONG(maker->op, reshapes) && keeps_sizes(n, maker)) {
        n->inputs[0] = maker->inputs[0];
        cq_ir_unlink(maker);
    }
    return CQ_OK;
}

/* An Unsqueeze that restores the axes removed by a Squeeze. */
static cq_status merge_unsqueeze(cq_exporter *ex, cq_node *n)
{
    const cq_value  *v       = input_of(n, 0);
    const cq_node   *squeeze = v ? v->node : NULL;
    const cq_tensor *t       = constant_of(n, 1);
    int64_t          axes[CQ_MAX_RANK], others[CQ_MAX_RANK], n_axes = t ? cq_tensor_numel(t) : 0;

    (void)ex;
    if (squeeze && strcmp(squeeze->op, "onnx::Squeeze") == 0 && input_of(squeeze, 0) &&
        n_axes >= 1 && n_axes <= CQ_MAX_RANK && read_numbers(axes, n, 1, n_axes) &&
        read_numbers(others, squeeze, 1, n_axes) &&
        memcmp(axes, others, (size_t)n_axes * sizeof *axes) == 0)
        skip(n, input_of(squeeze, 0));
    return CQ_OK;
}

/* ---- Transpose ---- */

/* The axes that a Transpose reads; false: they are implicit. */
static bool read_perm(int64_t *perm, size_t *rank, const cq_node *n)
{
    const cq_operand *o = n && strcmp(n->op, "onnx::Transpose") == 0 ? cq_ir_attr(n, "perm") : NULL;

    if (!o || o->kind != CQ_OPERAND_LIST || o->u.list.n > CQ_MAX_RANK || !input_of(n, 0))
        return false;
    *rank = o->u.list.n;
    for (size_t i = 0; i < *rank; i++) {
        perm[i] = o->u.list.items[i].u.i.value;
        if (perm[i] < 0 || perm[i] >= (int64_t)*rank)
            return false;
    }
    return true;
}

/* A Transpose of a Transpose: one, or none if they cancel. */
static cq_status merge_transpose(cq_exporter *ex, cq_node *n)
{
    const cq_value *x = input_of(n, 0);
    int64_t         perm[CQ_MAX_RANK], inner[CQ_MAX_RANK];
    size_t          rank, inner_rank;
    bool            same = true;
    cq_operand     *axes;

    if (!x || !read_perm(perm, &rank, n) || !read_perm(inner, &inner_rank, x->node) ||
        rank != inner_rank)
        return CQ_OK;
    for (size_t i = 0; i < rank; i++)
        same &= inner[perm[i]] == (int64_t)i;
    if (same) {
        skip(n, input_of(x->node, 0));
        return CQ_OK;
    }
    if (!maker_of(n, 0))
        return CQ_OK;
    axes = cq_arena_array(ex->graph->arena, rank, sizeof *axes);
    if (!axes)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < rank; i++)
        axes[i] = (cq_operand){ .kind = CQ_OPERAND_INT, .u.i = { inner[perm[i]], NULL } };
    take_over(n, x->node->inputs, 1, x->node);
    return cq_ir_attr_set(n, "perm",
                          (cq_operand){ .kind = CQ_OPERAND_LIST, .u.list = { axes, rank } });
}

/* The product of a transposed matrix and a vector is that of the vector and the matrix. Besides
 * saving the Transpose, this avoids an error of ONNX Runtime (1.23 to 1.30), whose fusion of
 * Transpose and MatMul gives wrong numbers for vectors. */
static cq_status merge_matmul(cq_exporter *ex, cq_node *n)
{
    cq_value  *turned = input_of(n, 0), *vector = input_of(n, 1), *matrix;
    int64_t    perm[CQ_MAX_RANK];
    size_t     rank;
    cq_operand inputs[2];

    if (!turned || !vector || vector->type.rank != 1 || !read_perm(perm, &rank, turned->node) ||
        rank < 2 || perm[rank - 1] != (int64_t)rank - 2 || perm[rank - 2] != (int64_t)rank - 1)
        return CQ_OK;
    for (size_t i = 0; i + 2 < rank; i++)
        if (perm[i] != (int64_t)i)
            return CQ_OK;
    matrix    = input_of(turned->node, 0);
    inputs[0] = CQ_OPERAND_OF(vector);
    inputs[1] = CQ_OPERAND_OF(matrix);
    matrix->n_uses++;
    n->inputs = cq_arena_copy(ex->graph->arena, inputs, sizeof inputs);
    return n->inputs ? CQ_OK : CQ_E_NO_MEMORY;
}

/* Axes that a Squeeze removes need not be transposed first if the others keep their order: NonZero
 * of a vector is a row, and nonzero() its column. */
static cq_status merge_squeeze(cq_exporter *ex, cq_node *n)
{
    const cq_value  *x = input_of(n, 0);
    const cq_tensor *t = constant_of(n, 1);
    int64_t   perm[CQ_MAX_RANK], axes[CQ_MAX_RANK], n_axes = t ? cq_tensor_numel(t) : 0, last = -1;
    bool      is_gone[CQ_MAX_RANK] = { false };
    size_t    rank;
    cq_value *moved;

    (void)ex;
    if (!x || n_axes < 1 || n_axes > CQ_MAX_RANK || !read_numbers(axes, n, 1, n_axes) ||
        !read_perm(perm, &rank, x->node))
        return CQ_OK;
    for (int64_t i = 0; i < n_axes; i++) {
        axes[i] += axes[i] < 0 ? (int64_t)rank : 0;
        if (axes[i] < 0 || axes[i] >= (int64_t)rank)
            return CQ_OK;
        is_gone[axes[i]] = true;
        axes[i]          = perm[axes[i]];
    }
    for (size_t i = 0; i < rank; i++) {
        if (!is_gone[i] && perm[i] < last)
            return CQ_OK;
        last = is_gone[i] ? last : perm[i];
    }
    moved = cq_export_ints(n, axes, n_axes);
    if (!moved)
        return CQ_E_NO_MEMORY;
    n->inputs[0] = x->node->inputs[0];
    n->inputs[1] = CQ_OPERAND_OF(moved);
    return CQ_OK;
}

/* A size of a transposed tensor is a size of the original. */
static cq_status merge_gather(cq_exporter *ex, cq_node *n)
{
    cq_node         *shape = maker_of(n, 0);
    const cq_tensor *index = constant_of(n, 1);
    const cq_value  *x     = shape ? input_of(shape, 0) : NULL;
    int64_t          perm[CQ_MAX_RANK], at;
    size_t           rank;
    cq_value        *moved;

    (void)ex;
    if (!x || strcmp(shape->op, "onnx::Shape") != 0 || shape->n_attrs || !index ||
        index->dtype != CQ_DTYPE_I64 || cq_tensor_numel(index) != 1 ||
        !read_perm(perm, &rank, x->node))
        return CQ_OK;
    at = cq_tensor_get_i64(index, 0);
    at += at < 0 ? (int64_t)rank : 0;
    if (at < 0 || at >= (int64_t)rank)
        return CQ_OK;
    moved = cq_export_constant(n, CQ_DTYPE_I64, index->rank, (int64_t[]){ 1 }, &perm[at]);
    if (!moved)
        return CQ_E_NO_MEMORY;
    shape->inputs[0] = x->node->inputs[0];
    n->inputs[1]     = CQ_OPERAND_OF(moved);
    return CQ_OK;
}

/* ---- products ---- */

enum { MAX_SCALED = 1 << 18 }; /* elements that may be duplicated in the file to save a node */

/* c * w, if c is a power of two and nothing is lost; otherwise NULL. */
static cq_tensor *scaled(const cq_tensor *w, double c)
{
    int64_t    sizes[CQ_MAX_RANK];
    int        exponent;
    cq_tensor *t = NULL;
    float     *to;

    if (w->dtype != CQ_DTYPE_F32 || !cq_tensor_is_contiguous(w) ||
        cq_tensor_numel(w) > MAX_SCALED || fabs(frexp(c, &exponent)) != 0.5)
        return NULL;
    for (size_t i = 0; i < w->rank; i++)
        sizes[i] = w->sizes[i].value;
    if (cq_tensor_new(&t, w->dtype, w->rank, sizes, cq_tensor_bytes(w)) != CQ_OK)
        return NULL;
    to = (float *)cq_tensor_bytes(t);
    for (int64_t i = 0; i < cq_tensor_numel(t); i++) {
        const float before = to[i];

        to[i] = before * (float)c;
        if (!isnormal(to[i]) && before != 0) {
            cq_tensor_release(t);
            return NULL;
        }
    }
    return t;
}

/* 0.5 * (x * w) is x * (0.5 * w): multiplying by a power of two is exact. If the first product
 * overflows or underflows, the second is closer to the intended result. Weights are not changed, so
 * that they can be found. */
static cq_status merge_mul(cq_exporter *ex, cq_node *n)
{
    for (size_t i = 0; i < 2; i++) {
        const cq_tensor *c = constant_of(n, i);
        cq_node         *inner =
            c && c->rank == 0 && c->dtype == CQ_DTYPE_F32 ? maker_of_same(n, 1 - i) : NULL;
        cq_tensor *t = NULL;
        cq_value  *v;

        for (size_t k = 0; inner && !t && k < 2; k++) {
            const cq_value *w = input_of(inner, k);

            if (!w || !cq_sym_data(w) || w->is_weight || input_of(n, i)->is_weight ||
                !input_of(inner, 1 - k))
                continue;
            t = scaled(cq_sym_data(w), cq_tensor_get_f64(c, 0));
            if (!t)
                continue;
            v = cq_ir_constant_new(ex->graph, t, false);
            cq_tensor_release(t);
            if (!v)
                return CQ_E_NO_MEMORY;
            inner->inputs[k] = CQ_OPERAND_OF(v);
            take_over(n, inner->inputs, 2, inner);
            return CQ_OK;
        }
    }
    return CQ_OK;
}

static const struct merge_rule {
    const char *op;
    cq_status (*merge)(cq_exporter *ex, cq_node *n);
} rules[] = {
    { "onnx::Concat", merge_concat },       { "onnx::Slice", merge_slice },
    { "onnx::Reshape", merge_reshape },     { "onnx::Unsqueeze", merge_unsqueeze },
    { "onnx::Transpose", merge_transpose }, { "onnx::Squeeze", merge_squeeze },
    { "onnx::Gather", merge_gather },       { "onnx::Mul", merge_mul },
    { "onnx::MatMul", merge_matmul },       { "onnx::If", cq_export_merge_if },
};

typedef struct merger {
    cq_exporter *ex;
    bool         joins; /* whether any Concat is left */
} merger;

static cq_status merge(cq_node *n, void *user)
{
    merger      *m  = user;
    cq_exporter *ex = m->ex;

    cq_export_follow_inputs(n);
    if (is_neutral(n) || (weights_may_go(&ex->options) && adds_zeros(n)))
        skip(n, n->inputs[0].u.value);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(n->op, rules[i].op) == 0) {
            m->joins |= rules[i].merge == merge_concat;
            return rules[i].merge(ex, n);
        }
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
        node->location         = before->location;
    }
    cq_tensor_release(t);
    return node ? node->outputs[0] : NULL;
}

cq_value *cq_export_constant_of(cq_node *before, const cq_tensor *t)
{
    int64_t sizes[CQ_MAX_RANK];

    for (size_t i = 0; i < t->rank; i++)
        sizes[i] = t->sizes[i].value;
    return cq_export_constant(before, t->dtype, t->rank, sizes, cq_tensor_bytes(t));
}

cq_value *cq_export_ints(cq_node *before, const int64_t *values, int64_t n)
{
    return cq_export_constant(before, CQ_DTYPE_I64, 1, &n, values);
}

cq_status cq_export_merge(cq_exporter *ex)
{
    merger m = { .ex = ex };

    CQ_TRY(cq_ir_each_node(ex->graph->top, merge, &m));
    CQ_TRY(cq_export_follow(ex));
    if (m.joins && ex->options.opset >= 13) /* Pad takes integers */
        CQ_TRY(cq_ir_each_node(ex->graph->top, pad_instead, ex));
    return cq_export_remove_dead(ex);
}
