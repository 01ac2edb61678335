/* A forward and a backward run of a model: the tensors that get gradients, their names, and the
 * outputs. */
#include "autograd/gradients.h"

CQ_API cq_status cq_gradients_new(cq_gradients **out, cq_tensor *const *seeds, size_t n_seeds)
{
    CQ_NEED_OUT(out, seeds || !n_seeds);
    cq_gradients *g = *out = cq_zalloc(sizeof *g);
    cq_status     status   = g ? CQ_OK : CQ_E_NO_MEMORY;

    for (size_t i = 0; i < n_seeds && status == CQ_OK; i++) {
        status = cq_vec_push(&g->seeds, seeds[i]);
        if (status == CQ_OK)
            cq_tensor_retain(seeds[i]);
    }
    if (status != CQ_OK) {
        cq_gradients_free(g);
        *out = NULL;
    }
    return status;
}

CQ_API void cq_gradients_free(cq_gradients *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->parameters.n; i++) {
        cq_free(g->parameters.items[i].name);
        cq_tensor_release(g->parameters.items[i].tensor);
        cq_tensor_release(g->parameters.items[i].gradient);
    }
    for (size_t i = 0; i < g->inputs.n; i++)
        cq_tensor_release(g->inputs.items[i]);
    for (size_t i = 0; i < g->seeds.n; i++)
        cq_tensor_release(g->seeds.items[i]);
    cq_vec_clear(&g->parameters);
    cq_vec_clear(&g->inputs);
    cq_vec_clear(&g->seeds);
    cq_ctx_free(g->cx);
    cq_tape_free(g->tape);
    cq_free(g);
}

cq_status cq_gradients_start(cq_gradients *g, cq_ctx **cx)
{
    if (g->tape)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "a cq_gradients serves for one run");
    CQ_TRY(cq_tape_new(&g->tape));
    CQ_TRY(cq_ctx_new(&g->cx));
    cq_tape_start(g->tape, g->cx);
    *cx = g->cx;
    return CQ_OK;
}

/* A parameter with a second name counts once. */
static bool is_known(const cq_gradients *g, const cq_tensor *t)
{
    for (size_t i = 0; i < g->parameters.n; i++) {
        const cq_tensor *other = g->parameters.items[i].tensor;

        if (other == t || (cq_tensor_data(other) == cq_tensor_data(t) && cq_tensor_numel(t) &&
                           other->rank == t->rank && other->dtype == t->dtype &&
                           cq_tensor_numel(other) == cq_tensor_numel(t)))
            return true;
    }
    return false;
}

static cq_status add(cq_gradients *g, const char *name, cq_tensor *t, cq_tensor *gradient)
{
    char *copy = cq_strdup(name);

    if (!copy || cq_vec_push(&g->parameters,
                             (struct cq_gradients_parameter){ copy, t, gradient }) != CQ_OK) {
        cq_free(copy);
        return CQ_E_NO_MEMORY;
    }
    cq_tensor_retain(t);
    cq_tensor_retain(gradient);
    return CQ_OK;
}

cq_status cq_gradients_add_parameter(cq_gradients *g, const char *name, cq_tensor *t)
{
    return is_known(g, t) ? CQ_OK : add(g, name, t, NULL);
}

CQ_API cq_status cq_gradients_add(cq_gradients *g, const char *name, cq_tensor *gradient)
{
    CQ_NEED(g && name);
    return add(g, name, NULL, gradient);
}

cq_status cq_gradients_add_input(cq_gradients *g, cq_tensor *t)
{
    CQ_TRY(cq_vec_push(&g->inputs, t));
    cq_tensor_retain(t);
    return t->storage && cq_dtype_is_float(t->dtype) ? cq_tape_watch(g->tape, t) : CQ_OK;
}

/* The i-th seed: ones if none was given, in the type of the output. */
static cq_status settle_seed(cq_gradients *g, size_t i, cq_tensor *output)
{
    cq_tensor *seed = i < g->seeds.n ? g->seeds.items[i] : NULL;

    if (i == g->seeds.n)
        CQ_TRY(cq_vec_push(&g->seeds, NULL));
    if (!cq_dtype_is_float(output->dtype) || !output->storage)
        return CQ_OK;
    seed = seed ? CQ_OP(g->cx, "aten::to.dtype", TENSOR(seed), DTYPE(output->dtype))
                : CQ_OP(g->cx, "aten::ones_like", TENSOR(output));
    if (!seed)
        return g->cx->status;
    cq_tensor_retain(seed);
    cq_tensor_release(g->seeds.items[i]);
    g->seeds.items[i] = seed;
    return CQ_OK;
}

cq_status cq_gradients_go_back(cq_gradients *g, cq_tensor *const *outputs, size_t n)
{
    if (g->seeds.n > n)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                       "%zu gradients of outputs are given but there are %zu outputs", g->seeds.n,
                       n);
    CQ_TRY(cq_ctx_status(g->cx));
    cq_tape_stop(g->tape, g->cx);
    for (size_t i = 0; i < n; i++)
        CQ_TRY(settle_seed(g, i, outputs[i]));
    cq_tape_start(g->tape, g->cx);
    return cq_tape_backward(g->tape, g->cx, outputs, g->seeds.items, n);
}

/* ---- queries ---- */

CQ_API cq_tensor *cq_gradients_seed(const cq_gradients *g, size_t index)
{
    CQ_NEED_ELSE(g, NULL);
    return index < g->seeds.n ? g->seeds.items[index] : NULL;
}

CQ_API const char *cq_gradients_name(const cq_gradients *g, size_t index)
{
    CQ_NEED_ELSE(g, NULL);
    return index < g->parameters.n ? g->parameters.items[index].name : NULL;
}

CQ_API cq_tensor *cq_gradients_parameter(const cq_gradients *g, size_t index)
{
    CQ_NEED_ELSE(g, NULL);
    const struct cq_gradients_parameter *p =
        index < g->parameters.n ? &g->parameters.items[index] : NULL;

    if (!p || !p->tensor)
        return p ? p->gradient : NULL;
    return cq_tape_gradient(g->tape, p->tensor);
}

CQ_API cq_tensor *cq_gradients_find(const cq_gradients *g, const char *name)
{
    CQ_NEED_ELSE(g, NULL);
    for (size_t i = 0; i < g->parameters.n; i++)
        if (strcmp(g->parameters.items[i].name, name) == 0)
            return cq_gradients_parameter(g, i);
    return NULL;
}

CQ_API cq_tensor *cq_gradients_input(const cq_gradients *g, size_t index)
{
    CQ_NEED_ELSE(g, NULL);
    return index < g->inputs.n ? cq_tape_gradient(g->tape, g->inputs.items[index]) : NULL;
}
