/* The state of a program: values that a call changes and a later call may read. In a call with
 * state each of its tensors and numbers is an input, `state.NAME_in`, and an output,
 * `state.NAME_out`, and the modules are restored afterwards. A capture finds the state: everything
 * that differs after it. When these values are inputs, more may change than before (numbers are no
 * longer constant), so the capture is repeated until it finds nothing new. */
#ifndef CQ_SCRIPT_FLOW_STATE_H
#define CQ_SCRIPT_FLOW_STATE_H

#include "script/flow/snapshot.h"

/* A tensor or number of a variable. */
typedef struct cq_state_leaf {
    const char *name; /* "encoder.h", "caches.0"; interned by the program */
    cq_val_kind kind; /* of a tensor or number */
    cq_tensor  *initial;
    const char *axes[CQ_MAX_RANK]; /* names of dynamic sizes; or NULL */
} cq_state_leaf;

typedef struct cq_state_var {
    const char    *path;
    cq_object     *object;
    size_t         index;
    cq_val         form; /* its value as a structure; retained */
    cq_state_leaf *has;  /* a bool input for a variable that may be None; otherwise NULL */
    CQ_VEC(cq_state_leaf) leaves;
    const char *lost;    /* why it cannot be an input; NULL if it can */
    bool        is_read; /* according to the last capture */
} cq_state_var;

/* A tensor among the arguments, which a call may change too: then it has an output. */
typedef struct cq_state_argument {
    cq_tensor  *t;    /* of the current call; NULL for a number */
    const char *name; /* of the input; interned by the program */
    bool        is_changed;
} cq_state_argument;

typedef struct cq_script_state {
    CQ_VEC(cq_state_var) vars; /* in the order of the modules' tree */
    CQ_VEC(cq_state_argument) arguments;
    size_t n_arguments; /* of the current call, so far */
    bool is_exposed; /* variables become inputs and outputs; otherwise changes are only recorded */
    bool unsettled;  /* the last capture found new state */
    bool quiet;      /* no warnings: models are expected to change their statistics in training */
} cq_script_state;

void cq_script_state_free(cq_script_state *state); /* NULL is fine */

/* Warns about state by name: without --state, about all state that later calls may read; and about
 * state that cannot be an input. */
void cq_script_state_warn(const cq_script_state *state);

/* The same for lists of names, which are freed; and adds a name to such a list. */
void cq_state_warn_of(const char *who, cq_str *weights, cq_str *inputs);
void cq_state_add_name(cq_str *names, const char *name);

/* The value that the call uses for its next argument. */
cq_status cq_state_add_argument(cq_script_state *state, cq_eval *ev, cq_val v);

/* Replaces all variables by inputs of the graph, or by the tensors given to a run. */
cq_status cq_state_bind(cq_script_state *state, cq_guard *guard, cq_tensor *const *given,
                        size_t n_given);

/* After the call: new state of a capture; and the outputs. */
cq_status cq_state_finish(cq_script_state *state, cq_guard *guard);

#endif
