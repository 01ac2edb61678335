/* The gradients of one run of any kind of model. The caller does:
 *
 *     cq_gradients_start(g, &cx);                           // instead of creating a context
 *     cq_gradients_add_parameter(g, "fc.weight", weight);   …
 *     cq_gradients_add_input(g, x);                         …
 *     y = model(cx, x);
 *     cq_gradients_go_back(g, &y, 1); */
#ifndef CQ_AUTOGRAD_GRADIENTS_H
#define CQ_AUTOGRAD_GRADIENTS_H

#include "autograd/tape.h"

struct cq_gradients {
    cq_ctx  *cx;
    cq_tape *tape;
    CQ_VEC(struct cq_gradients_parameter {
        char      *name;
        cq_tensor *tensor;
        cq_tensor *gradient; /* of another's run; tensor is NULL then */
    })
    parameters;
    CQ_VEC(cq_tensor *) inputs;
    CQ_VEC(cq_tensor *) seeds; /* as given; after the run, as used */
};

cq_status cq_gradients_start(cq_gradients *g, cq_ctx **cx);
cq_status cq_gradients_add_parameter(cq_gradients *g, const char *name, cq_tensor *t);
cq_status cq_gradients_add_input(cq_gradients *g, cq_tensor *t);
cq_status cq_gradients_go_back(cq_gradients *g, cq_tensor *const *outputs, size_t n);

#endif
