/* Resizing: each axis separately. An axis has a table: for each new index, the old indices and
 * their weights. PyTorch's modes fill the table here; other callers can pass theirs. */
#ifndef CQ_KERNEL_CONV_RESIZE_H
#define CQ_KERNEL_CONV_RESIZE_H

#include "tensor/tensor.h"

typedef struct cq_resize_axis {
    int64_t  n_out, n_taps; /* n_taps per output; 0: the axis is unchanged */
    int64_t *index;         /* n_out * n_taps indices of the old axis */
    double *weight; /* the same number of weights; NULL: elements of any dtype are copied (n_taps is
                       1) */
} cq_resize_axis;

cq_status cq_resize_axis_init(cq_resize_axis *a, int64_t n_out, int64_t n_taps, bool is_copy);
void      cq_resize_axis_clear(cq_resize_axis *a);

/* axes has an entry for each axis of x. Indices are checked. Floats are summed in float32 or
 * float64; integers that are not just copied are computed in float32 and truncated. */
cq_status cq_kernel_resize(cq_tensor *out, const cq_tensor *x, const cq_resize_axis *axes);

typedef enum cq_resize_mode {
    CQ_RESIZE_NEAREST,       /* floor(i * scale) */
    CQ_RESIZE_NEAREST_EXACT, /* the middle of a pixel counts */
    CQ_RESIZE_LINEAR,        /* of any number of axes: bilinear, trilinear */
    CQ_RESIZE_CUBIC,
    CQ_RESIZE_LINEAR_ANTIALIAS,
    CQ_RESIZE_CUBIC_ANTIALIAS
} cq_resize_mode;

/* PyTorch's upsample and interpolate: x [n, c, in...], out [n, c, out...]. scales has the user's
 * factor for each spatial axis, 0 or NULL if there was none. The factor, not the sizes, decides
 * which pixels are sampled. */
cq_status cq_kernel_upsample(cq_tensor *out, const cq_tensor *x, cq_resize_mode mode,
                             bool align_corners, const double *scales);

#endif
