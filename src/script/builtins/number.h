/* Helpers of builtins on numbers: reading arguments as numbers, and checking whether they are
 * data-dependent. */
#ifndef CQ_SCRIPT_BUILTINS_NUMBER_H
#define CQ_SCRIPT_BUILTINS_NUMBER_H

#include "script/builtins/builtin.h"

static inline double cq_val_real(cq_val v)
{
    switch (v.kind) {
    case CQ_VAL_INT: return (double)v.u.i.value;
    case CQ_VAL_FLOAT: return v.u.f.value;
    case CQ_VAL_BOOL: return v.u.b.value;
    default: return v.u.c.re;
    }
}

static inline cq_int cq_val_int(cq_val v)
{
    return v.kind == CQ_VAL_INT ? v.u.i : cq_i(v.u.b.value);
}

static inline bool cq_builtin_two_numbers(const cq_fncall *c)
{
    return c->n == 2 && cq_val_is_number(c->args[0]) && cq_val_is_number(c->args[1]);
}

static inline bool cq_builtin_two_ints(const cq_fncall *c)
{
    return (c->args[0].kind == CQ_VAL_INT || c->args[0].kind == CQ_VAL_BOOL) &&
           (c->args[1].kind == CQ_VAL_INT || c->args[1].kind == CQ_VAL_BOOL);
}

/* Whether an argument is data-dependent in a way that needs tensors: a float, or a size that
 * becomes a float. */
bool cq_builtin_needs_tensors(const cq_fncall *c, bool ints_too);

cq_status cq_builtin_want_ints(const cq_fncall *c); /* fails unless both arguments are ints */

#endif
