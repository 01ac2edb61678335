/* Helpers for operators on feature maps ([batch,] channel, spatial axes…): window positions, and
 * inputs without a batch axis, which are treated as a batch of one. */
#ifndef CQ_ATEN_OPS_IMAGE_H
#define CQ_ATEN_OPS_IMAGE_H

#include "aten/core/ctx.h"
#include "kernel/conv/window.h"

/* The number of window positions along an axis. In ceil mode the last window may extend past the
 * end, but must start inside the feature map or the padding before it. Fails if there is none. */
cq_int cq_positions(cq_opcall *c, cq_int in, cq_int kernel, int64_t stride, int64_t before,
                    int64_t after, int64_t dilation, bool ceil_mode);

/* Checks that x is an image with n spatial axes, with or without a batch axis. */
cq_status cq_need_image(const cq_opcall *c, const cq_tensor *x, size_t n);

/* x with a batch axis: itself, or a view that the context owns. NULL after a failure, and
 * for NULL. */
cq_tensor *cq_with_batch(cq_opcall *c, cq_tensor *x, size_t n);

/* An int[n] argument of a window, all of it at least `least`. */
void cq_arg_window(const cq_opcall *c, const char *name, int64_t *out, size_t n, int64_t least,
                   const int64_t *otherwise);

#endif
