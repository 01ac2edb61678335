/* The tape: calls in the order they were made, with what their gradients may read. tape.c writes
 * it, backward.c reads it. */
#ifndef CQ_AUTOGRAD_TAPE_H
#define CQ_AUTOGRAD_TAPE_H

#include "aten/core/track.h"
#include "autograd/gradient.h"

#include <calque/autograd.h>

/* The contents of a tensor at one time. */
typedef struct cq_tape_value cq_tape_value;
struct cq_tape_value {
    cq_tensor     *data;     /* kept while recorded calls read it; a separate handle */
    size_t         uses;     /* by calls on the tape */
    bool           needs;    /* depends on something that has a gradient */
    bool           is_leaf;  /* the gradient is kept */
    bool           reached;  /* an output depends on it */
    cq_tensor     *gradient; /* accumulated so far */
    bool           is_listed;
    cq_tape_value *next; /* of all values that ever had data */
};

typedef struct cq_tape_call cq_tape_call;
struct cq_tape_call {
    cq_tape_call   *before;
    const cq_op    *op;
    cq_val         *args, *results; /* tensors in them are the data of values */
    size_t          n_args, n_results;
    cq_tape_value **inputs, **outputs; /* every tensor among the arguments, the results */
    size_t          n_inputs, n_outputs;
    size_t         *of_input; /* index of the argument that is or contains the tensor */
    const char     *path, *class_name;
    cq_location     location;
};

struct cq_tape {
    cq_tracks      tracks; /* their values are cq_tape_value */
    cq_arena      *arena;
    cq_tape_call  *last;
    cq_tape_value *with_data;
    cq_map         leaves; /* by the identity of their memory */
    cq_intern      texts;
    bool           done; /* the backward pass has run */
};

void cq_tape_call_release(cq_tape_call *call);

#endif
