/* Gradients inside of a model (torch.autograd.grad): forces are derivatives of an energy.
 *
 * A capture is a tape. Its nodes are walked backwards from the outputs, and the gradient rows
 * (autograd/rows) call operators, which are captured like any others. So a gradient of a gradient
 * needs nothing more. An operator without a row that is composed of operators with rows is replaced
 * by those. */
#include "aten/core/body.h"
#include "autograd/gradient.h"
#include "base/map.h"
#include "capture/capture.h"

typedef struct walk {
    cq_capture *cap;
    cq_ctx     *cx;
    cq_ptr_map  depends;       /* values that depend on an input of the derivative */
    cq_ptr_map  gradients;     /* value -> cq_tensor, the context's */
    CQ_VEC(cq_block *) blocks; /* where nodes are, innermost first */
} walk;

/* ---- what depends on the inputs ---- */

static bool operand_depends(const walk *w, const cq_operand *o)
{
    if (o->kind == CQ_OPERAND_VALUE)
        return cq_ptr_map_get(&w->depends, o->u.value) != NULL;
    for (size_t i = 0; o->kind == CQ_OPERAND_LIST && i < o->u.list.n; i++)
        if (operand_depends(w, &o->u.list.items[i]))
            return true;
    return false;
}

/* A node, or one in its blocks: those are nested no deeper than the program's text. */
static bool node_depends(const walk *w, const cq_node *n)
{
    for (size_t i = 0; i < n->n_inputs; i++)
        if (operand_depends(w, &n->inputs[i]))
            return true;
    for (size_t i = 0; i < n->n_blocks; i++) {
        const cq_block *b = n->blocks[i];

        for (const cq_node *inner = b->first; inner; inner = inner->next)
            if (node_depends(w, inner))
                return true;
        for (size_t k = 0; k < b->returns.n; k++)
            if (operand_depends(w, &b->returns.items[k]))
                return true;
    }
    return false;
}

/* Numbers outside of tensors are constants, as in PyTorch. */
static bool may_have_gradient(const cq_value *v)
{
    switch (v->type.kind) {
    case CQ_TYPE_TENSOR:
        return cq_dtype_is_float(v->type.dtype) || cq_dtype_is_complex(v->type.dtype);
    case CQ_TYPE_LIST:
    case CQ_TYPE_OPTIONAL: return cq_dtype_is_float(v->type.dtype);
    default: return false;
    }
}

static cq_status follow(walk *w, const cq_node *n)
{
    const cq_gradient *row      = n->def ? cq_gradient_find(n->def) : NULL;
    size_t             n_smooth = row && row->first_only ? 1 : n->n_outputs;

    if (n->no_grad || (row && row->kind == CQ_GRADIENT_NONE) || !node_depends(w, n))
        return CQ_OK;
    for (size_t i = 0; i < n_smooth; i++)
        if (may_have_gradient(n->outputs[i]))
            CQ_TRY(cq_ptr_map_set(&w->depends, n->outputs[i], n->outputs[i]));
    return CQ_OK;
}

/* ---- operators that consist of others ---- */

cq_status cq_capture_parts(cq_block *parts, const cq_node *n, cq_status (*compose)(cq_opcall *c))
{
    cq_capture cap;
    cq_val     args[CQ_MAX_ARGS];
    cq_opcall  c       = { .op = n->def, .args = args, .n_results = n->n_outputs };
    cq_val    *results = c.results;
    cq_status  status;

    CQ_TRY(cq_ctx_new(&c.cx));
    c.cx->default_float = n->block->graph->default_float;
    cq_capture_init(&cap, parts->graph, parts);
    cq_capture_start(&cap, c.cx);
    for (size_t i = 0; i < n->n_inputs; i++)
        args[i] = cq_capture_val(&cap, c.cx, &n->inputs[i]);
    status = cq_ctx_status(c.cx);
    if (status == CQ_OK)
        status = compose(&c);
    if (status == CQ_OK)
        status = cq_ctx_status(c.cx);
    if (status == CQ_OK && n->list_result)
        results = c.results[0].u.list->items;
    for (size_t i = 0; i < n->n_outputs && status == CQ_OK; i++) {
        cq_value *v = results[i].kind == CQ_VAL_TENSOR
                          ? cq_capture_value(&cap, c.cx, results[i].u.tensor)
                          : NULL;

        status = v ? cq_vec_push(&parts->returns, CQ_OPERAND_OF(v)) : CQ_OK;
    }
    cq_ctx_free(c.cx);
    cq_capture_clear(&cap);
    return status;
}

/* v, a result of n, is computed by another node from now on, an alias of the given operand. */
static cq_status redirect(cq_node *n, cq_value *v, cq_operand given)
{
    cq_node *alias = cq_ir_node_new(n->block, n, "aten::alias", &given, 1, 1);

    if (!alias)
        return n->block->graph->status;
    alias->def        = cq_op_find("aten::alias");
    alias->origin     = n->origin;
    alias->location   = n->location;
    alias->outputs[0] = v;
    v->node           = alias;
    v->index          = 0;
    return CQ_OK;
}

/* Replaces n by its parts. *last is the last of them. */
static cq_status expand(walk *w, cq_node *n, cq_status (*compose)(cq_opcall *c), cq_node **last)
{
    cq_block *parts  = cq_ir_block_new(n->block->graph, NULL);
    cq_node  *before = n->prev;

    if (!parts)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_capture_parts(parts, n, compose));
    if (parts->returns.n != n->n_outputs)
        return cq_fail(CQ_E_UNSUPPORTED, n->op, NULL, "no gradient is known for a number");
    for (cq_node *p = parts->first, *next; p; p = next) {
        next        = p->next;
        p->origin   = n->origin;
        p->location = n->location;
        p->marks    = n->marks;
        cq_ir_move_before(p, n->block, n);
    }
    for (size_t i = 0; i < n->n_outputs; i++)
        CQ_TRY(redirect(n, n->outputs[i], parts->returns.items[i]));
    *last = n->prev;
    for (cq_node *p = before ? before->next : n->block->first; p != n; p = p->next)
        CQ_TRY(follow(w, p));
    cq_ir_unlink(n);
    return CQ_OK;
}

static cq_status (*composition_of(const cq_node *n))(cq_opcall *c)
{
    const cq_op *op                    = n->def;
    cq_status (*for_tape)(cq_opcall *) = op ? cq_gradient_composition(op) : NULL;

    if (for_tape)
        return for_tape;
    return op && !cq_grad_is_known(op) && cq_op_is_composed(op) ? cq_op_compose : NULL;
}

/* ---- one step back ---- */

static cq_status accumulate(walk *w, const cq_value *v, cq_tensor *t)
{
    cq_tensor *before = cq_ptr_map_get(&w->gradients, v);

    if (before)
        t = CQ_OP(w->cx, "aten::add.Tensor", TENSOR(before), TENSOR(t));
    return t ? cq_ptr_map_set(&w->gradients, v, t) : w->cx->status;
}

static size_t count_tensors(const cq_operand *o)
{
    size_t n = o->kind == CQ_OPERAND_VALUE && o->u.value->type.kind == CQ_TYPE_TENSOR;

    for (size_t i = 0; o->kind == CQ_OPERAND_LIST && i < o->u.list.n; i++)
        n += count_tensors(&o->u.list.items[i]);
    return n;
}

/* A slot for each tensor in the operand, which became v. values are those of the slots. */
static void add_slots(const walk *w, cq_grad *g, const cq_value **values, size_t arg,
                      const cq_operand *o, cq_val v)
{
    if (o->kind == CQ_OPERAND_VALUE && v.kind == CQ_VAL_TENSOR) {
        values[g->n_slots]     = o->u.value;
        g->slots[g->n_slots++] = (struct cq_grad_slot){ .arg    = arg,
                                                        .tensor = v.u.tensor,
                                                        .wanted = operand_depends(w, o) };
    }
    for (size_t i = 0; o->kind == CQ_OPERAND_LIST && i < o->u.list.n; i++)
        add_slots(w, g, values, arg, &o->u.list.items[i], v.u.list->items[i]);
}

static cq_status set_results(walk *w, const cq_node *n, cq_opcall *c)
{
    cq_tensor **tensors;

    if (n->n_outputs > (n->list_result ? CQ_MAX_TENSORS : CQ_MAX_RESULTS))
        return cq_fail(CQ_E_UNSUPPORTED, n->op, NULL, "it has too many results");
    tensors = cq_alloc_array(n->n_outputs + 1, sizeof *tensors);
    if (!tensors)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < n->n_outputs; i++) {
        tensors[i] = n->outputs[i]->type.kind == CQ_TYPE_TENSOR
                         ? cq_capture_tensor(w->cap, w->cx, n->outputs[i])
                         : NULL;
        if (!n->list_result)
            c->results[i] = tensors[i] ? TENSOR(tensors[i]) : CQ_NONE;
    }
    c->n_results = n->list_result ? 1 : n->n_outputs;
    if (n->list_result)
        c->results[0] = cq_tensors(w->cx, tensors, n->n_outputs);
    cq_free(tensors);
    return w->cx->status;
}

static cq_status run_row(walk *w, const cq_node *n, cq_grad *g, const cq_value **values,
                         cq_val *args)
{
    for (size_t i = 0; i < n->n_inputs; i++)
        args[i] = cq_capture_val(w->cap, w->cx, &n->inputs[i]);
    CQ_TRY(w->cx->status);
    CQ_TRY(set_results(w, n, &g->call));
    for (size_t i = 0; i < n->n_inputs; i++)
        add_slots(w, g, values, i, &n->inputs[i], args[i]);
    for (size_t i = 0; i < n->n_outputs; i++)
        g->of_results[i] = cq_ptr_map_get(&w->gradients, n->outputs[i]);
    CQ_TRY(cq_grad_step(g));
    CQ_TRY(w->cx->status);
    for (size_t i = 0; i < g->n_slots; i++)
        if (g->slots[i].gradient)
            CQ_TRY(accumulate(w, values[i], g->slots[i].gradient));
    return CQ_OK;
}

static cq_status step_back(walk *w, const cq_node *n)
{
    cq_val           args[CQ_MAX_ARGS];
    cq_grad          g = { .cx        = w->cx,
                           .call      = { .cx = w->cx, .op = n->def, .args = args },
                           .row       = n->def ? cq_gradient_find(n->def) : NULL,
                           .n_results = n->n_outputs };
    const cq_value **values;
    size_t           n_tensors = 1;
    cq_status        status;

    if (!n->def || n->n_blocks || !cq_grad_is_known(n->def))
        return cq_fail(CQ_E_UNSUPPORTED, n->op, "detach what needs no gradient",
                       "no gradient is known for %s", n->op);
    for (size_t i = 0; i < n->n_inputs; i++)
        n_tensors += count_tensors(&n->inputs[i]);
    values       = cq_alloc_array(n_tensors, sizeof *values);
    g.slots      = cq_alloc_array(n_tensors, sizeof *g.slots);
    g.of_results = cq_alloc_array(n->n_outputs + 1, sizeof *g.of_results);
    status = values && g.slots && g.of_results ? run_row(w, n, &g, values, args) : CQ_E_NO_MEMORY;
    cq_free(values);
    cq_free(g.slots);
    cq_free(g.of_results);
    return status == CQ_OK
               ? CQ_OK
               : cq_error_add_where(status, "the gradient of %s, at %s", n->op,
                                    cq_location_text(n->location, (char[CQ_LOCATION_SIZE]){ 0 }));
}

static bool is_reached(const walk *w, const cq_node *n)
{
    for (size_t i = 0; i < n->n_outputs; i++)
        if (cq_ptr_map_get(&w->gradients, n->outputs[i]) &&
            cq_ptr_map_get(&w->depends, n->outputs[i]))
            return true;
    return false;
}

static cq_status go_back(walk *w, cq_node *last)
{
    cq_node *n = last;

    while (n) {
        cq_status (*compose)(cq_opcall * c) = is_reached(w, n) ? composition_of(n) : NULL;

        if (compose) {
            CQ_TRY(expand(w, n, compose, &n)); /* and then from the last of its parts */
            continue;
        }
        if (is_reached(w, n))
            CQ_TRY(step_back(w, n));
        n = n->prev;
    }
    return CQ_OK;
}

/* ---- the whole way ---- */

static cq_status begin(walk *w, const cq_list *outputs, cq_val seeds)
{
    for (size_t i = 0; i < outputs->n; i++) {
        cq_tensor *output = outputs->items[i].u.tensor;
        cq_value  *v      = cq_capture_value(w->cap, w->cx, output);
        cq_val     seed =
            seeds.kind == CQ_VAL_LIST && i < seeds.u.list->n ? seeds.u.list->items[i] : CQ_NONE;
        cq_tensor *t = seed.kind == CQ_VAL_TENSOR
                           ? CQ_OP(w->cx, "aten::to.dtype", seed, DTYPE(output->dtype))
                           : CQ_OP(w->cx, "aten::ones_like", TENSOR(output));

        CQ_TRY(w->cx->status);
        CQ_TRY(accumulate(w, v, t));
    }
    return CQ_OK;
}

static cq_status prepare(walk *w, const cq_list *inputs)
{
    for (size_t i = 0; i < inputs->n; i++) {
        cq_value *v = cq_capture_value(w->cap, w->cx, inputs->items[i].u.tensor);

        CQ_TRY(w->cx->status);
        CQ_TRY(cq_ptr_map_set(&w->depends, v, v));
    }
    for (cq_block *b = w->cap->block; b; b = b->owner ? b->owner->block : NULL)
        CQ_TRY(cq_vec_push(&w->blocks, b));
    for (size_t i = w->blocks.n; i-- > 0;)
        for (cq_node *n = w->blocks.items[i]->first; n; n = n->next)
            CQ_TRY(follow(w, n));
    return CQ_OK;
}

static cq_status find_gradients(walk *w, const cq_list *outputs, cq_val seeds,
                                const cq_list *inputs, cq_tensor **gradients)
{
    cq_node *last = w->cap->block->last; /* before those of the gradients */

    CQ_TRY(prepare(w, inputs));
    CQ_TRY(begin(w, outputs, seeds));
    for (size_t i = 0; i < w->blocks.n; i++)
        CQ_TRY(go_back(w, i ? w->blocks.items[i]->last : last));
    for (size_t i = 0; i < inputs->n; i++)
        gradients[i] = cq_ptr_map_get(&w->gradients,
                                      cq_capture_value(w->cap, w->cx, inputs->items[i].u.tensor));
    return w->cx->status;
}

cq_status cq_capture_gradients(cq_capture *cap, cq_ctx *cx, const cq_list *outputs, cq_val seeds,
                               const cq_list *inputs, cq_tensor **gradients)
{
    walk      w      = { .cap = cap, .cx = cx };
    cq_status status = cq_gradients_ready();

    if (status == CQ_OK)
        status = find_gradients(&w, outputs, seeds, inputs, gradients);
    cq_ptr_map_clear(&w.depends);
    cq_ptr_map_clear(&w.gradients);
    cq_vec_clear(&w.blocks);
    return status;
}
