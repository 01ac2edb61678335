/* A window that slides over the spatial axes of an image: what convolutions, pools and
 * unfolding share. Images are [batch, channel, spatial axes...], one to CQ_MAX_SPATIAL. */
#ifndef CQ_KERNEL_CONV_WINDOW_H
#define CQ_KERNEL_CONV_WINDOW_H

#include "tensor/tensor.h"

enum { CQ_MAX_SPATIAL = 8 };

/* A stride or dilation of 0 means 1. Padding at the end needs no field: the output size implies
 * it. */
/* The maximum of kernel, stride, padding and dilation: sums and products of two fit into 64
 * bits. */
#define CQ_WINDOW_MAX INT32_MAX

typedef struct cq_window {
    int64_t kernel[CQ_MAX_SPATIAL]; /* ignored if there is a weight, whose sizes are used */
    int64_t stride[CQ_MAX_SPATIAL];
    int64_t padding[CQ_MAX_SPATIAL]; /* before the image */
    int64_t dilation[CQ_MAX_SPATIAL];
} cq_window;

/* The window on a feature map of known sizes, with the derived numbers. */
typedef struct cq_slide {
    int     n_dims;
    int64_t in[CQ_MAX_SPATIAL], out[CQ_MAX_SPATIAL];
    int64_t in_step[CQ_MAX_SPATIAL]; /* strides of the contiguous image */
    int64_t kernel[CQ_MAX_SPATIAL], stride[CQ_MAX_SPATIAL];
    int64_t padding[CQ_MAX_SPATIAL], dilation[CQ_MAX_SPATIAL];
    int64_t in_plane, out_plane, taps; /* the products of in, out and kernel */
} cq_slide;

/* in and out are images, or weights: sizes from axis 2 on count. kernel NULL: w's sizes. */
cq_status cq_slide_init(cq_slide *s, const cq_window *w, const cq_tensor *in, const cq_tensor *out,
                        const cq_tensor *kernel);

/* The number of window positions along this axis, with padding on both sides. */
int64_t cq_window_positions(int64_t in, int64_t kernel, int64_t stride, int64_t padding_before,
                            int64_t padding_after, int64_t dilation, bool ceil_mode);

/* The window positions [*lo, *hi) along axis for which offset (a kernel position times dilation) is
 * inside. */
void cq_slide_inside(const cq_slide *s, int axis, int64_t offset, int64_t *lo, int64_t *hi);

/* The coordinates of element number index in a box of these sizes, last axis fastest. */
void cq_grid_at(int64_t *at, int n_dims, const int64_t *sizes, int64_t index);

/* The next position; false after the last. */
bool cq_grid_next(int64_t *at, int n_dims, const int64_t *sizes);

#endif
