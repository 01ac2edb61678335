/* Operators whose meaning changed after a file was written: the version of an archive determines
 * the meaning. PyTorch increases the version when it changes an operator; calls of older versions
 * are rewritten here, before overload resolution. Changes that PyTorch made without a new version
 * (floor_divide rounded toward zero before 1.13) are not handled: PyTorch reads old files with the
 * new meaning, and so does calque. */
#include "script/call.h"

#include <stdio.h>
#include <string.h>

enum {
    MAX_ARGS      = CQ_EVAL_MAX_OPERANDS,
    DEFAULT_STEPS = 100,
    LAST_VERSION  = 8 /* the last version with a changed operator */
};

/* A rewritten call. */
typedef struct changed {
    cq_fncall   call; /* its arguments are those below */
    cq_val      args[MAX_ARGS], kw[MAX_ARGS];
    const char *names[MAX_ARGS];
} changed;

static cq_val *argument(changed *c, size_t position, const char *name)
{
    return (cq_val *)cq_fncall_find(&c->call, position, name);
}

static void add_keyword(changed *c, const char *name, cq_val v)
{
    c->names[c->call.n_kw] = name;
    c->kw[c->call.n_kw++]  = v;
}

static bool is_integral(const cq_val *v)
{
    return v && (v->kind == CQ_VAL_TENSOR ? !cq_dtype_is_float(v->u.tensor->dtype) &&
                                                !cq_dtype_is_complex(v->u.tensor->dtype)
                                          : v->kind == CQ_VAL_INT || v->kind == CQ_VAL_BOOL);
}

/* Division of integers truncated, as in C. */
static cq_status old_div(changed *c)
{
    if (!argument(c, SIZE_MAX, "rounding_mode") && is_integral(argument(c, 0, "self")) &&
        is_integral(argument(c, 1, "other")) && c->args[0].kind == CQ_VAL_TENSOR)
        add_keyword(c, "rounding_mode", cq_str_val(c->call.ev->cx, "trunc"));
    return c->call.ev->cx->status;
}

/* Without a dtype the result was float for every fill value. */
static cq_status old_full(changed *c)
{
    cq_val *dtype = argument(c, SIZE_MAX, "dtype"), *fill = argument(c, 1, "fill_value");

    if (!fill || (dtype && dtype->kind != CQ_VAL_NONE) ||
        (fill->kind != CQ_VAL_INT && fill->kind != CQ_VAL_BOOL))
        return CQ_OK;
    return CQ_CALL(c->call.ev, fill, "aten::Float", *fill);
}

/* The number of steps was optional. */
static cq_status old_steps(changed *c)
{
    cq_val *steps = argument(c, 2, "steps");

    if (!steps)
        add_keyword(c, "steps", cq_val_of_i64(DEFAULT_STEPS));
    else if (steps->kind == CQ_VAL_NONE)
        *steps = cq_val_of_i64(DEFAULT_STEPS);
    return CQ_OK;
}

/* The traits upgrade and until of lib/aten select the rewriting. */
static cq_status (*change_of(const cq_program *p, const char *name))(changed *c)
{
    static cq_status (*const changes[])(changed *) = {
        [CQ_UPGRADE_INTEGER_DIVISION] = old_div,
        [CQ_UPGRADE_FLOAT_FILL]       = old_full,
        [CQ_UPGRADE_OPTIONAL_STEPS]   = old_steps,
    };
    size_t       len = strlen(name);
    char         plain[64];
    const cq_op *op;

    if (p->version > LAST_VERSION || len >= sizeof plain) /* true for most files */
        return NULL;
    snprintf(plain, sizeof plain, "%s", name);
    if (len && plain[len - 1] == '_')
        plain[len - 1] = '\0';
    op = cq_op_overloads(plain);
    return op && p->version <= op->traits.until ? changes[op->traits.upgrade] : NULL;
}

cq_status cq_resolve_upgrade(cq_fncall *c)
{
    cq_status (*change)(changed * c) = change_of(c->ev->program, c->name);
    changed to;

    if (!change || c->n > MAX_ARGS || c->n_kw >= MAX_ARGS) /* no overload has that many arguments */
        return cq_fncall_decline(c);
    to.call = *c;
    for (size_t i = 0; i < c->n; i++)
        to.args[i] = c->args[i];
    for (size_t i = 0; i < c->n_kw; i++) {
        to.names[i] = c->names[i];
        to.kw[i]    = c->kw[i];
    }
    to.call.args  = to.args;
    to.call.kw    = to.kw;
    to.call.names = to.names;
    CQ_TRY(change(&to));
    CQ_TRY(cq_fncall_run(&to.call, CQ_CALL_OPERATOR));
    c->result = to.call.result;
    return CQ_OK;
}
