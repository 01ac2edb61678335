/* Replacements of patterns. Each function checks what the pattern cannot express: numbers, axes,
 * sizes. */
#include "export/passes/fuse.h"

#include <math.h>

/* ---- what is known of values ---- */

bool cq_fuse_number(const cq_value *v, double *out)
{
    cq_tensor *t = cq_sym_data(v);

    if (!t || cq_tensor_numel(t) != 1)
        return false;
    *out = cq_tensor_get_f64(t, 0);
    return true;
}

static bool is_number(const cq_value *v, double wanted)
{
    double number;

    return cq_fuse_number(v, &number) && number == wanted;
}

/* A constant that names this axis of rank. */
static bool is_axis(const cq_value *v, int axis, int rank)
{
    return is_number(v, axis) || is_number(v, axis - rank);
}

int64_t cq_fuse_attr_int(const cq_node *n, const char *name, int64_t otherwise)
{
    const cq_operand *o = cq_ir_attr(n, name);

    return o && o->kind == CQ_OPERAND_INT ? o->u.i.value : otherwise;
}

int cq_fuse_rank(const cq_value *v)
{
    return v->type.kind == CQ_TYPE_TENSOR && !v->rank_varies ? v->type.rank : -1;
}

static bool same_size(const cq_value *a, int i, const cq_value *b, int k)
{
    return cq_int_same(a->type.sizes[i], b->type.sizes[k]);
}

static bool is_op(const cq_value *v, const char *op)
{
    return v && v->node && strcmp(v->node->op, op) == 0;
}

cq_status cq_fuse_replace(cq_value *old, cq_value *by)
{
    by->type     = old->type;
    old->instead = by;
    return CQ_OK;
}

/* ---- RMSNormalization ---- */

/* In half precision models square and divide in float32 and scale in their own type; so does
 * RMSNormalization. */
static cq_value *before_cast(cq_value *x, cq_dtype wanted)
{
    cq_value *inner = is_op(x, "onnx::Cast") ? cq_fuse_input(x->node, 0) : NULL;

    if (x->type.dtype == wanted)
        return x;
    return x->type.dtype == CQ_DTYPE_F32 && inner && inner->type.dtype == wanted ? inner : NULL;
}

cq_status cq_fuse_rms_norm(cq_fuser *f, const cq_fuse_match *m)
{
    cq_value *x = cq_fuse_bound(m, "x"), *w = cq_fuse_bound(m, "w"), *old = m->root->outputs[0];
    const cq_node *mean  = cq_fuse_bound(m, "mean")->node;
    const cq_dtype dtype = old->type.dtype;
    const int      rank  = cq_fuse_rank(x);
    double         eps;
    cq_node       *n;

    if (rank < 1 || cq_fuse_rank(w) != 1 || w->type.dtype != dtype ||
        !same_size(w, 0, x, rank - 1) || (dtype != CQ_DTYPE_F32 && dtype != CQ_DTYPE_F16) ||
        !cq_fuse_attr_int(mean, "keepdims", 1) || !is_number(cq_fuse_bound(m, "two"), 2) ||
        !cq_fuse_number(cq_fuse_bound(m, "eps"), &eps) ||
        !is_axis(cq_fuse_bound(m, "axes"), rank - 1, rank))
        return CQ_OK;
    x = before_cast(x, dtype);
    if (!x)
        return CQ_OK;
    n = cq_fuse_node(f, m->root, "onnx::RMSNormalization", (cq_value *[]){ x, w }, 2, 1);
    if (!n)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_ir_attr_set(n, "axis", cq_attr_i("axis", -1).value));
    CQ_TRY(cq_ir_attr_set(n, "epsilon", cq_attr_f("epsilon", eps).value));
    return cq_fuse_replace(old, n->outputs[0]);
}

/* ---- RotaryEmbedding ---- */

/* Whether n slices [from, to) of the last axis; the end may exceed the size. */
static bool cuts(const cq_node *n, int rank, int64_t from, int64_t to, int64_t size)
{
    double end;

    return n->n_inputs >= 4 && is_number(cq_fuse_input(n, 1), (double)from) &&
           cq_fuse_number(cq_fuse_input(n, 2), &end) &&
           (end == (double)to || (to == size && end > (double)size)) &&
           is_axis(cq_fuse_input(n, 3), rank - 1, rank) &&
           (n->n_inputs < 5 || is_number(cq_fuse_input(n, 4), 1));
}

static cq_type half_type(cq_graph *g, const cq_value *v)
{
    cq_int    sizes[CQ_MAX_RANK];
    const int rank = cq_fuse_rank(v);

    memcpy(sizes, v->type.sizes, (size_t)rank * sizeof *sizes);
    sizes[rank - 1] = cq_i(sizes[rank - 1].value / 2);
    return cq_ir_tensor_type(g, v->type.dtype, (size_t)rank, sizes);
}

/* The first half of a table whose last axis is the same twice: cos(cat(angles, angles)), scaled
 * and cast. NULL: it is not such a table. */
static cq_value *half_of(cq_fuser *f, cq_value *v, int depth)
{
    static const char *const unary[] = { "onnx::Cos", "onnx::Sin", "onnx::Cast" };
    cq_value                *known   = cq_ptr_map_get(&f->halves, v), *inner;
    cq_node                 *n       = v->node, *made;
    bool                     follow  = false;
    double                   factor;

    if (known || !n || depth > 8 || cq_fuse_rank(v) < 1)
        return known;
    if (is_op(v, "onnx::Concat"))
        return n->n_inputs == 2 && cq_fuse_input(n, 0) == cq_fuse_input(n, 1) &&
                       (cq_fuse_attr_int(n, "axis", 0) == cq_fuse_rank(v) - 1 ||
                        cq_fuse_attr_int(n, "axis", 0) == -1)
                   ? cq_fuse_input(n, 0)
                   : NULL;
    for (size_t i = 0; i < sizeof unary / sizeof *unary; i++)
        follow |= is_op(v, unary[i]);
    follow |= is_op(v, "onnx::Mul") && cq_fuse_number(cq_fuse_input(n, 1), &factor);
    inner = follow ? half_of(f, cq_fuse_input(n, 0), depth + 1) : NULL;
    if (!inner)
        return NULL;
    made = cq_fuse_node(f, n, n->op, (cq_value *[]){ inner, cq_fuse_input(n, 1) }, n->n_inputs, 1);
    if (!made)
        return NULL;
    for (size_t i = 0; i < n->n_attrs; i++)
        if (cq_ir_attr_set(made, n->attrs[i].name, n->attrs[i].value) != CQ_OK)
            return NULL;
    made->outputs[0]->type = half_type(f->ex->graph, v);
    return cq_ptr_map_set(&f->halves, v, made->outputs[0]) == CQ_OK ? made->outputs[0] : NULL;
}

/* A table of one batch for all is repeated: RotaryEmbedding does not broadcast it. */
static cq_value *for_batch(cq_fuser *f, cq_node *before, cq_value *half, cq_value *x)
{
    const cq_int sizes[3] = { x->type.sizes[0], half->type.sizes[1], half->type.sizes[2] };
    cq_value    *known    = cq_ptr_map_get(&f->halves, half), *shape, *ones;
    cq_node     *n;

    if (same_size(half, 0, x, 0))
        return half;
    if (known && known->block == before->block && same_size(known, 0, x, 0))
        return known;
    if (half->type.sizes[0].expr || half->type.sizes[0].value != 1)
        return NULL;
    n = cq_fuse_node(f, before, "onnx::Shape", &x, 1, 1);
    if (!n || cq_ir_attr_set(n, "start", cq_attr_i("start", 0).value) != CQ_OK ||
        cq_ir_attr_set(n, "end", cq_attr_i("end", 1).value) != CQ_OK)
        return NULL;
    n->outputs[0]->type = cq_ir_tensor_type(f->ex->graph, CQ_DTYPE_I64, 1, (cq_int[]){ cq_i(1) });
    shape               = n->outputs[0];
    ones                = cq_export_ints(before, (int64_t[]){ 1, 1 }, 2);
    n = ones ? cq_fuse_node(f, before, "onnx::Concat", (cq_value *[]){ shape, ones }, 2, 1) : NULL;
    if (!n || cq_ir_attr_set(n, "axis", cq_attr_i("axis", 0).value) != CQ_OK)
        return NULL;
    n->outputs[0]->type = cq_ir_tensor_type(f->ex->graph, CQ_DTYPE_I64, 1, (cq_int[]){ cq_i(3) });
    n = cq_fuse_node(f, before, "onnx::Expand", (cq_value *[]){ half, n->outputs[0] }, 2, 1);
    if (!n)
        return NULL;
    n->outputs[0]->type = cq_ir_tensor_type(f->ex->graph, half->type.dtype, 3, sizes);
    return cq_ptr_map_set(&f->halves, half, n->outputs[0]) == CQ_OK ? n->outputs[0] : NULL;
}

/* The table of [batch, 1, length, size] as [batch, length, size / 2]. */
static cq_value *table_of(cq_fuser *f, const cq_fuse_match *m, const char *name, cq_value *x)
{
    cq_value *wide = cq_fuse_bound(m, name), *v, *half;

    if (!is_op(wide, "onnx::Unsqueeze") || cq_fuse_rank(wide) != 4 ||
        !is_axis(cq_fuse_input(wide->node, 1), 1, 4))
        return NULL;
    v = cq_fuse_input(wide->node, 0);
    if (!same_size(v, 1, x, 2) || !same_size(v, 2, x, 3) || v->type.dtype != x->type.dtype)
        return NULL;
    half = half_of(f, v, 0);
    return half && cq_fuse_rank(half) == 3 ? for_batch(f, m->root, half, x) : NULL;
}

cq_status cq_fuse_rotary(cq_fuser *f, const cq_fuse_match *m)
{
    cq_value      *x = cq_fuse_bound(m, "x"), *old = m->root->outputs[0], *cos, *sin;
    const cq_node *join = cq_fuse_bound(m, "join")->node;
    const int      rank = cq_fuse_rank(x);
    int64_t        size;
    cq_node       *n;

    if (rank != 4 || x->type.sizes[3].expr || x->type.sizes[3].value % 2)
        return CQ_OK;
    size = x->type.sizes[3].value;
    if (cq_fuse_attr_int(join, "axis", 0) != 3 ||
        !cuts(cq_fuse_bound(m, "high")->node, rank, size / 2, size, size) ||
        !cuts(cq_fuse_bound(m, "low")->node, rank, 0, size / 2, size))
        return CQ_OK;
    cos = table_of(f, m, "cos", x);
    sin = cos ? table_of(f, m, "sin", x) : NULL;
    if (!sin)
        return f->ex->graph->status;
    n = cq_fuse_node(f, m->root, "onnx::RotaryEmbedding", (cq_value *[]){ x, cos, sin }, 3, 1);
    return n ? cq_fuse_replace(old, n->outputs[0]) : CQ_E_NO_MEMORY;
}

/* ---- Attention ---- */

bool cq_fuse_swaps(const cq_value *v, const int64_t *wanted, size_t n)
{
    const cq_operand *perm = v->node ? cq_ir_attr(v->node, "perm") : NULL;

    if (!perm || perm->kind != CQ_OPERAND_LIST || perm->u.list.n != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (perm->u.list.items[i].u.i.value != wanted[i])
            return false;
    return true;
}

/* Whether adding mask leaves the scores their shape. */
static bool is_mask_of(const cq_value *mask, const cq_value *scores)
{
    const int lead = 4 - cq_fuse_rank(mask);

    if (cq_fuse_rank(mask) < 2 || lead < 0 || mask->type.dtype != scores->type.dtype)
        return false;
    for (int i = lead; i < 4; i++)
        if (!cq_int_is(mask->type.sizes[i - lead], 1) && !same_size(mask, i - lead, scores, i))
            return false;
    return true;
}

/* The keys of scores, [batch, heads, length, size], before they are turned. Exchanging heads and
 * lengths may have been merged with turning. NULL: they are turned otherwise. */
static cq_value *keys_of(cq_fuser *f, const cq_fuse_match *m, const cq_value *q)
{
    static const int64_t last[] = { 0, 1, 3, 2 }, merged[] = { 0, 2, 3, 1 },
                         heads[] = { 0, 2, 1, 3 };
    const cq_value *turned       = cq_fuse_bound(m, "turned");
    cq_value       *k            = cq_fuse_bound(m, "k");
    cq_operand     *perm;
    cq_node        *n;

    if (cq_fuse_rank(k) != 4 || cq_fuse_swaps(turned, last, 4))
        return cq_fuse_rank(k) == 4 ? k : NULL;
    if (!cq_fuse_swaps(turned, merged, 4) || !same_size(q, 0, k, 0) || !same_size(q, 1, k, 2))
        return NULL;
    perm = cq_arena_array(f->ex->graph->arena, 4, sizeof *perm);
    if (!perm)
        return NULL;
    for (size_t i = 0; i < 4; i++)
        perm[i] = (cq_operand){ .kind = CQ_OPERAND_INT, .u.i = cq_i(heads[i]) };
    n = cq_fuse_node(f, m->root, "onnx::Transpose", &k, 1, 1);
    if (!n ||
        cq_ir_attr_set(n, "perm", (cq_operand){ .kind = CQ_OPERAND_LIST, .u.list = { perm, 4 } }) !=
            CQ_OK)
        return NULL;
    n->outputs[0]->type = cq_ir_tensor_type(
        f->ex->graph, k->type.dtype, 4,
        (cq_int[]){ k->type.sizes[0], k->type.sizes[2], k->type.sizes[1], k->type.sizes[3] });
    return n->outputs[0];
}

/* softmax(q k' scale + mask) v, as models write it that do not call PyTorch's own function. */
cq_status cq_fuse_attention(cq_fuser *f, const cq_fuse_match *m)
{
    cq_value *q = cq_fuse_bound(m, "q"), *k, *v = cq_fuse_bound(m, "v");
    cq_value *soft = cq_fuse_bound(m, "soft"), *mask = cq_fuse_bound(m, "mask");
    cq_value *factor = cq_fuse_bound(m, "factor"), *divisor = cq_fuse_bound(m, "divisor");
    double    scale = 1, under = 1;
    int64_t   axis = cq_fuse_attr_int(soft->node, "axis", -1);
    cq_node  *n;

    if ((q->type.dtype != CQ_DTYPE_F32 && q->type.dtype != CQ_DTYPE_F16) || soft->n_uses != 1 ||
        cq_fuse_rank(q) != 4 || cq_fuse_rank(v) != 4 || (axis != -1 && axis != 3) ||
        (factor && !cq_fuse_number(factor, &scale)) ||
        (divisor && !cq_fuse_number(divisor, &under)) || (mask && !is_mask_of(mask, soft)))
        return CQ_OK;
    k = keys_of(f, m, q);
    if (!k)
        return f->ex->graph->status;
    for (int i = 0; i < 2; i++)
        if (!same_size(q, i, k, i) || !same_size(q, i, v, i))
            return CQ_OK;
    n = cq_fuse_node(f, m->root, "onnx::Attention", (cq_value *[]){ q, k, v, mask }, mask ? 4 : 3,
                     1);
    if (!n)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_ir_attr_set(n, "scale", cq_attr_f("scale", scale / under).value));
    return cq_fuse_replace(m->root->outputs[0], n->outputs[0]);
}

/* Whether more has each head of v as often as to make the heads of q. */
static bool repeats_heads(const cq_value *more, const cq_value *v, const cq_value *axis,
                          const cq_value *q)
{
    const cq_value *wide = cq_fuse_input(more->node, 0);

    return cq_fuse_rank(v) == 4 && cq_fuse_rank(wide) == 5 && cq_fuse_rank(more) == 4 &&
           cq_fuse_rank(q) == 4 && is_axis(axis, 2, 5) && same_size(more, 1, q, 1) &&
           same_size(wide, 0, v, 0) && same_size(wide, 1, v, 1) && same_size(wide, 3, v, 2) &&
           same_size(wide, 4, v, 3) && same_size(more, 0, v, 0) && same_size(more, 2, v, 2) &&
           same_size(more, 3, v, 3);
}

/* Attention repeats the heads of keys and values itself. */
cq_status cq_fuse_grouped(cq_fuser *f, const cq_fuse_match *m)
{
    cq_value *q = cq_fuse_bound(m, "q"), *k = cq_fuse_bound(m, "k"), *v = cq_fuse_bound(m, "v");

    if (!repeats_heads(cq_fuse_bound(m, "more_k"), k, cq_fuse_bound(m, "axis"), q) ||
        !repeats_heads(cq_fuse_bound(m, "more_v"), v, cq_fuse_bound(m, "axis2"), q) ||
        !same_size(k, 1, v, 1))
        return CQ_OK;
    m->root->inputs[1] = CQ_OPERAND_OF(k);
    m->root->inputs[2] = CQ_OPERAND_OF(v);
    f->changed         = true;
    return CQ_OK;
}

static cq_status notice(cq_node *n, void *user)
{
    const cq_value **wanted = user;

    for (size_t i = 0; i < n->n_inputs; i++)
        if (cq_fuse_input(n, i) == *wanted)
            *wanted = NULL;
    return CQ_OK;
}

/* Whether v is read before the node at the end. */
bool cq_fuse_used_before(const cq_value *v, const cq_node *end)
{
    const cq_value *wanted = v;

    for (cq_node *n = v->node->next; n && n != end && wanted; n = n->next) {
        notice(n, &wanted);
        for (size_t i = 0; i < n->n_blocks && wanted; i++)
            cq_ir_each_node(n->blocks[i], notice, &wanted);
    }
    return !wanted;
}

static bool joins_past(const cq_value *joined, const cq_node *attention)
{
    const cq_node *n = joined->node;

    return n->n_inputs == 2 && cq_fuse_rank(joined) == 4 && n->block == attention->block &&
           (cq_fuse_attr_int(n, "axis", 0) == 2 || cq_fuse_attr_int(n, "axis", 0) == -2) &&
           !cq_fuse_used_before(joined, attention);
}

/* Attention concatenates keys and values with the past, and returns both. */
cq_status cq_fuse_past(cq_fuser *f, const cq_fuse_match *m)
{
    cq_value *keys = cq_fuse_bound(m, "keys"), *values = cq_fuse_bound(m, "values");
    cq_node  *old = m->root, *n;

    if (old->n_inputs > 4 || cq_fuse_attr_int(old, "is_causal", 0) || keys == values ||
        !joins_past(keys, old) || !joins_past(values, old))
        return CQ_OK;
    n = cq_fuse_node(f, old, old->op,
                     (cq_value *[]){ cq_fuse_input(old, 0), cq_fuse_bound(m, "k"),
                                     cq_fuse_bound(m, "v"), cq_fuse_input(old, 3),
                                     cq_fuse_bound(m, "past_k"), cq_fuse_bound(m, "past_v") },
                     6, 3);
    if (!n)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < old->n_attrs; i++)
        CQ_TRY(cq_ir_attr_set(n, old->attrs[i].name, old->attrs[i].value));
    CQ_TRY(cq_fuse_replace(old->outputs[0], n->outputs[0]));
    CQ_TRY(cq_fuse_replace(keys, n->outputs[1]));
    return cq_fuse_replace(values, n->outputs[2]);
}

/* ---- grids ---- */

/* The same integers with another scale. */
static cq_status regrid(cq_fuser *f, const cq_fuse_match *m, cq_value *step)
{
    cq_value *in[] = { cq_fuse_bound(m, "q"), step, cq_fuse_bound(m, "zero") };
    cq_node  *n    = step ? cq_fuse_node(f, m->root, "onnx::DequantizeLinear", in, 3, 1) : NULL;

    return n ? cq_fuse_replace(m->root->outputs[0], n->outputs[0]) : f->ex->graph->status;
}

/* Dequantized numbers divided by the scale are the integers, without their zero point. */
cq_status cq_fuse_steps(cq_fuser *f, const cq_fuse_match *m)
{
    double step;
    float  one = 1;

    if (!cq_fuse_number(cq_fuse_bound(m, "step"), &step) ||
        !is_number(cq_fuse_bound(m, "by"), step) || cq_fuse_rank(cq_fuse_bound(m, "step")) != 0)
        return CQ_OK;
    return regrid(f, m, cq_export_constant(m->root, CQ_DTYPE_F32, 0, NULL, &one));
}

/* And the inverse. */
cq_status cq_fuse_scaled(cq_fuser *f, const cq_fuse_match *m)
{
    double by;
    float  step;

    if (!is_number(cq_fuse_bound(m, "step"), 1) || cq_fuse_rank(cq_fuse_bound(m, "step")) != 0 ||
        !cq_fuse_number(cq_fuse_bound(m, "by"), &by) ||
        cq_fuse_bound(m, "by")->type.dtype != CQ_DTYPE_F32)
        return CQ_OK;
    step = (float)by;
    return regrid(f, m, cq_export_constant(m->root, CQ_DTYPE_F32, 0, NULL, &step));
}

/* The scale of v, through nodes that only select or move elements; 0: unknown. */
static double step_of(const cq_value *v)
{
    static const char *const moves[] = { "onnx::Relu",    "onnx::MaxPool",   "onnx::Flatten",
                                         "onnx::Reshape", "onnx::Transpose", "onnx::Squeeze",
                                         "onnx::Slice",   "onnx::Unsqueeze", "onnx::Identity" };
    double                   step;
    bool                     follow = true;

    for (int depth = 0; v && follow && depth < 32; depth++) {
        if (is_op(v, "onnx::DequantizeLinear"))
            return cq_fuse_number(cq_fuse_input(v->node, 1), &step) ? step : 0;
        follow = false;
        for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
            follow |= is_op(v, moves[i]);
        v = follow ? cq_fuse_input(v->node, 0) : NULL;
    }
    return 0;
}

/* The numbers as integers, in steps; NULL if one is too large. */
static cq_value *in_steps(cq_node *before, const cq_tensor *numbers, double step)
{
    const int64_t n        = cq_tensor_numel(numbers);
    int32_t      *integers = cq_alloc_array((size_t)n, sizeof *integers);
    cq_value     *made     = NULL;
    int64_t       i        = 0;

    for (; integers && i < n; i++) {
        const double whole = nearbyint(cq_tensor_get_f64(numbers, i) / step);

        if (!(fabs(whole) <= INT32_MAX))
            break;
        integers[i] = (int32_t)whole;
    }
    if (integers && i == n)
        made = cq_export_constant(before, CQ_DTYPE_I32, 1, &n, integers);
    cq_free(integers);
    return made;
}

/* The bias of a quantized layer, in steps of the product of scales. ONNX Runtime quantizes it so
 * itself, but with a node that opset 10 lacks: it could not load the model. At other opsets the
 * bias stays the floats that PyTorch adds. */
cq_status cq_fuse_bias(cq_fuser *f, const cq_fuse_match *m)
{
    cq_node         *layer = cq_fuse_bound(m, "layer")->node, *n;
    cq_value        *old   = cq_fuse_bound(m, "bias"), *in[2];
    const cq_tensor *bias  = cq_sym_data(old);
    const double     step  = step_of(cq_fuse_bound(m, "x")) * step_of(cq_fuse_bound(m, "w"));

    if (f->ex->options.opset != 10 || !(step > 0) || !bias || bias->rank != 1 ||
        bias->dtype != CQ_DTYPE_F32 || layer->outputs[0]->n_uses != 1)
        return CQ_OK;
    in[0] = in_steps(layer, bias, (float)step);
    if (!in[0])
        return f->ex->graph->status;
    in[1] = cq_export_constant(layer, CQ_DTYPE_F32, 0, NULL, &(float){ (float)step });
    n     = in[1] ? cq_fuse_node(f, layer, "onnx::DequantizeLinear", in, 2, 1) : NULL;
    if (!n)
        return f->ex->graph->status;
    n->outputs[0]->type = old->type;
    layer->inputs[2]    = CQ_OPERAND_OF(n->outputs[0]);
    return CQ_OK;
}
