/* Determines which inputs are read, for CQ_EXPORT_DROP_UNREAD_INPUTS: those that any node on a path
 * to the results reads, even if the model turns out not to need it. PyTorch's exporter keeps these,
 * and its users feed them. Reading fixed sizes does not count: an input that is used only for that
 * is dropped. */
#include "export/exporter.h"

typedef struct reads {
    bool *needed; /* by the number of a value */
    int   opset;
} reads;

static void need(cq_value *v, void *user)
{
    ((reads *)user)->needed[v->id] = true;
}

/* Operators that only read the shape of their argument, if its sizes are folded: in older opsets
 * ranges are counted at run time. */
static bool reads_sizes_alone(const reads *r, const cq_node *n)
{
    static const struct {
        const char *op;
        int         since;
    } rows[] = {
        { "aten::_dim_arange", 11 }, { "aten::empty_like", 7 }, { "aten::new_empty", 7 },
        { "aten::new_full", 7 },     { "aten::new_ones", 7 },   { "aten::new_zeros", 7 },
        { "aten::ones_like", 7 },    { "aten::zero", 7 },       { "aten::zeros_like", 7 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(n->op, rows[i].op) == 0)
            return r->opset >= rows[i].since;
    return strcmp(n->op, "aten::fill.Scalar") == 0 && n->inputs[1].kind != CQ_OPERAND_VALUE &&
           !(n->inputs[1].kind == CQ_OPERAND_INT && n->inputs[1].u.i.expr);
}

static void read_operands(reads *r, const cq_node *n)
{
    for (size_t i = reads_sizes_alone(r, n); i < n->n_inputs; i++)
        cq_ir_each_use(&n->inputs[i], need, r);
    for (size_t i = 0; i < n->n_attrs; i++)
        cq_ir_each_use(&n->attrs[i].value, need, r);
}

static void read_returns(reads *r, const cq_block *b)
{
    for (size_t i = 0; i < b->returns.n; i++)
        cq_ir_each_use(&b->returns.items[i], need, r);
}

/* Inside of branches and loops. */
static cq_status read_inner(cq_node *n, void *user)
{
    read_operands(user, n);
    for (size_t i = 0; i < n->n_blocks; i++)
        read_returns(user, n->blocks[i]);
    return CQ_OK;
}

/* Whether its results are used. A list also counts as used if only its length is read, which no
 * node shows. */
static bool is_needed(const reads *r, const cq_node *n)
{
    bool needed = n->n_outputs == 0 || n->list_result;

    for (size_t i = 0; i < n->n_outputs; i++)
        needed |= r->needed[n->outputs[i]->id] || n->outputs[i]->is_taken;
    return needed;
}

cq_status cq_export_find_reads(cq_exporter *ex)
{
    cq_graph *g = ex->source;
    reads     r = { cq_arena_array(ex->graph->arena, g->n_values, sizeof *r.needed),
                    ex->options.opset };

    ex->is_read = cq_arena_array(ex->graph->arena, g->top->params.n, sizeof *ex->is_read);
    if (!r.needed || !ex->is_read)
        return CQ_E_NO_MEMORY;
    read_returns(&r, g->top);
    for (cq_node *n = g->top->last; n; n = n->prev)
        if (is_needed(&r, n)) {
            read_inner(n, &r);
            for (size_t i = 0; i < n->n_blocks; i++)
                cq_ir_each_node(n->blocks[i], read_inner, &r);
        }
    for (size_t i = 0; i < g->top->params.n; i++)
        ex->is_read[i] = g->top->params.items[i]->is_taken || r.needed[g->top->params.items[i]->id];
    return CQ_OK;
}
