/* Removes results of an If that need no If: values that both branches return, and a bool that is
 * true in one branch and false in the other. A return in the middle of a function is a flag that an
 * If sets and the next one tests (script/desugar.c): the second If then uses the first one's
 * condition. Unused results are removed, too. */
#include "export/exporter.h"

/* Result i of a branch, without Identity nodes. */
static cq_value *given(const cq_block *branch, size_t i)
{
    cq_value *v = branch->returns.items[i].u.value;

    for (;;) {
        if (v->instead)
            v = v->instead;
        else if (v->node && strcmp(v->node->op, "onnx::Identity") == 0 && !v->node->is_anchor &&
                 !v->node->n_notes && v->node->n_inputs == 1 &&
                 v->node->inputs[0].kind == CQ_OPERAND_VALUE)
            v = v->node->inputs[0].u.value;
        else
            return v;
    }
}

/* The value of a constant bool, 0 or 1; -1: unknown. */
static int truth_of(const cq_value *v)
{
    const cq_tensor *t = cq_sym_data(v);

    return t && t->dtype == CQ_DTYPE_BOOL && t->rank == 0 ? cq_tensor_get_i64(t, 0) != 0 : -1;
}

static cq_value *negated(cq_node *n, cq_value *condition)
{
    cq_node *node = cq_ir_node_new(n->block, n, "onnx::Not", &CQ_OPERAND_OF(condition), 1, 1);

    if (!node)
        return NULL;
    node->origin           = n->origin;
    node->location         = n->location;
    node->outputs[0]->type = condition->type;
    return node->outputs[0];
}

/* The replacement of result i without the If, or NULL. */
static cq_status replacement_of(cq_value **out, cq_node *n, size_t i)
{
    cq_value *condition = n->inputs[0].u.value;
    cq_value *yes = given(n->blocks[0], i), *no = given(n->blocks[1], i);
    const int y = truth_of(yes), o = truth_of(no);

    *out = NULL;
    if (yes == no) /* so it is computed outside of both branches */
        *out = yes;
    else if (y < 0 || o < 0 || condition->type.kind != CQ_TYPE_TENSOR || condition->type.rank != 0)
        return CQ_OK;
    else if (y == o)
        *out = cq_export_constant(n, CQ_DTYPE_BOOL, 0, NULL, &(bool){ y });
    else
        *out = y ? condition : negated(n, condition);
    return *out ? CQ_OK : CQ_E_NO_MEMORY;
}

static void drop(cq_node *n, size_t i)
{
    for (size_t k = 0; k < n->n_blocks; k++) {
        cq_block *b = n->blocks[k];

        memmove(&b->returns.items[i], &b->returns.items[i + 1],
                (b->returns.n - i - 1) * sizeof *b->returns.items);
        b->returns.n--;
    }
    memmove(&n->outputs[i], &n->outputs[i + 1], (n->n_outputs - i - 1) * sizeof *n->outputs);
    n->n_outputs--;
    for (; i < n->n_outputs; i++)
        n->outputs[i]->index = (uint32_t)i;
}

static bool is_plain_if(const cq_node *n)
{
    return n->n_blocks == 2 && n->n_inputs == 1 && n->inputs[0].kind == CQ_OPERAND_VALUE &&
           !n->blocks[0]->attr && !n->blocks[1]->attr && !n->is_anchor && !n->n_notes &&
           n->blocks[0]->returns.n == n->n_outputs && n->blocks[1]->returns.n == n->n_outputs;
}

cq_status cq_export_merge_if(cq_exporter *ex, cq_node *n)
{
    (void)ex;
    for (size_t i = n->n_outputs; i-- > 0 && is_plain_if(n);) {
        cq_value *v = n->outputs[i], *instead;

        if (cq_export_is_returned(v))
            continue;
        CQ_TRY(replacement_of(&instead, n, i));
        if (!instead && v->n_uses)
            continue;
        v->instead = instead;
        if (instead)
            instead->n_uses += v->n_uses;
        drop(n, i);
    }
    if (n->n_outputs == 0)
        cq_ir_unlink(n);
    return CQ_OK;
}
