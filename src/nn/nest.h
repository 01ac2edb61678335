/* The inside of nests: building one leaf by leaf. */
#ifndef CQ_NN_NEST_H
#define CQ_NN_NEST_H

#include <calque/nest.h>

/* A nest of the same form whose tensors are what map makes of them (None stays None), alive as
 * long as the context. A failure is the context's. */
cq_nest cq_nest_map(cq_ctx *cx, const cq_nest *nest, cq_tensor *(*map)(void *user, cq_tensor *t),
                    void *user);

/* n tensors as a tuple; if there is one only, itself. */
cq_nest cq_nest_of_tensors(cq_ctx *cx, cq_tensor *const *tensors, size_t n);

/* Arrays that live as long as the context, NULL after a failure: n times NULL, and the tensors of
 * a nest. */
cq_tensor **cq_nest_array(cq_ctx *cx, size_t n);
cq_tensor **cq_nest_tensors(cq_ctx *cx, const cq_nest *nest, size_t *n);

#endif
