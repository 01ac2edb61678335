/* A call: what is called, with which arguments, and what came of it. One struct goes all the way
 * from the expression of a program, or from C code, to whoever knows what the call means.
 *
 * Who that is, the table of resolvers in resolve.c says, a line each, in their order. A resolver
 * runs the call and leaves its result, or declines; one that declines may have changed the call for
 * those after it. Builtins (builtin.h) decline in the same way. */
#ifndef CQ_SCRIPT_CALL_H
#define CQ_SCRIPT_CALL_H

#include "script/eval.h"

enum { CQ_EVAL_MAX_OPERANDS = 64 }; /* arguments of an operator */

/* Arguments are borrowed, from the context or the caller; the result is the context's. Where in the
 * program the call is, ev->cx->place tells. */
typedef struct cq_fncall {
    cq_eval           *ev;
    cq_val             callee; /* a function, class or object of the program; None: the name says */
    const char        *name;   /* "aten::add", "len"; NULL until the callee has told */
    const cq_val      *args;   /* by position */
    const cq_val      *kw;     /* by keyword, with their names */
    const char *const *names;
    size_t             n, n_kw;
    const struct cq_builtin *row; /* of the builtin that is asked */
    cq_val                   result;
    bool                     declined;
} cq_fncall;

/* Finds out what the call means and runs it: of its callee; or of its name as an operator, before
 * which no builtin comes. */
cq_status cq_fncall_run(cq_fncall *c);
cq_status cq_fncall_run_operator(cq_fncall *c);

static inline cq_status cq_fncall_decline(cq_fncall *c)
{
    c->declined = true;
    return CQ_OK;
}

/* The argument at a position, or the one of that name; NULL, or None, if neither is there. */
const cq_val *cq_fncall_find(const cq_fncall *c, size_t i, const char *name);
cq_val        cq_fncall_arg(const cq_fncall *c, size_t i, const char *name);

/* Puts other arguments in the place of those by position. They are copied. */
cq_status cq_fncall_set_args(cq_fncall *c, const cq_val *args, size_t n);

/* What an OPTIONAL among the arguments holds is in its place: where it is used, it is not None. */
cq_status cq_fncall_unwrap(cq_fncall *c);

/* ---- the resolvers: resolve.c has their order ---- */

cq_status cq_resolve_function(cq_fncall *c); /* call.c */
cq_status cq_resolve_class(cq_fncall *c);    /* call.c */
cq_status cq_resolve_builtin(cq_fncall *c);  /* builtin.c */
cq_status cq_resolve_upgrade(cq_fncall *c);  /* upgrade.c: the meaning when the file was written */
cq_status cq_resolve_operands(cq_fncall *c); /* overload.c: only prepares the arguments */
cq_status cq_resolve_defined(cq_fncall *c);  /* foreign.c: a user's definition of an operator */
cq_status cq_resolve_matrices(cq_fncall *c); /* matrices.c: factors of dynamic sizes as loops */
cq_status cq_resolve_operator(cq_fncall *c); /* overload.c: an overload of the table */
cq_status cq_resolve_foreign(cq_fncall *c);  /* foreign.c: a node with a guessed result */

/* v that is to be unpacked into n: what it gives, if it was guessed to be one tensor; else v. */
cq_status cq_eval_unpack_guess(cq_eval *ev, cq_val v, size_t n, cq_val *out);

/* A tensor that was guessed is of this dtype and these sizes (integers); *out is it. Others stay as
 * they are. */
cq_status cq_eval_tell_guess(cq_eval *ev, cq_val v, int64_t dtype, const cq_list *sizes,
                             cq_val *out);

/* A failure if v was guessed to be one tensor, of which an item is asked for. */
cq_status cq_eval_no_guess(cq_eval *ev, cq_val v);

/* A node of an operator that no table has, whose results look like these tensors. *out is a list of
 * them. */
cq_status cq_eval_known_foreign(cq_eval *ev, const char *op, const cq_list *args,
                                const cq_list *like, cq_val *out);

/* The failure of a capture that went on with a guess is the guess's: says so. */
cq_status cq_eval_blame_guess(const cq_eval *ev, cq_status status);

#endif
