/* What a change of a view makes of its base: the formulas of rows (op.h) run here. */
#include "aten/body.h"

typedef struct change {
    cq_tensor *base, *changed, *result;
    size_t     index;
} change;

enum { BASE, CHANGED, PART };

static const char *const names[] = {
    [BASE] = "base", [CHANGED] = "changed", [PART] = "part", NULL
};

static cq_val value(void *self, size_t name, size_t number)
{
    const change *c = self;

    (void)number;
    return name == PART ? INT((int64_t)c->index) : TENSOR(name == BASE ? c->base : c->changed);
}

static bool wants(void *self, const char *arg)
{
    (void)self, (void)arg;
    return true;
}

static cq_status give(void *self, const char *arg, cq_val v)
{
    (void)arg;
    ((change *)self)->result = v.u.tensor;
    return CQ_OK;
}

const cq_formula_owner cq_unview_names = { names, PART, value, wants, give };

cq_tensor *cq_op_unview(cq_opcall *c, cq_tensor *base, cq_tensor *changed, size_t index)
{
    change of = { .base = base, .changed = changed, .index = index };

    if (cq_ctx_fail(c->cx, cq_formula_run(c->op->parsed, c->op->def->unview, c, &cq_unview_names,
                                          &of)) != CQ_OK)
        return NULL;
    return of.result;
}
