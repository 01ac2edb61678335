/* The gradients of one run of a model, whatever the model is made of: nn and script fill it.
 *
 *     cq_gradients_new(&g);
 *     cq_gradients_add_parameter(g, "fc.weight", weight);   …
 *     cq_gradients_add_input(g, x);                         …
 *     y = model(g->cx, x);                                  // the tape runs
 *     cq_gradients_go_back(g, &y, 1, seeds); */
#ifndef CQ_AUTOGRAD_GRADIENTS_H
#define CQ_AUTOGRAD_GRADIENTS_H

#include "autograd/tape.h"

struct cq_gradients {
    cq_ctx  *cx;
    cq_tape *tape;
    CQ_VEC(struct cq_gradients_parameter {
        char      *name;
        cq_tensor *tensor;
    }) parameters;
    CQ_VEC(cq_tensor *) inputs;
    CQ_VEC(cq_tensor *) outputs;
    CQ_VEC(cq_tensor *) seeds;
};

cq_status cq_gradients_new(cq_gradients **out);
cq_status cq_gradients_add_parameter(cq_gradients *g, const char *name, cq_tensor *t);
cq_status cq_gradients_add_input(cq_gradients *g, cq_tensor *t);

/* seeds may be NULL, and each of them; n_seeds of them are there. */
cq_status cq_gradients_go_back(cq_gradients *g, cq_tensor *const *outputs, size_t n,
                               cq_tensor *const *seeds, size_t n_seeds);

#endif
