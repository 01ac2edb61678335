/* Gradients by functions of lib/aten, see gradient.h. */
#include "autograd/gradient.h"

#include <stdlib.h>

/* grad, grad1, result, result2 … */
static bool value(const cq_body *b, const char *name, cq_val *out)
{
    cq_grad    *g         = b->user;
    const bool  is_grad   = strncmp(name, "grad", 4) == 0;
    const bool  is_result = strncmp(name, "result", 6) == 0;
    const char *digits    = name + (is_grad ? 4 : 6);
    size_t      index;

    if ((!is_grad && !is_result) || digits[strspn(digits, "0123456789")] != '\0')
        return false;
    index = (size_t)strtoul(digits, NULL, 10);
    *out  = TENSOR(is_grad ? cq_grad_of(g, index) : cq_grad_result(g, index));
    return true;
}

static bool needs(cq_lang *l, const char *key)
{
    return cq_grad_wants(((cq_body *)l)->user, key);
}

static cq_status set(cq_grad *g, const cq_lib_function *f, const char *name, cq_tensor *t)
{
    cq_status status = cq_grad_set(g, name, t);

    if (status != CQ_OK && cq_library_is_changed(f->file))
        return cq_source_blame(&f->unit->source, f->def->at, status);
    return status;
}

cq_status cq_gradient_function(cq_grad *g)
{
    cq_lib_function *f = g->call.op->gradient;
    cq_val           v = cq_body_eval(f, &g->call, value, needs, g);

    CQ_TRY(g->cx->status);
    if (v.kind != CQ_VAL_DICT)
        return cq_source_fail(&f->unit->source, f->def->at, CQ_E_INTERNAL, NULL,
                              "%s returns %s, expected a dict of gradients by argument", f->name,
                              cq_val_kind_name(v.kind));
    for (size_t i = 0; i < v.u.dict->n; i++) {
        const struct cq_dict_entry *e = &v.u.dict->entries[i];

        if (e->key.kind == CQ_VAL_STR && e->value.kind == CQ_VAL_TENSOR)
            CQ_TRY(set(g, f, e->key.u.text->text, e->value.u.tensor));
    }
    return CQ_OK;
}
