/* Two models side by side: which node is which. */
#include "view/view.h"

#include "onnx/diff/diff.h"

static cq_status index_nodes(cq_ptr_map *out, const cq_view *v)
{
    for (size_t i = 0; i < v->ops.n; i++)
        if (v->ops.items[i].node)
            CQ_TRY(cq_ptr_map_set(out, v->ops.items[i].node, (void *)((uintptr_t)i + 1)));
    return CQ_OK;
}

static cq_view_op *op_of(cq_view *v, const cq_ptr_map *index, const cq_onnx_node *node)
{
    const void *found = cq_ptr_map_get(index, node);

    return found ? &v->ops.items[(uintptr_t)found - 1] : NULL;
}

/* Nodes of the graphs themselves; a node without a pair is in one model only. */
static cq_status pair_nodes(cq_view *a, cq_view *b, cq_ptr_map *in_a, cq_ptr_map *in_b)
{
    cq_arena     *arena = cq_arena_new();
    cq_diff_scope x = { 0 }, y = { 0 };
    cq_status     status = arena ? CQ_OK : CQ_E_NO_MEMORY;

    if (status == CQ_OK)
        status = cq_diff_open_graph(&x, arena, a->model->graph, NULL);
    if (status == CQ_OK)
        status = cq_diff_open_graph(&y, arena, b->model->graph, NULL);
    if (status == CQ_OK)
        status = cq_diff_pair(&x, &y);
    for (uint32_t i = 0; i < x.n_nodes && status == CQ_OK; i++) {
        cq_view_op *op = op_of(a, in_a, x.nodes[i]), *other;

        if (!op)
            continue; /* a Constant */
        other = x.pairs[i] == CQ_DIFF_NONE ? NULL : op_of(b, in_b, y.nodes[x.pairs[i]]);
        if (!other) {
            op->state = CQ_VIEW_REMOVED;
            continue;
        }
        op->twin    = (uint32_t)(other - b->ops.items);
        other->twin = (uint32_t)(op - a->ops.items);
    }
    for (uint32_t i = 0; i < y.n_nodes && status == CQ_OK; i++) {
        cq_view_op *op = op_of(b, in_b, y.nodes[i]);

        if (op && op->twin == CQ_VIEW_NONE)
            op->state = CQ_VIEW_ADDED;
    }
    cq_diff_close(&x);
    cq_diff_close(&y);
    cq_arena_free(arena);
    return status;
}

cq_status cq_view_compare(cq_view *a, cq_view *b)
{
    cq_ptr_map in_a = { 0 }, in_b = { 0 };
    cq_status  status = index_nodes(&in_a, a);

    if (status == CQ_OK)
        status = index_nodes(&in_b, b);
    if (status == CQ_OK)
        status = pair_nodes(a, b, &in_a, &in_b);
    cq_ptr_map_clear(&in_a);
    cq_ptr_map_clear(&in_b);
    return status;
}
