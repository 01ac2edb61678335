/* Normalisations. weight and bias may be NULL everywhere (1 and 0), as may outputs that
 * only training needs. Floats; half precision is computed in float32, and statistics are
 * summed in double. Parameters may have another float dtype than x. */
#ifndef CQ_KERNEL_MATRIX_NORM_H
#define CQ_KERNEL_MATRIX_NORM_H

#include "tensor/tensor.h"

/* x [n, c, ...] with given statistics of each channel. */
cq_status cq_kernel_batch_norm(cq_tensor *out, const cq_tensor *x, const cq_tensor *weight,
                               const cq_tensor *bias, const cq_tensor *mean, const cq_tensor *var,
                               double eps);

/* With the batch's own. Normalises by the biased variance; running statistics, if given,
 * move towards the mean and the unbiased variance by momentum. */
cq_status cq_kernel_batch_norm_train(cq_tensor *out, cq_tensor *save_mean, cq_tensor *save_invstd,
                                     cq_tensor *running_mean, cq_tensor *running_var,
                                     const cq_tensor *x, const cq_tensor *weight,
                                     const cq_tensor *bias, double momentum, double eps);

/* Over the last n_axes axes; weight and bias have their shape. mean and rstd get one
 * element for each normalised part. */
cq_status cq_kernel_layer_norm(cq_tensor *out, cq_tensor *mean, cq_tensor *rstd, const cq_tensor *x,
                               const cq_tensor *weight, const cq_tensor *bias, size_t n_axes,
                               double eps);

/* x [n, c, ...] over groups of channels; weight and bias are by channel. With as many groups
 * as channels it is instance norm. mean and rstd: [n, groups]. */
cq_status cq_kernel_group_norm(cq_tensor *out, cq_tensor *mean, cq_tensor *rstd, const cq_tensor *x,
                               const cq_tensor *weight, const cq_tensor *bias, int64_t groups,
                               double eps);

/* x / sqrt(mean(x^2) + eps) * weight over the last n_axes axes. */
cq_status cq_kernel_rms_norm(cq_tensor *out, const cq_tensor *x, const cq_tensor *weight,
                             size_t n_axes, double eps);

/* x / (k + alpha / size * the sum of x^2 over size channels)^beta. before is how many of
 * them come before the element's own: size / 2 in PyTorch, (size - 1) / 2 in ONNX. */
cq_status cq_kernel_local_response_norm(cq_tensor *out, const cq_tensor *x, int64_t size,
                                        int64_t before, double alpha, double beta, double k);

#endif
