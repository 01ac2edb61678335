/* Scaled dot product attention: softmax(scale * q k^T + mask) v, a block of queries at a time,
 * so that all scores are never held at once. Floats; half precision goes through float32. */
#ifndef CQ_KERNEL_ATTENTION_H
#define CQ_KERNEL_ATTENTION_H

#include "tensor/tensor.h"

typedef struct cq_attention {
    const cq_tensor *mask; /* bool (true takes part) or float (is added), broadcasts to
                            * [..., queries, keys]; NULL: none */
    bool   causal;         /* query i sees keys up to i */
    double scale;          /* 0: 1 / sqrt(width) */
} cq_attention;

/* q [..., queries, width], k [..., keys, width], v [..., keys, n], out [..., queries, n].
 * Leading axes broadcast. A query that sees no key gets NaN, as a softmax of nothing. */
cq_status cq_kernel_attention(cq_tensor *out, const cq_tensor *q, const cq_tensor *k,
                              const cq_tensor *v, const cq_attention *options);

#endif
