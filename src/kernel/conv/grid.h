/* Sampling an image at data-dependent positions: torch's grid_sample and affine_grid, for any
 * number of spatial axes. Positions are in [-1, 1]; in a sampling grid the last axis of the image
 * comes first. Floats; half precision is computed in float32. */
#ifndef CQ_KERNEL_CONV_GRID_H
#define CQ_KERNEL_CONV_GRID_H

#include "tensor/tensor.h"

/* Numbered as PyTorch's interpolation_mode and padding_mode. */
typedef enum cq_grid_mode {
    CQ_GRID_LINEAR  = 0,
    CQ_GRID_NEAREST = 1,
    CQ_GRID_CUBIC   = 2
} cq_grid_mode;

typedef enum cq_grid_padding {
    CQ_GRID_ZEROS      = 0,
    CQ_GRID_BORDER     = 1,
    CQ_GRID_REFLECTION = 2
} cq_grid_padding;

/* x [n, c, in...], grid [n, out..., axes], out [n, c, out...]. align_corners: -1 and 1 are the
 * middles of the corner pixels, not their outer edges. */
cq_status cq_kernel_grid_sample(cq_tensor *out, const cq_tensor *x, const cq_tensor *grid,
                                cq_grid_mode mode, cq_grid_padding padding, bool align_corners);

/* theta [n, axes, axes + 1], out [n, sizes..., axes]. */
cq_status cq_kernel_affine_grid(cq_tensor *out, const cq_tensor *theta, bool align_corners);

#endif
