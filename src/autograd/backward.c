/* Reads the tape backwards: each call gets the gradients of its results and computes those of its
 * arguments. Recorded values are freed call by call. */
#include "autograd/tape.h"
#include "base/str.h"

/* ---- the interface of row functions ---- */

cq_tensor *cq_grad_arg(const cq_grad *g, const char *name)
{
    return cq_arg_tensor(&g->call, name);
}

cq_tensor *cq_grad_result(const cq_grad *g, size_t index)
{
    return cq_result_tensor(&g->call, index);
}

/* The index-th tensor among the results, with lists flattened. */
static cq_tensor *flat_result(const cq_grad *g, size_t index)
{
    const cq_val *r = &g->call.results[0];

    if (r->kind == CQ_VAL_LIST)
        return index < r->u.list->n ? r->u.list->items[index].u.tensor : NULL;
    return index < g->call.n_results ? cq_result_tensor(&g->call, index) : NULL;
}

cq_tensor *cq_grad_of(cq_grad *g, size_t index)
{
    cq_tensor *result;

    if (index < g->n_results && g->of_results[index])
        return g->of_results[index];
    result = flat_result(g, index);
    return result ? CQ_OP(g->cx, "aten::zeros_like", TENSOR(result)) : NULL;
}

static struct cq_grad_slot *find_slot(const cq_grad *g, const char *name, size_t index)
{
    int arg = cq_schema_find(g->call.op->schema, name);

    for (size_t i = 0; i < g->n_slots; i++)
        if (g->slots[i].arg == (size_t)arg && index-- == 0)
            return &g->slots[i];
    return NULL;
}

bool cq_grad_wants(const cq_grad *g, const char *name)
{
    int arg = cq_schema_find(g->call.op->schema, name);

    for (size_t i = 0; i < g->n_slots; i++)
        if (g->slots[i].arg == (size_t)arg && g->slots[i].wanted)
            return true;
    return false;
}

cq_tensor *cq_sum_to(cq_ctx *cx, cq_tensor *t, const cq_tensor *like)
{
    int64_t dims[CQ_MAX_RANK];
    size_t  n = 0, lead;

    if (!t || t->rank < like->rank)
        return t;
    lead = t->rank - like->rank;
    for (size_t i = 0; i < t->rank; i++)
        if (i < lead || (like->sizes[i - lead].value == 1 && t->sizes[i].value != 1))
            dims[n++] = (int64_t)i;
    if (n)
        t = CQ_OP(cx, "aten::sum.dim_IntList", TENSOR(t), cq_i64s(cx, dims, n), BOOL(true));
    if (lead)
        t = CQ_OP(cx, "aten::reshape", TENSOR(t), cq_sizes_of(cx, like));
    return t;
}

static cq_status set_slot(cq_grad *g, struct cq_grad_slot *slot, cq_tensor *t)
{
    char have[CQ_DESCRIBE_SIZE], want[CQ_DESCRIBE_SIZE];
    bool fits;

    if (!slot || !slot->wanted || !t)
        return g->cx->status;
    t = cq_sum_to(g->cx, t, slot->tensor);
    if (t && t->dtype != slot->tensor->dtype)
        t = CQ_OP(g->cx, "aten::to.dtype", TENSOR(t), DTYPE(slot->tensor->dtype));
    if (t && slot->gradient)
        t = CQ_OP(g->cx, "aten::add.Tensor", TENSOR(slot->gradient), TENSOR(t));
    if (!t)
        return g->cx->status;
    fits = t->rank == slot->tensor->rank;
    for (size_t i = 0; fits && i < t->rank; i++)
        fits = t->sizes[i].value == slot->tensor->sizes[i].value;
    if (!fits)
        return cq_ctx_fail(g->cx, cq_fail(CQ_E_INTERNAL, g->call.op->schema->full, NULL,
                                          "the gradient of \"%s\" is %s, expected %s",
                                          g->call.op->schema->args[slot->arg].name,
                                          cq_tensor_describe(t, have, sizeof have),
                                          cq_tensor_describe(slot->tensor, want, sizeof want)));
    slot->gradient = t;
    return CQ_OK;
}

cq_status cq_grad_set_item(cq_grad *g, const char *name, size_t index, cq_tensor *gradient)
{
    return set_slot(g, find_slot(g, name, index), gradient);
}

cq_status cq_grad_set(cq_grad *g, const char *name, cq_tensor *gradient)
{
    return cq_grad_set_item(g, name, 0, gradient);
}

/* ---- gradients that need no row ---- */

/* The gradient of a view is zero outside of the viewed elements. */
static cq_status grad_of_view(cq_grad *g)
{
    cq_tensor *base = CQ_OP(g->cx, "aten::zeros_like", TENSOR(g->call.args[0].u.tensor));

    for (size_t i = 0; i < g->n_results && base; i++)
        if (g->of_results[i])
            base = cq_op_unview(&g->call, base, g->of_results[i], i);
    return set_slot(g, &g->slots[0], base);
}

cq_status cq_grad_zeros(cq_grad *g)
{
    for (size_t i = 0; i < g->n_slots; i++)
        if (g->slots[i].wanted)
            CQ_TRY(set_slot(g, &g->slots[i],
                            CQ_OP(g->cx, "aten::zeros_like", TENSOR(g->slots[i].tensor))));
    return g->cx->status;
}

static cq_status moved(cq_grad *g)
{
    for (size_t i = 0; i < g->n_slots; i++)
        if (g->slots[i].wanted)
            CQ_TRY(set_slot(g, &g->slots[i], cq_grad_moved(g, g->slots[i].tensor)));
    return g->cx->status;
}

static bool is_complex(const cq_tape_call *call)
{
    for (size_t i = 0; i < call->n_inputs; i++)
        if (cq_dtype_is_complex(call->inputs[i]->data->dtype))
            return true;
    for (size_t i = 0; i < call->n_outputs; i++)
        if (cq_dtype_is_complex(call->outputs[i]->data->dtype))
            return true;
    return false;
}

bool cq_grad_is_known(const cq_op *op)
{
    return cq_gradient_find(op) || (op->def->view && op->unview);
}

static bool is_known(const cq_tape_call *call)
{
    return !is_complex(call) && cq_grad_is_known(call->op);
}

cq_status cq_grad_need_data(const cq_grad *g)
{
    if (g->call.real)
        return CQ_OK;
    return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "the gradient of %s cannot be a part of a graph",
                   g->call.op->schema->full);
}

cq_status cq_grad_step(cq_grad *g)
{
    if (!g->row)
        return grad_of_view(g);
    if (g->row->kind == CQ_GRADIENT_ZERO)
        return cq_grad_zeros(g);
    if (g->row->kind == CQ_GRADIENT_MOVE)
        return moved(g);
    return g->row->fn && (g->call.real || !g->call.op->gradient) ? g->row->fn(g)
                                                                 : cq_gradient_function(g);
}

/* ---- one call ---- */

/* Adds t to v's gradient. */
static cq_status accumulate(cq_ctx *cx, cq_tape_value *v, cq_tensor *t)
{
    if (v->gradient)
        t = CQ_OP(cx, "aten::add.Tensor", TENSOR(v->gradient), TENSOR(t));
    if (!t)
        return cx->status;
    cq_tensor_retain(t);
    cq_tensor_release(v->gradient);
    v->gradient = t;
    return CQ_OK;
}

static cq_status go_back(cq_ctx *cx, cq_tape_call *call)
{
    cq_grad   g = { .cx        = cx,
                    .call      = { .cx        = cx,
                                   .op        = call->op,
                                   .args      = call->args,
                                   .real      = true,
                                   .n_results = call->n_results },
                    .row       = cq_gradient_find(call->op),
                    .n_results = call->n_outputs,
                    .n_slots   = call->n_inputs };
    cq_status status;

    memcpy(g.call.results, call->results, call->n_results * sizeof *call->results);
    g.of_results = cq_alloc_array(call->n_outputs + 1, sizeof *g.of_results);
    g.slots      = cq_alloc_array(call->n_inputs + 1, sizeof *g.slots);
    status       = g.of_results && g.slots ? CQ_OK : CQ_E_NO_MEMORY;
    for (size_t i = 0; i < call->n_outputs && status == CQ_OK; i++)
        g.of_results[i] = call->outputs[i]->gradient;
    for (size_t i = 0; i < call->n_inputs && status == CQ_OK; i++)
        g.slots[i] = (struct cq_grad_slot){ .arg    = call->of_input[i],
                                            .tensor = call->inputs[i]->data,
                                            .wanted = call->inputs[i]->needs };
    if (status == CQ_OK)
        status = cq_grad_step(&g);
    if (status == CQ_OK)
        status = cx->status;
    for (size_t i = 0; i < g.n_slots && status == CQ_OK; i++)
        if (g.slots[i].gradient)
            status = accumulate(cx, call->inputs[i], g.slots[i].gradient);
    cq_free(g.of_results);
    cq_free(g.slots);
    return status;
}

/* ---- calls that outputs depend on ---- */

/* Whether an output depends on the call, directly or through other calls. */
static bool matters(cq_tape_call *call)
{
    bool found = false;

    for (size_t i = 0; i < call->n_outputs; i++)
        found |= call->outputs[i]->reached;
    for (size_t i = 0; i < call->n_inputs && found; i++)
        call->inputs[i]->reached |= call->inputs[i]->needs;
    return found;
}

/* "aten::foo at features.3 (Conv2d), model.py:12", one line each. */
static void describe(cq_str *out, const cq_tape_call *call)
{
    cq_str_printf(out, "%s%s", out->len ? "; " : "", call->op->schema->full);
    if (call->path[0] || call->class_name[0])
        cq_str_printf(out, call->path[0] ? " at %s (%s)" : "%s in %s", call->path,
                      call->class_name);
    if (call->location.source)
        cq_str_printf(out, ", %s", cq_location_text(call->location, (char[CQ_LOCATION_SIZE]){ 0 }));
    if (is_complex(call))
        cq_str_add(out, ", of complex numbers");
}

static cq_status check_all_known(cq_tape *tape)
{
    cq_str    missing = { 0 };
    cq_status status  = CQ_OK;

    for (cq_tape_call *call = tape->last; call; call = call->before)
        if (matters(call) && !is_known(call))
            describe(&missing, call);
    if (missing.status != CQ_OK)
        status = missing.status;
    else if (missing.len)
        status = cq_fail(CQ_E_UNSUPPORTED, NULL, "detach what needs no gradient",
                         "no gradient is known for %s", missing.text);
    cq_str_clear(&missing);
    return status;
}

/* ---- the backward pass ---- */

static cq_status begin(cq_tape *tape, cq_ctx *cx, cq_tensor *output, cq_tensor *seed)
{
    cq_track *track;
    char      have[CQ_DESCRIBE_SIZE], want[CQ_DESCRIBE_SIZE];
    bool      fits = true;

    CQ_TRY(cq_track_refresh(&tape->tracks, cx, output));
    track = cq_track_of(&tape->tracks, cx, output);
    if (!track)
        return cx->status;
    if (seed) {
        fits = seed->rank == output->rank && seed->storage;
        for (size_t i = 0; fits && i < seed->rank; i++)
            fits = seed->sizes[i].value == output->sizes[i].value;
    }
    if (!fits)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "the gradient of an output is %s, expected %s",
                       cq_tensor_describe(seed, have, sizeof have),
                       cq_tensor_describe(output, want, sizeof want));
    if (!((cq_tape_value *)track->value)->needs)
        return CQ_OK; /* a constant */
    ((cq_tape_value *)track->value)->reached = true;
    cq_tape_stop(tape, cx);
    seed = seed ? CQ_OP(cx, "aten::to.dtype", TENSOR(seed), DTYPE(output->dtype))
                : CQ_OP(cx, "aten::ones_like", TENSOR(output));
    if (!seed)
        return cx->status;
    CQ_TRY(accumulate(cx, track->value, seed));
    cq_tape_start(tape, cx);
    return CQ_OK;
}

/* Frees a finished call: the gradients of its results have been propagated to its arguments. */
static void forget(cq_tape_call *call)
{
    for (size_t i = 0; i < call->n_outputs; i++) {
        cq_tape_value *v = call->outputs[i];

        if (v->is_leaf)
            continue;
        cq_tensor_release(v->gradient);
        v->gradient = NULL;
    }
    cq_tape_call_release(call);
}

CQ_API cq_status cq_tape_backward(cq_tape *tape, cq_ctx *cx, cq_tensor *const *outputs,
                                  cq_tensor *const *seeds, size_t n)
{
    CQ_NEED(tape && cx && (outputs || !n));
    size_t    mark   = cq_ctx_mark(cx);
    cq_status status = CQ_OK;

    CQ_TRY(cx->status);
    if (tape->done)
        return cq_ctx_fail(
            cx, cq_fail(CQ_E_ARGUMENT, NULL, NULL, "a tape can be gone back along only once"));
    tape->done = true;
    for (size_t i = 0; i < n && status == CQ_OK; i++)
        status = begin(tape, cx, outputs[i], seeds ? seeds[i] : NULL);
    cq_tape_stop(tape, cx);
    if (status == CQ_OK)
        status = check_all_known(tape);
    for (cq_tape_call *call = tape->last; call && status == CQ_OK; call = call->before) {
        bool touched = false;

        for (size_t i = 0; i < call->n_outputs; i++)
            touched |= call->outputs[i]->gradient != NULL;
        if (touched) {
            status = go_back(cx, call);
            if (status != CQ_OK)
                cq_error_add_where(status, "the gradient of %s%s%s", call->op->schema->full,
                                   call->path[0] ? " at " : "", call->path);
        }
        forget(call);
        cq_ctx_pop(cx, mark, NULL, 0);
    }
    return status == CQ_OK ? CQ_OK : cq_ctx_fail(cx, status);
}
