/* Quantization: q = round(x / scale) + zero point, clipped to a range; halves to even. scale
 * (float32) and zero (int32) have one element, or one for each slice along axis. */
#ifndef CQ_KERNEL_QUANTIZE_H
#define CQ_KERNEL_QUANTIZE_H

#include "tensor/tensor.h"

/* out = (q - zero) * scale: x rounded to the nearest representable value. Floats of any size. */
cq_status cq_kernel_to_grid(cq_tensor *out, const cq_tensor *x, const cq_tensor *scale,
                            const cq_tensor *zero, int axis, int64_t low, int64_t high);

/* out = (q - zero) * scale; q has integers, out float32. */
cq_status cq_kernel_dequantize(cq_tensor *out, const cq_tensor *q, const cq_tensor *scale,
                               const cq_tensor *zero, int axis);

#endif
