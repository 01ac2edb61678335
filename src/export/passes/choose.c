/* An If whose condition is known becomes the nodes of the branch that is taken. */
#include "export/exporter.h"

/* The condition: 0 or 1; -1: unknown. */
static int condition_of(const cq_node *n)
{
    const cq_tensor *t = n->n_inputs == 1 && n->inputs[0].kind == CQ_OPERAND_VALUE
                             ? cq_sym_data(n->inputs[0].u.value)
                             : NULL;

    return t && t->dtype == CQ_DTYPE_BOOL && cq_tensor_numel(t) == 1 ? cq_tensor_get_i64(t, 0) != 0
                                                                     : -1;
}

static cq_status choose(cq_node *n, void *user)
{
    cq_block *taken;
    int       condition;

    (void)user;
    cq_export_follow_inputs(n);
    if (strcmp(n->op, "onnx::If") != 0 || n->n_blocks != 2 || n->is_anchor)
        return CQ_OK;
    condition = condition_of(n);
    taken     = condition < 0 ? NULL : n->blocks[condition ? 0 : 1];
    if (!taken || taken->returns.n != n->n_outputs || taken->params.n)
        return CQ_OK;
    while (taken->first) {
        cq_node *moved = taken->first;

        cq_ir_unlink(moved);
        cq_ir_move_before(moved, n->block, n);
        for (size_t i = 0; i < moved->n_outputs; i++)
            moved->outputs[i]->block = n->block;
    }
    for (size_t i = 0; i < n->n_outputs; i++)
        n->outputs[i]->instead = taken->returns.items[i].u.value;
    n->blocks[0]->returns.n = n->blocks[1]->returns.n = 0;
    return CQ_OK;
}

cq_status cq_export_choose(cq_exporter *ex)
{
    CQ_TRY(cq_ir_each_node(ex->graph->top, choose, ex));
    CQ_TRY(cq_export_follow(ex));
    return cq_export_remove_dead(ex);
}
