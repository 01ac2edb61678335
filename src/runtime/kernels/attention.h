/* Attention that a model contains as separate steps; fuse/attentions.c fuses them. */
#ifndef CQ_RUNTIME_KERNELS_ATTENTION_H
#define CQ_RUNTIME_KERNELS_ATTENTION_H

#include "kernel/matrix/attention.h"
#include "runtime/call.h"

/* A part has at most three inputs, one of which is the result of another part. */
enum { CQ_RT_ATTENTION_PARTS = 12, CQ_RT_ATTENTION_INPUTS = 2 * CQ_RT_ATTENTION_PARTS + 1 };

typedef struct cq_rt_attention {
    /* Indices of inputs of the step; -1: none. Keys are transposed: [.., width, keys]. */
    int     q, k, v, hides, bias;
    double  scale, hidden;
    bool    shown, bias_first;
    bool    swaps; /* a Transpose follows, which puts queries before heads */
    int64_t axis;  /* of the softmax */

    /* The original steps, for types other than float32, other ranks, and errors. Slots are the
     * inputs of the step, followed by the results of the parts. */
    uint32_t   n_in, n_parts;
    cq_rt_step parts[CQ_RT_ATTENTION_PARTS];
} cq_rt_attention;

extern const cq_rt_row cq_rt_row_attention;

/* Describes t, which must broadcast to sizes, as an input of the attention kernel; false if it does
 * not. */
bool cq_rt_attention_in(cq_attention_in *out, const cq_tensor *t, const int64_t sizes[4]);

#endif
