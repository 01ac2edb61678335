/* GELU of tensors, by the error function or by tanh. */
#ifndef CQ_KERNEL_MATRIX_GELU_H
#define CQ_KERNEL_MATRIX_GELU_H

#include "tensor/tensor.h"

/* out may be x. */
cq_status cq_kernel_gelu(cq_tensor *out, const cq_tensor *x, bool by_tanh);

#endif
