/* Removes nodes of an ONNX file that have no effect: Identity, Dropout in inference, a Cast to the
 * same type, a Reshape to the same shape, adding 0. Facts about values come from inference: two
 * sizes are equal if they are the same number or the same expression. */
#include "export/exporter.h"

enum { MAX_CONSTANT = 4096, MAX_MOVES = 8 };

static cq_value *input_of(const cq_node *n, size_t i)
{
    return i < n->n_inputs && n->inputs[i].kind == CQ_OPERAND_VALUE ? n->inputs[i].u.value : NULL;
}

static const cq_tensor *constant_of(const cq_node *n, size_t i)
{
    return cq_sym_data(input_of(n, i));
}

static const cq_operand *ints_of(const cq_node *n, const char *name)
{
    const cq_operand *o = cq_ir_attr(n, name);

    return o && o->kind == CQ_OPERAND_LIST ? o : NULL;
}

static int64_t int_of(const cq_node *n, const char *name, int64_t otherwise)
{
    const cq_operand *o = cq_ir_attr(n, name);

    return o && o->kind == CQ_OPERAND_INT ? o->u.i.value : otherwise;
}

static bool is_op(const cq_value *v, const char *op)
{
    return v && v->node && strcmp(v->node->op, op) == 0;
}

static bool same_type(const cq_value *a, const cq_value *b)
{
    const cq_type *t = &a->type, *u = &b->type;

    if (t->kind != CQ_TYPE_TENSOR || u->kind != CQ_TYPE_TENSOR || t->dtype == CQ_DTYPE_NONE ||
        t->dtype != u->dtype || t->rank < 0 || t->rank != u->rank)
        return false;
    for (int i = 0; i < t->rank; i++)
        if (!cq_int_same(t->sizes[i], u->sizes[i]))
            return false;
    return true;
}

static bool is_returned_already(const cq_value *x)
{
    for (size_t i = 0; i < x->block->returns.n; i++)
        if (x->block->returns.items[i].u.value == x)
            return true;
    return false;
}

/* A result of a block must be computed in the block and returned only once. */
bool cq_export_replace(cq_node *n, cq_value *x)
{
    cq_value *old = n->outputs[0];

    if (n->is_anchor || n->n_notes)
        return false;
    if (cq_export_is_returned(old)) {
        if (!x->node || x->node->block != n->block || is_returned_already(x))
            return false;
        for (size_t i = 0; i < n->block->returns.n; i++)
            if (n->block->returns.items[i].u.value == old)
                n->block->returns.items[i] = CQ_OPERAND_OF(x);
    }
    old->instead = x;
    x->n_uses += old->n_uses;
    return true;
}

/* ---- each operator: whether it returns its first input unchanged ---- */

static bool always(const cq_node *n)
{
    return n->n_inputs == 1;
}

/* The second output is a mask. A third input enables training. */
static bool dropout(const cq_node *n)
{
    const cq_tensor *training = constant_of(n, 2);

    return (n->n_outputs < 2 || !n->outputs[1]->n_uses) &&
           (!input_of(n, 2) ||
            (training && cq_tensor_numel(training) == 1 && cq_tensor_get_i64(training, 0) == 0));
}

static bool cast(const cq_node *n)
{
    const cq_value *x = input_of(n, 0);

    return x->type.kind == CQ_TYPE_TENSOR && x->type.dtype != CQ_DTYPE_NONE &&
           cq_dtype_to_onnx(x->type.dtype) == int_of(n, "to", 0);
}

static bool cast_like(const cq_node *n)
{
    const cq_value *x = input_of(n, 0), *like = input_of(n, 1);

    return like && x->type.kind == CQ_TYPE_TENSOR && like->type.kind == CQ_TYPE_TENSOR &&
           x->type.dtype != CQ_DTYPE_NONE && x->type.dtype == like->type.dtype;
}

static bool transpose(const cq_node *n)
{
    const cq_operand *perm = ints_of(n, "perm");

    for (size_t i = 0; perm && i < perm->u.list.n; i++)
        if (perm->u.list.items[i].u.i.value != (int64_t)i)
            return false;
    return perm != NULL;
}

/* A node that keeps all sizes keeps the order of elements. */
static bool same_shape(const cq_node *n)
{
    return same_type(input_of(n, 0), n->outputs[0]);
}

static bool all_are(const cq_tensor *t, double number)
{
    for (int64_t i = 0; t && i < cq_tensor_numel(t); i++)
        if (cq_tensor_get_f64(t, i) != number)
            return false;
    return t != NULL;
}

static bool pad(const cq_node *n)
{
    const cq_operand *pads = ints_of(n, "pads");

    for (size_t i = 0; pads && i < pads->u.list.n; i++)
        if (pads->u.list.items[i].u.i.value != 0)
            return false;
    return pads || all_are(constant_of(n, 1), 0);
}

static bool tile(const cq_node *n)
{
    return all_are(constant_of(n, 1), 1);
}

/* A slice of all elements, forward. */
static bool slice(const cq_node *n)
{
    const cq_tensor *steps = constant_of(n, 4);

    return same_shape(n) && (!input_of(n, 4) || all_are(steps, 1));
}

static bool flatten(const cq_node *n)
{
    return input_of(n, 0)->type.rank == 2 && int_of(n, "axis", 1) == 1;
}

static bool resize(const cq_node *n)
{
    const size_t scales = n->n_inputs == 2 ? 1 : 2;

    return same_shape(n) && all_are(constant_of(n, scales), 1);
}

/* ReLU(ReLU(x)) and the like. */
static bool repeated(const cq_node *n)
{
    return input_of(n, 0)->node && input_of(n, 0)->node->op == n->op;
}

static bool relu(const cq_node *n)
{
    static const char *const positive[] = { "onnx::Relu", "onnx::Sigmoid", "onnx::Exp",
                                            "onnx::Softmax" };
    const cq_node           *inner      = input_of(n, 0)->node;

    return inner && CQ_IS_AMONG(inner->op, positive);
}

static const struct neutral_rule {
    const char *op;
    bool (*is_neutral)(const cq_node *n);
} rules[] = {
    { "onnx::Identity", always },
    { "onnx::Dropout", dropout },
    { "onnx::Cast", cast },
    { "onnx::CastLike", cast_like },
    { "onnx::Transpose", transpose },
    { "onnx::Reshape", same_shape },
    { "onnx::Expand", same_shape },
    { "onnx::Squeeze", same_shape },
    { "onnx::Unsqueeze", same_shape },
    { "onnx::Pad", pad },
    { "onnx::Tile", tile },
    { "onnx::Slice", slice },
    { "onnx::Flatten", flatten },
    { "onnx::Concat", always },
    { "onnx::Sum", always },
    { "onnx::Max", always },
    { "onnx::Min", always },
    { "onnx::Mean", always },
    { "onnx::Resize", resize },
    { "onnx::Upsample", resize },
    { "onnx::Relu", relu },
    { "onnx::Abs", repeated },
    { "onnx::Ceil", repeated },
    { "onnx::Floor", repeated },
    { "onnx::Round", repeated },
    { "onnx::Sign", repeated },
};

/* ---- arithmetic with a neutral number ---- */

static const struct unit_rule {
    const char *op;
    double      number;
    bool        commutes;
} units[] = {
    { "onnx::Add", 0, true },  { "onnx::Sub", 0, false }, { "onnx::Mul", 1, true },
    { "onnx::Div", 1, false }, { "onnx::Pow", 1, false }, { "onnx::And", 1, true },
    { "onnx::Or", 0, true },
};

static cq_value *without_unit(const cq_node *n)
{
    for (size_t r = 0; r < sizeof units / sizeof *units; r++) {
        if (strcmp(n->op, units[r].op) != 0 || n->n_inputs != 2)
            continue;
        for (size_t i = 0; i < (units[r].commutes ? 2u : 1u); i++) {
            const cq_tensor *t = constant_of(n, 1 - i);

            if (t && cq_tensor_numel(t) <= MAX_CONSTANT && input_of(n, i) &&
                same_type(input_of(n, i), n->outputs[0]) && all_are(t, units[r].number))
                return input_of(n, i);
        }
    }
    return NULL;
}

/* ---- a Cast of a Cast ---- */

/* Whether every value of one type is a value of another. */
static bool is_wider(cq_dtype wide, cq_dtype narrow)
{
    static const struct {
        cq_dtype narrow, wide;
    } rows[] = {
        { CQ_DTYPE_F16, CQ_DTYPE_F32 },  { CQ_DTYPE_F16, CQ_DTYPE_F64 },
        { CQ_DTYPE_BF16, CQ_DTYPE_F32 }, { CQ_DTYPE_BF16, CQ_DTYPE_F64 },
        { CQ_DTYPE_F32, CQ_DTYPE_F64 },  { CQ_DTYPE_I32, CQ_DTYPE_I64 },
        { CQ_DTYPE_U8, CQ_DTYPE_I32 },   { CQ_DTYPE_U8, CQ_DTYPE_I64 },
        { CQ_DTYPE_I8, CQ_DTYPE_I32 },   { CQ_DTYPE_I8, CQ_DTYPE_I64 },
        { CQ_DTYPE_BOOL, CQ_DTYPE_I32 }, { CQ_DTYPE_BOOL, CQ_DTYPE_I64 },
        { CQ_DTYPE_BOOL, CQ_DTYPE_F32 }, { CQ_DTYPE_BOOL, CQ_DTYPE_F16 },
        { CQ_DTYPE_I32, CQ_DTYPE_F64 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].narrow == narrow && rows[i].wide == wide)
            return true;
    return false;
}

static void join_casts(cq_node *n)
{
    const cq_value *x = input_of(n, 0), *inner;

    if (strcmp(n->op, "onnx::Cast") != 0 || !is_op(x, "onnx::Cast"))
        return;
    inner = input_of(x->node, 0);
    if (inner && inner->type.kind == CQ_TYPE_TENSOR && is_wider(x->type.dtype, inner->type.dtype))
        n->inputs[0] = x->node->inputs[0];
}

/* ---- initial states ---- */

/* Whether all elements are zero: a constant, or one of a dynamic shape that nodes only select from
 * or reshape. */
static bool is_zero(const cq_value *v)
{
    static const char *const moves[] = { "onnx::Slice",   "onnx::Expand",    "onnx::Reshape",
                                         "onnx::Squeeze", "onnx::Unsqueeze", "onnx::Transpose",
                                         "onnx::Tile",    "onnx::Identity",  "onnx::Cast" };
    const cq_operand        *number;

    for (int depth = 0; v && depth < MAX_MOVES; depth++) {
        const cq_tensor *t = cq_sym_data(v);

        if (t)
            return cq_tensor_numel(t) <= MAX_CONSTANT && all_are(t, 0);
        if (is_op(v, "onnx::ConstantOfShape")) {
            number = cq_ir_attr(v->node, "value");
            return !number || (number->kind == CQ_OPERAND_TENSOR && all_are(number->u.tensor, 0));
        }
        v = v->node && CQ_IS_AMONG(v->node->op, moves) ? input_of(v->node, 0) : NULL;
    }
    return false;
}

/* Recurrent layers start with zeros if they have no initial state. torch.onnx computes them from
 * the size of the batch. */
static void drop_zero_states(cq_node *n)
{
    enum { FIRST_STATE = 5, LAST_STATE = 6 };
    static const char *const layers[] = { "onnx::RNN", "onnx::GRU", "onnx::LSTM" };

    if (!CQ_IS_AMONG(n->op, layers))
        return;
    for (size_t i = FIRST_STATE; i <= LAST_STATE; i++)
        if (input_of(n, i) && is_zero(input_of(n, i)))
            n->inputs[i] = (cq_operand){ .kind = CQ_OPERAND_NONE };
    while (n->n_inputs && n->inputs[n->n_inputs - 1].kind == CQ_OPERAND_NONE)
        n->n_inputs--;
}

/* ---- the pass ---- */

static cq_status visit(cq_node *n, void *user)
{
    cq_value *x;

    (void)user;
    cq_export_follow_inputs(n);
    x = input_of(n, 0);
    if (!n->n_outputs || n->outputs[0]->instead || !x)
        return CQ_OK;
    join_casts(n);
    drop_zero_states(n);
    x = input_of(n, 0);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].is_neutral && strcmp(n->op, rules[i].op) == 0 && rules[i].is_neutral(n)) {
            cq_export_replace(n, x);
            return CQ_OK;
        }
    if (strcmp(n->op, "onnx::Split") == 0 && n->n_outputs == 1)
        cq_export_replace(n, x);
    else if ((x = without_unit(n)))
        cq_export_replace(n, x);
    return CQ_OK;
}

cq_status cq_export_neutral(cq_exporter *ex)
{
    CQ_TRY(cq_ir_each_node(ex->graph->top, visit, ex));
    CQ_TRY(cq_export_follow(ex));
    return cq_export_remove_dead(ex);
}
