/* Writes a changed view back into its base, by functions of lib/aten that are decorated with
 * @unview. */
#include "aten/core/body.h"

typedef struct change {
    cq_tensor *base, *changed;
    size_t     part;
} change;

static bool value(const cq_body *b, const char *name, cq_val *out)
{
    const change *c = b->user;

    if (strcmp(name, "base") == 0)
        *out = TENSOR(c->base);
    else if (strcmp(name, "changed") == 0)
        *out = TENSOR(c->changed);
    else if (strcmp(name, "part") == 0)
        *out = INT((int64_t)c->part);
    else
        return false;
    return true;
}

cq_tensor *cq_op_unview(cq_opcall *c, cq_tensor *base, cq_tensor *changed, size_t index)
{
    change of = { .base = base, .changed = changed, .part = index };
    cq_val v  = cq_body_eval(c->op->unview, c, value, NULL, &of);

    return v.kind == CQ_VAL_TENSOR ? v.u.tensor : NULL;
}
