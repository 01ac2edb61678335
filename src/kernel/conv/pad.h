/* Tensors whose elements come from another tensor by an index map for each dimension: padding,
 * rolling, flipping. out is preallocated and has the dtype of x, which may be any. */
#ifndef CQ_KERNEL_CONV_PAD_H
#define CQ_KERNEL_CONV_PAD_H

#include "tensor/tensor.h"

typedef enum cq_pad_mode {
    CQ_PAD_CONSTANT,
    CQ_PAD_REFLECT,   /* the edge is the mirror and not repeated */
    CQ_PAD_REPLICATE, /* the edge is repeated */
    CQ_PAD_CIRCULAR
} cq_pad_mode;

/* before[i] elements are added in front of dimension i; how many come after it follows from
 * out's size. Negative numbers take elements away. value, a tensor of one element and any
 * dtype, is for CQ_PAD_CONSTANT; NULL is zero. */
cq_status cq_kernel_pad(cq_tensor *out, const cq_tensor *x, const int64_t *before, cq_pad_mode mode,
                        const cq_tensor *value);

/* The dimensions whose bits are set run backwards. */
cq_status cq_kernel_flip(cq_tensor *out, const cq_tensor *x, uint64_t dims);

#endif
