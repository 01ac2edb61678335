/* Pooling over windows of any number of spatial axes. Inputs are [batch, channel, in...]. Outputs
 * are preallocated; their sizes are the numbers of window positions, so the caller handles
 * ceil_mode (cq_window_positions). Windows that extend past the border are clipped. Floats and
 * integers; half precision is computed in float32. */
#ifndef CQ_KERNEL_CONV_POOL_H
#define CQ_KERNEL_CONV_POOL_H

#include "kernel/conv/window.h"

/* indices, int64 or NULL, receives the first index of each maximum in its plane. NaN counts as the
 * maximum. */
cq_status cq_kernel_max_pool(cq_tensor *out, cq_tensor *indices, const cq_tensor *x,
                             const cq_window *window);

typedef struct cq_avg_pool {
    const int64_t *padding_after;     /* NULL: the same as at the beginning */
    bool           count_include_pad; /* count padding in the divisor */
    int64_t        divisor;           /* instead of a count, if not 0 */
} cq_avg_pool;

cq_status cq_kernel_avg_pool(cq_tensor *out, const cq_tensor *x, const cq_window *window,
                             const cq_avg_pool *options);

/* The p-th root of the sum of |x|^p over the window (ONNX's LpPool). */
cq_status cq_kernel_lp_pool(cq_tensor *out, const cq_tensor *x, const cq_window *window, double p);

/* Output index i of o covers [floor(i * in / o), ceil((i + 1) * in / o)). */
cq_status cq_kernel_adaptive_avg_pool(cq_tensor *out, const cq_tensor *x);
cq_status cq_kernel_adaptive_max_pool(cq_tensor *out, cq_tensor *indices, const cq_tensor *x);

/* Writes the elements of x to the given indices in planes of zeros. */
cq_status cq_kernel_max_unpool(cq_tensor *out, const cq_tensor *x, const cq_tensor *indices);

/* The same, but adds: the gradient of max pooling. */
cq_status cq_kernel_max_pool_grad(cq_tensor *grad_x, const cq_tensor *grad_out,
                                  const cq_tensor *indices);
cq_status cq_kernel_avg_pool_grad(cq_tensor *grad_x, const cq_tensor *grad_out,
                                  const cq_window *window, const cq_avg_pool *options);
cq_status cq_kernel_adaptive_avg_pool_grad(cq_tensor *grad_x, const cq_tensor *grad_out);

#endif
