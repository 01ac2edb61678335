/* Loops. A loop of known length is run iteration by iteration. The body of a loop of data-dependent
 * length becomes the block of a Loop; every slot that the body changes is loop-carried.
 *
 * The body is evaluated speculatively a first time to find those slots. Then it is evaluated with
 * parameters of the block in each of them, until the result has the form of the start (a fixpoint):
 * a list that grows becomes a sequence, a value that is None at first becomes an optional
 * (carry.c), and sizes that change become data-dependent. docs/architecture/control-flow.md has the
 * invariants. */
#include "script/flow/carry.h"
#include "script/builtins/builtin.h"
#include "script/python/python.h"
#include "script/flow/join.h"

enum { MAX_ROUNDS = 12 };

typedef struct loop {
    cq_eval           *ev;
    const cq_ast_stmt *stmt;
    cq_node           *node;
    cq_val             over; /* a RANGE, a tensor, a list; None: a while */
    cq_carry           carry;
    cq_value          *condition; /* at the end of the body */
} loop;

static cq_status failed(loop *l)
{
    return l->ev->cx->status != CQ_OK ? l->ev->cx->status : CQ_E_NO_MEMORY;
}

/* Whether the flag that leaves the loop is set. */
static cq_val is_over(const cq_eval *ev, const cq_ast_stmt *s)
{
    const cq_val *flag = s->u.loop.until ? cq_frame_own(ev->frame, s->u.loop.until) : NULL;

    return flag ? *flag : cq_val_of_bool(false);
}

bool cq_eval_loop_is_over(const cq_eval *ev, const cq_ast_stmt *s)
{
    const cq_val over = is_over(ev, s);

    return over.u.b.value && !over.u.b.origin;
}

/* Evaluates whether there is another iteration: the test of a while, unless the flag that leaves
 * the loop is set. */
static cq_status condition(loop *l, cq_val *truth)
{
    cq_eval *ev   = l->ev;
    cq_val   test = cq_val_of_bool(true), over = is_over(ev, l->stmt);

    if (l->over.kind == CQ_VAL_NONE)
        CQ_TRY(cq_eval_expr(ev, l->stmt->u.loop.test, &test));
    CQ_TRY(cq_eval_truth(ev, test, truth));
    if (!over.u.b.origin && !over.u.b.value)
        return CQ_OK;
    CQ_TRY(CQ_CALL(ev, &over, "aten::__not__", over));
    return CQ_CALL(ev, truth, "aten::__and__", *truth, over);
}

/* ---- iteration count ---- */

static cq_status length_of(cq_eval *ev, cq_val over, cq_val *out)
{
    cq_object *t = cq_object_of(over);

    if (t && t->kind == CQ_OBJECT_RANGE)
        return CQ_CALL(ev, out, "aten::__range_length", SIZE(t->start), SIZE(t->stop),
                       SIZE(t->step));
    if (!t || t->kind != CQ_OBJECT_ZIP)
        return CQ_CALL(ev, out, "aten::len", over);
    for (size_t i = 0; i < t->self.u.list->n; i++) { /* zip is as long as its shortest part */
        cq_val n;

        CQ_TRY(length_of(ev, t->self.u.list->items[i], &n));
        *out = i ? cq_val_of_int(cq_int_min(ev->cx->symbols, out->u.i, n.u.i)) : n;
    }
    return CQ_OK;
}

static cq_status item_of(cq_eval *ev, cq_val over, cq_int i, cq_val *out)
{
    cq_object *t = cq_object_of(over);

    if (t && t->kind == CQ_OBJECT_RANGE) {
        *out = cq_val_of_int(
            cq_int_add(ev->cx->symbols, t->start, cq_int_mul(ev->cx->symbols, i, t->step)));
        return CQ_OK;
    }
    if (!t || t->kind != CQ_OBJECT_ZIP)
        return cq_eval_get_item(ev, over, cq_val_of_int(i), out);
    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_TUPLE, out));
    for (size_t k = 0; k < t->self.u.list->n; k++) {
        cq_val part;

        CQ_TRY(item_of(ev, t->self.u.list->items[k], i, &part));
        CQ_TRY(cq_list_push(out->u.list, part));
    }
    return CQ_OK;
}

/* ---- the body ---- */

/* Assigns the loop variable for an iteration number. */
static cq_status set_target(loop *l, cq_value *round)
{
    cq_int i = cq_symbol_fresh(l->ev->cx->symbols, "i", 0, round, -1);
    cq_val item;

    if (l->over.kind == CQ_VAL_NONE)
        return CQ_OK;
    CQ_TRY(item_of(l->ev, l->over, i, &item));
    return cq_eval_assign(l->ev, l->stmt->u.loop.target, item);
}

static cq_status explore_round(loop *l, cq_value *round)
{
    const char *until = l->stmt->u.loop.until;
    cq_val      more;
    cq_tensor  *t;

    CQ_TRY(cq_carry_bind(&l->carry));
    if (until) /* the flag is clear inside an iteration, which would not run otherwise */
        CQ_TRY(cq_frame_set(l->ev, l->ev->frame, until, cq_val_of_bool(false)));
    CQ_TRY(set_target(l, round));
    CQ_TRY(cq_eval_block(l->ev, &l->stmt->u.loop.body));
    CQ_TRY(condition(l, &more));
    CQ_TRY(cq_eval_as_tensor(l->ev, more, &t));
    l->condition = cq_capture_value(l->ev->capture, l->ev->cx, t);
    if (!l->condition)
        return failed(l);
    return cq_carry_end(&l->carry);
}

/* Whether the example has no iterations, so that it never runs the body. */
static bool has_no_iterations(const loop *l)
{
    const cq_object *t = cq_object_of(l->over);

    if (l->over.kind == CQ_VAL_TENSOR)
        return l->over.u.tensor->rank && l->over.u.tensor->sizes[0].value == 0;
    if (!t || t->kind != CQ_OBJECT_RANGE)
        return false;
    return t->step.value < 0 ? t->start.value <= t->stop.value : t->start.value >= t->stop.value;
}

static cq_status run_body(loop *l)
{
    cq_graph      *g    = l->ev->capture->graph;
    cq_path        path = { .result = CQ_NONE };
    cq_value      *round, *running;
    cq_exploration x;
    cq_status      status;
    cq_block      *body;
    bool           beside = l->ev->cx->untaken;

    cq_carry_notes_clear(&l->carry.recalled);
    l->carry.recalled   = l->carry.noted;
    l->carry.noted      = (cq_carry_notes){ 0 };
    l->carry.n_recalled = 0;
    l->node->n_blocks   = 0;
    body                = cq_ir_node_block(l->node);
    if (!body)
        return CQ_E_NO_MEMORY;
    round   = cq_ir_param_new(body, cq_ir_tensor_type(g, CQ_DTYPE_I64, 0, NULL));
    running = cq_ir_param_new(body, cq_ir_tensor_type(g, CQ_DTYPE_BOOL, 0, NULL));
    if (!round || !running)
        return g->status;
    l->ev->cx->untaken |= has_no_iterations(l);
    cq_explore_begin(l->ev, body, &x);
    status             = explore_round(l, round);
    status             = cq_explore_end(l->ev, &x, status, &path);
    l->ev->cx->untaken = beside;
    if (status == CQ_OK)
        status = cq_carry_settle(&l->carry, &path);
    cq_path_clear(&path);
    return status;
}

/* ---- the node ---- */

/* Adds the inputs of the Loop: trip count, condition, and loop-carried values. */
static cq_status make_inputs(loop *l)
{
    cq_eval    *ev     = l->ev;
    size_t      n      = l->carry.n;
    cq_operand *inputs = cq_arena_array(ev->capture->graph->arena, n + 2, sizeof *inputs);
    cq_val      count  = cq_val_of_i64(INT64_MAX);
    cq_val      more;

    if (!inputs)
        return CQ_E_NO_MEMORY;
    if (l->over.kind != CQ_VAL_NONE)
        CQ_TRY(length_of(ev, l->over, &count));
    CQ_TRY(condition(l, &more));
    inputs[0] = (cq_operand){ .kind = CQ_OPERAND_INT, .u.i = count.u.i };
    inputs[1] = (cq_operand){ .kind = CQ_OPERAND_BOOL, .u.b = more.u.b.value };
    if (more.u.b.origin)
        inputs[1] = CQ_OPERAND_OF(more.u.b.origin);
    for (size_t i = 0; i < n; i++)
        inputs[i + 2] = CQ_OPERAND_OF(l->carry.items[i].start);
    l->node->inputs   = inputs;
    l->node->n_inputs = n + 2;
    return CQ_OK;
}

static cq_status convert(loop *l)
{
    cq_block *home = l->node->block;

    CQ_TRY(cq_carry_recall(&l->carry, l->stmt->u.loop.test));
    /* The node is moved when its inputs are known; until then it only holds the blocks. */
    for (int i = 0; i == 0 || l->carry.again; i++) {
        if (i == MAX_ROUNDS)
            return cq_eval_fail(
                l->ev, l->stmt->at, CQ_E_UNSUPPORTED,
                "the types of the values that the loop changes do not reach a fixpoint");
        CQ_TRY(run_body(l));
    }
    CQ_TRY(cq_carry_remember(&l->carry, l->stmt->u.loop.test));
    CQ_TRY(cq_vec_push(&l->node->blocks[0]->returns, CQ_OPERAND_OF(l->condition)));
    CQ_TRY(make_inputs(l));
    /* The inputs were computed after the node was created, so the node is moved behind them. */
    cq_ir_unlink(l->node);
    cq_ir_move_before(l->node, home, NULL);
    return cq_carry_outputs(&l->carry);
}

cq_status cq_eval_open_loop(cq_eval *ev, const cq_ast_stmt *s, cq_val over)
{
    loop      l = { .ev = ev, .stmt = s, .over = over };
    cq_status status;

    if (!cq_object_as(over, CQ_OBJECT_RANGE) && !cq_object_as(over, CQ_OBJECT_ZIP) &&
        over.kind != CQ_VAL_TENSOR && over.kind != CQ_VAL_NONE && over.kind != CQ_VAL_LIST)
        return cq_eval_fail(ev, s->at, CQ_E_UNSUPPORTED,
                            "%s of data-dependent length cannot be iterated over",
                            cq_eval_type_name(over));
    l.node = cq_capture_node(ev->capture, ev->cx, "prim::Loop", NULL, 0, 0);
    if (!l.node)
        return ev->capture->graph->status;
    l.carry   = (cq_carry){ .ev = ev, .outer = ev->carry, .node = l.node, .at = s->at };
    ev->carry = &l.carry;
    status    = convert(&l);
    ev->carry = l.carry.outer;
    cq_carry_clear(&l.carry);
    return status;
}

/* ---- loops of known length ---- */

static cq_status eval_while(cq_eval *ev, const cq_ast_stmt *s)
{
    for (uint64_t rounds = 0;; rounds++) {
        const cq_val over = is_over(ev, s);
        const size_t mark = cq_ctx_mark(ev->cx);
        cq_val       test;

        if (over.u.b.value && !over.u.b.origin)
            return CQ_OK;
        CQ_TRY(cq_eval_expr(ev, s->u.loop.test, &test));
        CQ_TRY(cq_eval_truth(ev, test, &test));
        cq_ctx_pop(ev->cx, mark, NULL, 0); /* releases the temporaries of the iteration, which would
                                            * add up */
        if (test.u.b.origin || over.u.b.origin || (ev->capture && rounds > CQ_EVAL_MAX_UNROLL))
            return cq_eval_open_loop(ev, s, CQ_NONE);
        if (!test.u.b.value)
            return CQ_OK;
        CQ_TRY(cq_eval_block(ev, &s->u.loop.body));
        CQ_TRY(cq_eval_step(ev));
    }
}

cq_status cq_eval_while(cq_eval *ev, const cq_ast_stmt *s)
{
    cq_status status;

    ev->n_loops++;
    status = eval_while(ev, s);
    ev->n_loops--;
    return status;
}

/* The number of elements of a range. The distance may exceed int64, so the arithmetic is
 * unsigned. */
static int64_t range_length(const cq_object *range)
{
    const int64_t  from = range->start.value, to = range->stop.value, step = range->step.value;
    const bool     down = step < 0;
    const uint64_t span = down ? (uint64_t)from - (uint64_t)to : (uint64_t)to - (uint64_t)from;
    const uint64_t by   = down ? 0 - (uint64_t)step : (uint64_t)step;
    uint64_t       n;

    if (!step || (down ? from <= to : from >= to))
        return 0;
    n = (span - 1) / by + 1;
    return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

/* Element i of the range. The product may overflow, the sum does not. */
static int64_t range_item(const cq_object *range, int64_t i)
{
    return (int64_t)((uint64_t)range->start.value + (uint64_t)i * (uint64_t)range->step.value);
}

/* Runs the iterations of a for over a range of known numbers or over a list. */
static cq_status eval_iterations(cq_eval *ev, const cq_ast_stmt *s, const cq_object *range,
                                 const cq_list *list, int64_t n)
{
    for (int64_t i = 0; list ? i < (int64_t)list->n : i < n; i++) {
        const cq_val over = is_over(ev, s);

        if (over.u.b.value && !over.u.b.origin)
            break;
        CQ_TRY(cq_eval_assign(ev, s->u.loop.target,
                              list ? list->items[i] : cq_val_of_i64(range_item(range, i))));
        CQ_TRY(cq_eval_block(ev, &s->u.loop.body));
        CQ_TRY(cq_eval_step(ev));
    }
    return CQ_OK;
}

/* An instance with __next__ may be endless, so its items are requested one by one. */
static cq_status eval_lazy_iterations(cq_eval *ev, const cq_ast_stmt *s, cq_val iterable)
{
    cq_val iterator;

    CQ_TRY(cq_python_iter(ev, iterable, &iterator));
    for (;;) {
        const cq_val over = is_over(ev, s);
        const size_t mark = cq_ctx_mark(ev->cx);
        cq_val       item;
        bool         ended;

        if (over.u.b.value && !over.u.b.origin)
            return CQ_OK;
        CQ_TRY(cq_python_next(ev, iterator, &item, &ended));
        if (ended)
            return CQ_OK;
        CQ_TRY(cq_eval_assign(ev, s->u.loop.target, item));
        cq_ctx_pop(ev->cx, mark, NULL, 0);
        CQ_TRY(cq_eval_block(ev, &s->u.loop.body));
        CQ_TRY(cq_eval_step(ev));
    }
}

/* Replaces the numbers of a range by their values on the example. */
static cq_status bake_range(cq_eval *ev, cq_object *range)
{
    cq_int *const numbers[] = { &range->start, &range->stop, &range->step };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int64_t n;

        CQ_TRY(cq_eval_plain(ev, cq_val_of_int(*numbers[i]), &n));
        *numbers[i] = cq_i(n);
    }
    return CQ_OK;
}

cq_status cq_eval_iterator(cq_eval *ev, cq_val iterable, cq_val *out, bool *known)
{
    const cq_object *t = cq_object_as(cq_val_unwrap(iterable), CQ_OBJECT_RANGE);

    *known = true;
    if (cq_python_is_lazy_iterable(ev, iterable) || cq_object_as(iterable, CQ_OBJECT_ITERATOR))
        return cq_python_iter(ev, iterable, out);
    *known = !t || !ev->capture || range_length(t) <= CQ_EVAL_MAX_UNROLL;
    if (*known)
        CQ_TRY(cq_eval_items(ev, iterable, out, known));
    return *known ? cq_python_new_iterator(ev, *out, out) : CQ_OK;
}

cq_status cq_eval_for(cq_eval *ev, const cq_ast_stmt *s)
{
    cq_val     iterable, items;
    cq_object *range;
    cq_status  status;
    bool       known = true, is_loop;
    int64_t    n     = 0;

    CQ_TRY(cq_eval_expr(ev, s->u.loop.test, &iterable));
    iterable = cq_val_unwrap(iterable);
    items    = iterable;
    if (ev->program->python && cq_python_is_lazy_iterable(ev, iterable))
        return eval_lazy_iterations(ev, s, iterable);
    range = cq_object_as(iterable, CQ_OBJECT_RANGE);
    if (range && ev->tracing) /* the example decides */
        CQ_TRY(bake_range(ev, range));
    if (range) {
        n     = range_length(range);
        known = !range->start.expr && !range->stop.expr && !range->step.expr &&
                !(ev->capture && n > CQ_EVAL_MAX_UNROLL);
    } else {
        CQ_TRY(cq_eval_items(ev, iterable, &items, &known));
    }
    if (!known)
        return cq_eval_open_loop(ev, s, iterable);
    is_loop = !cq_object_as(iterable, CQ_OBJECT_INSTANCE);
    ev->n_loops += is_loop;
    cq_val_retain(items);
    status = eval_iterations(ev, s, range, range ? NULL : items.u.list, n);
    cq_val_release(items);
    ev->n_loops -= is_loop;
    return status;
}
