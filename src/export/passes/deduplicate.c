/* Deduplicates constants and sizes: of equal nodes in a block the first is kept. A symbolic
 * function emits what one operator needs; common subexpressions are found here. Then constants
 * become initializers, which are not executed and are visible in subgraphs.
 *
 * Only nodes that depend on constants and shapes, and expressions, are compared: boxes[:, 2] -
 * boxes[:, 0] written twice becomes one. A layer that is called twice with the same input stays two
 * nodes, as its author wrote it. */
#include "export/exporter.h"
#include "base/str.h"

enum { MAX_BYTES = 4096 }; /* larger tensors are not compared */

static bool can_compare(const cq_tensor *t)
{
    return t->storage && cq_tensor_is_contiguous(t) &&
           cq_tensor_numel(t) <= MAX_BYTES / (int64_t)cq_dtype_size(t->dtype);
}

static size_t bytes_of(const cq_tensor *t)
{
    return (size_t)cq_tensor_numel(t) * cq_dtype_size(t->dtype);
}

static bool same_tensor(const cq_tensor *a, const cq_tensor *b)
{
    if (a->dtype != b->dtype || a->rank != b->rank || !can_compare(a) || !can_compare(b))
        return false;
    for (size_t i = 0; i < a->rank; i++)
        if (!cq_int_same(a->sizes[i], b->sizes[i]))
            return false;
    return memcmp(cq_tensor_bytes(a), cq_tensor_bytes(b), bytes_of(a)) == 0;
}

/* Lists hold no lists: they are attributes of ONNX. */
static bool same_operand(const cq_operand *a, const cq_operand *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case CQ_OPERAND_NONE: return true;
    case CQ_OPERAND_VALUE: return a->u.value == b->u.value;
    case CQ_OPERAND_INT: return cq_int_same(a->u.i, b->u.i);
    case CQ_OPERAND_FLOAT: return memcmp(&a->u.f, &b->u.f, sizeof a->u.f) == 0;
    case CQ_OPERAND_BOOL: return a->u.b == b->u.b;
    case CQ_OPERAND_STR: return strcmp(a->u.s, b->u.s) == 0;
    case CQ_OPERAND_TENSOR: return same_tensor(a->u.tensor, b->u.tensor);
    case CQ_OPERAND_LIST:
        for (size_t i = 0; i < a->u.list.n; i++)
            if (a->u.list.n != b->u.list.n || a->u.list.items[i].kind == CQ_OPERAND_LIST ||
                !same_operand(&a->u.list.items[i], &b->u.list.items[i]))
                return false;
        return a->u.list.n == b->u.list.n;
    default: return false;
    }
}

static bool same_node(const cq_node *a, const cq_node *b)
{
    if (a->op != b->op || a->n_inputs != b->n_inputs || a->n_attrs != b->n_attrs ||
        a->n_outputs != b->n_outputs)
        return false;
    for (size_t i = 0; i < a->n_inputs; i++)
        if (!same_operand(&a->inputs[i], &b->inputs[i]))
            return false;
    for (size_t i = 0; i < a->n_attrs; i++)
        if (strcmp(a->attrs[i].name, b->attrs[i].name) != 0 ||
            !same_operand(&a->attrs[i].value, &b->attrs[i].value))
            return false;
    return true;
}

/* Equal nodes have the same; of attributes only numbers and tensors count. */
static uint64_t hash_of(const cq_node *n)
{
    struct {
        const void *op;
        uint64_t    inputs, attrs, shape;
    } key = { .op = n->op };

    for (size_t i = 0; i < n->n_inputs; i++)
        key.inputs = key.inputs * 0x9e3779b97f4a7c15u +
                     (n->inputs[i].kind == CQ_OPERAND_VALUE ? n->inputs[i].u.value->id + 1 : 0);
    for (size_t i = 0; i < n->n_attrs; i++) {
        const cq_operand *o = &n->attrs[i].value;
        const cq_tensor  *t = o->kind == CQ_OPERAND_TENSOR ? o->u.tensor : NULL;

        if (o->kind == CQ_OPERAND_INT)
            key.attrs += (uint64_t)o->u.i.value;
        if (!t || !can_compare(t))
            continue;
        key.attrs += cq_hash_bytes(cq_tensor_bytes(t), bytes_of(t));
        key.shape += t->rank * 64 + (uint64_t)t->dtype;
    }
    return cq_hash_bytes(&key, sizeof key) | 1;
}

/* Results differ at every run, even with the same inputs. */
static bool is_random(const char *op)
{
    static const char *const ops[] = { "onnx::Random", "onnx::Bernoulli", "onnx::Multinomial",
                                       "onnx::Dropout" };

    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strncmp(op, ops[i], strlen(ops[i])) == 0)
            return true;
    return strncmp(op, "onnx::", 6) != 0; /* operators of users: unknown */
}

/* The mark of a node that depends on constants and shapes alone. */
static bool is_fixed(const cq_node *n)
{
    if (n->n_blocks || n->is_anchor || n->n_notes || is_random(n->op))
        return false;
    if (strcmp(n->op, "onnx::Shape") == 0)
        return true;
    for (size_t i = 0; i < n->n_inputs; i++) {
        const cq_value *v = n->inputs[i].kind == CQ_OPERAND_VALUE ? n->inputs[i].u.value : NULL;

        if (v && !v->data && !(v->node && v->node->mark))
            return false;
    }
    return n->n_inputs || strcmp(n->op, "onnx::Constant") == 0;
}

/* Selects or arranges elements, or is arithmetic: an expression, and not a layer. */
static bool is_expression(const cq_node *n)
{
    static const char *const ops[] = { "onnx::Gather",  "onnx::Slice",   "onnx::Unsqueeze",
                                       "onnx::Squeeze", "onnx::Reshape", "onnx::Transpose",
                                       "onnx::Flatten", "onnx::Concat",  "onnx::Cast",
                                       "onnx::Add",     "onnx::Sub",     "onnx::Mul",
                                       "onnx::Div",     "onnx::Pad" };

    return CQ_IS_AMONG(n->op, ops) && !n->is_anchor && !n->n_notes;
}

/* Whether equal inputs give equal results, so that one node can replace two. */
static bool is_pure(const cq_node *n)
{
    return !n->n_blocks && !n->is_anchor && !n->n_notes && !is_random(n->op) && n->n_inputs;
}

/* Results of a block are kept: runtimes lose one of two outputs that are the same value. */
static cq_status find_returned(cq_ptr_map *returned, const cq_block *b)
{
    for (size_t i = 0; i < b->returns.n; i++) {
        cq_value *v = b->returns.items[i].u.value;

        if (v->node)
            CQ_TRY(cq_ptr_map_set(returned, v->node, v->node));
    }
    return CQ_OK;
}

static cq_status share_block(cq_block *b, bool all)
{
    cq_ptr_map seen = { 0 }, returned = { 0 };
    cq_status  status = find_returned(&returned, b);

    for (cq_node *n = b->first; n && status == CQ_OK; n = n->next) {
        const void *key;
        cq_node    *first;

        cq_export_follow_inputs(n);
        n->mark = is_fixed(n);
        for (size_t i = 0; i < n->n_blocks && status == CQ_OK; i++)
            status = share_block(n->blocks[i], all);
        if (status != CQ_OK || (!n->mark && !is_expression(n) && !(all && is_pure(n))))
            continue;
        key   = (const void *)(uintptr_t)hash_of(n);
        first = cq_ptr_map_get(&seen, key);
        if (!first)
            status = cq_ptr_map_set(&seen, key, n);
        else if (cq_ptr_map_get(&returned, n))
            continue;
        for (size_t i = 0; first && same_node(first, n) && i < n->n_outputs; i++)
            n->outputs[i]->instead = first->outputs[i];
    }
    cq_ptr_map_clear(&seen);
    cq_ptr_map_clear(&returned);
    return status;
}

/* ---- initializers instead of Constant nodes ---- */

static bool is_constant(const cq_node *n)
{
    return strcmp(n->op, "onnx::Constant") == 0 && n->n_attrs == 1 && !n->is_anchor &&
           !n->n_notes && n->attrs[0].value.kind == CQ_OPERAND_TENSOR;
}

/* Named as a weight of the module that needs it first: layers.0.constant. */
static cq_value *initializer_of(cq_graph *g, const cq_node *n)
{
    const char *path = n->origin ? n->origin->path : "";
    cq_value   *v    = cq_ir_constant_new(g, n->attrs[0].value.u.tensor, false);

    if (v)
        v->name = n->outputs[0]->name
                      ? n->outputs[0]->name
                      : cq_arena_printf(g->arena, "%s%sconstant", path, *path ? "." : "");
    return v && v->name ? v : NULL;
}

/* seen has the constants of blocks around and before this one. */
static cq_status make_initializers(cq_graph *g, cq_block *b, cq_ptr_map *seen)
{
    cq_ptr_map returned = { 0 };
    cq_status  status   = find_returned(&returned, b);

    for (cq_node *n = b->first; n && status == CQ_OK; n = n->next) {
        const void *key;
        cq_node    *first;

        for (size_t i = 0; i < n->n_blocks && status == CQ_OK; i++)
            status = make_initializers(g, n->blocks[i], seen);
        if (status != CQ_OK || !is_constant(n) || n->outputs[0]->instead ||
            cq_ptr_map_get(&returned, n))
            continue;
        key   = (const void *)(uintptr_t)hash_of(n);
        first = cq_ptr_map_get(seen, key);
        if (first && same_node(first, n)) {
            n->outputs[0]->instead = first->outputs[0]->instead;
            continue;
        }
        n->outputs[0]->instead = initializer_of(g, n);
        status = n->outputs[0]->instead ? cq_ptr_map_set(seen, key, n) : CQ_E_NO_MEMORY;
    }
    cq_ptr_map_clear(&returned);
    return status;
}

/* Constants that the user requests as inputs are weights, so they are kept. */
static cq_status share_constants(cq_exporter *ex)
{
    const uint32_t as_inputs = CQ_EXPORT_NO_PARAMS | CQ_EXPORT_KEEP_INITIALIZERS_AS_INPUTS;
    cq_ptr_map     seen      = { 0 };
    cq_status      status    = CQ_OK;

    if (!(ex->options.flags & as_inputs))
        status = make_initializers(ex->graph, ex->graph->top, &seen);
    cq_ptr_map_clear(&seen);
    return status;
}

static cq_status unmark(cq_node *n, void *user)
{
    (void)user;
    n->mark = false;
    return CQ_OK;
}

cq_status cq_export_share(cq_exporter *ex)
{
    CQ_TRY(share_block(ex->graph->top, ex->optimizes));
    CQ_TRY(share_constants(ex));
    CQ_TRY(cq_ir_each_node(ex->graph->top, unmark, NULL));
    CQ_TRY(cq_export_follow(ex));
    return cq_export_remove_dead(ex);
}
