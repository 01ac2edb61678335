/* Products of tensors, on top of gemm. Shapes are the caller's to check; out is
 * preallocated. All dtypes; half precision is summed in float32 and rounded once. */
#ifndef CQ_KERNEL_MATRIX_MATMUL_H
#define CQ_KERNEL_MATRIX_MATMUL_H

#include "tensor/tensor.h"

/* torch.matmul: a vector on either side is a row or column that is dropped from the result; axes
 * before the last two are batches that broadcast. */
cq_status cq_kernel_matmul(cq_tensor *out, const cq_tensor *a, const cq_tensor *b);

/* out = alpha * a @ b + beta * c, of matrices or batches of matrices; c broadcasts to out; if it is
 * NULL, beta is ignored. */
cq_status cq_kernel_addmm(cq_tensor *out, const cq_tensor *c, const cq_tensor *a,
                          const cq_tensor *b, double beta, double alpha);

/* x @ w.T + bias over the last axis of x; w is [out, in], bias [out] or NULL. */
cq_status cq_kernel_linear(cq_tensor *out, const cq_tensor *x, const cq_tensor *w,
                           const cq_tensor *bias);

#endif
