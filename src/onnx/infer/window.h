/* Windows that slide over axes: the common part of convolution and pooling. */
#ifndef CQ_ONNX_INFER_WINDOW_H
#define CQ_ONNX_INFER_WINDOW_H

#include "onnx/infer/rule.h"

enum { CQ_WINDOW_MAX_AXES = 32 };

typedef struct cq_infer_window {
    size_t  n; /* number of spatial axes, which are the last axes of the input */
    cq_dim  kernel[CQ_WINDOW_MAX_AXES];
    int64_t stride[CQ_WINDOW_MAX_AXES], dilation[CQ_WINDOW_MAX_AXES];
    int64_t before[CQ_WINDOW_MAX_AXES], after[CQ_WINDOW_MAX_AXES]; /* padding */
    bool    is_same; /* auto_pad SAME_*: padding so that the output has ceil(size / stride)
                      * positions */
    bool is_ceil;    /* ceil_mode */
} cq_infer_window;

/* Reads kernel_shape, strides, dilations, pads and auto_pad for n spatial axes. Without
 * kernel_shape the kernel has the last n sizes of weight (NULL: unknown). */
cq_status cq_window_read(cq_infer_window *w, const cq_rule *r, size_t n, const cq_itype *weight);

/* The number of window positions on axis i, which has that size. */
cq_dim cq_window_count(const cq_rule *r, const cq_infer_window *w, size_t i, cq_dim size);

#endif
