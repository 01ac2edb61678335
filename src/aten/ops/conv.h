/* The arguments of a convolution, for all of its operators and their gradients. */
#ifndef CQ_ATEN_OPS_CONV_H
#define CQ_ATEN_OPS_CONV_H

#include "aten/ops/image.h"

typedef struct cq_conv {
    cq_tensor *x, *w, *bias;
    size_t     n; /* spatial axes */
    cq_window  window;
    int64_t    after[CQ_MAX_SPATIAL]; /* padding at the end */
    int64_t    output_padding[CQ_MAX_SPATIAL];
    int64_t    groups;
    bool       transposed;
    bool       same; /* the result has the size of the image, whatever the kernel's */
} cq_conv;

cq_status cq_conv_read(const cq_opcall *c, cq_conv *v);

/* The output size of a transposed convolution: (in - 1) * stride - 2 * padding + dilation * (kernel
 * - 1) + output_padding + 1. */
cq_int cq_conv_transposed_size(cq_opcall *c, const cq_conv *v, size_t i, cq_int in);

#endif
