/* A call: the callee, its arguments, and the result. One struct is passed from the expression of a
 * program, or from C code, to the function that implements the call.
 *
 * resolve.c has the table of resolvers, tried in order. A resolver runs the call and sets its
 * result, or declines; one that declines may have changed the call for the next ones. Builtins
 * (builtin.h) decline in the same way. */
#ifndef CQ_SCRIPT_CALL_H
#define CQ_SCRIPT_CALL_H

#include "script/eval.h"

enum { CQ_EVAL_MAX_OPERANDS = 64 }; /* maximum number of arguments of an operator */

/* Resolvers of calls in the order of the table (resolve.c), as far as calls begin at them. */
typedef enum cq_call_stage {
    CQ_CALL_ANY,      /* the callee can be anything */
    CQ_CALL_NAME,     /* it is known by name */
    CQ_CALL_OPERATOR, /* it is an operator, not a builtin */
} cq_call_stage;

/* Arguments are borrowed from the context or the caller; the context owns the result.
 * ev->cx->location is the location of the call in the program. */
typedef struct cq_fncall {
    cq_eval *ev;
    cq_val   callee;         /* a function, class or object of the program; None: resolved by
                              * name */
    const char        *name; /* "aten::add", "len"; NULL until it is derived from the callee */
    const cq_val      *args; /* by position */
    const cq_val      *kw;   /* by keyword, with their names */
    const char *const *names;
    size_t             n, n_kw;
    const struct cq_builtin *row; /* the row of the builtin that is tried */
    cq_val                   result;
    bool                     declined;
} cq_fncall;

/* Resolves the call and runs it. */
cq_status cq_fncall_run(cq_fncall *c, cq_call_stage first);

static inline cq_status cq_fncall_decline(cq_fncall *c)
{
    c->declined = true;
    return CQ_OK;
}

/* The argument at a position, or the one with that name; NULL, or None, if it is missing. */
const cq_val *cq_fncall_find(const cq_fncall *c, size_t i, const char *name);
cq_val        cq_fncall_arg(const cq_fncall *c, size_t i, const char *name);

/* Replaces the positional arguments. They are copied. */
cq_status cq_fncall_set_args(cq_fncall *c, const cq_val *args, size_t n);

/* Replaces each OPTIONAL among the arguments by its value: a value that is used is not None. */
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

/* Unpacks v into n values. If v was guessed to be one tensor, the call gets n results; otherwise
 * *out is v. */
cq_status cq_eval_unpack_guess(cq_eval *ev, cq_val v, size_t n, cq_val *out);

/* Sets dtype and sizes (integers) of a guessed tensor; *out is the tensor with that type. Other
 * values are unchanged. */
cq_status cq_eval_type_guess(cq_eval *ev, cq_val v, int64_t dtype, const cq_list *sizes,
                             cq_val *out);

/* Fails if the program indexes v and v was guessed to be one tensor. */
cq_status cq_eval_no_guess(cq_eval *ev, cq_val v);

/* Records a node of an operator that is not in the table; its results have the types of the tensors
 * in like. *out is a list of the results. */
cq_status cq_eval_known_foreign(cq_eval *ev, const char *op, const cq_list *args,
                                const cq_list *like, cq_val *out);

/* Attributes the failure of a capture to its first guess, if there was one. */
cq_status cq_eval_blame_guess(const cq_eval *ev, cq_status status);

#endif
