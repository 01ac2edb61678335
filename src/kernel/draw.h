/* Random tensors as PyTorch's CPU generator makes them: MT19937, and the distributions bit for bit,
 * so that freshly initialised weights are those of PyTorch for the same seed.
 *
 * Draws are lazy. A draw joins a queue; its numbers are computed when they are first read. If a
 * tensor is freed or drawn again first, the generator only advances. A model whose weights come
 * from a file therefore costs nothing. */
#ifndef CQ_KERNEL_DRAW_H
#define CQ_KERNEL_DRAW_H

#include "tensor/tensor.h"

/* There is one generator, as in PyTorch. Seeding does not change earlier draws. */
void cq_draw_seed(uint64_t seed);

/* Draws the whole storage again, as elements of the dtype, float32 or float64: uniform in [a, b),
 * or normal with mean a and standard deviation b. */
cq_status cq_draw_uniform(cq_storage *s, cq_dtype dtype, double a, double b);
cq_status cq_draw_normal(cq_storage *s, cq_dtype dtype, double a, double b);

/* Operations applied to each element after the draw: the in-place operators of trunc_normal_. */
typedef enum cq_draw_step {
    CQ_DRAW_ERFINV,
    CQ_DRAW_MUL,  /* by x */
    CQ_DRAW_ADD,  /* x */
    CQ_DRAW_CLAMP /* from x to y */
} cq_draw_step;

/* Appends a step to an unread draw; false if the storage is not an unread draw or has too many
 * steps. */
bool cq_draw_then(cq_storage *s, cq_draw_step step, double x, double y);

/* The next 32 bits immediately, for draws that are not a whole tensor. */
uint32_t cq_draw_u32(void);

#endif
