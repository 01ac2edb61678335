/* Layer normalization, GELU and linear layers as exporters write them out, for the optimizer; and
 * ONNX Runtime's own operators of com.microsoft, for `--for onnxruntime`. fuse.c has the patterns.
 */
#include "export/passes/fuse.h"

#include <math.h>

/* ---- what is known of values ---- */

static bool is_near(const cq_value *v, double wanted)
{
    double number;

    return cq_fuse_number(v, &number) && fabs(number - wanted) <= 1e-5 * (1 + fabs(wanted));
}

static bool is_op(const cq_value *v, const char *op)
{
    return v && v->node && strcmp(v->node->op, op) == 0;
}

static bool is_float(const cq_value *v)
{
    return v->type.kind == CQ_TYPE_TENSOR &&
           (v->type.dtype == CQ_DTYPE_F32 || v->type.dtype == CQ_DTYPE_F16);
}

/* The operand of a product or quotient with a number: y of y * number, y / number; else NULL. */
static cq_value *without(const cq_value *v, const char *op, double number)
{
    cq_value *a, *b;

    if (!is_op(v, op))
        return NULL;
    a = cq_fuse_input(v->node, 0);
    b = cq_fuse_input(v->node, 1);
    if (b && is_near(b, number))
        return a;
    return a && is_near(a, number) && strcmp(op, "onnx::Div") != 0 ? b : NULL;
}

/* A vector as long as the last axis of x. */
static bool is_bias(const cq_value *b, const cq_value *x)
{
    const int rank = cq_fuse_rank(x);

    return rank >= 1 && cq_fuse_rank(b) == 1 && b->type.dtype == x->type.dtype &&
           cq_int_same(b->type.sizes[0], x->type.sizes[rank - 1]);
}

static bool same_shape(const cq_value *a, const cq_value *b)
{
    const int rank = cq_fuse_rank(a);

    if (rank < 0 || rank != cq_fuse_rank(b) || a->type.dtype != b->type.dtype)
        return false;
    for (int i = 0; i < rank; i++)
        if (!cq_int_same(a->type.sizes[i], b->type.sizes[i]))
            return false;
    return true;
}

static cq_status set_int(cq_node *n, const char *name, int64_t value)
{
    return cq_ir_attr_set(n, name, cq_attr_i(name, value).value);
}

static cq_status set_float(cq_node *n, const char *name, double value)
{
    return cq_ir_attr_set(n, name, cq_attr_f(name, value).value);
}

/* ---- LayerNormalization ---- */

/* The first of the axes that a reduction goes over, if they are all axes from it to the last; -1:
 * they are not. */
static int first_axis(const cq_node *mean, int rank)
{
    const cq_operand *attr = cq_ir_attr(mean, "axes");
    cq_tensor        *data = NULL;
    uint64_t          axes = 0;
    size_t            n;
    int               first = rank;

    if (!attr && cq_fuse_input(mean, 1))
        data = cq_sym_data(cq_fuse_input(mean, 1));
    if (cq_fuse_attr_int(mean, "keepdims", 1) != 1 ||
        (attr ? attr->kind != CQ_OPERAND_LIST : !data))
        return -1;
    n = attr ? attr->u.list.n : (size_t)cq_tensor_numel(data);
    for (size_t i = 0; i < n; i++) {
        int64_t axis = attr ? attr->u.list.items[i].u.i.value : cq_tensor_get_i64(data, (int64_t)i);

        axis += axis < 0 ? rank : 0;
        if (axis < 0 || axis >= rank)
            return -1;
        axes |= UINT64_C(1) << axis;
        first = axis < first ? (int)axis : first;
    }
    for (int i = first; i < rank; i++)
        if (!(axes >> i & 1))
            return -1;
    return first < rank ? first : -1;
}

static bool is_scale_of(const cq_value *w, const cq_value *x, int first)
{
    const int rank = cq_fuse_rank(x);

    if (cq_fuse_rank(w) != rank - first || w->type.dtype != x->type.dtype)
        return false;
    for (int i = first; i < rank; i++)
        if (!cq_int_same(w->type.sizes[i - first], x->type.sizes[i]))
            return false;
    return true;
}

/* Ones with the sizes of x from an axis on; NULL: they are dynamic, or too many. */
static cq_value *ones_like(cq_fuser *f, cq_node *before, const cq_value *x, int first)
{
    int64_t   sizes[CQ_MAX_RANK], n = 1;
    const int rank = cq_fuse_rank(x);
    float    *ones;
    cq_value *v;

    (void)f;
    for (int i = first; i < rank; i++) {
        sizes[i - first] = x->type.sizes[i].value;
        if (x->type.sizes[i].expr || __builtin_mul_overflow(n, sizes[i - first], &n) || n > 1 << 16)
            return NULL;
    }
    ones = x->type.dtype == CQ_DTYPE_F32 ? cq_alloc_array((size_t)(n ? n : 1), sizeof *ones) : NULL;
    for (int64_t i = 0; ones && i < n; i++)
        ones[i] = 1;
    v = ones ? cq_export_constant(before, CQ_DTYPE_F32, (size_t)(rank - first), sizes, ones) : NULL;
    cq_free(ones);
    return v;
}

/* (x - mean) / sqrt(variance + eps), times w where there is one. */
cq_status cq_fuse_layer_norm(cq_fuser *f, const cq_fuse_match *m)
{
    cq_value      *x = cq_fuse_bound(m, "x"), *w = cq_fuse_bound(m, "w");
    cq_value      *two = cq_fuse_bound(m, "two"), *old = m->root->outputs[0];
    const cq_node *mean = cq_fuse_bound(m, "mean")->node, *var = cq_fuse_bound(m, "var")->node;
    const int      rank = cq_fuse_rank(x), first = rank > 0 ? first_axis(mean, rank) : -1;
    double         eps;
    cq_node       *n;

    if (first < 0 || first_axis(var, rank) != first || !is_float(x) || (two && !is_near(two, 2)) ||
        !cq_fuse_number(cq_fuse_bound(m, "eps"), &eps) || (w && !is_scale_of(w, x, first)))
        return CQ_OK;
    if (!w)
        w = ones_like(f, m->root, x, first);
    if (!w)
        return f->ex->graph->status;
    n = cq_fuse_node(f, m->root, "onnx::LayerNormalization", (cq_value *[]){ x, w }, 2, 1);
    if (!n)
        return CQ_E_NO_MEMORY;
    CQ_TRY(set_int(n, "axis", first - rank));
    CQ_TRY(set_float(n, "epsilon", eps));
    return cq_fuse_replace(old, n->outputs[0]);
}

/* LayerNormalization + b. */
cq_status cq_fuse_norm_bias(cq_fuser *f, const cq_fuse_match *m)
{
    cq_value *b = cq_fuse_bound(m, "b"), *w = cq_fuse_bound(m, "w"), *x = cq_fuse_bound(m, "x");
    cq_node  *old = cq_fuse_bound(m, "norm")->node, *n;

    if (old->n_outputs != 1 || old->outputs[0]->n_uses != 1 || !same_shape(b, w))
        return CQ_OK;
    n = cq_fuse_node(f, m->root, old->op, (cq_value *[]){ x, w, b }, 3, 1);
    if (!n)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < old->n_attrs; i++)
        CQ_TRY(cq_ir_attr_set(n, old->attrs[i].name, old->attrs[i].value));
    return cq_fuse_replace(m->root->outputs[0], n->outputs[0]);
}

/* ---- Gelu ---- */

static bool is_cube(const cq_value *v, const cq_value *x)
{
    cq_value *a, *b;

    if (is_op(v, "onnx::Pow"))
        return cq_fuse_input(v->node, 0) == x && is_near(cq_fuse_input(v->node, 1), 3);
    if (!is_op(v, "onnx::Mul"))
        return false;
    a = cq_fuse_input(v->node, 0);
    b = cq_fuse_input(v->node, 1);
    if (b == x) {
        b = a;
        a = (cq_value *)x;
    }
    return a == x && is_op(b, "onnx::Mul") && cq_fuse_input(b->node, 0) == x &&
           cq_fuse_input(b->node, 1) == x;
}

/* sqrt(2 / pi) * (x + 0.044715 * x^3) */
static bool is_tanh_argument(const cq_value *v, const cq_value *x)
{
    const cq_value *sum = without(v, "onnx::Mul", 0.7978845608);

    for (int i = 0; is_op(sum, "onnx::Add") && i < 2; i++) {
        const cq_value *cube =
            without(cq_fuse_input(sum->node, 1 - (size_t)i), "onnx::Mul", 0.044715);

        if (cq_fuse_input(sum->node, (size_t)i) == x && cube && is_cube(cube, x))
            return true;
    }
    return false;
}

static cq_status make_gelu(cq_fuser *f, const cq_fuse_match *m, bool is_tanh)
{
    cq_value  *x = cq_fuse_bound(m, "x"), *old = m->root->outputs[0];
    const bool is_ms = f->ex->options.opset < 20;
    cq_node   *n;

    if (!is_near(cq_fuse_bound(m, "one"), 1) || !is_near(cq_fuse_bound(m, "half"), 0.5) ||
        !is_float(x) || cq_fuse_rank(x) != cq_fuse_rank(old) || (is_ms && !f->ex->for_onnxruntime))
        return CQ_OK;
    n = cq_fuse_node(f, m->root,
                     !is_ms    ? "onnx::Gelu"
                     : is_tanh ? "com.microsoft::FastGelu"
                               : "com.microsoft::Gelu",
                     &x, 1, 1);
    if (!n)
        return CQ_E_NO_MEMORY;
    if (is_tanh && !is_ms)
        CQ_TRY(cq_ir_attr_set(n, "approximate", cq_attr_s("approximate", "tanh").value));
    return cq_fuse_replace(old, n->outputs[0]);
}

cq_status cq_fuse_gelu_erf(cq_fuser *f, const cq_fuse_match *m)
{
    const cq_value *x = cq_fuse_bound(m, "x"), *in = cq_fuse_bound(m, "inner");

    return without(in, "onnx::Div", sqrt(2)) == x || without(in, "onnx::Mul", sqrt(0.5)) == x
               ? make_gelu(f, m, false)
               : CQ_OK;
}

cq_status cq_fuse_gelu_tanh(cq_fuser *f, const cq_fuse_match *m)
{
    return is_tanh_argument(cq_fuse_bound(m, "inner"), cq_fuse_bound(m, "x"))
               ? make_gelu(f, m, true)
               : CQ_OK;
}

/* ---- Gemm ---- */

/* A linear layer of three or more dimensions whose result is flattened to rows: the argument is
 * flattened instead, and Gemm adds the bias. */
cq_status cq_fuse_flat_linear(cq_fuser *f, const cq_fuse_match *m)
{
    cq_value *x = cq_fuse_bound(m, "x"), *w = cq_fuse_bound(m, "w"), *b = cq_fuse_bound(m, "b");
    cq_value *sum = cq_fuse_bound(m, "sum"), *product = cq_fuse_bound(m, "product");
    cq_value *old  = m->root->outputs[0], *shape;
    const int rank = cq_fuse_rank(x);
    cq_node  *flat, *n;

    if (rank < 3 || cq_fuse_rank(w) != 2 || !is_float(x) || !is_bias(b, sum) || sum->n_uses != 1 ||
        product->n_uses != 1 || cq_fuse_rank(old) != 2 || w->type.sizes[0].expr ||
        !cq_int_same(old->type.sizes[1], w->type.sizes[1]) || cq_fuse_rank(sum) != rank ||
        !cq_int_same(w->type.sizes[0], x->type.sizes[rank - 1]))
        return CQ_OK;
    shape = cq_export_ints(m->root, (int64_t[]){ -1, w->type.sizes[0].value }, 2);
    if (!shape)
        return f->ex->graph->status;
    flat = cq_fuse_node(f, m->root, "onnx::Reshape", (cq_value *[]){ x, shape }, 2, 1);
    if (!flat)
        return CQ_E_NO_MEMORY;
    flat->outputs[0]->type = cq_ir_tensor_type(f->ex->graph, x->type.dtype, 2,
                                               (cq_int[]){ old->type.sizes[0], w->type.sizes[0] });
    n = cq_fuse_node(f, m->root, "onnx::Gemm", (cq_value *[]){ flat->outputs[0], w, b }, 3, 1);
    return n ? cq_fuse_replace(old, n->outputs[0]) : CQ_E_NO_MEMORY;
}

/* ---- com.microsoft ---- */

/* Gelu(x + b) */
cq_status cq_fuse_bias_gelu(cq_fuser *f, const cq_fuse_match *m)
{
    cq_value         *x = cq_fuse_bound(m, "x"), *b = cq_fuse_bound(m, "b");
    cq_value         *sum     = cq_fuse_bound(m, "sum");
    const cq_operand *form    = cq_ir_attr(m->root, "approximate");
    const bool        is_tanh = strcmp(m->root->op, "com.microsoft::FastGelu") == 0 ||
                         (form && form->kind == CQ_OPERAND_STR && strcmp(form->u.s, "tanh") == 0);
    cq_node *n;

    if (is_bias(x, sum) && !is_bias(b, sum)) { /* a sum matches the other way round, too */
        b = x;
        x = cq_fuse_bound(m, "b");
    }
    if (!is_bias(b, sum) || !same_shape(x, sum) || sum->n_uses != 1 || !cq_sym_data(b))
        return CQ_OK;
    n = cq_fuse_node(f, m->root, is_tanh ? "com.microsoft::FastGelu" : "com.microsoft::BiasGelu",
                     (cq_value *[]){ x, b }, 2, 1);
    return n ? cq_fuse_replace(m->root->outputs[0], n->outputs[0]) : CQ_E_NO_MEMORY;
}

/* v as another value of the same shape plus a bias. */
static bool split_bias(cq_value **v, cq_value **bias, const cq_value *like)
{
    if (!is_op(*v, "onnx::Add") || (*v)->n_uses != 1)
        return false;
    for (size_t i = 0; i < 2; i++) {
        cq_value *b = cq_fuse_input((*v)->node, i), *rest = cq_fuse_input((*v)->node, 1 - i);

        if (is_bias(b, like) && same_shape(rest, like)) {
            *bias = b;
            *v    = rest;
            return true;
        }
    }
    return false;
}

/* LayerNormalization(x + skip), where x may have a bias; the sum is an output for other readers. */
cq_status cq_fuse_skip_norm(cq_fuser *f, const cq_fuse_match *m)
{
    cq_value *x = cq_fuse_bound(m, "x"), *skip = cq_fuse_bound(m, "skip"),
             *w         = cq_fuse_bound(m, "w");
    cq_value         *b = cq_fuse_bound(m, "b"), *sum = cq_fuse_bound(m, "sum");
    cq_value         *bias    = NULL;
    const int         rank    = cq_fuse_rank(sum);
    const int64_t     axis    = cq_fuse_attr_int(m->root, "axis", -1);
    const cq_operand *epsilon = cq_ir_attr(m->root, "epsilon");
    const bool        is_read = sum->n_uses > 1;
    cq_node          *n;

    if ((rank != 3 && rank != 2) || (axis != -1 && axis != rank - 1) || !is_float(sum) ||
        !is_bias(w, sum) || !is_bias(b, sum) || !same_shape(x, sum) || !same_shape(skip, sum) ||
        cq_fuse_attr_int(m->root, "stash_type", 1) != 1 || cq_export_is_returned(sum) ||
        sum->node->block != m->root->block || (is_read && cq_fuse_used_before(sum, m->root)))
        return CQ_OK;
    if (!split_bias(&x, &bias, sum))
        (void)split_bias(&skip, &bias, sum);
    n = cq_fuse_node(f, m->root, "com.microsoft::SkipLayerNormalization",
                     (cq_value *[]){ x, skip, w, b, bias }, bias ? 5 : 4, is_read ? 4 : 1);
    if (!n)
        return CQ_E_NO_MEMORY;
    CQ_TRY(set_float(n, "epsilon",
                     epsilon && epsilon->kind == CQ_OPERAND_FLOAT ? epsilon->u.f : 1e-5));
    if (is_read) {
        n->outputs[1]->name = n->outputs[2]->name = ""; /* mean and deviation are left out */
        CQ_TRY(cq_fuse_replace(sum, n->outputs[3]));
    }
    return cq_fuse_replace(m->root->outputs[0], n->outputs[0]);
}

/* Whether n exchanges the last two axes. */
static bool swaps_last(const cq_node *n, int rank)
{
    const cq_operand *perm = cq_ir_attr(n, "perm");

    if (!perm || perm->kind != CQ_OPERAND_LIST || (int)perm->u.list.n != rank || rank < 2)
        return false;
    for (int i = 0; i < rank; i++)
        if (perm->u.list.items[i].u.i.value != (i == rank - 1   ? rank - 2
                                                : i == rank - 2 ? rank - 1
                                                                : i))
            return false;
    return true;
}

/* MatMul(a, b') times a number. */
cq_status cq_fuse_matmul(cq_fuser *f, const cq_fuse_match *m)
{
    cq_value *a = cq_fuse_bound(m, "a"), *b = cq_fuse_bound(m, "b");
    cq_value *turned = cq_fuse_bound(m, "turned"), *product = cq_fuse_bound(m, "product");
    cq_value *factor = cq_fuse_bound(m, "factor"), *divisor = cq_fuse_bound(m, "divisor");
    cq_value *old   = m->root->outputs[0];
    double    alpha = 1, under = 1;
    cq_node  *n;

    if (a->type.dtype != CQ_DTYPE_F32 || cq_fuse_rank(a) < 2 || cq_fuse_rank(b) < 2 ||
        (turned && !swaps_last(turned->node, cq_fuse_rank(b))) ||
        (factor && !cq_fuse_number(factor, &alpha)) ||
        (divisor && (!cq_fuse_number(divisor, &under) || under == 0)) ||
        ((factor || divisor) &&
         (product->n_uses != 1 || cq_fuse_rank(product) != cq_fuse_rank(old))))
        return CQ_OK;
    n = cq_fuse_node(f, m->root, "com.microsoft::FusedMatMul", (cq_value *[]){ a, b }, 2, 1);
    if (!n)
        return CQ_E_NO_MEMORY;
    CQ_TRY(set_int(n, "transB", turned != NULL));
    CQ_TRY(set_float(n, "alpha", alpha / under));
    return cq_fuse_replace(old, n->outputs[0]);
}

/* Whether v is [batch, length, heads * size] as [batch, heads, length, size]; heads. */
static bool splits_heads(const cq_value *v, const cq_value *x, const int64_t *perm, int64_t *heads)
{
    const cq_operand *p     = is_op(v, "onnx::Transpose") ? cq_ir_attr(v->node, "perm") : NULL;
    const cq_value   *split = p ? cq_fuse_input(v->node, 0) : NULL;

    if (!split || cq_fuse_rank(split) != 4 || cq_fuse_rank(x) != 3 || p->kind != CQ_OPERAND_LIST ||
        p->u.list.n != 4 || split->type.sizes[2].expr ||
        !cq_int_same(split->type.sizes[0], x->type.sizes[0]) ||
        !cq_int_same(split->type.sizes[1], x->type.sizes[1]))
        return false;
    for (size_t i = 0; i < 4; i++)
        if (p->u.list.items[i].u.i.value != perm[i])
            return false;
    if (*heads && split->type.sizes[2].value != *heads)
        return false;
    *heads = split->type.sizes[2].value;
    return true;
}

/* softmax(q k' scale + mask) v of heads that are split off before and joined behind it. */
cq_status cq_fuse_heads(cq_fuser *f, const cq_fuse_match *m)
{
    static const int64_t plain[] = { 0, 2, 1, 3 }, turned[] = { 0, 2, 3, 1 };
    cq_value *q = cq_fuse_bound(m, "q"), *k = cq_fuse_bound(m, "k"), *v = cq_fuse_bound(m, "v");
    cq_value *soft = cq_fuse_bound(m, "soft"), *mask = cq_fuse_bound(m, "mask");
    cq_value *factor = cq_fuse_bound(m, "factor"), *divisor = cq_fuse_bound(m, "divisor");
    cq_value *old   = m->root->outputs[0];
    double    scale = 1, under = 1;
    int64_t   heads = 0, axis = cq_fuse_attr_int(soft->node, "axis", -1);
    cq_node  *n;

    if (q->type.dtype != CQ_DTYPE_F32 || soft->n_uses != 1 || (axis != -1 && axis != 3) ||
        cq_fuse_rank(old) != 3 || cq_fuse_rank(q) != 3 ||
        !cq_int_same(old->type.sizes[1], q->type.sizes[1]) ||
        !cq_int_same(old->type.sizes[2], q->type.sizes[2]) ||
        !splits_heads(cq_fuse_bound(m, "hq"), q, plain, &heads) ||
        !splits_heads(cq_fuse_bound(m, "hk"), k, turned, &heads) ||
        !splits_heads(cq_fuse_bound(m, "hv"), v, plain, &heads) || !same_shape(k, v) ||
        !cq_int_same(q->type.sizes[0], k->type.sizes[0]) ||
        !cq_int_same(q->type.sizes[2], k->type.sizes[2]) ||
        !cq_fuse_swaps(cq_fuse_bound(m, "joined"), plain, 4) ||
        (factor && !cq_fuse_number(factor, &scale)) ||
        (divisor && (!cq_fuse_number(divisor, &under) || under == 0)) ||
        (mask && (cq_fuse_rank(mask) != 4 || mask->type.dtype != CQ_DTYPE_F32)))
        return CQ_OK;
    for (int i = 0; mask && i < 4; i++) {
        const bool same = cq_int_same(mask->type.sizes[i], soft->type.sizes[i]);

        if (cq_fuse_rank(soft) != 4 || (!same && (i > 1 || !cq_int_is(mask->type.sizes[i], 1))))
            return CQ_OK; /* it broadcasts batches and heads only */
    }
    n = cq_fuse_node(f, m->root, "com.microsoft::MultiHeadAttention",
                     (cq_value *[]){ q, k, v, NULL, NULL, mask }, mask ? 6 : 3, 1);
    if (!n)
        return CQ_E_NO_MEMORY;
    CQ_TRY(set_int(n, "num_heads", heads));
    CQ_TRY(set_float(n, "scale", scale / under));
    return cq_fuse_replace(old, n->outputs[0]);
}
