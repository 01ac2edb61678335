/* Region pooling, and selection of boxes. */
#ifndef CQ_KERNEL_CONV_REGIONS_H
#define CQ_KERNEL_CONV_REGIONS_H

#include "tensor/tensor.h"

typedef struct cq_regions {
    double  scale;      /* of the corners */
    int64_t ratio;      /* samples along a bin; 0: one per pixel */
    bool    half_pixel; /* corners are shifted by half a pixel; otherwise regions have a size of at
                           least one */
    bool is_max;        /* the greatest sample instead of the mean */
} cq_regions;

/* x [n, channels, h, w], boxes [k, 4] (left, top, right, bottom), batch k images, out [k, channels,
 * bins, bins]. */
cq_status cq_kernel_roi_align(cq_tensor *out, const cq_tensor *x, const cq_tensor *boxes,
                              const cq_tensor *batch, const cq_regions *how);

/* The number of points of a channel that are read, with bins of h by w: boxes may be larger than
 * the image. */
double cq_kernel_roi_samples(const cq_tensor *boxes, const cq_regions *how, int64_t h, int64_t w);

/* rois [k, 5]: the image index, and corners that are rounded to whole pixels. indices (int32, of
 * out's sizes) may be NULL: the index of each greatest element in its plane, -1 for an empty
 * bin. */
cq_status cq_kernel_roi_pool(cq_tensor *out, cq_tensor *indices, const cq_tensor *x,
                             const cq_tensor *rois, double scale);

/* Non-maximum suppression: of boxes whose intersection over union exceeds max_overlap, the one with
 * the best score is kept. */
typedef struct cq_nms {
    int64_t       n_boxes, limit;
    double        max_overlap, min_score;
    bool          has_min_score, is_centre; /* boxes are a centre and sizes, not two corners */
    const double *boxes, *scores;           /* 4 and 1 of each */
} cq_nms;

/* The best first; chosen has room for n_boxes. */
cq_status cq_kernel_nms(int64_t *chosen, int64_t *n_chosen, const cq_nms *m);

#endif
