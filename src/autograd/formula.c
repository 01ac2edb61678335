/* Gradients as text, see gradient.h: formulas in the language of bodies (aten/body.h). */
#include "aten/body.h"
#include "autograd/gradient.h"

enum { GRAD, RESULT };

static const char *const names[] = { [GRAD] = "grad", [RESULT] = "result", NULL };

static cq_val value(void *self, size_t name, size_t number)
{
    return TENSOR(name == GRAD ? cq_grad_of(self, number) : cq_grad_result(self, number));
}

static bool wants(void *self, const char *arg)
{
    return cq_grad_wants(self, arg);
}

static cq_status give(void *self, const char *arg, cq_val v)
{
    return v.kind == CQ_VAL_TENSOR ? cq_grad_set(self, arg, v.u.tensor) : CQ_OK;
}

const cq_formula_owner cq_grad_names = { names, 2, value, wants, give };

cq_status cq_grad_formula(cq_grad *g, cq_body_slot *slot, const char *text)
{
    return cq_formula_run(slot, text, &g->call, &cq_grad_names, g);
}
