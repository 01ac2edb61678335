/* Kernels on quantized feature maps and matrices (kernel/conv/qconv.h). No model contains such
 * steps: runtime/fuse/quantized.c substitutes them for the nodes between DequantizeLinear and
 * QuantizeLinear. */
#ifndef CQ_RUNTIME_KERNELS_QUANTIZED_H
#define CQ_RUNTIME_KERNELS_QUANTIZED_H

#include "kernel/conv/qconv.h"
#include "kernel/conv/qimage.h"
#include "runtime/call.h"

/* Layout and quantization parameters of a quantized value. */
typedef struct cq_rt_grid {
    cq_qimage_params grid;
    int64_t          channels;
    bool is_image;    /* [n, h, w, c], and [n, c, h, w] in the plain form; otherwise [..., c] in
                       * both */
    bool     is_flat; /* a 1x1 feature map, and [n, c] in the plain form */
    cq_dtype bytes;   /* 8-bit dtype of the plain form; NONE: float32 */
} cq_rt_grid;

/* A convolution or product. Inputs: x; for dynamic quantization also its scale, its zero point and
 * the inverse of the scale. */
typedef struct cq_rt_qconv {
    cq_qconv        *conv;
    int64_t          weight[4]; /* sizes of the weight */
    cq_qimage_params from;
    int32_t         *start;
    float           *scale, *bias;
    float            lo, hi;
    int32_t          zero;
    int32_t          top; /* of dynamic quantization: the largest quantized x */
} cq_rt_qconv;

void cq_rt_qconv_free(void *qconv);

/* A sum, pooling or mean. */
typedef struct cq_rt_qstep {
    int64_t          channels;
    cq_qimage_params from, to;
    cq_quant_sum     sum;
} cq_rt_qstep;

/* Chooses the parameters of DynamicQuantizeLinear: uint8 covers the range of x and represents 0
 * exactly. */
void cq_rt_dynamic_params(cq_qimage_params *out, const float *x, int64_t n);

extern const cq_rt_row cq_rt_row_qpack, cq_rt_row_qunpack; /* prepared: cq_rt_grid */
extern const cq_rt_row cq_rt_row_qdynamic;                 /* prepared: cq_rt_grid */
extern const cq_rt_row cq_rt_row_qconv, cq_rt_row_qlinear, cq_rt_row_qlinear_dynamic;
extern const cq_rt_row cq_rt_row_qlinear_packed; /* inputs: packed bytes, scale, zero point */
extern const cq_rt_row cq_rt_row_qadd, cq_rt_row_qmax_pool, cq_rt_row_qmean;

#endif
