/* A Loop whose number of iterations is known becomes its iterations. One iteration moves the body;
 * more copy it, if the result is small. Loops with scan outputs stay. */
#include "export/exporter.h"

enum { MAX_NODES = 64 /* of all iterations together */ };

/* The operands of a Loop, and the parameters and returns of its body. */
enum { TRIP_COUNT, CONDITION, STATES };
enum { ITERATION, PARAMS = STATES };
enum { GOES_ON, RETURNS };

static bool is_identity(const cq_node *n)
{
    return n && strcmp(n->op, "onnx::Identity") == 0 && !n->is_anchor && n->n_inputs == 1 &&
           n->inputs[0].kind == CQ_OPERAND_VALUE;
}

static cq_value *resolved(cq_value *v)
{
    for (;;) {
        if (v->instead)
            v = v->instead;
        else if (is_identity(v->node)) /* ONNX needs it where a body returns its parameter */
            v = v->node->inputs[0].u.value;
        else
            return v;
    }
}

static cq_value *value_of(const cq_operand *o)
{
    return o->kind == CQ_OPERAND_VALUE ? resolved(o->u.value) : NULL;
}

/* The value of a constant number; -1: unknown. */
static int64_t number_of(const cq_operand *o)
{
    const cq_value  *v = value_of(o);
    const cq_tensor *t = v ? cq_sym_data(v) : NULL;

    return t && (t->dtype == CQ_DTYPE_BOOL || t->dtype == CQ_DTYPE_I64) && cq_tensor_numel(t) == 1
               ? cq_tensor_get_i64(t, 0)
               : -1;
}

/* The number of iterations; -1: unknown. A trip count or condition that is omitted sets no limit.
 */
static int64_t count_iterations(const cq_node *n)
{
    const cq_operand *trips = &n->inputs[TRIP_COUNT], *condition = &n->inputs[CONDITION];
    const cq_operand *goes_on = &n->blocks[0]->returns.items[GOES_ON];
    const cq_value   *same    = n->blocks[0]->params.items[CONDITION];
    int64_t           limit   = trips->kind == CQ_OPERAND_NONE ? INT64_MAX : number_of(trips);
    const int64_t     first   = condition->kind == CQ_OPERAND_NONE ? 1 : number_of(condition);

    if (first == 0 || limit == 0)
        return 0;
    if (first < 0 || limit < 0)
        return -1;
    if (number_of(goes_on) == 0)
        return 1;
    return number_of(goes_on) == 1 || value_of(goes_on) == same ? limit : -1;
}

static bool is_plain_loop(const cq_node *n)
{
    const cq_block *body = n->n_blocks == 1 ? n->blocks[0] : NULL;

    if (strcmp(n->op, "onnx::Loop") != 0 || n->is_anchor || n->n_inputs < STATES || !body ||
        body->params.n != n->n_inputs || body->returns.n != n->n_outputs + RETURNS ||
        n->n_outputs != n->n_inputs - STATES)
        return false;
    for (size_t i = STATES; i < n->n_inputs; i++)
        if (n->inputs[i].kind != CQ_OPERAND_VALUE)
            return false;
    for (size_t i = 0; i < body->returns.n; i++)
        if (body->returns.items[i].kind != CQ_OPERAND_VALUE)
            return false;
    return true;
}

/* ---- one iteration ---- */

static cq_status move_body(cq_node *n)
{
    cq_block *body = n->blocks[0];
    cq_value *zero = cq_export_constant(n, CQ_DTYPE_I64, 0, NULL, &(int64_t){ 0 });
    cq_value *yes  = cq_export_constant(n, CQ_DTYPE_BOOL, 0, NULL, &(bool){ true });

    if (!zero || !yes)
        return n->block->graph->status;
    body->params.items[ITERATION]->instead = zero;
    body->params.items[CONDITION]->instead = yes;
    for (size_t i = STATES; i < n->n_inputs; i++)
        body->params.items[i]->instead = n->inputs[i].u.value;
    while (body->first) {
        cq_node *moved = body->first;

        cq_ir_unlink(moved);
        cq_ir_move_before(moved, n->block, n);
        for (size_t i = 0; i < moved->n_outputs; i++)
            moved->outputs[i]->block = n->block;
    }
    for (size_t i = 0; i < n->n_outputs; i++)
        n->outputs[i]->instead = resolved(body->returns.items[i + RETURNS].u.value);
    body->returns.n = 0;
    return CQ_OK;
}

/* ---- several ---- */

/* -1: a node has blocks, which are not copied. */
static int64_t count_nodes(const cq_block *body)
{
    int64_t count = 0;

    for (const cq_node *n = body->first; n; n = n->next) {
        if (n->n_blocks)
            return -1;
        count++;
    }
    return count;
}

static cq_value *copy_of(const cq_ptr_map *copies, cq_value *v)
{
    cq_value *copy = cq_ptr_map_get(copies, v);

    return copy ? copy : v;
}

/* Sizes may differ between iterations, so that copies have a dtype and no shape; the next inference
 * finds it. A copy has no message of the file (def). */
static cq_status copy_node(cq_node *loop, const cq_node *n, cq_ptr_map *copies)
{
    cq_node *copy = cq_ir_node_new(loop->block, loop, n->op, n->inputs, n->n_inputs, n->n_outputs);

    if (!copy)
        return loop->block->graph->status;
    copy->origin   = n->origin;
    copy->location = n->location;
    copy->notes    = n->notes;
    copy->n_notes  = n->n_notes;
    for (size_t i = 0; i < n->n_attrs; i++)
        CQ_TRY(cq_ir_attr_set(copy, n->attrs[i].name, n->attrs[i].value));
    for (size_t i = 0; i < n->n_inputs; i++)
        if (copy->inputs[i].kind == CQ_OPERAND_VALUE)
            copy->inputs[i].u.value = copy_of(copies, resolved(n->inputs[i].u.value));
    for (size_t i = 0; i < n->n_outputs; i++) {
        copy->outputs[i]->name       = n->outputs[i]->name;
        copy->outputs[i]->type       = n->outputs[i]->type;
        copy->outputs[i]->type.rank  = -1;
        copy->outputs[i]->type.sizes = NULL;
        CQ_TRY(cq_ptr_map_set(copies, n->outputs[i], copy->outputs[i]));
    }
    return CQ_OK;
}

static cq_status copy_body(cq_node *n, int64_t iteration, cq_value **states, cq_ptr_map *copies)
{
    const cq_block *body   = n->blocks[0];
    cq_value       *number = cq_export_constant(n, CQ_DTYPE_I64, 0, NULL, &iteration);
    cq_value       *yes    = cq_export_constant(n, CQ_DTYPE_BOOL, 0, NULL, &(bool){ true });

    if (!number || !yes)
        return n->block->graph->status;
    CQ_TRY(cq_ptr_map_set(copies, body->params.items[ITERATION], number));
    CQ_TRY(cq_ptr_map_set(copies, body->params.items[CONDITION], yes));
    for (size_t i = PARAMS; i < body->params.n; i++)
        CQ_TRY(cq_ptr_map_set(copies, body->params.items[i], states[i - PARAMS]));
    for (const cq_node *k = body->first; k; k = k->next)
        CQ_TRY(copy_node(n, k, copies));
    for (size_t i = 0; i < n->n_outputs; i++)
        states[i] = copy_of(copies, resolved(body->returns.items[i + RETURNS].u.value));
    return CQ_OK;
}

static cq_status unroll(cq_node *n, int64_t iterations)
{
    cq_value **states = cq_arena_array(n->block->graph->arena, n->n_outputs + 1, sizeof *states);
    cq_ptr_map copies = { 0 };
    cq_status  status = states ? CQ_OK : CQ_E_NO_MEMORY;

    for (size_t i = 0; i < n->n_outputs && status == CQ_OK; i++)
        states[i] = resolved(n->inputs[i + STATES].u.value);
    for (int64_t i = 0; i < iterations && status == CQ_OK; i++) {
        cq_ptr_map_clear(&copies);
        status = copy_body(n, i, states, &copies);
    }
    for (size_t i = 0; i < n->n_outputs && status == CQ_OK; i++)
        n->outputs[i]->instead = states[i];
    cq_ptr_map_clear(&copies);
    return status;
}

static cq_status visit(cq_node *n, void *user)
{
    cq_exporter *ex = user;
    int64_t      iterations, nodes;

    cq_export_follow_inputs(n);
    if (!is_plain_loop(n))
        return CQ_OK;
    iterations = count_iterations(n);
    nodes      = iterations > 1 ? count_nodes(n->blocks[0]) : 0;
    if (iterations < 0 || nodes < 0 || (nodes && iterations > MAX_NODES / nodes) ||
        iterations > MAX_NODES)
        return CQ_OK;
    ex->has_unrolled |= iterations > 1;
    return iterations == 1 ? move_body(n) : unroll(n, iterations);
}

cq_status cq_export_unroll(cq_exporter *ex)
{
    CQ_TRY(cq_ir_each_node(ex->graph->top, visit, ex));
    CQ_TRY(cq_export_follow(ex));
    return cq_export_remove_dead(ex);
}
