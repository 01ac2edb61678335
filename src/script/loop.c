/* A loop whose length only the run tells. Its body becomes the block of a Loop; every place that
 * the body changes is carried from round to round.
 *
 * The body is explored a first time to find those places. Then it is explored with each of them
 * holding parameters of the block, again and again until what comes out is of the form of what
 * went in: a list that grows becomes a sequence, what is None at first becomes an optional
 * (carry.c), and sizes that change are left open. */
#include "script/carry.h"
#include "script/builtin.h"
#include "script/join.h"

enum { MAX_ROUNDS = 12 };

typedef struct loop {
    cq_eval           *ev;
    const cq_ast_stmt *stmt;
    cq_node           *node;
    cq_val             over; /* a RANGE, a tensor, a list; None: a while */
    cq_carry           carry;
    cq_value          *condition; /* at the end of the body */
    cq_flow            flow;      /* whether a round may leave the function */
} loop;

static cq_status failed(loop *l)
{
    return l->ev->cx->status != CQ_OK ? l->ev->cx->status : CQ_E_NO_MEMORY;
}

static cq_value *truth_value(loop *l, cq_val truth)
{
    cq_tensor *t;

    return cq_eval_as_tensor(l->ev, truth, &t) == CQ_OK
               ? cq_capture_value(l->ev->capture, l->ev->cx, t)
               : NULL;
}

/* Whether there is another round: the test of a while, unless a flag says that it is over. */
static cq_status condition(loop *l, cq_value **symbol, bool *known, bool *truth)
{
    cq_eval *ev   = l->ev;
    cq_val   test = cq_val_of_bool(true), left;
    bool     found;

    if (l->over.kind == CQ_VAL_NONE)
        CQ_TRY(cq_eval_expr(ev, l->stmt->u.loop.test, &test));
    CQ_TRY(cq_eval_truth(ev, test, known, truth, symbol));
    CQ_TRY(cq_exit_flag(ev, CQ_EXIT_BREAK | CQ_EXIT_RETURN, &left));
    if (!left.u.b.origin && !left.u.b.value)
        return CQ_OK;
    CQ_TRY(cq_eval_builtin(ev, "aten::__not__", &left, 1, NULL, NULL, 0, &left, &found));
    test = (cq_val){ .kind = CQ_VAL_BOOL, .u.b = { *truth, *symbol } };
    CQ_TRY(cq_eval_builtin(ev, "aten::__and__", (cq_val[]){ test, left }, 2, NULL, NULL, 0, &test,
                           &found));
    return cq_eval_truth(ev, test, known, truth, symbol);
}

/* ---- the body ---- */

/* The loop variable, from the number of the round. */
static cq_status set_target(loop *l, cq_value *round)
{
    cq_eval  *ev    = l->ev;
    cq_thing *range = cq_thing_as(l->over, CQ_THING_RANGE);
    cq_int    i     = cq_symbol_fresh(ev->cx->symbols, "i", 0, round, -1);
    cq_val    item;

    if (l->over.kind == CQ_VAL_NONE)
        return CQ_OK;
    if (range)
        item = cq_val_of_int(cq_int_add(ev->cx->symbols, range->start,
                                        cq_int_mul(ev->cx->symbols, i, range->step)));
    else
        CQ_TRY(cq_eval_get_item(ev, l->over, cq_val_of_int(i), &item));
    return cq_eval_assign(ev, l->stmt->u.loop.target, item);
}

static cq_status explore_round(loop *l, cq_value *round)
{
    bool    known, truth;
    cq_flow flow = CQ_FLOW_NEXT;

    CQ_TRY(cq_exit_clear(l->ev, CQ_EXIT_BREAK | CQ_EXIT_CONTINUE));
    CQ_TRY(cq_carry_bind(&l->carry));
    CQ_TRY(set_target(l, round));
    CQ_TRY(cq_eval_block(l->ev, &l->stmt->u.loop.body, 0, &flow));
    if (flow == CQ_FLOW_BREAK || flow == CQ_FLOW_RETURN)
        CQ_TRY(cq_exit_note(l->ev, flow));
    if (flow == CQ_FLOW_RETURN || flow == CQ_FLOW_MAYBE)
        l->flow = CQ_FLOW_MAYBE;
    CQ_TRY(condition(l, &l->condition, &known, &truth));
    if (known)
        l->condition = truth_value(l, cq_val_of_bool(truth));
    if (!l->condition)
        return failed(l);
    return cq_carry_end(&l->carry);
}

static cq_status run_body(loop *l)
{
    cq_graph      *g = l->ev->capture->graph;
    cq_path        path = { .result = CQ_NONE };
    cq_value      *round, *running;
    cq_exploration x;
    cq_status      status;
    cq_block      *body;

    l->node->n_blocks = 0;
    body              = cq_ir_node_block(l->node);
    if (!body)
        return CQ_E_NO_MEMORY;
    round   = cq_ir_param_new(body, cq_ir_tensor_type(g, CQ_DTYPE_I64, 0, NULL));
    running = cq_ir_param_new(body, cq_ir_tensor_type(g, CQ_DTYPE_BOOL, 0, NULL));
    if (!round || !running)
        return g->status;
    cq_explore_begin(l->ev, body, &x);
    status = explore_round(l, round);
    status = cq_explore_end(l->ev, &x, status, &path);
    if (status == CQ_OK)
        status = cq_carry_settle(&l->carry, &path);
    cq_path_clear(&path);
    return status;
}

/* ---- the node ---- */

/* Trip count, condition, and what is carried. */
static cq_status make_inputs(loop *l)
{
    cq_eval    *ev     = l->ev;
    size_t      n      = l->carry.n;
    cq_operand *inputs = cq_arena_array(ev->capture->graph->arena, n + 2, sizeof *inputs);
    cq_thing   *range  = cq_thing_as(l->over, CQ_THING_RANGE);
    cq_val      count  = cq_val_of_i64(INT64_MAX);
    bool        known, truth, found;
    cq_value   *symbol;

    if (!inputs)
        return CQ_E_NO_MEMORY;
    if (range)
        CQ_TRY(cq_eval_builtin(ev, "aten::__range_length",
                               (cq_val[]){ cq_val_of_int(range->start), cq_val_of_int(range->stop),
                                           cq_val_of_int(range->step) },
                               3, NULL, NULL, 0, &count, &found));
    else if (l->over.kind != CQ_VAL_NONE)
        CQ_TRY(cq_eval_builtin(ev, "aten::len", &l->over, 1, NULL, NULL, 0, &count, &found));
    CQ_TRY(condition(l, &symbol, &known, &truth));
    inputs[0] = (cq_operand){ .kind = CQ_OPERAND_INT, .u.i = count.u.i };
    inputs[1] = known ? (cq_operand){ .kind = CQ_OPERAND_BOOL, .u.b = truth } : CQ_OPERAND_OF(symbol);
    for (size_t i = 0; i < n; i++)
        inputs[i + 2] = CQ_OPERAND_OF(l->carry.items[i].start);
    l->node->inputs   = inputs;
    l->node->n_inputs = n + 2;
    return CQ_OK;
}

static cq_status convert(loop *l)
{
    cq_block *home = l->node->block;

    /* The node goes to its place when its inputs are known; until then it holds the blocks. */
    for (int i = 0; i == 0 || l->carry.again; i++) {
        if (i == MAX_ROUNDS)
            return cq_eval_fail(l->ev, l->stmt->at, CQ_E_UNSUPPORTED,
                                "the types of a loop of unknown length do not settle");
        CQ_TRY(run_body(l));
    }
    CQ_TRY(cq_vec_push(&l->node->blocks[0]->returns, CQ_OPERAND_OF(l->condition)));
    CQ_TRY(make_inputs(l));
    /* The inputs were computed after the node was made: it follows them. */
    cq_ir_unlink(l->node);
    cq_ir_move_before(l->node, home, NULL);
    CQ_TRY(cq_carry_outputs(&l->carry));
    return cq_exit_clear(l->ev, CQ_EXIT_BREAK | CQ_EXIT_CONTINUE);
}

cq_status cq_eval_loop(cq_eval *ev, const cq_ast_stmt *s, cq_val over, cq_flow *flow)
{
    loop      l = { .ev = ev, .stmt = s, .over = over };
    cq_status status;

    if (!cq_thing_as(over, CQ_THING_RANGE) && over.kind != CQ_VAL_TENSOR && over.kind != CQ_VAL_NONE &&
        over.kind != CQ_VAL_LIST)
        return cq_eval_fail(ev, s->at, CQ_E_UNSUPPORTED, "%s of unknown length cannot be gone through",
                            cq_eval_type_name(over));
    l.node = cq_capture_node(ev->capture, ev->cx, "prim::Loop", NULL, 0, 0);
    if (!l.node)
        return ev->capture->graph->status;
    l.carry = (cq_carry){ .ev = ev, .node = l.node, .at = s->at };
    status  = convert(&l);
    cq_carry_clear(&l.carry);
    *flow = l.flow;
    return status;
}
