/* Convolutions and products of quantized numbers by a constant int8 weight, summed exactly.
 *
 * A feature map is [n, h, w, c], its channels padded to a multiple of CQ_QUANT_UNIT, in the element
 * type of the instruction set (quant_core.h). A matrix is a feature map of one row. Elements after
 * the last channel are multiplied by zero weights. */
#ifndef CQ_KERNEL_CONV_QCONV_H
#define CQ_KERNEL_CONV_QCONV_H

#include "kernel/quant_core.h"
#include "tensor/tensor.h"

typedef struct cq_qconv cq_qconv;

typedef struct cq_qconv_spec {
    const int8_t *w; /* element (o, i, y, x) of [out, in / groups, kh, kw] at … */
    int64_t       step[4];
    int64_t       out, in, groups, kernel[2], stride[2], dilation[2];
} cq_qconv_spec;

/* Supported are one group and depthwise convolutions, if the sum of the products of one result fits
 * into 32 bits. */
bool cq_qconv_supports(const cq_qconv_spec *spec);

/* The weight may be freed afterwards. */
cq_status cq_qconv_new(cq_qconv **out, const cq_qconv_spec *spec);
void      cq_qconv_free(cq_qconv *c); /* NULL is fine */

/* Numbers of each output channel, padded to whole vectors. */
int64_t cq_qconv_padded(const cq_qconv *c);

/* start[o] = -zero * the sum of o's weights, which compensates for the zero point of the input. */
void cq_qconv_start(int32_t *start, const cq_qconv *c, int32_t zero);

typedef struct cq_qconv_call {
    int64_t         batch, in[2], out_size[2], padding[2]; /* padding before the image */
    const void     *x;
    int64_t         channels; /* padded channels of a pixel of x */
    int32_t         zero;     /* the zero point of x, which is the value of padding */
    void           *out;
    int64_t         out_channels; /* padded channels of an output pixel, or floats */
    cq_quant_finish finish;       /* numbers are padded */
    int             lanes;        /* maximum number of threads */
    void           *scratch;
} cq_qconv_call;

/* The scratch memory of a call in bytes; CQ_E_NO_MEMORY on overflow. */
cq_status cq_qconv_scratch(int64_t *out, const cq_qconv *c, const cq_qconv_call *call);
cq_status cq_qconv_run(const cq_qconv *c, const cq_qconv_call *call);

#endif
