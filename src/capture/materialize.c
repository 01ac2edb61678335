/* The numbers of a captured tensor, when a model reads them during a capture. Nothing was computed
 * so far: the nodes that lead to the value are run now, on the examples, and their results are
 * kept. Also computes all values, to find where an export differs from its source. */
#include "capture/capture.h"

static cq_tensor *data_of(const cq_capture *cap, const cq_value *v)
{
    if (v->data)
        return v->data;
    if (v->example)
        return v->example;
    return v->id < cap->computed.n ? cap->computed.items[v->id] : NULL;
}

/* The data of a value, or the value of an integer on the example. */
static cq_val computed(void *user, cq_ctx *cx, const cq_operand *o)
{
    (void)cx;
    if (o->kind == CQ_OPERAND_INT)
        return cq_val_of_i64(o->u.i.value);
    return o->kind == CQ_OPERAND_VALUE ? cq_val_of_tensor(data_of(user, o->u.value)) : CQ_NONE;
}

static void see_data(cq_value *v, void *user)
{
    const cq_capture **cap = user;

    if (*cap && !data_of(*cap, v))
        *cap = NULL;
}

static bool has_arguments(const cq_capture *cap, const cq_node *n)
{
    for (size_t i = 0; i < n->n_inputs; i++)
        cq_ir_each_use(&n->inputs[i], see_data, &cap);
    return cap != NULL;
}

static cq_status run_node(cq_capture *cap, cq_ctx *cx, cq_node *n)
{
    cq_val  args[CQ_MAX_ARGS], results[CQ_MAX_RESULTS];
    cq_val *items = results;

    if (!n->def || n->n_blocks || !has_arguments(cap, n))
        return cq_fail(CQ_E_UNSUPPORTED, n->op, NULL,
                       "a number that depends on control flow was "
                       "asked for while the model is captured");
    for (size_t i = 0; i < n->n_inputs; i++)
        args[i] = cq_operand_val(&n->inputs[i], cx, computed, cap);
    CQ_TRY(cq_op_call(cx, n->def, args, n->n_inputs, results, CQ_MAX_RESULTS));
    if (n->list_result)
        items = results[0].u.list->items;
    for (size_t i = 0; i < n->n_outputs; i++) {
        uint32_t id = n->outputs[i]->id;

        if (items[i].kind != CQ_VAL_TENSOR)
            continue;
        CQ_TRY(cq_vec_reserve(&cap->computed, (size_t)id + 1));
        while (cap->computed.n <= id)
            cap->computed.items[cap->computed.n++] = NULL;
        cq_tensor_release(cap->computed.items[id]);
        cap->computed.items[id] = cq_tensor_retain(items[i].u.tensor);
    }
    return CQ_OK;
}

/* ---- one of them ---- */

/* Nodes to be run, the next one last. A marked node waits for those after it. */
typedef struct needs {
    const cq_capture *cap;
    CQ_VEC(cq_node *) nodes;
    cq_status status;
} needs;

static void need(cq_value *v, void *user)
{
    needs *s = user;

    if (v->node && !data_of(s->cap, v) && s->status == CQ_OK)
        s->status = cq_vec_push(&s->nodes, v->node);
}

/* Runs the nodes that lead to v and were not run before: all queries together cost one run of the
 * graph. */
static cq_status run_needed(cq_capture *cap, cq_ctx *plain, cq_value *v)
{
    needs s = { .cap = cap };

    need(v, &s);
    while (s.nodes.n && s.status == CQ_OK) {
        cq_node *n = s.nodes.items[s.nodes.n - 1];

        n->mark = !n->mark;
        if (n->mark) {
            for (size_t i = 0; i < n->n_inputs; i++)
                cq_ir_each_use(&n->inputs[i], need, &s);
            continue;
        }
        s.nodes.n--;
        /* Two may have needed it. A branch or loop may have no outputs yet, and is not run. */
        if (n->n_blocks || !data_of(cap, n->outputs[0]))
            s.status = run_node(cap, plain, n);
        cq_ctx_pop(plain, 0, NULL, 0);
    }
    for (size_t i = 0; i < s.nodes.n; i++)
        s.nodes.items[i]->mark = false;
    cq_vec_clear(&s.nodes);
    return s.status;
}

cq_status cq_capture_materialize(void *self, cq_ctx *cx, cq_tensor **out, cq_tensor *t)
{
    cq_capture *cap   = self;
    cq_value   *v     = cq_capture_value(cap, cx, t);
    cq_ctx     *plain = NULL;
    cq_status   status;

    *out = NULL;
    if (!v)
        return cx->status;
    if (!data_of(cap, v)) {
        CQ_TRY(cq_ctx_new(&plain));
        plain->spend         = cx->spend; /* the program has to do with it */
        plain->spender       = cx->spender;
        plain->default_float = cx->default_float;
        status               = run_needed(cap, plain, v);
        cq_ctx_free(plain);
        CQ_TRY(status);
    }
    *out = cq_keep(cx, data_of(cap, v));
    return *out ? CQ_OK
                : cq_fail(CQ_E_ARGUMENT, NULL, "give an example with data",
                          "the number depends on an input that has no example");
}

/* ---- those that no input changes ---- */

static bool is_fixed(const cq_value *v, int *steps);

static bool operand_is_fixed(const cq_operand *o, int *steps)
{
    if (o->kind == CQ_OPERAND_VALUE)
        return is_fixed(o->u.value, steps);
    if (o->kind == CQ_OPERAND_INT)
        return !o->u.i.expr;
    for (size_t i = 0; o->kind == CQ_OPERAND_LIST && i < o->u.list.n; i++)
        if (!operand_is_fixed(&o->u.list.items[i], steps))
            return false;
    return true;
}

static bool is_fixed(const cq_value *v, int *steps)
{
    const cq_op *op = v->node ? v->node->def : NULL;

    if (v->data)
        return !v->is_weight;
    if (!op || v->node->n_blocks || (*steps)-- <= 0 ||
        (op->def->flags & (CQ_OP_RANDOM | CQ_OP_GUESSED | CQ_OP_FOREIGN)))
        return false;
    for (size_t i = 0; i < v->node->n_inputs; i++)
        if (!operand_is_fixed(&v->node->inputs[i], steps))
            return false;
    return true;
}

bool cq_capture_is_fixed(const cq_value *v)
{
    return is_fixed(v, &(int){ 64 });
}

/* ---- all of them ---- */

cq_status cq_capture_replay(cq_capture *cap, cq_replay_fn each, void *user)
{
    cq_ctx   *plain;
    cq_status status = CQ_OK;

    CQ_TRY(cq_ctx_new(&plain));
    plain->default_float = cap->graph->default_float;
    for (cq_node *n = cap->block->first; n && status == CQ_OK; n = n->next) {
        if (!n->def || n->n_blocks || !has_arguments(cap, n))
            continue;
        status = run_node(cap, plain, n);
        for (size_t i = 0; i < n->n_outputs && status == CQ_OK; i++)
            if (data_of(cap, n->outputs[i]))
                status = each(user, n->outputs[i], data_of(cap, n->outputs[i]));
        cq_ctx_pop(plain, 0, NULL, 0);
    }
    cq_ctx_free(plain);
    return status;
}
