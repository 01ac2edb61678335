/* Operators that the table does not have (foreign.c). */
#ifndef CQ_SCRIPT_FOREIGN_H
#define CQ_SCRIPT_FOREIGN_H

#include "script/eval.h"

enum { CQ_EVAL_MAX_OPERANDS = 64 }; /* arguments of an operator */

/* The arguments of a call, as they were written. */
typedef struct cq_call_args {
    const cq_val      *args, *kw;
    const char *const *names;
    size_t             n, n_kw;
} cq_call_args;

/* Calls what a user's definition says that the operator does; *found is false if there is none. */
cq_status cq_eval_defined(cq_eval *ev, const char *name, const cq_call_args *c, cq_val *out,
                          bool *found);

/* An operator that neither the table nor a user knows: a node with a guessed result in a capture, a
 * failure elsewhere. */
cq_status cq_eval_undefined(cq_eval *ev, const char *name, const cq_call_args *c, cq_val *out);

/* v that is to be unpacked into n: what it gives, if it was guessed to be one tensor; else v. */
cq_status cq_eval_unpack_guess(cq_eval *ev, cq_val v, size_t n, cq_val *out);

/* A failure if v was guessed to be one tensor, of which an item is asked for. */
cq_status cq_eval_no_guess(cq_eval *ev, cq_val v);

/* The failure of a capture that went on with a guess is the guess's: says so. */
cq_status cq_eval_blame_guess(const cq_eval *ev, cq_status status);

#endif
