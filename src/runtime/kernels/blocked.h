/* Kernels on blocked feature maps (kernel/conv/bconv.h). No model contains such steps: images.c
 * substitutes them for nodes. Their packed data is in step->prepared. */
#ifndef CQ_RUNTIME_KERNELS_BLOCKED_H
#define CQ_RUNTIME_KERNELS_BLOCKED_H

#include "kernel/conv/btranspose.h"
#include "kernel/conv/blocked.h"
#include "runtime/call.h"

/* A tensor of four dimensions; only its sizes are used. */
typedef struct cq_rt_image {
    cq_int    sizes[4];
    cq_tensor t;
} cq_rt_image;

/* Returns the tensor. */
const cq_tensor *cq_rt_image_of(cq_rt_image *image, int64_t n, int64_t c, int64_t h, int64_t w);

/* Conv and the operators fused into it. Inputs: the feature map, and the addend. */
typedef struct cq_rt_bconv {
    cq_bconv      *conv;
    cq_btranspose *transposed; /* if not NULL, used instead; then the weight is [c, o, …] */
    int64_t        weight[4];  /* sizes of the weight */
    bool           plain_input, clamps, activates;
    float          lo, hi;
    cq_ew_op       act;
    cq_params      act_params;
} cq_rt_bconv;

/* Conversion between layouts; has the number of channels. */
typedef struct cq_rt_repack {
    int64_t channels;
    bool    is_flat; /* the plain tensor is [n, c] */
} cq_rt_repack;

/* BatchNormalization and the limit fused into it. */
typedef struct cq_rt_affine {
    cq_blocked_affine a;
    bool              activates;
    cq_ew_op          act;
    cq_params         act_params;
    float             numbers[]; /* scale, then shift */
} cq_rt_affine;

/* A channel gather. */
typedef struct cq_rt_channel_gather {
    cq_blocked_gather *pick;
    int64_t            channels;
    int64_t            want[3]; /* batch size, rows and columns that a Reshape requires; -1: any */
} cq_rt_channel_gather;

extern const cq_rt_row cq_rt_row_bconv, cq_rt_row_bconv_over, cq_rt_row_btranspose, cq_rt_row_pack,
    cq_rt_row_unpack, cq_rt_row_affine, cq_rt_row_blocked_max_pool, cq_rt_row_blocked_average_pool,
    cq_rt_row_blocked_mean, cq_rt_row_blocked_mul, cq_rt_row_blocked_gather;

#endif
