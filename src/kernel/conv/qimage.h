/* Operations on quantized feature maps besides convolutions (qconv.h has the layout). */
#ifndef CQ_KERNEL_CONV_QIMAGE_H
#define CQ_KERNEL_CONV_QIMAGE_H

#include "kernel/quant_core.h"
#include "kernel/conv/window.h"

/* Quantization parameters: q from 0 to 255 represents (q - zero) * scale. PyTorch multiplies by the
 * inverse of the scale, where ONNX divides; half-way cases may be rounded differently. */
typedef struct cq_qimage_params {
    float   scale;
    int32_t zero;
    float   inverse; /* 0: divide */
} cq_qimage_params;

/* Channels with their padding. */
int64_t cq_qimage_channels(int64_t channels);

/* n planes of pixels each for every channel, as float32 … to an image, and back. A matrix has one
 * pixel in each of its rows. */
cq_status cq_qimage_pack(void *out, const float *x, int64_t n, int64_t channels, int64_t pixels,
                         cq_qimage_params grid);
cq_status cq_qimage_unpack(float *out, const void *x, int64_t n, int64_t channels, int64_t pixels,
                           cq_qimage_params grid);

/* Numbers of two images of n elements. */
cq_status cq_qimage_add(void *out, const void *a, const void *b, int64_t n, const cq_quant_sum *s);

/* Sizes are those of the feature maps; padding does not count. Channels are padded. */
typedef struct cq_qimage_pool {
    int64_t          batch, channels, in[2], out[2];
    const cq_window *window;
} cq_qimage_pool;

cq_status cq_qimage_max_pool(void *out, const void *x, const cq_qimage_pool *p);

/* The mean of all pixels, with other quantization parameters. */
cq_status cq_qimage_mean(void *out, const void *x, int64_t batch, int64_t channels, int64_t pixels,
                         cq_qimage_params from, cq_qimage_params to);

#endif
