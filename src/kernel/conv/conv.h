/* Convolutions of any number of spatial axes, their transposes and gradients, and the unfolding
 * they use. All dtypes; half precision is summed in float32.
 *
 * Outputs are preallocated, and their sizes include padding at the end and the output_padding of a
 * transposed convolution. The caller checks shapes. */
#ifndef CQ_KERNEL_CONV_CONV_H
#define CQ_KERNEL_CONV_CONV_H

#include "kernel/conv/window.h"

/* x [n, c, in...], w [o, c / groups, kernel...], bias [o] or NULL, out [n, o, out...]. */
cq_status cq_kernel_conv(cq_tensor *out, const cq_tensor *x, const cq_tensor *w,
                         const cq_tensor *bias, const cq_window *window, int64_t groups);

/* x [n, c, in...], w [c, o / groups, kernel...], out [n, o, out...]. It is also the
 * gradient of a convolution by its input: (grad_x, grad_out, w, NULL). */
cq_status cq_kernel_conv_transpose(cq_tensor *out, const cq_tensor *x, const cq_tensor *w,
                                   const cq_tensor *bias, const cq_window *window, int64_t groups);

/* The gradient of a convolution by its weight. For a transposed one, swap the last two. */
cq_status cq_kernel_conv_grad_weight(cq_tensor *grad_w, const cq_tensor *x,
                                     const cq_tensor *grad_out, const cq_window *window,
                                     int64_t groups);

/* torch's unfold: out [n, c * taps, positions] of x [n, c, in...]. positions has the number of
 * window positions along each axis; their product is out's last size. */
cq_status cq_kernel_im2col(cq_tensor *out, const cq_tensor *x, const cq_window *window,
                           const int64_t *positions);

/* torch's fold, which sums what unfold copied: out [n, c, in...] of x [n, c * taps, positions]. */
cq_status cq_kernel_col2im(cq_tensor *out, const cq_tensor *x, const cq_window *window,
                           const int64_t *positions);

#endif
