/* All gradients by operator: rows in C, whose families are listed here and nowhere else, and
 * functions of lib/aten. */
#include "aten/core/body.h"
#include "aten/core/custom.h"
#include "autograd/gradient.h"
#include "base/map.h"
#include "base/once.h"

static const cq_gradient *const families[] = {
    cq_gradients_pointwise, cq_gradients_functions, cq_gradients_cast,   cq_gradients_creation,
    cq_gradients_view,      cq_gradients_index,     cq_gradients_conv,   cq_gradients_pool,
    cq_gradients_norm,      cq_gradients_rnn,       cq_gradients_resize, cq_gradients_random,
    cq_gradients_vision,
};

static struct {
    cq_once    once;
    cq_arena  *arena;
    cq_ptr_map by_op;
    CQ_VEC(const cq_gradient *) of_library; /* rows for functions of lib/aten that have none in C */
} table = { .once = CQ_ONCE_INIT };

static cq_status add(const cq_gradient *row)
{
    const cq_op *op = cq_op_find(row->op);

    return op ? cq_ptr_map_set(&table.by_op, op, (void *)row) : CQ_OK;
}

/* @gradient("aten::tanh"): a row, unless there is one with a function in C. */
static cq_status add_function(const cq_decorator *d, void *user)
{
    const cq_op *op  = cq_op_find(d->text);
    cq_gradient *row = cq_arena_zalloc(table.arena, sizeof *row);

    (void)user;
    if (!row)
        return CQ_E_NO_MEMORY;
    if (!op || cq_ptr_map_get(&table.by_op, op))
        return CQ_OK;
    row->op         = d->text;
    row->first_only = cq_decorator_value(d, "first_only") != NULL;
    CQ_TRY(cq_vec_push(&table.of_library, row));
    return add(row);
}

static cq_status add_all(void)
{
    CQ_TRY(cq_ops_ready());
    if (!(table.arena = cq_arena_new()))
        return CQ_E_NO_MEMORY;
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (const cq_gradient *row = families[f]; row->op; row++)
            CQ_TRY(add(row));
    CQ_TRY(cq_library_each("gradient", add_function, NULL));
    return cq_library_each("gradient_of", add_function, NULL);
}

/* A row with an unknown operator name is ignored; the test that walks the rows reports it. */
static cq_status build(void)
{
    cq_status status = add_all();

    if (status != CQ_OK) {
        cq_ptr_map_clear(&table.by_op);
        cq_vec_clear(&table.of_library);
        cq_arena_free(table.arena);
        table.arena = NULL;
    }
    return status;
}

cq_status cq_gradients_ready(void)
{
    return cq_once_call(&table.once, build);
}

static const cq_gradient *row_of(const cq_op *op)
{
    return cq_gradients_ready() == CQ_OK ? cq_ptr_map_get(&table.by_op, op) : NULL;
}

const cq_gradient *cq_gradient_at(size_t index)
{
    if (cq_gradients_ready() != CQ_OK)
        return NULL;
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (const cq_gradient *row = families[f]; row->op; row++)
            if (index-- == 0)
                return row;
    return index < table.of_library.n ? table.of_library.items[index] : NULL;
}

/* ---- gradients of custom functions ---- */

static cq_status grad_of_function(cq_grad *g)
{
    const cq_function *f = cq_op_function(g->call.op);
    cq_tensor         *in[CQ_FUNCTION_MAX_TENSORS], *out[CQ_FUNCTION_MAX_TENSORS];
    cq_tensor         *grad_out[CQ_FUNCTION_MAX_TENSORS], *grad_in[CQ_FUNCTION_MAX_TENSORS] = { 0 };

    for (size_t i = 0; i < f->n_in; i++)
        in[i] = g->call.args[i].u.tensor;
    for (size_t i = 0; i < f->n_out; i++) {
        out[i]      = cq_grad_result(g, i);
        grad_out[i] = cq_grad_of(g, i);
    }
    CQ_TRY(g->cx->status);
    f->backward(g->cx, f->user, in, out, grad_out, grad_in);
    for (size_t i = 0; i < f->n_in; i++)
        CQ_TRY(cq_grad_set(g, g->call.op->schema->args[i].name, grad_in[i]));
    return g->cx->status;
}

static const cq_gradient of_functions = { .op = "", .fn = grad_of_function };

const cq_gradient *cq_gradient_find(const cq_op *op)
{
    const cq_function *f = cq_op_function(op);

    if (f)
        return f->backward ? &of_functions : NULL;
    return row_of(op);
}

static cq_status compose_for_tape(cq_opcall *c)
{
    return cq_body_run(c->op->tape, c);
}

cq_status (*cq_gradient_composition(const cq_op *op))(cq_opcall *c)
{
    const cq_gradient *row = op->tape ? NULL : cq_gradient_find(op);

    return op->tape ? compose_for_tape : row && row->own_body ? cq_op_compose : NULL;
}
