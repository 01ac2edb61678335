/* The key of a tensor by its memory, as text on the stack: a look-up by it needs no memory, so that
 * "not found" means nothing else. */
#ifndef CQ_TENSOR_IDENTITY_H
#define CQ_TENSOR_IDENTITY_H

#include "tensor/tensor.h"

/* An address and a dtype; of each dimension a space, a size, a colon and a stride. */
enum { CQ_IDENTITY_SIZE = 48 + CQ_MAX_RANK * (2 * 20 + 2) };

/* As cq_tensor_identity. */
void cq_tensor_identity_text(char key[CQ_IDENTITY_SIZE], const cq_tensor *t);

#endif
