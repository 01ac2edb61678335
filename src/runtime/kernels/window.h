/* Windows as ONNX writes them: kernel_shape, strides, pads, dilations and auto_pad. */
#ifndef CQ_RUNTIME_KERNELS_WINDOW_H
#define CQ_RUNTIME_KERNELS_WINDOW_H

#include "kernel/conv/window.h"
#include "runtime/call.h"

typedef struct cq_rt_window {
    cq_window w;
    int       n;                     /* spatial axes */
    int64_t   after[CQ_MAX_SPATIAL]; /* padding at the end */
    bool      is_ceil;
} cq_rt_window;

/* Reads the window for feature map x [n, c, in...]. w is the weight, whose last sizes are the
 * kernel's, or NULL: then kernel_shape is required. auto_pad is resolved for x's sizes. */
cq_status cq_rt_window_read(cq_rt_window *out, cq_rt *rt, const cq_tensor *x, const cq_tensor *w);

/* The number of window positions along each axis of x; not negative. */
cq_status cq_rt_window_positions(int64_t *out, const cq_rt_window *w, const cq_tensor *x);

/* The common part of Conv, ConvInteger and QLinearConv: checks all shapes and computes the output's
 * sizes. */
cq_status cq_rt_conv_sizes(cq_rt_sizes *out, cq_rt_window *w, cq_rt *rt, const cq_tensor *x,
                           const cq_tensor *weight, const cq_tensor *bias);

/* Computes the spatial sizes of a transposed convolution, from out->at[2] on, and the padding that
 * follows from a given output_shape or from auto_pad. */
cq_status cq_rt_transposed_sizes(cq_rt_sizes *out, cq_rt_window *w, cq_rt *rt, const cq_tensor *x);

#endif
