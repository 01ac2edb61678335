/* Blocked feature maps, [n, c / b rounded up, h, w, b] with b = cq_block_channels(): conversion to
 * and from plain ones, and kernels other than convolutions (bconv.h). Float32, contiguous.
 * Element-wise kernels work on blocked feature maps unchanged. */
#ifndef CQ_KERNEL_CONV_BLOCKED_H
#define CQ_KERNEL_CONV_BLOCKED_H

#include "kernel/conv/window.h"

int cq_block_channels(void); /* the lanes of a vector of the instruction set in use */

/* Channels after the last are zero. */
cq_status cq_blocked_pack(cq_tensor *out, const cq_tensor *plain);
cq_status cq_blocked_unpack(cq_tensor *plain, const cq_tensor *x);

enum { CQ_BLOCKED_POOL_TAPS = 256 }; /* maximum number of taps of a window */

/* Pooling. NaN is the greatest. Padding does not count for the maximum; for the average it counts
 * if count_padding is set, up to the padding at the end. An empty window gives -infinity, or
 * NaN. */
cq_status cq_blocked_max_pool(cq_tensor *out, const cq_tensor *x, const cq_window *window);
cq_status cq_blocked_avg_pool(cq_tensor *out, const cq_tensor *x, const cq_window *window,
                              const int64_t *behind, bool count_padding);
cq_status cq_blocked_mean(cq_tensor *out, const cq_tensor *x); /* out [n, blocks, 1, 1, b] */

/* x * scale + shift by channel, of b numbers for each block, limited if clamps. */
typedef struct cq_blocked_affine {
    const float *scale, *shift;
    bool         clamps;
    float        lo, hi;
} cq_blocked_affine;

cq_status cq_blocked_affine_run(cq_tensor *out, const cq_tensor *x, const cq_blocked_affine *a);

/* Channel gather: feature maps whose channels are those of others, in any order. Moves: the number
 * of vectors that are read for the vectors that are written. */
typedef struct cq_blocked_channel {
    int64_t image, channel;
} cq_blocked_channel;

typedef struct cq_blocked_gather cq_blocked_gather;

int64_t   cq_blocked_moves(const cq_blocked_channel *channels, int64_t n);
cq_status cq_blocked_gather_new(cq_blocked_gather **out, const cq_blocked_channel *channels,
                                int64_t n);
void      cq_blocked_gather_free(cq_blocked_gather *p);

/* All feature maps have the spatial sizes of out. */
cq_status cq_blocked_gather_run(cq_tensor *out, const cq_blocked_gather *p,
                                const cq_tensor *const *x);

/* x times by, [n, blocks, 1, 1, b]. */
cq_status cq_blocked_scale(cq_tensor *out, const cq_tensor *x, const cq_tensor *by);

#endif
