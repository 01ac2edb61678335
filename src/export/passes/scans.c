/* Lists that a loop fills, without sequences. Until opset 13 a Loop carries tensors only; but a
 * list that starts empty and gets an item in every iteration is a scan output of ONNX: the loop
 * stacks the items, if their sizes are the same in every iteration. The list is that tensor, split;
 * if it is only concatenated again no sequence is left, so opsets before 11, which have none, can
 * express it. */
#include "export/exporter.h"

typedef struct scan {
    cq_node *loop;
    size_t   index; /* among the loop-carried values */
    cq_node *insert;
} scan;

static cq_block *body_of(const scan *s)
{
    return s->loop->blocks[0];
}

/* ---- lists that become scan outputs ---- */

typedef struct inside {
    const cq_block *block;
    bool            found;
} inside;

static void look_inside(cq_value *v, void *user)
{
    inside *in = user;

    for (const cq_block *b = v->block; b; b = b->owner ? b->owner->block : NULL)
        in->found |= b == in->block;
}

/* Whether the sizes of the appended items do not depend on the iteration. */
static bool has_one_size(const cq_value *item, const cq_block *body)
{
    inside in = { .block = body };

    if (item->type.kind != CQ_TYPE_TENSOR || item->type.rank < 0 || item->rank_varies ||
        item->type.rank >= CQ_MAX_RANK)
        return false;
    for (int i = 0; i < item->type.rank; i++)
        cq_ir_each_use(&(cq_operand){ .kind = CQ_OPERAND_INT, .u.i = item->type.sizes[i] },
                       look_inside, &in);
    return !in.found;
}

static const cq_node *node_of(const cq_operand *o, const char *op)
{
    const cq_node *n = o->kind == CQ_OPERAND_VALUE ? o->u.value->node : NULL;

    return n && strcmp(n->op, op) == 0 ? n : NULL;
}

/* The list is empty at first, and an iteration only appends an item. */
static bool is_scan(scan *s)
{
    const cq_value *list   = s->loop->outputs[s->index];
    const cq_value *param  = body_of(s)->params.items[s->index + 2];
    const cq_node  *insert = node_of(&body_of(s)->returns.items[s->index + 1], "sequence::insert");

    if (list->type.kind != CQ_TYPE_LIST || !insert || insert->block != body_of(s) ||
        !node_of(&s->loop->inputs[s->index + 2], "sequence::empty"))
        return false;
    s->insert = (cq_node *)insert;
    return insert->n_inputs == 2 && insert->inputs[0].u.value == param && param->n_uses == 1 &&
           insert->outputs[0]->n_uses == 1 && has_one_size(insert->inputs[1].u.value, body_of(s));
}

/* ---- the loop without the list ---- */

/* The scan output, with one item per iteration. */
static cq_value *stacked_value(cq_graph *g, const cq_value *item)
{
    cq_value *v = cq_ir_value_new(g, item->type);
    cq_int    sizes[CQ_MAX_RANK];

    if (!v)
        return NULL;
    sizes[0] = cq_symbol_fresh(&g->symbols, "n", 1, v, 0);
    for (int i = 0; i < item->type.rank; i++)
        sizes[i + 1] = item->type.sizes[i];
    v->type = cq_ir_tensor_type(g, item->type.dtype, (size_t)item->type.rank + 1, sizes);
    return v;
}

/* The results of a loop are the carried values, then the scan outputs. */
static cq_status add_stacked(const scan *s, cq_value *stacked)
{
    cq_node   *n       = s->loop;
    cq_value **outputs = cq_arena_array(n->block->graph->arena, n->n_outputs + 1, sizeof *outputs);

    if (!outputs)
        return CQ_E_NO_MEMORY;
    memcpy(outputs, n->outputs, n->n_outputs * sizeof *outputs);
    outputs[n->n_outputs] = stacked;
    stacked->node         = n;
    stacked->block        = n->block;
    stacked->index        = (uint32_t)n->n_outputs++;
    n->outputs            = outputs;
    return cq_vec_push(&body_of(s)->returns, s->insert->inputs[1]);
}

static void remove_carried(const scan *s)
{
    cq_node  *n    = s->loop;
    cq_block *body = body_of(s);

    for (size_t i = s->index; i + 1 < n->n_outputs; i++) {
        n->outputs[i]              = n->outputs[i + 1];
        n->outputs[i]->index       = (uint32_t)i;
        body->returns.items[i + 1] = body->returns.items[i + 2];
    }
    for (size_t i = s->index + 2; i + 1 < n->n_inputs; i++) {
        n->inputs[i]                 = n->inputs[i + 1];
        body->params.items[i]        = body->params.items[i + 1];
        body->params.items[i]->index = (uint32_t)i;
    }
    n->n_inputs--;
    n->n_outputs--;
    body->params.n--;
    body->returns.n--;
}

/* Until opset 11 a Loop must carry a value: an unused number replaces the list. */
static cq_status carry_number(const scan *s)
{
    cq_graph *g      = s->loop->block->graph;
    cq_type   type   = cq_ir_tensor_type(g, CQ_DTYPE_I64, 0, NULL);
    cq_value *param  = body_of(s)->params.items[s->index + 2];
    cq_value *result = cq_ir_value_new(g, type);

    if (!result)
        return CQ_E_NO_MEMORY;
    param->type                             = type;
    s->loop->inputs[s->index + 2]           = (cq_operand){ .kind = CQ_OPERAND_INT };
    body_of(s)->returns.items[s->index + 1] = CQ_OPERAND_OF(param);
    s->loop->outputs[s->index]              = result;
    result->node                            = s->loop;
    result->block                           = s->loop->block;
    result->index                           = (uint32_t)s->index;
    return CQ_OK;
}

/* ---- the list after the loop ---- */

/* A Concat of all parts of a split: the split tensor, in another order. */
static cq_status join_parts(cq_node *n, void *user)
{
    const cq_node *split;

    (void)user;
    if (strcmp(n->op, "sequence::concat") != 0)
        return CQ_OK;
    split = node_of(&n->inputs[0], "sequence::split");
    if (!split || split->inputs[1].u.i.value != 0 || split->inputs[3].u.i.value)
        return CQ_OK;
    n->op        = cq_ir_text(n->block->graph, "sequence::joined");
    n->inputs[0] = split->inputs[0];
    return n->block->graph->status;
}

static cq_status split_after(const scan *s, cq_value *list, cq_value *stacked)
{
    const cq_operand in[4] = { CQ_OPERAND_OF(stacked),
                               { .kind = CQ_OPERAND_INT, .u.i = cq_i(0) },
                               { .kind = CQ_OPERAND_INT, .u.i = cq_i(1) },
                               { .kind = CQ_OPERAND_INT, .u.i = cq_i(0) } };
    cq_node *split = cq_ir_node_new(s->loop->block, s->loop->next, "sequence::split", in, 4, 1);

    if (!split)
        return s->loop->block->graph->status;
    split->origin     = s->loop->origin;
    split->location   = s->loop->location;
    split->outputs[0] = list;
    list->node        = split;
    list->index       = 0;
    return CQ_OK;
}

static cq_status make_scan(const scan *s, bool must_carry)
{
    cq_value *list    = s->loop->outputs[s->index];
    cq_value *stacked = stacked_value(s->loop->block->graph, s->insert->inputs[1].u.value);

    if (!stacked)
        return CQ_E_NO_MEMORY;
    CQ_TRY(add_stacked(s, stacked));
    if (must_carry && s->loop->n_inputs == 3)
        CQ_TRY(carry_number(s));
    else
        remove_carried(s);
    cq_ir_unlink(s->insert);
    return split_after(s, list, stacked);
}

static cq_status scan_loop(cq_node *n, void *user)
{
    scan s = { .loop = n };

    if (strcmp(n->op, "prim::Loop") != 0)
        return CQ_OK;
    while (s.index + 2 < n->n_inputs) {
        if (is_scan(&s))
            CQ_TRY(make_scan(&s, *(const bool *)user));
        else
            s.index++;
    }
    return CQ_OK;
}

cq_status cq_export_scan_lists(cq_graph *g, int opset)
{
    bool must_carry = opset < 11;

    cq_ir_count_uses(g);
    CQ_TRY(cq_ir_each_node(g->top, scan_loop, &must_carry));
    return cq_ir_each_node(g->top, join_parts, NULL);
}
