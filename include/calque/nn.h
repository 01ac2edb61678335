/* Computing with tensors, in the way model code reads (see <calque/module.h> for layers).
 *
 * Calls take a context, borrow their arguments and return tensors that the context owns.
 * The first error stays in the context and later calls fall through and return NULL, so
 * nothing is checked or freed between two layers; whoever opened the context asks for the
 * status at the end and keeps what it retains (cq_tensor_retain). */
#ifndef CALQUE_NN_H
#define CALQUE_NN_H

#include <calque/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cq_ctx cq_ctx;

CQ_API cq_status cq_ctx_new(cq_ctx **out);
CQ_API void      cq_ctx_free(cq_ctx *cx); /* and all tensors that it still owns */

/* The first error, and its details in cq_last_error(). */
CQ_API cq_status cq_ctx_status(const cq_ctx *cx);

/* Seeds the generator of random operators. The same seed gives the same numbers on every
 * machine. A new context has seed 0. */
CQ_API void cq_ctx_seed(cq_ctx *cx, uint64_t seed);

/* Lets the context own one more reference to t. Returns t. */
CQ_API cq_tensor *cq_keep(cq_ctx *cx, cq_tensor *t);

#ifdef __cplusplus
}
#endif

#endif
