/* All gradients by operator. The families are listed here and nowhere else. */
#include "aten/body.h"
#include "aten/custom.h"
#include "autograd/gradient.h"
#include "base/map.h"

#include <pthread.h>

static const cq_gradient *const families[] = {
    cq_gradients_pointwise, cq_gradients_functions, cq_gradients_activation, cq_gradients_compare,
    cq_gradients_cast,      cq_gradients_creation,  cq_gradients_linalg,     cq_gradients_softmax,
    cq_gradients_reduce,    cq_gradients_view,      cq_gradients_index,      cq_gradients_sort,
    cq_gradients_conv,      cq_gradients_pool,      cq_gradients_norm,       cq_gradients_rnn,
    cq_gradients_resize,    cq_gradients_random,    cq_gradients_vision,
};

/* A row with its text parsed. */
typedef struct entry {
    const cq_gradient *row;
    cq_body_slot       text;
} entry;

static struct {
    pthread_once_t once;
    cq_arena      *arena;
    cq_ptr_map     by_op;
} table = { .once = PTHREAD_ONCE_INIT };

/* A row that names no operator, or memory that is out, shows as a gradient that is missing; the
 * test that walks the rows finds the first. */
static void build(void)
{
    table.arena = cq_arena_new();
    for (size_t f = 0; f < sizeof families / sizeof *families && table.arena; f++)
        for (const cq_gradient *row = families[f]; row->op; row++) {
            const cq_op *op = cq_op_find(row->op);
            entry       *e  = cq_arena_zalloc(table.arena, sizeof *e);

            if (!e)
                return;
            e->row = row;
            if (op && cq_ptr_map_set(&table.by_op, op, e) != CQ_OK)
                return;
        }
}

static entry *entry_of(const cq_op *op)
{
    pthread_once(&table.once, build);
    return cq_ptr_map_get(&table.by_op, op);
}

const cq_gradient *cq_gradient_at(size_t index)
{
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (const cq_gradient *row = families[f]; row->op; row++)
            if (index-- == 0)
                return row;
    return NULL;
}

/* ---- custom functions bring their own ---- */

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
    const entry       *e;

    if (f)
        return f->backward ? &of_functions : NULL;
    e = entry_of(op);
    return e ? e->row : NULL;
}

cq_status cq_gradient_formula(cq_grad *g)
{
    return cq_grad_formula(g, &entry_of(g->call.op)->text, g->row->as);
}

cq_status cq_gradient_compose(cq_opcall *c)
{
    entry *e = entry_of(c->op);

    return *e->row->body ? cq_body_run(&e->text, e->row->body, c) : cq_op_compose(c);
}
