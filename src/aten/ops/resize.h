/* The arguments of upsample, for the operators and their gradients. */
#ifndef CQ_ATEN_OPS_RESIZE_H
#define CQ_ATEN_OPS_RESIZE_H

#include "aten/ops/image.h"
#include "kernel/conv/resize.h"

typedef struct cq_upsample {
    cq_resize_mode mode;
    bool           align_corners;
    double         scales[CQ_MAX_SPATIAL]; /* as given, 0 for missing ones */
} cq_upsample;

void cq_upsample_read(const cq_opcall *c, cq_upsample *u);

#endif
