/* A weight in few bits, as lazy tensors: weight.c. */
#ifndef CQ_QUANTIZE_WEIGHT_H
#define CQ_QUANTIZE_WEIGHT_H

#include "quantize/scale.h"
#include "tensor/tensor.h"

/* Scales of the weight that was read last, and buffers; shared by the weights of a model. */
typedef struct cq_scale_cache cq_scale_cache;

cq_status cq_scale_cache_new(cq_scale_cache **out);
void      cq_scale_cache_release(cq_scale_cache *cache); /* NULL is fine */

typedef struct cq_quantized_weight cq_quantized_weight;

/* The tensor as a matrix; blocks of `block` numbers along its axis share a scale. The last block
 * may be shorter. */
typedef struct cq_weight_form {
    int64_t rows, cols, block;
    int     axis; /* 0: down a column, 1: along a row */
    int     bits;
    bool    is_unsigned;   /* integers are uint8, from 0 on */
    bool    is_asymmetric; /* zero points differ from the middle */
} cq_weight_form;

/* source: contiguous float32, float16 or bfloat16, of any alignment. */
cq_status cq_quantized_weight_new(cq_quantized_weight **out, cq_scale_cache *cache,
                                  cq_tensor *source, const cq_weight_form *form);
void      cq_quantized_weight_release(cq_quantized_weight *w); /* NULL is fine */

int64_t cq_quantized_weight_blocks(const cq_quantized_weight *w); /* along the axis */

/* Integers in the shape of the source. */
cq_status cq_quantized_weight_integers(cq_tensor **out, cq_quantized_weight *w);

/* Scales: [blocks, cols] or [rows, blocks]; without the axis if there is one block. */
cq_status cq_quantized_weight_scales(cq_tensor **out, cq_quantized_weight *w);

/* Zero points in the type of the integers and the shape of the scales. */
cq_status cq_quantized_weight_zeros(cq_tensor **out, cq_quantized_weight *w);

/* B, scales and zero points of MatMulNBits: bytes [N, blocks, block / 2], scales [N * blocks],
 * bytes [N * ((blocks + 1) / 2)]. 4 bits only. */
cq_status cq_quantized_weight_packed(cq_tensor **out, cq_quantized_weight *w);
cq_status cq_quantized_weight_packed_scales(cq_tensor **out, cq_quantized_weight *w);
cq_status cq_quantized_weight_packed_zeros(cq_tensor **out, cq_quantized_weight *w);

/* Root of the squared error over root of the squared weights. NaN if the weight has NaN. */
double cq_quantized_weight_error(cq_quantized_weight *w);

#endif
