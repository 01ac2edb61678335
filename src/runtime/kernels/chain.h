/* Element-wise steps that read each other's results, fused into one step by chains.c. For float32
 * they are one pass over memory. For other types, and if shapes do not match, the parts run one by
 * one as if they had not been fused. */
#ifndef CQ_RUNTIME_KERNELS_CHAIN_H
#define CQ_RUNTIME_KERNELS_CHAIN_H

#include "runtime/call.h"
#include "runtime/kernels/elementwise.h"

enum { CQ_RT_CHAIN_PARTS = 12, CQ_RT_CHAIN_INPUTS = 16, CQ_RT_CHAIN_READS = 3 };

/* Values are numbered: inputs of the chain, then results of its parts. step.in has the inputs of a
 * part by these numbers. The operation may read fewer values, because limits of a Clip and most
 * exponents are constants. */
typedef struct cq_rt_chain_part {
    cq_rt_step        step;
    cq_rt_elementwise what;
    int32_t           reads[CQ_RT_CHAIN_READS];
    int               n_reads;
} cq_rt_chain_part;

typedef struct cq_rt_chain {
    int32_t          n_inputs, n_parts;
    cq_rt_chain_part parts[]; /* a part reads results of earlier parts */
} cq_rt_chain;

extern const cq_rt_row cq_rt_row_chain;

#endif
