/* Determinants and inverses. */
#ifndef CQ_KERNEL_MATRIX_DET_H
#define CQ_KERNEL_MATRIX_DET_H

#include "tensor/tensor.h"

/* The determinants of the matrices in x's last two dimensions, computed in double. */
cq_status cq_kernel_det(cq_tensor *out, const cq_tensor *x);

/* The inverses of those matrices, in double; a singular matrix gives infinities and NaN. */
cq_status cq_kernel_inverse(cq_tensor *out, const cq_tensor *x);

#endif
